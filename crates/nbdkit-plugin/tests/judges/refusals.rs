//! What must not be served, and what is said of it.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
    path::Path,
};

use libtest_mimic::Failed;

use crate::{
    client::Client,
    containers::{Folder, PASSPHRASE},
    server::{Server, refusal, run},
};

/// Where cryptsetup puts the first key slot of LUKS2, and its second header.
const FIRST_SLOT: u64 = 0x8000;
const SECOND_HEADER: u64 = 0x4000;

/// That the container is refused with a message that has this part.
fn refused(
    folder: &Folder,
    path: &Path,
    parameters: &[&str],
    expected: &str,
) -> Result<(), Failed> {
    let file = format!("file={}", path.display());
    let parameters: Vec<&str> = [&*file].into_iter().chain(parameters.iter().copied()).collect();
    let said = refusal(folder.path(), &parameters)?;
    if said.contains(expected) && !said.contains("panicked") {
        return Ok(());
    }
    Err(format!("{parameters:?}: {expected:?} is not in {said:?}").into())
}

fn passphrase() -> String {
    format!("passphrase={PASSPHRASE}")
}

pub(crate) fn wrong_passphrases() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let path = folder.luks2("container")?;
    let wrong = "none of the 1 key slots tried opens: the passphrase is wrong";
    for parameter in ["passphrase=wrong", "passphrase=", "key-file=/dev/null"] {
        refused(&folder, &path, &[parameter], wrong)?;
    }
    // cryptsetup takes all of a key file, nbdkit a line: another one here.
    let key_file = folder.file("key file");
    fs::write(&key_file, "two\nlines\n")?;
    let parameter = format!("passphrase=+{}", key_file.display());
    run(folder
        .cryptsetup(&["luksAddKey", "--pbkdf=pbkdf2", "--pbkdf-force-iterations=1000"])?
        .arg(&path)
        .arg(&key_file))?;
    refused(&folder, &path, &[&parameter], "none of the 2 key slots tried opens")?;
    refused(&folder, &path, &["key-file=/dev/zero"], "has more than 8388608 bytes")?;
    let parameter = format!("key-file={}", key_file.display());
    let server = Server::start(folder.path(), &[format!("file={}", path.display()), parameter])?;
    Client::connect(&server)?.flush()?;
    Ok(())
}

pub(crate) fn damaged_containers() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let path = folder.luks2("container")?;
    let whole = fs::read(&path)?;
    let refused = |bytes: &[u8], expected| {
        fs::write(&path, bytes)?;
        refused(&folder, &path, &[&passphrase()], expected)
    };
    for bytes in [0, 7, 4095, 0x3fff, 0x7fff] {
        let cut: &[u8] = &whole[..bytes];
        let expected = if bytes < 8 { "not a LUKS container" } else { "cut short: the " };
        if bytes < SECOND_HEADER as usize {
            refused(cut, expected)?;
        }
    }
    // In a key slot, and before the disk.
    refused(&whole[..FIRST_SLOT as usize + 100_000], "cut short: a key slot ends")?;
    refused(&whole[..FIRST_SLOT as usize + 1_000_000], "cut short: the disk ends")?;
    let mut altered = whole.clone();
    altered[FIRST_SLOT as usize + 1000] ^= 1;
    refused(&altered, "none of the 1 key slots tried opens")?;
    let mut altered = whole.clone();
    altered[5000] ^= 1;
    altered[SECOND_HEADER as usize + 5000] ^= 1;
    refused(&altered, "the LUKS header is damaged: its checksum is wrong")?;
    let mut altered = whole.clone();
    altered[7] = 3;
    refused(&altered, "the header is of LUKS version 3; supported are 1 and 2")?;
    refused(&vec![0; 1 << 20], "not a LUKS container")
}

/// As cryptsetup does, it opens what ends within a sector, and what has a slot of a hash that is not known.
pub(crate) fn takes_odd_lengths_and_other_slots() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let path = folder.luks2("container")?;
    let bytes = fs::metadata(&path)?.len();
    File::options().write(true).open(&path)?.set_len(bytes - 100)?;
    let other = folder.file("other");
    fs::write(&other, "another")?;
    run(folder
        .cryptsetup(&[
            "luksAddKey",
            "--hash=sha384",
            "--pbkdf=pbkdf2",
            "--pbkdf-force-iterations=1000",
        ])?
        .arg(&path)
        .arg(&other))?;
    Client::connect(&folder.serve(&path)?)?.flush()?;
    let parameter = format!("key-file={}", other.display());
    refused(&folder, &path, &[&parameter], "hash \"sha384\" is not supported")
}

pub(crate) fn takes_the_second_header() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let path = folder.luks2("container")?;
    let file = File::options().write(true).open(&path)?;
    for offset in [5000, 0] {
        file.write_all_at(&[0; 10], offset)?;
        let server = folder.serve(&path)?;
        Client::connect(&server)?.flush()?;
    }
    Ok(())
}

pub(crate) fn what_costs_too_much() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let path = folder.luks2("container")?;
    refused(
        &folder,
        &path,
        &[&passphrase(), "pbkdf2-iterations=999"],
        "a key slot asks for 1000 iterations of PBKDF2; the limit is 999",
    )?;
    let costs = ["luksAddKey", "--pbkdf=argon2id", "--pbkdf-memory=64"];
    let key_file = folder.file("other");
    fs::write(&key_file, "other")?;
    run(folder.cryptsetup(&costs)?.args(["--pbkdf-force-iterations=4"]).arg(&path).arg(&key_file))?;
    for (limit, expected) in [
        ("argon2-memory=63K", "64 KiB of memory for Argon2; the limit is 63"),
        ("argon2-passes=3", "4 passes of Argon2; the limit is 3"),
    ] {
        refused(&folder, &path, &["passphrase=other", limit], expected)?;
    }
    // The slots that cost less still open.
    let parameters = [format!("file={}", path.display()), passphrase(), "argon2-passes=3".into()];
    let server = Server::start(folder.path(), &parameters)?;
    Client::connect(&server)?.flush()?;
    Ok(())
}

pub(crate) fn bad_parameters() -> Result<(), Failed> {
    let folder = Folder::new()?;
    let nothing: [&str; 0] = [];
    for (parameters, expected) in [
        (&nothing[..], "file=<FILENAME> is missing"),
        (&["file=x"], "passphrase=<SECRET> or key-file=<FILENAME> is missing"),
        (&["x", "passphrase=y", "passphrase=z"], "can be given once"),
        (&["file=x", "colour=red"], "unknown parameter \"colour\""),
        (&["file=x", "argon2-passes=many"], "argon2-passes=many is not a number"),
        (&["file=x", "argon2-memory=many"], "could not parse size"),
        (&["file=/nowhere/x", "passphrase=y"], "cannot open /nowhere/x: No such file"),
        (&["file=x", "key-file=/nowhere/y"], "cannot open /nowhere/y: No such file"),
    ] {
        let said = refusal(folder.path(), parameters)?;
        if !said.contains(expected) {
            return Err(format!("{parameters:?}: {expected:?} is not in {said:?}").into());
        }
    }
    Ok(())
}
