//! The binary `kat` over tiny vector files: what it counts, names and exits with.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;

/// The key and the first block of FIPS 197, appendix C.1.
const KEY: &str = "000102030405060708090a0b0c0d0e0f";
const PT: &str = "00112233445566778899aabbccddeeff";
const CT: &str = "69c4e0d86a7b0430d8cdb78070b4c55a";

/// The binary with these arguments, without the library of the kernels.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kat"));
    command.args(arguments).env_remove("LANECRYPT_HOST_KERNELS").env_remove("LANECRYPT_EXPECT");
    command
}

fn kat_expecting(expected: &str, arguments: &[&str]) -> Output {
    let mut command = command(arguments);
    command.env("LANECRYPT_EXPECT", expected).output().expect("the binary starts")
}

fn kat(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the binary starts")
}

/// Checks the exit code and the last line, and gives the standard output.
#[track_caller]
fn ends(output: &Output, code: i32, last_line: &str) -> String {
    let text = String::from_utf8(output.stdout.clone()).expect("the report is UTF-8");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}\n{errors}");
    assert_eq!(text.lines().last(), Some(last_line), "{text}\n{errors}");
    text
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

/// A folder with one vector file of these lines.
fn folder(header: &str, lines: &[String]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), "some.txt", header, lines);
    folder
}

fn write(folder: &Path, name: &str, header: &str, lines: &[String]) {
    fs::create_dir_all(folder).expect("a folder");
    let text = format!("{header}{}\n{}\n", lines.len(), lines.join("\n"));
    fs::write(folder.join(name), text).expect("a file");
}

fn text_of(path: &Path) -> &str {
    path.to_str().expect("a temporary path is UTF-8")
}

const ECB: &str = "# bcv1 cipher=aes mode=ecb expect=ok vectors=";
const BIG: &str = "# bcv1-big cipher=aes lines=";

fn ecb_line(id: &str, ct: &str) -> String {
    format!("id={id} key={KEY} pt={PT} ct={ct}")
}

#[test]
fn a_good_folder_passes() {
    let folder = folder(ECB, &[ecb_line("one", CT), ecb_line("two", CT)]);
    fs::write(folder.path().join("README.md"), "not a vector file").expect("a file");
    let inner = folder.path().join("inner").join("most");
    write(&inner, "more.txt", ECB, &[ecb_line("three", CT)]);
    let path = text_of(folder.path());
    let output = kat(&[path, "--backend", "reference", "--backend", "aes/bitslice-u64"]);
    let text = ends(&output, 0, "6 passed, 0 failed, 0 skipped");
    contains(&text, &["aes     bitslice-u64  3/0/0", "2 files, 2 backends"]);
}

#[test]
fn the_project_s_modes_all_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = text_of(folder.path());
    // SP 800-38A, F.2.1 and F.5.1; IEEE 1619, vectors 1 and 15.
    let key = "2b7e151628aed2a6abf7158809cf4f3c";
    let pt = "6bc1bee22e409f96e93d7e117393172a";
    let cbc =
        format!("id=f21 mode=cbc key={key} iv={KEY} pt={pt} ct=7649abac8119b246cee98e9b12e9197d");
    let iv = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
    let ctr =
        format!("id=f51 mode=ctr key={key} iv={iv} pt={pt} ct=874d6191b620e3261bef6864990db6ce");
    let zeros = "00".repeat(32);
    let xts = format!(
        "id=x1 mode=xts key={zeros} iv={} pt={zeros} \
         ct=917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e",
        &zeros[..32]
    );
    let stealing = "id=x15 mode=xts \
         key=fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0 \
         iv=9a785634120000000000000000000000 pt=000102030405060708090a0b0c0d0e0f10 \
         ct=6c1625db4671522d3d7599601de7ca09ed";
    let header = "# bcv1 cipher=aes expect=ok vectors=";
    write(folder.path(), "a.txt", header, &[cbc, ctr, xts, stealing.to_owned()]);
    let output = kat(&[path, "--backend", "table32"]);
    let text = ends(&output, 0, "4 passed, 0 failed, 0 skipped");
    contains(&text, &["1/0/0  1/0/0  2/0/0"]);
}

#[test]
fn a_wrong_ciphertext_is_named() {
    let wrong = CT.replace("69c4", "69c5");
    let folder = folder(ECB, &[ecb_line("good", CT), ecb_line("bad", &wrong)]);
    let output = kat(&[text_of(folder.path()), "--backend", "reference"]);
    let text = ends(&output, 1, "1 passed, 1 failed, 0 skipped");
    contains(
        &text,
        &[
            "some.txt:3 bad aes/reference encrypt: in place: byte 1 differs",
            "expected 69c5e0d8",
            "found 69c4e0d8",
            "some.txt:3 bad aes/reference decrypt: in place: byte 0 differs",
        ],
    );
}

#[test]
fn damage_fails() {
    let folder = folder(ECB, &[ecb_line("good", CT), ecb_line("odd", &CT[1..])]);
    fs::write(folder.path().join("other.txt"), "hello\n").expect("a file");
    let missing = folder.path().join("missing.txt");
    let output = kat(&[text_of(folder.path()), text_of(&missing), "--backend", "reference"]);
    let text = ends(&output, 1, "1 passed, 3 failed, 0 skipped");
    contains(
        &text,
        &["some.txt:3: field ct", "other.txt:1:", "no header", "missing.txt: cannot read"],
    );
}

#[test]
fn a_folder_without_files_fails() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = ends(&kat(&[text_of(folder.path())]), 1, "0 passed, 1 failed, 0 skipped");
    contains(&text, &["no *.txt file"]);
}

#[test]
fn unknown_ciphers_and_modes_are_skipped_by_name() {
    let line = format!("id=g mode=eax key={KEY} iv=00 aad= tag=00 pt={PT} ct={CT}");
    let folder = folder(ECB, &[ecb_line("one", CT), line]);
    let other = "# bcv1 cipher=rot13 mode=ecb expect=ok vectors=";
    write(folder.path(), "other.txt", other, &[ecb_line("a", CT), ecb_line("b", CT)]);
    let path = text_of(folder.path());
    let output = kat(&[path, "--backend", "reference", "--backend", "table32"]);
    let text = ends(&output, 0, "2 passed, 0 failed, 3 skipped");
    contains(&text, &["1 no mode \"eax\" here: ", "2 no cipher \"rot13\" in the registry: "]);
    // Not even counted where another cipher was asked for.
    let output = kat(&[path, "--backend", "reference", "--cipher", "aes"]);
    ends(&output, 0, "1 passed, 0 failed, 1 skipped");
}

#[test]
fn usage_errors_name_what_is_known() {
    let folder = folder(ECB, &[ecb_line("one", CT)]);
    let path = text_of(folder.path());
    for arguments in [[path, "--backend", "abacus"], [path, "--cipher", "rot13"]] {
        let output = kat(&arguments);
        assert_eq!(output.status.code(), Some(2));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let known =
            if arguments[1] == "--cipher" { "known are aes" } else { "bitslice-u32, bitslice-u64" };
        contains(&errors, &[arguments[2], known]);
    }
    for (list, named) in [
        ("abacus", "no backend \"abacus\"; known are reference"),
        ("aes/abacus", "no backend \"aes/abacus\"; known are reference"),
        ("AES/reference", "no cipher \"AES\"; known are aes"),
        ("", "\"\" has no backend"),
        ("reference,", "\"reference,\" has no backend"),
    ] {
        let output = kat_expecting(list, &[path]);
        assert_eq!(output.status.code(), Some(2), "{list:?}");
        contains(&String::from_utf8_lossy(&output.stderr), &["LANECRYPT_EXPECT: ", named]);
    }
    assert_eq!(kat(&[path, "--max-bytes", "64MB"]).status.code(), Some(2));
    assert_eq!(kat(&[path, "--json", "/no/such/folder/report.json"]).status.code(), Some(2));
}

/// A long message in ECB.
fn big_line(id: &str, len: u64, sha256: &str) -> String {
    format!("id={id} mode=ecb key={KEY} seed=0000000000000001 len={len} sha256={sha256}")
}

#[test]
fn long_messages_are_left_out_by_name() {
    let zeros = "00".repeat(32);
    let folder = folder(BIG, &[big_line("short", 32, &zeros), big_line("long", 1040, &zeros)]);
    let path = text_of(folder.path());
    let output = kat(&[path, "--backend", "reference", "--max-bytes", "1K"]);
    let text = ends(&output, 1, "0 passed, 1 failed, 1 skipped");
    contains(&text, &["1 longer than --max-bytes, 1024: long [aes/reference]"]);
    contains(&text, &["short aes/reference encrypt: SHA-256 differs; expected 00000000"]);
    // The default lets both through.
    ends(&kat(&[path, "--backend", "reference"]), 1, "0 passed, 2 failed, 0 skipped");
}

#[test]
fn xts_messages_are_data_units() {
    // Units of 32, 32 and 17 bytes, of which the last steals; the tweak wraps after the first.
    // The digest is PyCA cryptography's.
    let key = format!("{KEY}101112131415161718191a1b1c1d1e1f");
    let iv = "ff".repeat(16);
    let line = format!(
        "id=x mode=xts unit=32 key={key} iv={iv} seed=0000000000000001 len=81 \
         sha256=316c928664cd29fa92ee5eee3583dc6fd4e3c3f0203012642b6241029a091bab"
    );
    let folder = folder(BIG, &[line]);
    let output = kat(&[text_of(folder.path()), "--backend", "bitslice-u64"]);
    ends(&output, 0, "1 passed, 0 failed, 0 skipped");
}

#[test]
fn an_expected_backend_must_be_available() {
    let folder = folder(ECB, &[ecb_line("one", CT), ecb_line("two", CT)]);
    let path = text_of(folder.path());
    // Without the library of the kernels, no host-* backend can run.
    let arguments = [path, "--backend", "host-bitslice", "--backend", "reference"];
    let text = ends(&kat(&arguments), 0, "2 passed, 0 failed, 2 skipped");
    contains(&text, &["LANECRYPT_HOST_KERNELS", "[aes/host-bitslice]"]);
    for expected in ["host-bitslice", "aes/host-bitslice, reference"] {
        let output = kat_expecting(expected, &arguments);
        let text = ends(&output, 1, "2 passed, 2 failed, 0 skipped");
        contains(&text, &["aes/host-bitslice: LANECRYPT_EXPECT names it", "(2 cases)"]);
    }
}

#[test]
fn the_backends_of_a_platform_are_listed() {
    let list = |arguments: &[&str]| {
        let output = kat(&[arguments, &["--list"]].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("names are UTF-8")
    };
    assert_eq!(list(&["--cipher", "des", "--backend", "table32"]), "des/table32\n");
    let ids = |prefix| {
        ["table-shared", "table-conflict-free", "bitslice"].map(|id| format!("des/{prefix}{id}\n"))
    };
    assert_eq!(list(&["--cipher", "des", "--platform", "cuda"]), ids("cuda-").concat());
    assert_eq!(list(&["--cipher", "des", "--platform", "host"]), ids("host-").concat());
    let of_platforms = ["cpu", "cuda", "host", "wgpu"].map(|name| list(&["--platform", name]));
    let lines = |text: &String| text.lines().count();
    assert_eq!(of_platforms.iter().map(lines).sum::<usize>(), lines(&list(&[])));
    assert!(of_platforms[0].starts_with("aes/reference\n"));
}

#[test]
fn a_platform_restricts_what_runs() {
    let folder = folder(ECB, &[ecb_line("one", CT)]);
    let path = text_of(folder.path());
    let text = ends(&kat(&[path, "--platform", "host"]), 1, "0 passed, 0 failed, 9 skipped");
    contains(&text, &["host-bitslice ", "1 files, 9 backends"]);
    // Nothing that was asked for runs there, so nothing would be tested.
    let output = kat(&[path, "--platform", "cpu", "--backend", "cuda-bitslice"]);
    assert_eq!(output.status.code(), Some(2));
    contains(&String::from_utf8_lossy(&output.stderr), &["no chosen backend", "CPU"]);
}

#[test]
fn nothing_run_is_a_failure() {
    // A file without a line, another cipher's file, and backends of which none can run.
    let empty = folder(ECB, &[]);
    let output = kat(&[text_of(empty.path())]);
    ends(&output, 1, "0 passed, 0 failed, 0 skipped");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    contains(&errors, &["nothing was run: no file has a line for a chosen cipher"]);
    let one = folder(ECB, &[ecb_line("one", CT)]);
    let path = text_of(one.path());
    ends(&kat(&[path, "--cipher", "des"]), 1, "0 passed, 0 failed, 0 skipped");
    let output = kat(&[path, "--backend", "host-bitslice"]);
    ends(&output, 1, "0 passed, 0 failed, 1 skipped");
    contains(
        &String::from_utf8_lossy(&output.stderr),
        &["nothing was run: every line was skipped"],
    );
}

#[test]
fn names_in_capitals_are_no_names() {
    let folder = folder(&ECB.replace("aes", "AES"), &[ecb_line("one", CT)]);
    let text = ends(&kat(&[text_of(folder.path())]), 1, "0 passed, 1 failed, 0 skipped");
    contains(&text, &["some.txt:1: field cipher", "\"AES\"", "lower-case"]);
}

#[test]
fn sums_are_checked() {
    use sha2::{Digest, Sha256};
    let folder = folder(ECB, &[ecb_line("one", CT)]);
    let path = text_of(folder.path());
    let arguments = [path, "--backend", "reference"];
    let digest = hex::encode(Sha256::digest(
        fs::read(folder.path().join("some.txt")).expect("the file was written"),
    ));
    let list = |text: &str| fs::write(folder.path().join("SHA256SUMS"), text).expect("a file");
    list(&format!("{digest}  some.txt\n"));
    ends(&kat(&arguments), 0, "1 passed, 0 failed, 0 skipped");
    list(&format!("{digest}  some.txt\n{digest}  gone.txt\n"));
    contains(&ends(&kat(&arguments), 1, "1 passed, 1 failed, 0 skipped"), &["gone.txt: "]);
    list(&format!("{}  some.txt\n", digest.replace(&digest[..1], "g")));
    contains(&ends(&kat(&arguments), 1, "1 passed, 1 failed, 0 skipped"), &["is not the one in"]);
    list("");
    contains(&ends(&kat(&arguments), 1, "1 passed, 1 failed, 0 skipped"), &["does not list it"]);
}

#[test]
fn what_must_run_without_a_gpu_is_listed() {
    let list = |option: &str| {
        let output = kat(&[option]);
        String::from_utf8(output.stdout).expect("names are UTF-8")
    };
    let (all, required) = (list("--list"), list("--list-required"));
    let missing: Vec<_> = all.lines().filter(|name| !required.contains(name)).collect();
    // What needs instructions that this CPU lacks is missing too.
    let cannot_run = |name: &str| {
        let (cipher, id) = name.split_once('/').expect("a cipher and a backend");
        let cipher = lanecrypt::find_cipher(cipher).expect("it is listed");
        cipher.backends.iter().any(|backend| backend.id == id && (backend.available)().is_err())
    };
    assert!(missing.iter().all(|name| name.contains("/cuda-") || cannot_run(name)), "{missing:?}");
    assert_eq!(required.matches("/cuda-").count(), 0);
    assert!(required.contains("aes/reference\n"));
}

#[test]
fn the_json_report_has_the_same_counts() {
    let folder = folder(ECB, &[ecb_line("one", CT)]);
    let file = folder.path().join("report.json");
    let arguments = [text_of(folder.path()), "--backend", "reference", "--json", text_of(&file)];
    ends(&kat(&arguments), 0, "1 passed, 0 failed, 0 skipped");
    let json = fs::read(&file).expect("the report was written");
    let report: serde_json::Value = serde_json::from_slice(&json).expect("it is JSON");
    assert_eq!(report["total"]["passed"], 1);
    assert_eq!(report["cells"][0]["backend"], "reference");
    assert_eq!(report["cells"][0]["mode"], "ecb");
}
