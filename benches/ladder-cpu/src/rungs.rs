//! The rungs, what runs them, and how many cycles a byte takes at the least.

use anyhow::{Context, Result};
use lanecrypt_core::Unavailable;
use lanecrypt_slicing::Isa;

use crate::count::{self, Set};

/// Encrypts blocks in place under round keys.
pub(crate) type Encrypt = Box<dyn Fn(&[u32; 32], &mut [[u8; 16]])>;

/// A rung.
pub(crate) struct Rung {
    /// The name of its file, without the end.
    pub(crate) name: &'static str,
    /// Its first line, up to the first full stop.
    pub(crate) title: &'static str,
    /// Cycles per byte at the least, in long data.
    pub(crate) bound: Bound,
    /// What runs it, or what this CPU lacks.
    pub(crate) encrypt: Result<Encrypt, Unavailable>,
}

/// What a byte takes at the least, and why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// Operations on registers per byte, or instructions.
    pub(crate) operations: f64,
    /// Cycles per byte.
    pub(crate) cycles: f64,
    /// What takes them.
    pub(crate) binds: &'static str,
}

#[cfg(not(target_arch = "x86_64"))]
impl Bound {
    /// Of what cannot be counted.
    const NONE: Self = Self { operations: 0.0, cycles: 0.0, binds: "" };
}

/// A listing: the name of its file, and its text.
type Listing = (&'static str, &'static str);

macro_rules! listing {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../book/listings/ladder-cpu/", $name, ".rs")))
    };
}

/// All of them, in order.
///
/// # Errors
/// Where a listing does not say what is counted.
pub(crate) fn all() -> Result<Vec<Rung>> {
    use crate::{count::OnWords, rung_01, rung_02, rung_03, rung_04};
    #[cfg(target_arch = "x86_64")]
    use crate::{
        count::{OnAvx2, OnAvx512},
        rung_05, rung_06, rung_07, rung_08, rung_09, rung_10, rung_11, rung_12,
    };
    macro_rules! plain {
        ($name:literal, $rung:ident) => {{
            let listing = listing!($name);
            Rung::new(listing, plain_bound(listing)?, Ok(Box::new($rung::encrypt)))
        }};
    }
    // A rung that is sliced: on the CPU by its own instructions, and on words that count.
    macro_rules! sliced {
        ($name:literal, $rung:ident, $set:ty) => {
            Rung::new(
                listing!($name),
                sliced_bound::<$set>(|keys, blocks| {
                    count::count::<$set>($rung::Blocks(keys, blocks))
                }),
                $rung::Lanes::detect().map(|isa| -> Encrypt {
                    Box::new(move |keys, blocks| $rung::encrypt(isa, keys, blocks))
                }),
            )
        };
    }
    #[cfg(target_arch = "x86_64")]
    macro_rules! on_x86 {
        ($name:literal, $rung:ident, $set:ty) => {
            sliced!($name, $rung, $set)
        };
    }
    #[cfg(not(target_arch = "x86_64"))]
    macro_rules! on_x86 {
        ($name:literal, $rung:ident, $set:ty) => {
            Rung::new(listing!($name), Bound::NONE, Err(Unavailable::because("needs x86-64")))
        };
    }
    Ok(vec![
        plain!("01-byte-at-a-time", rung_01),
        plain!("02-tables-of-words", rung_02),
        plain!("03-blocks-side-by-side", rung_03),
        sliced!("04-bits-in-words", rung_04, OnWords),
        on_x86!("05-bits-in-256", rung_05, OnAvx2),
        on_x86!("06-bits-in-512", rung_06, OnAvx512),
        on_x86!("07-bytes-with-gfni", rung_07, OnAvx512),
        on_x86!("08-maps-merged", rung_08, OnAvx512),
        on_x86!("09-two-batches", rung_09, OnAvx512),
        on_x86!("10-words-in-lanes", rung_10, OnAvx512),
        on_x86!("11-groups-in-flight", rung_11, OnAvx512),
        on_x86!("12-by-length", rung_12, OnAvx512),
    ])
}

impl Rung {
    fn new((name, text): Listing, bound: Bound, encrypt: Result<Encrypt, Unavailable>) -> Self {
        let first = text.lines().next().unwrap_or_default().trim_start_matches("//! ");
        let title = first.split('.').next().unwrap_or_default();
        Self { name, title, bound, encrypt }
    }
}

/// Blocks over which operations are counted: whole batches of every rung.
const COUNTED: usize = 1024;

/// The bound of a sliced rung, of what its text does on words that count.
fn sliced_bound<S: Set>(run: impl Fn(&[u32; 32], &mut [[u8; 16]]) -> count::Count) -> Bound {
    let count = run(&[0; 32], &mut [[0; 16]; COUNTED]);
    let bytes = 16.0 * COUNTED as f64;
    let (cycles, binds) = S::cycles(count);
    let operations = (count.logic + count.maps + count.shuffles) as f64 / bytes;
    Bound { operations, cycles: cycles / bytes, binds }
}

/// Rounds of a block, by its bytes.
const ROUNDS_PER_BYTE: f64 = 32.0 / 16.0;

/// The bound of a rung on whole words, of what its second line counts: a core of this kind issues six instructions in a
/// cycle, of which three are loads.
fn plain_bound((name, text): Listing) -> Result<Bound> {
    let line = text.lines().nth(1).unwrap_or_default();
    let words: Vec<&str> = line.split(' ').collect();
    let before = |unit: &str| -> Option<f64> {
        let at = words.iter().position(|word| word.trim_end_matches(',') == unit)?;
        words[at.checked_sub(1)?].parse().ok()
    };
    let of = |unit| before(unit).with_context(|| format!("{name} counts no {unit}"));
    let (instructions, loads, chain) = (of("instructions")?, of("loads")?, of("cycles")?);
    // The last: "a round of a block" has no number.
    let side_by_side =
        line.split(", ").last().and_then(|part| part.split(' ').next()?.parse().ok());
    let side_by_side: f64 = side_by_side.with_context(|| format!("{name} counts no blocks"))?;
    let bounds = [
        (instructions / 6.0, "all instructions"),
        (loads / 3.0, "loads"),
        (chain / side_by_side, "latency"),
    ];
    let (cycles, binds) = bounds
        .into_iter()
        .fold((0.0, ""), |most, bound| if bound.0 > most.0 { bound } else { most });
    Ok(Bound {
        operations: ROUNDS_PER_BYTE * instructions,
        cycles: ROUNDS_PER_BYTE * cycles,
        binds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_the_second_line_is_read() {
        let line = "//! A.\n//! Count: 24 instructions and 6 loads for a round of a block, a chain of 10 cycles, ";
        let bound = |side_by_side: &str| {
            let text: &'static str = format!("{line}{side_by_side} side by side.").leak();
            let bound = plain_bound(("a", text)).expect("it counts");
            (bound.cycles, bound.binds)
        };
        assert_eq!(bound("1 block"), (20.0, "latency"));
        assert_eq!(bound("4 blocks"), (8.0, "all instructions"));
        assert!(plain_bound(("a", "//! A.\n//! B.")).is_err());
    }

    #[test]
    fn every_rung_has_a_bound_and_a_title() {
        for rung in all().expect("they count") {
            assert!(rung.encrypt.is_err() || rung.bound.cycles > 0.05, "{}", rung.name);
            assert!(rung.title.starts_with("Rung "), "{}", rung.title);
        }
    }
}
