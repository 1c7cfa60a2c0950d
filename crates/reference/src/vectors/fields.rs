//! The `name=value` fields of one line, and the values in them.

use super::error::{Problem, excerpt};
use core::str::FromStr;
use std::{string::ToString, vec::Vec};

/// The fields of one line. No name occurs twice, and all are names that the kind of line has.
pub(super) struct Fields<'text>(Vec<(&'text str, &'text str)>);

impl<'text> Fields<'text> {
    /// Splits a line into fields whose names are among `accepted`.
    pub(super) fn parse(
        line: &'text str,
        accepted: &'static [&'static str],
    ) -> Result<Self, Problem> {
        let printable = |character| (' '..='~').contains(&character);
        if let Some((at, given)) = line.char_indices().find(|(_, found)| !printable(*found)) {
            return Err(Problem::Character { given, at });
        }
        let mut fields: Vec<(&str, &str)> = Vec::new();
        for (index, word) in line.split(' ').enumerate() {
            if word.is_empty() {
                return Err(Problem::EmptyField { position: index + 1 });
            }
            let Some((name, value)) = word.split_once('=') else {
                return Err(Problem::NotAField { given: excerpt(word) });
            };
            if !accepted.contains(&name) {
                return Err(Problem::UnknownField { given: excerpt(name), accepted });
            }
            if fields.iter().any(|(earlier, _)| *earlier == name) {
                return Err(Problem::DuplicateField { field: name.to_string() });
            }
            fields.push((name, value));
        }
        Ok(Self(fields))
    }

    /// The value of a field, if the line has it.
    pub(super) fn optional(&self, field: &str) -> Option<&'text str> {
        self.0.iter().find(|(name, _)| *name == field).map(|(_, value)| *value)
    }

    /// The value of a field that the line must have; it may be empty.
    pub(super) fn required(&self, field: &'static str) -> Result<&'text str, Problem> {
        self.optional(field).ok_or(Problem::MissingField { field })
    }

    /// The value of a field that the line must have, and not empty.
    pub(super) fn name(&self, field: &'static str) -> Result<&'text str, Problem> {
        match self.required(field)? {
            "" => Err(invalid(field, "", "at least one character")),
            value => Ok(value),
        }
    }

    /// The name of a cipher or mode, which the line must have.
    pub(super) fn lower_case_name(&self, field: &'static str) -> Result<&'text str, Problem> {
        match self.name(field)? {
            name if name.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                Err(invalid(field, name, "a lower-case name"))
            }
            name => Ok(name),
        }
    }

    /// The bytes of a hex field that the line must have; there may be none.
    pub(super) fn bytes(&self, field: &'static str) -> Result<Vec<u8>, Problem> {
        decode(field, self.required(field)?)
    }

    /// The bytes of a hex field, if the line has it.
    pub(super) fn optional_bytes(&self, field: &'static str) -> Result<Option<Vec<u8>>, Problem> {
        self.optional(field).map(|value| decode(field, value)).transpose()
    }

    /// The bytes of a hex field that holds exactly `N` bytes, which `accepted` says in words.
    pub(super) fn array<const N: usize>(
        &self,
        field: &'static str,
        accepted: &'static str,
    ) -> Result<[u8; N], Problem> {
        let bytes = self.bytes(field)?;
        bytes.try_into().map_err(|_| invalid(field, self.optional(field).unwrap_or(""), accepted))
    }

    /// A decimal number that the line must have.
    pub(super) fn number<T: FromStr>(&self, field: &'static str) -> Result<T, Problem> {
        let given = self.required(field)?;
        // `FromStr` alone would also take a plus sign.
        let digits_only = given.bytes().all(|byte| byte.is_ascii_digit());
        let number = given.parse().ok().filter(|_| digits_only);
        number.ok_or_else(|| invalid(field, given, "a decimal number that fits the machine"))
    }

    /// The marks of the `note` field, which `+` joins.
    pub(super) fn notes(&self) -> Vec<std::string::String> {
        let marks = self.optional("note").unwrap_or("").split('+');
        marks.filter(|mark| !mark.is_empty()).map(ToString::to_string).collect()
    }
}

/// The error for a value that the field does not take.
pub(super) fn invalid(field: &'static str, given: &str, accepted: &'static str) -> Problem {
    Problem::Value { field, given: excerpt(given), accepted }
}

/// The bytes of lower-case hex.
fn decode(field: &'static str, value: &str) -> Result<Vec<u8>, Problem> {
    let lower_hex = |character| matches!(character, '0'..='9' | 'a'..='f');
    if let Some((at, given)) = value.char_indices().find(|(_, found)| !lower_hex(*found)) {
        return Err(Problem::Digit { field, given, at });
    }
    // With only hex digits left, the one thing `hex` can still refuse is half a byte.
    hex::decode(value).map_err(|_| Problem::OddDigits { field, digits: value.len() })
}
