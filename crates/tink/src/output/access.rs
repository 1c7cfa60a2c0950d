//! Who may read and write a file that takes the place of another one.

use std::{
    fs::{File, Metadata, Permissions},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt, fchown},
    path::Path,
};

/// Gives a new file the owner, the group, the permissions and the access list of the old one, as far as the process
/// may. `target` is where the old one is.
pub(crate) fn keep_access(file: &File, old: &Metadata, target: &Path) -> io::Result<()> {
    let new = file.metadata()?;
    if old.uid() != new.uid() {
        fchown(file, Some(old.uid()), None).ok();
    }
    let has_group = old.gid() == new.gid() || fchown(file, None, Some(old.gid())).is_ok();
    let permissions = match list::of(target) {
        Ok(Some(list)) if has_group && list::set(file, &list).is_ok() => return Ok(()),
        // The folder may have given the new file a list.
        Ok(None) if list::remove(file).is_ok() => kept_permissions(old.mode(), has_group),
        // Beside a list, the bits of the group are the most that the list gives to anybody, not what the group may do.
        _ => old.mode() & 0o700,
    };
    if new.mode() & 0o7777 == permissions {
        return Ok(()); // also where the file is another user's
    }
    match file.set_permissions(Permissions::from_mode(permissions)) {
        // Another user's, which gives nobody more.
        Err(_) if new.mode() & 0o7777 & !permissions == 0 => Ok(()),
        set => set,
    }
}

/// The permissions of a mode. Where the file has not got the group, its own group gets what everybody gets.
fn kept_permissions(mode: u32, has_group: bool) -> u32 {
    if has_group { mode & 0o777 } else { mode & 0o707 | (mode & 0o007) << 3 }
}

/// Access lists (POSIX ACLs), as Linux hands them out.
#[cfg(target_os = "linux")]
mod list {
    use std::{fs::File, path::Path};

    use rustix::{
        fs::{XattrFlags, fgetxattr_query, fremovexattr, fsetxattr, lgetxattr},
        io::{Errno, Result},
    };

    const NAME: &str = "system.posix_acl_access";
    /// No attribute has more bytes.
    const LONGEST: usize = 64 << 10;

    /// The list of the file at this path, if it has one.
    pub(super) fn of(path: &Path) -> Result<Option<Vec<u8>>> {
        let mut list = vec![0_u8; LONGEST];
        match lgetxattr(path, NAME, &mut list[..]) {
            Ok(bytes) => {
                list.truncate(bytes);
                Ok(Some(list))
            }
            Err(error) if is_none(error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn set(file: &File, list: &[u8]) -> Result<()> {
        fsetxattr(file, NAME, list, XattrFlags::empty())
    }

    pub(super) fn remove(file: &File) -> Result<()> {
        match fgetxattr_query(file, NAME) {
            Err(error) if is_none(error) => Ok(()),
            _ => fremovexattr(file, NAME),
        }
    }

    /// A file without a list, or a file system without lists.
    fn is_none(error: Errno) -> bool {
        error == Errno::NODATA || error == Errno::OPNOTSUPP
    }
}

/// The lists of other systems do not change what the bits of a mode mean, and are not kept.
#[cfg(not(target_os = "linux"))]
mod list {
    use std::{fs::File, io::Result, path::Path};

    pub(super) fn of(_: &Path) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    pub(super) fn set(_: &File, _: &[u8]) -> Result<()> {
        Ok(())
    }

    pub(super) fn remove(_: &File) -> Result<()> {
        Ok(())
    }
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
}
