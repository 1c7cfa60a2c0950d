//! The C interface of a provider (provider(7), provider-base(7), provider-cipher(7)): a thin shell, and
//! the only unsafe code.
//!
//! Every function here trusts its caller for what those pages promise: pointers are null or good for what
//! is said of them, a context is one of ours and used by one thread at a time, and parameter lists end
//! with a null key. Nothing unwinds out of here.
#![allow(unsafe_code)]

use std::{
    alloc::{Layout, alloc},
    ffi::{CStr, c_char, c_int, c_void},
    marker::PhantomData,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr, slice,
};

use lanecrypt::Direction;
use parameter::{Parameter, for_each};
use tables::{
    ABOUT, GETTABLE, GETTABLE_OF_CCM, GETTABLE_OF_GCM, PARAMS, SETTABLE, SETTABLE_OF_CCM,
    SETTABLE_OF_GCM, SETTABLE_OF_XTS_OF_GB, Table,
};

use crate::{
    Algorithm, Context, EvpCalls, EvpMode, LargeCalls, Reason, Transfer, Value,
    algorithm::{COUNT, algorithm, for_each_algorithm},
};

mod parameter;
mod tables;
pub(crate) mod transfer;

/// `OSSL_DISPATCH`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dispatch {
    id: c_int,
    function: *const c_void,
}

/// `OSSL_ALGORITHM`.
#[repr(C)]
struct Offer {
    names: *const c_char,
    properties: *const c_char,
    functions: *const Dispatch,
    description: *const c_char,
}

/// A value on the heap, or nothing where there is no memory.
fn try_box<T>(value: T) -> Option<Box<T>> {
    const { assert!(size_of::<T>() > 0) };
    // SAFETY: the memory has the type's layout, which is not empty, and a value once it is a box.
    unsafe {
        let place = alloc(Layout::new::<T>()).cast::<T>();
        if place.is_null() {
            return None;
        }
        place.write(value);
        Some(Box::from_raw(place))
    }
}

type GetParameters = unsafe extern "C" fn(*const c_void, *mut Parameter) -> c_int;
type NewError = unsafe extern "C" fn(*const c_void);
type SetError = unsafe extern "C" fn(*const c_void, u32, *const c_char, *const c_void);

/// The functions of OpenSSL that tell the configuration, and that errors go to.
#[derive(Clone, Copy)]
struct Core {
    handle: *const c_void,
    get_parameters: Option<GetParameters>,
    new_error: Option<NewError>,
    /// The last argument is a `va_list`, of which nothing is read where there is no format; on the
    /// systems that OpenSSL runs on it is passed as a pointer.
    set_error: Option<SetError>,
}

impl Core {
    /// Of the functions that OpenSSL gives.
    unsafe fn new(handle: *const c_void, mut functions: *const Dispatch) -> Self {
        let mut core = Self { handle, get_parameters: None, new_error: None, set_error: None };
        // SAFETY: the list ends with 0, and each number says what its function is.
        unsafe {
            while let Some(entry) = functions.as_ref().filter(|entry| entry.id != 0) {
                match entry.id {
                    2 => {
                        core.get_parameters =
                            mem::transmute::<*const c_void, Option<GetParameters>>(entry.function);
                    }
                    5 => {
                        core.new_error =
                            mem::transmute::<*const c_void, Option<NewError>>(entry.function);
                    }
                    7 => {
                        core.set_error =
                            mem::transmute::<*const c_void, Option<SetError>>(entry.function);
                    }
                    _ => {}
                }
                functions = functions.add(1);
            }
        }
        core
    }

    /// Takes the backend that the module's section of the configuration names, if it names one.
    fn configure(&self) -> Result<(), Reason> {
        let mut name = ptr::null();
        let mut asked = [Parameter::asking(c"backend", &raw mut name), Parameter::END];
        if let Some(get_parameters) = self.get_parameters {
            // SAFETY: the function and the handle are OpenSSL's; the list ends as lists do. What OpenSSL
            // gives is a C string that stays with its configuration.
            unsafe {
                if get_parameters(self.handle, asked.as_mut_ptr()) == 1 && !name.is_null() {
                    LargeCalls::parse(CStr::from_ptr(name).to_bytes())?.install();
                }
            }
        }
        Ok(())
    }

    fn raise(&self, reason: Reason) {
        if let (Some(new_error), Some(set_error), Some(code)) =
            (self.new_error, self.set_error, reason.code())
        {
            // SAFETY: the functions and the handle are OpenSSL's.
            unsafe {
                new_error(self.handle);
                set_error(self.handle, code, ptr::null(), ptr::null());
            }
        }
    }
}

/// A context as OpenSSL holds it.
struct Instance {
    core: Core,
    context: Context,
}

/// Runs `work` on a context; what goes wrong is in the error queue, and gives 0.
unsafe fn with(
    instance: *mut c_void,
    work: impl FnOnce(&mut Context) -> Result<(), Reason>,
) -> c_int {
    // SAFETY: it is one that `new_context` or `copy_context` gave.
    let Some(instance) = (unsafe { instance.cast::<Instance>().as_mut() }) else { return 0 };
    let result = catch_unwind(AssertUnwindSafe(|| work(&mut instance.context)));
    match result.unwrap_or(Err(Reason::Internal)) {
        Ok(()) => 1,
        Err(reason) => {
            instance.core.raise(reason);
            0
        }
    }
}

/// Makes a context and hands it to OpenSSL; null where there is none.
fn give(core: Core, make: impl FnOnce() -> Result<Context, Reason>) -> *mut c_void {
    let instance = || {
        let context = make()?;
        try_box(Instance { core, context }).ok_or(Reason::Memory)
    };
    match catch_unwind(AssertUnwindSafe(instance)).unwrap_or(Err(Reason::Internal)) {
        Ok(instance) => Box::into_raw(instance).cast(),
        Err(reason) => {
            core.raise(reason);
            ptr::null_mut()
        }
    }
}

unsafe extern "C" fn new_context<R: Row>(provider: *mut c_void) -> *mut c_void {
    // SAFETY: the provider's context is what `OSSL_provider_init` gave.
    let Some(core) = (unsafe { provider.cast::<Core>().as_ref() }) else { return ptr::null_mut() };
    give(*core, || R::algorithm().self_test().map(|()| Context::new(R::algorithm())))
}

unsafe extern "C" fn free_context(instance: *mut c_void) {
    if !instance.is_null() {
        // SAFETY: it is one of ours, and not used any more.
        let instance = unsafe { Box::from_raw(instance.cast::<Instance>()) };
        drop(catch_unwind(AssertUnwindSafe(|| drop(instance))));
    }
}

unsafe extern "C" fn copy_context(instance: *mut c_void) -> *mut c_void {
    // SAFETY: it is one of ours.
    let Some(instance) = (unsafe { instance.cast::<Instance>().as_ref() }) else {
        return ptr::null_mut();
    };
    give(instance.core, || Ok(instance.context.clone()))
}

/// Bytes that a caller gave.
unsafe fn bytes<'a>(start: *const u8, length: usize) -> Result<&'a [u8], Reason> {
    if start.is_null() || isize::try_from(length).is_err() {
        return Err(Reason::Argument);
    }
    // SAFETY: they are as many as the caller says.
    Ok(unsafe { slice::from_raw_parts(start, length) })
}

unsafe fn init(
    direction: Direction,
    instance: *mut c_void,
    key: *const u8,
    key_bytes: usize,
    iv: *const u8,
    iv_bytes: usize,
    parameters: *mut Parameter,
) -> c_int {
    // SAFETY: as the interface says.
    unsafe {
        with(instance, |context| {
            let key = (!key.is_null()).then(|| bytes(key, key_bytes)).transpose()?;
            let iv = (!iv.is_null()).then(|| bytes(iv, iv_bytes)).transpose()?;
            context.calls().init(direction, key, iv)?;
            set_all(context, parameters)
        })
    }
}

unsafe extern "C" fn encrypt_init(
    instance: *mut c_void,
    key: *const u8,
    key_bytes: usize,
    iv: *const u8,
    iv_bytes: usize,
    list: *mut Parameter,
) -> c_int {
    // SAFETY: as the interface says.
    unsafe { init(Direction::Encrypt, instance, key, key_bytes, iv, iv_bytes, list) }
}

unsafe extern "C" fn decrypt_init(
    instance: *mut c_void,
    key: *const u8,
    key_bytes: usize,
    iv: *const u8,
    iv_bytes: usize,
    list: *mut Parameter,
) -> c_int {
    // SAFETY: as the interface says.
    unsafe { init(Direction::Decrypt, instance, key, key_bytes, iv, iv_bytes, list) }
}

/// Input and output with the lengths that OpenSSL gives: in bits where the context counts so, and then
/// the memory has an eighth as many bytes.
///
/// As of [`Transfer::new`], `input` is good for reading that many bytes and `output` for writing them.
unsafe fn transfer<'a>(
    calls: &dyn EvpCalls,
    (input, length): (*const u8, usize),
    (output, room): (*mut u8, usize),
) -> Transfer<'a> {
    // SAFETY: as above.
    unsafe {
        if calls.counts_bits() {
            let bytes = |bits: usize| bits.div_ceil(8);
            Transfer::new(input, bytes(length), output, bytes(room)).of_bits(length)
        } else {
            Transfer::new(input, length, output, room)
        }
    }
}

/// Runs a call that writes data and says how many bytes, or none where it fails.
unsafe fn writing(
    instance: *mut c_void,
    written: *mut usize,
    work: impl FnOnce(&mut Context) -> Result<usize, Reason>,
) -> c_int {
    // SAFETY: as the interface says.
    unsafe {
        with(instance, |context| {
            let written = written.as_mut().ok_or(Reason::Argument)?;
            *written = 0;
            *written = work(context)?;
            Ok(())
        })
    }
}

/// Hands data to `run`. Without an output the input is associated data, and where that is missing, too, its length is
/// that of the data to come.
///
/// Input and output are as of [`transfer`], or null.
unsafe fn take(
    context: &mut Context,
    (input, length): (*const u8, usize),
    (output, room): (*mut u8, usize),
    run: impl FnOnce(&mut dyn EvpCalls, &mut Transfer<'_>) -> Result<usize, Reason>,
) -> Result<usize, Reason> {
    let is_ccm = matches!(context, Context::Ccm(_));
    let calls = context.calls();
    match (input.is_null(), output.is_null()) {
        (true, true) => calls.announce(length)?,
        // A message of CCM is one call with both addresses, even where it has no data.
        (true, false) | (false, true) if is_ccm && length == 0 => {}
        (true, false) if length > 0 => return Err(Reason::Argument),
        // SAFETY: as above.
        (false, true) if length > 0 => calls.associate(unsafe { bytes(input, length) }?)?,
        _ => {
            let room = if output.is_null() { 0 } else { room };
            // SAFETY: as above; there is no room where there is no output.
            let mut data = unsafe { transfer(calls, (input, length), (output, room)) };
            return run(calls, &mut data);
        }
    }
    Ok(length)
}

/// Ends a message; the output is as of [`transfer`], or null.
unsafe fn end(context: &mut Context, (output, room): (*mut u8, usize)) -> Result<usize, Reason> {
    let room = if output.is_null() { 0 } else { room };
    // SAFETY: as above; there is no room where there is no output.
    let mut data = unsafe { Transfer::new(ptr::null(), 0, output, room) };
    context.calls().finish(&mut data)
}

unsafe extern "C" fn update(
    instance: *mut c_void,
    output: *mut u8,
    written: *mut usize,
    room: usize,
    input: *const u8,
    length: usize,
) -> c_int {
    let (input, output) = ((input, length), (output, room));
    // SAFETY: as the interface says.
    unsafe {
        writing(instance, written, |context| {
            take(context, input, output, |calls, data| calls.update(data))
        })
    }
}

unsafe extern "C" fn finish(
    instance: *mut c_void,
    output: *mut u8,
    written: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: as the interface says.
    unsafe { writing(instance, written, |context| end(context, (output, room))) }
}

/// `EVP_Cipher`: without an input a message of GCM ends, and no other.
unsafe extern "C" fn cipher(
    instance: *mut c_void,
    output: *mut u8,
    written: *mut usize,
    room: usize,
    input: *const u8,
    length: usize,
) -> c_int {
    let (input, output) = ((input, length), (output, room));
    // SAFETY: as the interface says.
    unsafe {
        writing(instance, written, |context| match context {
            Context::Gcm(_) if input.0.is_null() => end(context, output),
            _ => take(context, input, output, |calls, data| calls.cipher(data)),
        })
    }
}

unsafe extern "C" fn get_params<R: Row>(list: *mut Parameter) -> c_int {
    let algorithm = R::algorithm();
    let answer = |parameter: *mut Parameter| {
        // SAFETY: it is one of a list that the caller gave, to be answered.
        unsafe {
            let parameter = &mut *parameter;
            match algorithm.parameter(parameter.name()) {
                Some(number) => parameter.store_number(number),
                None => Ok(()),
            }
        }
    };
    // SAFETY: as the interface says. There is no context whose error it could be.
    c_int::from(unsafe { for_each(list, answer) }.is_ok())
}

unsafe extern "C" fn get_context_params(instance: *mut c_void, list: *mut Parameter) -> c_int {
    // SAFETY: as the interface says.
    unsafe {
        with(instance, |context| {
            for_each(list, |parameter| {
                let parameter = &mut *parameter;
                let answer = context.calls().get(parameter.name(), parameter.size)?;
                answer.map_or(Ok(()), |value| parameter.store(value))
            })
        })
    }
}

unsafe extern "C" fn set_context_params(instance: *mut c_void, list: *mut Parameter) -> c_int {
    // SAFETY: as the interface says.
    unsafe { with(instance, |context| set_all(context, list)) }
}

unsafe fn set_all(context: &mut Context, list: *mut Parameter) -> Result<(), Reason> {
    let calls = context.calls();
    // SAFETY: the list is the caller's.
    unsafe {
        for_each(list, |parameter| {
            let parameter = &*parameter;
            let iv_bytes = calls.get(b"ivlen", 0)?.map_or(Ok(0), Value::number)?;
            calls.set(parameter.name(), parameter.value(iv_bytes))
        })
    }
}

/// A row of the list of algorithms, as a type: what a function pointer can know.
trait Row {
    fn algorithm() -> &'static Algorithm;
}

/// The functions of a row.
struct Functions<R>(PhantomData<R>);

impl<R: Row> Functions<R> {
    const TABLE: &'static [Dispatch; 15] = &[
        Dispatch { id: 1, function: new_context::<R> as *const c_void },
        Dispatch { id: 2, function: encrypt_init as *const c_void },
        Dispatch { id: 3, function: decrypt_init as *const c_void },
        Dispatch { id: 4, function: update as *const c_void },
        Dispatch { id: 5, function: finish as *const c_void },
        Dispatch { id: 6, function: cipher as *const c_void },
        Dispatch { id: 7, function: free_context as *const c_void },
        Dispatch { id: 8, function: copy_context as *const c_void },
        Dispatch { id: 9, function: get_params::<R> as *const c_void },
        Dispatch { id: 10, function: get_context_params as *const c_void },
        Dispatch { id: 11, function: set_context_params as *const c_void },
        Dispatch { id: 12, function: gettable_params as *const c_void },
        Dispatch { id: 13, function: gettable_context_params::<R> as *const c_void },
        Dispatch { id: 14, function: settable_context_params::<R> as *const c_void },
        Dispatch { id: 0, function: ptr::null() },
    ];
}

macro_rules! offers {
    ($($properties:literal: { $($names:literal => $cipher:ident, $key_bytes:literal, $mode:ident;)* })*) => {
        [$($({
            enum This {}
            impl Row for This {
                fn algorithm() -> &'static Algorithm {
                    static ALGORITHM: Algorithm =
                        algorithm!($properties, $names, $cipher, $key_bytes, $mode);
                    &ALGORITHM
                }
            }
            Offer {
                names: $names.as_ptr(),
                properties: $properties.as_ptr(),
                functions: Functions::<This>::TABLE.as_ptr(),
                description: ptr::null(),
            }
        },)*)*
        Offer {
            names: ptr::null(),
            properties: ptr::null(),
            functions: ptr::null(),
            description: ptr::null(),
        }]
    };
}
static OFFERS: Table<[Offer; COUNT + 1]> = Table(for_each_algorithm!(offers));

unsafe extern "C" fn gettable_params(_provider: *mut c_void) -> *const Parameter {
    PARAMS.0.as_ptr()
}

unsafe extern "C" fn gettable_context_params<R: Row>(
    _instance: *mut c_void,
    _provider: *mut c_void,
) -> *const Parameter {
    match R::algorithm().mode {
        EvpMode::Gcm => GETTABLE_OF_GCM.0.as_ptr(),
        EvpMode::Ccm => GETTABLE_OF_CCM.0.as_ptr(),
        _ => GETTABLE.0.as_ptr(),
    }
}

unsafe extern "C" fn settable_context_params<R: Row>(
    _instance: *mut c_void,
    _provider: *mut c_void,
) -> *const Parameter {
    match R::algorithm().mode {
        EvpMode::Gcm => SETTABLE_OF_GCM.0.as_ptr(),
        EvpMode::Ccm => SETTABLE_OF_CCM.0.as_ptr(),
        EvpMode::Xts if R::algorithm().has_xts_of_gb() => SETTABLE_OF_XTS_OF_GB.0.as_ptr(),
        _ => SETTABLE.0.as_ptr(),
    }
}

const VERSION: &[u8] = concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes();

unsafe extern "C" fn gettable_about(_provider: *mut c_void) -> *const Parameter {
    ABOUT.0.as_ptr()
}

unsafe extern "C" fn about(_provider: *mut c_void, list: *mut Parameter) -> c_int {
    let answer = |parameter: *mut Parameter| {
        // SAFETY: it is one of a list that the caller gave, to be answered.
        unsafe {
            let parameter = &mut *parameter;
            match parameter.name() {
                b"name" => parameter.store_text(b"Lanecrypt\0"),
                b"version" => parameter.store_text(VERSION),
                b"status" => parameter.store_number(1),
                _ => Ok(()),
            }
        }
    };
    // SAFETY: as the interface says.
    c_int::from(unsafe { for_each(list, answer) }.is_ok())
}

unsafe extern "C" fn query(
    _provider: *mut c_void,
    operation: c_int,
    no_cache: *mut c_int,
) -> *const Offer {
    const CIPHER: c_int = 2;
    // SAFETY: as the interface says.
    if let Some(no_cache) = unsafe { no_cache.as_mut() } {
        *no_cache = 0;
    }
    if operation == CIPHER { OFFERS.0.as_ptr() } else { ptr::null() }
}

unsafe extern "C" fn teardown(provider: *mut c_void) {
    if !provider.is_null() {
        // SAFETY: it is what `OSSL_provider_init` gave, and not used any more.
        drop(unsafe { Box::from_raw(provider.cast::<Core>()) });
    }
}

static PROVIDER: Table<[Dispatch; 5]> = Table([
    Dispatch { id: 1024, function: teardown as *const c_void },
    Dispatch { id: 1025, function: gettable_about as *const c_void },
    Dispatch { id: 1026, function: about as *const c_void },
    Dispatch { id: 1027, function: query as *const c_void },
    Dispatch { id: 0, function: ptr::null() },
]);

/// What OpenSSL calls when it has loaded the module (provider-base(7)). Gives 1, or 0 where there is no
/// memory, or no backend of the name that the configuration says.
///
/// # Safety
/// As provider-base(7) says: `core` is OpenSSL's handle, `functions` its functions up to one of the
/// number 0, and the other two are places for answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn OSSL_provider_init(
    core: *const c_void,
    functions: *const Dispatch,
    provided: *mut *const Dispatch,
    context: *mut *mut c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let (Some(provided), Some(context)) = (provided.as_mut(), context.as_mut()) else {
            return 0;
        };
        let Some(core) = try_box(Core::new(core, functions)) else { return 0 };
        if let Err(reason) = core.configure() {
            core.raise(reason);
            return 0;
        }
        *provided = PROVIDER.0.as_ptr();
        *context = Box::into_raw(core).cast();
        1
    }
}
