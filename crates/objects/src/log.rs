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
}

impl Log {
    /// Opens or makes a log, and reads what was written to it.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<Line>), Error> {
        let doing = || format!("open {}", path.display());
        let opened = File::options().read(true).append(true).create(true).open(path);
        let mut file = opened.map_err(Error::of_io(doing()))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => Error::InUse { path: path.to_owned() },
            TryLockError::Error(error) => Error::of_io(doing())(error),
        })?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(Error::of_io(doing()))?;
        let (lines, bytes) = whole_lines(&text);
        if lines.is_empty() && !text.is_empty() {
            // Only a file of ours is cut off.
            return Err(Error::Malformed { what: "log" });
        }
        file.set_len(bytes as u64).map_err(Error::of_io(doing()))?;
        Ok((Self { file, path: path.to_owned() }, lines))
    }

    /// One that cannot be written, as on a disk that is full.
    #[cfg(test)]
    pub(crate) fn read_only(path: &Path) -> Self {
        Self { file: File::open(path).expect("it is there"), path: path.to_owned() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a line. It is there if this process is killed, and the plan also if the machine is: what
    /// else is lost then is done once more.
    pub(crate) fn append(&mut self, line: &Line) -> Result<(), Error> {
        let text = serde_json::to_string(line).map_err(|_| Error::Malformed { what: "log" })?;
        let doing = || format!("write {}", self.path.display());
        self.file.write_all(format!("{text}\n").as_bytes()).map_err(Error::of_io(doing()))?;
        if matches!(line, Line::Plan(_)) {
            self.file.sync_all().map_err(Error::of_io(doing()))?;
        }
        Ok(())
    }

    /// Removes it.
    pub(crate) fn remove(self) -> Result<(), Error> {
        let removed = std::fs::remove_file(&self.path);
        removed.map_err(Error::of_io(format!("remove {}", self.path.display())))
    }
}

/// The lines up to the first that is cut off or broken, and how many bytes they have.
fn whole_lines(text: &[u8]) -> (Vec<Line>, usize) {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let is_first = lines.is_empty();
        match serde_json::from_slice(line) {
            Ok(read) if line.ends_with(b"\n") && is_first == matches!(read, Line::Plan(_)) => {
                lines.push(read);
            }
            _ => break,
        }
        bytes += line.len();
    }
    (lines, bytes)
}
