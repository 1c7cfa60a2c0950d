//! What is read and what is written: files, standard input, standard output.
//!
//! A file is written beside its name, and takes the name when it is complete and on the disk: until then, and
//! after any failure, what had the name before is as it was.

use std::{
    fs::{self, File},
    io::{self, IsTerminal, Read, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

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
/// [`Failure::Usage`] the second time.
pub(crate) fn standard_input(what: &'static str) -> Result<io::Stdin, Failure> {
    let mut read_as = STANDARD_INPUT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(first) = *read_as {
        let text =
            format!("standard input is already {first}, so it cannot be {what}: name a file");
        return Err(Failure::Usage(text));
    }
    *read_as = Some(what);
    Ok(io::stdin())
}

/// Writes a line to standard output.
///
/// # Errors
/// [`Failure::Io`], also where the line cannot be flushed.
pub(crate) fn print_line(line: impl std::fmt::Display) -> Result<(), Failure> {
    let mut output = io::stdout();
    let written = writeln!(output, "{line}").and_then(|()| output.flush());
    written.map_err(Failure::of("standard output"))
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
            let name = "standard output".to_owned();
            return Ok(Self { name, to: Destination::StandardOutput });
        }
        let name = path.display().to_string();
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
