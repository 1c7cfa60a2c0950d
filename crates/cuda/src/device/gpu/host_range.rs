//! Pinned host memory, as the driver knows it, whoever in this process pinned it.

use std::{ffi::c_void, ops::Range};

use cudarc::driver::sys;

/// All of the host memory, pinned together by whoever in this process, that has an address. Needs a context on
/// this thread.
pub(super) fn host_range(address: usize) -> Option<Range<usize>> {
    use sys::CUpointer_attribute as Attribute;
    let (mut kind, mut start, mut bytes) = (0_u32, 0_usize, 0_usize);
    let ask = |attribute, to: *mut c_void| {
        // SAFETY: the caller's pointer is to what the attribute is; any address may be asked for.
        unsafe { sys::cuPointerGetAttribute(to, attribute, address as u64) }.result().ok()
    };
    ask(Attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (&raw mut kind).cast())?;
    ask(Attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, (&raw mut start).cast())?;
    ask(Attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE, (&raw mut bytes).cast())?;
    let is_host = kind == sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32;
    is_host.then(|| start..start.saturating_add(bytes))
}
