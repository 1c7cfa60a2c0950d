//! Trees of fields as bytes.

use super::{List, PAD_FIELD, Struct, Value, code};

/// The fewest bytes that [`padded`] can add.
pub const PAD_LEAST: usize = 5;

/// The most bytes that [`padded`] can add.
const PAD_MOST: usize = PAD_LEAST + 127;

/// Appends a structure to `bytes`.
pub fn write_struct(fields: &Struct, bytes: &mut Vec<u8>) {
    let mut last = 0;
    for (id, value) in fields.fields() {
        let kind = kind(value);
        let delta = u8::try_from(i32::from(id) - i32::from(last));
        if let Ok(delta @ 1..=15) = delta {
            bytes.push(delta << 4 | kind);
        } else {
            bytes.push(kind);
            write_zigzag(id.into(), bytes);
        }
        write_value(value, bytes);
        last = id;
    }
    bytes.push(code::STOP);
}

/// Makes a structure, which takes all of `bytes`, longer by `more` bytes of a field that readers leave out. Nothing is
/// done for lengths that no such field has: those below [`PAD_LEAST`] or above 132.
pub fn padded(bytes: &mut Vec<u8>, more: usize) {
    if !(PAD_LEAST..=PAD_MOST).contains(&more) || bytes.pop() != Some(code::STOP) {
        return;
    }
    bytes.push(code::BINARY);
    write_zigzag(PAD_FIELD.into(), bytes);
    let zeros = more - PAD_LEAST;
    bytes.push(zeros as u8);
    bytes.resize(bytes.len() + zeros, 0);
    bytes.push(code::STOP);
}

fn kind(value: &Value) -> u8 {
    match value {
        Value::Bool(true) => code::TRUE,
        Value::Bool(false) => code::FALSE,
        Value::Byte(_) => code::BYTE,
        Value::I16(_) => code::I16,
        Value::I32(_) => code::I32,
        Value::I64(_) => code::I64,
        Value::Double(_) => code::DOUBLE,
        Value::Binary(_) => code::BINARY,
        Value::List(_) => code::LIST,
        Value::Struct(_) => code::STRUCT,
    }
}

fn write_value(value: &Value, bytes: &mut Vec<u8>) {
    match value {
        Value::Bool(_) => {} // the type says it
        Value::Byte(value) => bytes.push(*value),
        Value::I16(value) => write_zigzag((*value).into(), bytes),
        Value::I32(value) => write_zigzag((*value).into(), bytes),
        Value::I64(value) => write_zigzag(*value, bytes),
        Value::Double(value) => bytes.extend_from_slice(value),
        Value::Binary(value) => {
            write_varint(value.len() as u64, bytes);
            bytes.extend_from_slice(value);
        }
        Value::List(list) => write_list(list, bytes),
        Value::Struct(value) => write_struct(value, bytes),
    }
}

fn write_list(list: &List, bytes: &mut Vec<u8>) {
    match list.items.len() {
        short @ 0..15 => bytes.push((short as u8) << 4 | list.code),
        long => {
            bytes.push(0xf0 | list.code);
            write_varint(long as u64, bytes);
        }
    }
    for item in &list.items {
        write_value(item, bytes);
    }
}

fn write_zigzag(value: i64, bytes: &mut Vec<u8>) {
    write_varint((value << 1 ^ value >> 63).cast_unsigned(), bytes);
}

fn write_varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
