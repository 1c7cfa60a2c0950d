//! Output files: a temporary beside the target, which takes its place once it is complete.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tempfile::{NamedTempFile, PersistError};

use crate::Error;

/// What the names of temporary files end with, so that they are recognised where a process was killed.
pub const TEMPORARY: &str = ".lanecrypt-tmp";

/// A file that is being written beside `target`.
///
/// [`commit`](Self::commit) puts it in the target's place; dropped without, nothing is left of it
/// and the target is as it was.
#[derive(Debug)]
pub struct Output {
    file: NamedTempFile,
    target: PathBuf,
}

impl Output {
    /// A file with the permissions of the target where there is one, else those of any new file. A
    /// target that is a symbolic link stays one.
    ///
    /// # Errors
    /// [`Error::Io`], also where the target is something else than a file, which must not be replaced
    /// by one.
    pub fn create(target: &Path) -> Result<Self, Error> {
        let Ok(old) = fs::metadata(target) else { return Self::with_mode(target, 0o666) };
        let doing = || format!("replace {}", target.display());
        if !old.is_file() {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
            return Err(Error::of_io(doing())(error));
        }
        let target = fs::canonicalize(target).map_err(Error::of_io(doing()))?;
        let output = Self::with_mode(&target, 0o600)?;
        let set = output.file.as_file().set_permissions(old.permissions());
        set.map_err(Error::of_io("set the permissions of the output"))?;
        Ok(output)
    }

    /// A file that only its owner may read, whatever was there before: for keys.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn private(target: &Path) -> Result<Self, Error> {
        Self::with_mode(target, 0o600)
    }

    fn with_mode(target: &Path, mode: u32) -> Result<Self, Error> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let file = tempfile::Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(TEMPORARY)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder_of(target))
            .map_err(Error::of_io(format!("create a file beside {}", target.display())))?;
        Ok(Self { file, target: target.to_owned() })
    }

    /// Where it is until then: what a process that is ended by a signal removes.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        self.file.path()
    }

    /// The file, to be written.
    #[must_use]
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Waits until all of it is on the disk, and puts it in the place of the target.
    ///
    /// # Errors
    /// [`Error::Io`]; the target is as it was then.
    pub fn commit(self) -> Result<(), Error> {
        self.put(|file, target| file.persist(target))
    }

    /// As [`commit`](Self::commit), but never in the place of anything: for keys.
    ///
    /// # Errors
    /// [`Error::Io`], of kind `AlreadyExists` where the target is there.
    pub fn commit_new(self) -> Result<(), Error> {
        self.put(|file, target| file.persist_noclobber(target))
    }

    fn put(
        self,
        persist: impl FnOnce(NamedTempFile, &Path) -> Result<File, PersistError>,
    ) -> Result<(), Error> {
        let doing = || format!("complete {}", self.target.display());
        self.file.as_file().sync_all().map_err(Error::of_io(doing()))?;
        let doing = doing();
        persist(self.file, &self.target).map_err(|error| Error::of_io(doing)(error.error))?;
        sync_folder_of(&self.target)
    }
}

/// Makes a file of this name, which must not be there.
pub(crate) fn create_named(path: &Path) -> Result<File, Error> {
    File::create_new(path).map_err(Error::of_io(format!("create {}", path.display())))
}

/// Opens a file that is there, to be written at any place.
pub(crate) fn open_to_write(path: &Path) -> Result<File, Error> {
    let opened = OpenOptions::new().write(true).open(path);
    opened.map_err(Error::of_io(format!("open {}", path.display())))
}

/// Renames a file and waits until its folder knows.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    let doing = format!("rename {} to {}", from.display(), to.display());
    fs::rename(from, to).map_err(Error::of_io(doing))?;
    sync_folder_of(to)
}

/// Waits until the folder of a file knows its name.
pub(crate) fn sync_folder_of(path: &Path) -> Result<(), Error> {
    let folder = folder_of(path);
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    match synced {
        // A file system that cannot sync folders has nothing to wait for.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced.map_err(Error::of_io(format!("sync {}", folder.display()))),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
