//! Output files: a temporary beside the target, which takes its place once it is complete.

use std::{
    fs::{self, File, Metadata, OpenOptions, Permissions},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt, fchown},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use tempfile::{NamedTempFile, PersistError};

use crate::{Error, options::NEVER};

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
    /// A file with the permissions of the target where there is one, else those of any new file. Of the
    /// target's owner and group it has those that the process may give it. Bits that are no permissions
    /// (setuid, setgid, sticky) are not kept: they were given to other content. A target that is a symbolic
    /// link stays one, also where the file that it names is not there yet.
    ///
    /// # Errors
    /// [`Error::Io`], also where the target is something else than a file, which must not be replaced
    /// by one.
    pub fn create(target: &Path) -> Result<Self, Error> {
        let target = followed(target)?;
        let Some(old) = replaced(&target)? else { return Self::with_mode(&target, 0o666) };
        let output = Self::with_mode(&target, 0o600)?;
        keep_access(output.file.as_file(), &old)
            .map_err(Error::of_io("set the permissions of the output"))?;
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
        let name = short_name(target);
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
    /// [`Error::Io`]; the target is as it was then, but where the error is that its folder cannot be synced.
    /// The new file is in place then, and a loss of power may undo that.
    pub fn commit(self) -> Result<(), Error> {
        self.commit_unless(&NEVER)
    }

    /// As [`commit`](Self::commit), unless `cancel` is set: it is read last, immediately before the file
    /// takes the place of the target.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; [`Error::Io`] as [`commit`](Self::commit).
    pub fn commit_unless(self, cancel: &AtomicBool) -> Result<(), Error> {
        self.put(cancel, |file, target| file.persist(target))
    }

    /// As [`commit`](Self::commit), but never in the place of anything: for keys.
    ///
    /// # Errors
    /// [`Error::Io`], of kind `AlreadyExists` where the target is there.
    pub fn commit_new(self) -> Result<(), Error> {
        self.put(&NEVER, |file, target| file.persist_noclobber(target))
    }

    fn put(
        self,
        cancel: &AtomicBool,
        persist: impl FnOnce(NamedTempFile, &Path) -> Result<File, PersistError>,
    ) -> Result<(), Error> {
        let doing = || format!("complete {}", self.target.display());
        self.file.as_file().sync_all().map_err(Error::of_io(doing()))?;
        if cancel.load(Ordering::SeqCst) {
            return Err(Error::Cancelled);
        }
        let doing = doing();
        persist(self.file, &self.target).map_err(|error| Error::of_io(doing)(error.error))?;
        sync_folder_of(&self.target)
    }
}

/// The file that a new one takes the place of; nothing where none is there. What is no file is not replaced by one.
pub(crate) fn replaced(target: &Path) -> Result<Option<Metadata>, Error> {
    let old = match fs::symlink_metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.and_then(regular),
    };
    old.map(Some).map_err(Error::of_io(format!("replace {}", target.display())))
}

/// Fails where this is of something else than a file, such as a folder, a pipe or a device.
pub(crate) fn regular(about: Metadata) -> io::Result<Metadata> {
    if about.is_file() {
        return Ok(about);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// Gives a new file the owner, the group and the permissions of the old one, as far as the process may.
fn keep_access(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if old.uid() != new.uid() {
        fchown(file, Some(old.uid()), None).ok();
    }
    let has_group = old.gid() == new.gid() || fchown(file, None, Some(old.gid())).is_ok();
    file.set_permissions(Permissions::from_mode(kept_permissions(old.mode(), has_group)))
}

/// The permissions of a mode. Where the file has not got the group, its own group gets what everybody gets.
fn kept_permissions(mode: u32, has_group: bool) -> u32 {
    if has_group { mode & 0o777 } else { mode & 0o707 | (mode & 0o007) << 3 }
}

/// Where a path leads through symbolic links, also where nothing is there. The last part of the result is no link.
pub(crate) fn followed(path: &Path) -> Result<PathBuf, Error> {
    /// Links that Linux follows.
    const MOST: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST {
        let Ok(link) = fs::read_link(&path) else { return Ok(path) };
        path = folder_of(&path).join(link);
    }
    let error = io::Error::new(io::ErrorKind::InvalidInput, "too many symbolic links");
    Err(Error::of_io(format!("follow {}", path.display()))(error))
}

/// The name of a file, or its beginning, so that a name made of it by adding up to 55 bytes is not too long.
pub(crate) fn short_name(path: &Path) -> String {
    /// Names have 255 bytes at most.
    const MOST: usize = 200;
    let mut name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let ends = name.char_indices().map(|(start, character)| start + character.len_utf8());
    let end = ends.take_while(|&end| end <= MOST).last().unwrap_or(0);
    name.truncate(end);
    name
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
    // Files may be made in a folder that may not be read, but it cannot be synced: the system writes it later. A file
    // system that cannot sync folders has nothing to wait for.
    const NOTHING_TO_WAIT_FOR: [io::ErrorKind; 2] =
        [io::ErrorKind::PermissionDenied, io::ErrorKind::InvalidInput];
    let folder = folder_of(path);
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if NOTHING_TO_WAIT_FOR.contains(&error.kind()) => Ok(()),
        synced => synced.map_err(Error::of_io(format!("sync {}", folder.display()))),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_group_may_do_what_others_may() {
        for (mode, with_group, without) in [
            (0o100_640, 0o640, 0o600),
            (0o106_775, 0o775, 0o755),
            (0o100_604, 0o604, 0o644),
            (0o100_070, 0o070, 0o000),
        ] {
            assert_eq!(kept_permissions(mode, true), with_group, "{mode:o}");
            assert_eq!(kept_permissions(mode, false), without, "{mode:o}");
        }
    }

    #[test]
    fn a_name_is_cut_between_characters() {
        let long = "ä".repeat(150);
        assert_eq!(short_name(Path::new("folder/target")), "target");
        assert_eq!(short_name(Path::new(&long)), long[..200]);
        assert_eq!(short_name(Path::new(&format!("a{long}"))), format!("a{}", &long[..198]));
    }

    #[test]
    fn a_folder_that_cannot_be_synced_needs_no_sync() {
        sync_folder_of(Path::new("Cargo.toml")).unwrap();
        let error = sync_folder_of(Path::new("no folder/file")).unwrap_err();
        assert!(error.to_string().contains("sync no folder"), "{error}");
        #[cfg(target_os = "linux")]
        sync_folder_of(Path::new("/proc/version")).unwrap();
    }
}
