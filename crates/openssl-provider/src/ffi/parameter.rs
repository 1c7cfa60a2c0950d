//! `OSSL_PARAM`, the C interface's list of named values (its manual page is in section 3).

use std::{
    ffi::{CStr, c_char, c_void},
    ptr, slice,
};

use crate::{Reason, Value};

/// `OSSL_PARAM`.
#[repr(C)]
pub(crate) struct Parameter {
    pub(crate) key: *const c_char,
    kind: u32,
    data: *mut c_void,
    pub(crate) size: usize,
    returned: usize,
}

pub(crate) const INTEGER: u32 = 1;
pub(crate) const UNSIGNED: u32 = 2;
pub(crate) const UTF8: u32 = 4;
pub(crate) const OCTETS: u32 = 5;
pub(crate) const UTF8_POINTER: u32 = 6;
pub(crate) const OCTET_POINTER: u32 = 7;

impl Parameter {
    pub(crate) const END: Self = Self::new(ptr::null(), 0, 0);

    const fn new(key: *const c_char, kind: u32, size: usize) -> Self {
        Self { key, kind, data: ptr::null_mut(), size, returned: usize::MAX }
    }

    /// A descriptor of `unsigned int`, `size_t`, `int` or octets.
    pub(crate) const fn of(key: &'static CStr, kind: u32, size: usize) -> Self {
        Self::new(key.as_ptr(), kind, size)
    }

    /// A question for a text, whose start is put into `place`, which must live as long as this.
    pub(crate) fn asking(key: &'static CStr, place: *mut *const c_char) -> Self {
        Self { data: place.cast(), ..Self::new(key.as_ptr(), UTF8_POINTER, 0) }
    }

    pub(crate) unsafe fn name(&self) -> &[u8] {
        // SAFETY: a key is a C string.
        unsafe { CStr::from_ptr(self.key) }.to_bytes()
    }

    /// What was given; an IV without a length has `iv_bytes`.
    pub(crate) unsafe fn value(&self, iv_bytes: usize) -> Value<'_> {
        if self.data.is_null() {
            return match (self.kind, self.size) {
                (OCTETS, 0) => Value::Bytes(&[]),
                (OCTETS, size) => Value::Absent(size),
                _ => Value::Other,
            };
        }
        // SAFETY: the data is as long as it says, or as an IV where it says nothing.
        unsafe {
            match (self.kind, self.size) {
                (UNSIGNED, 4) => Value::Number(self.data.cast::<u32>().read_unaligned().into()),
                (UNSIGNED, 8) => Value::Number(self.data.cast::<u64>().read_unaligned()),
                (INTEGER, 4) => u64::try_from(self.data.cast::<i32>().read_unaligned())
                    .map_or(Value::Other, Value::Number),
                (INTEGER, 8) => u64::try_from(self.data.cast::<i64>().read_unaligned())
                    .map_or(Value::Other, Value::Number),
                (UTF8, size) if isize::try_from(size).is_ok() => {
                    let text = slice::from_raw_parts(self.data.cast::<u8>(), size);
                    let end = text.iter().position(|&byte| byte == 0).unwrap_or(size);
                    Value::Text(&text[..end])
                }
                (OCTETS, usize::MAX) => {
                    Value::Unsized(slice::from_raw_parts(self.data.cast(), iv_bytes))
                }
                (OCTETS, size) if isize::try_from(size).is_ok() => {
                    Value::Bytes(slice::from_raw_parts(self.data.cast(), size))
                }
                _ => Value::Other,
            }
        }
    }

    /// Gives an answer.
    pub(crate) unsafe fn store(&mut self, value: Value<'_>) -> Result<(), Reason> {
        // SAFETY: the data, where there is any, is as long as it says.
        unsafe {
            match value {
                Value::Number(number) => self.store_number(number),
                Value::Unsized(bytes) if self.size == 0 => self.store_bytes(bytes, bytes.len()),
                Value::Bytes(bytes) | Value::Unsized(bytes) => self.store_bytes(bytes, self.size),
                Value::Text(_) | Value::Absent(_) | Value::Other => Err(Reason::SetParameter),
            }
        }
    }

    pub(crate) unsafe fn store_number(&mut self, number: u64) -> Result<(), Reason> {
        if self.data.is_null() {
            self.returned = size_of_val(&number);
            return Ok(());
        }
        // SAFETY: the data is as long as it says.
        unsafe {
            match (self.kind, self.size) {
                (UNSIGNED, 4) if u32::try_from(number).is_ok() => {
                    self.data.cast::<u32>().write_unaligned(number as u32);
                }
                (INTEGER, 4) if i32::try_from(number).is_ok() => {
                    self.data.cast::<u32>().write_unaligned(number as u32);
                }
                (UNSIGNED | INTEGER, 8) if i64::try_from(number).is_ok() => {
                    self.data.cast::<u64>().write_unaligned(number);
                }
                _ => return Err(Reason::SetParameter),
            }
        }
        self.returned = self.size;
        Ok(())
    }

    /// A constant text that ends with a zero.
    pub(crate) unsafe fn store_text(&mut self, text: &'static [u8]) -> Result<(), Reason> {
        if self.kind != UTF8_POINTER {
            return Err(Reason::SetParameter);
        }
        self.returned = text.len() - 1;
        if !self.data.is_null() {
            // SAFETY: it is a place for a pointer.
            unsafe { self.data.cast::<*const u8>().write(text.as_ptr()) };
        }
        Ok(())
    }

    unsafe fn store_bytes(&mut self, bytes: &[u8], room: usize) -> Result<(), Reason> {
        self.returned = bytes.len();
        match self.kind {
            OCTETS | OCTET_POINTER if self.data.is_null() => {}
            OCTETS if room < bytes.len() => return Err(Reason::SetParameter),
            // SAFETY: there is room, and the bytes are the context's.
            OCTETS => unsafe {
                ptr::copy_nonoverlapping(bytes.as_ptr(), self.data.cast(), bytes.len());
            },
            // SAFETY: there is a pointer, which is good as long as the context is.
            OCTET_POINTER => unsafe { self.data.cast::<*const u8>().write(bytes.as_ptr()) },
            _ => return Err(Reason::SetParameter),
        }
        Ok(())
    }
}

/// Runs `work` on every parameter of a list, which may be null. Who asks for values may have the list in
/// read-only memory, so that `work` gets pointers.
pub(crate) unsafe fn for_each(
    mut list: *mut Parameter,
    mut work: impl FnMut(*mut Parameter) -> Result<(), Reason>,
) -> Result<(), Reason> {
    // SAFETY: a list ends with a null key.
    unsafe {
        while !list.is_null() && !(*list).key.is_null() {
            work(list)?;
            list = list.add(1);
        }
    }
    Ok(())
}
