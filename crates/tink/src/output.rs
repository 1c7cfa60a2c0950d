//! Output files: a temporary beside the target, which takes its place once it is complete.

mod access;

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io,
    os::unix::{ffi::OsStrExt, fs::OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use tempfile::{NamedTempFile, PersistError};

pub(crate) use access::keep_access;

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
    /// target's owner and group it has those that the process may give it; on Linux it has its access list
    /// (POSIX ACL), or where that cannot be given the owner's permissions alone. Bits that are no permissions
    /// (setuid, setgid, sticky) are not kept: they were given to other content. A target that is a symbolic
    /// link stays one, also where the file that it names is not there yet.
    ///
    /// # Errors
    /// [`Error::Io`], also where the target is something else than a file, which must not be replaced
    /// by one, where it is a [`descriptor`](Self::descriptor), and where it does not end in the name of a file.
    pub fn create(target: &Path) -> Result<Self, Error> {
        let target = followed(target)?;
        let Some(old) = replaced(&target)? else { return Self::with_mode(&target, 0o666) };
        let output = Self::with_mode(&target, 0o600)?;
        keep_access(output.file.as_file(), &old, &target)
            .map_err(Error::of_io("set the permissions of the output"))?;
        Ok(output)
    }

    /// A file that only its owner may read, whatever was there before: for keys.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn private(target: &Path) -> Result<Self, Error> {
        check_name(target)?;
        Self::with_mode(target, 0o600)
    }

    /// The link of `/proc` that a path such as `/dev/stdout` leads to, where it does: what a process has open, and no
    /// name that a file could take. The file behind it may have no name any more.
    #[must_use]
    pub fn descriptor(path: &Path) -> Option<PathBuf> {
        match follow(path) {
            Ok(Place::Descriptor(link)) => Some(link),
            _ => None,
        }
    }

    fn with_mode(target: &Path, mode: u32) -> Result<Self, Error> {
        let name = short_name(target);
        // Errors of `tempfile_in` have no number of the system's, and name a file of which the caller knows nothing.
        let create = |path: &Path| {
            OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
        };
        let file = tempfile::Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(TEMPORARY)
            .make_in(folder_of(target), create)
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
    check_name(target)?;
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
    let kind =
        if about.is_dir() { io::ErrorKind::IsADirectory } else { io::ErrorKind::InvalidInput };
    Err(io::Error::new(kind, "it is not a regular file"))
}

/// Where a path leads.
enum Place {
    Name(PathBuf),
    Descriptor(PathBuf),
}

/// Where a path leads through symbolic links, also where nothing is there. The last part of a name is no link.
fn follow(path: &Path) -> io::Result<Place> {
    /// Links that Linux follows.
    const MOST: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST {
        let Ok(link) = fs::read_link(&path) else { return Ok(Place::Name(path)) };
        if has_descriptors(folder_of(&path)) {
            return Ok(Place::Descriptor(path));
        }
        path = folder_of(&path).join(link);
    }
    Err(refusal("too many symbolic links"))
}

/// Whether links of this folder stand for what processes have open. The system opens that and looks for no name, and
/// what such a link says may be no name, or by now that of another file.
#[cfg(target_os = "linux")]
fn has_descriptors(folder: &Path) -> bool {
    use rustix::fs::{PROC_SUPER_MAGIC, statfs};
    statfs(folder).is_ok_and(|system| system.f_type == PROC_SUPER_MAGIC)
}

/// Elsewhere they are no links.
#[cfg(not(target_os = "linux"))]
fn has_descriptors(_: &Path) -> bool {
    false
}

/// The name that a path leads to, as [`follow`] finds it.
pub(crate) fn followed(path: &Path) -> Result<PathBuf, Error> {
    let name = follow(path).and_then(|place| match place {
        Place::Name(name) => Ok(name),
        Place::Descriptor(_) => Err(refusal("it is an open descriptor, not the name of a file")),
    });
    name.map_err(Error::of_io(format!("follow {}", path.display())))
}

/// Fails where a path does not end in the name of a file, as `folder/` does not. Nothing could be put there.
fn check_name(target: &Path) -> Result<(), Error> {
    let path = target.as_os_str().as_bytes();
    if target.file_name().is_some_and(|name| path.ends_with(name.as_bytes())) {
        return Ok(());
    }
    let error = refusal("it does not end in the name of a file");
    Err(Error::of_io(format!("write {}", target.display()))(error))
}

fn refusal(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
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
