//! `lanecrypt seal`, `open`, `keyset` and `job`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use libtest_mimic::Failed;
use tempfile::TempDir;

use crate::{
    TINK,
    command::{Outcome, ensure, failure, fed, lanecrypt, noise, printed, text},
};

/// A folder with a keyset in it.
pub(crate) struct Desk {
    folder: TempDir,
    pub(crate) keys: String,
}

impl Desk {
    pub(crate) fn new(options: &[&str]) -> Result<Self, Failed> {
        let folder = tempfile::tempdir()?;
        let keys = text(&folder.path().join("keys")).to_owned();
        printed(&mut lanecrypt(&[&["keyset", "new", &keys], options].concat()), b"")?;
        Ok(Self { folder, keys })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A file with these bytes.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> Result<String, Failed> {
        fs::write(self.path(name), bytes)?;
        Ok(text(&self.path(name)).to_owned())
    }

    /// Runs a command with the keyset.
    pub(crate) fn run(
        &self,
        command: &str,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<Vec<u8>, Failed> {
        printed(&mut lanecrypt(&[&[command, "--keyset", &self.keys], arguments].concat()), input)
    }
}

pub(crate) fn files_and_streams() -> Outcome {
    for options in [&[][..], &["--template", "AES128_CTR_HMAC_SHA256_4KB"]] {
        let desk = Desk::new(options)?;
        for length in [0, 1, 4000, 1_048_520, 1_048_521, 3_500_000] {
            let plain = noise(length);
            let what = format!("{options:?}, {length} bytes");
            let file = desk.file("plain", &plain)?;
            let [sealed, opened] = ["sealed", "opened"].map(|name| desk.path(name));
            let (sealed, opened) = (text(&sealed), text(&opened));
            desk.run("seal", &["--ad", "of mine", &file, sealed], b"")?;
            desk.run("open", &["--ad", "of mine", sealed, opened], b"")?;
            ensure(fs::read(opened)? == plain, format!("{what}: from file to file"))?;
            desk.run("open", &["--ad", "of mine", "--sparse", sealed, opened], b"")?;
            ensure(fs::read(opened)? == plain, format!("{what}: with holes"))?;
            let streamed = desk.run("seal", &["--ad", "of mine"], &plain)?;
            let back = desk.run("open", &["--ad", "of mine", "-", "-"], &streamed)?;
            ensure(back == plain, format!("{what}: from stream to stream"))?;
            let other = ["open", "--keyset", &desk.keys, "--ad", "of others"];
            let refused = fed(&mut lanecrypt(&other), &streamed)?;
            let is_refused = refused.status.code() == Some(3) && refused.stdout.is_empty();
            ensure(is_refused, format!("{what}: {}", refused.status))?;
        }
    }
    Ok(())
}

pub(crate) fn ranges() -> Outcome {
    let desk = Desk::new(&[])?;
    let plain = noise(3_000_000);
    let file = desk.file("plain", &plain)?;
    let sealed = desk.path("sealed");
    let sealed = text(&sealed);
    desk.run("seal", &[&file, sealed], b"")?;
    for (range, expected) in [
        ("0..0", 0..0),
        ("5..6", 5..6),
        ("1M..2M", 1 << 20..2 << 20),
        ("1048519..2097081", 1_048_519..2_097_081),
        ("2999999..", 2_999_999..3_000_000),
        ("..7", 0..7),
    ] {
        let part = desk.run("open", &["--range", range, sealed, "-"], b"")?;
        ensure(part == plain[expected], format!("range {range}"))?;
    }
    let open = ["open", "--keyset", &desk.keys, "--range", "7..3000001", sealed];
    let beyond = fed(&mut lanecrypt(&open), b"")?;
    ensure(beyond.status.code() == Some(2), format!("beyond the end: {}", beyond.status))?;
    let open = ["open", "--keyset", &desk.keys];
    let named =
        format!("{sealed}: there are no bytes 3000001 to 3000001 in a plaintext of 3000000");
    for (options, named) in [
        (&["--range", "3000001..", sealed, "-"][..], named.as_str()),
        (&["--range", "5..7", "--sparse", sealed, "-"], "--sparse"),
    ] {
        let (code, complaint) = failure(lanecrypt(&open).args(options), b"")?;
        let is_right = code == 2 && complaint.contains(named);
        ensure(is_right, format!("{options:?}: exit code {code}: {complaint}"))?;
    }
    Ok(())
}

pub(crate) fn jobs() -> Outcome {
    let desk = Desk::new(&[])?;
    let plain = noise(9_000_000);
    let file = desk.file("plain", &plain)?;
    let [sealed, job] = ["sealed", "job.json"].map(|name| desk.path(name));
    let (sealed, job) = (text(&sealed), text(&job));
    let new = ["job", "new", "--keyset", &desk.keys, "--part-bytes", "1M", "--ad", "x"];
    fs::write(job, printed(&mut lanecrypt(&[&new[..], &[&file, sealed]].concat()), b"")?)?;
    let commit = ["job", "commit", job, sealed];
    let code = |arguments: &[&str]| -> Result<Option<i32>, Failed> {
        Ok(fed(&mut lanecrypt(arguments), b"")?.status.code())
    };
    for part in ["3/3", "1/3", "1/3"] {
        desk.run("seal", &["--job", job, "--part", part, &file, sealed], b"")?;
        ensure(code(&commit)? != Some(0), "not all parts are there")?;
        ensure(code(&["job", "status", job, sealed])? == Some(1), "something is missing")?;
    }
    desk.run("seal", &["--job", job, "--part", "2/3", &file, sealed], b"")?;
    ensure(code(&["job", "status", job, sealed])? == Some(0), "nothing is missing")?;
    ensure(code(&commit)? == Some(0), "all parts are there")?;
    let opened = desk.run("open", &["--ad", "x", sealed], b"")?;
    ensure(opened == plain, "what the job made")?;

    // A source that is written to is another one.
    fs::write(job, printed(&mut lanecrypt(&[&new[..], &[&file, sealed]].concat()), b"")?)?;
    desk.file("plain", &plain)?;
    let seal = ["seal", "--keyset", &desk.keys, "--job", job, "--part", "1/1", &file, sealed];
    ensure(code(&seal)? == Some(1), "the source changed")?;
    ensure(code(&["job", "discard", job, sealed])? == Some(0), "given up")?;
    let left = fs::read_dir(desk.folder.path())?.count();
    ensure(left == 4, format!("{left} files are left"))
}

/// A worker that is started once more has nothing left to do, and one that seals elsewhere is told.
pub(crate) fn workers_of_a_job() -> Outcome {
    let desk = Desk::new(&[])?;
    let file = desk.file("plain", &noise(3_000_000))?;
    let [sealed, other] = ["sealed", "other"].map(|name| desk.path(name));
    let new = ["job", "new", "--keyset", &desk.keys, "--part-bytes", "1M", &file, text(&sealed)];
    let job = desk.file("job.json", &printed(&mut lanecrypt(&new), b"")?)?;
    let part = |part, output| -> Result<(i32, String), Failed> {
        let seal = ["seal", "--keyset", &desk.keys, "--job", &job, "--part", part, &file, output];
        failure(&mut lanecrypt(&seal), b"")
    };
    let commit = ["job", "commit", &job, text(&sealed)];
    ensure(part("1/2", text(&sealed))?.0 == 0, "the first part")?;
    let (code, complaint) = failure(&mut lanecrypt(&commit), b"")?;
    let is_right = code == 1 && complaint.contains("1 of 3 pieces are missing");
    ensure(is_right, format!("half a job: exit code {code}: {complaint}"))?;
    // There is no fourth piece, so that part 4 of 4 has nothing to do, where the job's output is.
    for number in ["1/2", "4/4"] {
        let (code, complaint) = part(number, text(&other))?;
        let is_right = code == 1 && complaint.contains("the job has no files beside it");
        ensure(is_right, format!("{number} elsewhere: exit code {code}: {complaint}"))?;
    }
    for number in ["4/4", "2/2"] {
        ensure(part(number, text(&sealed))?.0 == 0, number)?;
    }
    printed(&mut lanecrypt(&commit), b"")?;
    let (code, complaint) = part("2/2", text(&sealed))?;
    ensure(code == 0, format!("after the commit: exit code {code}: {complaint}"))
}

pub(crate) fn tampered() -> Outcome {
    let desk = Desk::new(&[])?;
    let good = desk.run("seal", &[], &noise(2_500_000))?;
    let sealed = desk.path("sealed");
    let sealed = text(&sealed);
    let target = desk.file("opened", b"what was there")?;
    let flipped = |at: usize| {
        let mut bad = good.clone();
        bad[at] ^= 1;
        bad
    };
    let cut = |at: usize| good[..at].to_vec();
    let bad = [flipped(3), flipped(1000), flipped(2_000_000), flipped(good.len() - 1)];
    let cut = [cut(0), cut(17), cut(1 << 20), cut(2 << 20), cut(good.len() - 1)];
    for bad in bad.into_iter().chain(cut).chain([[&good[..], b"x"].concat()]) {
        fs::write(sealed, &bad)?;
        let open = ["open", "--keyset", &desk.keys, sealed, &target];
        let found = fed(&mut lanecrypt(&open), b"")?;
        let complaint = String::from_utf8_lossy(&found.stderr).into_owned();
        let is_named = complaint.contains(&format!("{sealed}: "));
        let is_right = found.status.code() == Some(3) && is_named;
        ensure(is_right, format!("{}: {complaint}", found.status))?;
        ensure(fs::read(&target)? == b"what was there", "the old output is lost")?;
        // Of a stream only what is authentic comes out.
        let streamed = fed(&mut lanecrypt(&["open", "--keyset", &desk.keys]), &bad)?;
        let is_prefix = noise(2_500_000).starts_with(&streamed.stdout);
        ensure(is_prefix && streamed.status.code() == Some(3), "unverified plaintext")?;
    }
    Ok(())
}

pub(crate) fn the_wheel_opens_it() -> Outcome {
    const PROGRAM: &str = "
import io, sys, tink
from tink import cleartext_keyset_handle, streaming_aead
streaming_aead.register()
handle = cleartext_keyset_handle.read(tink.JsonKeysetReader(open(sys.argv[1]).read()))
primitive = handle.primitive(streaming_aead.StreamingAead)
with primitive.new_decrypting_stream(io.BytesIO(open(sys.argv[2], 'rb').read()), b'of mine') as source:
    sys.stdout.buffer.write(source.read())
";
    let desk = Desk::new(&[])?;
    let plain = noise(2_222_222);
    let file = desk.file("plain", &plain)?;
    let sealed = desk.path("sealed");
    desk.run("seal", &["--ad", "of mine", &file, text(&sealed)], b"")?;
    let mut python = TINK.command()?;
    let opened = printed(python.args(["-c", PROGRAM, &desk.keys, text(&sealed)]), b"")?;
    ensure(opened == plain, "the wheel opens it")
}
