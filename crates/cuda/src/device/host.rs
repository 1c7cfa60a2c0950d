//! The kernels compiled as C++ for this CPU, as a device: for tests without a GPU.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    collections::HashMap,
    ffi::c_void,
    fmt,
    path::Path,
    ptr::NonNull,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use lanecrypt_core::Unavailable;
use lanecrypt_kernels::{HOST_INTERFACE, Kernel};
use libloading::Library;

use crate::{
    Error, Properties,
    device::driver::{Driver, LoadedKernel, Mark, Resources, Shape, StreamHandle},
    variables::HOST_KERNELS,
};

/// Alignment of an allocation: that of a block of 16 bytes, and no more, so that a kernel which
/// relies on more than it may fails here.
const ALIGNMENT: usize = 16;

/// What a kernel can be launched with: `host::Expected` of `kernels/host/shim.hpp`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Expected {
    /// At most.
    threads: u32,
    /// That they are a multiple of.
    group_threads: u32,
    shared_bytes: u32,
    parameter_bytes: u32,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threads, group_threads, shared_bytes, parameter_bytes } = self;
        write!(
            f,
            "a multiple of {group_threads} threads, at most {threads}, {shared_bytes} bytes of \
             shared memory and {parameter_bytes} of parameters"
        )
    }
}

/// A kernel of the library: returns null, or where it did not run what it can be launched with,
/// which lives as long as the library.
type KernelFunction = unsafe extern "C" fn(*const Shape, *const c_void, usize) -> *const Expected;

/// A kernel that was looked up.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    name: &'static str,
    function: KernelFunction,
}

/// Tells the [`HOST_INTERFACE`] that the library was built with.
type InterfaceFunction = unsafe extern "C" fn() -> u32;

/// The host build as a device with few, small multiprocessors, so that small tests already make
/// several thread blocks take several turns.
#[derive(Debug)]
pub(crate) struct Host {
    library: Library,
    properties: Properties,
    /// Sizes by address, to free with.
    allocations: Mutex<HashMap<u64, Layout>>,
    /// By the numbers that [`LoadedKernel`] holds.
    kernels: Mutex<Vec<Loaded>>,
}

fn layout(bytes: usize) -> Result<Layout, Error> {
    Layout::from_size_align(bytes, ALIGNMENT).map_err(|error| Error::HostKernels {
        doing: format!("allocating {bytes} bytes"),
        reason: error.to_string(),
    })
}

fn out_of_memory(bytes: usize) -> Error {
    Error::HostKernels {
        doing: format!("allocating {bytes} bytes"),
        reason: "out of memory".into(),
    }
}

impl Host {
    pub(crate) fn open() -> Result<Self, Error> {
        let path = std::env::var_os(HOST_KERNELS).ok_or_else(|| {
            Unavailable::because(
                "the kernels are not built for the host: run through `cargo xtask`, or set \
                 LANECRYPT_HOST_KERNELS to what `cargo xtask kernels --host` built",
            )
        })?;
        // SAFETY: whoever sets the variable, which is read in test builds only, vouches that it
        // names our own build of the kernels.
        unsafe { Self::of_library(path.as_ref()) }
    }

    /// The library at a path.
    ///
    /// # Safety
    /// It is made of the kernels' host build, and no other program.
    pub(crate) unsafe fn of_library(path: &Path) -> Result<Self, Error> {
        // SAFETY: as the caller vouches; its initialisers only set up thread-local state.
        let library = unsafe { Library::new(path) }
            .map_err(|error| Unavailable::because_of(format!("{}: {error}", path.display())))?;
        check_interface(&library)
            .map_err(|reason| Unavailable::because_of(format!("{}: {reason}", path.display())))?;
        let properties = Properties {
            name: "host build of the kernels".into(),
            uuid: [0; 16],
            compute_capability: (0, 0),
            multiprocessors: 2,
            shared_bytes_per_block: 227 << 10,
            memory_bytes: 8 << 30,
            clock_khz: 0,
            driver_version: 0,
        };
        Ok(Self { library, properties, allocations: Mutex::default(), kernels: Mutex::default() })
    }

    /// The kernel of this name in the library.
    fn find(&self, name: &'static str) -> Result<LoadedKernel, Error> {
        // SAFETY: every kernel in the library has this type; the library stays open as long as
        // `self`, and so does the symbol.
        let symbol = unsafe { self.library.get::<KernelFunction>(name) };
        let symbol = symbol.map_err(|error| Error::HostKernels {
            doing: format!("looking for kernel {name} in the host build"),
            reason: error.to_string(),
        })?;
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        kernels.push(Loaded { name, function: *symbol });
        Ok(LoadedKernel(kernels.len() - 1))
    }
}

/// Says why a library is not of the version that this code calls.
fn check_interface(library: &Library) -> Result<(), String> {
    // SAFETY: a library with this symbol is a build of `kernels/host/shim.cpp`, in every version of
    // which it is a function of this type.
    let found =
        unsafe { library.get::<InterfaceFunction>("lanecrypt_host_interface").map(|f| f()) };
    match found {
        Ok(HOST_INTERFACE) => Ok(()),
        Ok(found) => Err(format!("interface {found} of the host kernels, not {HOST_INTERFACE}")),
        Err(_) => Err("no host build of the kernels: it does not tell its interface".into()),
    }
}

impl Driver for Host {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn allocate(&self, bytes: usize) -> Result<u64, Error> {
        let layout = layout(bytes)?;
        // SAFETY: buffers ask for one byte at least.
        let pointer = unsafe { alloc_zeroed(layout) };
        if pointer.is_null() {
            return Err(out_of_memory(bytes));
        }
        let address = pointer.expose_provenance() as u64;
        self.allocations.lock().unwrap_or_else(PoisonError::into_inner).insert(address, layout);
        Ok(address)
    }

    fn free_bytes(&self) -> Result<usize, Error> {
        Ok(1 << 30)
    }

    unsafe fn free(&self, address: u64) {
        let layout =
            self.allocations.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
        if let Some(layout) = layout {
            let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
            // SAFETY: the address is from `allocate`, with this layout, and not used again.
            unsafe { dealloc(pointer, layout) };
        }
    }

    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), Error> {
        let pointer: *mut u8 = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the caller vouches for the range.
        unsafe { pointer.write_bytes(0, bytes) };
        Ok(())
    }

    unsafe fn write(&self, address: u64, data: &[u8]) -> Result<(), Error> {
        let pointer: *mut u8 = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the caller vouches for the range; `data` is borrowed and so lies elsewhere.
        unsafe { pointer.copy_from_nonoverlapping(data.as_ptr(), data.len()) };
        Ok(())
    }

    unsafe fn read(&self, address: u64, data: &mut [u8]) -> Result<(), Error> {
        let pointer: *const u8 = std::ptr::with_exposed_provenance(address as usize);
        // SAFETY: the caller vouches for the range; `data` is borrowed and so lies elsewhere.
        unsafe { pointer.copy_to_nonoverlapping(data.as_mut_ptr(), data.len()) };
        Ok(())
    }

    // Copies are complete when they are started, as kernels are.

    unsafe fn start_clear(
        &self,
        _stream: StreamHandle,
        address: u64,
        bytes: usize,
    ) -> Result<(), Error> {
        // SAFETY: the caller vouches for the range.
        unsafe { self.clear(address, bytes) }
    }

    unsafe fn start_write(
        &self,
        _stream: StreamHandle,
        address: u64,
        data: NonNull<[u8]>,
    ) -> Result<(), Error> {
        // SAFETY: the caller vouches for both ranges.
        unsafe { self.write(address, data.as_ref()) }
    }

    unsafe fn start_read(
        &self,
        _stream: StreamHandle,
        address: u64,
        mut data: NonNull<[u8]>,
    ) -> Result<(), Error> {
        // SAFETY: the caller vouches for both ranges.
        unsafe { self.read(address, data.as_mut()) }
    }

    fn allocate_host(&self, bytes: usize) -> Result<NonNull<u8>, Error> {
        // SAFETY: the size is not 0.
        NonNull::new(unsafe { alloc_zeroed(layout(bytes)?) }).ok_or_else(|| out_of_memory(bytes))
    }

    fn address_of_host(&self, memory: NonNull<u8>) -> Option<u64> {
        Some(memory.as_ptr().expose_provenance() as u64)
    }

    unsafe fn free_host(&self, memory: NonNull<u8>, bytes: usize) {
        if let Ok(layout) = layout(bytes) {
            // SAFETY: the memory is from `allocate_host`, with this layout, and not used again.
            unsafe { dealloc(memory.as_ptr(), layout) };
        }
    }

    fn load(&self, kernel: &Kernel) -> Result<LoadedKernel, Error> {
        self.find(kernel.name())
    }

    #[cfg(feature = "listings")]
    unsafe fn load_listing(
        &self,
        name: &str,
        _ptx: &str,
        _shared_bytes: u32,
    ) -> Result<LoadedKernel, Error> {
        self.find(String::from(name).leak()) // some bytes, for as long as the library is open
    }

    fn resources(&self, _kernel: LoadedKernel) -> Result<Option<Resources>, Error> {
        Ok(None)
    }

    fn resident_blocks(&self, _kernel: LoadedKernel, _shape: Shape) -> Result<u32, Error> {
        Ok(1)
    }

    // Kernels run when they are launched: streams and marks have nothing to do.

    fn new_stream(&self) -> Result<StreamHandle, Error> {
        Ok(StreamHandle::DEFAULT)
    }

    unsafe fn free_stream(&self, _stream: StreamHandle) {}

    unsafe fn is_of_context(&self, stream: StreamHandle) -> Result<bool, Error> {
        Ok(stream == StreamHandle::DEFAULT)
    }

    fn new_mark(&self) -> Result<Mark, Error> {
        Ok(Mark(0))
    }

    fn record(&self, _mark: &Mark, _stream: StreamHandle) -> Result<(), Error> {
        Ok(())
    }

    fn wait(&self, _mark: &Mark) -> Result<(), Error> {
        Ok(())
    }

    fn wait_on_device(&self, _stream: StreamHandle, _mark: &Mark) -> Result<(), Error> {
        Ok(())
    }

    fn is_complete(&self, _mark: &Mark) -> Result<bool, Error> {
        Ok(true)
    }

    fn free_mark(&self, _mark: Mark) {}

    unsafe fn launch(
        &self,
        _stream: StreamHandle,
        kernel: LoadedKernel,
        shape: Shape,
        parameters: &[u64],
    ) -> Result<(), Error> {
        let kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let Loaded { name: kernel, function } = kernels[kernel.0];
        drop(kernels); // others launch meanwhile
        let bytes = size_of_val(parameters);
        // SAFETY: the function checks the shape and the size of the block, and the caller vouches
        // for the rest.
        let expected = unsafe { function(&raw const shape, parameters.as_ptr().cast(), bytes) };
        // SAFETY: null, or a constant of the library, which is open as long as `self`.
        match unsafe { expected.as_ref() } {
            None => Ok(()),
            Some(expected) => {
                let Shape { threads, shared_bytes, .. } = shape;
                let given = format!(
                    "{threads} threads, {shared_bytes} bytes of shared memory and {bytes} of \
                     parameters"
                );
                Err(Error::Launch { kernel, given, expected: expected.to_string() })
            }
        }
    }

    fn synchronize(&self, _stream: StreamHandle) -> Result<(), Error> {
        Ok(())
    }

    fn synchronize_all(&self) -> Result<(), Error> {
        Ok(())
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<(), Error>) -> Result<Duration, Error> {
        let start = Instant::now();
        work()?;
        Ok(start.elapsed())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use lanecrypt_kernels::Task;

    use super::*;

    #[test]
    fn another_library_is_not_called() {
        // SAFETY: every program on this system has run its initialisers already.
        let library = unsafe { Library::new("libc.so.6") }.expect("the C library");
        let reason = check_interface(&library).expect_err("it has no kernels");
        assert!(reason.contains("no host build"), "{reason}");
    }

    #[test]
    #[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
    fn launches_that_the_source_does_not_allow_are_refused() {
        let host = Host::open().expect("LANECRYPT_HOST_KERNELS names the library");
        let program = &lanecrypt_kernels::programs::AES_CONFLICT_FREE_4;
        let ecb = program.kernel(Task::EcbEncrypt).expect("every program has it");
        let ctr = program.kernel(Task::Ctr).expect("every program has it");
        // No blocks, and so no address that is used; the number of rounds is 0.
        let block = vec![0; ecb.parameter_bytes() / 8];
        let launch = |kernel: &Kernel, threads, shared_bytes, parameters: &[u64]| {
            let loaded = host.load(kernel).expect("it is in the library");
            let shape = Shape { grid: 1, threads, shared_bytes };
            // SAFETY: the block asks for nothing, or is refused.
            unsafe { host.launch(StreamHandle::DEFAULT, loaded, shape, parameters) }
                .map_err(|error| error.to_string())
        };
        let shared = ecb.shared_bytes();
        assert_eq!(launch(ecb, 1024, shared, &block), Ok(()));
        assert_eq!(launch(ecb, 32, shared, &block), Ok(()));
        assert_eq!(launch(ctr, 1024, shared, &block), Ok(()));

        for (threads, shared, block) in [
            (0, shared, &block[..]),
            (1056, shared, &block),
            (33, shared, &block),
            (32, shared + 4, &block),
            (32, 0, &block),
            (32, shared, &block[1..]),
        ] {
            let refused = launch(ecb, threads, shared, block).expect_err("not as it is launched");
            let given = format!(
                "kernel aes_conflict_free_4_ecb_encrypt was launched with {threads} threads, \
                 {shared} bytes of shared memory and {} of parameters; it takes a multiple of 32 \
                 threads, at most 1024, 131072 bytes of shared memory and 304 of parameters",
                8 * block.len(),
            );
            assert_eq!(refused, given);
        }
        // Its groups are whole thread blocks.
        let refused = launch(ctr, 512, shared, &block).expect_err("half a group");
        assert!(refused.contains("512") && refused.contains("a multiple of 1024"), "{refused}");
    }
}
