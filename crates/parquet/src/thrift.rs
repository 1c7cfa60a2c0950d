//! Thrift's compact protocol as a tree of fields: read from bytes that anyone may have written, and written again.
//!
//! Parquet's footers and page headers are such trees. Fields that are not known here are kept as they are, so that
//! what is written again has all that its writer said. Maps and sets do not occur in Parquet and are refused.

mod read;
mod write;

use std::fmt;

pub use read::read_struct;
pub use write::{PAD_LEAST, padded, write_struct};

/// Structures within structures that are read: Parquet's own have 8 or so.
pub const MOST_DEPTH: usize = 32;

/// The field that [`padded`] adds to a structure. No version of Parquet has a field of this number, and readers leave
/// out fields that they do not know.
pub const PAD_FIELD: i16 = 0x3fff;

/// What a field has.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A byte. Truth values in lists are bytes as well, as they stand there.
    Byte(u8),
    /// An integer of 16 bits.
    I16(i16),
    /// An integer of 32 bits, or the number of an enumeration.
    I32(i32),
    /// An integer of 64 bits.
    I64(i64),
    /// A floating-point number, as its bytes stand there.
    Double([u8; 8]),
    /// Bytes, or a text.
    Binary(Vec<u8>),
    /// Values of one type.
    List(List),
    /// A structure, or a union, which is a structure with one field.
    Struct(Struct),
}

/// Values of one type.
#[derive(Clone, PartialEq, Eq)]
pub struct List {
    /// The type's code, of which an empty list has one as well.
    pub(crate) code: u8,
    /// The values.
    pub items: Vec<Value>,
}

/// Fields by their numbers, in the order of the numbers.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Struct {
    fields: Vec<(i16, Value)>,
}

/// Bytes that are not a structure of the compact protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at} of {of} bytes: {what}")]
pub struct Malformed {
    /// The byte at which reading stopped.
    pub at: usize,
    /// Bytes there are.
    pub of: usize,
    /// What is wrong there.
    pub what: &'static str,
}

impl Struct {
    /// The fields with their numbers.
    pub fn fields(&self) -> impl Iterator<Item = (i16, &Value)> {
        self.fields.iter().map(|(id, value)| (*id, value))
    }

    /// The field of this number.
    #[must_use]
    pub fn get(&self, id: i16) -> Option<&Value> {
        let at = self.fields.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.fields[at].1)
    }

    /// The field of this number, to be changed.
    pub fn get_mut(&mut self, id: i16) -> Option<&mut Value> {
        let at = self.fields.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&mut self.fields[at].1)
    }

    /// Sets a field, in the place of what it had.
    pub fn set(&mut self, id: i16, value: Value) {
        match self.fields.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(at) => self.fields[at].1 = value,
            Err(at) => self.fields.insert(at, (id, value)),
        }
    }

    /// Takes a field out.
    pub fn remove(&mut self, id: i16) -> Option<Value> {
        let at = self.fields.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.fields.remove(at).1)
    }

    /// The field of this number where it is an integer of any width.
    #[must_use]
    pub fn integer(&self, id: i16) -> Option<i64> {
        match self.get(id)? {
            Value::I16(value) => Some((*value).into()),
            Value::I32(value) => Some((*value).into()),
            Value::I64(value) => Some(*value),
            _ => None,
        }
    }

    /// The field of this number where it has bytes.
    #[must_use]
    pub fn binary(&self, id: i16) -> Option<&[u8]> {
        match self.get(id)? {
            Value::Binary(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The field of this number where it is a truth value.
    #[must_use]
    pub fn flag(&self, id: i16) -> Option<bool> {
        match self.get(id)? {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The field of this number where it is a structure.
    #[must_use]
    pub fn structure(&self, id: i16) -> Option<&Struct> {
        match self.get(id)? {
            Value::Struct(value) => Some(value),
            _ => None,
        }
    }

    /// The values of the field of this number where it is a list; none where it is not.
    #[must_use]
    pub fn items(&self, id: i16) -> &[Value] {
        match self.get(id) {
            Some(Value::List(list)) => &list.items,
            _ => &[],
        }
    }

    /// The structures in the field of this number where it is a list of such.
    pub fn structures(&self, id: i16) -> impl Iterator<Item = &Struct> {
        self.items(id).iter().filter_map(|item| match item {
            Value::Struct(item) => Some(item),
            _ => None,
        })
    }
}

impl FromIterator<(i16, Value)> for Struct {
    fn from_iter<I: IntoIterator<Item = (i16, Value)>>(fields: I) -> Self {
        let mut all = Self::default();
        for (id, value) in fields {
            all.set(id, value);
        }
        all
    }
}

impl List {
    /// A list of structures.
    pub fn of_structures(items: impl IntoIterator<Item = Struct>) -> Self {
        Self { code: code::STRUCT, items: items.into_iter().map(Value::Struct).collect() }
    }

    /// A list of bytes or texts.
    pub fn of_binaries(items: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self { code: code::BINARY, items: items.into_iter().map(Value::Binary).collect() }
    }

    /// A list of integers of 32 bits.
    pub fn of_i32(items: impl IntoIterator<Item = i32>) -> Self {
        Self { code: code::I32, items: items.into_iter().map(Value::I32).collect() }
    }
}

/// Types as the compact protocol numbers them.
mod code {
    pub(super) const STOP: u8 = 0;
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const STRUCT: u8 = 12;
}

/// Tells numbers of fields, types and lengths: a footer may have values of columns in its statistics.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(_) => f.write_str("Bool"),
            Self::Byte(_) => f.write_str("Byte"),
            Self::I16(_) => f.write_str("I16"),
            Self::I32(_) => f.write_str("I32"),
            Self::I64(_) => f.write_str("I64"),
            Self::Double(_) => f.write_str("Double"),
            Self::Binary(bytes) => write!(f, "Binary({})", bytes.len()),
            Self::List(list) => list.fmt(f),
            Self::Struct(fields) => fields.fmt(f),
        }
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "List({})", self.items.len())
    }
}

impl fmt::Debug for Struct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.fields()).finish()
    }
}
