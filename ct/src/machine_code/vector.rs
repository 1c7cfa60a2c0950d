//! Instructions on vectors and masks: which registers they read, and how many bytes of memory.

use anyhow::{Context, Result, bail};

use super::parse::{Instruction, Operand};

/// Beginnings of instructions of AVX that read their last operand before they write it. Whatever
/// else merges into it does so under a mask.
const READ_THEIR_RESULT: [&str; 9] =
    ["vfm", "vfnm", "vpternlog", "vpermt2", "vpermi2", "vpdp", "vpmadd52", "vpshldv", "vpshrdv"];

/// Instructions of SSE that write all of a register without reading it.
const MOVE: [&str; 10] = [
    "movaps", "movups", "movapd", "movupd", "movdqa", "movdqu", "movd", "movq", "pshufd", "movddup",
];

/// Instructions whose result is the same for all values of a register combined with itself.
const CANCEL: [&str; 14] = [
    "pxor", "pxord", "pxorq", "xorps", "xorpd", "psubb", "psubw", "psubd", "psubq", "pcmpeqb",
    "pcmpeqd", "pcmpeqq", "kxor", "kxnor",
];

/// Beginnings of instructions that compute flags.
const FLAGS: [&str; 6] = ["ptest", "testp", "ucomi", "comi", "kortest", "ktest"];

/// Beginnings of instructions that write something else than their last operand.
const UNKNOWN: [&str; 5] = ["pcmpestr", "pcmpistr", "p2intersect", "zeroall", "maskmovdqu"];

impl Instruction<'_> {
    /// Whether it is about vectors or masks.
    pub(crate) fn is_vector(&self) -> bool {
        let of_vectors =
            |operand: &Operand| matches!(operand, Operand::Vector(..) | Operand::Mask(_));
        self.mnemonic.starts_with('v') || self.operands.iter().any(of_vectors)
    }

    /// The mnemonic without AVX's `v`.
    fn bare(&self) -> &str {
        self.mnemonic.strip_prefix('v').unwrap_or(self.mnemonic)
    }

    /// Whether it writes what this analysis does not know.
    pub(crate) fn is_unknown_vector(&self) -> bool {
        UNKNOWN.iter().any(|start| self.bare().starts_with(start))
    }

    /// Whether it sets flags and nothing else.
    pub(crate) fn sets_flags(&self) -> bool {
        FLAGS.iter().any(|start| self.bare().starts_with(start))
    }

    /// Whether its result does not depend on its operands.
    pub(crate) fn cancels(&self) -> bool {
        let bare = self.bare().trim_end_matches(['b', 'w', 'd', 'q']);
        let cancels = CANCEL.iter().any(|&name| name == self.bare() || name == bare);
        match &self.operands[..] {
            [a, b] if !self.mnemonic.starts_with('v') => cancels && a == b,
            [a, b, _] => cancels && a == b,
            [Operand::Immediate(0 | 0xff), _, _, _] => self.bare().starts_with("pternlog"),
            _ => false,
        }
    }

    /// Whether its result depends on what its last operand was.
    pub(crate) fn reads_its_result(&self) -> bool {
        if self.mask.is_some_and(|(_, zeroes)| !zeroes) {
            return true;
        }
        if self.mnemonic.starts_with('v') {
            return READ_THEIR_RESULT.iter().any(|start| self.mnemonic.starts_with(start));
        }
        !(self.mnemonic.starts_with('k') || MOVE.contains(&self.mnemonic))
    }

    /// The vector that says which elements of memory it touches, as AVX2 has it.
    pub(crate) fn masking_vector(&self) -> Option<u8> {
        let bare = self.bare();
        match self.operands[..] {
            [Operand::Vector(mask, _), _, _] if bare.contains("gather") => Some(mask),
            [_, Operand::Vector(mask, _), _] if bare.contains("maskmov") => Some(mask),
            _ => None,
        }
    }

    /// Bytes that it loads, at most.
    pub(crate) fn loaded_bytes(&self) -> i64 {
        let bare = self.bare();
        let element = || element_bytes(bare);
        let widest = self.operands.iter().map(|operand| match operand {
            Operand::Vector(_, bytes) => i64::from(*bytes),
            Operand::General(register) => i64::from(register.bytes),
            _ => 0,
        });
        let widest = widest.max().unwrap_or_default();
        match part_bytes(bare) {
            Some(bytes) => bytes,
            None if self.is_broadcast => element(),
            None if bare.starts_with("pbroadcast") || bare.starts_with("pinsr") => element(),
            None => match widening(bare) {
                Some(ratio) => widest / ratio,
                None => widest.max(if widest == 0 { 8 } else { 0 }),
            },
        }
    }

    /// Bytes that it stores, where they are as many for all values.
    ///
    /// # Errors
    /// Where that is not known.
    pub(crate) fn stored_bytes(&self) -> Result<i64> {
        let bare = self.bare();
        let from = self.operands.iter().rev().skip(1).find_map(|operand| match operand {
            Operand::Vector(_, bytes) => Some(i64::from(*bytes)),
            _ => None,
        });
        let whole =
            ["movap", "movup", "movdq", "movnt", "pmaskmov", "maskmov", "pscatter", "scatter"];
        if let Some(bytes) = part_bytes(bare) {
            return Ok(bytes);
        }
        if bare.starts_with("pextr") {
            return Ok(element_bytes(bare));
        }
        let from = from.context("a store of no vector")?;
        match (narrowing(bare), whole.iter().any(|start| bare.starts_with(start))) {
            (Some(ratio), _) => Ok(from / ratio),
            (None, true) => Ok(from),
            _ => bail!("how much it stores is not known"),
        }
    }
}

/// Bytes of a move, an insertion, an extraction or a broadcast of a part of a register.
fn part_bytes(bare: &str) -> Option<i64> {
    let of = |names: &[&str]| names.contains(&bare);
    let ends = |ends: &[&str]| {
        let is_part =
            ["insert", "extract", "broadcast"].iter().any(|start| bare.starts_with(start));
        is_part && ends.iter().any(|end| bare.ends_with(end))
    };
    match () {
        () if of(&["movd", "movss", "insertps", "extractps", "broadcastss", "kmovd"]) => Some(4),
        () if of(&["movq", "movsd", "movddup", "broadcastsd", "kmovq"]) => Some(8),
        () if ["movlp", "movhp"].iter().any(|start| bare.starts_with(start)) => Some(8),
        () if of(&["kmovw"]) => Some(2),
        () if of(&["kmovb"]) => Some(1),
        () if ends(&["128", "32x4", "64x2"]) => Some(16),
        () if ends(&["64x4", "32x8"]) => Some(32),
        () if ends(&["32x2"]) => Some(8),
        () => None,
    }
}

/// Bytes of an element, which the last letter tells.
fn element_bytes(bare: &str) -> i64 {
    match bare.as_bytes().last() {
        Some(b'b') => 1,
        Some(b'w') => 2,
        Some(b'd' | b's') if !bare.ends_with("pd") => 4,
        _ => 8,
    }
}

/// By how much `pmovzxbd` and its like make elements wider.
fn widening(bare: &str) -> Option<i64> {
    let letters = bare.strip_prefix("pmovzx").or_else(|| bare.strip_prefix("pmovsx"))?;
    ratio(letters)
}

/// By how much `pmovqb` and its like make elements narrower.
fn narrowing(bare: &str) -> Option<i64> {
    let letters = ["pmovus", "pmovs", "pmov"].iter().find_map(|start| bare.strip_prefix(start))?;
    ratio(letters)
}

fn ratio(letters: &str) -> Option<i64> {
    match letters {
        "bw" | "wd" | "dq" | "wb" | "dw" | "qd" => Some(2),
        "bd" | "wq" | "db" | "qw" => Some(4),
        "bq" | "qb" => Some(8),
        _ => None,
    }
}
