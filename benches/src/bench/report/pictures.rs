//! The charts of a run, for its page and as files.

use lanecrypt::CIPHERS;
use lanecrypt_record::{
    Across, Chart, Figure, Line, Part, Place, Record, Step, Work, distinct, groups, svg, title,
};

use super::{
    block_sizes,
    choices::about,
    curves::{curves, lines, nanoseconds, switches},
};
use crate::bench::measure::{blocks::DEFAULT, peers::baseline::BASELINES};
use crate::size::size_name;

#[allow(clippy::cast_sign_loss, reason = "sizes are positive")]
const BYTES: Across = Across { name: |size| size_name(size as usize), caption: "" };
const BLOCKS: Across = Across { name: |size| format!("{size:.0}"), caption: "by blocks" };

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

/// Of each cipher its name and the figures under its shortest key.
fn of_shortest_keys<'a>(
    figures: impl Iterator<Item = &'a Figure>,
) -> Vec<(String, Vec<&'a Figure>)> {
    let mut ciphers = groups(figures, |f| f.cipher.clone());
    for (name, figures) in &mut ciphers {
        let shortest = figures.iter().map(|f| f.key_bits).min().unwrap_or_default();
        figures.retain(|f| f.key_bits == shortest);
        *name = title(name, shortest);
    }
    ciphers
}

/// Throughput by bytes.
fn throughput(figures: &[&Figure]) -> Vec<(f64, f64)> {
    figures.iter().map(|f| (f.bytes as f64, f.gbit_per_second())).collect()
}

/// Throughput against size in one place: a chart for each cipher with its shortest key, a line for each
/// backend; with the name of its file.
pub(crate) fn throughputs(all: &[Figure], place: Place) -> Vec<(String, Chart)> {
    let of_place = all.iter().filter(|m| m.place == place && m.work == Work::EcbEncrypt);
    let chart = |(name, of_cipher): (String, Vec<&Figure>)| {
        let file = format!("{}-{}-{}", of_cipher[0].cipher, of_cipher[0].key_bits, place.name());
        let line = |(name, figures): (String, Vec<&Figure>)| Line {
            look: look(&name, all),
            points: throughput(&figures),
            name,
        };
        let lines = groups(of_cipher, |m| m.backend.clone()).into_iter().map(line).collect();
        let title = format!("{name} ECB encryption, {}", place.name());
        let file = file.replace(", ", "-").replace(' ', "-").to_lowercase();
        (format!("{file}.svg"), Chart::new(title, BYTES, "Gbit/s", lines))
    };
    of_shortest_keys(of_place).into_iter().map(chart).collect()
}

/// What stands for a mode in the pictures of CPU and GPU: a quick run measures it alone.
const CROSSING: Work = Work::Ctr;

/// CPU and GPU against size: a chart for each cipher, in CTR with the shortest key.
pub(crate) fn crossovers(record: &Record) -> Vec<Chart> {
    let chart = |(name, of_cipher): (String, Vec<&Figure>)| {
        let line = |step, look, name: &str| {
            let of_step: Vec<_> = of_cipher.iter().copied().filter(|f| f.step == step).collect();
            Line { name: name.to_owned(), look, points: throughput(&of_step) }
        };
        let lines =
            vec![line(Step::Cpu, svg::OURS, "CPU, all cores"), line(Step::Gpu, svg::GPU, "GPU")];
        let mark = |&at: &u64| (at as f64, about(at as usize));
        let marks = of_cipher[0].switches.iter().map(mark).collect();
        Chart { marks, ..Chart::new(format!("{name} {CROSSING}"), BYTES, "Gbit/s", lines) }
    };
    let of_mode = record.part(Part::Auto).iter().filter(|f| f.work == CROSSING);
    of_shortest_keys(of_mode).into_iter().map(chart).collect()
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
    let marks = lines(curve).next().into_iter().flat_map(switches).map(mark).collect();
    let lines = lines(curve).map(line).collect();
    Chart { marks, ..Chart::new(title, BLOCKS, "nanoseconds", lines) }
}

/// P4's Figure 10 as far as its text goes, and ours; none where ours was not measured.
pub(crate) fn gains(record: &Record) -> Option<[Chart; 2]> {
    let line = |(look, (name, points)): (usize, block_sizes::Line)| Line {
        name,
        look,
        points: points.into_iter().map(|(bytes, gain)| (bytes as f64, gain)).collect(),
    };
    let chart = |title: &str, lines: Vec<block_sizes::Line>, shaded| {
        let lines = lines.into_iter().enumerate().map(line).collect();
        let chart = Chart::new(title.to_owned(), BYTES, "gain, %", lines);
        Chart { is_logarithmic: false, shaded, ..chart }
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
        // As in pictures that know nothing of backends.
        assert_eq!(looks[0].1["RustCrypto aes + ctr"], svg::REPLACED);
        assert_eq!([looks[0].1["default"], looks[1].1["default"]], [svg::OURS; 2]);
        let all: BTreeSet<usize> = looks[0].1.values().copied().collect();
        assert_eq!(all.len(), looks[0].1.len(), "no two look the same: {looks:?}");
    }

    #[test]
    fn switches_of_a_curve_are_marked() {
        let record = crate::bench::report::tests::record();
        let marks = curves(&record).map(|curve| blocks(curve).marks).collect::<Vec<_>>();
        assert_eq!(marks, [vec![(4.0, "from 4: batches of 64".to_owned())], Vec::new()]);
    }

    fn of(cipher: &str, backends: &[&str]) -> Vec<Figure> {
        let figures = |backend: &&str| {
            [1 << 10, 1 << 20].map(|bytes| {
                Figure::of((cipher, *backend), (Work::EcbEncrypt, Place::Cpu), bytes, 1e-3)
            })
        };
        backends.iter().flat_map(figures).collect()
    }
}
