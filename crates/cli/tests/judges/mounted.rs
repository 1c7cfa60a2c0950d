//! `lanecrypt mount`: sealed files as plain ones.

use std::{
    fs::{self, File, Permissions},
    io::{ErrorKind, Read},
    os::unix::fs::{FileExt, PermissionsExt},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant, UNIX_EPOCH},
};

use libtest_mimic::Failed;

use crate::{
    command::{Outcome, ensure, lanecrypt, names, noise, text},
    sealed::Desk,
};

/// What is mounted, until it is dropped.
struct Mounted(Child);

impl Mounted {
    fn new(desk: &Desk, sealed: &Path, folder: &Path) -> Result<Self, Failed> {
        fs::create_dir_all(folder)?;
        let mount = ["mount", "--keyset", &desk.keys, text(sealed), text(folder)];
        let complaints = File::create(desk.path("complaints"))?;
        let mut mounted = Self(lanecrypt(&mount).stderr(complaints).spawn()?);
        let started = Instant::now();
        while fs::read_dir(folder)?.next().is_none() {
            ensure(mounted.0.try_wait()?.is_none(), "it ended")?;
            ensure(started.elapsed() < Duration::from_secs(20), "nothing is mounted")?;
            thread::sleep(Duration::from_millis(20));
        }
        Ok(mounted)
    }

    /// Waits until it has no file of this folder open.
    fn closes(&self, folder: &Path) -> Outcome {
        let descriptors = format!("/proc/{}/fd", self.0.id());
        let started = Instant::now();
        loop {
            let targets =
                fs::read_dir(&descriptors)?.flatten().flat_map(|it| it.path().read_link());
            let open: Vec<_> = targets.filter(|target| target.starts_with(folder)).collect();
            if open.is_empty() {
                return Ok(());
            }
            ensure(started.elapsed() < Duration::from_secs(20), format!("still open: {open:?}"))?;
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Interrupts it, waits for its end, and sees that nothing is mounted at this folder.
    fn end(mut self, folder: &Path) -> Outcome {
        Command::new("kill").args(["-INT", &self.0.id().to_string()]).status()?;
        let code = self.0.wait()?.code();
        ensure(code == Some(130), format!("exit code {code:?}"))?;
        ensure(fs::read_dir(folder)?.next().is_none(), "it is mounted still")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Of a test that failed.
        if let Ok(None) = self.0.try_wait() {
            Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status().ok();
            self.0.wait().ok();
        }
    }
}

pub(crate) fn plain_files() -> Outcome {
    let desk = Desk::new(&[])?;
    let [plain, sealed, mounted] = ["plain", "sealed", "mounted"].map(|name| desk.path(name));
    fs::create_dir_all(sealed.join("a folder"))?;
    let files = [("empty", 0), ("short", 5), ("a folder/long", 20_000_000)];
    for (name, length) in files {
        fs::write(&plain, noise(length))?;
        desk.run("seal", &[text(&plain), text(&sealed.join(name))], b"")?;
    }
    let cut = fs::read(sealed.join("a folder/long"))?;
    fs::write(sealed.join("cut"), &cut[..5_000_000])?;
    let mut changed = cut;
    changed[3_000_000] ^= 1;
    fs::write(sealed.join("changed"), changed)?;

    // Before and after the year from which times count.
    let times = ["empty", "short"].into_iter().zip([
        UNIX_EPOCH - Duration::from_secs(300_000_000),
        UNIX_EPOCH + Duration::from_secs(1_000_000_000),
    ]);
    for (name, time) in times.clone() {
        File::options().write(true).open(sealed.join(name))?.set_modified(time)?;
        fs::set_permissions(sealed.join(name), Permissions::from_mode(0o640))?;
    }

    let server = Mounted::new(&desk, &sealed, &mounted)?;
    for folder in ["", "a folder"] {
        let [shown, there] = [names(&mounted.join(folder))?, names(&sealed.join(folder))?];
        ensure(shown == there, format!("{folder:?}: {shown:?} of {there:?}"))?;
    }
    for (name, time) in times {
        let about = fs::metadata(mounted.join(name))?;
        ensure(about.modified()? == time, format!("{name}: {:?}", about.modified()))?;
        let mode = about.permissions().mode();
        ensure(mode & 0o777 == 0o440, format!("{name}: permissions {mode:o}"))?;
    }
    for (name, length) in files {
        let found = fs::read(mounted.join(name))?;
        ensure(found == noise(length), format!("{name}: other bytes"))?;
        let bytes = fs::metadata(mounted.join(name))?.len();
        ensure(bytes == length as u64, format!("{name}: {bytes} bytes"))?;
    }
    ranges(&mounted.join("a folder/long"), &noise(20_000_000))?;
    // What is authentic can be read, what is not cannot, and of a file that was cut off nothing.
    let mut file = File::open(mounted.join("changed"))?;
    file.read_exact(&mut vec![0; 1 << 20])?;
    ensure(file.read_to_end(&mut Vec::new()).is_err(), "what was changed is read")?;
    ensure(File::open(mounted.join("cut")).is_err(), "what was cut off is opened")?;
    let complaints = fs::read_to_string(desk.path("complaints"))?;
    for name in ["changed", "cut"] {
        let is_named = complaints.contains(&format!("{name}: "));
        ensure(is_named, format!("{name} is not named: {complaints}"))?;
    }
    let written = fs::write(mounted.join("new"), b"x").map_err(|error| error.kind());
    ensure(written == Err(ErrorKind::ReadOnlyFilesystem), format!("written: {written:?}"))?;
    drop(file);
    server.closes(&sealed)?;
    server.end(&mounted)?;

    // One file alone.
    let server = Mounted::new(&desk, &sealed.join("short"), &mounted)?;
    ensure(fs::read(mounted.join("short"))? == noise(5), "one file")?;
    ensure(names(&mounted)? == ["short"], "one name")?;
    let other = File::open(mounted.join("other")).map_err(|error| error.kind()).map(drop);
    ensure(other == Err(ErrorKind::NotFound), format!("{other:?}"))?;
    // The folder that it is alone in can be looked through.
    let mode = fs::metadata(&mounted)?.permissions().mode();
    ensure(mode & 0o777 == 0o540, format!("permissions {mode:o}"))?;
    // The folder is taken away at once from whoever has a file in it open.
    let held = File::open(mounted.join("short"))?;
    server.end(&mounted)?;
    drop(held);
    Ok(())
}

/// A mount point at, in or above what is sealed would ask the file system for what the file system waits for. One that is
/// a file would hide it.
pub(crate) fn lies_apart() -> Outcome {
    let desk = Desk::new(&[])?;
    let [folder, inner, file] =
        ["folder", "folder/inner", "folder/file"].map(|name| desk.path(name));
    fs::create_dir_all(&inner)?;
    fs::write(&file, "no sealed file")?;
    let link = desk.path("link");
    std::os::unix::fs::symlink("folder", &link)?;
    let pairs = [
        (&folder, &folder),
        (&folder, &link),
        (&folder, &inner),
        (&inner, &folder),
        (&file, &folder),
        (&inner, &file),
    ];
    for (sealed, at) in pairs {
        let mount = ["mount", "--keyset", &desk.keys, text(sealed), text(at)];
        let mut child = lanecrypt(&mount).stderr(Stdio::piped()).spawn()?;
        let started = Instant::now();
        while child.try_wait()?.is_none() {
            if started.elapsed() > Duration::from_secs(10) {
                Command::new("kill").arg(child.id().to_string()).status()?;
                child.wait()?;
                return Err(format!("{mount:?}: it is mounted").into());
            }
            thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output()?;
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_right = output.status.code() == Some(2) && complaint.contains("mount point");
        ensure(is_right, format!("{mount:?}: {}: {complaint}", output.status))?;
    }
    Ok(())
}

/// Any place, in any order, by several threads.
fn ranges(path: &Path, expected: &[u8]) -> Outcome {
    let file = File::open(path)?;
    let wrong = thread::scope(|scope| {
        let readers = [1_usize, 77_777, 1_048_575].map(|step| {
            let file = &file;
            scope.spawn(move || {
                (0..40_usize).find(|i| {
                    let at = i * step * 7919 % (expected.len() - 70_000);
                    let mut found = vec![0; 1 + i * 1723];
                    let read = file.read_exact_at(&mut found, at as u64);
                    read.is_err() || found != expected[at..at + found.len()]
                })
            })
        });
        readers.into_iter().filter_map(|reader| reader.join().unwrap_or(Some(0))).count()
    });
    ensure(wrong == 0, format!("{wrong} of three readers read other bytes"))
}
