//! Ours against the fastest of the other libraries.

use super::{
    plan::Work,
    record::{Measurement, Place, Record},
    report::{Section, distinct},
};
use crate::size::size_name;

/// Cipher, key bits and mode: what two figures must share to be compared at a size.
type Task<'a> = (&'a str, usize, Work);

fn task(m: &Measurement) -> Task<'_> {
    (&m.cipher, m.key_bits, m.work)
}

/// The fastest measurement of another library that did the same as `measurement` on the CPU.
#[must_use]
pub(super) fn fastest_peer<'a>(
    all: &'a [Measurement],
    measurement: &Measurement,
) -> Option<&'a Measurement> {
    fastest(all, task(measurement), measurement.bytes, true)
        .filter(|_| measurement.place == Place::Cpu)
}

/// The fastest on the CPU, of other libraries or of ours.
fn fastest<'a>(
    all: &'a [Measurement],
    wanted: Task<'_>,
    bytes: usize,
    is_peer: bool,
) -> Option<&'a Measurement> {
    let is_one = |m: &&Measurement| {
        m.place == Place::Cpu && m.is_peer == is_peer && m.bytes == bytes && task(m) == wanted
    };
    all.iter()
        .filter(is_one)
        .min_by(|a, b| a.undisturbed_seconds().total_cmp(&b.undisturbed_seconds()))
}

/// How many times the throughput of `peer` `ours` has, in the fastest passes.
#[must_use]
pub(super) fn of_throughput(ours: &Measurement, peer: &Measurement) -> f64 {
    peer.undisturbed_seconds() / ours.undisturbed_seconds()
}

/// How many times the throughput of the fastest peer the fastest of ours has: ciphers and modes
/// down, sizes across. Only where peers were asked for.
#[must_use]
pub(super) fn section(record: &Record) -> Option<Section> {
    if record.environment.peers.is_empty() {
        return None;
    }
    let all = &record.measurements;
    let peers = all.iter().filter(|m| m.is_peer);
    let mut sizes = distinct(peers.clone().map(|m| m.bytes));
    sizes.sort_unstable();
    let row = |&wanted: &Task<'_>| {
        let cell = |&bytes: &usize| {
            let pair = fastest(all, wanted, bytes, false).zip(fastest(all, wanted, bytes, true));
            pair.map_or_else(String::new, |(ours, peer)| {
                format!("{:.2} {}", of_throughput(ours, peer), peer.backend)
            })
        };
        let (cipher, bits, work) = wanted;
        let name = format!("{}-{bits} {work}", cipher.to_uppercase());
        std::iter::once(name).chain(sizes.iter().map(cell)).collect()
    };
    let tasks = distinct(peers.map(task));
    (!tasks.is_empty()).then(|| Section {
        title: "Throughput over that of the fastest peer".into(),
        note: "The fastest backend of ours on the CPU against the fastest other library, which is \
               named, by their fastest passes; more than 1 is faster than theirs."
            .into(),
        header: std::iter::once("cipher and mode".to_owned())
            .chain(sizes.iter().map(|&bytes| size_name(bytes)))
            .collect(),
        rows: tasks.iter().map(row).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::environment::Environment;

    fn measurement(backend: &str, is_peer: bool, seconds: f64) -> Measurement {
        Measurement {
            cipher: "seed".into(),
            key_bits: 128,
            backend: backend.into(),
            work: Work::Ctr,
            place: Place::Cpu,
            bytes: 1 << 14,
            seconds,
            samples: 11,
            fastest_seconds: None,
            gigahertz: Some(3.0),
            is_peer,
        }
    }

    fn record(peers: &[&str]) -> Record {
        let mut measurements = vec![
            measurement("table32", false, 8e-6),
            measurement("bitslice-u64", false, 2e-6),
            measurement("kisaseed", true, 9e-6),
            measurement("Botan", true, 3e-6),
        ];
        // Another size, mode and place are no comparison.
        for change in [
            |m: &mut Measurement| m.bytes = 16,
            |m: &mut Measurement| m.work = Work::EcbEncrypt,
            |m: &mut Measurement| m.place = Place::EndToEnd,
        ] {
            let mut other = measurement("OpenSSL", true, 1e-9);
            change(&mut other);
            measurements.push(other);
        }
        let mut environment = Environment::of_this_machine(false);
        environment.peers = peers.iter().map(|&name| name.to_owned()).collect();
        let (skipped, thread_blocks) = (Vec::new(), Vec::new());
        let (block_curves, kernels) = (Vec::new(), Vec::new());
        Record { environment, skipped, measurements, thread_blocks, block_curves, kernels }
    }

    #[test]
    fn the_fastest_of_both_are_compared() {
        let mut record = record(&["Botan 3"]);
        let section = section(&record).expect("peers were measured");
        assert_eq!(section.header, ["cipher and mode", "16 B", "16 KiB"]);
        assert_eq!(section.rows[0], ["SEED-128 CTR", "", "1.50 Botan"]);
        // The fastest pass counts, where it is known.
        record.measurements[2].fastest_seconds = Some(1e-6);
        let section = super::section(&record).expect("peers were measured");
        assert_eq!(section.rows[0], ["SEED-128 CTR", "", "0.50 kisaseed"]);
        record.environment.peers.clear();
        assert!(super::section(&record).is_none());
    }

    #[test]
    fn each_figure_is_compared_with_the_fastest_peer() {
        let all = record(&[]).measurements;
        let peer = fastest_peer(&all, &all[0]).expect("there is one");
        assert_eq!(peer.backend, "Botan");
        let on_gpu = all.iter().find(|m| m.place == Place::EndToEnd).expect("there is one");
        assert!(fastest_peer(&all, on_gpu).is_none());
    }
}
