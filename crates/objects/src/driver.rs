//! Who drives a job: it hands out parts, keeps their receipts in a log, and commits.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use lanecrypt_tink::{Error as TinkError, Keyset};

use crate::{
    Error, Location, Order, Plan, Receipt, Stores,
    log::{Line, Log},
    plan::identity,
    runtime::NEVER,
};

/// One who hands out the parts of a job and keeps their receipts. Killed and started again with the same
/// log, it goes on where it was.
#[derive(Debug)]
pub struct Driver {
    plan: Plan,
    stores: Stores,
    log: Log,
    /// Tags by part.
    done: BTreeMap<u64, String>,
    is_committed: bool,
}

impl Driver {
    /// Begins a job, or goes on with the one that the log is of.
    ///
    /// # Errors
    /// [`Error::SameFile`] where the log would be the source or the target,
    /// [`Error::OtherJob`] where that one has other places, keys or associated data, [`Error::InUse`],
    /// [`Error::Malformed`] for a file that is no log, [`Error::MalformedLine`], and those of [`Plan::new`].
    pub fn open(
        log: &Path,
        keyset: &Keyset,
        order: &Order<'_>,
        stores: &Stores,
    ) -> Result<Self, Error> {
        Self::open_unless(log, keyset, order, stores, &NEVER)
    }

    /// As [`open`](Self::open), unless `cancel` is set before a store answers.
    ///
    /// # Errors
    /// [`TinkError::Cancelled`]; those of [`open`](Self::open).
    pub fn open_unless(
        log: &Path,
        keyset: &Keyset,
        order: &Order<'_>,
        stores: &Stores,
        cancel: &AtomicBool,
    ) -> Result<Self, Error> {
        check_apart(log, order)?;
        let look = || identity(order.source, stores, cancel);
        // No log is made for a source that is not there.
        let source = if log.exists() { None } else { Some(look()?) };
        let (mut log, lines) = Log::open(log)?;
        let mut lines = lines.into_iter();
        let plan = if let Some(Line::Plan(plan)) = lines.next() {
            plan.check()?;
            is_of(&plan, log.path(), keyset, order)?;
            plan
        } else {
            let is_new = source.is_some();
            let plan = source.map_or_else(look, Ok).and_then(|source| {
                let plan = Plan::of_source(source, keyset, order, stores, cancel)?;
                begin(&mut log, &plan, stores)?;
                Ok(plan)
            });
            if plan.is_err() && is_new {
                log.remove().ok(); // it says nothing
            }
            Box::new(plan?)
        };
        let (stores, done) = (stores.clone(), BTreeMap::new());
        let mut driver = Self { plan: *plan, stores, log, done, is_committed: false };
        for line in lines {
            match line {
                Line::Done(receipt) => drop(driver.note(receipt)?),
                Line::Committed => driver.is_committed = true,
                Line::Plan(_) => return Err(Error::Malformed { what: "log" }),
            }
        }
        Ok(driver)
    }

    /// What those are told who seal parts.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The parts without a receipt; none once the job is committed.
    pub fn missing(&self) -> impl Iterator<Item = u64> {
        let is_missing = |part: &u64| !self.is_committed && !self.done.contains_key(part);
        (0..self.plan.job().parts()).filter(is_missing)
    }

    /// Keeps a receipt. A second one of the same part takes the place of the first.
    ///
    /// # Errors
    /// [`Error::Malformed`] for what is no receipt of this job; [`Error::Io`].
    pub fn acknowledge(&mut self, receipt: Receipt) -> Result<(), Error> {
        let receipt = self.note(receipt)?;
        self.log.append(&Line::Done(receipt))
    }

    fn note(&mut self, receipt: Receipt) -> Result<Receipt, Error> {
        if !self.plan.accepts(&receipt) {
            return Err(Error::Malformed { what: "receipt" });
        }
        self.done.insert(receipt.part, receipt.tag.clone());
        Ok(receipt)
    }

    /// Gives the sealed file its name, if all parts have receipts. Until then nothing has that name that
    /// had not before.
    ///
    /// # Errors
    /// [`TinkError::PartsMissing`], [`Error::Store`], [`Error::Tink`].
    pub fn commit(&mut self) -> Result<(), Error> {
        self.commit_unless(&NEVER)
    }

    /// As [`commit`](Self::commit), unless `cancel` is set before a store answers. What the store did is not known
    /// then: committing once more finds out.
    ///
    /// # Errors
    /// [`TinkError::Cancelled`]; those of [`commit`](Self::commit).
    pub fn commit_unless(&mut self, cancel: &AtomicBool) -> Result<(), Error> {
        if self.is_committed {
            return Ok(());
        }
        let (parts, missing) = (self.plan.job().parts(), self.missing().count() as u64);
        if let Some(first) = self.missing().next() {
            return Err(TinkError::PartsMissing { missing, parts, first }.into());
        }
        self.plan.commit(self.done.values().cloned().collect(), &self.stores, cancel)?;
        self.is_committed = true;
        self.log.append(&Line::Committed)
    }

    /// Gives the job up, and removes what was written for it and its log. Its header must not be used
    /// again.
    ///
    /// # Errors
    /// [`Error::Committed`] where it is too late; [`Error::Store`], [`Error::Tink`], [`Error::Io`].
    pub fn discard(mut self) -> Result<(), Error> {
        self.discard_unless(&NEVER)
    }

    /// As [`discard`](Self::discard), unless `cancel` is set before a store answers: the log is there then.
    ///
    /// # Errors
    /// [`TinkError::Cancelled`]; those of [`discard`](Self::discard).
    pub fn discard_unless(&mut self, cancel: &AtomicBool) -> Result<(), Error> {
        // A process may have been killed before it noted that.
        if self.is_committed || self.plan.is_in_place(&self.stores, cancel) {
            return Err(Error::Committed);
        }
        self.plan.discard(&self.stores, cancel)?;
        // A commit that was not waited for may have come first.
        if self.plan.is_in_place(&self.stores, cancel) {
            return Err(Error::Committed);
        }
        self.log.remove()
    }
}

/// Notes the plan in a new log. Where that fails, nothing would ever find what was made for the plan: both go.
fn begin(log: &mut Log, plan: &Plan, stores: &Stores) -> Result<(), Error> {
    log.append(&Line::Plan(Box::new(plan.clone()))).inspect_err(|_| {
        // The first error is the one that tells.
        plan.discard(stores, &NEVER).ok();
        log.remove().ok();
    })
}

/// Fails where the log is also what is sealed, or where the sealed file will be.
fn check_apart(log: &Path, order: &Order<'_>) -> Result<(), Error> {
    for (what, place) in [("source", order.source), ("target", order.target)] {
        if matches!(place, Location::File(path) if is_one_file(log, path)) {
            return Err(Error::SameFile { path: log.to_owned(), what });
        }
    }
    Ok(())
}

/// Whether both paths lead to one file, also where none is there yet.
fn is_one_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Err(_), Err(_)) => full_path(one) == full_path(other),
        _ => false,
    }
}

/// The path of what is not there yet, by that of its folder.
fn full_path(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.join(path.file_name().unwrap_or_default())
}

/// Whether a log's plan is what is asked for now.
fn is_of(plan: &Plan, log: &Path, keyset: &Keyset, order: &Order<'_>) -> Result<(), Error> {
    let differences = [
        ("source", plan.source() != order.source),
        ("target", plan.target() != *order.target),
        ("key", keyset.key(plan.job().key_id()).is_err()),
        ("associated data", plan.job().associated_data()? != order.associated_data),
    ];
    match differences.into_iter().find(|(_, differs)| *differs) {
        Some((what, _)) => Err(Error::OtherJob { path: log.to_owned(), what }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        net::TcpListener,
        process::Command,
        sync::{atomic::Ordering, mpsc::channel},
        thread,
        time::Duration,
    };

    use lanecrypt_tink::Options;

    use super::*;
    use crate::{given::Given, open_location};

    #[test]
    fn a_log_is_a_file_of_its_own() {
        let given = Given::new("text");
        let [plain, sealed, log, nothing] = ["plain", "sealed", "./log", "nothing"]
            .map(|name| Location::File(given.plain().with_file_name(name)));
        let open = |log: &Path, source, target| {
            let order = Order { source, target, ..given.order() };
            Driver::open(log, &given.keyset, &order, &given.stores).unwrap_err()
        };
        for (path, source, target, named) in [
            (&given.plain(), &plain, &sealed, "source"),
            (&given.log, &log, &sealed, "source"),
            (&given.log, &plain, &log, "target"),
        ] {
            let error = open(path, source, target);
            assert!(matches!(error, Error::SameFile { what, .. } if what == named), "{error}");
            assert_eq!(given.files(), [given.plain()]);
        }
        assert_eq!(fs::read(given.plain()).unwrap(), b"text");
        // Nor is one made for a source that is not there.
        open(&given.log, &nothing, &sealed);
        assert_eq!(given.files(), [given.plain()]);
    }

    /// It would be read for ever.
    #[test]
    fn a_pipe_is_no_log() {
        let given = Given::new("text");
        assert!(Command::new("mkfifo").arg(&given.log).status().unwrap().success());
        let (sender, refused) = channel();
        thread::spawn(move || sender.send(given.open().map(drop)));
        let opened = refused.recv_timeout(Duration::from_secs(30)).expect("it is not waited for");
        assert!(matches!(opened, Err(Error::Malformed { what: "log" })), "{opened:?}");
    }

    /// One that takes connections and says nothing.
    #[test]
    fn who_cancels_does_not_wait_for_a_store() {
        let given = Given::new("text");
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", silent.local_addr().unwrap());
        let stores = Stores::with_settings([
            ("AWS_ENDPOINT_URL", &endpoint[..]),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "key"),
        ]);
        let (stores, place) = (stores.unwrap(), "s3://bucket/key".parse::<Location>().unwrap());
        let cancelled_soon = |call: &dyn Fn(&AtomicBool) -> Result<(), Error>| {
            let cancel = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(300));
                    cancel.store(true, Ordering::SeqCst);
                });
                let error = call(&cancel).unwrap_err();
                assert!(matches!(error, Error::Tink(TinkError::Cancelled)), "{error}");
            });
        };
        cancelled_soon(&|cancel| {
            let options = Options { cancel, ..Options::default() };
            open_location(&given.keyset, &place, &given.log, &stores, options).map(drop)
        });
        for order in
            [Order { source: &place, ..given.order() }, Order { target: &place, ..given.order() }]
        {
            cancelled_soon(&|cancel| {
                Driver::open_unless(&given.log, &given.keyset, &order, &stores, cancel).map(drop)
            });
        }
    }

    #[test]
    fn a_plan_that_cannot_be_noted_leaves_nothing() {
        let given = Given::new("text");
        fs::write(&given.log, "").unwrap();
        let plan = Plan::new(&given.keyset, &given.order(), &given.stores).unwrap();
        assert!(given.files().len() > 2);
        let mut log = Log::read_only(&given.log);
        let error = begin(&mut log, &plan, &given.stores).unwrap_err();
        assert!(error.to_string().contains("log"), "{error}");
        assert_eq!(given.files(), [given.plain()]);
        plan.discard(&given.stores, &NEVER).expect("what is gone is no error");
    }

    /// The log is what the job is found by: it stays where anything else does.
    #[test]
    fn what_cannot_be_removed_is_told() {
        let given = Given::new("text");
        let driver = given.open().unwrap();
        let mut files = given.files();
        files.retain(|path| path.is_file() && ![&given.plain(), &given.log].contains(&path));
        let output = files.first().expect("what parts are written to");
        fs::remove_file(output).unwrap();
        fs::create_dir(output).unwrap();
        let error = driver.discard().expect_err("it is a folder now");
        assert!(matches!(error, Error::Tink(TinkError::Io { .. })), "{error}");
        assert!(given.log.exists());
    }

    #[test]
    fn lines_that_cannot_be_read() {
        let mut given = Given::new(vec![7; 9 << 20]);
        given.part_bytes = Some(5 << 20);
        let Given { log: path, keyset, stores, .. } = &given;
        let seal = |driver: &mut Driver, part| {
            let options = Options::default();
            let receipt = driver.plan().seal_part(keyset, part, stores, options).unwrap();
            // As a write leaves it that failed.
            let mut file = fs::File::options().append(true).open(path).unwrap();
            file.write_all(b"{\"done\":{\"pa").unwrap();
            driver.acknowledge(receipt).unwrap();
        };
        let mut driver = given.open().unwrap();
        (0..2).for_each(|part| seal(&mut driver, part));
        driver.commit().unwrap();
        drop(driver);
        let log = fs::read_to_string(path).unwrap();
        assert_eq!(log.lines().count(), 4);
        // What is no line, and lines that have their place elsewhere: the first one's, and the last one's.
        let lines: Vec<_> = log.split_inclusive('\n').collect();
        for (line, other) in (1..=4).map(|line| (line, "{}\n")).chain([
            (1, lines[3]),
            (1, lines[1]),
            (2, lines[0]),
            (4, lines[0]),
        ]) {
            let mut lines = lines.clone();
            lines[line - 1] = other;
            let broken = lines.concat();
            fs::write(path, &broken).unwrap();
            match given.open().unwrap_err() {
                Error::Malformed { what: "log" } => assert_eq!(line, 1),
                Error::MalformedLine { line: named, .. } => assert_eq!(named, line),
                error => panic!("line {line}: {error}"),
            }
            assert_eq!(fs::read_to_string(path).unwrap(), broken, "nothing is lost");
        }
        fs::write(path, &log[..log.len() - 1]).unwrap();
        let driver = given.open().unwrap();
        assert!(!driver.is_committed && driver.missing().count() == 0);
    }
}
