//! What a kernel of each family takes of the pipes for a block, by the counts of its cipher's round. The ledger counts the
//! same in a kernel that is there.

use crate::{Counts, Lanes};

/// ALU instructions of a transpose of 32 by 32 bits, whose left shifts run on the multiplier.
const TRANSPOSE: f64 = 208.0;
/// Those shifts, which count among all instructions alone, since sums and left shifts run on either pipe.
const TRANSPOSE_SHIFTS: f64 = 48.0;
/// Copies of a table, one for each bank.
const BANKS: f64 = 32.0;
/// Blocks of a bit-sliced thread.
const BITS: f64 = 32.0;

/// A family of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Look-ups in shared memory, with a copy of the tables in every bank.
    Tables,
    /// 32 blocks in a thread, a bit of each in a register.
    Bits,
    /// A block in a thread, on words, without a table; or the same byte of several blocks in a word.
    Words,
}

impl Family {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Bits => "bits",
            Self::Words => "words",
        }
    }
}

/// What a family takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The family.
    pub family: Family,
    /// Lanes for a block, of each pipe.
    pub lanes: Lanes,
    /// KiB of tables in a thread block's shared memory, with all copies.
    pub shared_kib: f64,
}

/// What each family that has counts takes.
#[must_use]
pub fn loads(counts: &Counts) -> Vec<Load> {
    let of = |name| counts.get(name);
    // Four words are an instruction, which takes four passes.
    let (words, instructions) = (of("block") / 32.0, of("block") / 128.0);
    let mut loads = Vec::new();
    if of("lookups") > 0.0 {
        let look_ups = of("rounds") * of("lookups");
        let logic = of("rounds") * of("table-logic");
        let shared = look_ups * of("entry-words") + 2.0 * words;
        // A DP4A makes the address of each.
        let lanes = [shared, logic, look_ups, 2.0 * look_ups + logic + 2.0 * instructions];
        let shared_kib = BANKS * of("table-bytes") / 1024.0;
        loads.push(Load { family: Family::Tables, lanes, shared_kib });
    }
    if of("functions") > 0.0 {
        let functions = of("rounds") * of("functions") + of("functions-once");
        let logic = (functions + of("transposes") * TRANSPOSE) / BITS;
        let keys = of("rounds") * of("key-bits") / BITS;
        let shifts = of("transposes") * TRANSPOSE_SHIFTS / BITS;
        // A key bit is two words, of which four are loaded at once, in two passes.
        let lanes = [
            keys + 2.0 * words,
            logic,
            keys,
            logic + keys + keys / 2.0 + shifts + 2.0 * instructions,
        ];
        loads.push(Load { family: Family::Bits, lanes, shared_kib: 0.0 });
    }
    if of("word-logic") > 0.0 {
        let each = |name| of("rounds") * of(name) / of("word-blocks");
        let logic = each("word-logic");
        let lanes = [2.0 * words, logic, 0.0, logic + each("word-sums") + 2.0 * instructions];
        loads.push(Load { family: Family::Words, lanes, shared_kib: 0.0 });
    }
    loads
}
