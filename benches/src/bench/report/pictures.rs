//! The charts of a run, for its page and as files.

use lanecrypt::CIPHERS;
use lanecrypt_record::{Figure, Place, Record, Work, distinct, title};

use super::{
    block_sizes,
    chart::{Across, Chart, Line},
    curves::{curves, lines, nanoseconds, switches},
    sections::choices,
    summary::about,
};
use crate::bench::measure::{blocks::DEFAULT, peers::baseline::BASELINES};

/// What most charts of a CPU have: our default type, the crate that it replaces, other libraries.
const FIRST: [&str; 4] = [DEFAULT, REPLACED, "Botan", "OpenSSL"];
/// Stands for the crates that are replaced, of which a chart has one.
const REPLACED: &str = "";

/// How the line of a backend or of another library looks: in every chart the same. A chart shows the CPU's
/// or the GPU's, which are numbered apart; what the registry does not have comes last, in the order of
/// `figures`.
fn look(name: &str, figures: &[Figure]) -> usize {
    let is_on_gpu = |name: &str| name.starts_with("cuda");
    let replaced = BASELINES.iter().any(|baseline| baseline.name == name);
    let name = if replaced { REPLACED } else { name };
    let first = FIRST.into_iter().filter(|_| !is_on_gpu(name));
    let backends = CIPHERS.iter().flat_map(|cipher| cipher.backends).map(|backend| backend.id);
    let others = figures.iter().map(|figure| figure.backend.as_str());
    let others = others.filter(|other| BASELINES.iter().all(|baseline| baseline.name != *other));
    let all = first.chain(backends).chain(others).filter(|id| is_on_gpu(id) == is_on_gpu(name));
    distinct(all).iter().position(|known| *known == name).unwrap_or(0)
}

/// Throughput against size in one place: a chart a cipher with its shortest key, a line a backend; with the
/// name of its file.
pub(crate) fn throughputs(figures: &[Figure], place: Place) -> Vec<(String, Chart)> {
    let of_place = figures.iter().filter(|m| m.place == place && m.work == Work::EcbEncrypt);
    let chart = |cipher: &str| {
        let of_cipher = of_place.clone().filter(|m| m.cipher == cipher);
        let shortest = of_cipher.clone().map(|m| m.key_bits).min()?;
        let of_cipher = of_cipher.filter(|m| m.key_bits == shortest);
        let line = |backend: &str| Line {
            name: backend.to_owned(),
            look: look(backend, figures),
            points: of_cipher
                .clone()
                .filter(|m| m.backend == backend)
                .map(|m| (m.bytes as f64, m.gbit_per_second()))
                .collect(),
        };
        let lines = distinct(of_cipher.clone().map(|m| m.backend.as_str()));
        let chart = Chart {
            title: format!("{} ECB encryption, {}", title(cipher, shortest), place.name()),
            across: Across::Bytes,
            unit: "Gbit/s",
            is_logarithmic: true,
            lines: lines.into_iter().map(line).collect(),
            marks: Vec::new(),
            shaded: Vec::new(),
        };
        let place = place.name().replace(", ", "-").replace(' ', "-").to_lowercase();
        Some((format!("{cipher}-{shortest}-{place}.svg"), chart))
    };
    let ciphers = distinct(of_place.clone().map(|m| m.cipher.as_str()));
    ciphers.into_iter().filter_map(chart).collect()
}

/// What stands for a mode in the pictures of CPU and GPU: a quick run measures it alone.
const CROSSING: Work = Work::Ctr;

/// CPU and GPU against size: a chart a cipher, in CTR with the shortest key.
pub(crate) fn crossovers(record: &Record) -> Vec<Chart> {
    let choices = choices(record);
    let of_mode = choices.iter().filter(|choice| choice.auto.work == CROSSING);
    let chart = |cipher: &str| {
        let of_cipher = of_mode.clone().filter(|choice| choice.auto.cipher == cipher);
        let shortest = of_cipher.clone().map(|choice| choice.auto.key_bits).min()?;
        let members = || of_cipher.clone().filter(|choice| choice.auto.key_bits == shortest);
        let point = |figure: &Figure| (figure.bytes as f64, figure.gbit_per_second());
        let line = |look, name: &str, points| Line { name: name.to_owned(), look, points };
        let mark = |&at: &u64| (at as f64, about(at as usize));
        let auto = members().next()?.auto;
        Some(Chart {
            title: format!("{} {CROSSING}", title(cipher, auto.key_bits)),
            across: Across::Bytes,
            unit: "Gbit/s",
            is_logarithmic: true,
            lines: vec![
                line(0, "CPU, all cores", members().map(|choice| point(choice.cpu)).collect()),
                line(1, "GPU", members().map(|choice| point(choice.gpu)).collect()),
            ],
            marks: auto.switches.iter().map(mark).collect(),
            shaded: Vec::new(),
        })
    };
    let ciphers = distinct(of_mode.clone().map(|choice| choice.auto.cipher.as_str()));
    ciphers.into_iter().filter_map(chart).collect()
}

/// The time of a call against its number of blocks, with a mark where our type changes its way.
pub(crate) fn blocks(curve: &[Figure]) -> Chart {
    let line = |line: &[Figure]| Line {
        name: line[0].backend.clone(),
        look: look(&line[0].backend, curve),
        points: line.iter().map(|f| (f.count as f64, nanoseconds(f))).collect(),
    };
    let mark = |f: &Figure| (f.count as f64, format!("from {}: {}", f.count, f.way));
    let clock = curve[0].gigahertz.unwrap_or_default();
    let name = title(&curve[0].cipher, curve[0].key_bits);
    let title = format!("{name} ECB encryption: time of a call, at {clock:.2} GHz");
    Chart {
        title,
        across: Across::Blocks,
        unit: "nanoseconds",
        is_logarithmic: true,
        lines: lines(curve).map(line).collect(),
        marks: lines(curve).next().into_iter().flat_map(switches).map(mark).collect(),
        shaded: Vec::new(),
    }
}

/// P4's Figure 10 as far as its text goes, and ours; none where ours was not measured.
pub(crate) fn gains(record: &Record) -> Option<[Chart; 2]> {
    let line = |(look, (name, points)): (usize, (String, Vec<(usize, f64)>))| Line {
        name,
        look,
        points: points.into_iter().map(|(bytes, gain)| (bytes as f64, gain)).collect(),
    };
    let chart = |title: &str, lines: Vec<(String, Vec<(usize, f64)>)>, shaded| Chart {
        title: title.to_owned(),
        across: Across::Bytes,
        unit: "gain, %",
        is_logarithmic: false,
        lines: lines.into_iter().enumerate().map(line).collect(),
        marks: Vec::new(),
        shaded,
    };
    let ours = block_sizes::our_gains(record);
    let title = "Figure 10, P4: means; shaded: where its text puts the largest gains";
    let shaded = block_sizes::LARGEST_GAINS.to_vec();
    (!ours.is_empty()).then(|| {
        [
            chart(title, block_sizes::their_gains(), shaded),
            chart("Figure 10, ours", ours, Vec::new()),
        ]
    })
}

/// Every chart that a report has beside its tables: name and text of the file.
pub(crate) fn files(record: &Record) -> Vec<(String, String)> {
    let places = [Place::Cpu, Place::Resident, Place::EndToEnd];
    let charts = places.into_iter().flat_map(|place| throughputs(record.measurements(), place));
    let names = ["aes-thread-blocks-p4.svg", "aes-thread-blocks.svg"].map(str::to_owned);
    let gains = gains(record).into_iter().flat_map(|charts| names.clone().into_iter().zip(charts));
    let blocks =
        curves(record).map(|curve| (format!("{}-blocks.svg", curve[0].cipher), blocks(curve)));
    let all = charts.chain(gains).chain(blocks);
    all.filter_map(|(name, chart)| Some((name, chart.file()?))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::bench::report::curves::tests::curve;

    #[test]
    fn a_backend_looks_the_same_in_every_chart_and_like_no_other() {
        let ours = ["default", "table32", "RustCrypto aes + ctr", "Botan", "gone", "gone too"];
        let figures = [of("aes", &ours), of("aria", &ours[..1])].concat();
        let looks = throughputs(&figures, Place::Cpu).into_iter().map(|(name, chart)| {
            let lines = chart.lines.into_iter().map(|line| (line.name, line.look));
            (name, lines.collect::<BTreeMap<_, _>>())
        });
        let looks: Vec<_> = looks.collect();
        assert_eq!(looks[0].0, "aes-128-cpu.svg");
        assert_eq!(looks[0].1["default"], looks[1].1["default"]);
        let all: BTreeSet<usize> = looks[0].1.values().copied().collect();
        assert_eq!(all.len(), looks[0].1.len(), "no two look the same: {looks:?}");
    }

    fn of(cipher: &str, backends: &[&str]) -> Vec<Figure> {
        let figures = |backend: &&str| {
            [1 << 10, 1 << 20].map(|bytes| {
                Figure::of((cipher, *backend), (Work::EcbEncrypt, Place::Cpu), bytes, 1e-3)
            })
        };
        backends.iter().flat_map(figures).collect()
    }

    #[test]
    fn switches_of_a_curve_are_marked() {
        let svg = blocks(&curve(&[(1, 100.0), (4, 120.0), (16, 300.0)])).file();
        let svg = svg.expect("there are points");
        for part in ["default", "theirs", "from 4: batches of 64", "ARIA-128"] {
            assert!(svg.contains(part), "{part}");
        }
        assert!(
            !blocks(&curve(&[(1, 100.0), (2, 120.0)])).file().expect("points").contains("from ")
        );
    }
}
