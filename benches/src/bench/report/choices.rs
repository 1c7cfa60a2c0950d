//! The choice between CPU and GPU beside both: tables, and where it switches.

use lanecrypt_record::{Figure, Part, Place, Record, Step, distinct, groups};

use super::table::{Section, keyed_work, throughput};
use crate::size::size_name;

/// What a choice may take of the better one's time.
const ALLOWED: f64 = 1.1;

/// Both places and the choice between them, over one size.
struct Choice<'a> {
    cpu: &'a Figure,
    gpu: &'a Figure,
    auto: &'a Figure,
}

impl Choice<'_> {
    /// What the choice takes of the better one's time.
    fn ratio(&self) -> f64 {
        self.auto.seconds / self.cpu.seconds.min(self.gpu.seconds)
    }
}

/// Every choice of a record, in its order.
fn choices(record: &Record) -> Vec<Choice<'_>> {
    let key = |f: &&Figure| (f.cipher.clone(), f.key_bits, f.work, f.bytes);
    let all = groups(record.part(Part::Auto), key).into_iter();
    all.filter_map(|(_, figures)| {
        let of = |step| figures.iter().copied().find(|f| f.step == step);
        Some(Choice { cpu: of(Step::Cpu)?, gpu: of(Step::Gpu)?, auto: of(Step::Auto)? })
    })
    .collect()
}

/// Switches, and both places beside the choice.
pub(crate) fn section(record: &Record) -> Option<Section> {
    let choices = choices(record);
    let microseconds = |figure: &Figure| format!("{:.1}", 1e6 * figure.seconds);
    let row = |choice: &Choice<'_>| {
        let Choice { cpu, gpu, auto } = choice;
        let ratio = choice.ratio();
        vec![
            keyed_work(auto),
            size_name(auto.bytes),
            if auto.place == Place::Cpu { "CPU" } else { "GPU" }.to_owned(),
            microseconds(cpu),
            microseconds(gpu),
            microseconds(auto),
            format!("{ratio:.2}{}", if ratio > ALLOWED { " !" } else { "" }),
        ]
    };
    let late = choices.iter().filter(|choice| choice.ratio() > ALLOWED).count();
    let switching = choices.iter().filter(|choice| !choice.auto.switches.is_empty());
    let switches = distinct(switching.map(|Choice { auto, .. }| {
        let at = auto.switches.iter().map(|&at| size_name(at as usize)).collect::<Vec<_>>();
        format!("{}: {}", keyed_work(auto), at.join(", "))
    }));
    let note = format!(
        "CPU with its threads. {late} of {} choices take more than {ALLOWED} of the better one's time \
         (!). Switches: {}; others stay on the CPU.",
        choices.len(),
        if switches.is_empty() { "none".to_owned() } else { switches.join("; ") }
    );
    let header =
        ["", "bytes", "goes to", "CPU, us", "GPU, us", "Auto, us", "of the better one's time"];
    let title = "Auto: CPU or GPU, from host memory to host memory";
    Section::of(title, note, header, choices.iter().map(row).collect())
}

/// Where the GPU takes over, and both at the largest size that was measured: a row for each cipher, key and
/// mode.
pub(crate) fn crossovers(record: &Record) -> Option<Section> {
    let row = |(kind, members): (String, Vec<Choice<'_>>)| {
        let Choice { cpu, gpu, auto } =
            members.into_iter().max_by_key(|choice| choice.auto.bytes)?;
        let [host, device] = [cpu, gpu].map(Figure::gbit_per_second);
        let cells = [switches(auto), about(auto.bytes), throughput(host), throughput(device)];
        let ratio = format!("{:.2}", device / host);
        Some(std::iter::once(kind).chain(cells).chain([ratio]).collect())
    };
    let header = ["", "goes to the GPU", "at", "CPU, Gbit/s", "GPU, Gbit/s", "GPU over CPU"];
    let kinds = groups(choices(record), |choice| keyed_work(choice.auto)).into_iter();
    Section::of("", "", header, kinds.filter_map(row).collect())
}

/// The sizes at which it is the GPU.
#[must_use]
pub(crate) fn switches(auto: &Figure) -> String {
    let range = |range: &[u64]| match range {
        [from, to] => format!("from {} to {}", about(*from as usize), about(*to as usize)),
        range => format!("from {} on", about(range[0] as usize)),
    };
    let ranges: Vec<String> = auto.switches.chunks(2).map(range).collect();
    if ranges.is_empty() { "never".to_owned() } else { ranges.join(" and ") }
}

/// A size to two or three digits: it was found by bisection, to five per cent.
#[must_use]
pub(crate) fn about(bytes: usize) -> String {
    let steps = (bytes.max(1).ilog2() / 10).min(4);
    let value = bytes as f64 / 1024_f64.powf(f64::from(steps));
    let unit = ["B", "KiB", "MiB", "GiB", "TiB"][steps as usize];
    let digits = usize::from(value < 10.0 && value.fract() > 0.05);
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_switches_are_short() {
        for (bytes, text) in [(512, "512 B"), (37_296, "36 KiB"), (4_379_984, "4.2 MiB")] {
            assert_eq!(about(bytes), text);
        }
        let of = |at: &[u64]| switches(&Figure { switches: at.to_vec(), ..Figure::default() });
        assert_eq!(of(&[37_296, 1 << 20, 4_379_984]), "from 36 KiB to 1 MiB and from 4.2 MiB on");
        assert_eq!(of(&[]), "never");
    }
}
