//! What is read and what is written: files, standard input, standard output.
//!
//! A file is written beside its name, and takes the name when it is complete and on the disk: until then, and
//! after any failure, what had the name before is as it was.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use crate::failure::{Failure, INTERRUPTED};

/// What is read.
pub(crate) struct Input {
    name: String,
    file: Box<dyn Read + Send>,
    length: Option<u64>,
}

impl Input {
    /// A file, or with `-` standard input.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            let name = "standard input".to_owned();
            return Ok(Self { name, file: Box::new(io::stdin()), length: None });
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(Failure::of(&name))?;
        let about = file.metadata().map_err(Failure::of(&name))?;
        if about.is_dir() {
            return Err(Failure::Usage(format!("{name}: a folder, where a file is wanted")));
        }
        let length = about.is_file().then_some(about.len());
        Ok(Self { name, file: Box::new(file), length })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes, where it is a file.
    pub(crate) fn length(&self) -> Option<u64> {
        self.length
    }
}

impl Read for Input {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.file.read(to)
    }
}

/// What is written.
pub(crate) struct Output {
    name: String,
    to: Destination,
}

enum Destination {
    StandardOutput,
    /// Something that is there and no file, such as `/dev/null` or a pipe: it cannot be replaced.
    Special(File),
    File(lanecrypt_tink::Output),
}

/// Set by a signal: whoever works for long looks at it, and ends.
pub(crate) static CANCELLED: AtomicBool = AtomicBool::new(false);
/// How long the work has for that: it may wait for an input that never comes.
const GRACE: Duration = Duration::from_secs(1);
/// The same where it never waits for others, but for a disk.
const GRACE_OF_FILES: Duration = Duration::from_secs(30);
/// Whether that is so.
static IS_OF_FILES: AtomicBool = AtomicBool::new(false);
/// Files that are being written, which nobody else would remove then.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Interrupted by a signal, the process leaves nothing unfinished behind, and exits with code 130.
pub(crate) fn end_when_interrupted() {
    let end = || {
        CANCELLED.store(true, Ordering::Relaxed);
        let is_of_files = IS_OF_FILES.load(Ordering::Relaxed);
        thread::sleep(if is_of_files { GRACE_OF_FILES } else { GRACE });
        for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            fs::remove_file(path).ok();
        }
        eprintln!("lanecrypt: {}", Failure::Interrupted);
        std::process::exit(INTERRUPTED.into());
    };
    if let Err(error) = ctrlc::set_handler(end) {
        eprintln!("lanecrypt: an interruption may leave an unfinished file behind: {error}");
    }
}

/// Says that what follows goes from file to file, so that it soon hears of an interruption.
pub(crate) fn goes_between_files() {
    IS_OF_FILES.store(true, Ordering::Relaxed);
}

impl Output {
    /// A file beside which it is written first, or with `-` standard output.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            let name = "standard output".to_owned();
            return Ok(Self { name, to: Destination::StandardOutput });
        }
        let name = path.display().to_string();
        let to = match fs::metadata(path) {
            Ok(about) if about.is_dir() => {
                return Err(Failure::Usage(format!("{name}: a folder, where a file is wanted")));
            }
            Ok(about) if !about.is_file() => {
                let file = File::options().write(true).open(path).map_err(Failure::of(&name))?;
                Destination::Special(file)
            }
            _ => {
                let output = lanecrypt_tink::Output::create(path)?;
                let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
                unfinished.push(output.temporary().to_owned());
                Destination::File(output)
            }
        };
        Ok(Self { name, to })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// All is written: a file takes its name.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        match self.to {
            Destination::File(output) => Ok(output.commit()?),
            Destination::StandardOutput | Destination::Special(_) => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            Destination::StandardOutput => io::stdout().write(from),
            Destination::Special(file) => file.write(from),
            Destination::File(output) => output.file().write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Destination::StandardOutput => io::stdout().flush(),
            Destination::Special(_) | Destination::File(_) => Ok(()),
        }
    }
}
