//! Which files there are, by numbers that stay the same while they are mounted.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use lanecrypt_tink::{Error, Identity, Keyset, Sealed, Source, open_regular};

use crate::{failure::Failure, seal::about};

/// The number of the folder that everything is in.
pub(crate) const ROOT: u64 = 1;

/// Sealed files, and the keyset that opens them.
pub(crate) struct Tree {
    keyset: Keyset,
    associated_data: Vec<u8>,
    nodes: Mutex<Nodes>,
}

/// Paths by their numbers, and the other way round.
struct Nodes {
    paths: Vec<PathBuf>,
    numbers: BTreeMap<PathBuf, u64>,
    /// Bytes of plaintext of files that were opened, as long as they are the same files.
    lengths: BTreeMap<u64, (Identity, u64)>,
}

/// What a number stands for.
pub(crate) struct Node {
    pub(crate) number: u64,
    pub(crate) about: Metadata,
    /// Bytes of plaintext; none of a folder.
    pub(crate) bytes: u64,
}

/// Why there is nothing to be had.
#[derive(Debug)]
pub(crate) enum Missing {
    /// Nothing has this name or number.
    Nothing,
    /// The system says why.
    System(io::Error),
    /// The file is not what was sealed, or not for this keyset.
    NotAuthentic(Error),
}

impl From<io::Error> for Missing {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { Self::Nothing } else { Self::System(error) }
    }
}

impl From<Error> for Missing {
    fn from(error: Error) -> Self {
        match error {
            Error::Io { source, .. } => source.into(),
            error => Self::NotAuthentic(error),
        }
    }
}

impl Tree {
    /// Of a folder, or of one file, which is alone in its folder then.
    pub(crate) fn new(
        sealed: &Path,
        keyset: Keyset,
        associated_data: Vec<u8>,
    ) -> Result<Self, Failure> {
        let sealed = fs::canonicalize(sealed).map_err(Failure::of(sealed.display()))?;
        let nodes = Nodes {
            paths: vec![sealed.clone()],
            numbers: BTreeMap::new(), // a file that is mounted alone is not the folder that it is in
            lengths: BTreeMap::new(),
        };
        let tree = Self { keyset, associated_data, nodes: Mutex::new(nodes) };
        if sealed.is_file() {
            // A mistake in the key is told at once.
            tree.open_path(&sealed).map_err(about(&sealed.to_string_lossy()))?;
        }
        Ok(tree)
    }

    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path of a number.
    pub(super) fn path(&self, number: u64) -> Result<PathBuf, Missing> {
        let index = usize::try_from(number - ROOT).map_err(|_| Missing::Nothing)?;
        self.nodes().paths.get(index).cloned().ok_or(Missing::Nothing)
    }

    /// Where the things in a folder lie; the one file that is mounted lies in its own.
    pub(super) fn child(&self, folder: u64, name: &OsStr) -> Result<PathBuf, Missing> {
        let path = self.path(folder)?;
        if path.is_dir() {
            return Ok(path.join(name));
        }
        if folder == ROOT && path.file_name() == Some(name) {
            return Ok(path);
        }
        Err(Missing::Nothing)
    }

    /// The number of a path, which is a new one if need be.
    fn number(&self, path: PathBuf) -> u64 {
        let mut nodes = self.nodes();
        if let Some(&number) = nodes.numbers.get(&path) {
            return number;
        }
        nodes.paths.push(path.clone());
        let number = ROOT + nodes.paths.len() as u64 - 1;
        nodes.numbers.insert(path, number);
        number
    }

    /// What has this name in a folder.
    pub(crate) fn lookup(&self, folder: u64, name: &OsStr) -> Result<Node, Missing> {
        let path = self.child(folder, name)?;
        let about = fs::symlink_metadata(&path)?;
        if !about.is_dir() && !about.is_file() {
            return Err(Missing::Nothing);
        }
        let number = self.number(path);
        self.node(number)
    }

    /// What a number stands for now.
    pub(crate) fn node(&self, number: u64) -> Result<Node, Missing> {
        let path = self.path(number)?;
        let about = fs::symlink_metadata(&path)?;
        if number == ROOT || about.is_dir() {
            return Ok(Node { number, about, bytes: 0 });
        }
        let file = File::open(&path)?;
        let identity = file.identity()?;
        let known = self.nodes().lengths.get(&number).cloned();
        let bytes = match known {
            Some((known, bytes)) if known == identity => bytes,
            _ => {
                let sealed = Sealed::open(file, &self.keyset, &self.associated_data)?;
                self.nodes().lengths.insert(number, (identity, sealed.plaintext_bytes()));
                sealed.plaintext_bytes()
            }
        };
        Ok(Node { number, about, bytes })
    }

    /// The names in a folder, and whether they are folders.
    pub(crate) fn names(&self, folder: u64) -> Result<Vec<(std::ffi::OsString, bool)>, Missing> {
        let path = self.path(folder)?;
        if !path.is_dir() {
            let name = path.file_name().unwrap_or_default().to_owned();
            return Ok(vec![(name, false)]);
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() || kind.is_file() {
                names.push((entry.file_name(), kind.is_dir()));
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Opens a file.
    pub(crate) fn open(&self, number: u64) -> Result<Sealed<File>, Missing> {
        Ok(self.open_path(&self.path(number)?)?)
    }

    fn open_path(&self, path: &Path) -> Result<Sealed<File>, Error> {
        Sealed::open(open_regular(path)?, &self.keyset, &self.associated_data)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use lanecrypt_tink::{Options, Template, seal_file};
    use tempfile::TempDir;

    use super::*;

    /// A folder with a sealed file, a folder, and a link.
    struct Given {
        folder: TempDir,
        keyset: Keyset,
    }

    impl Given {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let keyset = Keyset::generate(Template::default().parameters()).expect("random bytes");
            let given = Self { folder, keyset };
            fs::create_dir(given.path("folder")).expect("a folder");
            symlink("file", given.path("link")).expect("a link");
            given.seal(5);
            given
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        /// Seals a text of this length.
        fn seal(&self, bytes: usize) {
            let plain = tempfile::NamedTempFile::new().expect("a file");
            fs::write(plain.path(), vec![7; bytes]).expect("it is written");
            let options = Options::default();
            seal_file(&self.keyset, plain.path(), &self.path("file"), options).expect("sealed");
        }

        fn tree(&self, name: &str) -> Tree {
            Tree::new(&self.path(name), self.keyset.clone(), Vec::new()).expect("it is there")
        }
    }

    #[test]
    fn files_and_folders_are_shown() {
        let given = Given::new();
        let tree = given.tree("");
        let names = [("file".into(), false), ("folder".into(), true)];
        assert_eq!(tree.names(ROOT).expect("a folder"), names);
        let bytes = |name: &str| tree.lookup(ROOT, OsStr::new(name)).map(|node| node.bytes);
        assert!(matches!(bytes("file"), Ok(5)) && matches!(bytes("folder"), Ok(0)));
        assert!(matches!(bytes("link"), Err(Missing::Nothing)));
        assert!(matches!(bytes("none"), Err(Missing::Nothing)));
        assert!(matches!(bytes(&"long".repeat(100)), Err(Missing::System(_))));
    }

    #[test]
    fn a_file_alone_has_its_own_name() {
        let given = Given::new();
        let tree = given.tree("file");
        assert_eq!(tree.names(ROOT).expect("a folder"), [("file".into(), false)]);
        let lookup = |name: &str| tree.lookup(ROOT, OsStr::new(name));
        let file = lookup("file").expect("it is there");
        assert!(file.number != ROOT && file.bytes == 5);
        assert!(matches!(lookup("folder"), Err(Missing::Nothing)));
        let below = tree.lookup(file.number, OsStr::new("file"));
        assert!(matches!(below, Err(Missing::Nothing)));
    }

    #[test]
    fn a_file_that_is_gone_is_not_there() {
        let given = Given::new();
        let tree = given.tree("");
        let file = tree.lookup(ROOT, OsStr::new("file")).expect("it is there").number;
        fs::remove_file(given.path("file")).expect("it is removed");
        assert!(matches!(tree.open(file), Err(Missing::Nothing)));
        assert!(matches!(tree.node(file), Err(Missing::Nothing)));
    }

    #[test]
    fn a_file_that_is_replaced_has_its_own_length() {
        let given = Given::new();
        let tree = given.tree("");
        let file = tree.lookup(ROOT, OsStr::new("file")).expect("it is there").number;
        given.seal(7);
        assert_eq!(tree.node(file).expect("it is there").bytes, 7);
    }
}
