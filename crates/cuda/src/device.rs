//! Devices: found once a process, shared by everything that runs on them.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use lanecrypt_kernels::Module;

use crate::{
    Error,
    driver::{Driver, LoadedKernel},
    gpu, host,
};

/// What the launch geometry is computed from, as the device reports it.
#[derive(Clone, Debug)]
pub struct Properties {
    /// Marketing name.
    pub name: String,
    /// Compute capability, major and minor; (0, 0) for the host build.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of shared memory that a thread block can ask for.
    pub shared_bytes_per_block: u32,
    /// Bytes of device memory.
    pub memory_bytes: u64,
    /// Peak clock of the multiprocessors in kHz; 0 where it is not reported.
    pub clock_khz: u32,
    /// The CUDA version that the driver supports, as 1000 x major + 10 x minor; 0 for the host.
    pub driver_version: i32,
}

/// A device that kernels run on. Cheap to clone: clones are the same device.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    driver: Box<dyn Driver>,
    kernels: Mutex<HashMap<&'static str, LoadedKernel>>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("name", &self.properties().name).finish_non_exhaustive()
    }
}

impl Device {
    /// Every CUDA device of this machine, in the driver's order.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where there is no driver, an old driver or no device; driver errors.
    pub fn all() -> Result<Vec<Self>, Error> {
        static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
        if let Some(devices) = DEVICES.get() {
            return Ok(devices.clone());
        }
        let devices = gpu::devices()?.into_iter().map(|gpu| Self::new(Box::new(gpu))).collect();
        Ok(DEVICES.get_or_init(|| devices).clone())
    }

    /// The device with this number.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`] naming how many there are; those of [`Device::all`].
    pub fn number(number: usize) -> Result<Self, Error> {
        let devices = Self::all()?;
        let count = devices.len();
        devices.into_iter().nth(number).ok_or(Error::NoSuchDevice { given: number, count })
    }

    /// The device to use where nobody chose one: number 0, or the one that the environment
    /// variable `LANECRYPT_DEVICE` names.
    ///
    /// # Errors
    /// Those of [`Device::number`]; [`Error::DeviceVariable`] for a variable that is no number.
    #[allow(clippy::should_implement_trait, reason = "it can fail, so it cannot be the trait's")]
    pub fn default() -> Result<Self, Error> {
        match std::env::var("LANECRYPT_DEVICE") {
            Err(_) => Self::number(0),
            Ok(given) => match given.trim().parse() {
                Ok(number) => Self::number(number),
                Err(_) => Err(Error::DeviceVariable { given }),
            },
        }
    }

    /// The kernels compiled as C++ for this CPU, from the library that the environment variable
    /// [`HOST_KERNELS`](crate::HOST_KERNELS) names: for tests without a GPU, never for speed.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the variable is not set or the library cannot be opened.
    pub fn on_host() -> Result<Self, Error> {
        static HOST: OnceLock<Device> = OnceLock::new();
        if let Some(device) = HOST.get() {
            return Ok(device.clone());
        }
        let device = Self::new(Box::new(host::Host::open()?));
        Ok(HOST.get_or_init(|| device).clone())
    }

    fn new(driver: Box<dyn Driver>) -> Self {
        Self { inner: Arc::new(Inner { driver, kernels: Mutex::default() }) }
    }

    /// What the device reports about itself.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        self.inner.driver.properties()
    }

    /// Bytes of device memory that are free now.
    ///
    /// # Errors
    /// Driver errors.
    pub fn free_bytes(&self) -> Result<usize, Error> {
        self.driver().free_bytes()
    }

    pub(crate) fn driver(&self) -> &dyn Driver {
        &*self.inner.driver
    }

    /// The kernel, loaded on first use. A module is compiled by the driver when its first kernel
    /// is asked for, and stays.
    pub(crate) fn kernel(
        &self,
        module: &'static Module,
        name: &'static str,
        shared_bytes: u32,
    ) -> Result<LoadedKernel, Error> {
        let mut kernels = self.inner.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(name) {
            return Ok(*kernel);
        }
        let kernel = self.driver().load(module, name, shared_bytes)?;
        kernels.insert(name, kernel);
        Ok(kernel)
    }
}
