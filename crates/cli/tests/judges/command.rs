//! How the command behaves: exit codes, what it leaves behind, what it shows.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use libtest_mimic::Failed;

pub(crate) type Outcome = Result<(), Failed>;

/// The command with these arguments, on the CPU.
pub(crate) fn lanecrypt(arguments: &[&str]) -> Command {
    /// Those that say where they run.
    const PLACED: [&str; 7] = ["seal", "open", "mount", "raw", "speed", "tune", "self-test"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanecrypt"));
    command.args(arguments);
    if arguments.first().is_some_and(|first| PLACED.contains(first)) {
        command.args(["--backend", "cpu"]);
    }
    command
}

/// Runs it with an input; the exit code, what it printed, and what it complained about.
pub(crate) fn fed(command: &mut Command, input: &[u8]) -> Result<Output, Failed> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    let input = input.to_vec();
    let feeder = thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output()?;
    feeder.join().map_err(|_| "feeding it panicked")?.ok(); // who fails early does not read all
    Ok(output)
}

/// What it printed, if it went well.
pub(crate) fn printed(command: &mut Command, input: &[u8]) -> Result<Vec<u8>, Failed> {
    let output = fed(command, input)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}: {complaint}", output.status).into())
}

/// Bytes that repeat nowhere soon.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..length).map(|_| next()).collect()
}

pub(crate) fn ensure(holds: bool, what: impl Into<String>) -> Outcome {
    if holds { Ok(()) } else { Err(what.into().into()) }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// The exit code and the complaint of what fails.
pub(crate) fn failure(command: &mut Command, input: &[u8]) -> Result<(i32, String), Failed> {
    let output = fed(command, input)?;
    let code = output.status.code().ok_or("ended by a signal")?;
    Ok((code, String::from_utf8_lossy(&output.stderr).into_owned()))
}

pub(crate) fn exit_codes() -> Outcome {
    let folder = tempfile::tempdir()?;
    let key = folder.path().join("key");
    fs::write(&key, "00112233445566778899aabbccddeeff\n")?;
    let (key, by_passphrase) = (text(&key), format!("--passphrase={}", text(&key)));
    let iv = "000102030405060708090a0b0c0d0e0f";
    let ctr = ["raw", "ctr", "--cipher", "aes-128", "--key-file", key, "--iv", iv];
    let gcm = ["raw", "gcm", "-d", "--cipher", "aes-128", "--key-file", key, "--iv", iv];
    let xts = ["raw", "xts", "--cipher", "aes-128", "--key-file", key, "--unit"];
    let with_passphrase = ["--cipher", "aes-128", &by_passphrase];
    let no_iv = |mode| ["raw", mode, "--cipher", "aes-128", "--key-file", key];
    let cases: [(&[&str], i32, &str); 30] = [
        (&no_iv("ctr"), 2, "this mode needs an IV"),
        (&no_iv("gcm"), 2, "this mode needs an IV"),
        (&["tune"], 2, "nothing to choose on a CPU alone"),
        (&[&xts[..], &["99T"]].concat(), 2, "16 MiB"),
        (&[&xts[..], &["15"]].concat(), 2, "16 MiB"),
        (&["raw", "ecb", "--cipher", "seed", "--passphrase=x", "--iterations", "0"], 2, "0"),
        (&["speed", "--bytes", "9000000T"], 2, "--bytes"),
        (&["speed", "--cipher", "seed", "--bytes", "0"], 2, "positive multiple of 16"),
        (&["speed", "--cipher", "seed", "--bytes", "15"], 2, "positive multiple of 16"),
        (&["raw", "ctr", "--cipher", "aes-128"], 2, "name the key"),
        (&["raw", "ctr", "--cipher", "rot13"], 2, "aria-256"),
        (&["raw", "ctr", "--cipher", "aes-256", "--key-file", key, "--iv", iv], 2, "takes 32"),
        (&["raw", "ecb", "--cipher", "aes-128", "--raw-key-file", key], 2, "the key has 33 bytes"),
        (&["raw", "ecb", "--cipher", "aes-128", "--key-file", key, "--iv", iv], 2, "no --iv"),
        (&[&ctr[..], &["--ad", key]].concat(), 2, "--ad is for gcm"),
        (&[&["raw", "gcm"], &with_passphrase[..]].concat(), 2, "name a --key-file"),
        (&[&["raw", "xts"], &with_passphrase[..]].concat(), 2, "name a --key-file"),
        (&[&["raw", "ctr", "--iv", iv], &with_passphrase[..]].concat(), 2, "leave --iv out"),
        (&[&["raw", "ctr", "-d"], &with_passphrase[..]].concat(), 3, "standard input: it does not"),
        (&["raw", "xts", "--cipher", "des", "--key-file", key], 2, "blocks of 8 bytes"),
        (&[&ctr[..], &["/no/such/file"]].concat(), 1, "/no/such/file"),
        (&[&ctr[..], &["-", "/no/such/folder/file"]].concat(), 1, "/no/such/folder"),
        (&[&ctr[..], &["-", "/dev/full"]].concat(), 1, "/dev/full"),
        (&[&ctr[..], &["-", text(folder.path())]].concat(), 2, "is a folder, not a file"),
        (&gcm, 3, "the tag does not match"),
        (&["speed", "--form", "rot13"], 2, "no cipher has a form"),
        (&["speed", "--form", "cuda-bitslice"], 2, "for CPUs"),
        (&["speed", "--form", "wordslice-u32", "--cipher", "hight"], 2, "--form wordslice-u32"),
        (&["self-test", "--cipher", "rot13"], 2, "there is no cipher"),
        (&["job", "status", key, "a.sealed"], 2, key),
    ];
    for (arguments, expected, named) in cases {
        let (code, complaint) = failure(&mut lanecrypt(arguments), &noise(100))?;
        let is_right = code == expected && complaint.contains(named);
        ensure(is_right, format!("{arguments:?}: exit code {code}: {complaint}"))?;
    }
    places(&ctr)
}

/// `--backend` is heeded or refused.
fn places(ctr: &[&str]) -> Outcome {
    let cases: [(&[&str], &str, i32, &str); 10] = [
        (ctr, "cuda:99", 4, "99"),
        (&["self-test", "--cipher", "seed"], "cuda:99", 4, "99"),
        (&["speed", "--cipher", "seed"], "cuda:99", 4, "99"),
        (&["speed", "--cipher", "seed", "--form", "all"], "cuda:99", 2, "--form all"),
        (&["random", "1"], "cpu", 2, "--backend"),
        (&["devices"], "cpu", 2, "--backend"),
        (&["ciphers"], "auto", 2, "--backend"),
        (&["keyset", "new"], "cuda:99", 2, "--backend"),
        (&["job", "status", "a", "b"], "cpu", 2, "--backend"),
        (&["completions", "bash"], "cpu", 2, "--backend"),
    ];
    for (arguments, place, expected, named) in cases {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lanecrypt"));
        let (code, complaint) = failure(command.args(arguments).args(["--backend", place]), b"")?;
        let is_right = code == expected && complaint.contains(named);
        ensure(is_right, format!("{arguments:?} on {place}: exit code {code}: {complaint}"))?;
    }
    Ok(())
}

/// The names in a folder.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>, Failed> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

pub(crate) fn outputs_are_whole_or_not_there() -> Outcome {
    let folder = tempfile::tempdir()?;
    let [key, input, output] = ["key", "input", "output"].map(|name| folder.path().join(name));
    fs::write(&key, "00112233445566778899aabbccddeeff")?;
    fs::write(&output, "what was there")?;
    fs::write(&input, noise(33))?; // no whole blocks
    let ecb = ["raw", "ecb", "-d", "--cipher", "aes-128", "--key-file", text(&key)];
    let (code, _) = failure(lanecrypt(&ecb).arg(&input).arg(&output), b"")?;
    ensure(code != 0, "33 bytes are no whole blocks")?;
    ensure(fs::read(&output)? == b"what was there", "the old output is lost")?;
    ensure(names(folder.path())? == ["input", "key", "output"], "something is left behind")?;

    // Through a link what it names is replaced, and keeps who may read it.
    let (link, mode) = (folder.path().join("link"), 0o640);
    std::os::unix::fs::symlink("output", &link)?;
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs::set_permissions(&output, permissions)?;
    let encrypt = ["raw", "ecb", "--cipher", "aes-128", "--key-file", text(&key)];
    printed(lanecrypt(&encrypt).arg(&input).arg(&link), b"")?;
    ensure(fs::read(&output)?.len() == 48, "33 bytes are three blocks with padding")?;
    ensure(fs::symlink_metadata(&link)?.is_symlink(), "the link is gone")?;
    let found = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&output)?.permissions());
    ensure(found & 0o777 == mode, format!("permissions {found:o}"))?;
    // In place: the input is replaced by its own output.
    printed(lanecrypt(&ecb).arg(&output).arg(&output), b"")?;
    ensure(fs::read(&output)? == noise(33), "in place")
}

/// Where a file may have no more than this number of 512-byte blocks, as on a disk that is full after that.
pub(crate) fn on_a_full_disk(command: &Command, blocks: u32) -> Command {
    let mut shell = Command::new("sh");
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    shell.args(["-c", &script]);
    shell.arg(command.get_program()).args(command.get_args());
    shell
}

pub(crate) fn a_full_disk_loses_nothing() -> Outcome {
    let folder = tempfile::tempdir()?;
    let paths = ["input", "key", "keys", "output"].map(|name| folder.path().join(name));
    let [input, key, keys, output] = paths.each_ref().map(|path| text(path));
    fs::write(key, "00112233445566778899aabbccddeeff")?;
    fs::write(input, noise(1 << 20))?;
    fs::write(output, "what was there")?;
    printed(&mut lanecrypt(&["keyset", "new", keys]), b"")?;
    let raw = ["raw", "ecb", "--cipher", "aes-128", "--key-file", key, input, output];
    let from_stream = ["seal", "--keyset", keys, "-", output];
    for command in [&raw[..], &["seal", "--keyset", keys, input, output], &from_stream] {
        let (code, complaint) =
            failure(&mut on_a_full_disk(&lanecrypt(command), 64), &noise(1 << 20))?;
        ensure(code == 1, format!("{command:?}: exit code {code}: {complaint}"))?;
        ensure(fs::read(output)? == b"what was there", format!("{command:?}: it is lost"))?;
        let left = names(folder.path())?;
        ensure(left == ["input", "key", "keys", "output"], format!("{command:?}: {left:?}"))?;
    }
    Ok(())
}

pub(crate) fn an_interruption_leaves_nothing() -> Outcome {
    let folder = tempfile::tempdir()?;
    let [key, output] = ["key", "output"].map(|name| folder.path().join(name));
    fs::write(&key, "00112233445566778899aabbccddeeff")?;
    fs::write(&output, "what was there")?;
    for signal in ["INT", "TERM", "KILL"] {
        let ofb = ["raw", "ofb", "--cipher", "aes-128", "--key-file", text(&key)];
        let mut command = lanecrypt(&ofb);
        command.args(["--iv", "000102030405060708090a0b0c0d0e0f", "-"]).arg(&output);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        // Its input does not end: it waits for more.
        let mut stdin = child.stdin.take().ok_or("no standard input")?;
        stdin.write_all(&noise(1 << 16))?;
        let started = Instant::now();
        while names(folder.path())?.len() < 3 {
            ensure(started.elapsed() < Duration::from_secs(20), "it does not begin")?;
            thread::sleep(Duration::from_millis(10));
        }
        let id = child.id().to_string();
        Command::new("kill").args([&format!("-{signal}"), &id]).status()?;
        let status = child.wait()?;
        drop(stdin);
        ensure(fs::read(&output)? == b"what was there", format!("{signal}: the output is lost"))?;
        if signal == "KILL" {
            // No cleanup is possible then; but what is left can be recognised.
            let left = names(folder.path())?;
            let is_known = left.iter().any(|name| name.ends_with(".lanecrypt-tmp"));
            return ensure(is_known && left.len() == 3, format!("{left:?}"));
        }
        ensure(status.code() == Some(130), format!("{signal}: {status}"))?;
        ensure(names(folder.path())? == ["key", "output"], format!("{signal}: something is left"))?;
    }
    Ok(())
}

pub(crate) fn lists() -> Outcome {
    let json = |arguments: &[&str]| -> Result<serde_json::Value, Failed> {
        Ok(serde_json::from_slice(&printed(&mut lanecrypt(arguments), b"")?)?)
    };
    let ciphers = json(&["ciphers", "--json"])?;
    let count = ciphers.as_array().map_or(0, Vec::len);
    let expected: usize = lanecrypt::CIPHERS.iter().map(|cipher| cipher.key_bytes.len()).sum();
    ensure(count == expected, format!("{count} ciphers"))?;
    for cipher in ciphers.as_array().into_iter().flatten() {
        let has_xts = cipher["modes"].as_array().is_some_and(|modes| modes.contains(&"xts".into()));
        ensure(has_xts == (cipher["block_bits"] == 128), format!("modes of {cipher}"))?;
    }
    forms_of_ciphers()?;
    ensure(json(&["devices", "--json"])?[0]["backend"] == "cpu", "the first device is the CPU")?;
    let options = ["--cipher", "seed", "--bytes", "16K", "--time", "5", "--json"];
    let speed = json(&[&["speed"], &options[..]].concat())?;
    let rate = speed[0]["points"][0]["gigabytes_per_second"].as_f64();
    ensure(rate.is_some_and(|rate| rate > 0.0), format!("{speed}"))?;
    // The second form is one of HIGHT alone, the first one of LEA alone, which comes later.
    for (forms, is_all) in [
        (&["--form", "wordslice-u32", "--form", "byteslice-u32"][..], false),
        (&["--form", "all"], true),
    ] {
        let options = ["speed", "--cipher", "hight", "--bytes", "16", "--time", "1", "--json"];
        let speed = json(&[&options[..], forms].concat())?;
        let rows = speed.as_array().ok_or("no list")?;
        let has_form = rows.iter().any(|row| row["backend"] == "byteslice-u32");
        ensure(has_form && (rows.len() > 1) == is_all, format!("{forms:?}: {speed}"))?;
    }
    let tested = json(&["self-test", "--json"])?;
    let has_reference = tested.to_string().contains("reference");
    ensure(!has_reference, "the reference is listed, which no command uses")?;
    for cipher in lanecrypt::CIPHERS {
        let serves = |row: &&serde_json::Value| {
            row["cipher"] == cipher.name && row["implementation"] == "default"
        };
        let row = tested.as_array().and_then(|rows| rows.iter().find(serves));
        let answers = row.and_then(|row| row["answers"].as_u64()).unwrap_or(0);
        ensure(answers >= 5, format!("{} gave {answers} known answers", cipher.name))?;
    }
    let completions = printed(&mut lanecrypt(&["completions", "bash"]), b"")?;
    ensure(String::from_utf8_lossy(&completions).contains("lanecrypt__"), "no completions")?;
    let folder = tempfile::tempdir()?;
    printed(&mut lanecrypt(&["man", text(folder.path())]), b"")?;
    ensure(folder.path().join("lanecrypt-seal.1").exists(), "there is no man page of seal")
}

/// The last column of `lanecrypt ciphers`: how many of a cipher's forms for CPUs run here.
fn forms_of_ciphers() -> Outcome {
    let table = printed(&mut lanecrypt(&["ciphers"]), b"")?;
    let table = String::from_utf8_lossy(&table).into_owned();
    for name in lanecrypt::CipherName::all() {
        let starts = |line: &&str| line.starts_with(&format!("│ {name} "));
        let row = table.lines().find(starts).ok_or(format!("no {name}"))?;
        let is_of_cpus = |backend: &&lanecrypt::registry::Backend| {
            backend.platform == lanecrypt::registry::Platform::Cpu
        };
        let all = name.cipher.backends.iter().filter(is_of_cpus);
        let here = all.clone().filter(|backend| (backend.available)().is_ok()).count();
        let expected = format!(" {here} of {} │", all.count());
        ensure(row.ends_with(&expected), format!("{row}, not {expected}"))?;
    }
    Ok(())
}

/// Keys are no arguments, and only their owner may read their files.
pub(crate) fn secrets_stay_unseen() -> Outcome {
    let folder = tempfile::tempdir()?;
    let keys = folder.path().join("keys");
    printed(&mut lanecrypt(&["keyset", "new", text(&keys)]), b"")?;
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&keys)?.permissions());
    ensure(mode & 0o777 == 0o600, format!("permissions {mode:o}"))?;
    let before = fs::read(&keys)?;
    // Before a passphrase is asked for.
    for option in [&[][..], &["--passphrase=/no/such/file"]] {
        let new = [&["keyset", "new", text(&keys)], option].concat();
        let (code, complaint) = failure(&mut lanecrypt(&new), b"")?;
        let is_refused = code == 2 && complaint.contains("already exists");
        ensure(is_refused && fs::read(&keys)? == before, format!("{option:?}: {complaint}"))?;
    }
    let shown = printed(&mut lanecrypt(&["keyset", "show", "--json", "-k", text(&keys)]), b"")?;
    let keyset: serde_json::Value = serde_json::from_slice(&before)?;
    let secret = keyset["key"][0]["keyData"]["value"].as_str().ok_or("the keyset has a key")?;
    ensure(!String::from_utf8_lossy(&shown).contains(secret), "the secret is shown")
}
