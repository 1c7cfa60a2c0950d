//! Devices: each opened once a process, shared by everything that runs on it.

pub(crate) mod buffer;
pub(crate) mod driver;
pub(crate) mod experience;
pub(crate) mod geometry;
mod gpu;
#[cfg(feature = "host-kernels")]
pub(crate) mod host;
pub(crate) mod pinned;
pub(crate) mod properties;
mod spare;
pub(crate) mod stream;
pub(crate) mod stream_memory;

use std::{
    any::Any,
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use lanecrypt_kernels::Kernel;

use self::{
    driver::{Driver, Shape, StreamHandle},
    geometry::{Geometry, Launch, Ready},
    gpu::Gpu,
    properties::Properties,
};
use crate::{Error, Experience, variables};

/// A device that kernels run on. Cheap to clone: clones are the same device.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
    /// What a layer above keeps for this device: see [`kept`](Self::kept).
    kept: Arc<OnceLock<Box<dyn Any + Send + Sync>>>,
}

/// Devices opened so far, by number.
type Opened = Mutex<BTreeMap<usize, Device>>;

struct Inner {
    driver: Box<dyn Driver>,
    kernels: Mutex<HashMap<&'static str, Ready>>,
    experience: RwLock<Arc<Experience>>,
}

/// Whether both are the same device.
impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("name", &self.properties().name).finish_non_exhaustive()
    }
}

impl Device {
    /// How many CUDA devices this machine has, at least one.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where there is no driver, an old driver or no device; driver errors.
    pub fn count() -> Result<usize, Error> {
        gpu::count()
    }

    /// Every CUDA device of this machine, in the driver's order.
    ///
    /// # Errors
    /// Those of [`Device::count`], and of opening any one of them: where some may be busy, open
    /// them one by one with [`Device::number`].
    pub fn all() -> Result<Vec<Self>, Error> {
        (0..Self::count()?).map(Self::number).collect()
    }

    /// The device with this number, opened when it is first asked for; no other is touched.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`] naming how many there are; those of [`Device::count`]; driver errors.
    pub fn number(number: usize) -> Result<Self, Error> {
        static OPENED: Opened = Opened::new(BTreeMap::new());
        let open = |number| Gpu::open(number).map(|gpu| Box::new(gpu) as Box<dyn Driver>);
        Self::opened(&OPENED, number, Self::count()?, open)
    }

    /// The device of `number` among `count`, from those opened before or by `open`.
    fn opened(
        devices: &Opened,
        number: usize,
        count: usize,
        open: impl FnOnce(usize) -> Result<Box<dyn Driver>, Error>,
    ) -> Result<Self, Error> {
        if number >= count {
            return Err(Error::NoSuchDevice { given: number, count });
        }
        let mut devices = devices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = devices.get(&number) {
            return Ok(device.clone());
        }
        let device = Self::new(open(number)?);
        devices.insert(number, device.clone());
        Ok(device)
    }

    /// The device that has the memory at an address of this process: that of a tensor, for example, which does
    /// not say so itself.
    ///
    /// # Errors
    /// [`Error::NoDeviceMemory`] for any other address; those of [`Device::number`].
    pub fn of_memory(address: u64) -> Result<Self, Error> {
        let count = Self::count()?;
        let found = gpu::number_of_memory(address).or_else(|| {
            // The driver may want a context, which whoever made the memory has on another thread.
            let device = (0..count).find_map(|number| Self::number(number).ok())?;
            device.free_bytes().ok()?;
            gpu::number_of_memory(address)
        });
        Self::number(found.ok_or(Error::NoDeviceMemory { address })?)
    }

    /// The device to use where none was chosen: number 0, or the one that the environment
    /// variable [`LANECRYPT_DEVICE`](crate::variables::DEVICE) names.
    ///
    /// # Errors
    /// Those of [`Device::number`]; [`Error::DeviceVariable`] for a variable that is no number.
    #[allow(clippy::should_implement_trait, reason = "it can fail, so it cannot be the trait's")]
    pub fn default() -> Result<Self, Error> {
        match std::env::var(variables::DEVICE) {
            Err(_) => Self::number(0),
            Ok(given) => match given.trim().parse() {
                Ok(number) => Self::number(number),
                Err(_) => Err(Error::DeviceVariable { given }),
            },
        }
    }

    /// The kernels compiled as C++ for this CPU, from the library that the environment variable
    /// [`LANECRYPT_HOST_KERNELS`](variables::HOST_KERNELS) names: for tests without a GPU, never
    /// for speed.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the variable is not set, or the library cannot be opened or is
    /// of another version.
    #[cfg(feature = "host-kernels")]
    pub fn on_host() -> Result<Self, Error> {
        static HOST: OnceLock<Device> = OnceLock::new();
        if let Some(device) = HOST.get() {
            return Ok(device.clone());
        }
        let device = Self::new(Box::new(host::Host::open()?));
        Ok(HOST.get_or_init(|| device).clone())
    }

    /// As [`on_host`](Self::on_host), a device of its own: for tests of several.
    ///
    /// # Errors
    /// As [`on_host`](Self::on_host).
    #[cfg(feature = "host-kernels")]
    pub fn another_on_host() -> Result<Self, Error> {
        Ok(Self::new(Box::new(host::Host::open()?)))
    }

    pub(crate) fn new(driver: Box<dyn Driver>) -> Self {
        let experience = RwLock::new(Arc::new(Experience::of_device(&driver.properties().name)));
        let inner = Arc::new(Inner { driver, kernels: Mutex::default(), experience });
        Self { inner, kept: Arc::default() }
    }

    /// The same device, for which nothing is kept yet.
    pub(crate) fn without_kept(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), kept: Arc::default() }
    }

    /// What a layer above keeps for the device, made when it is first asked for, and dropped with the last
    /// value of this device: so what is kept refers to the device [without it](Self::without_kept).
    ///
    /// # Panics
    /// Where two types are asked for.
    pub(crate) fn kept<T: Any + Default + Send + Sync>(&self) -> &T {
        let kept = self.kept.get_or_init(|| Box::<T>::default());
        kept.downcast_ref().expect("one type is kept for devices")
    }

    /// What is known of kernels on this device, by which engines launch them: built-in data where this
    /// model of a GPU was measured, or what was [set](Self::set_experience).
    #[must_use]
    pub fn experience(&self) -> Arc<Experience> {
        Arc::clone(&self.inner.experience.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets engines that are made from now on go by this. No experience makes a result wrong: at worst
    /// it is late.
    pub fn set_experience(&self, experience: impl Into<Arc<Experience>>) {
        let mut known = self.inner.experience.write().unwrap_or_else(PoisonError::into_inner);
        *known = experience.into();
    }

    /// What the device reports about itself.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        self.inner.driver.properties()
    }

    /// The device's own time for all that `work` queues on it.
    ///
    /// # Errors
    /// Those of `work`; driver errors.
    pub fn time(&self, work: &mut dyn FnMut() -> Result<(), Error>) -> Result<Duration, Error> {
        self.driver().time(work)
    }

    /// Bytes of device memory that are free now.
    ///
    /// # Errors
    /// Driver errors.
    pub fn free_bytes(&self) -> Result<usize, Error> {
        self.driver().free_bytes()
    }

    /// Waits until all that runs on the device has ended, whoever of this process queued it, and on whatever
    /// stream.
    ///
    /// # Errors
    /// Driver errors, among them those of what has run.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.driver().synchronize_all()
    }

    /// Checks that something of the device `given` is of this one.
    pub(crate) fn require(&self, given: &Self, what: &'static str) -> Result<(), Error> {
        if self == given {
            return Ok(());
        }
        let name = |device: &Self| format!("{device:?}");
        Err(Error::OtherDevice { what, given: name(given), engine: name(self) })
    }

    pub(crate) fn driver(&self) -> &dyn Driver {
        &*self.inner.driver
    }

    /// Thread blocks of `threads` threads of a kernel that one multiprocessor holds at once; 0 where the
    /// kernel cannot have this number, or it is 0.
    ///
    /// # Errors
    /// Driver errors.
    pub fn resident_blocks(&self, kernel: &Kernel, threads: u32) -> Result<u32, Error> {
        if threads == 0 || threads > kernel.threads() {
            return Ok(0);
        }
        let shape = Shape { grid: 1, threads, shared_bytes: kernel.shared_bytes() };
        self.driver().resident_blocks(self.kernel(kernel)?.kernel, shape)
    }

    /// How a kernel is launched over `blocks` blocks of data where there is no [`Experience`] of it.
    ///
    /// # Errors
    /// Driver errors.
    pub fn computed_geometry(&self, kernel: &Kernel, blocks: u64) -> Result<Geometry, Error> {
        let launch = self.shaped(kernel, blocks, None)?;
        let blocks_per_multiprocessor = self.resident_blocks(kernel, kernel.threads())?.max(1);
        Ok(Geometry { threads: launch.shape.threads, blocks_per_multiprocessor })
    }

    /// The launch of a kernel for this number of units of its work: as `wanted`, or as is computed.
    pub(crate) fn shaped(
        &self,
        kernel: &Kernel,
        count: u64,
        wanted: Option<Geometry>,
    ) -> Result<Launch, Error> {
        Ok(Launch::new(self.driver(), (kernel, self.kernel(kernel)?), count, wanted))
    }

    /// Queues a launch of this device on a stream. The block is one of the kernel's parameters, and addresses
    /// and counts in it, and in what it leads to, are of memory that this crate holds until the kernel has
    /// run.
    ///
    /// # Panics
    /// For a block that is not as long as the kernel's.
    pub(crate) fn launch(
        &self,
        stream: StreamHandle,
        launch: Launch,
        block: &[u64],
    ) -> Result<(), Error> {
        assert_eq!(size_of_val(block), launch.parameter_bytes(), "bytes of a parameter block");
        // SAFETY: the block is as long as the launch's, which was compared with the kernel's when that was
        // loaded. What the kernel reads and writes follows from the block, and from keys, jobs and items,
        // whose counts were checked where an engine was keyed or a batch described. Whoever launches takes
        // addresses from memory of this device that has room for all of it and lives through the launch:
        // what is queued on a stream is held until that has been waited for, and without one device calls
        // run in order, the freeing of memory among them.
        unsafe { self.driver().launch(stream, launch.kernel, launch.shape, block) }
    }

    /// The kernel, loaded on first use: the driver compiles it then, by itself, and it stays.
    pub(crate) fn kernel(&self, kernel: &Kernel) -> Result<Ready, Error> {
        let mut kernels = self.inner.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = kernels.get(kernel.name()) {
            return Ok(*ready);
        }
        check_parameters(kernel)?;
        let ready = Ready::new(self.driver(), kernel, self.driver().load(kernel)?)?;
        kernels.insert(kernel.name(), ready);
        Ok(ready)
    }
}

/// The driver reads as many bytes of parameters as the PTX declares, however many there are.
fn check_parameters(kernel: &Kernel) -> Result<(), Error> {
    let found = kernel.module().entry(kernel.name()).map(|entry| entry.parameter_bytes);
    let expected = kernel.parameter_bytes();
    if found == Some(expected) {
        return Ok(());
    }
    let (module, kernel) = (kernel.module().name, kernel.name());
    Err(Error::Parameters { module, kernel, found, expected })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use lanecrypt_kernels::{Task, programs};

    use super::*;
    use crate::model_device::Model;

    #[test]
    fn only_the_device_asked_for_is_opened_and_once() {
        let devices = Opened::default();
        let tried = RefCell::new(Vec::new());
        let open = |number| {
            tried.borrow_mut().push(number);
            match number {
                0 => Err(Error::NoSuchDevice { given: 0, count: 0 }), // as a busy card would
                _ => Ok(Box::new(Model::default()) as Box<dyn Driver>),
            }
        };
        let device = |number| Device::opened(&devices, number, 3, open);
        assert!(device(1).is_ok());
        assert!(device(0).is_err());
        assert!(device(1).is_ok());
        assert!(device(0).is_err(), "a failure is not remembered");
        assert!(matches!(device(3), Err(Error::NoSuchDevice { given: 3, count: 3 })));
        assert_eq!(*tried.borrow(), [1, 0, 0]);
    }

    #[test]
    fn thread_blocks_that_a_kernel_cannot_have_are_not_resident() {
        let device = Model::default().device();
        let kernel = programs::HIGHT_TABLE.kernel(Task::EcbEncrypt).expect("it is there");
        let resident = |threads| device.resident_blocks(kernel, threads).expect("nothing fails");
        assert_eq!([0, 32, kernel.threads(), kernel.threads() + 1].map(resident), [0, 1, 1, 0]);
        let computed = device.computed_geometry(kernel, 1).expect("nothing fails");
        assert!(computed.threads > 0 && computed.blocks_per_multiprocessor == 1, "{computed:?}");
    }
}
