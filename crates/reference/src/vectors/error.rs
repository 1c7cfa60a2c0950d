//! What can be wrong with a vector file, and where.

use std::{
    io,
    string::{String, ToString},
};
use thiserror::Error;

/// Why a vector file could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VectorError {
    /// The file system would not give the file out.
    #[error("cannot read {file}: {source}")]
    Read {
        /// The path as it was given.
        file: String,
        /// What the file system said.
        source: io::Error,
    },
    /// The text is not what the format says.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// One place in a vector file that the reader refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}, line {line}: {problem}")]
pub struct FormatError {
    /// The name or path of the file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a line of a vector file. Fields called `given` hold at most 40 characters of
/// the file's text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The first line is no header.
    #[error(
        "{given:?} is no header; the first line starts with \"# bcv1 \", \"# bcv1-mct \" or \
         \"# bcv1-big \""
    )]
    NoHeader {
        /// The first line.
        given: String,
    },
    /// The header promises another number of lines than there are.
    #[error("field {field} says {stated}, but the file has {found} such lines")]
    Count {
        /// The header's field.
        field: &'static str,
        /// The number in the header.
        stated: usize,
        /// The number of lines that are neither empty nor comments.
        found: usize,
    },
    /// A character that is not printable ASCII.
    #[error("{given:?} at byte {at} of the line; only printable ASCII is accepted")]
    Character {
        /// The character.
        given: char,
        /// Its offset in the line, in bytes from 0.
        at: usize,
    },
    /// Two spaces in a row, or a space at an end of the line.
    #[error("field number {position} is empty; fields are separated by exactly one space")]
    EmptyField {
        /// Which field, counted from 1.
        position: usize,
    },
    /// A word without `=`.
    #[error("{given:?} is not a field; fields are name=value")]
    NotAField {
        /// The word.
        given: String,
    },
    /// A field that lines of this kind do not have.
    #[error("unknown field {given:?}; accepted are {accepted:?}")]
    UnknownField {
        /// The field's name.
        given: String,
        /// The names that the format has here.
        accepted: &'static [&'static str],
    },
    /// A field that occurs twice in the line.
    #[error("field {field} is given twice")]
    DuplicateField {
        /// The field's name.
        field: String,
    },
    /// A field that the line must have.
    #[error("field {field} is missing")]
    MissingField {
        /// The field's name.
        field: &'static str,
    },
    /// A field that has no meaning in this mode, or for a vector that must fail.
    #[error("field {field} is given, but {context} has none")]
    UnexpectedField {
        /// The field's name.
        field: &'static str,
        /// The mode, or what else excludes the field.
        context: String,
    },
    /// An id that an earlier line of the file has.
    #[error("field id: {id:?} is already the id of line {first_line}; ids are unique")]
    DuplicateId {
        /// The id, at most 40 characters of it.
        id: String,
        /// The line that has it, counted from 1.
        first_line: usize,
    },
    /// Hex with half a byte.
    #[error("field {field}: {digits} hex digits; an even number is needed")]
    OddDigits {
        /// The field's name.
        field: &'static str,
        /// How many digits were given.
        digits: usize,
    },
    /// A character that is no lower-case hex digit.
    #[error("field {field}: {given:?} at digit {at}; accepted are 0 to 9 and a to f")]
    Digit {
        /// The field's name.
        field: &'static str,
        /// The character: upper-case hex digits are refused as well.
        given: char,
        /// Its offset in the value, from 0.
        at: usize,
    },
    /// A value outside of what the field takes.
    #[error("field {field}: {given:?}; accepted is {accepted}")]
    Value {
        /// The field's name.
        field: &'static str,
        /// The value.
        given: String,
        /// What the field takes, in words.
        accepted: &'static str,
    },
    /// Two fields that must have the same length do not.
    #[error(
        "field {field} has {given} bytes and field {other} has {accepted}; the same is accepted"
    )]
    Lengths {
        /// The field at fault.
        field: &'static str,
        /// Its length in bytes.
        given: usize,
        /// The field that it is compared with.
        other: &'static str,
        /// The other field's length in bytes.
        accepted: usize,
    },
}

/// At most 40 characters of a text from the file, for an error.
pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => text[..end].to_string() + "…",
        None => text.to_string(),
    }
}
