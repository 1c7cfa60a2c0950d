//! Whole files on a RAM disk, encrypted and decrypted by commands as people type them: P5's test. Ours beside
//! others', each from its start to its end, and what comes back is compared with what went in.

use std::{
    env, fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use lanecrypt_judges::{Judge, program, python};
use lanecrypt_record::{Figure, Step};

use super::passes::{clocked, median};
use crate::bench::{options::Options, plan::noise};
use crate::size::size_name;

const OPENSSL: Judge = program("openssl");
const AGE: Judge = program("age");
const AGE_KEYGEN: Judge = program("age-keygen");
const TINK: Judge = python("tink");

/// Runs that the median is of; odd.
const SAMPLES: usize = 3;
const BYTES: [usize; 3] = [1 << 20, 64 << 20, 1 << 30];
const QUICK_BYTES: [usize; 2] = [1 << 20, 64 << 20];
/// A RAM disk that every Linux has.
const RAM_DISK: &str = "/dev/shm";
const IV: &str = "000102030405060708090a0b0c0d0e0f";

/// The wheel's sealing and opening of a file: keyset, what to do, from, to.
const WHEEL: &str = "
import shutil, sys, tink
from tink import cleartext_keyset_handle, streaming_aead
streaming_aead.register()
keyset, what, source, target = sys.argv[1:]
handle = cleartext_keyset_handle.read(tink.JsonKeysetReader(open(keyset).read()))
primitive = handle.primitive(streaming_aead.StreamingAead)
with open(source, 'rb') as source, open(target, 'wb') as target:
    if what == 'encrypt':
        with primitive.new_encrypting_stream(target, b'') as stream:
            shutil.copyfileobj(source, stream, 1 << 20)
    else:
        with primitive.new_decrypting_stream(source, b'') as stream:
            shutil.copyfileobj(stream, target, 1 << 20)
";

/// Measures every command that is here; those that are not are named on standard error.
///
/// # Errors
/// A sentence naming what failed; another plaintext than the one that went in is a failure.
pub(crate) fn measure(options: &Options) -> Result<Vec<Figure>, String> {
    if !Path::new(RAM_DISK).is_dir() {
        eprintln!("files: there is no RAM disk at {RAM_DISK}");
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir_in(RAM_DISK).map_err(|error| error.to_string())?;
    let desk = Desk { folder: folder.path().to_owned() };
    let tools = desk.tools(options);
    let mut measured = Vec::new();
    for bytes in options.sizes(&BYTES, &QUICK_BYTES) {
        // The plaintext, what it becomes, and what comes back.
        if desk.free_bytes() < 3 * bytes as u64 + (64 << 20) {
            eprintln!("files: {RAM_DISK} has no room for three files of {}", size_name(bytes));
            continue;
        }
        desk.write_plaintext(bytes).map_err(|error| format!("{RAM_DISK}: {error}"))?;
        for tool in &tools {
            for (step, command) in [Step::Encryption, Step::Decryption].iter().zip(&tool.commands) {
                measured.push(Figure {
                    backend: tool.name.to_owned(),
                    step: *step,
                    bytes,
                    samples: SAMPLES,
                    seconds: desk.seconds(command)?,
                    ..Figure::default()
                });
            }
            desk.compare().map_err(|error| format!("{}: {error}", tool.name))?;
        }
    }
    Ok(measured)
}

/// A program, and how it is called for each direction.
struct Tool {
    name: &'static str,
    commands: [Vec<String>; 2],
}

/// The folder with keys and files.
struct Desk {
    folder: PathBuf,
}

impl Desk {
    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// The commands that are here, with keys made.
    fn tools(&self, options: &Options) -> Vec<Tool> {
        let made = [self.ours(options), self.openssl(), self.age(), self.wheel(), Ok(self.copy())];
        let mut tools = Vec::new();
        for made in made {
            match made {
                Ok(some) => tools.extend(some),
                Err(error) => eprintln!("files: {error}"),
            }
        }
        tools
    }

    /// Ours: sealed, and P5's ECB with all key sizes; on a GPU as well, unless only the CPU is wanted.
    fn ours(&self, options: &Options) -> io::Result<Vec<Tool>> {
        let lanecrypt = our_command()?;
        let keys = self.path("keys");
        quiet(Command::new(&lanecrypt).args(["keyset", "new", &keys]))?;
        let has_gpu = !options.cpu_only && lanecrypt::cuda::Device::default().is_ok();
        let mut tools = Vec::new();
        let call = |command: &str, options: &[&str], backend: &str, decrypt: &[&str]| {
            let backend = ["--quiet", "--backend", backend];
            let words = [&[lanecrypt.as_str(), command], options, decrypt, &backend[..]].concat();
            self.between(&words, decrypt.is_empty() && command != "open")
        };
        for (backend, name) in [("cpu", "lanecrypt seal, CPU"), ("cuda", "lanecrypt seal, GPU")] {
            if backend == "cpu" && !options.gpu_only || backend == "cuda" && has_gpu {
                let keyset = ["--keyset", keys.as_str()];
                let commands = ["seal", "open"].map(|way| call(way, &keyset, backend, &[]));
                tools.push(Tool { name, commands });
            }
        }
        for (bits, names) in [
            (128, ["lanecrypt raw ecb aes-128, CPU", "lanecrypt raw ecb aes-128, GPU"]),
            (192, ["lanecrypt raw ecb aes-192, CPU", "lanecrypt raw ecb aes-192, GPU"]),
            (256, ["lanecrypt raw ecb aes-256, CPU", "lanecrypt raw ecb aes-256, GPU"]),
        ] {
            let file = self.path(&format!("key-{bits}"));
            fs::write(&file, "5a".repeat(bits / 8))?;
            let cipher = format!("aes-{bits}");
            let raw = ["ecb", "--cipher", &cipher, "--key-file", &file];
            for (backend, name) in ["cpu", "cuda"].into_iter().zip(names) {
                if backend == "cpu" && !options.gpu_only || backend == "cuda" && has_gpu {
                    let commands = [&[][..], &["-d"]].map(|way| call("raw", &raw, backend, way));
                    tools.push(Tool { name, commands });
                }
            }
        }
        Ok(tools)
    }

    fn openssl(&self) -> io::Result<Vec<Tool>> {
        let openssl = OPENSSL.command()?.get_program().to_string_lossy().into_owned();
        let key = "5a".repeat(32);
        let tool = |name, cipher: &str| {
            let words = [&openssl, "enc", cipher, "-K", &key, "-iv", IV];
            let files = |from: &str, to: &str, more: &[&str]| {
                let (from, to) = (self.path(from), self.path(to));
                let words = words.iter().chain(more).copied().chain(["-in", &from, "-out", &to]);
                words.map(str::to_owned).collect()
            };
            let commands = [files("plain", "sealed", &[]), files("sealed", "opened", &["-d"])];
            Tool { name, commands }
        };
        Ok(vec![
            tool("openssl enc aes-256-ctr", "-aes-256-ctr"),
            tool("openssl enc camellia-256-ctr", "-camellia-256-ctr"),
        ])
    }

    fn age(&self) -> io::Result<Vec<Tool>> {
        let age = AGE.command()?.get_program().to_string_lossy().into_owned();
        let key = self.path("age-key");
        quiet(AGE_KEYGEN.command()?.args(["-o", &key]))?;
        let files = |way: &str, from: &str, to: &str| {
            let to = self.path(to);
            [&age, way, "-i", &key, "-o", &to, &self.path(from)].map(str::to_owned).to_vec()
        };
        let commands = [files("-e", "plain", "sealed"), files("-d", "sealed", "opened")];
        Ok(vec![Tool { name: "age", commands }])
    }

    fn wheel(&self) -> io::Result<Vec<Tool>> {
        let python = TINK.command()?.get_program().to_string_lossy().into_owned();
        let keys = self.path("keys");
        if !Path::new(&keys).exists() {
            return Err(io::Error::other(
                "the wheel of Tink takes the keys of the command lanecrypt",
            ));
        }
        let commands = ["encrypt", "decrypt"].map(|way| {
            let words = [python.as_str(), "-c", WHEEL, &keys, way];
            self.between(&words, way == "encrypt")
        });
        Ok(vec![Tool { name: "Tink's wheel", commands }])
    }

    /// What the RAM disk itself takes.
    fn copy(&self) -> Vec<Tool> {
        let commands = [true, false].map(|encrypts| self.between(&["cp"], encrypts));
        vec![Tool { name: "cp", commands }]
    }

    /// A command that ends with the names of its input and output.
    fn between(&self, words: &[&str], encrypts: bool) -> Vec<String> {
        let files = if encrypts { ["plain", "sealed"] } else { ["sealed", "opened"] };
        let files = files.map(|name| self.path(name));
        words.iter().map(|&word| word.to_owned()).chain(files).collect()
    }

    fn write_plaintext(&self, bytes: usize) -> io::Result<()> {
        for old in ["sealed", "opened"] {
            fs::remove_file(self.path(old)).ok();
        }
        let mut file = fs::File::create(self.path("plain"))?;
        let noise = noise(64 << 20);
        for start in (0..bytes).step_by(noise.len()) {
            file.write_all(&noise[..noise.len().min(bytes - start)])?;
        }
        Ok(())
    }

    /// Seconds of a command; its output is a new file each time.
    fn seconds(&self, words: &[String]) -> Result<f64, String> {
        let mut seconds = Vec::new();
        for _ in 0..SAMPLES {
            if let Some(output) = words.iter().find(|word| self.is_output(words, word)) {
                fs::remove_file(output).ok();
            }
            seconds.push(clocked(|| {
                quiet(Command::new(&words[0]).args(&words[1..])).map_err(|error| error.to_string())
            })?);
        }
        Ok(median(seconds))
    }

    /// Of the files that a command names, the one that it makes.
    fn is_output(&self, words: &[String], word: &str) -> bool {
        let made = if words.contains(&self.path("plain")) { "sealed" } else { "opened" };
        word == self.path(made)
    }

    fn compare(&self) -> Result<(), String> {
        let open = |name| fs::File::open(self.path(name)).map_err(|error| error.to_string());
        let (mut plain, mut opened) = (open("plain")?, open("opened")?);
        let mut pieces = [vec![0; 8 << 20], vec![0; 8 << 20]];
        loop {
            let [left, right] = &mut pieces;
            let count = fill(&mut plain, left).map_err(|error| error.to_string())?;
            let other = fill(&mut opened, right).map_err(|error| error.to_string())?;
            if count != other || left[..count] != right[..count] {
                return Err("what comes back is not what went in".to_owned());
            }
            if count == 0 {
                return Ok(());
            }
        }
    }

    /// Bytes that there is room for, as `df` says.
    fn free_bytes(&self) -> u64 {
        let df = Command::new("df").args(["--output=avail", "-B1"]).arg(&self.folder).output();
        let text = df.map(|df| String::from_utf8_lossy(&df.stdout).into_owned());
        let number = |text: String| text.lines().nth(1)?.trim().parse().ok();
        text.ok().and_then(number).unwrap_or(0)
    }
}

/// Reads until the piece is full or the file ends.
fn fill(file: &mut fs::File, piece: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match file.read(&mut piece[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// The command `lanecrypt`: beside this program, where cargo puts both.
fn our_command() -> io::Result<String> {
    let beside = env::current_exe()?.with_file_name("lanecrypt");
    if beside.is_file() {
        return Ok(beside.display().to_string());
    }
    let text = "there is no lanecrypt beside this program: cargo build --release -p lanecrypt-cli";
    Err(io::Error::new(io::ErrorKind::NotFound, text))
}

/// Runs a command; what it says is part of the error if it fails.
fn quiet(command: &mut Command) -> io::Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let name = command.get_program().to_string_lossy().into_owned();
    Err(io::Error::other(format!("{name} ended with {}: {}", output.status, said.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_what_they_read_and_make() {
        let desk = Desk { folder: "/tmp".into() };
        let [to, back] = [true, false].map(|encrypts| desk.between(&["cp"], encrypts));
        assert_eq!(to, ["cp", "/tmp/plain", "/tmp/sealed"]);
        assert_eq!(back, ["cp", "/tmp/sealed", "/tmp/opened"]);
        assert!(desk.is_output(&to, "/tmp/sealed") && !desk.is_output(&to, "/tmp/plain"));
        assert!(desk.is_output(&back, "/tmp/opened") && !desk.is_output(&back, "/tmp/sealed"));
    }
}
