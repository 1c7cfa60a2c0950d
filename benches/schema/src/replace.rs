//! Files that are at their place when they are complete. It stands alone: the runners of the ladders have it by its path.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    process,
};

/// A file beside the place where it will be; dropped before it is complete, it is removed.
#[derive(Debug)]
pub struct Unfinished {
    file: File,
    /// Where it is and where it will be; `None` where it is written in place.
    paths: Option<(PathBuf, PathBuf)>,
}

impl Unfinished {
    /// Begins a file. What is no regular file, such as a pipe, is written in place, and a symbolic link stays one.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(path: &Path) -> io::Result<Self> {
        let path = match fs::metadata(path) {
            Ok(old) if !old.is_file() => {
                return Ok(Self { file: File::create(path)?, paths: None });
            }
            Ok(_) => fs::canonicalize(path)?,
            Err(_) => path.to_owned(),
        };
        let mut name = OsString::from(path.file_name().unwrap_or_default());
        name.push(format!(".{}.unfinished", process::id()));
        let beside = path.with_file_name(name);
        Ok(Self { file: File::create(&beside)?, paths: Some((beside, path)) })
    }

    /// Writes all of it, and puts it at its place.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn finish(mut self, content: &[u8]) -> io::Result<()> {
        self.file.write_all(content)?;
        if let Some((beside, path)) = &self.paths {
            fs::rename(beside, path)?;
            self.paths = None;
        }
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some((beside, _)) = &self.paths {
            let _ = fs::remove_file(beside); // why it is unfinished is what is reported
        }
    }
}

/// Writes a file, which is at its place when it is complete.
///
/// # Errors
/// Those of the file system.
pub fn replace(path: &Path, content: &str) -> io::Result<()> {
    Unfinished::create(path)?.finish(content.as_bytes())
}
