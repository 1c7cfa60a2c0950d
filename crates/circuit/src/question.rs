//! The question of every search step: which lookups of existing wires can stand in for a gate.

use crate::column::{Column, and, is_zero, not, or};
use crate::network::Node;
use crate::random::SplitMix64;

/// What a gate must compute, and from which wires.
pub(crate) struct Question<const N: usize> {
    /// Inputs for which it must be one.
    pub(crate) on: Column<N>,
    /// Inputs for which it must be zero.
    pub(crate) off: Column<N>,
    /// The wires that may be operands.
    pub(crate) candidates: Vec<usize>,
    /// The word of the columns that tells the most triples apart.
    word: usize,
    /// The most operands that a lookup may have, two or three.
    arity: usize,
}

impl<const N: usize> Question<N> {
    pub(crate) fn new(
        target: Column<N>,
        care: Column<N>,
        candidates: Vec<usize>,
        arity: usize,
    ) -> Self {
        let (on, off) = (and(target, care), and(not(target), care));
        let weight = |&word: &usize| on[word].count_ones().min(off[word].count_ones());
        let word = (0..N).max_by_key(weight).unwrap_or(0);
        Self { on, off, candidates, word, arity }
    }

    /// The inputs that operands lead to an entry of a table: `(ones, zeros)` wanted there.
    fn cell(&self, operands: &[Column<N>; 3], index: u8) -> (u64, u64) {
        let (mut ones, mut zeros) = (0, 0);
        for (word, (on, off)) in self.on.iter().zip(self.off).enumerate() {
            let chosen = |position: usize| {
                let value = operands[position][word];
                if (index >> (2 - position)) & 1 != 0 { value } else { !value }
            };
            let cell = chosen(0) & chosen(1) & chosen(2);
            ones |= cell & on;
            zeros |= cell & off;
        }
        (ones, zeros)
    }

    /// The entries of a table that no input of interest reaches, as a mask.
    pub(crate) fn free_entries(&self, operands: [Column<N>; 3]) -> u8 {
        let is_free = |&index: &u8| self.cell(&operands, index) == (0, 0);
        (0..8).filter(is_free).fold(0, |mask, index| mask | 1 << index)
    }

    /// The lookup of these operands that answers, if there is one.
    fn lookup_of(&self, operands: [Column<N>; 3]) -> Option<u8> {
        let mut table = 0;
        for index in 0..8u8 {
            let (ones, zeros) = self.cell(&operands, index);
            if ones != 0 {
                if zeros != 0 {
                    return None;
                }
                table |= 1 << index;
            }
        }
        Some(table)
    }

    /// Calls `found` for every lookup that answers: of one wire, of two (as `a b b`) or of three.
    ///
    /// Whatever answers must tell every input for one from every input for zero. So each wire gets
    /// a signature, which of a sample of such pairs of inputs it tells apart, and only operands
    /// whose signatures cover all of them are looked at.
    pub(crate) fn answers(&self, columns: &[Column<N>], mut found: impl FnMut(Node)) {
        let (signatures, all) = self.signatures(columns);
        let candidates = &self.candidates;
        for (i, &a) in candidates.iter().enumerate() {
            for (j, &b) in candidates.iter().enumerate().skip(i) {
                let pair = signatures[i] | signatures[j];
                if pair == all
                    && let Some(table) = self.lookup_of([columns[a], columns[b], columns[b]])
                {
                    found(Node { table, operands: [a, b, b] });
                    continue; // a third wire does not matter
                }
                if a == b || self.arity < 3 {
                    continue; // a third wire would make the pair that comes later
                }
                for (signature, &c) in signatures[j + 1..].iter().zip(&candidates[j + 1..]) {
                    if pair | signature == all
                        && let Some(table) = self.lookup_of([columns[a], columns[b], columns[c]])
                    {
                        let node = Node { table, operands: [a, b, c] };
                        found(node.without_idle_operands());
                    }
                }
            }
        }
    }

    /// Two wires by lot, for a split; the same twice where a gate has two operands, of which one is
    /// the new wire.
    pub(crate) fn random_pair(&self, random: &mut SplitMix64) -> [usize; 2] {
        let [a, b] = [(); 2].map(|()| self.candidates[random.below(self.candidates.len())]);
        if self.arity > 2 { [a, b] } else { [a, a] }
    }

    /// A lookup of two wires and a new one: its table, and the question that the new one answers.
    ///
    /// Where the two wires settle the gate's value the new one is free; elsewhere it is the gate's
    /// value or the complement, as a bit of `polarity` says for each of the four cases.
    pub(crate) fn split(
        &self,
        columns: &[Column<N>],
        [a, b]: [usize; 2],
        polarity: usize,
    ) -> (u8, Self) {
        let (mut target, mut care, mut table) = ([0; N], [0; N], 0u8);
        for index in 0..4 {
            let side = |wire: usize, bit| {
                if index & bit != 0 { columns[wire] } else { not(columns[wire]) }
            };
            let cell = and(side(a, 2), side(b, 1));
            let (ones, zeros) = (and(cell, self.on), and(cell, self.off));
            table |= match (is_zero(ones), is_zero(zeros)) {
                (false, false) => {
                    let turned = polarity >> index & 1 != 0;
                    target = or(target, if turned { zeros } else { ones });
                    care = or(care, or(ones, zeros));
                    if turned { 1 } else { 2 }
                }
                (false, true) => 3,
                _ => 0,
            } << (2 * index);
        }
        (table, Self::new(target, care, self.candidates.clone(), self.arity))
    }

    /// An answer by lot among all.
    pub(crate) fn any_answer(
        &self,
        columns: &[Column<N>],
        random: &mut SplitMix64,
    ) -> Option<Node> {
        let (mut chosen, mut ties) = (None, 0);
        self.answers(columns, |node| {
            ties += 1;
            if random.below(ties) == 0 {
                chosen = Some(node);
            }
        });
        chosen
    }

    /// For each candidate, a bit for each sampled pair of inputs that it tells apart; and the bits
    /// of all pairs.
    fn signatures(&self, columns: &[Column<N>]) -> (Vec<u64>, u64) {
        let (on, off) = (self.on[self.word], self.off[self.word]);
        let mut signatures = vec![0; self.candidates.len()];
        if on == 0 || off == 0 {
            return (signatures, 0);
        }
        let mut pairs = [(0, 0); SAMPLES];
        let (mut ones, mut zeros) = (on, off);
        for (sample, pair) in pairs.iter_mut().enumerate() {
            *pair = (ones.trailing_zeros(), zeros.trailing_zeros());
            (ones, zeros) = (next_or_first(ones, on), next_or_first(zeros, off));
            if sample % 8 == 7 {
                zeros = next_or_first(zeros, off); // other pairs when both have come round
            }
        }
        for (signature, &wire) in signatures.iter_mut().zip(&self.candidates) {
            let column = columns[wire][self.word];
            let differ = |&(one, zero): &(u32, u32)| (column >> one ^ column >> zero) & 1;
            *signature = pairs.iter().fold(0, |bits, pair| bits << 1 | differ(pair));
        }
        (signatures, u64::MAX >> (64 - SAMPLES))
    }
}

/// Pairs of inputs that a signature is made of: enough that few triples pass without an answer.
const SAMPLES: usize = 48;

/// The set without its first element, or all of it again.
fn next_or_first(set: u64, all: u64) -> u64 {
    let rest = set & set.wrapping_sub(1);
    if rest == 0 { all } else { rest }
}
