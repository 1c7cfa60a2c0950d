//! The fields of a prompt's objects, read where they are wanted, so that an error names the group and the test.

use serde_json::{Map, Value};

use super::error::{AcvpError, Place};

/// An object of a prompt, and where it is.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    pub(super) place: Place,
}

impl<'a> Fields<'a> {
    pub(super) fn new(map: &'a Map<String, Value>, place: Place) -> Self {
        Self { map, place }
    }

    /// The same, as the group that it says it is.
    pub(super) fn numbered_group(mut self) -> Result<Self, AcvpError> {
        self.place.group = Some(self.number("tgId")?);
        Ok(self)
    }

    /// The same, as the test that it says it is.
    pub(super) fn numbered_test(mut self) -> Result<Self, AcvpError> {
        self.place.test = Some(self.number("tcId")?);
        Ok(self)
    }

    pub(super) fn has(self, field: &str) -> bool {
        self.map.contains_key(field)
    }

    fn value(self, field: &'static str) -> Result<&'a Value, AcvpError> {
        self.map.get(field).ok_or(AcvpError::Missing { place: self.place, field })
    }

    /// The error of a field that is not what it should be.
    pub(super) fn refused(self, field: &'static str, accepted: impl Into<String>) -> AcvpError {
        let given = self.map.get(field).map(Value::to_string).unwrap_or_default();
        AcvpError::Field { place: self.place, field, given, accepted: accepted.into() }
    }

    pub(super) fn text(self, field: &'static str) -> Result<&'a str, AcvpError> {
        self.value(field)?.as_str().ok_or_else(|| self.refused(field, "a text"))
    }

    pub(super) fn number(self, field: &'static str) -> Result<u64, AcvpError> {
        self.value(field)?.as_u64().ok_or_else(|| self.refused(field, "a number"))
    }

    pub(super) fn flag(self, field: &'static str) -> Result<bool, AcvpError> {
        self.value(field)?.as_bool().ok_or_else(|| self.refused(field, "true or false"))
    }

    pub(super) fn bytes(self, field: &'static str) -> Result<Vec<u8>, AcvpError> {
        let text = self.text(field)?;
        hex::decode(text).map_err(|_| self.refused(field, "hex, two digits a byte"))
    }

    /// A number of bits that is a number of bytes, as bytes.
    pub(super) fn bits_as_bytes(self, field: &'static str) -> Result<usize, AcvpError> {
        match usize::try_from(self.number(field)?) {
            Ok(bits) if bits.is_multiple_of(8) => Ok(bits / 8),
            _ => Err(self.refused(field, "a multiple of 8")),
        }
    }
}

/// The objects of an array.
pub(super) fn objects<'a>(
    fields: Fields<'a>,
    field: &'static str,
) -> Result<Vec<&'a Map<String, Value>>, AcvpError> {
    let refused = || fields.refused(field, "an array of objects");
    let elements = fields.value(field)?.as_array().ok_or_else(refused)?;
    elements.iter().map(|element| element.as_object().ok_or_else(refused)).collect()
}
