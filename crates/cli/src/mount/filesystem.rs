//! What the kernel asks, and the answers.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    os::unix::fs::MetadataExt,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, Request,
};
use lanecrypt_tink::SegmentRunner;

use crate::failure::complain;

use super::{
    reader::Reader,
    tree::{Missing, Node, ROOT, Tree},
};

/// How long the kernel believes an answer.
const VALID: Duration = Duration::from_secs(1);

/// Sealed files as a file system.
pub(super) struct SealedFiles {
    tree: Tree,
    runner: Box<dyn SegmentRunner>,
    open: Mutex<BTreeMap<u64, Arc<Reader>>>,
    next_handle: AtomicU64,
}

impl SealedFiles {
    pub(super) fn new(tree: Tree, runner: Box<dyn SegmentRunner>) -> Self {
        Self { tree, runner, open: Mutex::default(), next_handle: AtomicU64::new(1) }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Reader>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The kernel hears that something is wrong, a person what, and with which file.
fn told(path: Result<PathBuf, Missing>, missing: &Missing) -> Errno {
    let path = path.unwrap_or_default();
    let path = path.display();
    match missing {
        Missing::Nothing => Errno::ENOENT,
        Missing::System(error) => {
            complain(format_args!("{path}: {error}"));
            error.raw_os_error().map_or(Errno::EIO, Errno::from_i32)
        }
        Missing::NotAuthentic(error) => {
            complain(format_args!("{path}: {error}"));
            Errno::EIO
        }
    }
}

fn attributes(node: &Node) -> FileAttr {
    let time = |seconds: i64| {
        let since = Duration::from_secs(seconds.unsigned_abs());
        let time =
            if seconds < 0 { UNIX_EPOCH.checked_sub(since) } else { UNIX_EPOCH.checked_add(since) };
        time.unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let about = &node.about;
    let is_folder = node.number == ROOT || about.is_dir();
    // Whoever may read the sealed file may read the plain one. It is read-only.
    let perm = (about.mode() & if is_folder { 0o555 } else { 0o444 }) as u16;
    FileAttr {
        ino: INodeNo(node.number),
        size: node.bytes,
        blocks: node.bytes.div_ceil(512),
        atime: time(about.atime()),
        mtime: time(about.mtime()),
        ctime: time(about.ctime()),
        crtime: time(about.mtime()),
        kind: if is_folder { FileType::Directory } else { FileType::RegularFile },
        perm: if node.number == ROOT { perm | 0o500 } else { perm },
        nlink: if is_folder { 2 } else { 1 },
        uid: about.uid(),
        gid: about.gid(),
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

impl Filesystem for SealedFiles {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.tree.lookup(parent.0, name) {
            Ok(node) => reply.entry(&VALID, &attributes(&node), Generation(0)),
            Err(missing) => reply.error(told(self.tree.child(parent.0, name), &missing)),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.tree.node(ino.0) {
            Ok(node) => reply.attr(&VALID, &attributes(&node)),
            Err(missing) => reply.error(told(self.tree.path(ino.0), &missing)),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let names = match self.tree.names(ino.0) {
            Ok(names) => names,
            Err(missing) => return reply.error(told(self.tree.path(ino.0), &missing)),
        };
        let kind = |is_folder| if is_folder { FileType::Directory } else { FileType::RegularFile };
        let dots = [".", ".."].map(|name| (name.into(), true));
        for (i, (name, is_folder)) in (1..).zip(dots.into_iter().chain(names)) {
            // The kernel asks only for numbers that were looked up.
            if i > offset && reply.add(INodeNo(u64::MAX), i, kind(is_folder), name) {
                break;
            }
        }
        reply.ok();
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.tree.open(ino.0) {
            Ok(sealed) => {
                let handle = self.next_handle.fetch_add(1, Ordering::Relaxed);
                self.open().insert(handle, Arc::new(Reader::new(sealed)));
                reply.opened(FileHandle(handle), FopenFlags::empty());
            }
            Err(missing) => reply.error(told(self.tree.path(ino.0), &missing)),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(reader) = self.open().get(&handle.0).cloned() else {
            return reply.error(Errno::EBADF);
        };
        let mut reply = Some(reply);
        let read = reader.read(offset, size.into(), &*self.runner, |bytes| {
            if let Some(reply) = reply.take() {
                reply.data(bytes);
            }
        });
        if let (Err(error), Some(reply)) = (read, reply) {
            reply.error(told(self.tree.path(ino.0), &error.into()));
        }
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.open().remove(&handle.0);
        reply.ok();
    }
}
