//! The CUDA driver, through cudarc's thin layer.

use std::{
    collections::HashMap,
    ffi::CString,
    ptr::NonNull,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cudarc::driver::{
    CudaContext, DriverError, result,
    sys::{self, CUdevice_attribute as Attribute, CUfunction_attribute as FunctionAttribute},
};
use lanecrypt_core::Unavailable;
use lanecrypt_kernels::{Kernel, Module, REQUIRED_CUDA};

use crate::{
    Error, Properties,
    driver::{Driver, LoadedKernel, Resources, Shape},
};

/// A GPU under its primary context. Everything runs on the default stream, in order.
#[derive(Debug)]
pub(crate) struct Gpu {
    context: Arc<CudaContext>,
    properties: Properties,
    modules: Mutex<HashMap<&'static str, ModuleHandle>>,
}

/// A loaded module; it stays loaded as long as the process lives.
#[derive(Clone, Copy, Debug)]
struct ModuleHandle(sys::CUmodule);

// SAFETY: a CUmodule is a handle that every thread may use while its context is current, and every
// method of `Gpu` makes the context current first.
unsafe impl Send for ModuleHandle {}

/// Names what was being done when a driver call failed.
fn doing<T>(result: Result<T, DriverError>, doing: impl FnOnce() -> String) -> Result<T, Error> {
    result.map_err(|error| {
        let text = |text: Result<&std::ffi::CStr, DriverError>| {
            text.map_or_else(|_| "unknown".to_owned(), |text| text.to_string_lossy().into_owned())
        };
        Error::Driver {
            doing: doing(),
            name: text(error.error_name()),
            reason: text(error.error_string()),
        }
    })
}

fn unavailable(reason: String) -> Error {
    Error::Unavailable(Unavailable::because_of(reason))
}

/// How many devices there are, which is at least one. Never panics, unlike cudarc without a driver,
/// and opens none of them.
pub(crate) fn count() -> Result<usize, Error> {
    // SAFETY: opening libcuda runs its initialisers, which is what any CUDA program does.
    if !unsafe { sys::is_culib_present() } {
        return Err(unavailable("no NVIDIA driver: libcuda was not found".into()));
    }
    result::init()
        .map_err(|error| unavailable(format!("the NVIDIA driver does not start: {error}")))?;
    let version = driver_version()?;
    if version < REQUIRED_CUDA {
        return Err(unavailable(format!(
            "the NVIDIA driver supports CUDA {}, these kernels need {}: install a newer driver",
            version_text(version),
            version_text(REQUIRED_CUDA),
        )));
    }
    let count = doing(result::device::get_count(), || "counting CUDA devices".into())?;
    if count == 0 {
        return Err(unavailable("the NVIDIA driver finds no device".into()));
    }
    Ok(count.unsigned_abs() as usize)
}

fn version_text(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

fn driver_version() -> Result<i32, Error> {
    let mut version = 0;
    // SAFETY: the pointer is to a live integer.
    let result = unsafe { sys::cuDriverGetVersion(&raw mut version) }.result();
    doing(result, || "asking for the driver's version".into())?;
    Ok(version)
}

impl Gpu {
    /// Opens the device with this number, below [`count`], and no other: a card that is busy or
    /// broken does not keep the rest from being used.
    pub(crate) fn open(number: usize) -> Result<Self, Error> {
        let context = doing(CudaContext::new(number), || format!("opening CUDA device {number}"))?;
        let attribute = |attribute| {
            doing(context.attribute(attribute), || format!("querying CUDA device {number}"))
                .map(i32::unsigned_abs)
        };
        let properties = Properties {
            name: doing(context.name(), || format!("naming CUDA device {number}"))?,
            compute_capability: (
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            shared_bytes_per_block: attribute(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?,
            memory_bytes: doing(context.total_mem(), || format!("sizing CUDA device {number}"))?
                as u64,
            clock_khz: attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
            driver_version: driver_version()?,
        };
        Ok(Self { context, properties, modules: Mutex::default() })
    }

    fn bind(&self) -> Result<(), Error> {
        doing(self.context.bind_to_thread(), || format!("selecting {}", self.properties.name))
    }

    fn module(&self, module: &'static Module) -> Result<sys::CUmodule, Error> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = modules.get(module.name) {
            return Ok(handle.0);
        }
        self.bind()?;
        let loading = || format!("loading module {} on {}", module.name, self.properties.name);
        let image = CString::new(module.ptx).map_err(|_| Error::Driver {
            doing: loading(),
            name: "PTX".into(),
            reason: "the text contains a zero byte".into(),
        })?;
        // SAFETY: the image is PTX text that ends with a zero byte and lives through the call.
        let handle = doing(unsafe { result::module::load_data(image.as_ptr().cast()) }, loading)?;
        modules.insert(module.name, ModuleHandle(handle));
        Ok(handle)
    }
}

/// The function behind a kernel of this driver.
fn function(kernel: LoadedKernel) -> sys::CUfunction {
    kernel.0 as sys::CUfunction
}

impl Driver for Gpu {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn allocate(&self, bytes: usize) -> Result<u64, Error> {
        self.bind()?;
        // SAFETY: any size may be asked for; the memory is cleared by the caller before use.
        doing(unsafe { result::malloc_sync(bytes) }, || {
            format!("allocating {bytes} bytes on {}", self.properties.name)
        })
    }

    fn free_bytes(&self) -> Result<usize, Error> {
        self.bind()?;
        doing(result::mem_get_info(), || "asking for free device memory".into())
            .map(|(free, _total)| free)
    }

    unsafe fn free(&self, address: u64) {
        let result = self.bind().and_then(|()| {
            // SAFETY: the caller hands over an allocation of this context.
            let freed = unsafe { result::free_sync(address) };
            doing(freed, || "freeing device memory".into())
        });
        if let Err(error) = result {
            log::warn!("{error}");
        }
    }

    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        self.bind()?;
        // SAFETY: the caller vouches for the range.
        doing(unsafe { result::memset_d8_sync(address, 0, bytes) }, || {
            format!("clearing {bytes} bytes of device memory")
        })
    }

    unsafe fn write(&self, address: u64, data: &[u8]) -> Result<(), Error> {
        if data.is_empty() {
            return Ok(());
        }
        self.bind()?;
        // SAFETY: the caller vouches for the range.
        doing(unsafe { result::memcpy_htod_sync(address, data) }, || {
            format!("copying {} bytes to the device", data.len())
        })
    }

    unsafe fn read(&self, address: u64, data: &mut [u8]) -> Result<(), Error> {
        if data.is_empty() {
            return Ok(());
        }
        self.bind()?;
        let length = data.len();
        // SAFETY: the caller vouches for the range.
        let copied = unsafe { result::memcpy_dtoh_sync(data, address) };
        doing(copied, || format!("copying {length} bytes from the device"))
    }

    fn allocate_host(&self, bytes: usize) -> Result<NonNull<u8>, Error> {
        self.bind()?;
        let pinning = || format!("pinning {bytes} bytes of host memory");
        // SAFETY: any size may be asked for. Without flags it is ordinary memory to read.
        let memory = doing(unsafe { result::malloc_host(bytes, 0) }, pinning)?;
        let memory = NonNull::new(memory.cast::<u8>()).ok_or_else(|| Error::Driver {
            doing: pinning(),
            name: "cuMemHostAlloc".into(),
            reason: "it returned no memory".into(),
        })?;
        // SAFETY: the allocation has so many bytes, and nothing else refers to them yet.
        unsafe { memory.write_bytes(0, bytes) };
        Ok(memory)
    }

    unsafe fn free_host(&self, memory: NonNull<u8>, _bytes: usize) {
        let result = self.bind().and_then(|()| {
            // SAFETY: the caller hands over an allocation of `malloc_host`.
            let freed = unsafe { result::free_host(memory.as_ptr().cast()) };
            doing(freed, || "freeing pinned host memory".into())
        });
        if let Err(error) = result {
            log::warn!("{error}");
        }
    }

    fn load(&self, kernel: &Kernel) -> Result<LoadedKernel, Error> {
        let (module, name) = (kernel.module(), kernel.name());
        let shared_bytes = kernel.shared_bytes();
        let handle = self.module(module)?;
        self.bind()?;
        let text = CString::new(name).unwrap_or_default();
        // SAFETY: the module is loaded and stays so.
        let function = doing(unsafe { result::module::get_function(handle, text) }, || {
            format!("looking for kernel {name} in module {}", module.name)
        })?;
        // SAFETY: the function is of a loaded module.
        let allowed = unsafe {
            result::function::set_function_attribute(
                function,
                FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                shared_bytes.cast_signed(),
            )
        };
        doing(allowed, || format!("allowing kernel {name} {shared_bytes} bytes of shared memory"))?;
        Ok(LoadedKernel(function as usize))
    }

    fn resources(&self, kernel: LoadedKernel) -> Result<Option<Resources>, Error> {
        self.bind()?;
        let attribute = |attribute| {
            // SAFETY: the kernel is of a loaded module.
            doing(
                unsafe { result::function::get_function_attribute(function(kernel), attribute) },
                || "asking what a kernel takes".into(),
            )
            .map(i32::unsigned_abs)
        };
        Ok(Some(Resources {
            registers: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            static_shared_bytes: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local_bytes: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            constant_bytes: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
        }))
    }

    fn resident_blocks(&self, kernel: LoadedKernel, shape: Shape) -> Result<u32, Error> {
        self.bind()?;
        // SAFETY: the kernel is of a loaded module.
        let blocks = unsafe {
            result::occupancy::max_active_block_per_multiprocessor(
                function(kernel),
                shape.threads.cast_signed(),
                shape.shared_bytes as usize,
            )
        };
        doing(blocks, || "asking for a kernel's occupancy".into()).map(i32::unsigned_abs)
    }

    unsafe fn launch(
        &self,
        kernel: LoadedKernel,
        shape: Shape,
        parameters: &[u64],
    ) -> Result<(), Error> {
        self.bind()?;
        let mut arguments = [parameters.as_ptr().cast_mut().cast()];
        // SAFETY: the caller vouches for the parameter block, which the driver copies during the
        // call, and for the addresses in it.
        let launched = unsafe {
            result::launch_kernel(
                function(kernel),
                (shape.grid, 1, 1),
                (shape.threads, 1, 1),
                shape.shared_bytes,
                result::stream::null(),
                &mut arguments,
            )
        };
        doing(launched, || format!("launching a kernel as {shape:?}"))
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.bind()?;
        doing(result::ctx::synchronize(), || format!("running kernels on {}", self.properties.name))
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<(), Error>) -> Result<Duration, Error> {
        self.bind()?;
        let start = Event::new()?;
        let end = Event::new()?;
        start.record()?;
        work()?;
        end.record()?;
        self.synchronize()?;
        // SAFETY: both events are recorded and complete.
        let milliseconds =
            doing(unsafe { result::event::elapsed(start.0, end.0) }, || "timing a kernel".into())?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds) / 1e3))
    }
}

/// A point in the default stream, with a time.
struct Event(sys::CUevent);

impl Event {
    fn new() -> Result<Self, Error> {
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT);
        doing(event, || "creating an event".into()).map(Self)
    }

    fn record(&self) -> Result<(), Error> {
        // SAFETY: the event is live, and the stream is the default one.
        doing(unsafe { result::event::record(self.0, result::stream::null()) }, || {
            "recording an event".into()
        })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is live and not used again.
        if unsafe { result::event::destroy(self.0) }.is_err() {
            log::warn!("an event could not be destroyed");
        }
    }
}
