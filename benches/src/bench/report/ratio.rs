//! The default type against other libraries.

use lanecrypt_record::{Figure, Part, Place, Record, Work};

use super::table::{Query, Texts, by_size, keyed_work};
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
    fastest_of(all.iter().filter(|m| is_one(m) && is_meant(m)))
}

/// The fastest of some, by the fastest passes.
pub(crate) fn fastest_of<'a>(figures: impl Iterator<Item = &'a Figure>) -> Option<&'a Figure> {
    figures.min_by(|a, b| a.undisturbed_seconds().total_cmp(&b.undisturbed_seconds()))
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

/// How many times the throughput of the crate that it replaces our default type has: ciphers and modes down,
/// sizes across.
pub(crate) const OF_REPLACED: Query = Query {
    part: Part::Measurements,
    table: |record, f| compared(record, f, is_replaced).map(|_| String::new()),
    texts: Texts::Fixed(
        "Throughput over that of the crate that is replaced",
        "The default type against the Rust crate, which is named, by their fastest passes; more \
         than 1 is faster than theirs.",
    ),
    corner: "cipher and mode",
    row: keyed_work,
    column: by_size,
    cell: |record, f| compared(record, f, is_replaced).unwrap_or_default(),
};

/// The same of the fastest other library, where peers were asked for.
pub(crate) const OF_PEERS: Query = Query {
    table: |record, f| compared(record, f, |m| m.is_peer).map(|_| String::new()),
    texts: Texts::Fixed(
        "Throughput over that of the fastest peer",
        "The default type against the fastest other library, which is named, by their fastest \
         passes; more than 1 is faster than theirs.",
    ),
    cell: |record, f| compared(record, f, |m| m.is_peer).unwrap_or_default(),
    ..OF_REPLACED
};

/// How the default type compares where `figure` is one of theirs, and both were measured.
fn compared(record: &Record, figure: &Figure, is_theirs: fn(&Figure) -> bool) -> Option<String> {
    let of = |is_meant: &dyn Fn(&Figure) -> bool| {
        fastest(record.measurements(), task(figure), figure.bytes, is_meant)
    };
    let is_one = figure.place == Place::Cpu && is_theirs(figure);
    let (ours, theirs) = is_one.then(|| of(&|m| m.backend == DEFAULT).zip(of(&is_theirs)))??;
    Some(format!("{:.2} {}", of_throughput(ours, theirs), theirs.backend))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::tests::record;

    /// Ours is the default type's figure, not that of whatever backend was fastest; and the fastest pass counts,
    /// where it is known.
    #[test]
    fn the_default_type_is_compared_with_what_it_replaces_and_with_the_fastest() {
        let mut record = record();
        let is_of = |m: &Figure, backend| m.backend == backend && m.work == Work::Ctr;
        for m in record.part_mut(Part::Measurements) {
            m.fastest_seconds = Some(m.seconds * if is_of(m, "Botan") { 0.25 } else { 1.0 });
        }
        let row = |query: &Query, record: &Record| query.tables(record)[0].rows[1].clone();
        let theirs = "4.00 RustCrypto aes + ctr";
        assert_eq!(row(&OF_REPLACED, &record), ["AES-128 CTR", theirs, theirs]);
        assert_eq!(row(&OF_PEERS, &record), ["AES-128 CTR", "0.50 Botan", "0.50 Botan"]);
        let all = record.measurements();
        let of = |place| all.iter().find(|m| m.place == place).expect("there is one");
        assert_eq!(fastest_peer(all, of(Place::Cpu)).expect("there is one").backend, "Botan");
        assert!(fastest_peer(all, of(Place::EndToEnd)).is_none());
        record.part_mut(Part::Measurements).retain(|m| m.backend != DEFAULT);
        assert!(OF_REPLACED.tables(&record).is_empty());
    }
}
