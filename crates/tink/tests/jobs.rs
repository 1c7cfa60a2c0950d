//! Jobs: parts in any order and by anybody give one sealed file; a changed source is refused.

use std::{
    fs::{self, File, Permissions},
    io::{self, Write},
    os::unix::{fs::PermissionsExt, net::UnixListener},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use lanecrypt_tink::{
    Error, Hash, Identity, Keyset, Options, Parameters, Scheme, Source, job::SealingJob, open_file,
};
use tempfile::TempDir;

struct Files {
    folder: TempDir,
    keyset: Keyset,
}

impl Files {
    fn new(plaintext_bytes: usize) -> Self {
        let parameters = Parameters::new(Scheme::Gcm, Hash::Sha256, 32, 200).unwrap();
        let keyset = Keyset::generate(parameters).unwrap();
        let files = Self { folder: TempDir::new().unwrap(), keyset };
        fs::write(files.path("plain"), text(plaintext_bytes)).unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn job(&self) -> SealingJob {
        let job =
            SealingJob::of_file(&self.keyset, &self.path("plain"), b"about it", 1000).unwrap();
        SealingJob::from_json(&job.to_json().unwrap()).unwrap()
    }

    fn seal(&self, job: &SealingJob, part: u64) -> Result<(), Error> {
        let [plain, sealed] = ["plain", "sealed"].map(|name| self.path(name));
        job.seal_file_part(&self.keyset, part, &plain, &sealed, Options::default())
    }

    fn opened(&self) -> Result<Vec<u8>, Error> {
        let options = Options { associated_data: b"about it", ..Options::default() };
        open_file(&self.keyset, &self.path("sealed"), &self.path("opened"), options)?;
        Ok(fs::read(self.path("opened")).unwrap())
    }

    /// The output, which lies beside its target as the only hidden file.
    fn output(&self) -> PathBuf {
        let mut entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap());
        let is_output =
            |path: &PathBuf| path.to_string_lossy().ends_with(lanecrypt_tink::TEMPORARY);
        entries.find_map(|entry| Some(entry.path()).filter(is_output)).expect("an output")
    }
}

fn text(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| ((i * i) >> 3) as u8).collect()
}

#[test]
fn parts_in_any_order_and_twice_are_one_file() {
    for bytes in [0, 1, 143, 144, 145, 1000, 10_000] {
        let files = Files::new(bytes);
        let job = files.job();
        job.create(&files.path("sealed")).unwrap();
        assert_eq!(job.parts(), (job.sealed_bytes()).div_ceil(1000));
        let missing = job.missing_parts(&files.path("sealed")).collect::<Vec<_>>();
        assert_eq!(missing, (0..job.parts()).collect::<Vec<_>>());
        for part in missing.into_iter().rev() {
            let error = job.commit(&files.path("sealed")).unwrap_err();
            let (left, all) = (part + 1, job.parts());
            let is_named = matches!(
                error,
                Error::PartsMissing { missing, parts, first: 0 } if (missing, parts) == (left, all)
            );
            assert!(is_named, "{error}");
            files.seal(&job, part).unwrap();
            let once = fs::read(files.output()).unwrap();
            files.seal(&job, part).unwrap();
            assert_eq!(fs::read(files.output()).unwrap(), once);
        }
        job.commit(&files.path("sealed")).unwrap();
        assert_eq!(files.opened().unwrap(), text(bytes));
        assert_eq!(fs::metadata(files.path("sealed")).unwrap().len(), job.sealed_bytes());
        // Plain, sealed, opened.
        assert_eq!(fs::read_dir(files.folder.path()).unwrap().count(), 3);
    }
}

/// All parts have receipts, but somebody cut the output or wrote on behind its end.
#[test]
fn an_output_of_another_length_is_not_committed() {
    let files = Files::new(5000);
    let (job, target) = (files.job(), files.path("sealed"));
    assert_eq!(job.key_id(), files.keyset.primary_id());
    job.create(&target).unwrap();
    (0..job.parts()).for_each(|part| files.seal(&job, part).unwrap());
    let (whole, expected) = (fs::read(files.output()).unwrap(), job.sealed_bytes());
    for given in [expected - 1, expected + 1] {
        fs::OpenOptions::new().write(true).open(files.output()).unwrap().set_len(given).unwrap();
        let error = job.commit(&target).unwrap_err();
        assert!(error.to_string().contains(&given.to_string()), "{error}");
        assert!(matches!(error, Error::OutputLength { .. }) && !target.exists(), "{error}");
    }
    fs::write(files.output(), whole).unwrap();
    job.commit(&target).unwrap();
    assert_eq!(files.opened().unwrap(), text(5000));
}

#[test]
fn a_part_lies_where_it_says_and_nowhere_else() {
    let files = Files::new(10_000);
    let job = files.job();
    job.create(&files.path("sealed")).unwrap();
    files.seal(&job, 3).unwrap();
    let range = job.sealed_range(3).unwrap();
    assert_eq!(range, 3000..4000);
    let output = fs::read(files.output()).unwrap();
    let is_written = |at: usize| output[at / 200 * 200..][..200].iter().any(|&byte| byte != 0);
    for at in (0..output.len() - 200).step_by(200) {
        assert_eq!(is_written(at), range.contains(&(at as u64)), "{at}");
    }
    let parts = job.parts();
    let error = files.seal(&job, parts).unwrap_err();
    assert!(matches!(error, Error::NoSuchPart { .. }));
    // Segments of 184 bytes, of which the first has a header of 40.
    assert_eq!(job.plaintext_range(3).unwrap(), 15 * 184 - 40..20 * 184 - 40);
    let plaintext = (0..parts).map(|part| job.plaintext_range(part).unwrap());
    let end = plaintext.fold(0, |end, range| {
        assert_eq!(range.start, end);
        range.end
    });
    assert_eq!(end, 10_000);
}

/// Their headers differ in one bit only.
#[test]
fn jobs_of_one_target_do_not_meet() {
    let files = Files::new(1000);
    let (job, target) = (files.job(), files.path("sealed"));
    let mut header = job.header().unwrap();
    header[1] ^= 1;
    let mut other: serde_json::Value = serde_json::from_str(&job.to_json().unwrap()).unwrap();
    other["header"] = BASE64_STANDARD.encode(header).into();
    let other = SealingJob::from_json(&other.to_string()).unwrap();
    job.create(&target).unwrap();
    other.create(&target).unwrap();
    (0..job.parts()).for_each(|part| files.seal(&job, part).unwrap());
    assert_eq!(other.missing_parts(&target).count() as u64, other.parts());
    other.discard(&target).unwrap();
    job.commit(&target).unwrap();
    assert_eq!(files.opened().unwrap(), text(1000));
}

#[test]
fn a_changed_source_is_refused() {
    type Change<'a> = &'a dyn Fn(&Files);
    let changes: [(&str, Change<'_>); 5] = [
        ("size", &|files| fs::write(files.path("plain"), text(4999)).unwrap()),
        ("time of modification", &|files| fs::write(files.path("plain"), text(5000)).unwrap()),
        ("inode", &|files| {
            fs::write(files.path("other"), text(5000)).unwrap();
            fs::rename(files.path("other"), files.path("plain")).unwrap();
        }),
        // A byte is changed and the time set back.
        ("time of change", &|files| {
            let path = files.path("plain");
            let before = fs::metadata(&path).unwrap().modified().unwrap();
            let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.write_all(b"x").unwrap();
            file.set_modified(before).unwrap();
        }),
        ("read", &|files| fs::remove_file(files.path("plain")).unwrap()),
    ];
    for (named, change) in changes {
        let files = Files::new(5000);
        let job = files.job();
        job.create(&files.path("sealed")).unwrap();
        files.seal(&job, 0).unwrap();
        let before = fs::read(files.output()).unwrap();
        change(&files);
        let error = files.seal(&job, 1).unwrap_err();
        if named == "read" {
            assert!(matches!(error, Error::Io { .. }));
        } else {
            assert!(error.to_string().contains(named), "{error}");
        }
        assert_eq!(fs::read(files.output()).unwrap(), before);
        let error = job.commit(&files.path("sealed")).unwrap_err();
        assert!(matches!(error, Error::PartsMissing { .. }));
    }
}

/// The source changes while a part of it is read: there is no receipt.
#[test]
fn a_source_that_changes_meanwhile_is_noticed() {
    let files = Files::new(5000);
    let job = files.job();
    let [plain, sealed] = ["plain", "sealed"].map(|name| files.path(name));
    job.create(&sealed).unwrap();
    let was_changed = AtomicBool::new(false);
    let change = |_| {
        if !was_changed.swap(true, Ordering::Relaxed) {
            fs::write(&plain, text(5000)).unwrap();
        }
    };
    let options = Options { progress: &change, ..Options::default() };
    let error = job.seal_file_part(&files.keyset, 1, &plain, &sealed, options).unwrap_err();
    assert!(matches!(error, Error::SourceChanged { .. }), "{error}");
    assert_eq!(job.missing_parts(&sealed).count() as u64, job.parts());
    job.discard(&sealed).unwrap();
    assert_eq!(fs::read_dir(files.folder.path()).unwrap().count(), 1);
}

/// A worker that was thought lost goes on, and its output may be the target by then.
#[test]
fn nothing_of_a_changed_source_is_written() {
    /// A file that is written while it is read.
    struct Rewritten<'a>(&'a Path, File);
    impl Source for Rewritten<'_> {
        fn identity(&self) -> io::Result<Identity> {
            self.1.identity()
        }

        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
            fs::write(self.0, text(5000))?;
            Source::read_exact_at(&self.1, buffer, offset)
        }
    }
    let files = Files::new(5000);
    let (job, plain) = (files.job(), files.path("plain"));
    let source = Rewritten(&plain, File::open(&plain).unwrap());
    let output = tempfile::tempfile().unwrap();
    let options = Options::default();
    let error = job.seal_part(&files.keyset, 1, &source, &output, options).unwrap_err();
    assert!(matches!(error, Error::SourceChanged { .. }), "{error}");
    assert_eq!(output.metadata().unwrap().len(), 0);
}

/// As a call leaves it that was killed between its last two steps.
#[test]
fn a_job_is_committed_once_more() {
    let files = Files::new(1000);
    let (job, target) = (files.job(), files.path("sealed"));
    job.create(&target).unwrap();
    let receipts = fs::read_dir(files.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let receipts = receipts.filter(|path| path.is_dir()).last().unwrap();
    (0..job.parts()).for_each(|part| files.seal(&job, part).unwrap());
    job.commit(&target).unwrap();
    job.commit(&target).unwrap();
    fs::create_dir(&receipts).unwrap();
    fs::write(receipts.join("0"), "").unwrap();
    job.commit(&target).unwrap();
    assert!(!receipts.exists());
    assert_eq!(files.opened().unwrap(), text(1000));
}

#[test]
fn a_committed_job_has_nothing_missing_and_nothing_to_discard() {
    let files = Files::new(1000);
    let (job, target) = (files.job(), files.path("sealed"));
    job.create(&target).unwrap();
    (0..job.parts()).for_each(|part| files.seal(&job, part).unwrap());
    job.commit(&target).unwrap();
    assert_eq!(job.missing_parts(&target).count(), 0);
    job.discard(&target).unwrap();
    assert_eq!(files.opened().unwrap(), text(1000));
    // Something else in its place is not what was committed.
    fs::write(&target, "another file").unwrap();
    assert_eq!(job.missing_parts(&target).count() as u64, job.parts());
    assert!(matches!(job.discard(&target), Err(Error::Io { .. })));
}

/// As a sealed file that is made at once.
#[test]
fn who_may_read_the_target_is_kept() {
    let files = Files::new(1000);
    let target = files.path("sealed");
    fs::write(&target, "private").unwrap();
    for mode in [0o600, 0o400] {
        fs::set_permissions(&target, Permissions::from_mode(mode)).unwrap();
        let job = files.job();
        assert!(!job.is_created(&target));
        job.create(&target).unwrap();
        assert!(job.is_created(&target));
        (0..job.parts()).for_each(|part| files.seal(&job, part).unwrap());
        job.commit(&target).unwrap();
        assert!(!job.is_created(&target));
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, mode);
    }
}

/// A sealed file takes the place of a file, and a job that cannot begin leaves nothing.
#[test]
fn a_job_for_what_is_no_file_does_not_begin() {
    let files = Files::new(1000);
    let (job, target) = (files.job(), files.path("sealed"));
    fs::create_dir(&target).unwrap();
    let refused = |result: Result<(), Error>| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("it is not a regular file"), "{error}");
    };
    refused(job.create(&target));
    assert_eq!(fs::read_dir(files.folder.path()).unwrap().count(), 2);
    fs::remove_dir(&target).unwrap();
    job.create(&target).unwrap();
    (0..job.parts()).for_each(|part| files.seal(&job, part).unwrap());
    UnixListener::bind(&target).unwrap();
    refused(job.commit(&target));
    fs::remove_file(&target).unwrap();
    job.commit(&target).unwrap();

    let job = files.job();
    fs::remove_file(&target).unwrap();
    job.create(&target).unwrap();
    let output = files.output();
    job.discard(&target).unwrap();
    fs::write(&output, "somebody's").unwrap();
    assert!(matches!(job.create(&target), Err(Error::Io { .. })));
    let mut left: Vec<_> =
        fs::read_dir(files.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    left.retain(|path| *path != files.path("plain"));
    assert_eq!(left, [output]);
}

/// A call that was killed may have removed the receipts.
#[test]
fn what_is_left_of_a_job_can_be_discarded() {
    let files = Files::new(1000);
    let (job, sealed) = (files.job(), files.path("sealed"));
    let left = || fs::read_dir(files.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    job.create(&sealed).unwrap();
    let receipts = left().find(|path| path.is_dir()).unwrap();
    fs::remove_dir_all(&receipts).unwrap();
    fs::write(&receipts, "no folder").unwrap();
    let error = job.discard(&sealed).unwrap_err();
    assert!(matches!(error, Error::Io { .. }) && left().count() == 3, "{error}");
    fs::remove_file(&receipts).unwrap();
    job.discard(&sealed).unwrap();
    assert_eq!(left().collect::<Vec<_>>(), [files.path("plain")]);
    let error = job.discard(&sealed).unwrap_err();
    let is_gone = |source: &io::Error| source.kind() == io::ErrorKind::NotFound;
    assert!(matches!(&error, Error::Io { source, .. } if is_gone(source)), "{error}");
}

/// A file that was written a moment ago could be written again within the tick of the clock.
#[test]
fn a_job_waits_until_another_change_would_show() {
    let files = Files::new(5000);
    for _ in 0..3 {
        fs::write(files.path("plain"), text(5000)).unwrap();
        let job = files.job();
        fs::write(files.path("plain"), text(5000)).unwrap();
        let now = SealingJob::of_file(&files.keyset, &files.path("plain"), b"", 1000).unwrap();
        assert_ne!(job.source(), now.source());
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_job_that_is_none_is_refused() {
    let files = Files::new(5000);
    let text = files.job().to_json().unwrap();
    let changes = [
        ("lanecrypt-job-1", "lanecrypt-job-2"),
        ("\"segmentsPerPart\": 5", "\"segmentsPerPart\": 0"),
        ("\"segmentBytes\": 200", "\"segmentBytes\": 20"),
        // No more than the header and the tag.
        ("\"segmentBytes\": 200", "\"segmentBytes\": 56"),
        ("\"size\": 5000", "\"size\": 18446744073709551615"),
        ("\"header\": \"", "\"header\": \"*"),
    ];
    for (from, to) in changes {
        assert!(text.contains(from), "{from} is not in {text}");
        let error = SealingJob::from_json(&text.replace(from, to)).unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{to}: {error}");
    }
    assert!(matches!(SealingJob::from_json("{"), Err(Error::Json { .. })));
    let job =
        SealingJob::from_json(&text.replace("\"segmentBytes\": 200", "\"segmentBytes\": 300"));
    job.as_ref().unwrap().create(&files.path("sealed")).unwrap();
    let error = files.seal(&job.unwrap(), 0).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }));
    let stranger = Keyset::generate(*files.keyset.primary().unwrap().parameters()).unwrap();
    let source = File::open(files.path("plain")).unwrap();
    let error = files.job().seal_part(&stranger, 0, &source, &source, Options::default());
    assert!(matches!(error, Err(Error::NoSuchKey { .. })));
}
