//! Tuning: what is fastest on this machine, measured once and kept in the user's cache folder.
//!
//! [`tune`] measures a device and writes a file; [`load`] reads it, and from then on engines
//! of that device launch kernels as was fastest, and [`Auto`](crate::Auto) knows where a buffer finishes
//! first. Without a file there is what is built in, for GPUs that we had, and a guess.
//!
//! ```no_run
//! use lanecrypt::{cuda::Device, tuning};
//!
//! let device = Device::default()?;
//! tuning::load(&device); // before engines are made
//! # Ok::<(), lanecrypt::cuda::Error>(())
//! ```

mod crossovers;
mod file;
mod guess;
mod launches;
mod measuring;
mod pieces;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    CIPHERS, by_name,
    cuda::{self, Device, Experience, Family, Measured, kernels::Program},
    registry::CipherDescription,
};

pub use crossovers::{Crossovers, Place, Switches};
pub use file::{Folder, Ignored, of_any_device};
pub use measuring::TASKS;

/// Whether a kernel of this name may be launched by the GPU types that users have: others are there for
/// comparison.
#[must_use]
pub fn is_users_kernel(name: &str) -> bool {
    let programs = by_name::users_families().flat_map(Family::all_programs);
    programs.flat_map(Program::kernels).any(|(_, kernel)| kernel.name() == name)
}

/// What was measured on a device, and on the CPU beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// How kernels are launched.
    pub experience: Arc<Experience>,
    /// Where host memory is processed.
    pub crossovers: Crossovers,
}

impl Tuning {
    /// Takes all that `newer` has, in place of what is known of the same kernels and keys.
    pub fn extend(&mut self, newer: Self) {
        Arc::make_mut(&mut self.experience).extend(Arc::unwrap_or_clone(newer.experience));
        self.crossovers.extend(newer.crossovers);
    }
}

/// Why a device was not tuned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device failed, or there is none.
    #[error(transparent)]
    Device(#[from] cuda::Error),
    /// An engine failed.
    #[error(transparent)]
    Engine(#[from] crate::Error),
    /// Nothing says where this user's cache is.
    #[error("no cache folder for experience data, since no home folder is known")]
    NoFolder,
    /// The file cannot be written.
    #[error("writing {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The data is none that a file can hold.
    #[error("experience data as TOML: {0}")]
    Format(#[from] toml::ser::Error),
}

/// What is measured, and for how long.
#[derive(Clone, Debug)]
pub struct Options {
    /// The ciphers; what is known of others stays.
    pub ciphers: Vec<&'static CipherDescription>,
    /// Bytes of data, each 64 at least and a multiple of 16; those that do not fit on the device are left
    /// out.
    pub sizes: Vec<usize>,
    /// How long a point is measured, at least three times.
    pub time: Duration,
    /// Whether launches of kernels are measured.
    pub launches: bool,
    /// Whether host memory is: pieces of it, and where it is processed.
    pub host_memory: bool,
}

impl Default for Options {
    /// Everything, from 64 B to 1 GiB, one millisecond per point: minutes per cipher.
    fn default() -> Self {
        Self {
            ciphers: CIPHERS.to_vec(),
            sizes: (0..=12).map(|i| 64 << (2 * i)).collect(),
            time: Duration::from_millis(1),
            launches: true,
            host_memory: true,
        }
    }
}

/// How far tuning has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Steps done.
    pub done: usize,
    /// Steps in all.
    pub steps: usize,
    /// What comes next.
    pub next: &'a str,
}

/// A kernel that was tuned.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// Its name.
    pub kernel: &'static str,
    /// Bytes of the cipher's key.
    pub key_bytes: usize,
    /// What was found fastest, and the nanoseconds of the launch that is computed without experience.
    pub points: Vec<(Measured, u64)>,
}

/// What tuning found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// By kernel, in the order in which they were measured.
    pub kernels: Vec<Tuned>,
    /// What is kept of it, with what was known before.
    pub tuning: Tuning,
}

/// Measures the device that [`Device::default`] gives, with the default [`Options`], and keeps what is
/// found in the user's cache folder: see [`tune_device`].
///
/// # Errors
/// Those of [`tune_device`], and of opening the device.
pub fn tune() -> Result<Report, Error> {
    tune_device(&Device::default()?, &Options::default(), &mut |_| ())
}

/// Measures a device, and the CPU beside it, and keeps what is found in the user's cache folder; engines
/// that are made from now on go by it. Best with nothing else running. Data and keys are made up.
///
/// # Errors
/// [`Error::NoFolder`] before anything is measured; device errors; [`Error::File`].
pub fn tune_device(
    device: &Device,
    options: &Options,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, Error> {
    tune_into(&Folder::of_user().ok_or(Error::NoFolder)?, device, options, progress)
}

/// The same, kept in another folder.
///
/// # Errors
/// Those of [`tune_device`] but the first.
pub fn tune_into(
    folder: &Folder,
    device: &Device,
    options: &Options,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, Error> {
    let before = device.experience();
    let mut tuning = folder.read_or_warn(device).unwrap_or_default();
    let known = with_built_in(device, tuning.clone()).experience;
    let measured = measuring::measure(device, &known, options, progress);
    device.set_experience(before);
    let mut report = measured?;
    tuning.extend(std::mem::take(&mut report.tuning));
    folder.write(device, &tuning)?;
    report.tuning = with_built_in(device, tuning);
    install(device, Arc::new(report.tuning.clone()));
    Ok(report)
}

/// What was loaded or measured, by the names of devices.
static KNOWN: Mutex<BTreeMap<String, Arc<Tuning>>> = Mutex::new(BTreeMap::new());

/// Lets engines of `device` that are made from now on go by what was measured on it, from the user's cache
/// folder; what is built in fills the rest. The file is read once a process and model of device; what
/// cannot be used is ignored with a warning, and made anew by [`tune`].
#[allow(clippy::must_use_candidate, reason = "most callers want what it does, not what it found")]
pub fn load(device: &Device) -> Arc<Tuning> {
    let known = known().get(&device.properties().name).cloned();
    let tuning = known.unwrap_or_else(|| {
        let read = Folder::of_user().and_then(|folder| folder.read_or_warn(device));
        Arc::new(with_built_in(device, read.unwrap_or_default()))
    });
    install(device, Arc::clone(&tuning));
    tuning
}

/// The same, where what is built in fills the rest.
fn with_built_in(device: &Device, tuning: Tuning) -> Tuning {
    let experience = Arc::new(Experience::of_device(&device.properties().name));
    let mut all = Tuning { experience, crossovers: Crossovers::default() };
    all.extend(tuning);
    all
}

/// Lets a device go by it, and whoever loads it later.
fn install(device: &Device, tuning: Arc<Tuning>) {
    device.set_experience(Arc::clone(&tuning.experience));
    known().insert(device.properties().name.clone(), tuning);
}

fn known() -> MutexGuard<'static, BTreeMap<String, Arc<Tuning>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_launch_some_kernels_and_others_are_for_comparison() {
        for (kernel, is_users) in [
            ("aes_conflict_free_4_ctr", true),
            ("aes_bitslice_ecb_encrypt", true),
            ("aes_table_shared_ctr", false),
            ("aes_rot13_ctr", false),
        ] {
            assert_eq!(is_users_kernel(kernel), is_users, "{kernel}");
        }
    }
}
