//! As much of Protocol Buffers' wire format as keysets have: varints and length-delimited fields.

use zeroize::Zeroizing;

use crate::Error;

/// A field's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// A number or an enumeration.
    Varint(u64),
    /// A string, bytes or a message.
    Bytes(&'a [u8]),
    /// Of four or eight bytes, which no field of a keyset has.
    Fixed,
}

impl<'a> Value<'a> {
    /// As an unsigned number of 32 bits, or an enumeration.
    pub(crate) fn number(self) -> Result<u32, Error> {
        match self {
            Self::Varint(number) => u32::try_from(number).map_err(|_| malformed()),
            _ => Err(malformed()),
        }
    }

    /// As bytes or a message.
    pub(crate) fn bytes(self) -> Result<&'a [u8], Error> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(malformed()),
        }
    }
}

/// The fields of a message, each with its number; ends after the first error.
pub(crate) fn fields(message: &[u8]) -> impl Iterator<Item = Result<(u32, Value<'_>), Error>> {
    let mut rest = message;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = field(&mut rest);
        if field.is_none() {
            rest = &[];
        }
        Some(field.ok_or_else(malformed))
    })
}

fn malformed() -> Error {
    Error::Malformed { what: "a field is not encoded as protobuf prescribes" }
}

fn field<'a>(rest: &mut &'a [u8]) -> Option<(u32, Value<'a>)> {
    let tag = varint(rest)?;
    let number = u32::try_from(tag >> 3).ok().filter(|&number| number > 0)?;
    let value = match tag & 7 {
        0 => Value::Varint(varint(rest)?),
        1 => rest.split_off(..8).map(|_| Value::Fixed)?,
        2 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            Value::Bytes(rest.split_off(..length)?)
        }
        5 => rest.split_off(..4).map(|_| Value::Fixed)?,
        _ => return None,
    };
    Some((number, value))
}

/// Seven bits per byte, the lowest first; the last byte is the one without the highest bit.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *rest.split_off_first()?;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// What a field is given.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given<'a> {
    /// A number or an enumeration. Zero, which is what a missing field means, is not written.
    Number(u32),
    /// A string, bytes or a message.
    Bytes(&'a [u8]),
}

impl<'a> Given<'a> {
    /// The field's varints, and the bytes behind them.
    fn parts(self, field: u32) -> ([u64; 2], &'a [u8]) {
        let field = u64::from(field) << 3;
        match self {
            Self::Number(number) => ([field, number.into()], &[]),
            Self::Bytes(bytes) => ([field | 2, bytes.len() as u64], bytes),
        }
    }
}

/// Writes a message of these fields, each with its number. It is allocated once: a vector that grows leaves a copy
/// of what it had, which may be a key.
pub(crate) fn message(fields: &[(u32, Given<'_>)]) -> Zeroizing<Vec<u8>> {
    let written = || fields.iter().filter(|(_, given)| !matches!(given, Given::Number(0)));
    let parts = || written().map(|(field, given)| given.parts(*field));
    let bytes_of = |(numbers, bytes): ([u64; 2], &[u8])| {
        numbers.into_iter().map(varint_bytes).sum::<usize>() + bytes.len()
    };
    let mut message = Zeroizing::new(Vec::with_capacity(parts().map(bytes_of).sum()));
    for (numbers, bytes) in parts() {
        for number in numbers {
            put_varint(&mut message, number);
        }
        message.extend_from_slice(bytes);
    }
    message
}

fn varint_bytes(number: u64) -> usize {
    (u64::BITS - (number | 1).leading_zeros()).div_ceil(7) as usize
}

fn put_varint(message: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        message.push(number as u8 | 0x80);
        number >>= 7;
    }
    message.push(number as u8);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(message: &[u8]) -> Result<Vec<(u32, Value<'_>)>, Error> {
        fields(message).collect()
    }

    #[test]
    fn the_examples_of_the_documentation() {
        assert_eq!(all(&[0x08, 0x96, 0x01]).unwrap(), [(1, Value::Varint(150))]);
        let text = [0x12, 7, b't', b'e', b's', b't', b'i', b'n', b'g'];
        assert_eq!(all(&text).unwrap(), [(2, Value::Bytes(b"testing"))]);
        let after = (1, Value::Varint(5));
        assert_eq!(all(&[0x0d, 1, 2, 3, 4, 0x08, 5]).unwrap(), [(1, Value::Fixed), after]);
        let eight = [0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x08, 5];
        assert_eq!(all(&eight).unwrap(), [(2, Value::Fixed), after]);
        assert_eq!(all(&[]).unwrap(), []);
    }

    #[test]
    fn what_ends_early_or_is_no_field() {
        let messages: [&[u8]; 8] = [
            &[0x08],                                                 // a number is missing
            &[0x08, 0x80],                                           // it ends in the middle
            &[0x12, 3, 1, 2], // three bytes, of which two are there
            &[0x0b],          // a group
            &[0x00, 1],       // field 0
            &[0x0d, 1, 2, 3], // four bytes
            &[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2], // 65 bits
            &[0x12, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], // 2^64 - 1 bytes
        ];
        for message in messages {
            assert!(matches!(all(message), Err(Error::Malformed { .. })), "{message:?}");
        }
        assert!(Value::Varint(1 << 32).number().is_err() && Value::Fixed.bytes().is_err());
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(number in 1_u32.., bytes: Vec<u8>, field in 1_u32..(1 << 29)) {
            let given = [Given::Number(number), Given::Number(0), Given::Bytes(&bytes)];
            let message = message(&given.map(|given| (field, given)));
            let expected = [(field, Value::Varint(number.into())), (field, Value::Bytes(&bytes))];
            prop_assert_eq!(all(&message).unwrap(), expected);
            prop_assert_eq!(message.capacity(), message.len());
        }

        #[test]
        fn nothing_panics(message: Vec<u8>) {
            let _ = all(&message);
        }
    }
}
