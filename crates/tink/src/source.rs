//! What is read from and written to at any place, and how a changed source is noticed.

use std::{
    fs::File,
    io,
    os::unix::fs::{FileExt, MetadataExt},
};

use serde::{Deserialize, Serialize};

use crate::Error;

/// What a source is, so that one that changed is noticed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// Bytes.
    pub size: u64,
    /// Which content of this size.
    pub version: Version,
}

/// Which content a source has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Version {
    /// That of a file, as its metadata tells. The device is not there: hosts that share a file system
    /// number it differently.
    #[serde(rename_all = "camelCase")]
    File {
        /// When it was last written, in nanoseconds since 1970.
        modified: i64,
        /// When it or its metadata last changed, in nanoseconds since 1970: it cannot be set back.
        changed: i64,
        /// The number of the file.
        inode: u64,
    },
    /// What a store calls it: an `ETag`, or the version of an object.
    Object(String),
}

impl Identity {
    /// Fails where `now` is another one.
    ///
    /// # Errors
    /// [`Error::SourceChanged`], naming the first difference.
    pub fn check(&self, now: &Self) -> Result<(), Error> {
        let differ = |what, before: &dyn ToString, after: &dyn ToString| {
            let (before, after) = (before.to_string(), after.to_string());
            if before == after { Ok(()) } else { Err(Error::SourceChanged { what, before, after }) }
        };
        differ("size", &self.size, &now.size)?;
        match (&self.version, &now.version) {
            (
                Version::File { modified, changed, inode },
                Version::File { modified: modified_now, changed: changed_now, inode: inode_now },
            ) => {
                differ("inode", inode, inode_now)?;
                differ("time of modification", modified, modified_now)?;
                differ("time of change", changed, changed_now)
            }
            (Version::Object(before), Version::Object(after)) => differ("version", before, after),
            _ => differ("kind", &"a file or an object", &"the other one"),
        }
    }
}

/// Something that is read at any place, by several threads.
pub trait Source: Sync {
    /// What it is now.
    ///
    /// # Errors
    /// Those of the system.
    fn identity(&self) -> io::Result<Identity>;

    /// Fills `buffer` with what begins at `offset`.
    ///
    /// # Errors
    /// `UnexpectedEof` where there is less; those of the system.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Fills several buffers, each with what begins at its offset: at once, where that takes less time than one after
    /// the other.
    ///
    /// # Errors
    /// As [`read_exact_at`](Self::read_exact_at).
    fn read_all_exact_at(&self, parts: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        parts.iter_mut().try_for_each(|(offset, buffer)| self.read_exact_at(buffer, *offset))
    }
}

/// Something that is written at any place, by several threads.
pub trait Target: Sync {
    /// Writes `bytes` from `offset` on.
    ///
    /// # Errors
    /// Those of the system.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

impl Source for File {
    fn identity(&self) -> io::Result<Identity> {
        let metadata = self.metadata()?;
        let nanoseconds =
            |seconds: i64, more: i64| seconds.saturating_mul(1_000_000_000).saturating_add(more);
        let version = Version::File {
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        };
        Ok(Identity { size: metadata.len(), version })
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, buffer, offset)
    }
}

impl Target for File {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }
}

impl<T: Target + ?Sized> Target for &T {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        (**self).write_all_at(bytes, offset)
    }
}

impl<S: Source + ?Sized> Source for &S {
    fn identity(&self) -> io::Result<Identity> {
        (**self).identity()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_exact_at(buffer, offset)
    }

    fn read_all_exact_at(&self, parts: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        (**self).read_all_exact_at(parts)
    }
}

/// Reads what a source of `size` bytes should have; one that has less has changed.
pub(crate) fn read(
    source: &dyn Source,
    buffer: &mut [u8],
    offset: u64,
    size: u64,
) -> Result<(), Error> {
    source.read_exact_at(buffer, offset).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::SourceChanged {
            what: "size",
            before: size.to_string(),
            after: format!("less than {}", offset + buffer.len() as u64),
        },
        _ => Error::of_io(format!("read the source at {offset}"))(error),
    })
}

/// Fails where the source is a file that is not what it was. A store gives nothing of another object.
pub(crate) fn check_file(source: &dyn Source, before: &Identity) -> Result<(), Error> {
    match before.version {
        Version::File { .. } => before.check(&identity(source)?),
        Version::Object(_) => Ok(()),
    }
}

/// Fails where the source is not what it was, or has more than it says.
pub(crate) fn check_unchanged(source: &dyn Source, before: &Identity) -> Result<(), Error> {
    before.check(&identity(source)?)?;
    if source.read_exact_at(&mut [0], before.size).is_err() {
        return Ok(());
    }
    let before = before.size.to_string();
    Err(Error::SourceChanged { what: "size", after: format!("more than {before}"), before })
}

/// What the source is now.
pub(crate) fn identity(source: &dyn Source) -> Result<Identity, Error> {
    source.identity().map_err(Error::of_io("ask what the source is"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InMemory;

    #[test]
    fn a_reference_reads_what_it_refers_to() {
        fn parts<S: Source>(source: S) -> [[u8; 2]; 3] {
            let [mut first, mut second, mut third] = [[0; 2]; 3];
            source.read_exact_at(&mut first, 1).unwrap();
            source.read_all_exact_at(&mut [(4, &mut second[..]), (0, &mut third)]).unwrap();
            [first, second, third]
        }
        assert_eq!(parts::<&dyn Source>(&InMemory(b"abcdef")), [*b"bc", *b"ef", *b"ab"]);
    }

    /// A receipt, and a store, may say anything of a version.
    #[test]
    fn versions_are_cut_and_escaped() {
        let of = |version| Identity { size: 1, version: Version::Object(version) };
        let long = format!("\u{1b}[2J{}", "n".repeat(1 << 20));
        let text = of(long).check(&of("other".to_owned())).unwrap_err().to_string();
        assert!(
            text.len() < 200 && !text.contains('\u{1b}') && text.ends_with(" is other"),
            "{text}"
        );
    }
}
