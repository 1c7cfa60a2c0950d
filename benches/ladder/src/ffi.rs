//! The one promise that no compiler checks: that a rung is a kernel of the ladder.

use std::path::Path;

use anyhow::Result;
use lanecrypt_cuda::{Device, listing::Listing};

use crate::rung::Rung;

/// A rung on a GPU, of its PTX.
pub(crate) fn on_gpu(device: &Device, rung: &Rung, ptx: &str) -> Result<Listing> {
    let launch = (rung.threads, rung.shared_bytes);
    // SAFETY: `cargo xtask ladder` compiled it from a listing, whose struct `Job` is what `work` gives it.
    Ok(unsafe { Listing::of_ptx(device, &rung.kernel, ptx, launch) }?)
}

/// A rung on this CPU, of the library that `cargo xtask ladder` built of it.
pub(crate) fn on_host(rung: &Rung, library: &Path) -> Result<Listing> {
    let launch = (rung.threads, rung.shared_bytes);
    // SAFETY: as above.
    Ok(unsafe { Listing::of_library(library, &rung.kernel, launch) }?)
}
