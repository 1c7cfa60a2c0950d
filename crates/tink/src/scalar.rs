//! Numbers and enumerations as proto3's JSON has them: each of them may be a number or a text.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, Unexpected, Visitor},
};

use crate::Error;

/// A value of an enumeration, or a number of 32 bits. What is missing, or null, is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    /// A number, which proto3's JSON also writes as text.
    Number(u32),
    /// The name of an enumeration's value.
    Name(String),
}

impl Default for Scalar {
    fn default() -> Self {
        Self::Number(0)
    }
}

impl Scalar {
    /// The number, of a name by its place in `names`; `what` says what is wrong otherwise.
    pub(crate) fn number(&self, names: &[&str], what: &'static str) -> Result<u32, Error> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Name(name) => {
                let number = names.iter().position(|known| known == name);
                number.map(|number| number as u32).ok_or(Error::Malformed { what })
            }
        }
    }

    /// The name of a number, or where it has none the number.
    pub(crate) fn named(names: &[&str], number: u32) -> Self {
        let name = names.get(number as usize);
        name.map_or(Self::Number(number), |name| Self::Name((*name).to_owned()))
    }
}

impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => number.serialize(serializer),
            Self::Name(name) => name.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

/// Reads a number of 32 bits, and no name.
pub(crate) fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match Scalar::deserialize(deserializer)? {
        Scalar::Number(number) => Ok(number),
        Scalar::Name(_) => Err(D::Error::invalid_type(Unexpected::Other("a text"), &ScalarVisitor)),
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of 32 bits, or its name")
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Scalar, E> {
        let number = u32::try_from(number);
        number
            .map(Scalar::Number)
            .map_err(|_| E::invalid_type(Unexpected::Other("a number"), &self))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Scalar, E> {
        // A whole number is printed without a point.
        number.to_string().parse().or(Ok(u64::MAX)).and_then(|number| self.visit_u64(number))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Scalar, E> {
        let number = text.parse().map(Scalar::Number);
        Ok(number.unwrap_or_else(|_| Scalar::Name(text.to_owned())))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Scalar, E> {
        Ok(Scalar::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_number_is_read() {
        let read = |text: &str| serde_json::from_str::<Scalar>(text).ok();
        for text in ["3", "\"3\"", "3.0", "0.3e1"] {
            assert_eq!(read(text), Some(Scalar::Number(3)), "{text}");
        }
        assert_eq!(read("null"), Some(Scalar::Number(0)));
        assert_eq!(read("4294967295"), Some(Scalar::Number(u32::MAX)));
        assert_eq!(read("\"RAW\""), Some(Scalar::Name("RAW".to_owned())));
        for text in ["4294967296", "-1", "3.5", "1e99", "true", "[3]", "{}"] {
            assert_eq!(read(text), None, "{text}");
        }
        let names = ["NO", "YES"];
        assert_eq!(Scalar::named(&names, 1).number(&names, "").unwrap(), 1);
        assert_eq!(Scalar::named(&names, 2), Scalar::Number(2));
        assert!(Scalar::Name("PERHAPS".to_owned()).number(&names, "").is_err());
    }
}
