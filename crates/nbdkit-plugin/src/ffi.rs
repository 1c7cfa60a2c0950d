//! The C interface of nbdkit (nbdkit-plugin(3), version 2, up to 1.32): the only unsafe code here.
//!
//! The crate `nbdkit` 0.3.0 has neither passwords nor block sizes.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::null_mut,
    slice,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use zeroize::{Zeroize, Zeroizing};

use crate::{
    Error,
    config::{Config, HELP, Served},
};

unsafe extern "C" {
    fn nbdkit_error(format: *const c_char, ...);
    fn nbdkit_set_error(errno: c_int);
    fn nbdkit_read_password(value: *const c_char, password: *mut *mut c_char) -> c_int;
    fn nbdkit_parse_size(value: *const c_char) -> i64;
    fn free(memory: *mut c_void);
}

/// A member that we leave to nbdkit.
type Unused = Option<extern "C" fn()>;
/// A question about the disk that the handle stands for.
type Ask = Option<extern "C" fn(*mut c_void) -> c_int>;
/// A phase of the server's start.
type Phase = Option<extern "C" fn() -> c_int>;

/// `struct nbdkit_plugin`, with its names.
#[allow(clippy::struct_field_names, reason = "nbdkit's names")]
#[repr(C)]
pub(crate) struct Plugin {
    struct_size: u64,
    api_version: c_int,
    thread_model: c_int,
    name: *const c_char,
    longname: *const c_char,
    version: *const c_char,
    description: *const c_char,
    load: Unused,
    unload: Option<extern "C" fn()>,
    config: Option<unsafe extern "C" fn(*const c_char, *const c_char) -> c_int>,
    config_complete: Phase,
    config_help: *const c_char,
    open: Option<extern "C" fn(c_int) -> *mut c_void>,
    close: Unused,
    get_size: Option<extern "C" fn(*mut c_void) -> i64>,
    can_write: Ask,
    can_flush: Ask,
    is_rotational: Ask,
    can_trim: Ask,
    of_version_1: [Unused; 5],
    errno_is_preserved: c_int,
    dump_plugin: Unused,
    can_zero: Ask,
    can_fua: Ask,
    pread: Option<unsafe extern "C" fn(*mut c_void, *mut u8, u32, u64, u32) -> c_int>,
    pwrite: Option<unsafe extern "C" fn(*mut c_void, *const u8, u32, u64, u32) -> c_int>,
    flush: Option<extern "C" fn(*mut c_void, u32) -> c_int>,
    trim: Unused,
    zero: Unused,
    magic_config_key: *const c_char,
    can_multi_conn: Ask,
    can_extents: Ask,
    extents: Unused,
    can_cache: Ask,
    cache: Unused,
    thread_model_now: Phase,
    can_fast_zero: Ask,
    preconnect: Unused,
    get_ready: Phase,
    after_fork: Phase,
    list_exports: Unused,
    default_export: Unused,
    export_description: Unused,
    cleanup: Unused,
    block_size: Option<unsafe extern "C" fn(*mut c_void, *mut u32, *mut u32, *mut u32) -> c_int>,
}

// SAFETY: it is never changed, and its pointers are to constants.
unsafe impl Sync for Plugin {}

/// Version 2 of the interface.
const API_VERSION: c_int = 2;
/// Requests come in parallel, also those of one connection.
const PARALLEL: c_int = 3;

static PLUGIN: Plugin = Plugin {
    struct_size: size_of::<Plugin>() as u64,
    api_version: API_VERSION,
    thread_model: PARALLEL,
    name: c"lanecrypt-luks".as_ptr(),
    longname: c"Lanecrypt's LUKS disks".as_ptr(),
    version: VERSION.as_ptr(),
    description: c"The disk in a LUKS1 or LUKS2 container, decrypted as it is read".as_ptr(),
    load: None,
    unload: Some(unload),
    config: Some(config),
    config_complete: Some(config_complete),
    config_help: HELP.as_ptr(),
    open: Some(open),
    close: None,
    get_size: Some(get_size),
    can_write: Some(can_write),
    can_flush: None,     // there is `flush`
    is_rotational: None, // no
    can_trim: None,      // there is no `trim`: which sectors are in use stays secret
    of_version_1: [None; 5],
    errno_is_preserved: 0,
    dump_plugin: None,
    can_zero: None, // nbdkit writes zeros, which are encrypted
    can_fua: None,  // nbdkit flushes
    pread: Some(pread),
    pwrite: Some(pwrite),
    flush: Some(flush),
    trim: None,
    zero: None,
    magic_config_key: c"file".as_ptr(),
    can_multi_conn: Some(can_multi_conn),
    can_extents: None, // no: what is a hole in the container is noise on the disk
    extents: None,
    can_cache: None, // no
    cache: None,
    thread_model_now: None,
    can_fast_zero: None,
    preconnect: None,
    get_ready: Some(get_ready),
    after_fork: None,
    list_exports: None,
    default_export: None,
    export_description: None,
    cleanup: None,
    block_size: Some(block_size),
};

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

static CONFIG: Mutex<Config> = Mutex::new(Config::new());
/// The disk, from when it is open until nbdkit unloads the plugin.
static SERVED: RwLock<Option<Arc<Served>>> = RwLock::new(None);

/// What nbdkit calls when it has loaded the plugin.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn plugin_init() -> *const Plugin {
    &raw const PLUGIN
}

/// # Safety
/// Both are texts that end with a zero.
unsafe extern "C" fn config(key: *const c_char, value: *const c_char) -> c_int {
    // SAFETY: by contract.
    let (key, value) = unsafe { (CStr::from_ptr(key), CStr::from_ptr(value)) };
    status(|| with_config(|config| config.set(key, value)))
}

extern "C" fn config_complete() -> c_int {
    status(|| with_config(|config| config.check()))
}

extern "C" fn get_ready() -> c_int {
    status(|| {
        let config = with_config(|config| Ok(mem::replace(config, Config::new())))?;
        let served = config.open()?;
        *SERVED.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(served));
        Ok(())
    })
}

/// Drops the disk, which clears the volume key: a static is never dropped.
extern "C" fn unload() {
    let end = || SERVED.write().unwrap_or_else(PoisonError::into_inner).take();
    drop(catch_unwind(AssertUnwindSafe(|| drop(end()))));
}

/// There is one disk: the handle only must not be null.
extern "C" fn open(_readonly: c_int) -> *mut c_void {
    guarded(null_mut(), || served().map(|_| (&raw const PLUGIN).cast_mut().cast()))
}

extern "C" fn get_size(_handle: *mut c_void) -> i64 {
    guarded(-1, || {
        let bytes = served()?.disk.bytes();
        i64::try_from(bytes).map_err(|_| Error::Parameters("the disk has more than 2^63 bytes"))
    })
}

extern "C" fn can_write(_handle: *mut c_void) -> c_int {
    guarded(-1, || Ok(served()?.is_writable.into()))
}

/// All connections have one file, which is flushed as a whole.
extern "C" fn can_multi_conn(_handle: *mut c_void) -> c_int {
    1
}

/// # Safety
/// `buffer` has `count` bytes that are not used elsewhere meanwhile.
unsafe extern "C" fn pread(
    _handle: *mut c_void,
    buffer: *mut u8,
    count: u32,
    offset: u64,
    _flags: u32,
) -> c_int {
    // SAFETY: by contract. What the memory holds is overwritten and not read.
    let buffer = unsafe { slice::from_raw_parts_mut(buffer, count as usize) };
    status(|| Ok(served()?.disk.read_at(buffer, offset)?))
}

/// # Safety
/// `buffer` has `count` bytes that do not change meanwhile.
unsafe extern "C" fn pwrite(
    _handle: *mut c_void,
    buffer: *const u8,
    count: u32,
    offset: u64,
    _flags: u32,
) -> c_int {
    // SAFETY: by contract.
    let data = unsafe { slice::from_raw_parts(buffer, count as usize) };
    status(|| Ok(served()?.disk.write_at(data, offset)?))
}

extern "C" fn flush(_handle: *mut c_void, _flags: u32) -> c_int {
    status(|| Ok(served()?.disk.sync()?))
}

/// # Safety
/// The three can be written to.
unsafe extern "C" fn block_size(
    _handle: *mut c_void,
    minimum: *mut u32,
    preferred: *mut u32,
    maximum: *mut u32,
) -> c_int {
    /// A page, and the longest sector.
    const PREFERRED: u32 = 4096;
    // SAFETY: by contract.
    unsafe {
        minimum.write(1);
        preferred.write(PREFERRED);
        maximum.write(u32::MAX);
    }
    0
}

/// The passphrase that a parameter says how to get, as with all of nbdkit's plugins.
pub(crate) fn read_password(value: &CStr) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut password = null_mut();
    // SAFETY: a text that ends with a zero, and a place for a pointer.
    let status = unsafe { nbdkit_read_password(value.as_ptr(), &raw mut password) };
    if status != 0 || password.is_null() {
        return Err(Error::Value);
    }
    // SAFETY: nbdkit has allocated such a text, and it is ours.
    let bytes = unsafe {
        slice::from_raw_parts_mut(password.cast(), CStr::from_ptr(password).count_bytes())
    };
    let secret = Zeroizing::new(bytes.to_vec());
    bytes.zeroize();
    // SAFETY: it was allocated by malloc and is not used again.
    unsafe { free(password.cast()) };
    Ok(secret)
}

/// A number of bytes such as 4G.
pub(crate) fn parse_size(value: &CStr) -> Result<u64, Error> {
    // SAFETY: a text that ends with a zero.
    let bytes = unsafe { nbdkit_parse_size(value.as_ptr()) };
    u64::try_from(bytes).map_err(|_| Error::Value)
}

fn with_config<T>(work: impl FnOnce(&mut Config) -> Result<T, Error>) -> Result<T, Error> {
    work(&mut CONFIG.lock().unwrap_or_else(PoisonError::into_inner))
}

fn served() -> Result<Arc<Served>, Error> {
    let served = SERVED.read().unwrap_or_else(PoisonError::into_inner);
    served.clone().ok_or(Error::NotOpen)
}

/// 0, or -1 where `work` fails.
fn status(work: impl FnOnce() -> Result<(), Error>) -> c_int {
    guarded(-1, || work().map(|()| 0))
}

/// What `work` gives. Where it fails or panics, nbdkit is told why, and it is `failed`.
fn guarded<T>(failed: T, work: impl FnOnce() -> Result<T, Error>) -> T {
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Error::Panicked));
    done.unwrap_or_else(|error| {
        report(&error);
        failed
    })
}

fn report(error: &Error) {
    let text = CString::new(error.to_string()).unwrap_or_default();
    // SAFETY: a format for one text that ends with a zero.
    unsafe { nbdkit_error(c"%s".as_ptr(), text.as_ptr()) };
    // SAFETY: it takes any number.
    unsafe { nbdkit_set_error(error.errno()) };
}
