//! Double words: addresses and counters.

use anyhow::{Context, Result, bail};
use lanecrypt_circuit::graph::Graph;

use crate::bits::{self, Bit, Long, Word, difference, lut, number, ripple};

/// What is said where a number is missing.
pub(crate) const NOT_A_NUMBER: &str = "control or an address that depends on keys or data";

/// A double word: as most are addresses, a number where all bits are known.
#[derive(Clone, Debug)]
pub(crate) enum Double {
    Number(u64),
    Bits(Box<Long>),
}

impl Double {
    /// Of bits.
    pub(crate) fn of(bits: &Long) -> Self {
        let is_number = bits.iter().all(|bit| matches!(bit, Bit::Known(_)));
        let value = if is_number { number(bits) } else { None };
        value.map_or_else(|| Self::Bits(Box::new(*bits)), Self::Number)
    }

    /// Of two words, the lower first.
    pub(crate) fn of_words(low: &Word, high: &Word) -> Self {
        Self::of(&core::array::from_fn(|i| if i < 32 { low[i] } else { high[i - 32] }))
    }

    pub(crate) fn bits(&self) -> Long {
        match self {
            Self::Number(value) => core::array::from_fn(|i| Bit::Known(value >> i & 1 == 1)),
            Self::Bits(bits) => **bits,
        }
    }

    /// The number that it is in this run, if all bits have values.
    pub(crate) fn number(&self) -> Option<u64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Bits(bits) => number(&**bits),
        }
    }

    /// Shifted by some bits to the left, or to the right with zeros after it.
    pub(crate) fn shifted(&self, is_left: bool, by: usize) -> Self {
        match self {
            Self::Number(value) => {
                let shift = if is_left { u64::checked_shl } else { u64::checked_shr };
                Self::Number(shift(*value, by as u32).unwrap_or(0))
            }
            Self::Bits(bits) => {
                let place = |i: usize| if is_left { i.wrapping_sub(by) } else { i + by };
                let bit = |i: usize| bits.get(place(i)).copied().unwrap_or(Bit::Known(false));
                Self::of(&core::array::from_fn(bit))
            }
        }
    }

    /// A sum, a difference or a function of bits; no other operation is known of wires.
    pub(crate) fn combine(&self, graph: &mut Graph, operation: &str, other: &Self) -> Option<Self> {
        if let (Self::Number(a), Self::Number(b)) = (self, other) {
            return Some(Self::Number(match operation {
                "add" => a.wrapping_add(*b),
                "sub" => a.wrapping_sub(*b),
                "and" => a & b,
                "or" => a | b,
                "xor" => a ^ b,
                _ => return None,
            }));
        }
        let (a, b) = (self.bits(), other.bits());
        let mut by = |table| core::array::from_fn(|i| lut(graph, table, [a[i], b[i], a[i]]));
        Some(Self::of(&match operation {
            "and" => by(bits::AND),
            "or" => by(bits::OR),
            "xor" => by(bits::XOR),
            "add" => ripple(graph, &a, &b, false).0,
            "sub" => difference(graph, &a, &b).0,
            _ => return None,
        }))
    }

    /// Whether a comparison, as numbers without sign, holds.
    pub(crate) fn compare(&self, graph: &mut Graph, comparison: &str, other: &Self) -> Result<Bit> {
        if let (Some(a), Some(b)) = (self.number(), other.number()) {
            return Ok(Bit::Known(holds(comparison, a, b)?));
        }
        let (a, b, is_turned) = match comparison {
            "ge" => (self, other, false),
            "lt" => (self, other, true),
            "le" => (other, self, false),
            "gt" => (other, self, true),
            _ => bail!(NOT_A_NUMBER),
        };
        let (_, is_at_least) = difference(graph, &a.bits(), &b.bits());
        Ok(if is_turned { bits::not(graph, is_at_least) } else { is_at_least })
    }
}

/// Whether a comparison of numbers holds.
pub(crate) fn holds<T: Copy + Ord>(comparison: &str, a: T, b: T) -> Result<bool> {
    Ok(match comparison {
        "eq" => a == b,
        "ne" => a != b,
        "lt" => a < b,
        "le" => a <= b,
        "gt" => a > b,
        "ge" => a >= b,
        _ => None.context("not known")?,
    })
}

#[cfg(test)]
mod tests {
    use lanecrypt_slicing::record::Node;

    use super::*;

    /// Sums of numbers with wires, evaluated, are those of the numbers; and so are carries by comparison.
    #[test]
    fn counters_are_added_with_their_carries() {
        let mut graph = Graph::new();
        let wires: Long = core::array::from_fn(|i| Bit::Wire(graph.add(Node::Input(i)) as u32));
        let counter = Double::Bits(Box::new(wires));
        let sum = counter.combine(&mut graph, "add", &Double::Number(0x1_8000_0400));
        let sum = sum.expect("sums are known of wires");
        let has_carry = sum.compare(&mut graph, "lt", &counter).expect("a comparison");
        let shifted = sum.shifted(false, 32).bits();
        for first in [0, 0xffff_ffff_ffff_fc00, 0xffff_fffe_7fff_fbff, 0x1234_5678_9abc_def0] {
            let lanes = graph.evaluate(|node| match node {
                Node::Input(bit) => first >> bit & 1,
                _ => 0,
            });
            let value = |bits: &[Bit]| {
                let bit = |bit: &Bit| match bit {
                    Bit::Known(is_set) => u64::from(*is_set),
                    Bit::Wire(wire) => lanes[*wire as usize] & 1,
                    other => panic!("{other:?}"),
                };
                bits.iter().rev().fold(0, |value, wire| value << 1 | bit(wire))
            };
            let (expected, carries) = u64::overflowing_add(first, 0x1_8000_0400);
            assert_eq!(value(&sum.bits()), expected);
            assert_eq!(value(&[has_carry]), u64::from(carries));
            assert_eq!(value(&shifted), expected >> 32);
        }
        assert!(counter.compare(&mut graph, "eq", &sum).is_err());
        assert!(counter.combine(&mut graph, "mul", &sum).is_none());
    }
}
