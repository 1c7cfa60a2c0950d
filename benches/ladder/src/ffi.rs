//! The one promise that no compiler checks: that a listing is a kernel with the parameters of those in the book.

use std::path::Path;

use anyhow::Result;
use lanecrypt_cuda::{Device, listing::Listing};

use crate::Entry;

/// A listing on a GPU, of its PTX.
pub(crate) fn on_gpu(device: &Device, entry: &Entry, ptx: &str) -> Result<Listing> {
    let launch = (entry.threads, entry.shared_bytes);
    // SAFETY: `cargo xtask` compiled it from a listing, whose struct `Job` is what the programs here give it.
    Ok(unsafe { Listing::of_ptx(device, &entry.kernel, ptx, launch) }?)
}

/// A listing on this CPU, of the library that `cargo xtask` built of it.
pub(crate) fn on_host(entry: &Entry, library: &Path) -> Result<Listing> {
    let launch = (entry.threads, entry.shared_bytes);
    // SAFETY: as above.
    Ok(unsafe { Listing::of_library(library, &entry.kernel, launch) }?)
}
