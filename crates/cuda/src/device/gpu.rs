//! The CUDA driver, through cudarc's thin layer.

mod call;
mod host_range;

use std::{
    collections::HashMap,
    ffi::CString,
    mem::ManuallyDrop,
    ops::Range,
    ptr::NonNull,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cudarc::driver::{
    CudaContext, DriverError, result,
    sys::{self, CUdevice_attribute as Attribute, CUfunction_attribute as FunctionAttribute},
};
use lanecrypt_core::Unavailable;
use lanecrypt_kernels::{Kernel, MACHINE_CODE_FOR, Module, REQUIRED_CUDA};

use self::{
    call::{Event, cuda_stream, doing},
    host_range::host_range,
};
use crate::{
    Error, Properties,
    device::{
        driver::{Driver, LoadedKernel, Mark, Resources, Shape, StreamHandle},
        spare::Spare,
    },
};

/// A GPU under its primary context.
#[derive(Debug)]
pub(crate) struct Gpu {
    context: Arc<CudaContext>,
    properties: Properties,
    /// The machine code that is loaded, by the module's name; `None` where the driver does not take it.
    machine_code: Mutex<HashMap<&'static str, Option<LoadedModule>>>,
    spare: Mutex<Spare>,
}

/// A module of a context. It stays loaded as long as the process lives.
#[derive(Clone, Copy, Debug)]
struct LoadedModule(usize);

impl LoadedModule {
    /// Loads PTX, which the driver compiles, or machine code.
    ///
    /// # Safety
    /// `image` is PTX with a zero byte behind it, or a cubin.
    unsafe fn new(image: &[u8]) -> Result<Self, DriverError> {
        // SAFETY: the driver finds the image's end by what is in it, for which the caller vouches.
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) }?;
        Ok(Self(module as usize))
    }

    fn handle(self) -> sys::CUmodule {
        self.0 as sys::CUmodule
    }
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

/// The number of the device that has the memory at an address of this process, if it is a device's.
/// Needs a driver that [`count`] has started, and a context on this thread.
pub(crate) fn number_of_memory(address: u64) -> Option<usize> {
    let mut number: i32 = -1;
    // SAFETY: the attribute is an integer, which the pointer is to; any address may be asked for.
    let result = unsafe {
        sys::cuPointerGetAttribute(
            (&raw mut number).cast(),
            sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
            address,
        )
    };
    result.result().ok().and_then(|()| usize::try_from(number).ok())
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
            uuid: doing(context.uuid(), || format!("naming CUDA device {number}"))?
                .bytes
                .map(|byte| byte.to_ne_bytes()[0]),
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
        Ok(Self { context, properties, machine_code: Mutex::default(), spare: Mutex::default() })
    }

    fn bind(&self) -> Result<(), Error> {
        doing(self.context.bind_to_thread(), || format!("selecting {}", self.properties.name))
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the driver all memory back that is kept.
    fn free_spare(&self) {
        for address in self.spare().take_all() {
            // SAFETY: what is kept is an allocation of this context that nothing uses.
            unsafe { self.free_at_once(address) };
        }
    }

    /// As [`Driver::free`], after all that runs on the device.
    ///
    /// # Safety
    /// As there.
    unsafe fn free_at_once(&self, address: u64) {
        let result = self.bind().and_then(|()| {
            // SAFETY: the caller hands over an allocation of this context.
            let freed = unsafe { result::free_sync(address) };
            doing(freed, || "freeing device memory".into())
        });
        if let Err(error) = result {
            log::warn!("{error}");
        }
    }

    /// The module that has a kernel: its machine code, or PTX of this kernel alone.
    fn module_of(&self, kernel: &Kernel) -> Result<LoadedModule, Error> {
        self.machine_code_of(kernel.module()).map_or_else(|| self.load_ptx(kernel), Ok)
    }

    /// The machine code of a module, loaded once; `None` on another architecture than it is for, and
    /// where the driver does not take it: one that is older than what it was assembled with.
    fn machine_code_of(&self, module: &Module) -> Option<LoadedModule> {
        let is_for_it = self.properties.compute_capability == MACHINE_CODE_FOR;
        if !is_for_it || module.machine_code.is_empty() {
            return None;
        }
        let mut loaded = self.machine_code.lock().unwrap_or_else(PoisonError::into_inner);
        *loaded.entry(module.name).or_insert_with(|| {
            // Copied, since the driver reads words and the program's bytes may lie anywhere.
            let image = module.machine_code.to_vec();
            // SAFETY: it is not empty, and so what `cargo xtask kernels` made of the module: a cubin.
            let result = unsafe { LoadedModule::new(&image) };
            result
                .inspect_err(|error| {
                    log::info!("the driver compiles PTX of module {}: {error}", module.name);
                })
                .ok()
        })
    }

    /// A kernel of a loaded module, with its dynamic shared memory allowed.
    fn function_of(
        module: LoadedModule,
        module_name: &str,
        name: &str,
        shared_bytes: u32,
    ) -> Result<LoadedKernel, Error> {
        let text = CString::new(name).unwrap_or_default();
        // SAFETY: the module is loaded and stays so.
        let found = unsafe { result::module::get_function(module.handle(), text) };
        let function =
            doing(found, || format!("looking for kernel {name} in module {module_name}"))?;
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

    /// Loads the PTX of one kernel, which the driver compiles.
    fn load_ptx(&self, kernel: &Kernel) -> Result<LoadedModule, Error> {
        let (module, name) = (kernel.module(), kernel.name());
        let loading = || {
            format!("loading kernel {name} of module {} on {}", module.name, self.properties.name)
        };
        let failed = |what: &str, reason: &str| Error::Driver {
            doing: loading(),
            name: what.into(),
            reason: reason.into(),
        };
        let parts = module.ptx_of(name).ok_or_else(|| failed("PTX", "it is not in it"))?;
        let image =
            CString::new(parts.concat()).map_err(|_| failed("PTX", "it has a zero byte"))?;
        // SAFETY: PTX that ends with a zero byte.
        doing(unsafe { LoadedModule::new(image.as_bytes_with_nul()) }, loading)
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
        if let Some(address) = self.spare().take(bytes) {
            return Ok(address);
        }
        self.bind()?;
        // SAFETY: any size may be asked for; the memory is cleared by the caller before use.
        let ask = || unsafe { result::malloc_sync(bytes) };
        let asked = ask().or_else(|_| {
            self.free_spare();
            ask()
        });
        let address =
            doing(asked, || format!("allocating {bytes} bytes on {}", self.properties.name))?;
        self.spare().note(address, bytes);
        Ok(address)
    }

    fn free_bytes(&self) -> Result<usize, Error> {
        self.bind()?;
        doing(result::mem_get_info(), || "asking for free device memory".into())
            .map(|(free, _total)| free)
    }

    unsafe fn free(&self, address: u64) {
        // Whoever gets it next clears it on the default stream, after what uses it now.
        if !self.spare().keep(address) {
            // SAFETY: as the caller vouches.
            unsafe { self.free_at_once(address) };
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

    unsafe fn start_clear(
        &self,
        stream: StreamHandle,
        address: u64,
        bytes: usize,
    ) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        self.bind()?;
        // SAFETY: the caller vouches for the range and the stream.
        let started = unsafe { result::memset_d8_async(address, 0, bytes, cuda_stream(stream)) };
        doing(started, || format!("clearing {bytes} bytes of device memory"))
    }

    unsafe fn start_write(
        &self,
        stream: StreamHandle,
        address: u64,
        data: NonNull<[u8]>,
    ) -> Result<(), Error> {
        self.bind()?;
        // SAFETY: the caller vouches for both ranges and the stream.
        let started =
            unsafe { result::memcpy_htod_async(address, data.as_ref(), cuda_stream(stream)) };
        doing(started, || format!("copying {} bytes to the device", data.len()))
    }

    unsafe fn start_read(
        &self,
        stream: StreamHandle,
        address: u64,
        mut data: NonNull<[u8]>,
    ) -> Result<(), Error> {
        self.bind()?;
        // SAFETY: the caller vouches for both ranges and the stream.
        let started =
            unsafe { result::memcpy_dtoh_async(data.as_mut(), address, cuda_stream(stream)) };
        doing(started, || format!("copying {} bytes from the device", data.len()))
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

    fn address_of_host(&self, memory: NonNull<u8>) -> Option<u64> {
        self.bind().ok()?;
        let mut address = 0;
        // SAFETY: the driver refuses memory that is not its own; the pointer is to a live address.
        let result = unsafe {
            sys::cuMemHostGetDevicePointer_v2(&raw mut address, memory.as_ptr().cast(), 0)
        };
        result.result().ok().map(|()| address)
    }

    fn pinned_range(&self, start: *const u8, length: usize) -> Option<Range<usize>> {
        self.bind().ok()?;
        let start = start.expose_provenance();
        let range = host_range(start)?;
        (range.contains(&start) && range.end - start >= length).then_some(range)
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
        self.bind()?;
        let (module, name, shared_bytes) = (kernel.module(), kernel.name(), kernel.shared_bytes());
        Self::function_of(self.module_of(kernel)?, module.name, name, shared_bytes)
    }

    #[cfg(feature = "listings")]
    unsafe fn load_listing(
        &self,
        name: &str,
        ptx: &str,
        shared_bytes: u32,
    ) -> Result<LoadedKernel, Error> {
        self.bind()?;
        let loading = || format!("loading kernel {name} on {}", self.properties.name);
        let image = CString::new(ptx).map_err(|_| Error::Driver {
            doing: loading(),
            name: "PTX".into(),
            reason: "it has a zero byte".into(),
        })?;
        // SAFETY: PTX, as the caller vouches, with a zero byte behind it.
        let module = doing(unsafe { LoadedModule::new(image.as_bytes_with_nul()) }, loading)?;
        Self::function_of(module, name, name, shared_bytes)
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

    fn new_stream(&self) -> Result<StreamHandle, Error> {
        self.bind()?;
        // Not `NonBlocking`: it is in order with the default stream.
        let stream = result::stream::create(result::stream::StreamKind::Default);
        doing(stream, || "creating a stream".into()).map(|stream| StreamHandle(stream as usize))
    }

    unsafe fn free_stream(&self, stream: StreamHandle) {
        let result = self.bind().and_then(|()| {
            // SAFETY: the caller hands over a stream of this context.
            let destroyed = unsafe { result::stream::destroy(cuda_stream(stream)) };
            doing(destroyed, || "destroying a stream".into())
        });
        if let Err(error) = result {
            log::warn!("{error}");
        }
    }

    unsafe fn is_of_context(&self, stream: StreamHandle) -> Result<bool, Error> {
        self.bind()?;
        let mut context = std::ptr::null_mut();
        // SAFETY: the caller vouches for the stream, and the pointer is to a live one.
        let asked = unsafe { sys::cuStreamGetCtx(cuda_stream(stream), &raw mut context) }.result();
        doing(asked, || "asking for the context of a stream".into())?;
        Ok(context == self.context.cu_ctx())
    }

    fn new_mark(&self) -> Result<Mark, Error> {
        self.bind()?;
        let event = Event::new(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
        Ok(Mark(ManuallyDrop::new(event).0 as usize)) // until `free_mark`
    }

    fn record(&self, mark: &Mark, stream: StreamHandle) -> Result<(), Error> {
        self.bind()?;
        ManuallyDrop::new(Event(cuda_event(mark))).record(stream)
    }

    fn wait(&self, mark: &Mark) -> Result<(), Error> {
        self.bind()?;
        // SAFETY: a mark is a live event.
        doing(unsafe { result::event::synchronize(cuda_event(mark)) }, || {
            format!("running kernels on {}", self.properties.name)
        })
    }

    fn wait_on_device(&self, stream: StreamHandle, mark: &Mark) -> Result<(), Error> {
        self.bind()?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: a mark is a live event, and the stream is live.
        let waits =
            unsafe { result::stream::wait_event(cuda_stream(stream), cuda_event(mark), flags) };
        doing(waits, || "letting a stream wait".into())
    }

    fn is_complete(&self, mark: &Mark) -> Result<bool, Error> {
        self.bind()?;
        // SAFETY: a mark is a live event.
        match unsafe { result::event::query(cuda_event(mark)) } {
            Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_READY)) => Ok(false),
            other => doing(other, || format!("running kernels on {}", self.properties.name))
                .map(|()| true),
        }
    }

    fn free_mark(&self, mark: Mark) {
        drop(Event(cuda_event(&mark)));
    }

    unsafe fn launch(
        &self,
        stream: StreamHandle,
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
                cuda_stream(stream),
                &mut arguments,
            )
        };
        doing(launched, || format!("launching a kernel as {shape:?}"))
    }

    fn synchronize(&self, stream: StreamHandle) -> Result<(), Error> {
        self.bind()?;
        // SAFETY: streams that this driver is asked for are live.
        doing(unsafe { result::stream::synchronize(cuda_stream(stream)) }, || {
            format!("running kernels on {}", self.properties.name)
        })
    }

    fn synchronize_all(&self) -> Result<(), Error> {
        self.bind()?;
        doing(result::ctx::synchronize(), || format!("running kernels on {}", self.properties.name))
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<(), Error>) -> Result<Duration, Error> {
        self.bind()?;
        let start = Event::new(sys::CUevent_flags::CU_EVENT_DEFAULT)?;
        let end = Event::new(sys::CUevent_flags::CU_EVENT_DEFAULT)?;
        start.record(StreamHandle::DEFAULT)?;
        work()?;
        end.record(StreamHandle::DEFAULT)?;
        self.synchronize(StreamHandle::DEFAULT)?;
        // SAFETY: both events are recorded and complete.
        let milliseconds =
            doing(unsafe { result::event::elapsed(start.0, end.0) }, || "timing a kernel".into())?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds) / 1e3))
    }
}

/// The event behind a mark.
fn cuda_event(mark: &Mark) -> sys::CUevent {
    mark.0 as sys::CUevent
}
