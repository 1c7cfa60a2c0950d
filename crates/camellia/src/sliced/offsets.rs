//! Subkeys as what is added to halves that are not kept as they are.
//!
//! A half is kept in the basis of the S-boxes and with the subkey added under which F reads it next,
//! so that F adds none; what is added to a half in a round takes one subkey away and brings the next.

#![allow(
    clippy::inline_always,
    reason = "to be compiled with an instruction set, whose registers hold many words"
)]

use lanecrypt_core::Clear;
use lanecrypt_slicing::matrix::apply_to_bytes;

use crate::{
    maps::{BEFORE, INTO_BASIS, OUT_OF_BASIS},
    schedule::{GROUP, MAX_GROUPS},
};

/// The most rounds that there are.
pub(super) const ROUNDS: usize = GROUP * MAX_GROUPS;

/// Subkeys of a direction; words have the first byte of a half lowest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offsets {
    /// Added to the halves, in the basis.
    pub(super) start: [u64; 2],
    /// Added in a round to the half that it changes, in the basis.
    pub(super) rounds: [u64; ROUNDS],
    /// FL and its inverse.
    pub(super) layers: [[Layer; 2]; MAX_GROUPS - 1],
    /// Added to the halves, the second first, out of the basis.
    pub(super) end: [u64; 2],
    pub(super) groups: usize,
}

/// FL or its inverse.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layer {
    pub(super) key: u64,
    /// What the half has added, out of the basis.
    pub(super) offset: u64,
}

impl Clear for Offsets {
    fn clear(&mut self) {
        *self = Self::default();
    }
}

/// `BEFORE` in the bytes that do not go through SBOX4.
const BEFORE_ALL: u64 = BEFORE as u64 * 0x0100_0101_0001_0101;

impl Offsets {
    #[inline(always)]
    pub(super) fn new(subkeys: &[u64]) -> Self {
        let (start, rest) = subkeys.split_at(2);
        let (middle, end) = rest.split_at(rest.len() - 2);
        let groups = middle.len().div_ceil(GROUP + 2);
        // Subkeys of rounds, and one that nobody reads.
        let mut of_rounds = [0; ROUNDS + 1];
        let mut of_layers = [[0; 2]; MAX_GROUPS - 1];
        let rows = of_rounds.as_chunks_mut::<GROUP>().0;
        for (i, group) in middle.chunks(GROUP + 2).enumerate() {
            let (of_group, layers) = group.split_at(GROUP);
            rows[i].copy_from_slice(of_group);
            if let [fl, fl_inverse] = layers {
                of_layers[i] = [fl.swap_bytes(), fl_inverse.swap_bytes()];
            }
        }
        for word in &mut of_rounds {
            *word = word.swap_bytes();
        }
        let mut keys = Self { groups, ..Self::default() };
        let before = const { apply_to_bytes::<OUT_OF_BASIS>(BEFORE_ALL) };
        for i in 0..2 {
            let first = start[i].swap_bytes() ^ of_rounds[i] ^ before;
            keys.start[i] = apply_to_bytes::<INTO_BASIS>(first);
            // The halves are exchanged in the end: the last round read the first of them.
            keys.end[i] = end[i].swap_bytes();
        }
        keys.end[0] ^= of_rounds[GROUP * groups - 1] ^ before;
        keys.end[1] ^= before;
        // The half that a round changes was read by the round before, and is by the one after.
        for i in 1..ROUNDS {
            keys.rounds[i] = of_rounds[i - 1] ^ of_rounds[i + 1];
        }
        for word in &mut keys.rounds {
            *word = apply_to_bytes::<INTO_BASIS>(*word);
        }
        for (i, layers) in keys.layers.iter_mut().enumerate() {
            for (j, layer) in layers.iter_mut().enumerate() {
                layer.key = of_layers[i][j];
                layer.offset = of_rounds[GROUP * (i + 1) - j] ^ before;
            }
        }
        keys
    }
}
