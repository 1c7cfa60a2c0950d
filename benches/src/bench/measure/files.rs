//! Whole files on a RAM disk, encrypted and decrypted by commands as people type them: P5's test. Ours beside
//! others', each from its start to its end, and what comes back is compared with what went in.

use std::{
    env, fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use lanecrypt_judges::{Judge, program, python};
use lanecrypt_record::{Figure, Place, Step};

use super::passes::{clocked, median};
use crate::bench::{options::Options, plan::noise};
use crate::size::size_name;

const AGE_KEYGEN: Judge = program("age-keygen");

/// Whose command it is.
#[derive(Clone, Copy, PartialEq)]
enum Program {
    Ours,
    OpenSsl,
    Age,
    /// Python with Tink's wheel.
    Tink,
    Copy,
}

/// A command that encrypts and decrypts files: its name, whose it is, where it runs, and its words as people
/// type them. Of `{a|b}` the first is for encryption, the other for decryption; words in capitals are files, keys and what else is the same every time.
type Tool = (&'static str, Program, Place, &'static str);

#[rustfmt::skip]
const TOOLS: [Tool; 13] = {
    use {Place::{Cpu, EndToEnd as Gpu}, Program::{Age, Copy, OpenSsl, Ours, Tink}};
    [
        ("lanecrypt seal, CPU", Ours, Cpu, "{seal|open} --keyset KEYS --quiet --backend cpu IN OUT"),
        ("lanecrypt seal, GPU", Ours, Gpu, "{seal|open} --keyset KEYS --quiet --backend cuda IN OUT"),
        ("lanecrypt raw ecb aes-128, CPU", Ours, Cpu, "raw ecb --cipher aes-128 --key-file KEY-128 {|-d} --quiet --backend cpu IN OUT"),
        ("lanecrypt raw ecb aes-128, GPU", Ours, Gpu, "raw ecb --cipher aes-128 --key-file KEY-128 {|-d} --quiet --backend cuda IN OUT"),
        ("lanecrypt raw ecb aes-192, CPU", Ours, Cpu, "raw ecb --cipher aes-192 --key-file KEY-192 {|-d} --quiet --backend cpu IN OUT"),
        ("lanecrypt raw ecb aes-192, GPU", Ours, Gpu, "raw ecb --cipher aes-192 --key-file KEY-192 {|-d} --quiet --backend cuda IN OUT"),
        ("lanecrypt raw ecb aes-256, CPU", Ours, Cpu, "raw ecb --cipher aes-256 --key-file KEY-256 {|-d} --quiet --backend cpu IN OUT"),
        ("lanecrypt raw ecb aes-256, GPU", Ours, Gpu, "raw ecb --cipher aes-256 --key-file KEY-256 {|-d} --quiet --backend cuda IN OUT"),
        ("openssl enc aes-256-ctr", OpenSsl, Cpu, "enc -aes-256-ctr -K KEY -iv IV {|-d} -in IN -out OUT"),
        ("openssl enc camellia-256-ctr", OpenSsl, Cpu, "enc -camellia-256-ctr -K KEY -iv IV {|-d} -in IN -out OUT"),
        ("age", Age, Cpu, "{-e|-d} -i AGE-KEY -o OUT IN"),
        ("Tink's wheel", Tink, Cpu, "-c WHEEL KEYS {encrypt|decrypt} IN OUT"),
        ("cp", Copy, Cpu, "IN OUT"), // what the RAM disk itself takes
    ]
};
const DIRECTIONS: [Step; 2] = [Step::Encryption, Step::Decryption];

/// Runs that the median is of; odd.
const SAMPLES: usize = 3;
const BYTES: [usize; 3] = [1 << 20, 64 << 20, 1 << 30];
const QUICK_BYTES: [usize; 2] = [1 << 20, 64 << 20];
/// A RAM disk that every Linux has.
const RAM_DISK: &str = "/dev/shm";

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
        for (program, tool) in &tools {
            let &&(name, .., words) = tool;
            for step in DIRECTIONS {
                measured.push(Figure {
                    backend: name.to_owned(),
                    step,
                    bytes,
                    samples: SAMPLES,
                    seconds: desk.seconds(program, words, step)?,
                    ..Figure::default()
                });
            }
            desk.compare().map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(measured)
}

/// The folder with keys and files.
struct Desk {
    folder: PathBuf,
}

impl Desk {
    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// The commands that are here and wanted, each with its program's path, their keys made.
    fn tools(&self, options: &Options) -> Vec<(String, &'static Tool)> {
        let has_gpu = !options.cpu_only && lanecrypt::cuda::Device::default().is_ok();
        let is_wanted = |tool: &&'static Tool| match tool {
            (_, Program::Ours, Place::Cpu, _) => !options.gpu_only,
            (_, Program::Ours, ..) => has_gpu,
            _ => true,
        };
        let mut tools = Vec::new();
        for of_program in TOOLS.chunk_by(|a, b| a.1 == b.1) {
            match self.program(of_program[0].1) {
                Ok(path) => tools
                    .extend(of_program.iter().filter(is_wanted).map(|tool| (path.clone(), tool))),
                Err(error) => eprintln!("files: {error}"),
            }
        }
        tools
    }

    /// Where a program is, with its keys made.
    fn program(&self, of: Program) -> io::Result<String> {
        let found = |judge: Judge| {
            let command = judge.command()?;
            Ok::<_, io::Error>(command.get_program().to_string_lossy().into_owned())
        };
        match of {
            Program::Ours => {
                let path = our_command()?;
                quiet(Command::new(&path).args(["keyset", "new", &self.path("KEYS")]))?;
                for bits in [128, 192, 256] {
                    fs::write(self.path(&format!("KEY-{bits}")), "5a".repeat(bits / 8))?;
                }
                Ok(path)
            }
            Program::OpenSsl => found(program("openssl")),
            Program::Age => {
                let path = found(program("age"))?;
                quiet(AGE_KEYGEN.command()?.args(["-o", &self.path("AGE-KEY")]))?;
                Ok(path)
            }
            Program::Tink if !Path::new(&self.path("KEYS")).exists() => {
                Err(io::Error::other("the wheel of Tink takes the keys of the command lanecrypt"))
            }
            Program::Tink => found(python("tink")),
            Program::Copy => Ok("cp".to_owned()),
        }
    }

    /// The words of a command in one direction, with paths for files.
    fn words(&self, words: &str, step: Step) -> Vec<String> {
        let [from, to] = files(step);
        let word = |word: &str| {
            let choice = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
            let choice = choice.and_then(|word| word.split_once('|'));
            match (choice, word) {
                (Some((encrypts, _)), _) if step == Step::Encryption => encrypts.to_owned(),
                (Some((_, decrypts)), _) => decrypts.to_owned(),
                (None, "IN") => self.path(from),
                (None, "OUT") => self.path(to),
                (None, "WHEEL") => WHEEL.to_owned(),
                (None, "KEY") => "5a".repeat(32),
                (None, "IV") => "000102030405060708090a0b0c0d0e0f".to_owned(),
                (None, word) if word.starts_with("KEY") || word == "AGE-KEY" => self.path(word),
                (None, word) => word.to_owned(),
            }
        };
        words.split(' ').map(word).filter(|word| !word.is_empty()).collect()
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
    fn seconds(&self, program: &str, words: &str, step: Step) -> Result<f64, String> {
        let words = self.words(words, step);
        let mut seconds = Vec::new();
        for _ in 0..SAMPLES {
            fs::remove_file(self.path(files(step)[1])).ok();
            let run = || quiet(Command::new(program).args(&words));
            seconds.push(clocked(|| run().map_err(|error| error.to_string()))?);
        }
        Ok(median(seconds))
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

/// What a command reads, and what it makes.
fn files(step: Step) -> [&'static str; 2] {
    if step == Step::Encryption { ["plain", "sealed"] } else { ["sealed", "opened"] }
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
        let desk = Desk { folder: "/d".into() };
        let of = |name: &str, step| {
            let tool = TOOLS.iter().find(|tool| tool.0 == name).expect("it is there");
            desk.words(tool.3, step).join(" ")
        };
        assert_eq!(of("cp", Step::Encryption), "/d/plain /d/sealed");
        assert_eq!(of("age", Step::Decryption), "-d -i /d/AGE-KEY -o /d/opened /d/sealed");
        let raw = "lanecrypt raw ecb aes-192, GPU";
        let words = "raw ecb --cipher aes-192 --key-file /d/KEY-192 -d --quiet --backend cuda";
        assert_eq!(of(raw, Step::Decryption), format!("{words} /d/sealed /d/opened"));
        let words = words.replace(" -d", "");
        assert_eq!(of(raw, Step::Encryption), format!("{words} /d/plain /d/sealed"));
    }
}
