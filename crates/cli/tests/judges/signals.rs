//! Signals: a pipeline that Ctrl-C ends replaces nothing, and ignored signals stay ignored.

use std::{
    env,
    fs::{self, File},
    io::Write,
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    command::{Outcome, ensure, lanecrypt, names, noise, printed, text},
    sealed::Desk,
};

/// Starts this program once more where SIGINT is ignored, as in the background of a script: what it starts would
/// never end.
pub(crate) fn unignored() {
    const SIGINT: u64 = 1 << 1;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    if ignored.is_some_and(|mask| mask & SIGINT != 0) {
        let mut again = Command::new("env");
        again.arg("--default-signal=INT").args(env::args_os());
        panic!("SIGINT is ignored, and stays so: {}", again.exec());
    }
}

/// Waits until a command has begun its output, a file beside the others of the folder.
pub(crate) fn wait_for_files(folder: &Path, count: usize) -> Outcome {
    let started = Instant::now();
    while names(folder)?.len() < count {
        ensure(started.elapsed() < Duration::from_secs(20), "it does not begin")?;
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

pub(crate) fn send(signal: &str, to: &str) -> Outcome {
    let status = Command::new("kill").args([signal, "--", to]).status()?;
    ensure(status.success(), format!("kill {signal} {to}: {status}"))
}

/// As a terminal does it: all processes of a pipeline get SIGINT, and the first of them ends before the second
/// knows. In each round the end of the input must not pass for its true end.
pub(crate) fn ctrl_c_on_a_pipeline_replaces_nothing() -> Outcome {
    const ROUNDS: usize = 25;
    let desk = Desk::new(&[])?;
    let key = desk.file("key", b"00112233445566778899aabbccddeeff")?;
    let output = desk.file("output", b"the old backup")?;
    let sealed = desk.path("sealed");
    desk.run("seal", &["-", text(&sealed)], b"data")?;
    let iv = "000102030405060708090a0b0c0d0e0f";
    let raw = |mode| ["raw", mode, "--cipher", "aes-128", "--key-file", &key, "--iv", iv, "-"];
    let commands: [&[&str]; 4] = [
        &["seal", "--keyset", &desk.keys, "-"],
        &["open", "--keyset", &desk.keys, "-"],
        &raw("ctr"),
        &raw("gcm"),
    ];
    for command in commands {
        for round in 0..ROUNDS {
            let what = format!("{command:?}, round {round}");
            let mut writer = Command::new("sh");
            writer.args(["-c", "cat \"$0\"; exec sleep 100", text(&sealed)]);
            let mut writer = writer.process_group(0).stdout(Stdio::piped()).spawn()?;
            let group = writer.id();
            let input = writer.stdout.take().ok_or("no standard output")?;
            let mut reader = lanecrypt(command);
            reader.arg(&output).stdin(input).stderr(Stdio::null());
            let mut reader = reader.process_group(group.try_into()?).spawn()?;
            // GCM and `open` begin before they have all of it, as the others do.
            let begun = wait_for_files(desk.folder(), 5);
            send("-INT", &format!("-{group}"))?;
            writer.wait()?;
            let status = reader.wait()?;
            begun?;
            ensure(fs::read(&output)? == b"the old backup", format!("{what}: replaced, {status}"))?;
            ensure(status.code() == Some(130), format!("{what}: {status}"))?;
            let left = names(desk.folder())?;
            ensure(left == ["key", "keys", "output", "sealed"], format!("{what}: {left:?}"))?;
        }
    }
    Ok(())
}

/// What ends early because of an interruption is no forgery: the exit code tells them apart.
pub(crate) fn a_cut_off_input_is_an_interruption() -> Outcome {
    let desk = Desk::new(&[])?;
    let passphrase = desk.file("passphrase", b"correct horse")?;
    let option = format!("--passphrase={passphrase}");
    let output = desk.path("output");
    let commands: [&[&str]; 2] = [
        &["open", "--keyset", &desk.keys, "-", text(&output)],
        &["raw", "ctr", "-d", "--cipher", "aes-128", &option, "-", text(&output)],
    ];
    for command in commands {
        for (is_interrupted, expected) in [(true, 130), (false, 3)] {
            let mut child = lanecrypt(command);
            let mut child = child.stdin(Stdio::piped()).stderr(Stdio::null()).spawn()?;
            let stdin = child.stdin.take();
            let begun = wait_for_files(desk.folder(), 3);
            if is_interrupted {
                send("-INT", &child.id().to_string())?;
            }
            drop(stdin);
            let status = child.wait()?;
            begun?;
            let what = format!("{command:?}, interrupted: {is_interrupted}: {status}");
            ensure(status.code() == Some(expected), what)?;
            ensure(names(desk.folder())? == ["keys", "passphrase"], "something is left")?;
        }
    }
    Ok(())
}

/// `nohup` and shells without job control have signals ignored: then they end nothing.
pub(crate) fn ignored_signals_end_nothing() -> Outcome {
    let desk = Desk::new(&[])?;
    let output = desk.path("output");
    let command = lanecrypt(&["seal", "--keyset", &desk.keys, "-", text(&output)]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP INT; exec \"$0\" \"$@\""]);
    shell.arg(command.get_program()).args(command.get_args());
    let mut child = shell.stdin(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    stdin.write_all(&noise(1000))?;
    wait_for_files(desk.folder(), 2)?;
    let id = child.id().to_string();
    send("-HUP", &id)?;
    send("-INT", &id)?;
    // Longer than a process lives that a signal ends while it waits for its input.
    thread::sleep(Duration::from_millis(1500));
    stdin.write_all(&noise(1000)).ok();
    drop(stdin);
    let status = child.wait()?;
    ensure(status.success(), format!("ended by an ignored signal: {status}"))?;
    let mut opened = desk.run("open", &[text(&output), "-"], b"")?;
    let second = opened.split_off(1000);
    ensure(opened == noise(1000) && second == noise(1000), "all of the input was sealed")
}

/// What a part of a job has done is gone on with, and the message says so.
pub(crate) fn an_interrupted_part_leaves_its_job() -> Outcome {
    let desk = Desk::new(&[])?;
    let [plain, target] = ["plain", "target"].map(|name| desk.path(name));
    // All holes, and more than is sealed before the signal comes.
    File::create(&plain)?.set_len(1 << 30)?;
    let new = ["job", "new", "--keyset", &desk.keys, text(&plain), text(&target)];
    let job = desk.file("job", &printed(&mut lanecrypt(&new), b"")?)?;
    let output = names(desk.folder())?.into_iter().find(|name| name.ends_with(".lanecrypt-tmp"));
    let output = desk.path(&output.ok_or("the job has no output")?);
    let seal = ["seal", "--keyset", &desk.keys, "--threads", "1", "--job", &job, "--part", "1/1"];
    let mut seal = lanecrypt(&[&seal[..], &[text(&plain), text(&target)]].concat());
    let mut child = seal.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let started = Instant::now();
    let has_begun = || fs::metadata(&output).is_ok_and(|about| about.blocks() > 0);
    while !has_begun() {
        if started.elapsed() > Duration::from_secs(20) {
            child.kill()?;
            child.wait()?;
            return Err("it does not begin".into());
        }
        thread::sleep(Duration::from_millis(2));
    }
    send("-INT", &child.id().to_string())?;
    let ended = child.wait_with_output()?;
    let complaint = String::from_utf8_lossy(&ended.stderr).into_owned();
    let is_right = ended.status.code() == Some(130) && complaint.contains("files of the job");
    ensure(is_right && output.exists(), format!("{}: {complaint}", ended.status))
}
