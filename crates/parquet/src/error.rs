//! What can go wrong: what was given, and what is accepted. Texts never contain key material.

use std::io;

use lanecrypt::Brief;

use crate::{
    place::{Kind, Place},
    thrift::Malformed,
};

/// What can go wrong with encrypted Parquet files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A module is not what was sealed: changed, moved, of another file, or under another key.
    #[error(
        "the {place}{} is not authentic: the key or the AAD prefix is another one, or the file was changed",
        named(column.as_ref())
    )]
    NotAuthentic {
        /// Which one.
        place: Place,
        /// The path of its column, where it has one, its parts joined by dots.
        column: Option<String>,
    },
    /// A module does not have the form that its place asks for.
    #[error("the {place} is malformed: {what}")]
    Module {
        /// Which one.
        place: Place,
        /// What is wrong.
        what: &'static str,
    },
    /// A module that is no structure of Thrift.
    #[error("the {place} is malformed: {source}")]
    Thrift {
        /// Which one.
        place: Place,
        /// Where, and why.
        source: Malformed,
    },
    /// The file's form is not Parquet's.
    #[error("not a Parquet file: {what}")]
    NotParquet {
        /// What was expected.
        what: &'static str,
    },
    /// The file is not encrypted.
    #[error("the file is not encrypted: it has nothing that a key could verify")]
    NotEncrypted,
    /// The file to be sealed is encrypted.
    #[error("the file is encrypted already")]
    Encrypted,
    /// There is no key for the footer, or for a column.
    #[error("no key for {of}")]
    NoKey {
        /// For what.
        of: String,
    },
    /// A key has a length that AES does not have.
    #[error("a key of {given} bytes; accepted are 16, 24 and 32")]
    KeyLength {
        /// Bytes given.
        given: usize,
    },
    /// The prefix of associated data that the caller gave is not that of the file, or there is none, or it is too long.
    #[error("{what}")]
    AadPrefix {
        /// What is wrong.
        what: &'static str,
    },
    /// The file has no such column.
    #[error("the file has no column {:?}; it has {known}", Brief(column))]
    NoSuchColumn {
        /// The column asked for.
        column: String,
        /// Those that there are: the first few, and how many.
        known: String,
    },
    /// The file has no such row group.
    #[error("the file has no row group {given}; it has {count}")]
    NoSuchRowGroup {
        /// The one asked for, from 0.
        given: usize,
        /// How many there are.
        count: usize,
    },
    /// The format numbers row groups, columns and pages in 15 bits; names of columns may take only so much memory.
    #[error("more than {most} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The most that there may be.
        most: u64,
    },
    /// A part of the file that is longer than the format can say.
    #[error("the {place} is too long")]
    TooLong {
        /// Which part.
        place: Place,
    },
    /// The caller's own function for keys failed.
    #[error("no key: {0}")]
    Retriever(Box<dyn std::error::Error + Send + Sync>),
    /// A cipher failed, or a device.
    #[error(transparent)]
    Engine(#[from] lanecrypt::Error),
    /// The source changed, there is too little memory, or an output could not be made.
    #[error(transparent)]
    File(#[from] lanecrypt_tink::Error),
    /// The system provided no random numbers.
    #[error("the system provided no random numbers: {0}")]
    Random(#[from] getrandom::Error),
    /// Reading or writing failed.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was tried.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
}

fn named(column: Option<&String>) -> String {
    column.map_or_else(String::new, |path| format!(" ({:?})", Brief(path)))
}

/// The first few of these names, and how many there are where those are not all.
pub(crate) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 8;
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown: Vec<_> = names.take(SHOWN).map(|name| format!("{:?}", Brief(name))).collect();
    format!("{}{more}", shown.join(", "))
}

impl Error {
    /// What is at this place is not what was sealed there.
    pub(crate) fn not_authentic(place: Place) -> Self {
        Self::NotAuthentic { place, column: None }
    }

    /// The same with the path of the column that it speaks of, of these paths of all columns.
    pub(crate) fn naming(mut self, paths: &[String]) -> Self {
        if let Self::NotAuthentic { place, column } = &mut self
            && place.kind != Kind::Footer
        {
            let number = usize::try_from(place.column);
            *column = number.ok().and_then(|number| paths.get(number)).cloned();
        }
        self
    }

    /// Whether the data is not what was sealed, as opposed to what could not be read or written.
    #[must_use]
    pub fn is_not_authentic(&self) -> bool {
        matches!(self, Self::NotAuthentic { .. })
    }

    /// An error of the system while something was done.
    pub(crate) fn of_io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing: doing.into(), source }
    }

    /// A structure of Thrift at this place that is none.
    pub(crate) fn of_thrift(place: Place) -> impl FnOnce(Malformed) -> Self {
        move |source| Self::Thrift { place, source }
    }
}

#[cfg(feature = "cuda")]
impl From<lanecrypt::cuda::Error> for Error {
    fn from(error: lanecrypt::cuda::Error) -> Self {
        Self::Engine(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyFor;

    /// Names of an unauthenticated file, as long and as strange as they may be.
    #[test]
    fn texts_of_a_file_are_cut_and_escaped() {
        let name = format!("\u{1b}[2J{}", "n".repeat(1 << 20));
        let known = listed(std::iter::repeat_n(&*name, 1000));
        let errors = [
            Error::NoSuchColumn { column: name.clone(), known },
            Error::NotAuthentic { place: Place::FOOTER, column: Some(name.clone()) },
            Error::NoKey { of: KeyFor::Column(&name).to_string() },
        ];
        for text in errors.map(|error| error.to_string()) {
            assert!(text.len() < 1000 && !text.contains('\u{1b}') && text.contains('…'), "{text}");
        }
        assert_eq!(listed(["a", "b\n"].into_iter()), r#""a", "b\n""#);
        assert!(listed(std::iter::repeat_n("a", 10)).ends_with(r#", "a" and 2 more"#));
    }
}
