//! Records of several runs, read together: the CPU of one, the GPU of another, the newest figure of each kind.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use lanecrypt::CIPHERS;
use lanecrypt_record::{Figure, Order, Part, Place, Record, Work, groups, newest_of_each};

/// A run that was recorded.
#[derive(Debug)]
pub(crate) struct Run {
    /// Its folder's name.
    pub(crate) name: String,
    pub(crate) record: Record,
    /// Whether it stands in for a GPU that the other runs lack: what it says of its CPU does not count.
    pub(crate) is_stand_in: bool,
    /// Which line it is of `order.txt` beside its folder; the last where it is none.
    place: usize,
}

impl Run {
    /// Reads a record, from a folder or from its `report.json`.
    ///
    /// # Errors
    /// A sentence naming the file.
    fn read(path: &Path, is_stand_in: bool) -> Result<Self, String> {
        let file = Record::file(path);
        let folder = file.parent().unwrap_or(path);
        let name = name(folder);
        let place = Order::of(&folder.with_file_name("")).place(&name);
        Ok(Self { name, record: Record::read(&file)?, is_stand_in, place })
    }

    /// What orders runs, oldest first. Records of a day do not all have their time.
    fn age(&self) -> (&str, usize, &str, &str) {
        let environment = &self.record.environment;
        (&environment.date, self.place, &environment.time, &self.name)
    }
}

/// Oldest first.
#[derive(Debug)]
pub(crate) struct Runs(Vec<Run>);

impl Runs {
    /// A run that was just made, to be written to `folder`.
    pub(crate) fn of(record: Record, folder: &Path) -> Self {
        Self(vec![Run { name: name(folder), record, is_stand_in: false, place: usize::MAX }])
    }

    /// Records, each a folder or its `report.json`.
    ///
    /// # Errors
    /// A sentence naming the file that cannot be read.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Self, String> {
        let run = |path: &PathBuf| Run::read(path, false);
        let mut runs = paths.iter().map(run).collect::<Result<Vec<_>, String>>()?;
        runs.sort_by(|a, b| a.age().cmp(&b.age()));
        Ok(Self(runs))
    }

    /// Adds what `folder` has of the GPU that was recorded last, where none of these runs measured one.
    /// Records there that cannot be read are left out.
    #[must_use]
    pub(crate) fn or_recorded_gpu(mut self, folder: &Path) -> Self {
        if self.newest(has_gpu).is_some() {
            return self;
        }
        let mut recorded: Vec<Run> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Run::read(&entry.ok()?.path(), true).ok())
            .collect();
        recorded.sort_by(|a, b| a.age().cmp(&b.age()));
        if let Some(newest) = recorded.iter().rfind(|run| has_gpu(&run.record)) {
            let gpu = newest.record.environment.gpu.clone();
            recorded.retain(|run| run.record.environment.gpu == gpu);
            self.0.splice(0..0, recorded);
        }
        self
    }

    /// All of them, oldest first.
    pub(crate) fn all(&self) -> &[Run] {
        &self.0
    }

    /// The newest with something.
    pub(crate) fn newest(&self, has: impl Fn(&Record) -> bool) -> Option<&Run> {
        self.0.iter().rfind(|run| has(&run.record))
    }

    /// The newest that says something of its CPU.
    pub(crate) fn of_cpu(&self) -> Option<&Run> {
        self.0.iter().rfind(|run| !run.is_stand_in && has_cpu(&run.record))
    }

    /// The newest that says something of a GPU.
    pub(crate) fn of_gpu(&self) -> Option<&Run> {
        self.newest(has_gpu)
    }

    /// One record of all: of each figure the newest, on the CPU and on the GPU that were measured last. Other
    /// machines' figures are left out.
    ///
    /// # Panics
    /// Where there are no runs.
    #[must_use]
    pub(crate) fn merged(&self) -> Record {
        let last = self.0.iter().rfind(|run| !run.is_stand_in).or(self.0.last());
        let (cpu, gpu) = (self.of_cpu(), self.of_gpu());
        let last = &last.expect("there is a run").record.environment;
        let mut environment = cpu.map_or(last, |run| &run.record.environment).clone();
        if let Some(run) = gpu {
            let of_gpu = &run.record.environment;
            environment.gpu.clone_from(&of_gpu.gpu);
            environment.gpu_details.clone_from(&of_gpu.gpu_details);
            environment.driver.clone_from(&of_gpu.driver);
        }
        let on_gpu = || {
            let of = gpu.map(|run| &run.record.environment.gpu);
            self.0.iter().filter(move |run| Some(&run.record.environment.gpu) == of)
        };
        // In the order of the runs, each once.
        let mut seen = BTreeSet::new();
        let skipped = self.given().flat_map(|run| &run.record.skipped);
        let skipped = skipped.filter(|&line| seen.insert(line)).cloned();
        let rows = |part| match part {
            Part::Measurements => self.measurements(cpu, gpu),
            Part::ThreadBlocks | Part::BlockSizes => {
                newest_of_each(on_gpu().flat_map(|run| run.record.part(part)), labels)
            }
            Part::Auto => newest_of_ciphers(self.0.iter(), part),
            _ => newest_of_ciphers(self.given(), part),
        };
        Record {
            environment,
            skipped: skipped.collect(),
            figures: Part::ALL.into_iter().map(|part| (part, rows(part))).collect(),
            kernels: newest_of_each(self.0.iter().flat_map(|run| &run.record.kernels), |kernel| {
                (kernel.kernel.clone(), kernel.architecture.clone())
            }),
        }
    }

    fn given(&self) -> impl Iterator<Item = &Run> {
        self.0.iter().filter(|run| !run.is_stand_in)
    }

    fn measurements(&self, cpu: Option<&Run>, gpu: Option<&Run>) -> Vec<Figure> {
        let is_same = |run: &Run, other: Option<&Run>, part: fn(&Run) -> (&str, &str)| {
            other.is_some_and(|other| part(other) == part(run))
        };
        let rows = self.0.iter().enumerate().flat_map(|(number, run)| {
            let has_cpu = !run.is_stand_in && is_same(run, cpu, cpu_of);
            let on_gpu = is_same(run, gpu, |run| (&run.record.environment.gpu, ""));
            let counts = move |m: &&Figure| if m.place == Place::Cpu { has_cpu } else { on_gpu };
            // What a stand-in has of backends that are gone is nothing to compare with.
            let is_current = |m: &&Figure| !run.is_stand_in || is_in_the_registry(m);
            let rows = run.record.measurements().iter().filter(counts).filter(is_current);
            rows.map(move |m| Figure { run: number, ..m.clone() }).collect::<Vec<_>>()
        });
        let rows: Vec<Figure> = rows.collect();
        let mut kept = newest_of_each(rows.iter(), labels);
        // In the registry's order, as in a record of one run.
        kept.sort_by_key(|m| place_of(&m.cipher));
        kept
    }
}

/// The place of a cipher in the registry.
fn place_of(name: &str) -> Option<usize> {
    CIPHERS.iter().position(|cipher| cipher.name == name)
}

/// What tells a figure from others.
fn labels(f: &Figure) -> (String, usize, String, Work, Place, usize, usize) {
    (f.cipher.clone(), f.key_bits, f.backend.clone(), f.work, f.place, f.count, f.bytes)
}

fn name(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Name and instruction sets.
fn cpu_of(run: &Run) -> (&str, &str) {
    (&run.record.environment.cpu, &run.record.environment.cpu_features)
}

fn has_cpu(record: &Record) -> bool {
    record.measurements().iter().any(|m| m.place == Place::Cpu)
}

fn has_gpu(record: &Record) -> bool {
    record.measurements().iter().any(|m| m.place != Place::Cpu)
}

/// Whether CPU and GPU were compared.
pub(crate) fn has_auto(record: &Record) -> bool {
    !record.part(Part::Auto).is_empty()
}

fn is_in_the_registry(m: &Figure) -> bool {
    lanecrypt::find_cipher(&m.cipher).is_ok_and(|cipher| cipher.backend(&m.backend).is_some())
}

/// Of each cipher the figures of the last run that has any, for they were measured beside each other; in the
/// registry's order. Files, which have no cipher, are those of one run.
fn newest_of_ciphers<'a>(runs: impl Iterator<Item = &'a Run>, part: Part) -> Vec<Figure> {
    let mut newest = BTreeMap::new();
    for run in runs {
        newest.extend(groups(run.record.part(part), |figure| figure.cipher.as_str()));
    }
    let mut newest: Vec<_> = newest.into_iter().collect();
    newest.sort_by_key(|(name, _)| place_of(name));
    newest.into_iter().flat_map(|(_, figures)| figures).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanecrypt_record::{Environment, Step};

    fn run(date: &str, machine: [&str; 2], rows: &[(&str, Place, f64)]) -> Run {
        let mut environment = Environment::default();
        [environment.cpu, environment.gpu] = machine.map(str::to_owned);
        environment.date = date.to_owned();
        let row = |&(backend, place, seconds): &(&str, Place, f64)| {
            Figure::of(("aes", backend), (Work::Ctr, place), 1 << 20, seconds)
        };
        let record = Record::of(environment, rows.iter().map(row).collect());
        Run { name: date.to_owned(), record, is_stand_in: false, place: usize::MAX }
    }

    fn seconds(record: &Record) -> Vec<(&str, f64, usize)> {
        record.measurements().iter().map(|m| (m.backend.as_str(), m.seconds, m.run)).collect()
    }

    #[test]
    fn the_newest_of_each_counts_on_the_machines_that_were_measured_last() {
        use Place::{Cpu, Resident};
        let runs = Runs(vec![
            run("1", ["old", "G"], &[("table32", Cpu, 9.0), ("cuda-bitslice", Resident, 3.0)]),
            run("2", ["new", "G"], &[("table32", Cpu, 2.0), ("cuda-bitslice", Resident, 4.0)]),
            run("3", ["new", "none"], &[("table32", Cpu, 1.0), ("bitslice-u64", Cpu, 5.0)]),
        ]);
        let merged = runs.merged();
        let expected = [("table32", 1.0, 2), ("cuda-bitslice", 4.0, 1), ("bitslice-u64", 5.0, 2)];
        let mut found = seconds(&merged);
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        assert_eq!(found, expected);
        assert_eq!((&*merged.environment.cpu, &*merged.environment.gpu), ("new", "G"));
    }

    #[test]
    fn runs_of_a_cipher_each_are_one_record_of_all() {
        let first_calls = |date, ciphers: &[(&str, f64)]| {
            let mut run = run(date, ["x", "G"], &[("cuda-bitslice", Place::Resident, 1.0)]);
            let figure = |&(cipher, seconds): &(&str, f64)| Figure {
                step: Step::Open,
                ..Figure::of((cipher, ""), (Work::Ctr, Place::Resident), 1, seconds)
            };
            run.record.add(Part::FirstCalls, ciphers.iter().map(figure));
            run
        };
        let old = first_calls("1", &[("seed", 1.0), ("seed", 2.0), ("aes", 3.0)]);
        let new = first_calls("2", &[("seed", 4.0)]);
        let merged = Runs(vec![old, new, first_calls("3", &[])]).merged();
        let found: Vec<_> =
            merged.part(Part::FirstCalls).iter().map(|f| (&*f.cipher, f.seconds)).collect();
        assert_eq!(found, [("aes", 3.0), ("seed", 4.0)]);
    }

    #[test]
    fn what_several_runs_skipped_is_said_once() {
        let skips = |date, skipped: &[&str]| {
            let mut run = run(date, ["x", "G"], &[]);
            run.record.skipped = skipped.iter().map(|&line| line.to_owned()).collect();
            run
        };
        let runs = Runs(vec![skips("1", &["b", "a"]), skips("2", &["b", "c", "a"])]);
        assert_eq!(runs.merged().skipped, ["b", "a", "c"]);
    }

    #[test]
    fn a_recorded_gpu_stands_in_where_none_was_measured() {
        use Place::{Cpu, Resident};
        let folder = tempfile::tempdir().expect("a folder");
        for (name, gpu, rows) in [
            (
                "2026-01-01",
                "G",
                &[("cuda-bitslice", Resident, 1.0), ("cuda-gone", Resident, 1.0)][..],
            ),
            ("2026-01-02", "H", &[("cuda-bitslice", Resident, 7.0)]),
            ("2026-01-03", "G", &[("cuda-mixed", Resident, 2.0), ("table32", Cpu, 3.0)]),
            ("2026-01-04", "none", &[("table32", Cpu, 4.0)]),
        ] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
            let text = serde_json::to_string(&run(name, ["x", gpu], rows).record).expect("JSON");
            fs::write(folder.path().join(name).join("report.json"), text).expect("a file");
        }
        fs::create_dir(folder.path().join("empty")).expect("a folder");
        let mine = || Runs(vec![run("2026-02-01", ["x", "none"], &[("table32", Cpu, 5.0)])]);
        let runs = mine().or_recorded_gpu(folder.path());
        let found = runs.merged();
        let expected = [("cuda-bitslice", 1.0, 0), ("cuda-mixed", 2.0, 1), ("table32", 5.0, 2)];
        assert_eq!(seconds(&found), expected, "the newest GPU, of backends that exist, and no CPU");
        assert_eq!(found.environment.gpu, "G");
        assert_eq!(runs.of_gpu().map(|run| &*run.name), Some("2026-01-03"));
        let with_gpu = Runs(vec![run("3", ["x", "mine"], &[("cuda-bitslice", Resident, 1.0)])]);
        assert_eq!(with_gpu.or_recorded_gpu(folder.path()).all().len(), 1);
        assert_eq!(mine().or_recorded_gpu(Path::new("/nowhere")).all().len(), 1);
    }

    #[test]
    fn records_of_a_day_are_in_the_order_that_their_folder_says() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = ["c", "a", "b"]; // b is not listed: the newest
        let paths = names.map(|name| folder.path().join(name));
        for (path, seconds) in paths.iter().zip([1.0, 2.0, 3.0]) {
            fs::create_dir(path).expect("a folder");
            let rows = [("table32", Place::Cpu, seconds)];
            let text = serde_json::to_string(&run("1", ["x", "y"], &rows).record).expect("JSON");
            fs::write(path.join("report.json"), text).expect("a file");
        }
        fs::write(folder.path().join("order.txt"), "c\na\n").expect("a file");
        let runs = Runs::read(&[paths[1].clone(), paths[2].clone(), paths[0].clone()]);
        let order: Vec<_> = runs.expect("records").0.into_iter().map(|run| run.name).collect();
        assert_eq!(order, names);
    }
}
