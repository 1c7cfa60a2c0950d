//! `lanecrypt mount`: sealed files as plain ones, read-only.

mod filesystem;
mod reader;
mod tree;

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use clap::Args;
use fuser::{BackgroundSession, Config, MountOption};

use crate::{arguments::Machine, failure::Failure, keysets::Source, seal::Context, signals};

const ADVICE: &str = "\
Every file under SEALED that the keyset opens appears as a plain file of the same name. All data is authenticated
before it is returned; reading a file that was changed, or that the keyset does not open, fails with EIO and returns
no data. The mount is read-only. Symbolic links are left out.

The command runs until it is interrupted or the folder is unmounted: `fusermount3 -u DIR`. It needs FUSE (the package
fuse3) unless you are root.

Examples:
  lanecrypt mount --keyset my.keys backups.sealed /mnt/backups &
  lanecrypt mount --keyset my.keys disk.sealed /mnt/disk & losetup --read-only --find /mnt/disk/disk.sealed";

/// Mounts a sealed file, or a folder of sealed files, as plain files with random access.
#[derive(Debug, Args)]
#[command(after_help = ADVICE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    context: Context,
    /// Sealed file, or folder that contains sealed files and folders.
    sealed: PathBuf,
    /// Mount point: a folder, best an empty one, that neither contains SEALED nor lies in it.
    folder: PathBuf,
}

/// How often it looks whether it should end.
const LOOK: Duration = Duration::from_millis(50);

/// Fails where the mount point is no folder, or is what is sealed, lies in it, or has it inside: reading a sealed file
/// would then ask the file system that waits for it, and neither could be ended.
fn check_apart(sealed: &Path, folder: &Path) -> Result<(), Failure> {
    let about = fs::metadata(sealed).map_err(Failure::of(sealed.display()))?;
    if !about.is_dir() && !about.is_file() {
        let text = format!("{}: neither a file nor a folder", sealed.display());
        return Err(Failure::Usage(text));
    }
    if !fs::metadata(folder).map_err(Failure::of(folder.display()))?.is_dir() {
        let text = format!("{}: the mount point must be a folder", folder.display());
        return Err(Failure::Usage(text));
    }
    let (of_sealed, of_folder) = (with_folders(sealed)?, with_folders(folder)?);
    if of_sealed.contains(&of_folder[0]) || of_folder.contains(&of_sealed[0]) {
        let (sealed, folder) = (sealed.display(), folder.display());
        let text = format!("{folder}: the mount point and {sealed} must not contain each other");
        return Err(Failure::Usage(text));
    }
    Ok(())
}

/// What a path leads to and all folders that it lies in, each by its device and number: a folder has other paths
/// where it is bound to a second place.
fn with_folders(path: &Path) -> Result<Vec<(u64, u64)>, Failure> {
    let whole = fs::canonicalize(path).map_err(Failure::of(path.display()))?;
    let identity = |path: &Path| fs::metadata(path).map(|about| (about.dev(), about.ino()));
    whole.ancestors().map(identity).collect::<io::Result<_>>().map_err(Failure::of(path.display()))
}

impl Arguments {
    pub(crate) fn run(&self, machine: &Machine) -> Result<(), Failure> {
        let keyset = self.source.read()?;
        check_apart(&self.sealed, &self.folder)?;
        let tree = tree::Tree::new(&self.sealed, keyset, self.context.bytes()?)?;
        let filesystem = filesystem::SealedFiles::new(tree, machine.sealing()?);
        let mut config = Config::default();
        let name = MountOption::FSName("lanecrypt".to_owned());
        let options = [MountOption::RO, MountOption::NoSuid, MountOption::NoDev, name];
        config.mount_options.extend(options);
        config.n_threads = Some(thread::available_parallelism().map_or(1, usize::from).min(8));
        let folder = self.folder.display();
        let session = fuser::spawn_mount(filesystem, &self.folder, &config)
            .map_err(|error| Failure::Io(format!("mounting on {folder}: {error}")))?;
        while !session.guard.is_finished() {
            if let Err(interrupted) = signals::check() {
                let unmounted = self.unmount(session);
                unmounted.map_err(Failure::of(format!("unmounting {folder}")))?;
                return Err(interrupted);
            }
            thread::sleep(LOOK);
        }
        session.join().map_err(Failure::of(folder))
    }

    /// Takes the folder away at once, also from those who have a file in it open.
    fn unmount(&self, session: BackgroundSession) -> io::Result<()> {
        let mut lazily = Command::new("fusermount3");
        let status = lazily.args(["-u", "-z", "--"]).arg(&self.folder).status();
        if status.is_ok_and(|status| status.success()) {
            return session.join();
        }
        session.umount_and_join()
    }
}
