//! Two records side by side: what changed beyond noise, and whether something became slower.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
};

use lanecrypt_record::{Figure, Part, Record, Step, groups};

use super::table::{Section, throughput};
use crate::size::size_name;

/// A time that both records may have.
struct Time<'a> {
    /// What a reader takes for one thing: a backend of a cipher in one place, or a kind of batches.
    series: String,
    /// What was measured, but for its size.
    what: String,
    figure: &'a Figure,
}

impl Time<'_> {
    /// What it has in common with that of another record.
    fn key(&self) -> (&str, usize) {
        (&self.what, self.figure.bytes)
    }
}

/// A figure of both records.
struct Change<'a> {
    what: String,
    old: &'a Figure,
    new: &'a Figure,
}

impl Change<'_> {
    /// Of the throughput, in per cent; below 0 it is a loss. Where fastest passes are known, the smaller
    /// change of medians and of these, or none where they contradict each other: what else runs on a machine
    /// moves medians by any amount, but seldom the fastest pass.
    fn percent(&self) -> f64 {
        let percent = |old: f64, new: f64| 100.0 * (old / new - 1.0);
        let Self { old, new, .. } = self;
        let of_median = percent(old.seconds, new.seconds);
        match old.fastest_seconds.zip(new.fastest_seconds) {
            None => of_median,
            Some((old, new)) if percent(old, new) * of_median <= 0.0 => 0.0,
            Some((old, new)) => of_median.abs().min(percent(old, new).abs()).copysign(of_median),
        }
    }

    /// Whether the intervals of both are known and apart from each other, or not; `None` where one of them
    /// is unknown.
    fn is_apart(&self) -> Option<bool> {
        let intervals = self.old.interval.zip(self.new.interval);
        intervals.map(|(old, new)| old[1] < new[0] || new[1] < old[0])
    }

    /// Where an interval is unknown, what counts as noise is what is below the threshold.
    fn is_beyond_noise(&self, threshold: f64) -> bool {
        match self.is_apart() {
            Some(is_apart) => is_apart && self.percent().abs() > 0.0,
            None => self.percent().abs() > threshold,
        }
    }
}

/// What two records have in common, and what not.
pub(crate) struct Comparison<'a> {
    /// In per cent of the throughput.
    threshold: f64,
    /// Beyond noise, greatest loss first.
    changes: Vec<Change<'a>>,
    /// Figures that both have.
    common: usize,
    /// Of these, without an interval on one side or the other.
    without_interval: usize,
    /// What the old record alone has, and what the new one alone has.
    only: [Vec<String>; 2],
    /// What else differs between the two runs: machine by machine.
    machines: Vec<String>,
}

impl<'a> Comparison<'a> {
    /// Compares; `threshold` is in per cent.
    pub(crate) fn new(old: &'a Record, new: &'a Record, threshold: f64) -> Self {
        let (before, after) = (figures(old), figures(new));
        let by_key: HashMap<_, _> =
            after.iter().rev().map(|time| (time.key(), time.figure)).collect();
        let change = |time: &Time<'a>| {
            let new = by_key.get(&time.key())?;
            Some(Change { what: time.what.clone(), old: time.figure, new })
        };
        let mut changes: Vec<Change<'_>> = before.iter().filter_map(change).collect();
        let common = changes.len();
        let without_interval = changes.iter().filter(|change| change.is_apart().is_none()).count();
        changes.retain(|change| change.is_beyond_noise(threshold));
        changes.sort_by(|a, b| a.percent().total_cmp(&b.percent()));
        Self {
            threshold,
            changes,
            common,
            without_interval,
            only: [missing(&before, &after), missing(&after, &before)],
            machines: machines(old, new),
        }
    }

    /// Whether something lost more than the threshold, beyond noise.
    #[must_use]
    pub(crate) fn has_loss(&self) -> bool {
        self.changes.iter().any(|change| change.percent() < -self.threshold)
    }

    /// What a person reads: changes over the threshold one by one, smaller ones only if asked for.
    #[must_use]
    pub(crate) fn text(&self, is_verbose: bool) -> String {
        let is_large = |change: &&Change<'_>| change.percent().abs() > self.threshold;
        let large = self.changes.iter().filter(is_large).count();
        let shown: Vec<&Change<'_>> =
            self.changes.iter().filter(|change| is_verbose || is_large(change)).collect();
        let mut text = String::new();
        for machine in &self.machines {
            let _ = writeln!(text, "Not the same: {machine}");
        }
        text.extend(self.section(&shown).map(|section| section.render(false)));
        let losses =
            self.changes.iter().filter(|change| change.percent() < -self.threshold).count();
        let _ = writeln!(
            text,
            "{} figures in both; {} changed beyond noise, {large} of them by more than {}%: {losses} \
             lost, {} gained.",
            self.common,
            self.changes.len(),
            self.threshold,
            large - losses
        );
        if self.without_interval > 0 {
            let _ = writeln!(
                text,
                "{} of them have no confidence interval in one of the records: there, noise is what stays \
                 within {}%.",
                self.without_interval, self.threshold
            );
        }
        for (whose, names) in ["old", "new"].iter().zip(&self.only) {
            for name in names {
                let _ = writeln!(text, "Only in the {whose} record: {name}");
            }
        }
        text
    }

    fn section(&self, changes: &[&Change<'_>]) -> Option<Section> {
        let row = |change: &&Change<'_>| {
            let rate = |figure: &Figure| match figure.bytes {
                0 => format!("{:.0} ns", 1e9 * figure.seconds),
                _ => throughput(figure.gbit_per_second()),
            };
            let mark = if change.percent() < -self.threshold { " !" } else { "" };
            vec![
                change.what.clone(),
                size_name(change.old.bytes),
                rate(change.old),
                rate(change.new),
                format!("{:+.1}%{mark}", change.percent()),
            ]
        };
        let header = ["", "bytes", "old, Gbit/s", "new, Gbit/s", "change"];
        let note = "Medians; on CPUs the change is that of the fastest passes where it is the smaller one.";
        Section::of("Changed beyond noise", note, header, changes.iter().map(row).collect())
    }
}

/// What `these` have and `others` lack: a line for a series of which they have nothing, or else for what
/// differs in its size alone.
fn missing(these: &[Time<'_>], others: &[Time<'_>]) -> Vec<String> {
    let known: HashSet<_> = others.iter().map(Time::key).collect();
    let series: HashSet<&str> = others.iter().map(|time| time.series.as_str()).collect();
    let lacking = these.iter().filter(|time| !known.contains(&time.key()));
    let (parts, whole): (Vec<_>, Vec<_>) =
        lacking.partition(|time| series.contains(time.series.as_str()));
    let whole = groups(whole, |time| time.series.as_str()).into_iter();
    let whole = whole.map(|(series, times)| format!("{series}: all {} figures", times.len()));
    let parts = groups(parts, |time| time.what.as_str()).into_iter().map(|(what, times)| {
        let sizes = times.iter().map(|time| size_name(time.figure.bytes));
        format!("{what}: {}", sizes.collect::<Vec<_>>().join(", "))
    });
    whole.chain(parts).collect()
}

fn machines(old: &Record, new: &Record) -> Vec<String> {
    let (old, new) = (&old.environment, &new.environment);
    let pairs = [
        ("CPU", &old.cpu, &new.cpu),
        ("GPU", &old.gpu, &new.gpu),
        ("compiler", &old.compiler, &new.compiler),
    ];
    let differing = pairs.into_iter().filter(|(_, old, new)| old != new);
    differing.map(|(what, old, new)| format!("{what}, {old} then and {new} now")).collect()
}

/// Every time of a record that has a size.
fn figures(record: &Record) -> Vec<Time<'_>> {
    let parts =
        [Part::Measurements, Part::Batches, Part::HostMemory, Part::Fleet, Part::Files, Part::Swap];
    // What is not ours is in the swap to be compared with, not to be guarded.
    let is_guarded = |figure: &&Figure| figure.step != Step::Theirs;
    let of_part =
        |part| record.part(part).iter().filter(is_guarded).map(move |figure| time(part, figure));
    parts.into_iter().flat_map(of_part).collect()
}

fn time(part: Part, figure: &Figure) -> Time<'_> {
    let Figure { backend, key_bits, work, place, count, .. } = figure;
    let (cipher, place) = (figure.cipher.to_uppercase(), place.name());
    let (series, what) = match part {
        Part::Batches => (
            format!("{cipher} in batches, {place}"),
            format!("{key_bits} bits, {work}, {count} messages"),
        ),
        Part::HostMemory => {
            (format!("{cipher} of host memory, {place}"), format!("{key_bits} bits, {work}"))
        }
        Part::Fleet => {
            (format!("{cipher} on {count} devices"), format!("{key_bits} bits, CTR, {place}"))
        }
        Part::Swap => {
            let mode = if figure.step == Step::Ours { "ours" } else { "in their mode" };
            (format!("{cipher}-{key_bits} swapped, {mode}"), figure.call.clone())
        }
        Part::Files => {
            let is_encryption = figure.step == Step::Encryption;
            let way = if is_encryption { "encryption" } else { "decryption" };
            (format!("file by {backend}"), way.to_owned())
        }
        _ => (format!("{cipher} {backend}, {place}"), format!("{key_bits} bits, {work}")),
    };
    Time { what: format!("{series}, {what}"), series, figure }
}

#[cfg(test)]
mod tests {
    use lanecrypt_record::{Environment, Place, Work};

    use super::*;

    /// A record of 1 MiB by these backends, in seconds, known to so much of them.
    fn record(backends: &[(&str, f64)], known_to: Option<f64>) -> Record {
        let measurement = |&(backend, seconds): &(&str, f64)| {
            let what = (Work::Ctr, Place::Cpu);
            let mut measurement = Figure::of(("aes", backend), what, 1 << 20, seconds);
            measurement.interval =
                known_to.map(|known| [seconds * (1.0 - known), seconds * (1.0 + known)]);
            measurement
        };
        Record::of(Environment::default(), backends.iter().map(measurement).collect())
    }

    #[test]
    fn a_loss_a_gain_and_noise_are_told_apart() {
        let old = record(&[("loses", 1e-3), ("gains", 1e-3), ("stays", 1e-3)], Some(0.01));
        let new = record(&[("loses", 1.2e-3), ("gains", 0.8e-3), ("stays", 1.015e-3)], Some(0.01));
        let comparison = Comparison::new(&old, &new, 5.0);
        assert!(comparison.has_loss());
        let text = comparison.text(false);
        let line = |name: &str| text.lines().find(|line| line.contains(name)).map(str::to_owned);
        assert!(line("loses").expect("it changed").contains("-16.7% !"), "{text}");
        let gain = line("gains").expect("it changed");
        assert!(gain.contains("+25.0%") && !gain.contains('!'), "{text}");
        assert_eq!(line("stays"), None, "its intervals overlap");
        assert!(text.contains("3 figures in both; 2 changed beyond noise"), "{text}");
        assert!(!Comparison::new(&old, &old, 5.0).has_loss());
    }

    #[test]
    fn noise_is_what_the_intervals_say() {
        let (old, new) = (&[("a", 1e-3)][..], &[("a", 1.1e-3)][..]);
        let has_loss = |known_to| {
            Comparison::new(&record(old, known_to), &record(new, known_to), 5.0).has_loss()
        };
        assert!(has_loss(Some(0.04)), "0.96 to 1.04 and 1.056 to 1.144 are apart");
        assert!(!has_loss(Some(0.06)), "they overlap");
        assert!(has_loss(None), "nothing is known but the threshold");
    }

    /// Medians that a busy neighbour moved: the fastest passes say how much of it is so.
    #[test]
    fn fastest_passes_must_have_moved_too() {
        let loss = |fastest: [f64; 2]| {
            let seconds = [1e-3, 2e-3];
            let of = |i: usize| {
                let mut record = record(&[("a", seconds[i])], Some(0.01));
                record.part_mut(Part::Measurements)[0].fastest_seconds = Some(fastest[i]);
                record
            };
            let (old, new) = (of(0), of(1));
            let comparison = Comparison::new(&old, &new, 5.0);
            (comparison.has_loss(), comparison.changes.len())
        };
        assert_eq!(loss([0.9e-3, 1.8e-3]), (true, 1));
        assert_eq!(loss([0.9e-3, 0.92e-3]), (false, 1), "2% are less than the threshold");
        assert_eq!(loss([0.9e-3, 0.8e-3]), (false, 0), "they contradict each other");
    }

    #[test]
    fn small_changes_are_no_losses_and_are_listed_when_asked_for() {
        let (old, new) =
            (record(&[("a", 1e-3)], Some(0.001)), record(&[("a", 1.03e-3)], Some(0.001)));
        let comparison = Comparison::new(&old, &new, 5.0);
        assert!(!comparison.has_loss());
        assert!(!comparison.text(false).contains("-2.9%"));
        assert!(comparison.text(true).contains("-2.9%"), "{}", comparison.text(true));
        assert!(Comparison::new(&old, &new, 1.0).has_loss());
        // Without intervals it would be noise.
        let bare = |seconds| record(&[("a", seconds)], None);
        let (old, new) = (bare(1e-3), bare(1.03e-3));
        let comparison = Comparison::new(&old, &new, 5.0);
        assert!(comparison.changes.is_empty());
        assert!(comparison.text(false).contains("1 of them have no confidence interval"));
    }

    /// Ours are guarded, each way by itself; theirs may do what they like.
    #[test]
    fn the_swap_is_guarded_where_it_is_ours() {
        let times = |[theirs, swapped, ours]: [f64; 3]| {
            let mut record = Record::default();
            for bytes in [0, 16] {
                let ways = [(Step::Theirs, theirs), (Step::Swapped, swapped), (Step::Ours, ours)];
                record.add(
                    Part::Swap,
                    ways.map(|(step, time)| Figure {
                        cipher: "aes".into(),
                        key_bits: 128,
                        call: "a call".into(),
                        step,
                        bytes,
                        seconds: time * 1e-9,
                        ..Figure::default()
                    }),
                );
            }
            record
        };
        let compare = |new| {
            let (old, new) = (times([10.0, 20.0, 30.0]), times(new));
            let comparison = Comparison::new(&old, &new, 5.0);
            (comparison.has_loss(), comparison.text(false))
        };
        assert!(!compare([90.0, 20.0, 30.0]).0);
        for (new, name) in [
            ([10.0, 40.0, 30.0], "AES-128 swapped, in their mode, a call"),
            ([10.0, 20.0, 60.0], "AES-128 swapped, ours, a call"),
        ] {
            let (has_loss, text) = compare(new);
            assert!(has_loss && text.contains(name) && text.contains("-50.0% !"), "{text}");
            assert!(text.contains("4 figures in both; 2 changed"), "{text}");
            assert!(text.contains("40 ns") || text.contains("60 ns"), "{text}");
        }
    }

    #[test]
    fn what_one_record_lacks_is_named() {
        let mut old = record(&[("both", 1e-3), ("gone", 1e-3)], None);
        for (of, bytes) in [(0, 256), (0, 16), (1, 16)] {
            let smaller = Figure { bytes, ..old.measurements()[of].clone() };
            old.add(Part::Measurements, [smaller]);
        }
        let mut new = record(&[("both", 1e-3)], None);
        let file =
            Figure { backend: "cp".into(), bytes: 1 << 30, seconds: 1.0, ..Figure::default() };
        let ways = [Step::Encryption, Step::Decryption];
        new.add(Part::Files, ways.map(|step| Figure { step, ..file.clone() }));
        new.environment.cpu = "another".into();
        let text = Comparison::new(&old, &new, 5.0).text(false);
        assert!(text.contains("Only in the old record: AES gone, CPU: all 2 figures\n"), "{text}");
        let part = "Only in the old record: AES both, CPU, 128 bits, CTR: 256 B, 16 B\n";
        assert!(text.contains(part), "{text}");
        assert!(text.contains("Only in the new record: file by cp: all 2 figures\n"), "{text}");
        assert!(text.contains("Not the same: CPU, ") && text.contains("another now"), "{text}");
        assert!(text.contains("1 figures in both; 0 changed"), "{text}");
    }
}
