//! `lanecrypt keyset`: keys take turns, over one file that is whole at every moment.

use std::{
    fs::{self, File, Permissions},
    os::unix::fs::PermissionsExt,
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use libtest_mimic::Failed;

use crate::{
    command::{Outcome, ensure, failure, lanecrypt, names, noise, printed, text},
    sealed::Desk,
};

/// A keyset of a desk, and what its commands are told beside it.
struct Keys<'a> {
    file: &'a str,
    options: Vec<&'a str>,
}

impl Keys<'_> {
    fn command(&self, command: &[&str], more: &[&str]) -> std::process::Command {
        lanecrypt(&[command, &["--keyset", self.file], &self.options, more].concat())
    }

    fn run(&self, command: &[&str], more: &[&str]) -> Result<Vec<u8>, Failed> {
        printed(&mut self.command(command, more), b"")
    }

    fn fails(&self, command: &[&str], more: &[&str], code: i32, named: &str) -> Outcome {
        let (found, complaint) = failure(&mut self.command(command, more), b"")?;
        let is_right = found == code && complaint.contains(named);
        ensure(is_right, format!("{command:?} {more:?}: exit code {found}: {complaint}"))
    }

    /// The keys' ids, with their statuses, the primary marked.
    fn shown(&self) -> Result<Vec<(String, String, bool)>, Failed> {
        let json: serde_json::Value =
            serde_json::from_slice(&self.run(&["keyset", "show"], &["--json"])?)?;
        let keys = json.as_array().ok_or("no list")?.iter();
        let of = |key: &serde_json::Value| {
            let status = key["status"].as_str().unwrap_or_default().to_owned();
            (key["id"].to_string(), status, key["primary"] == true)
        };
        Ok(keys.map(of).collect())
    }
}

/// The whole life of a key, in cleartext and under a passphrase.
pub(crate) fn rotation() -> Outcome {
    let desk = Desk::new(&[])?;
    let passphrase = desk.file("passphrase", b"correct horse\n")?;
    let wrapped = desk.path("wrapped.keys");
    let with = format!("--passphrase={passphrase}");
    printed(&mut lanecrypt(&["keyset", "new", &with, text(&wrapped)]), b"")?;
    let in_clear = Keys { file: &desk.keys, options: Vec::new() };
    let options = vec!["--passphrase-file", passphrase.as_str()];
    for keys in [in_clear, Keys { file: text(&wrapped), options }] {
        life_of_a_key(&desk, &keys)?;
    }
    ensure(!fs::read_to_string(&wrapped)?.contains("keyData"), "it is in cleartext")
}

fn life_of_a_key(desk: &Desk, keys: &Keys<'_>) -> Outcome {
    fs::set_permissions(keys.file, Permissions::from_mode(0o640))?;
    let plain = desk.file("plain", &noise(5000))?;
    let [old_file, new_file] = ["old.sealed", "new.sealed"].map(|name| desk.path(name));
    let (old_file, new_file) = (text(&old_file), text(&new_file));
    let old = keys.shown()?[0].0.clone();
    keys.run(&["seal"], &[&plain, old_file])?;

    let new = keys.run(&["keyset", "add"], &["--template", "AES128_GCM_HKDF_4KB"])?;
    let new = String::from_utf8_lossy(&new).trim().to_owned();
    let enabled = "enabled".to_owned();
    let both = [(old.clone(), enabled.clone(), true), (new.clone(), enabled.clone(), false)];
    ensure(keys.shown()? == both, format!("added: {:?}", keys.shown()?))?;
    keys.fails(&["keyset", "disable"], &[&old], 2, "primary")?;
    keys.fails(&["keyset", "destroy"], &[&old], 2, "primary")?;
    keys.fails(&["keyset", "disable"], &["12345"], 2, "12345")?;

    keys.run(&["keyset", "promote"], &[&new])?;
    keys.run(&["seal"], &[&plain, new_file])?;
    for file in [old_file, new_file] {
        ensure(keys.run(&["open"], &[file, "-"])? == noise(5000), "both keys open")?;
    }
    keys.run(&["keyset", "disable"], &[&old])?;
    keys.fails(
        &["open"],
        &[old_file, "-"],
        3,
        &format!("the key {old} opens this, but it is disabled"),
    )?;
    keys.fails(&["keyset", "promote"], &[&old], 2, &old)?;
    let shown = keys.run(&["keyset", "show"], &[])?;
    ensure(String::from_utf8_lossy(&shown).contains("disabled"), "disabled keys are shown")?;
    keys.run(&["keyset", "enable"], &[&old])?;
    ensure(keys.run(&["open"], &[old_file, "-"])? == noise(5000), "enabled again")?;
    keys.run(&["keyset", "destroy"], &[&old])?;
    let told = format!("AES-256; destroyed in the keyset: {old}");
    keys.fails(&["open"], &[old_file, "-"], 3, &told)?;
    keys.fails(&["keyset", "enable"], &[&old], 2, "destroyed")?;
    let destroyed = [(old, "destroyed".to_owned(), false), (new, enabled, true)];
    ensure(keys.shown()? == destroyed, format!("destroyed: {:?}", keys.shown()?))?;
    ensure(keys.run(&["open"], &[new_file, "-"])? == noise(5000), "the new key opens")?;
    let mode = fs::metadata(keys.file)?.permissions().mode() & 0o777;
    ensure(mode == 0o640, format!("permissions {mode:o}"))
}

/// What `show` says of each kind of key: which of them seals, which opens, which is nothing for sealed files.
pub(crate) fn shown() -> Outcome {
    let desk = Desk::new(&[])?;
    let mut keyset: serde_json::Value = serde_json::from_slice(&fs::read(&desk.keys)?)?;
    let first = keyset["primaryKeyId"].to_string();
    keyset["key"].as_array_mut().ok_or("no keys")?.push(serde_json::json!({
        "keyData": {
            "typeUrl": "type.googleapis.com/google.crypto.tink.AesGcmKey",
            "value": "GhAAAQIDBAUGBwgJCgsMDQ4P",
            "keyMaterialType": "SYMMETRIC",
        },
        "status": "ENABLED", "keyId": 7, "outputPrefixType": "TINK",
    }));
    fs::write(&desk.keys, keyset.to_string())?;
    let keys = Keys { file: &desk.keys, options: Vec::new() };
    let add = |template| -> Result<String, Failed> {
        let id = keys.run(&["keyset", "add"], &["--template", template])?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    };
    let second = add("AES128_CTR_HMAC_SHA256_4KB")?;
    let third = add("AES128_GCM_HKDF_4KB")?;
    keys.run(&["keyset", "destroy"], &[&third])?;
    let table = keys.run(&["keyset", "show"], &[])?;
    let table = String::from_utf8_lossy(&table).into_owned();
    let cells = |line: &str| -> Option<Vec<String>> {
        let line = line.strip_prefix('│')?.strip_suffix('│')?;
        Some(line.split('┆').map(|cell| cell.trim().to_owned()).collect())
    };
    let rows: Vec<_> = table.lines().filter_map(cells).collect();
    let expected = [
        ["key", "scheme", "use", "segment bytes"],
        [&first, "AES256_GCM_HKDF_1MB", "seals and opens", "1048576"],
        ["7", "not for sealed files", "", ""],
        [&second, "AES128_CTR_HMAC_SHA256_4KB", "opens", "4096"],
        [&third, "", "destroyed", ""],
    ];
    ensure(rows == expected, table)
}

/// Commands that change one keyset at once lose no key, and whoever reads meanwhile reads a whole keyset.
pub(crate) fn changed_at_once() -> Outcome {
    const COMMANDS: usize = 12;
    let desk = Desk::new(&[])?;
    let is_over = AtomicBool::new(false);
    let (added, read) = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut read = 0;
            while !is_over.load(Ordering::Relaxed) {
                let json = fs::read(&desk.keys).ok()?;
                serde_json::from_slice::<serde_json::Value>(&json).ok()?;
                read += 1;
            }
            Some(read)
        });
        let add = || {
            let mut add = lanecrypt(&["keyset", "add", "--promote", "--keyset", &desk.keys]);
            add.stdout(Stdio::null()).spawn()
        };
        let children = (0..COMMANDS).map(|_| add()).collect::<Vec<_>>();
        let added = children.into_iter().filter_map(|child| child.ok()?.wait().ok());
        let added = added.filter(std::process::ExitStatus::success).count();
        is_over.store(true, Ordering::Relaxed);
        (added, reader.join().ok().flatten())
    });
    ensure(read.is_some_and(|read| read > 0), "a part of a keyset was read")?;
    let keys = Keys { file: &desk.keys, options: Vec::new() }.shown()?;
    let is_right = added == COMMANDS && keys.len() == COMMANDS + 1;
    ensure(is_right, format!("{added} commands added keys, and there are {}", keys.len()))?;
    ensure(names(desk.folder())? == ["keys"], "something is left behind")
}

/// A change that fails leaves the keyset as it was: a passphrase that is wrong, a disk that is full, an id that cannot be
/// told.
pub(crate) fn failures_change_nothing() -> Outcome {
    let desk = Desk::new(&[])?;
    let before = fs::read(&desk.keys)?;
    let keys = Keys { file: &desk.keys, options: Vec::new() };
    let full = crate::command::on_a_full_disk(&keys.command(&["keyset", "add"], &[]), 0);
    let (code, complaint) = failure(&mut { full }, b"")?;
    ensure(code == 1, format!("a full disk: exit code {code}: {complaint}"))?;
    ensure(fs::read(&desk.keys)? == before, "the keyset changed")?;
    ensure(names(desk.folder())? == ["keys"], "something is left behind")?;
    let untold = File::options().write(true).open("/dev/full")?;
    let mut add = keys.command(&["keyset", "add"], &[]);
    let status = add.stdout(untold).stderr(Stdio::null()).status()?;
    ensure(status.code() == Some(1), format!("an id that is not told: {status}"))?;
    ensure(fs::read(&desk.keys)? == before, "a key was added whose id is not known")?;
    let broken = desk.file("broken.keys", b"{")?;
    let of_broken = Keys { file: &broken, options: Vec::new() };
    of_broken.fails(&["keyset", "add"], &[], 2, &format!("{broken}: line 1"))?;
    let passphrase = desk.file("passphrase", b"correct horse\n")?;
    keys.fails(&["keyset", "add"], &["--passphrase-file", &passphrase], 2, "--passphrase-file")?;
    let (code, complaint) = failure(&mut lanecrypt(&["keyset", "add", "--keyset", "-"]), &before)?;
    ensure(code == 2, format!("standard input: exit code {code}: {complaint}"))
}

/// A keyset has as many keys as can be read again: far more than a key or a passphrase has bytes.
pub(crate) fn many_keys() -> Outcome {
    const MOST: usize = 16 << 20;
    let desk = Desk::new(&[])?;
    let keys = Keys { file: &desk.keys, options: Vec::new() };
    let mut keyset: serde_json::Value = serde_json::from_slice(&fs::read(&desk.keys)?)?;
    let list = keyset["key"].as_array_mut().ok_or("no keys")?;
    for id in 1..=300_u32 {
        let mut key = list[0].clone();
        key["keyId"] = id.into();
        list.push(key);
    }
    fs::write(&desk.keys, keyset.to_string())?;
    keys.run(&["keyset", "add"], &[])?;
    let length = fs::read(&desk.keys)?.len();
    ensure(length > 64 << 10, format!("{length} bytes of a long keyset"))?;
    let found = keys.shown()?.len();
    ensure(found == 302, format!("{found} keys"))?;

    // With one of another use that is so long that there is no room for another key.
    let mut keyset: serde_json::Value = serde_json::from_slice(&fs::read(&desk.keys)?)?;
    let data = &mut keyset["key"][1]["keyData"];
    data["typeUrl"] = "another".into();
    data["value"] = "A".repeat((MOST - fs::read(&desk.keys)?.len()) / 4 * 4).into();
    let full = serde_json::to_string_pretty(&keyset)?;
    fs::write(&desk.keys, &full)?;
    keys.fails(&["keyset", "add"], &[], 2, "the keyset would have 16777")?;
    ensure(fs::read_to_string(&desk.keys)? == full, "the keyset changed")?;
    keys.run(&["keyset", "show"], &[]).map(drop)
}

/// Of two commands that make the same keyset at once, one fails, and no key is lost.
pub(crate) fn made_at_once() -> Outcome {
    let desk = Desk::new(&[])?;
    for round in 0..30 {
        let file = desk.path(&format!("keys{round}"));
        let both = [0, 1].map(|_| {
            let mut new = lanecrypt(&["keyset", "new", text(&file)]);
            new.stderr(Stdio::null()).spawn()
        });
        let mut codes = Vec::new();
        for child in both {
            codes.push(child?.wait()?.code());
        }
        codes.sort_unstable();
        ensure(codes == [Some(0), Some(2)], format!("round {round}: exit codes {codes:?}"))?;
    }
    Ok(())
}
