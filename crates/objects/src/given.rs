//! What the tests of jobs begin with.

use std::{fs, path::PathBuf};

use lanecrypt_tink::{Keyset, Template};
use tempfile::TempDir;

use crate::{Driver, Error, Location, Order, Stores};

/// A folder with a file to seal, and with nothing where the sealed one and the log will be.
pub(crate) struct Given {
    folder: TempDir,
    source: Location,
    target: Location,
    pub(crate) log: PathBuf,
    pub(crate) keyset: Keyset,
    pub(crate) stores: Stores,
    pub(crate) part_bytes: Option<u64>,
}

impl Given {
    pub(crate) fn new(text: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let [source, target, log] = ["plain", "sealed", "log"].map(|name| folder.path().join(name));
        fs::write(&source, text).expect("it is written");
        let keyset = Keyset::generate(Template::default().parameters()).expect("random bytes");
        let (source, target) = (Location::File(source), Location::File(target));
        Self { folder, source, target, log, keyset, stores: Stores::from_env(), part_bytes: None }
    }

    pub(crate) fn order(&self) -> Order<'_> {
        let Self { source, target, part_bytes, .. } = self;
        Order { source, target, associated_data: b"", part_bytes: *part_bytes }
    }

    pub(crate) fn open(&self) -> Result<Driver, Error> {
        Driver::open(&self.log, &self.keyset, &self.order(), &self.stores)
    }

    /// The file to seal.
    pub(crate) fn plain(&self) -> PathBuf {
        self.folder.path().join("plain")
    }

    /// What the folder has.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.folder.path()).expect("it is a folder");
        files.map(|entry| entry.expect("it is read").path()).collect()
    }
}
