//! `lanecrypt raw` beside `openssl enc` and Python's `cryptography`.

use std::{fs, path::Path, process::Command};

use libtest_mimic::Failed;

use crate::{
    OPENSSL, PYCA,
    command::{Outcome, ensure, failure, lanecrypt, noise, printed, text},
};

/// Ours, theirs, bytes of the key, bytes of a block, and the modes that they have.
const CIPHERS: &[(&str, &str, usize, usize, &[&str])] = &[
    ("aes-128", "aes-128", 16, 16, ALL),
    ("aes-192", "aes-192", 24, 16, ALL),
    ("aes-256", "aes-256", 32, 16, ALL),
    ("aria-128", "aria-128", 16, 16, ALL),
    ("aria-192", "aria-192", 24, 16, ALL),
    ("aria-256", "aria-256", 32, 16, ALL),
    ("camellia-128", "camellia-128", 16, 16, ALL),
    ("camellia-192", "camellia-192", 24, 16, ALL),
    ("camellia-256", "camellia-256", 32, 16, ALL),
    ("des", "des", 8, 8, WITHOUT_CTR),
    ("des-ede", "des-ede", 16, 8, &["cbc", "cfb", "ofb"]),
    ("des-ede3", "des-ede3", 24, 8, &["cbc", "cfb", "ofb"]),
    ("seed", "seed", 16, 16, WITHOUT_CTR),
    ("sm4", "sm4", 16, 16, ALL),
];
const ALL: &[&str] = &["ecb", "cbc", "cfb", "ofb", "ctr"];
const WITHOUT_CTR: &[&str] = &["ecb", "cbc", "cfb", "ofb"];

const LENGTHS: [usize; 5] = [0, 1, 16, 4097, 100_003];

fn hex(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

/// `openssl enc` with DES and SEED, which are legacy.
fn openssl(name: &str) -> Result<Command, Failed> {
    let mut command = OPENSSL.command()?;
    command.args(["enc", &format!("-{name}"), "-provider", "default", "-provider", "legacy"]);
    Ok(command)
}

/// A key, and the file that has it.
fn key_file(folder: &Path, bytes: usize) -> Result<(String, String), Failed> {
    let (file, key) = (folder.join(format!("key-{bytes}")), hex(&noise(bytes)));
    fs::write(&file, format!("{key}\n"))?;
    Ok((text(&file).to_owned(), key))
}

pub(crate) fn bytes_of_openssl_enc() -> Outcome {
    let folder = tempfile::tempdir()?;
    for &(ours, theirs, key_bytes, block, modes) in CIPHERS {
        let (file, key) = key_file(folder.path(), key_bytes)?;
        for mode in modes {
            // All ones in the end: the counter carries out of the last byte at once.
            let iv = hex(&[&noise(block - 2)[..], &[0xff, 0xff]].concat());
            let with_iv = |option| if *mode == "ecb" { vec![] } else { vec![option, iv.as_str()] };
            for length in LENGTHS {
                let plaintext = noise(length);
                let raw = ["raw", mode, "--cipher", ours, "--key-file", &file];
                let encrypted = printed(lanecrypt(&raw).args(with_iv("--iv")), &plaintext)?;
                let mut enc = openssl(&format!("{theirs}-{mode}"))?;
                let expected = printed(enc.args(["-K", &key]).args(with_iv("-iv")), &plaintext)?;
                let what = format!("{ours} {mode}, {length} bytes");
                ensure(encrypted == expected, format!("{what}: encrypted"))?;
                let decrypted =
                    printed(lanecrypt(&raw).arg("-d").args(with_iv("--iv")), &expected)?;
                ensure(decrypted == plaintext, format!("{what}: decrypted"))?;
            }
        }
    }
    Ok(())
}

pub(crate) fn passphrases_of_openssl_enc() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("passphrase");
    let pass = format!("file:{}", text(&file));
    let plaintext = noise(5001);
    let longest = "x".repeat(1023);
    for (name, mode, iterations, line) in [
        ("aria-256", "ctr", "10000", "correct horse battery staple"),
        ("camellia-128", "cbc", "777", "of another system\r"),
        ("aes-192", "ecb", "10000", longest.as_str()),
    ] {
        fs::write(&file, format!("{line}\nanother line\n"))?;
        let raw = ["raw", mode, "--cipher", name, "--iterations", iterations];
        let option = format!("--passphrase={}", text(&file));
        let mut enc = openssl(&format!("{name}-{mode}"))?;
        enc.args(["-pbkdf2", "-iter", iterations, "-pass", &pass]);
        let ours = printed(lanecrypt(&raw).arg(&option), &plaintext)?;
        let mut dec = openssl(&format!("{name}-{mode}"))?;
        dec.args(["-d", "-pbkdf2", "-iter", iterations, "-pass", &pass]);
        ensure(printed(&mut dec, &ours)? == plaintext, format!("{name}: openssl reads ours"))?;
        let theirs = printed(&mut enc, &plaintext)?;
        let opened = printed(lanecrypt(&raw).args(["-d", &option]), &theirs)?;
        ensure(opened == plaintext, format!("{name}: we read openssl's"))?;
        ensure(ours != printed(lanecrypt(&raw).arg(&option), &plaintext)?, "the salt is not new")?;
    }
    Ok(())
}

/// A line of which openssl takes the beginning only would be another passphrase there.
pub(crate) fn passphrases_that_openssl_cuts() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("passphrase");
    let option = format!("--passphrase={}", text(&file));
    for (line, named) in [("a\0b", "NUL"), ("x".repeat(1024).as_str(), "at most 1023")] {
        fs::write(&file, format!("{line}\n"))?;
        let ctr = ["raw", "ctr", "--cipher", "seed", &option];
        let (code, complaint) = failure(&mut lanecrypt(&ctr), b"")?;
        let is_right = code == 2 && complaint.contains(named);
        ensure(is_right, format!("{named}: exit code {code}: {complaint}"))?;
    }
    Ok(())
}

/// An option that a mode does not have is a mistake, also one with its default.
pub(crate) fn options_of_other_modes() -> Outcome {
    let folder = tempfile::tempdir()?;
    let (file, _) = key_file(folder.path(), 16)?;
    let options: [(&[&str], &[&str]); 5] = [
        (&["--no-padding"], &["ecb", "cbc"]),
        (&["--unit", "512"], &["xts"]),
        (&["--first-unit", "0"], &["xts"]),
        (&["--iterations", "10000"], &[]),
        (&["--ad", &file], &["gcm"]),
    ];
    for (option, its_modes) in options {
        for mode in ["ecb", "cbc", "cfb", "ofb", "ctr", "xts", "gcm"] {
            let raw = ["raw", mode, "--cipher", "aes-128", "--key-file", "/no/such/file"];
            let (code, complaint) = failure(lanecrypt(&raw).args(option), b"")?;
            let expected = if its_modes.contains(&mode) { 1 } else { 2 };
            let is_right = code == expected && (code == 1 || complaint.contains(option[0]));
            ensure(is_right, format!("{mode} {option:?}: exit code {code}: {complaint}"))?;
        }
    }
    Ok(())
}

/// Of a message without its end, whatever is missing, the padding is wrong; without padding its length is.
pub(crate) fn cut_messages() -> Outcome {
    let folder = tempfile::tempdir()?;
    let (file, _) = key_file(folder.path(), 16)?;
    let (iv, zeros) = (hex(&noise(16)), vec![0; 70_000]);
    for (mode, of_iv) in [("ecb", vec![]), ("cbc", vec!["--iv", iv.as_str()])] {
        let raw = ["raw", mode, "--cipher", "aes-128", "--key-file", &file];
        let encrypted = printed(lanecrypt(&raw).args(&of_iv), &zeros)?;
        for missing in [1, 15, 16, encrypted.len() - 5, encrypted.len()] {
            let cut = &encrypted[..encrypted.len() - missing];
            let (code, complaint) = failure(lanecrypt(&raw).arg("-d").args(&of_iv), cut)?;
            let is_right = code == 3 && complaint.contains("the padding is wrong");
            ensure(is_right, format!("{mode} -{missing}: exit code {code}: {complaint}"))?;
        }
        let mut unpadded = lanecrypt(&raw);
        unpadded.args(["-d", "--no-padding"]).args(&of_iv);
        let (code, complaint) = failure(&mut unpadded, &encrypted[1..])?;
        let named = format!("over {} bytes", encrypted.len() - 1);
        let is_right = code == 2 && complaint.contains(&named);
        ensure(is_right, format!("{mode} --no-padding: exit code {code}: {complaint}"))?;
    }
    Ok(())
}

/// Runs Python with arguments and an input.
fn pyca(program: &str, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Failed> {
    printed(PYCA.command()?.args(["-c", program]).args(arguments), input)
}

pub(crate) fn data_units_of_pyca() -> Outcome {
    const PROGRAM: &str = "
import sys
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
key, unit, first = bytes.fromhex(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
data = sys.stdin.buffer.read()
for i in range(0, len(data), unit):
    tweak = (first + i // unit).to_bytes(16, 'little')
    encryptor = Cipher(algorithms.AES(key), modes.XTS(tweak)).encryptor()
    sys.stdout.buffer.write(encryptor.update(data[i:i + unit]) + encryptor.finalize())
";
    let folder = tempfile::tempdir()?;
    for (name, key_bytes) in [("aes-128", 32), ("aes-256", 64)] {
        let (file, key) = key_file(folder.path(), key_bytes)?;
        for (unit, first, length) in [("512", "0", 8192), ("4096", "4294967295", 40_017)] {
            let plaintext = noise(length);
            let raw = ["raw", "xts", "--cipher", name, "--key-file", &file, "--unit", unit];
            let mut ours = lanecrypt(&raw);
            let encrypted = printed(ours.args(["--first-unit", first]), &plaintext)?;
            let expected = pyca(PROGRAM, &[&key, unit, first], &plaintext)?;
            ensure(encrypted == expected, format!("{name}, {unit}: encrypted"))?;
            let mut back = lanecrypt(&raw);
            let decrypted = printed(back.args(["-d", "--first-unit", first]), &expected)?;
            ensure(decrypted == plaintext, format!("{name}, {unit}: decrypted"))?;
        }
    }
    Ok(())
}

pub(crate) fn messages_of_pyca() -> Outcome {
    const PROGRAM: &str = "
import sys
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
key, nonce, ad = (bytes.fromhex(text) for text in sys.argv[1:])
sys.stdout.buffer.write(AESGCM(key).encrypt(nonce, sys.stdin.buffer.read(), ad))
";
    let folder = tempfile::tempdir()?;
    let ad = folder.path().join("ad");
    fs::write(&ad, b"a header")?;
    for (name, key_bytes) in [("aes-128", 16), ("aes-192", 24), ("aes-256", 32)] {
        let (file, key) = key_file(folder.path(), key_bytes)?;
        for (length, nonce) in [(0, 12), (1, 12), (70_001, 12), (300, 20)] {
            let (plaintext, nonce) = (noise(length), hex(&noise(nonce)));
            let raw = ["raw", "gcm", "--cipher", name, "--key-file", &file, "--iv", &nonce];
            let encrypted = printed(lanecrypt(&raw).arg("--ad").arg(&ad), &plaintext)?;
            let expected = pyca(PROGRAM, &[&key, &nonce, &hex(b"a header")], &plaintext)?;
            ensure(encrypted == expected, format!("{name}, {length} bytes: encrypted"))?;
            let decrypted = printed(lanecrypt(&raw).arg("-d").arg("--ad").arg(&ad), &expected)?;
            ensure(decrypted == plaintext, format!("{name}, {length} bytes: decrypted"))?;
        }
    }
    Ok(())
}
