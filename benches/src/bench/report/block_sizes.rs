//! Throughput by the size of a thread block: P3's question, and P4's Table 3 and Figure 10.

use lanecrypt_record::{Figure, Part, Record, distinct, groups};

use super::table::Section;
use crate::bench::plan::MESSAGES;

/// P4's Table 3: gain over the mean of all sizes in per cent, the mean over all messages and the peak, for
/// AES-128, 192 and 256.
const THEIRS: [(&str, [(f64, f64); 3]); 2] = [
    ("GeForce G210", [(5.28, 10.02), (14.55, 42.49), (12.53, 44.22)]),
    ("GeForce GTX 460", [(12.48, 45.49), (15.40, 47.87), (15.84, 47.15)]),
];
const KEY_BITS: [usize; 3] = [128, 192, 256];
/// Where P4's text says that its gains are largest.
pub(crate) const LARGEST_GAINS: [(f64, f64); 2] = [(64.0, 256.0), (16_384.0, 262_144.0)];

/// What the chosen launch gains over the mean of all sizes, in per cent, by bytes of the message.
fn gains(measured: &[Figure], backend: &str, bits: usize) -> Vec<(usize, f64)> {
    let of = measured.iter().filter(|row| row.backend == backend && row.key_bits == bits);
    let gain = |(bytes, rows): (usize, Vec<&Figure>)| {
        let (chosen, tried): (Vec<&Figure>, Vec<_>) =
            rows.into_iter().partition(|row| row.count == 0);
        let seconds = tried.iter().map(|row| row.seconds);
        let mean = seconds.sum::<f64>() / tried.len() as f64;
        let chosen = chosen.first().filter(|_| !tried.is_empty())?.seconds;
        Some((bytes, 100.0 * (mean / chosen - 1.0)))
    };
    groups(of, |row| row.bytes).into_iter().filter_map(gain).collect()
}

/// Mean and peak.
fn mean_and_peak(gains: &[(usize, f64)]) -> Option<(f64, f64)> {
    let peak = gains.iter().map(|gain| gain.1).max_by(f64::total_cmp)?;
    Some((gains.iter().map(|gain| gain.1).sum::<f64>() / gains.len() as f64, peak))
}

fn backends(record: &Record) -> Vec<String> {
    distinct(record.part(Part::BlockSizes).iter().map(|row| row.backend.clone()))
}

/// Table 3.
pub(crate) fn section(record: &Record) -> Option<Section> {
    let text = |value: Option<(f64, f64)>| {
        value.map_or_else(String::new, |(mean, peak)| format!("{mean:.2} ({peak:.2})"))
    };
    let theirs = THEIRS.iter().map(|(platform, values)| {
        let values = values.iter().map(|&value| text(Some(value)));
        std::iter::once(format!("P4, {platform}")).chain(values).collect()
    });
    let ours = backends(record).into_iter().map(|backend| {
        let of = |bits| text(mean_and_peak(&gains(record.part(Part::BlockSizes), &backend, bits)));
        std::iter::once(backend.clone()).chain(KEY_BITS.map(of)).collect()
    });
    let rows: Vec<Vec<String>> = theirs.chain(ours).collect();
    let rows = if rows.len() > THEIRS.len() { rows } else { Vec::new() };
    let note = "Throughput of the launch that is chosen, over that of the mean time of P4's sizes, 64 to \
                384 threads, as far as the kernel allows: mean over messages of 64 B to 16 MiB, and peak. \
                Ours is resident ECB encryption, chosen by experience data.";
    let title = "Gain by the size of thread blocks (P4, Table 3), %";
    Section::of(title, note, ["by", "AES-128", "AES-192", "AES-256"], rows)
}

/// The picture of ours takes these kernels, as P4's has two platforms.
const DRAWN: [&str; 2] = ["cuda-table-conflict-free", "cuda-bitslice"];

/// Figure 10's lines of ours: gain by bytes of the message.
pub(crate) fn our_gains(record: &Record) -> Vec<Line> {
    let lines = DRAWN.iter().flat_map(|backend| {
        KEY_BITS.map(|bits| {
            let name = format!("AES-{bits} {backend}");
            (name, gains(record.part(Part::BlockSizes), backend, bits))
        })
    });
    lines.filter(|(_, gains)| gains.len() > 1).collect()
}

/// Figure 10 as far as P4's text goes: the means, over all its messages.
pub(crate) fn their_gains() -> Vec<Line> {
    let level = |value: f64| MESSAGES.map(|bytes| (bytes, value)).to_vec();
    let of_platform = |(platform, values): (&'static str, [(f64, f64); 3])| {
        KEY_BITS.into_iter().zip(values).map(move |(bits, (mean, peak))| {
            let name = format!("AES-{bits} {platform}: mean {mean}, peak {peak}");
            (name, level(mean))
        })
    };
    THEIRS.into_iter().flat_map(of_platform).collect()
}

/// A name, and gain by bytes.
pub(crate) type Line = (String, Vec<(usize, f64)>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::tests::record;

    #[test]
    fn without_the_choice_there_is_nothing_to_hold_against_anything() {
        let mut record = record();
        let of = |record: &Record| gains(record.part(Part::BlockSizes), DRAWN[1], 192);
        // Means of 2 and 1 seconds, where the choice takes 1.
        assert_eq!(of(&record), [(64, 100.0), (256, 0.0)]);
        record.part_mut(Part::BlockSizes).retain(|row| row.count > 0);
        assert_eq!(of(&record), []);
    }
}
