//! What the programs `ladder`, `inside` and `rates` share: kernels that stand alone and that `cargo xtask` has compiled, on a
//! GPU or on this CPU.

mod ffi;
#[path = "../../schema/src/replace.rs"]
#[allow(unreachable_pub, reason = "of the schema all of it is public")]
mod replace;
#[allow(unreachable_pub, reason = "`ladder-cpu` has it, too")]
mod runner;

use std::{fs, path::Path, thread, time::Duration};

use anyhow::{Context, Result};
use lanecrypt_cuda::{Device, Properties};
use lanecrypt_roof::{Lanes, binds, gbit_per_second};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use lanecrypt_cuda::listing::{Job, Listing};
pub use runner::{Outputs, is_asked};

/// A listing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The name of its file, without the end.
    pub name: String,
    /// Its first line, up to the first full stop.
    pub title: String,
    /// The kernel in it.
    pub kernel: String,
    /// Threads of a thread block.
    pub threads: u32,
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// What a block takes of each pipe, counted from its PTX, where that was counted.
    pub lanes: Option<Lanes>,
}

/// Where the listing runs.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// On a GPU.
    Gpu(&'a Device),
    /// As C++ on this CPU.
    Host,
}

impl Entry {
    /// The listing, of what was compiled into `folder`.
    ///
    /// # Errors
    /// Where that cannot be read or loaded.
    pub fn open(&self, folder: &Path, place: Place<'_>) -> Result<Listing> {
        let (name, launch) = (&self.name, (self.threads, self.shared_bytes));
        match place {
            Place::Host => ffi::on_host(&folder.join(format!("{name}.so")), &self.kernel, launch),
            Place::Gpu(device) => {
                let ptx = folder.join(format!("{name}.ptx"));
                let ptx = fs::read_to_string(&ptx).with_context(|| ptx.display().to_string())?;
                ffi::on_gpu(device, (&self.kernel, &ptx), launch)
            }
        }
    }
}

/// The list of what `task` has compiled into a folder.
///
/// # Errors
/// Where it cannot be read.
pub fn read<T: DeserializeOwned>(folder: &Path, list: &str, task: &str) -> Result<Vec<T>> {
    let path = folder.join(list);
    let text = fs::read_to_string(&path)
        .with_context(|| format!("{}: `cargo xtask {task}` writes it", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

/// The GPU that was measured.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// Its name.
    pub gpu: String,
    /// Its multiprocessors.
    pub multiprocessors: u32,
    /// Its highest clock.
    pub gigahertz: f64,
    /// Its compute capability.
    pub compute_capability: String,
    /// The version of CUDA that its driver has.
    pub driver: i32,
}

impl From<&Properties> for Machine {
    fn from(properties: &Properties) -> Self {
        let (major, minor) = properties.compute_capability;
        Self {
            gpu: properties.name.clone(),
            multiprocessors: properties.multiprocessors,
            gigahertz: f64::from(properties.clock_khz) / 1e6,
            compute_capability: format!("{major}.{minor}"),
            driver: properties.driver_version,
        }
    }
}

impl Machine {
    /// Cycles of all multiprocessors in a nanosecond.
    #[must_use]
    pub fn gigaclocks(&self) -> f64 {
        f64::from(self.multiprocessors) * self.gigahertz
    }
}

/// What was measured of a listing.
#[derive(Clone, Debug, Serialize)]
pub struct Timing {
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes of a thread in memory.
    pub local_bytes: u32,
    /// Thread blocks.
    pub grid: u32,
    /// The median.
    pub seconds: f64,
    /// The shortest.
    pub fastest_seconds: f64,
    /// Gbit/s of blocks.
    pub gbit_per_second: f64,
    /// By the pipes, without memory.
    pub roof: Option<f64>,
    /// The pipe.
    pub binds: Option<&'static str>,
}

/// What `sample` returns, so many times but at least once, in order, with a quarter of a second's pause before each.
///
/// # Errors
/// Those of `sample`.
pub fn sampled(samples: usize, mut sample: impl FnMut() -> Result<f64>) -> Result<Vec<f64>> {
    let mut all = Vec::new();
    for _ in 0..samples.max(1) {
        thread::sleep(Duration::from_millis(250));
        all.push(sample()?);
    }
    all.sort_by(f64::total_cmp);
    Ok(all)
}

/// Measures `run`, which goes through this number of blocks of 16 bytes and returns the device's time, with a quarter of a second
/// between the samples.
///
/// # Errors
/// Those of `run`.
pub fn measure(
    machine: &Machine,
    entry: &Entry,
    listing: &Listing,
    (blocks, samples): (u64, usize),
    mut run: impl FnMut() -> Result<Duration>,
) -> Result<Timing> {
    let times = sampled(samples, || Ok(run()?.as_secs_f64()))?;
    let seconds = times[times.len() / 2];
    let resources = listing.resources()?;
    Ok(Timing {
        registers: resources.map_or(0, |all| all.registers),
        local_bytes: resources.map_or(0, |all| all.local_bytes),
        grid: listing.grid(),
        seconds,
        fastest_seconds: times[0],
        gbit_per_second: 128.0 * blocks as f64 / seconds / 1e9,
        roof: entry.lanes.map(|lanes| gbit_per_second(128.0, &lanes, machine.gigaclocks())),
        binds: entry.lanes.map(|lanes| binds(&lanes)),
    })
}
