//! What is read and what is written: files, standard input, standard output.
//!
//! A file is written beside its name, and takes the name when it is complete and on the disk: until then, and
//! after any failure, what had the name before is as it was.

use std::{
    fs::{self, File},
    io::{self, IsTerminal, Read, Write},
    os::{
        fd::{AsFd, AsRawFd},
        unix::fs::{FileTypeExt, MetadataExt},
    },
    path::Path,
    sync::{Mutex, PoisonError},
};

use rustix::fs::{OFlags, fcntl_getfl};

use crate::{failure::Failure, signals};

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
            let (name, file) = ("standard input".to_owned(), standard_input("the input")?);
            return Ok(Self { name, file: Box::new(file), length: None });
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(Failure::of(&name))?;
        let about = file.metadata().map_err(Failure::of(&name))?;
        if about.is_dir() {
            return Err(Failure::Usage(format!("{name}: is a folder, not a file")));
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

/// What standard input is read as, once it is.
static STANDARD_INPUT: Mutex<Option<&'static str>> = Mutex::new(None);

/// Standard input, which is read as one thing only: it has nothing left for a second.
///
/// # Errors
/// [`Failure::Usage`] the second time; [`Failure::Io`] where it was closed.
pub(crate) fn standard_input(what: &'static str) -> Result<io::Stdin, Failure> {
    let mut read_as = STANDARD_INPUT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(first) = *read_as {
        let text =
            format!("standard input is already {first}, so it cannot be {what}: name a file");
        return Err(Failure::Usage(text));
    }
    *read_as = Some(what);
    check_stream(io::stdin(), "standard input")?;
    Ok(io::stdin())
}

/// Fails where a standard stream was closed when the process started. Before `main`, Rust opens the null device in
/// its place, to read and to write, and an input that is not there would pass for an empty one.
fn check_stream(stream: impl AsFd, name: &str) -> Result<(), Failure> {
    let was_closed = || -> io::Result<bool> {
        let about = File::from(stream.as_fd().try_clone_to_owned()?).metadata()?;
        let is_null =
            about.file_type().is_char_device() && about.rdev() == fs::metadata("/dev/null")?.rdev();
        Ok(is_null && fcntl_getfl(&stream)?.contains(OFlags::RDWR))
    };
    if !was_closed().unwrap_or(false) {
        return Ok(());
    }
    let text = "was closed, or is the null device opened both to read and to write: \
                name a file, or /dev/null";
    Err(Failure::Io(format!("{name} {text}")))
}

/// Writes data that has no other place to standard output, as a line.
///
/// # Errors
/// As [`print_line`], and where standard output was closed.
pub(crate) fn print_data(line: impl std::fmt::Display) -> Result<(), Failure> {
    check_stream(io::stdout(), STANDARD_OUTPUT)?;
    print_line(line)
}

/// Writes a line to standard output.
///
/// # Errors
/// [`Failure::Io`], also where the line cannot be flushed.
pub(crate) fn print_line(line: impl std::fmt::Display) -> Result<(), Failure> {
    let mut output = io::stdout();
    let written = writeln!(output, "{line}").and_then(|()| output.flush());
    written.map_err(Failure::of(STANDARD_OUTPUT))
}

const STANDARD_OUTPUT: &str = "standard output";

/// What is written.
pub(crate) struct Output {
    name: String,
    to: Destination,
}

enum Destination {
    StandardOutput,
    /// Something that is there and no file, such as `/dev/null` or a pipe, or an open descriptor: it cannot be
    /// replaced.
    Special(File),
    File(lanecrypt_tink::Output),
}

impl Output {
    /// A file beside which it is written first, or with `-` standard output. So it is where no file is named,
    /// unless standard output is a terminal.
    pub(crate) fn create(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else {
            if io::stdout().is_terminal() {
                let text = "standard output is a terminal: name a file for the output, or `-` to write to the \
                            terminal all the same";
                return Err(Failure::Usage(text.to_owned()));
            }
            return Self::create(Some(Path::new("-")));
        };
        if path.as_os_str() == "-" {
            return Ok(Self::standard_output(STANDARD_OUTPUT.to_owned()));
        }
        let name = path.display().to_string();
        if let Some(link) = lanecrypt_tink::Output::descriptor(path) {
            return Self::descriptor(name, &link);
        }
        let to = match fs::metadata(path) {
            Ok(about) if about.is_dir() => {
                return Err(Failure::Usage(format!("{name}: is a folder, not a file")));
            }
            Ok(about) if !about.is_file() => {
                let file = File::options().write(true).open(path).map_err(Failure::of(&name))?;
                Destination::Special(file)
            }
            _ => {
                let output = lanecrypt_tink::Output::create(path)?;
                signals::remove_when_interrupted(output.temporary().to_owned());
                Destination::File(output)
            }
        };
        Ok(Self { name, to })
    }

    /// Closed, it is not told from the null device, at which a program that only wants to know whether a file can be
    /// opened lets the output go.
    fn standard_output(name: String) -> Self {
        Self { name, to: Destination::StandardOutput }
    }

    /// What a process has open, of which the system shows a link. An own descriptor is written at its place in the
    /// file, which moves on, so that what others write to it follows; another one at the end of its file.
    ///
    /// # Errors
    /// [`Failure::Io`] where the system does not give out an own one: what was written to its file in another way would be
    /// written over.
    fn descriptor(name: String, link: &Path) -> Result<Self, Failure> {
        let own = own_descriptor(link);
        if own == Some(io::stdout().as_raw_fd()) {
            return Ok(Self::standard_output(name));
        }
        let file = match own.and_then(duplicate) {
            Some(file) => file,
            None if own.is_some() && fs::metadata(link).is_ok_and(|about| about.is_file()) => {
                let advice = "this system gives out no descriptor by its number; use - instead";
                return Err(Failure::Io(format!("{name}: {advice}")));
            }
            None => File::options().append(true).open(link).map_err(Failure::of(&name))?,
        };
        Ok(Self { name, to: Destination::Special(file) })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// All is written: a file takes its name.
    ///
    /// # Errors
    /// [`Failure::Io`], also of what is flushed only now; [`Failure::Interrupted`] once a signal has come, which may
    /// have ended the writer of the input early.
    pub(crate) fn commit(mut self) -> Result<(), Failure> {
        self.flush().map_err(Failure::of(&self.name))?;
        match self.to {
            Destination::File(output) => Ok(output.commit_unless(signals::cancelled())?),
            Destination::StandardOutput | Destination::Special(_) => signals::check(),
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

/// The number of a descriptor, where the link is one of this process.
fn own_descriptor(link: &Path) -> Option<i32> {
    let folder = fs::canonicalize(link.parent()?).ok()?;
    let is_own = |own| fs::canonicalize(own).is_ok_and(|own| own == folder);
    if !["/proc/self/fd", "/proc/thread-self/fd"].into_iter().any(is_own) {
        return None;
    }
    link.file_name()?.to_str()?.parse().ok()
}

/// An own descriptor once more, where the system gives it out by its number.
#[cfg(target_os = "linux")]
fn duplicate(number: i32) -> Option<File> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let this = pidfd_open(getpid(), PidfdFlags::empty()).ok()?;
    pidfd_getfd(this, number, PidfdGetfdFlags::empty()).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn duplicate(_: i32) -> Option<File> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_knows_its_name_and_length() {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(b"a text").expect("room for six bytes");
        let input = Input::open(file.path()).expect("it is there");
        assert_eq!((input.name(), input.length()), (&*file.path().to_string_lossy(), Some(6)));
        let device = Input::open(Path::new("/dev/null")).expect("every system has it");
        assert_eq!((device.name(), device.length()), ("/dev/null", None));
    }
}
