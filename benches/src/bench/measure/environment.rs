//! The machine, the compiler, the commit and the date of a run.

use std::fs;

use lanecrypt::cuda::Device;
use lanecrypt_record::{Environment, GpuDetails};

use super::peers::PEERS;

/// Looks at this machine, and at the peers where they are measured.
#[must_use]
pub(crate) fn of_this_machine(with_peers: bool) -> Environment {
    let (device, now) = (Device::default(), jiff::Zoned::now());
    let details = device.as_ref().ok().map(|device| {
        let properties = device.properties();
        let (major, minor) = properties.compute_capability;
        GpuDetails {
            multiprocessors: properties.multiprocessors,
            gigahertz: f64::from(properties.clock_khz) / 1e6,
            compute_capability: format!("{major}.{minor}"),
        }
    });
    Environment {
        cpu: cpu_field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cpu_features: cpu_features(),
        gpu: match &device {
            Ok(device) => device.properties().name.clone(),
            Err(error) => format!("none ({error})"),
        },
        driver: details.as_ref().and_then(|_| driver_version()),
        gpu_details: details,
        compiler: env!("LANECRYPT_COMPILER").to_owned(),
        commit: env!("LANECRYPT_COMMIT").to_owned(),
        date: now.date().to_string(),
        time: now.time().round(jiff::Unit::Second).unwrap_or_default().to_string(),
        peers: PEERS.iter().filter(|_| with_peers).map(|peer| (peer.version)()).collect(),
    }
}

/// A name for the folder of this run: date, machine, commit.
#[must_use]
pub(crate) fn folder_name(environment: &Environment) -> String {
    let machine =
        if environment.gpu_details.is_some() { &environment.gpu } else { &environment.cpu };
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }
    };
    let machine: String = machine.chars().map(plain).collect();
    format!("{}-{}-{}", environment.date, machine.trim_matches('-'), environment.commit)
}

/// A field of the first processor in /proc/cpuinfo.
fn cpu_field(name: &str) -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

fn cpu_features() -> String {
    let flags = cpu_field("flags").unwrap_or_default();
    let interesting = ["aes", "avx2", "avx512f", "gfni", "vaes"];
    let has = |name: &&str| flags.split(' ').any(|flag| flag == *name);
    interesting.into_iter().filter(has).collect::<Vec<_>>().join(" ")
}

/// The driver's own version, as nvidia-smi shows it.
fn driver_version() -> Option<String> {
    let text = fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let is_version =
        |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.split_whitespace().find(is_version).map(str::to_owned)
}
