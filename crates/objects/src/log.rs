//! The log of a job: its plan, and a line for each part that is done. Lines are only ever appended.

use std::{
    fs::{File, TryLockError},
    io::{Read, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{Error, Plan, Receipt};

/// A line of the log, as JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Line {
    /// The first.
    Plan(Box<Plan>),
    Done(Receipt),
    /// The last.
    Committed,
}

/// A log that is open; another process cannot open it meanwhile.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines.
    bytes: u64,
}

impl Log {
    /// Opens or makes a log, and reads what was written to it. A last line that is cut off is removed.
    ///
    /// # Errors
    /// [`Error::Malformed`] for what is no log, [`Error::MalformedLine`]: the file stays as it is then; [`Error::InUse`],
    /// [`Error::Io`].
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<Line>), Error> {
        let doing = || format!("open {}", path.display());
        let opened = File::options().read(true).append(true).create(true).open(path);
        let mut file = opened.map_err(Error::of_io(doing()))?;
        // A pipe would be read for ever.
        if !file.metadata().map_err(Error::of_io(doing()))?.is_file() {
            return Err(Error::Malformed { what: "log" });
        }
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => Error::InUse { path: path.to_owned() },
            TryLockError::Error(error) => Error::of_io(doing())(error),
        })?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(Error::of_io(doing()))?;
        let (lines, bytes) = whole_lines(&text, path)?;
        if lines.is_empty() && !text.is_empty() {
            // Only a file of ours is cut off.
            return Err(Error::Malformed { what: "log" });
        }
        let bytes = bytes as u64;
        file.set_len(bytes).map_err(Error::of_io(doing()))?;
        Ok((Self { file, path: path.to_owned(), bytes }, lines))
    }

    /// One that cannot be written, as on a disk that is full.
    #[cfg(test)]
    pub(crate) fn read_only(path: &Path) -> Self {
        Self { file: File::open(path).expect("it is there"), path: path.to_owned(), bytes: 0 }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a line. It is there if this process is killed, and the plan also if the machine is: what
    /// else is lost then is done once more.
    pub(crate) fn append(&mut self, line: &Line) -> Result<(), Error> {
        let text = serde_json::to_string(line).map_err(|_| Error::Malformed { what: "log" })?;
        let doing = || format!("write {}", self.path.display());
        let text = format!("{text}\n");
        // What a write that failed left of its line would spoil this one.
        self.file.set_len(self.bytes).map_err(Error::of_io(doing()))?;
        self.file.write_all(text.as_bytes()).map_err(Error::of_io(doing()))?;
        self.bytes += text.len() as u64;
        if matches!(line, Line::Plan(_)) {
            self.file.sync_all().map_err(Error::of_io(doing()))?;
        }
        Ok(())
    }

    /// Removes it.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        let removed = std::fs::remove_file(&self.path);
        removed.map_err(Error::of_io(format!("remove {}", self.path.display())))
    }
}

/// All lines but a last one that is cut off, and how many bytes they have. Any other that cannot be read is an error: those
/// behind it would be lost with it, and they may say that the job is committed.
fn whole_lines(text: &[u8], path: &Path) -> Result<(Vec<Line>, usize), Error> {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        if !line.ends_with(b"\n") {
            break;
        }
        let is_first = lines.is_empty();
        match serde_json::from_slice(line) {
            Ok(read) if is_first == matches!(read, Line::Plan(_)) => lines.push(read),
            _ if is_first => return Err(Error::Malformed { what: "log" }),
            _ => {
                let (path, line) = (path.to_owned(), lines.len() + 1);
                return Err(Error::MalformedLine { path, line });
            }
        }
        bytes += line.len();
    }
    Ok((lines, bytes))
}
