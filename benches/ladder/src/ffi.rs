//! The one promise that no compiler checks: that a listing is a kernel with the parameters of those in the book.

use std::path::Path;

use anyhow::Result;
use lanecrypt_cuda::{Device, listing::Listing};

/// A kernel on a GPU, of a listing's PTX; threads of a thread block, and bytes of dynamic shared memory.
pub(crate) fn on_gpu(
    device: &Device,
    (kernel, ptx): (&str, &str),
    launch: (u32, u32),
) -> Result<Listing> {
    // SAFETY: `cargo xtask` compiled it from a listing, whose struct `Job` is what the programs here give it.
    Ok(unsafe { Listing::of_ptx(device, kernel, ptx, launch) }?)
}

/// A kernel on this CPU, of the library that `cargo xtask` built of a listing.
pub(crate) fn on_host(library: &Path, kernel: &str, launch: (u32, u32)) -> Result<Listing> {
    // SAFETY: as above.
    Ok(unsafe { Listing::of_library(library, kernel, launch) }?)
}
