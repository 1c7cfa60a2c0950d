//! Trees of fields from bytes: every length is held against what is there before memory is taken for it.

use super::{List, MOST_DEPTH, Malformed, Struct, Value, code};

/// Reads the structure that `bytes` begin with; returns the bytes that it takes as well.
///
/// # Errors
/// [`Malformed`] where there is none: cut off, nested deeper than [`MOST_DEPTH`], with fields out of order or twice, or
/// of types that Parquet does not have.
pub fn read_struct(bytes: &[u8]) -> Result<(Struct, usize), Malformed> {
    let mut reader = Reader { bytes, at: 0 };
    let read = reader.structure(MOST_DEPTH)?;
    Ok((read, reader.at))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn wrong<T>(&self, what: &'static str) -> Result<T, Malformed> {
        Err(Malformed { at: self.at, of: self.bytes.len(), what })
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        let Some(&byte) = self.bytes.get(self.at) else { return self.wrong("it is cut off here") };
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, count: usize) -> Result<&[u8], Malformed> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let Some(end) = end else { return self.wrong("more bytes are announced than there are") };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        self.wrong("an integer has more than 64 bits")
    }

    fn zigzag(&mut self) -> Result<i64, Malformed> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// An integer of fewer bits.
    fn narrow<T: TryFrom<i64>>(&mut self) -> Result<T, Malformed> {
        let value = self.zigzag()?;
        T::try_from(value).or_else(|_| self.wrong("an integer is too large for its type"))
    }

    fn length(&mut self) -> Result<usize, Malformed> {
        let length = self.varint()?;
        usize::try_from(length).or_else(|_| self.wrong("a length is too large"))
    }

    fn structure(&mut self, depth: usize) -> Result<Struct, Malformed> {
        let Some(depth) = depth.checked_sub(1) else {
            return self.wrong("structures are nested too deep");
        };
        let mut fields = Vec::new();
        let mut last = 0;
        loop {
            let head = self.byte()?;
            let (delta, kind) = (head >> 4, head & 15);
            if head == code::STOP {
                return Ok(Struct { fields });
            }
            let id = if delta == 0 { self.narrow::<i16>()? } else { self.after(last, delta)? };
            if !fields.is_empty() && id <= last {
                return self.wrong("fields are out of order");
            }
            fields.push((id, self.value(kind, depth)?));
            last = id;
        }
    }

    /// The number of a field that is said by its distance from the last one.
    fn after(&self, last: i16, delta: u8) -> Result<i16, Malformed> {
        last.checked_add(delta.into())
            .map_or_else(|| self.wrong("a field's number is too large"), Ok)
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result<Value, Malformed> {
        Ok(match kind {
            code::TRUE => Value::Bool(true),
            code::FALSE => Value::Bool(false),
            code::BYTE => Value::Byte(self.byte()?),
            code::I16 => Value::I16(self.narrow()?),
            code::I32 => Value::I32(self.narrow()?),
            code::I64 => Value::I64(self.zigzag()?),
            code::DOUBLE => {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(self.take(8)?);
                Value::Double(bytes)
            }
            code::BINARY => {
                let length = self.length()?;
                Value::Binary(self.take(length)?.to_vec())
            }
            code::LIST => Value::List(self.list(depth)?),
            code::STRUCT => Value::Struct(self.structure(depth)?),
            _ => return self.wrong("a type that Parquet does not have"),
        })
    }

    fn list(&mut self, depth: usize) -> Result<List, Malformed> {
        let Some(depth) = depth.checked_sub(1) else {
            return self.wrong("lists are nested too deep");
        };
        let head = self.byte()?;
        let code = head & 15;
        let length = if head >> 4 == 15 { self.length()? } else { usize::from(head >> 4) };
        // Every value takes a byte or more.
        if length > self.bytes.len() - self.at {
            return self.wrong("more values are announced than there are bytes");
        }
        let of = if matches!(code, code::TRUE | code::FALSE) { code::BYTE } else { code };
        let items = (0..length).map(|_| self.value(of, depth)).collect::<Result<_, _>>()?;
        Ok(List { code, items })
    }
}
