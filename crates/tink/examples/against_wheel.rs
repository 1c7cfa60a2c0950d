//! Seals and opens one file by this library and by Tink's Python wheel in turn:
//! `cargo run --release --example against_wheel -- [MIB] [ROUNDS] [TEMPLATE]`.
//!
//! Prints GB/s, seconds of CPU per GB, which others that run beside disturb less, and how much faster
//! this library is than the wheel by each.
//!
//! The files lie in /dev/shm where that is a folder. The row `copy` is this library's reading and
//! writing with a runner that encrypts nothing: no cipher is faster than that.

#[path = "common/files.rs"]
mod files;

use std::{
    env,
    error::Error,
    fs::{self, File},
    io,
    path::Path,
};

use files::{Comparing, Time, timed, write_text};
use lanecrypt_judges::{Judge, python};
use lanecrypt_tink::{
    Cpu, Keyset, Options, Segment, SegmentCipher, SegmentRunner, Template, open_file, seal_file,
};
use tempfile::TempDir;

const TINK: Judge = python("tink");

/// Seals or opens with the wheel, through Python's file objects, and prints seconds.
const SCRIPT: &str = r#"
import shutil, sys, time, tink
from tink import cleartext_keyset_handle, streaming_aead
streaming_aead.register()
what, keyset, source, target = sys.argv[1:]
handle = cleartext_keyset_handle.read(tink.JsonKeysetReader(open(keyset).read()))
primitive = handle.primitive(streaming_aead.StreamingAead)
begin = time.perf_counter(), time.process_time()
with open(source, "rb") as source, open(target, "wb") as target:
    if what == "seal":
        with primitive.new_encrypting_stream(target, b"") as sealer:
            shutil.copyfileobj(source, sealer, 1 << 20)
    else:
        with primitive.new_decrypting_stream(source, b"") as opener:
            shutil.copyfileobj(opener, target, 1 << 20)
print(time.perf_counter() - begin[0], time.process_time() - begin[1])
"#;

/// Encrypts nothing.
#[derive(Debug)]
struct Copy;

impl SegmentRunner for Copy {
    fn batch_bytes(&self) -> usize {
        Cpu::new(0).batch_bytes()
    }

    fn threads(&self) -> usize {
        Cpu::new(0).threads()
    }

    fn seal_batch(
        &self,
        _: &SegmentCipher,
        _: &mut [Segment<'_>],
    ) -> Result<(), lanecrypt_tink::Error> {
        Ok(())
    }

    fn open_batch(
        &self,
        _: &SegmentCipher,
        _: &mut [Segment<'_>],
    ) -> Result<(), lanecrypt_tink::Error> {
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let mebibytes = arguments.next().map_or(Ok(64), |text| text.parse::<u64>())?;
    let rounds = arguments.next().map_or(Ok(3), |text| text.parse::<usize>())?;
    let template = arguments.next().map_or(Ok(Template::default()), |text| text.parse())?;
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory)? } else { TempDir::new()? };
    let [plain, sealed, opened, keyset_file, script] =
        ["plain", "sealed", "opened", "keyset", "wheel.py"].map(|name| folder.path().join(name));
    let keyset = Keyset::generate(template.parameters())?;
    fs::write(&keyset_file, &*keyset.to_json()?)?;
    fs::write(&script, SCRIPT)?;
    write_text(&plain, mebibytes)?;
    let wheel = |what: &str, from: &Path, to: &Path| -> Result<Time, Box<dyn Error>> {
        let mut command = TINK.command()?;
        command.arg(&script).arg(what).arg(&keyset_file).arg(from).arg(to);
        let output = command.output()?;
        let text = String::from_utf8(output.stdout)?;
        let times = text.split_whitespace().map(str::parse).collect::<Result<Vec<_>, _>>()?;
        match times[..] {
            [wall, cpu] => Ok(Time { wall, cpu }),
            _ => Err(String::from_utf8_lossy(&output.stderr).into()),
        }
    };
    let gigabytes = (mebibytes << 20) as f64 / 1e9;
    println!("{template}, {mebibytes} MiB in {}", folder.path().display());
    let show = |name: &str, time: &Time| {
        println!("{name:12} {:6.2} GB/s {:6.2} s/GB", gigabytes / time.wall, time.cpu / gigabytes);
    };
    let compare = |what: &str, ours: &Time, wheel: &Time| {
        show(&format!("{what}, ours"), ours);
        show(&format!("{what}, wheel"), wheel);
        println!("{:18.1}x {:11.1}x", wheel.wall / ours.wall, wheel.cpu / ours.cpu);
    };
    let copying = Options { runner: &Copy, ..Options::default() };
    for _ in 0..rounds {
        show("copy", &timed(|| seal_file(&keyset, &plain, &sealed, copying))?);
        fs::remove_file(&sealed)?;
        let wheel_seal = wheel("seal", &plain, &sealed)?;
        fs::remove_file(&sealed)?;
        let seal = timed(|| seal_file(&keyset, &plain, &sealed, Options::default()))?;
        compare("seal", &seal, &wheel_seal);
        // Never more than two of these files at once: they may be as large as half of the memory.
        fs::remove_file(&plain)?;
        let wheel_open = wheel("open", &sealed, &opened)?;
        check(&opened, mebibytes)?;
        fs::remove_file(&opened)?;
        let open = timed(|| open_file(&keyset, &sealed, &opened, Options::default()))?;
        check(&opened, mebibytes)?;
        compare("open", &open, &wheel_open);
        fs::remove_file(&sealed)?;
        fs::rename(&opened, &plain)?;
    }
    Ok(())
}

/// Fails where a file is not what was sealed.
fn check(path: &Path, mebibytes: u64) -> Result<(), Box<dyn Error>> {
    let mut comparing = Comparing::new(mebibytes);
    io::copy(&mut File::open(path)?, &mut comparing)?;
    comparing.finish()
}
