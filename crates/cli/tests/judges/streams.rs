//! What is read and written: nothing is lost unseen, nothing is taken for what it is not.

use std::{
    ffi::OsStr,
    fs::{self, File, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::Path,
    process::{Command, Stdio},
};

use libtest_mimic::Failed;

use crate::{
    command::{Outcome, ensure, failure, fed, lanecrypt, names, noise, printed, text},
    sealed::Desk,
};

/// What is written at the end of a command fails there, too: a full disk and a closed pipe end it with exit code 1.
pub(crate) fn lost_output_is_a_failure() -> Outcome {
    let desk = Desk::new(&[])?;
    let key = desk.file("key", b"00112233445566778899aabbccddeeff")?;
    let plain = desk.file("plain", &[0; 1000])?;
    let [sealed, job, target] = ["sealed", "job", "target"].map(|name| desk.path(name));
    desk.run("seal", &[&plain, text(&sealed)], b"")?;
    let new = ["job", "new", "--keyset", &desk.keys, &plain, text(&target)];
    fs::write(&job, printed(&mut lanecrypt(&new), b"")?)?;
    let files = names(desk.folder())?;
    let iv = "000102030405060708090a0b0c0d0e0f";
    let other = desk.path("other");
    let commands: [&[&str]; 10] = [
        &["open", "--keyset", &desk.keys, "--range", "0..900", text(&sealed), "-"],
        &["raw", "gcm", "--cipher", "aes-128", "--key-file", &key, "--iv", iv, &plain, "-"],
        &["keyset", "new", "-"],
        &["keyset", "show", "--keyset", &desk.keys],
        &["keyset", "show", "--json", "--keyset", &desk.keys],
        &["job", "status", text(&job), text(&target)],
        &["job", "new", "--keyset", &desk.keys, &plain, text(&other)],
        &["ciphers"],
        &["devices"],
        &["completions", "bash"],
    ];
    for command in commands {
        let full = File::options().write(true).open("/dev/full")?;
        let status = ended(lanecrypt(command).stdout(full).stderr(Stdio::null()))?;
        ensure(status == Some(1), format!("{command:?} > /dev/full: exit code {status:?}"))?;
        // A pipe that is closed before anything is written.
        let mut child = lanecrypt(command).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        drop(child.stdout.take());
        let status = child.wait()?.code();
        // What is in the pipe before it is closed is not lost.
        let is_right = status == Some(1) || status == Some(0);
        ensure(is_right, format!("{command:?} to a closed pipe: exit code {status:?}"))?;
    }
    // What is told on standard error is lost alone: the exit code stays.
    let full = File::options().write(true).open("/dev/full")?;
    let status = ended(lanecrypt(&["keyset", "new", &desk.keys]).stderr(full))?;
    ensure(status == Some(2), format!("2> /dev/full: exit code {status:?}"))?;
    // A job that could not be told leaves no files, but that of a pipe that took it.
    let left = names(desk.folder())?;
    let left: Vec<_> = left.into_iter().filter(|name| !name.starts_with(".other")).collect();
    ensure(left == files, format!("left: {left:?}"))
}

fn ended(command: &mut Command) -> Result<Option<i32>, Failed> {
    Ok(command.stdin(Stdio::null()).status()?.code())
}

/// What standard input is read as once, nothing else can be: it would be empty.
pub(crate) fn standard_input_is_one_thing() -> Outcome {
    let desk = Desk::new(&[])?;
    let keyset = fs::read(&desk.keys)?;
    let key = b"00112233445566778899aabbccddeeff";
    let raw = ["raw", "ecb", "--cipher", "aes-128"];
    let cases: [(&[&str], &[u8]); 4] = [
        (&["seal", "--keyset", "-", "-", "-"], &keyset),
        (&["open", "--keyset", "-", "-", "-"], &keyset),
        (&[&raw[..], &["--key-file", "-"]].concat(), key),
        (&[&raw[..], &["--passphrase=-"]].concat(), b"a passphrase"),
    ];
    for (command, input) in cases {
        let output = fed(&mut lanecrypt(command), input)?;
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_refused = output.status.code() == Some(2) && complaint.contains("standard input");
        ensure(is_refused, format!("{command:?}: {}: {complaint}", output.status))?;
    }
    Ok(())
}

/// A pipe and a device have no length, so that they would seem to be cut off.
pub(crate) fn ranges_are_of_files() -> Outcome {
    let desk = Desk::new(&[])?;
    let mounted = desk.path("mounted");
    fs::create_dir(&mounted)?;
    let (code, complaint) = failure(
        &mut lanecrypt(&["open", "--keyset", &desk.keys, "--range", "0..1", "/dev/zero", "-"]),
        b"",
    )?;
    let is_right = code == 1 && complaint.contains("not a regular file");
    ensure(is_right, format!("open --range: exit code {code}: {complaint}"))?;
    let mount = ["mount", "--keyset", &desk.keys, "/dev/zero", text(&mounted)];
    let (code, complaint) = failure(&mut lanecrypt(&mount), b"")?;
    let is_right = code == 2 && complaint.contains("/dev/zero");
    ensure(is_right, format!("mount: exit code {code}: {complaint}"))
}

/// Names as long as a file system takes.
pub(crate) fn long_names() -> Outcome {
    let desk = Desk::new(&[])?;
    let plain = desk.file("plain", &noise(100))?;
    for name in ["x".repeat(240), "x".repeat(255), "ü".repeat(127)] {
        let output = desk.path(&name);
        desk.run("seal", &[&plain, text(&output)], b"")?;
        let opened = desk.run("open", &[text(&output), "-"], b"")?;
        ensure(opened == noise(100), format!("{name}: other bytes"))?;
        fs::remove_file(&output)?;
        let new = ["job", "new", "--keyset", &desk.keys, &plain, text(&output)];
        let job = desk.file("job", &printed(&mut lanecrypt(&new), b"")?)?;
        desk.run("seal", &["--job", &job, "--part", "1/1", &plain, text(&output)], b"")?;
        printed(&mut lanecrypt(&["job", "commit", &job, text(&output)]), b"")?;
        ensure(desk.run("open", &[text(&output), "-"], b"")? == noise(100), "a job's bytes")?;
    }
    let longer = desk.path(&"x".repeat(256));
    let (code, complaint) = failure(&mut lanecrypt(&["keyset", "new", text(&longer)]), b"")?;
    ensure(code == 1, format!("a name that is too long: exit code {code}: {complaint}"))
}

/// What is there and is no file is written to. It cannot be replaced.
pub(crate) fn pipes_with_names() -> Outcome {
    let desk = Desk::new(&[])?;
    let plain = desk.file("plain", &noise(100))?;
    let sealed = desk.run("seal", &[&plain, "/dev/stdout"], b"")?;
    let opened = desk.run("open", &["/dev/stdin", "/dev/stdout"], &sealed)?;
    ensure(opened == noise(100), "through pipes that have names")
}

/// A command as part of a script, which has it as `"$0" "$@"`.
fn in_shell(script: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(command.get_program()).args(command.get_args());
    shell
}

/// What is open is written at its place, between what others write there. Its name is not looked for: it may be gone.
pub(crate) fn descriptors_are_no_names() -> Outcome {
    if !cfg!(target_os = "linux") {
        println!("descriptors: only Linux shows them as links");
        return Ok(());
    }
    let desk = Desk::new(&[])?;
    let plain = desk.file("plain", &noise(100))?;
    let all = desk.path("all");
    let seal = |output| lanecrypt(&["seal", "--keyset", &desk.keys, &plain, output]);
    for output in ["-", "/dev/stdout", "/dev/fd/1", "/proc/thread-self/fd/1", "/dev/fd/3"] {
        let script = "(echo first; \"$0\" \"$@\" 3>&1; echo last) > \"$ALL\"";
        printed(in_shell(script, &seal(output)).env("ALL", &all), b"")?;
        let written = fs::read(&all)?;
        let sealed = written.strip_prefix(b"first\n").and_then(|rest| rest.strip_suffix(b"last\n"));
        let sealed = sealed.ok_or(format!("{output}: what others wrote is lost"))?;
        ensure(desk.run("open", &["-", "-"], sealed)? == noise(100), output)?;
    }
    let script = "exec 3> \"$ALL\"; rm \"$ALL\"; \"$0\" \"$@\"";
    printed(in_shell(script, &seal("/dev/fd/3")).env("ALL", &all), b"")?;
    let left = names(desk.folder())?;
    ensure(left == ["keys", "plain"], format!("a file without a name: {left:?}"))?;
    // A keyset is changed under its name alone.
    let before = fs::read(&desk.keys)?;
    let script = "exec \"$0\" \"$@\" 3< \"$KEYS\"";
    let add = lanecrypt(&["keyset", "add", "--keyset", "/dev/fd/3"]);
    let (code, complaint) = failure(in_shell(script, &add).env("KEYS", &desk.keys), b"")?;
    let is_right = code == 1 && complaint.contains("an open descriptor");
    ensure(is_right, format!("keyset add: exit code {code}: {complaint}"))?;
    ensure(fs::read(&desk.keys)? == before, "the keyset changed")
}

/// A stream that was closed is no empty input, and no place for a job or a keyset. The null device is both, where it is
/// named.
pub(crate) fn closed_streams_are_failures() -> Outcome {
    let desk = Desk::new(&[])?;
    let plain = desk.file("plain", &noise(100))?;
    let output = desk.file("output", b"what was there")?;
    let target = desk.path("target");
    let seal = ["seal", "--keyset", &desk.keys];
    let from_input = [&seal[..], &["-", &output]].concat();
    let to_output = [&seal[..], &[&plain]].concat();
    let job = ["job", "new", "--keyset", &desk.keys, &plain, text(&target)];
    let keyset = ["keyset", "new"];
    let cases: [(&[&str], &str, &str); 3] = [
        (&from_input, "<&-", "standard input was closed"),
        (&job, ">&-", "standard output was closed"),
        (&keyset, ">&-", "standard output was closed"),
    ];
    for (command, closed, named) in cases {
        let script = format!("exec \"$0\" \"$@\" {closed}");
        let (code, complaint) = failure(&mut in_shell(&script, &lanecrypt(command)), b"")?;
        let is_right = code == 1 && complaint.contains(named);
        ensure(is_right, format!("{command:?} {closed}: exit code {code}: {complaint}"))?;
        ensure(fs::read(&output)? == b"what was there", format!("{command:?} {closed}: replaced"))?;
        let left = names(desk.folder())?;
        ensure(left == ["keys", "output", "plain"], format!("{command:?} {closed}: {left:?}"))?;
    }
    for (command, null) in [(&from_input, "< /dev/null"), (&to_output, "> /dev/null")] {
        let script = format!("exec \"$0\" \"$@\" {null}");
        printed(&mut in_shell(&script, &lanecrypt(command)), b"")?;
    }
    ensure(desk.run("open", &[&output, "-"], b"")?.is_empty(), "of an empty input")
}

/// A link stays one, whatever writes through it, and also where its file is not there yet.
pub(crate) fn links_stay_links() -> Outcome {
    let desk = Desk::new(&[])?;
    let plain = desk.file("plain", &noise(100))?;
    fs::create_dir(desk.path("folder"))?;
    let [link, file] = ["link", "folder/file"].map(|name| desk.path(name));
    symlink("folder/file", &link)?;
    let check = |what: &str| {
        ensure(link.is_symlink() && fs::symlink_metadata(&file)?.is_file(), what)?;
        let opened = desk.run("open", &[text(&file), "-"], b"")?;
        ensure(opened == noise(100), format!("{what}: other bytes"))
    };
    desk.run("seal", &[&plain, text(&link)], b"")?;
    check("seal")?;
    fs::remove_file(&file)?;
    desk.run("seal", &["-", text(&link)], &noise(100))?;
    check("seal from a stream")?;
    for is_dangling in [false, true] {
        let new = ["job", "new", "--keyset", &desk.keys, &plain, text(&link)];
        let job = desk.file("job", &printed(&mut lanecrypt(&new), b"")?)?;
        desk.run("seal", &["--job", &job, "--part", "1/1", &plain, text(&link)], b"")?;
        if is_dangling {
            fs::remove_file(&file)?;
        }
        printed(&mut lanecrypt(&["job", "commit", &job, text(&link)]), b"")?;
        check("job commit")?;
        let status = printed(&mut lanecrypt(&["job", "status", &job, text(&link)]), b"")?;
        ensure(String::from_utf8_lossy(&status).contains("committed"), "the status of the job")?;
    }
    let left = names(&desk.path("folder"))?;
    ensure(left == ["file"], format!("{left:?} are left"))
}

/// As somebody who is not root: in a folder where one may write and not read, and over a file with setuid.
pub(crate) fn permissions() -> Outcome {
    let desk = Desk::new(&[])?;
    let plain = desk.file("plain", &noise(100))?;
    let [drop_box, output] = ["drop", "drop/output"].map(|name| desk.path(name));
    fs::create_dir(&drop_box)?;
    for (path, mode) in [(desk.folder(), 0o755), (Path::new(&desk.keys), 0o644), (&drop_box, 0o333)]
    {
        fs::set_permissions(path, Permissions::from_mode(mode))?;
    }
    let command = lanecrypt(&["seal", "--keyset", &desk.keys, &plain, text(&output)]);
    printed(&mut as_nobody(&command)?, b"")?;
    fs::set_permissions(&drop_box, Permissions::from_mode(0o755))?;
    ensure(desk.run("open", &[text(&output), "-"], b"")? == noise(100), "what is in the drop box")?;

    let opened = desk.path("opened");
    fs::write(&opened, "a program")?;
    fs::set_permissions(&opened, Permissions::from_mode(0o6755))?;
    desk.run("open", &[text(&output), text(&opened)], b"")?;
    let mode = fs::metadata(&opened)?.permissions().mode() & 0o7777;
    ensure(mode == 0o755, format!("setuid of other content: {mode:o}"))
}

/// A command without root's rights: root may read and write everything.
fn as_nobody(command: &Command) -> Result<Command, Failed> {
    let is_root = fs::metadata("/proc/self")?.uid() == 0;
    let mut other = if is_root {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
        setpriv.arg(command.get_program());
        setpriv
    } else {
        Command::new(command.get_program())
    };
    other.args(command.get_args().map(OsStr::to_owned));
    Ok(other)
}

pub(crate) fn threads_are_limited() -> Outcome {
    let desk = Desk::new(&[])?;
    let seal = ["seal", "--keyset", &desk.keys, "--threads", "100000", "-", "-"];
    let (code, complaint) = failure(&mut lanecrypt(&seal), b"text")?;
    let is_right = code == 2 && complaint.contains("--threads 100000");
    ensure(is_right, format!("exit code {code}: {complaint}"))?;
    desk.run("seal", &["--threads", "1024", "-", "-"], b"text").map(drop)
}
