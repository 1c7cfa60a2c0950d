//! Outputs: whole or not there, as private as before, sparse where asked, and beyond 4 GiB.

use std::{
    fs::{self, File, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{FileExt, MetadataExt, PermissionsExt},
    path::Path,
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use lanecrypt_tink::{
    Error, Keyset, Options, Output, Sealed, TEMPORARY, Template, job::SealingJob, open_file,
    open_regular, open_stream, seal_file, seal_stream,
};
use tempfile::TempDir;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn an_output_is_whole_or_not_there() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("target");
    let count = || fs::read_dir(folder.path()).unwrap().count();
    let output = Output::create(&target).unwrap();
    output.file().write_all(b"new").unwrap();
    assert_eq!((count(), target.exists()), (1, false));
    drop(output);
    assert_eq!(count(), 0);
    let output = Output::private(&target).unwrap();
    output.file().write_all(b"new").unwrap();
    output.commit().unwrap();
    assert_eq!((count(), fs::read(&target).unwrap()), (1, b"new".to_vec()));
    assert_eq!(mode(&target), 0o600);
    let error = Output::create(&folder.path().join("no folder").join("target")).unwrap_err();
    assert!(error.to_string().contains("no folder") && !error.to_string().contains(TEMPORARY));
    assert!(matches!(error, Error::Io { source, .. } if source.raw_os_error() == Some(2)));
}

/// The longest name is no hindrance: what is written has a shorter one until it is complete.
#[test]
fn a_name_that_is_too_long_is_refused_at_once() {
    let folder = TempDir::new().unwrap();
    let longest = folder.path().join("n".repeat(255));
    Output::create(&longest).unwrap().commit().unwrap();
    assert!(longest.exists());
    let error = Output::create(&folder.path().join("n".repeat(256))).unwrap_err();
    assert!(error.to_string().starts_with("cannot replace "), "{error}");
}

/// An input that ends because of what cancels.
struct CutOff<'a>(&'a AtomicBool);
impl Read for CutOff<'_> {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.store(true, Ordering::SeqCst);
        Ok(0)
    }
}

/// Cancelling while the last bytes are at work, or by what ends the input, gives no output.
#[test]
fn a_cancelled_output_does_not_appear() {
    let folder = TempDir::new().unwrap();
    let [plain, sealed, target] =
        ["plain", "sealed", "target"].map(|name| folder.path().join(name));
    fs::write(&plain, vec![7; 3 << 20]).unwrap();
    let keyset = Keyset::generate(Template::default().parameters()).unwrap();
    seal_file(&keyset, &plain, &sealed, Options::default()).unwrap();
    fs::write(&target, b"old").unwrap();
    let cancel = AtomicBool::new(false);
    let left = AtomicU64::new(3 << 20);
    let progress = |bytes| {
        if left.fetch_sub(bytes, Ordering::SeqCst) == bytes {
            cancel.store(true, Ordering::SeqCst);
        }
    };
    let options = Options { cancel: &cancel, progress: &progress, ..Options::default() };
    let check = |result: Result<u64, Error>| {
        assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
        assert!(cancel.swap(false, Ordering::SeqCst), "it was cancelled at the end");
        left.store(3 << 20, Ordering::SeqCst);
        assert_eq!(fs::read(&target).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    };
    check(seal_file(&keyset, &plain, &target, options));
    check(open_file(&keyset, &sealed, &target, options));
    check(seal_stream(&keyset, File::open(&plain).unwrap(), Vec::new(), options));
    let mut written = Vec::new();
    let sealed_it = seal_stream(&keyset, CutOff(&cancel), &mut written, options);
    check(sealed_it);
    let opened = open_stream(&keyset, &written[..], Vec::new(), Options::default());
    assert!(opened.unwrap_err().is_not_authentic(), "a cut-off input was sealed as a whole one");
}

#[test]
fn what_only_its_owner_could_read_stays_so() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("target");
    for kept in [0o600, 0o640, 0o666, 0o444] {
        fs::write(&target, b"old").unwrap();
        fs::set_permissions(&target, Permissions::from_mode(kept)).unwrap();
        Output::create(&target).unwrap().commit().unwrap();
        assert_eq!(mode(&target), kept, "{kept:o}");
        fs::remove_file(&target).unwrap();
    }
    // Bits that are no permissions were given to other content.
    fs::write(&target, b"old").unwrap();
    fs::set_permissions(&target, Permissions::from_mode(0o6755)).unwrap();
    Output::create(&target).unwrap().commit().unwrap();
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o7777, 0o755);
    fs::remove_file(&target).unwrap();
    // An owner and a group that the process may give files to keep them.
    let (owner, group) = (12_344, 12_345);
    fs::write(&target, b"old").unwrap();
    match std::os::unix::fs::chown(&target, Some(owner), Some(group)) {
        Ok(()) => {
            fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
            Output::create(&target).unwrap().commit().unwrap();
            let kept = fs::metadata(&target).unwrap();
            assert_eq!((kept.uid(), kept.gid(), mode(&target)), (owner, group, 0o640));
        }
        Err(error) => {
            eprintln!("owners cannot be tried, since only root gives files away: {error}");
        }
    }
    fs::remove_file(&target).unwrap();
    // As any new file.
    Output::create(&target).unwrap().commit().unwrap();
    File::create(folder.path().join("plain")).unwrap();
    assert_eq!(mode(&target), mode(&folder.path().join("plain")));
}

/// What Linux hands out as an access list: the owner writes, a user with a name reads, the group and others do nothing.
#[cfg(target_os = "linux")]
fn access_list() -> Vec<u8> {
    const NOBODY: u32 = u32::MAX;
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, NOBODY), (2, 4, 12_345), (4, 0, NOBODY), (0x10, 4, NOBODY), (0x20, 0, NOBODY)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        list.extend(tag.to_le_bytes());
        list.extend(permissions.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    list
}

/// Beside a list, the bits of the group are the most that the list gives, and the group itself may do nothing here.
#[cfg(target_os = "linux")]
#[test]
fn whom_an_access_list_shuts_out_stays_out() {
    use rustix::{
        fs::{XattrFlags, getxattr, setxattr},
        io::Errno,
    };
    const LIST: &str = "system.posix_acl_access";
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("target");
    let list_of = |path: &Path| {
        let mut list = [0_u8; 100];
        getxattr(path, LIST, &mut list[..]).map(|bytes| list[..bytes].to_vec())
    };
    fs::write(&target, b"old").unwrap();
    if let Err(error) = setxattr(&target, LIST, &access_list(), XattrFlags::empty()) {
        eprintln!("access lists cannot be tried, since the file system has none: {error}");
        return;
    }
    Output::create(&target).unwrap().commit().unwrap();
    assert_eq!((list_of(&target), mode(&target)), (Ok(access_list()), 0o640));

    // A new file gets the list of its folder, and one that takes an old one's place does not.
    fs::remove_file(&target).unwrap();
    fs::write(&target, b"old").unwrap();
    fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
    let default = "system.posix_acl_default";
    setxattr(folder.path(), default, &access_list(), XattrFlags::empty()).unwrap();
    Output::create(&target).unwrap().commit().unwrap();
    assert_eq!((list_of(&target), mode(&target)), (Err(Errno::NODATA), 0o640));
}

/// Nothing could be put there when all work is done.
#[test]
fn a_path_without_a_name_at_its_end_is_refused_at_once() {
    let folder = TempDir::new().unwrap();
    let keyset = Keyset::generate(Template::default().parameters()).unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, b"text").unwrap();
    std::os::unix::fs::symlink("folder/", folder.path().join("link")).unwrap();
    let job = SealingJob::of_file(&keyset, &plain, b"", 1 << 20).unwrap();
    for name in ["folder/", "folder/.", "folder/..", "link"] {
        let target = folder.path().join(name);
        let refused = |result: Result<(), Error>| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("does not end in the name of a file"), "{name}: {error}");
        };
        refused(Output::create(&target).map(drop));
        refused(job.create(&target));
        if name != "link" {
            refused(Output::private(&target).map(drop));
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// A name that the system shows for it may be that of another file, or of none.
#[cfg(target_os = "linux")]
#[test]
fn a_descriptor_is_no_target() {
    use std::os::fd::AsRawFd;
    let folder = TempDir::new().unwrap();
    let [target, link] = ["target", "link"].map(|name| folder.path().join(name));
    fs::write(&target, b"old").unwrap();
    let file = File::open(&target).unwrap();
    let number = file.as_raw_fd();
    std::os::unix::fs::symlink(format!("/dev/fd/{number}"), &link).unwrap();
    let paths = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];
    let paths = paths.map(|folder| Path::new(folder).join(number.to_string()));
    for path in paths.into_iter().chain([link]) {
        assert!(Output::descriptor(&path).is_some(), "{}", path.display());
        let error = Output::create(&path).unwrap_err().to_string();
        assert!(error.contains("an open descriptor"), "{}: {error}", path.display());
    }
    for path in [target.as_path(), &folder.path().join("none"), Path::new("/dev/null")] {
        assert_eq!(Output::descriptor(path), None, "{}", path.display());
    }
    assert_eq!(fs::read(&target).unwrap(), b"old");
}

/// For a process that is ended while it works.
#[test]
fn the_caller_is_told_of_the_temporary_file() {
    let folder = TempDir::new().unwrap();
    let [plain, sealed, opened] =
        ["plain", "sealed", "opened"].map(|name| folder.path().join(name));
    fs::write(&plain, b"text").unwrap();
    let keyset = Keyset::generate(Template::default().parameters()).unwrap();
    let told = Mutex::new(Vec::new());
    let tell = |path: &Path| {
        assert!(path.exists() && path.parent() == Some(folder.path()), "{}", path.display());
        told.lock().unwrap().push(path.to_owned());
    };
    let options = Options { temporary: &tell, ..Options::default() };
    seal_file(&keyset, &plain, &sealed, options).unwrap();
    open_file(&keyset, &sealed, &opened, options).unwrap();
    let told = told.into_inner().unwrap();
    assert_eq!(told.len(), 2);
    for path in told {
        assert!(path.to_string_lossy().ends_with(TEMPORARY) && !path.exists());
    }
}

#[test]
fn zeros_are_holes_where_asked() {
    const BYTES: u64 = (9 << 20) + 12_345;
    let folder = TempDir::new().unwrap();
    let [plain, sealed, opened] =
        ["plain", "sealed", "opened"].map(|name| folder.path().join(name));
    let keyset = Keyset::generate(Template::default().parameters()).unwrap();
    let file = File::create(&plain).unwrap();
    file.set_len(BYTES).unwrap();
    for at in [0, (1 << 20) + 4095, 5 << 20, BYTES - 3] {
        file.write_all_at(b"abc", at).unwrap();
    }
    seal_file(&keyset, &plain, &sealed, Options::default()).unwrap();
    let disk_bytes = |path: &Path| fs::metadata(path).unwrap().blocks() * 512;
    assert!(disk_bytes(&sealed) >= BYTES);
    for sparse in [false, true] {
        let options = Options { sparse, ..Options::default() };
        open_file(&keyset, &sealed, &opened, options).unwrap();
        assert!(fs::read(&opened).unwrap() == fs::read(&plain).unwrap());
        assert_eq!(disk_bytes(&opened) < 1 << 20, sparse);
    }
}

/// Parts of a job round 4 GiB, in files that are nearly all holes.
#[test]
fn beyond_four_gigabytes() {
    const BYTES: u64 = (6 << 30) + 99;
    let folder = TempDir::new().unwrap();
    let [plain, sealed] = ["plain", "sealed"].map(|name| folder.path().join(name));
    let keyset = Keyset::generate(Template::default().parameters()).unwrap();
    let file = File::create(&plain).unwrap();
    file.set_len(BYTES).unwrap();
    file.write_all_at(b"where 32 bits end", (4 << 30) - 7).unwrap();
    file.write_all_at(b"at the end", BYTES - 10).unwrap();
    let job = SealingJob::of_file(&keyset, &plain, b"", 2 << 20).unwrap();
    let (source, output) = (File::open(&plain).unwrap(), File::create(&sealed).unwrap());
    output.set_len(job.sealed_bytes()).unwrap();
    // Two segments per part: the middle one has 4096 and 4097, where the plaintext passes 4 GiB.
    let middle = (4 << 30) / (2 << 20);
    for part in [0, middle, job.parts() - 1] {
        job.seal_part(&keyset, part, &source, &output, Options::default()).unwrap();
    }
    let sealed = Sealed::open(File::open(&sealed).unwrap(), &keyset, b"").unwrap();
    assert_eq!(sealed.plaintext_bytes(), BYTES);
    let mut text = [0; 19];
    sealed.read_exact_at(&mut text, (4 << 30) - 8).unwrap();
    assert_eq!(&text, b"\0where 32 bits end\0");
    sealed.read_exact_at(&mut text[..10], BYTES - 10).unwrap();
    assert_eq!(&text[..10], b"at the end");
    // What was never sealed is not authentic.
    let error = sealed.read_exact_at(&mut text, 2 << 30).unwrap_err();
    assert!(matches!(error, Error::NotAuthentic { segment: 2048 }), "{error}");
}

/// A pipe, a device and a folder have no length, and a file of /proc tells none.
#[test]
fn what_is_no_file_is_neither_read_nor_replaced() {
    let folder = TempDir::new().unwrap();
    let [plain, target, link] = ["plain", "target", "link"].map(|name| folder.path().join(name));
    let keyset = Keyset::generate(Template::default().parameters()).unwrap();
    for source in [Path::new("/dev/zero"), folder.path()] {
        let error = seal_file(&keyset, source, &target, Options::default()).unwrap_err();
        assert!(error.to_string().contains("regular file"), "{error}");
    }
    let proc = Path::new("/proc/self/status");
    let error = seal_file(&keyset, proc, &target, Options::default()).unwrap_err();
    assert!(matches!(error, Error::SourceChanged { .. }), "{error}");
    fs::write(&plain, b"text").unwrap();
    for target in [Path::new("/dev/null"), folder.path()] {
        let error = seal_file(&keyset, &plain, target, Options::default()).unwrap_err();
        assert!(error.to_string().contains("regular file"), "{error}");
    }
    fs::write(&target, b"old").unwrap();
    std::os::unix::fs::symlink("target", &link).unwrap();
    seal_file(&keyset, &plain, &link, Options::default()).unwrap();
    assert!(link.is_symlink() && fs::read(&target).unwrap() != b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

/// Even if no process writes to it.
#[test]
fn a_pipe_is_refused_at_once() {
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (sender, refused) = mpsc::channel();
    thread::spawn(move || sender.send(open_regular(&pipe).unwrap_err().to_string()));
    let error = refused.recv_timeout(Duration::from_secs(30)).expect("it is not waited for");
    assert!(error.contains("regular file"), "{error}");
}
