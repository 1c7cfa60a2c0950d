//! The default type against other libraries.

use lanecrypt_record::{Figure, Place, Record, Work};

use super::table::{Query, Section, keyed_work, size};
use crate::bench::measure::{blocks::DEFAULT, peers::baseline::BASELINES};

/// Cipher, key bits and mode: what two figures must share to be compared at a size.
type Task<'a> = (&'a str, usize, Work);

fn task(m: &Figure) -> Task<'_> {
    (&m.cipher, m.key_bits, m.work)
}

/// The fastest measurement of another library that did the same as `measurement` on the CPU.
#[must_use]
pub(crate) fn fastest_peer<'a>(all: &'a [Figure], measurement: &Figure) -> Option<&'a Figure> {
    fastest(all, task(measurement), measurement.bytes, |m| m.is_peer)
        .filter(|_| measurement.place == Place::Cpu)
}

/// The measurement of the crate that our default type replaces, where it did the same on the CPU.
#[must_use]
pub(crate) fn replaced<'a>(all: &'a [Figure], measurement: &Figure) -> Option<&'a Figure> {
    fastest(all, task(measurement), measurement.bytes, is_replaced)
        .filter(|_| measurement.place == Place::Cpu)
}

/// The fastest on the CPU, of those that are meant.
fn fastest<'a>(
    all: &'a [Figure],
    wanted: Task<'_>,
    bytes: usize,
    is_meant: impl Fn(&Figure) -> bool,
) -> Option<&'a Figure> {
    let is_one = |m: &&Figure| m.place == Place::Cpu && m.bytes == bytes && task(m) == wanted;
    all.iter()
        .filter(|m| is_one(m) && is_meant(m))
        .min_by(|a, b| a.undisturbed_seconds().total_cmp(&b.undisturbed_seconds()))
}

/// Whether it is of the crate that our default type replaces.
fn is_replaced(m: &Figure) -> bool {
    BASELINES.iter().any(|baseline| m.is_peer && m.backend == baseline.name)
}

/// How many times the throughput of `peer` `ours` has, in the fastest passes.
#[must_use]
pub(crate) fn of_throughput(ours: &Figure, peer: &Figure) -> f64 {
    peer.undisturbed_seconds() / ours.undisturbed_seconds()
}

/// How many times the throughput of others our default type has: that of the crate it replaces, and
/// where peers were asked for that of the fastest of them.
pub(crate) fn sections(record: &Record) -> impl Iterator<Item = Section> {
    let all = record.measurements();
    let replaced = section(
        all,
        is_replaced,
        "Throughput over that of the crate that is replaced",
        "The default type against the Rust crate, which is named, by their fastest passes; more than \
         1 is faster than theirs.",
    );
    let peers = (!record.environment.peers.is_empty()).then(|| {
        section(
            all,
            |m| m.is_peer,
            "Throughput over that of the fastest peer",
            "The default type against the fastest other library, which is named, by their fastest \
             passes; more than 1 is faster than theirs.",
        )
    });
    replaced.into_iter().chain(peers.flatten())
}

/// Ciphers and modes down, sizes across: those that both sides were measured with.
fn section(
    all: &[Figure],
    is_theirs: impl Fn(&Figure) -> bool + Copy,
    title: &str,
    note: &'static str,
) -> Option<Section> {
    let pair = |f: &Figure| {
        let ours = fastest(all, task(f), f.bytes, |m| m.backend == DEFAULT);
        ours.zip(fastest(all, task(f), f.bytes, is_theirs))
    };
    let query = Query {
        title: title.to_owned(),
        note,
        corner: "cipher and mode",
        row: &keyed_work,
        column: &|f| f.bytes,
        column_name: &size,
        cell: &|f| {
            pair(f).map_or_else(String::new, |(ours, theirs)| {
                format!("{:.2} {}", of_throughput(ours, theirs), theirs.backend)
            })
        },
    };
    let theirs = all.iter().filter(|m| m.place == Place::Cpu && is_theirs(m));
    query.sorted(theirs.filter(|m| pair(m).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanecrypt_record::{Environment, Part};

    fn measurement(backend: &str, is_peer: bool, seconds: f64) -> Figure {
        let what = (Work::Ctr, Place::Cpu);
        Figure { is_peer, ..Figure::of(("seed", backend), what, 1 << 14, seconds) }
    }

    fn record(peers: &[&str]) -> Record {
        let mut measurements = vec![
            measurement("table32", false, 8e-6),
            measurement("bitslice-u64", false, 1e-6),
            measurement(DEFAULT, false, 2e-6),
            measurement("kisaseed", true, 9e-6),
            measurement("Botan", true, 3e-6),
        ];
        // Another size, mode and place are no comparison.
        for change in [
            |m: &mut Figure| m.bytes = 16,
            |m: &mut Figure| m.work = Work::EcbEncrypt,
            |m: &mut Figure| m.place = Place::EndToEnd,
        ] {
            let mut other = measurement("OpenSSL", true, 1e-9);
            change(&mut other);
            measurements.push(other);
        }
        let peers = peers.iter().map(|&name| name.to_owned()).collect();
        let environment = Environment { peers, ..Environment::default() };
        Record::of(environment, measurements)
    }

    /// Ours is the default type's figure, not that of whatever backend was fastest.
    #[test]
    fn the_default_type_is_compared_with_what_it_replaces_and_with_the_fastest() {
        let rows = |record: &Record| sections(record).map(|s| s.rows).collect::<Vec<_>>();
        let mut record = record(&["Botan 3"]);
        let headers: Vec<_> = sections(&record).map(|s| s.header).collect();
        assert_eq!(headers, [["cipher and mode", "16 KiB"]; 2]);
        assert_eq!(
            rows(&record),
            [[["SEED-128 CTR", "4.50 kisaseed"]], [["SEED-128 CTR", "1.50 Botan"]]]
        );
        // The fastest pass counts, where it is known.
        record.part_mut(Part::Measurements)[3].fastest_seconds = Some(1e-6);
        assert_eq!(rows(&record)[1], [["SEED-128 CTR", "0.50 kisaseed"]]);
        record.environment.peers.clear();
        assert_eq!(rows(&record), [[["SEED-128 CTR", "0.50 kisaseed"]]]);
        record.part_mut(Part::Measurements).retain(|m| m.backend != DEFAULT);
        assert!(rows(&record).is_empty());
    }

    #[test]
    fn each_figure_is_compared_with_the_fastest_peer() {
        let record = record(&[]);
        let all = record.measurements();
        let peer = fastest_peer(all, &all[0]).expect("there is one");
        assert_eq!(peer.backend, "Botan");
        let on_gpu = all.iter().find(|m| m.place == Place::EndToEnd).expect("there is one");
        assert!(fastest_peer(all, on_gpu).is_none());
    }
}
