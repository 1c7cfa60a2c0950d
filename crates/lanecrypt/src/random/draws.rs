//! Numbers made of words of key stream on a CPU: `kernels/common/draws.cuh` makes the same on a GPU, to the last bit.

use std::ops::Range;

use super::{RandomError, normal::quantile};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Bytes.
    Bytes,
    /// Integers of 32 bits, of which a range has 2^32 at most.
    Integers32(Span),
    /// Integers of 64 bits.
    Integers64(Span),
    /// `f32` in [0, 1).
    Units32,
    /// `f64` in [0, 1).
    Units64,
    /// `f32` of the standard normal distribution.
    Normals32,
    /// `f64` of the standard normal distribution.
    Normals64,
}

/// A range of integers, which may pass from the largest to the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first number; of negative ones, as two's complement has them.
    pub lowest: u64,
    /// How many there are; 0 for all that 32 or 64 bits have.
    pub count: u64,
}

impl Span {
    /// A range of integers that are all of `i64`, or all of `u64`; [`Draw::Integers32`] takes those of 32 bits.
    ///
    /// # Errors
    /// [`RandomError::EmptyRange`]; [`RandomError::WideRange`] where some are of neither.
    pub fn of(range: Range<i128>) -> Result<Self, RandomError> {
        let Range { start: lowest, end } = range;
        if lowest >= end {
            return Err(RandomError::EmptyRange { lowest, end });
        }
        let signed_or_not = [-(1 << 63)..=1 << 63, 0..=1 << 64];
        if !signed_or_not.iter().any(|all| all.contains(&lowest) && all.contains(&end)) {
            return Err(RandomError::WideRange { lowest, end, bits: 64 });
        }
        let word = |number: i128| number.rem_euclid(1 << 64) as u64;
        Ok(Self { lowest: word(lowest), count: word(end - lowest) })
    }

    /// Whether a draw of 32 bits can have it.
    fn check32(self) -> Result<(), RandomError> {
        let lowest = self.lowest.cast_signed();
        if (i64::from(i32::MIN)..1 << 32).contains(&lowest) && self.count <= 1 << 32 {
            return Ok(());
        }
        let lowest = i128::from(lowest);
        let end = lowest + i128::from(self.count);
        Err(RandomError::WideRange { lowest, end, bits: 32 })
    }
}

impl Draw {
    /// Bytes of a number.
    #[must_use]
    pub const fn number_bytes(self) -> usize {
        match self {
            Self::Bytes => 1,
            Self::Integers32(_) | Self::Units32 | Self::Normals32 => 4,
            Self::Integers64(_) | Self::Units64 | Self::Normals64 => 8,
        }
    }

    /// Checks a range.
    pub(super) fn check(self) -> Result<(), RandomError> {
        match self {
            Self::Integers32(span) => span.check32(),
            _ => Ok(()),
        }
    }

    /// Turns key stream into numbers where it lies, from a number's place on. `again` has the word of an attempt for the
    /// number that begins at a byte of it.
    pub(super) fn apply(
        self,
        data: &mut [u8],
        again: impl Fn(usize, u64) -> Result<u64, RandomError>,
    ) -> Result<(), RandomError> {
        match self {
            Self::Bytes => Ok(()),
            // Of 2^32 numbers the lower half is zero, as of all.
            Self::Integers32(Span { lowest, count }) => each32(data, |word, at| {
                let drawn = below32(word, count as u32, |attempt| again(at, attempt))?;
                Ok((lowest as u32).wrapping_add(drawn).to_ne_bytes())
            }),
            Self::Integers64(Span { lowest, count }) => each64(data, |word, at| {
                let drawn = below64(word, count, |attempt| again(at, attempt))?;
                Ok(lowest.wrapping_add(drawn).to_ne_bytes())
            }),
            Self::Units32 => each32(data, |word, _| Ok(unit32(word).to_ne_bytes())),
            Self::Units64 => each64(data, |word, _| Ok(unit64(word).to_ne_bytes())),
            Self::Normals32 => each32(data, |word, _| Ok(normal32(word).to_ne_bytes())),
            Self::Normals64 => each64(data, |word, _| Ok(normal64(word).to_ne_bytes())),
        }
    }
}

/// What becomes of a word, and of the place of its first byte.
type Made<const BYTES: usize> = Result<[u8; BYTES], RandomError>;

fn each32(data: &mut [u8], make: impl Fn(u32, usize) -> Made<4>) -> Result<(), RandomError> {
    for (i, bytes) in data.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *bytes = make(u32::from_le_bytes(*bytes), 4 * i)?;
    }
    Ok(())
}

fn each64(data: &mut [u8], make: impl Fn(u64, usize) -> Made<8>) -> Result<(), RandomError> {
    for (i, bytes) in data.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *bytes = make(u64::from_le_bytes(*bytes), 8 * i)?;
    }
    Ok(())
}

fn unit32(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / 16_777_216.0)
}

fn unit64(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// The middle of one of 2^32 equal parts of the area.
fn normal32(word: u32) -> f32 {
    quantile((f64::from(word) + 0.5) * (1.0 / 4_294_967_296.0)) as f32
}

/// The middle of one of 2^52 equal parts.
fn normal64(word: u64) -> f64 {
    quantile(((word >> 12) as f64 + 0.5) * (1.0 / 4_503_599_627_370_496.0))
}

/// An integer below `count`, each as likely (Lemire, "Fast random integer generation in an interval", 2019); any where it is
/// zero. The upper half of the product is the number. Some lower halves are one too many for an equal share.
fn below32(
    word: u32,
    count: u32,
    again: impl Fn(u64) -> Result<u64, RandomError>,
) -> Result<u32, RandomError> {
    if count == 0 {
        return Ok(word);
    }
    let mut product = u64::from(word) * u64::from(count);
    if (product as u32) < count {
        let refused = count.wrapping_neg() % count;
        let mut attempt = 1;
        while (product as u32) < refused {
            product = u64::from(again(attempt)? as u32) * u64::from(count);
            attempt += 1;
        }
    }
    Ok((product >> 32) as u32)
}

/// The same of 64 bits.
fn below64(
    word: u64,
    count: u64,
    again: impl Fn(u64) -> Result<u64, RandomError>,
) -> Result<u64, RandomError> {
    if count == 0 {
        return Ok(word);
    }
    let mut product = u128::from(word) * u128::from(count);
    if (product as u64) < count {
        let refused = count.wrapping_neg() % count;
        let mut attempt = 1;
        while (product as u64) < refused {
            product = u128::from(again(attempt)?) * u128::from(count);
            attempt += 1;
        }
    }
    Ok((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three, one lower half is one too many: that of zero. The one beside it, of the inverse of three, is not.
    #[test]
    fn what_is_one_too_many_is_drawn_again() {
        let never = |attempt| -> Result<u64, RandomError> { panic!("attempt {attempt}") };
        assert_eq!(below32(0xaaaa_aaab, 3, never).ok(), Some(2));
        assert_eq!(below64(0xaaaa_aaaa_aaaa_aaab, 3, never).ok(), Some(2));
        // The third attempt is the first that is not refused.
        let third = |word: u64| move |attempt| Ok(if attempt < 3 { 0 } else { word - attempt });
        assert_eq!(below32(0, 3, third((5 << 32 | 1 << 31) + 3)).ok(), Some(1), "one and a half");
        assert_eq!(below64(0, 3, third(u64::MAX)).ok(), Some(2));
    }
}
