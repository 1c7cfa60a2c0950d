//! What is known of a function's frame: of every byte whether it is secret, and of every word that
//! was stored whole, the value.
//!
//! A store to a place in the frame that is not known may change every array there. It does not reach
//! the compiler's own slots, since Rust's checks hold: for a slot is taken what was last stored by
//! moving a general-purpose register of four or eight bytes, or a mask, or by setting a byte to what a condition is,
//! to its exact address.

use std::collections::BTreeMap;

use super::value::{BODY, Value};

/// Bytes of a word.
const WORD: i64 = 8;

/// The words that some bytes are in, by where they start.
fn words(at: i64, bytes: i64) -> impl Iterator<Item = i64> {
    (at.div_euclid(WORD)..=(at + bytes - 1).div_euclid(WORD)).map(|word| word * WORD)
}

/// A word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    /// A bit for each byte.
    secret: u8,
    /// What was stored, where that was all of it.
    value: Option<Value>,
    /// The bytes that are a slot of the compiler's, a bit each.
    slot: u8,
}

impl Word {
    const SECRET: Self = Self { secret: 0xff, value: None, slot: 0 };

    /// The value of all of it.
    fn value(self) -> Value {
        if self.secret != 0 { Value::Secret } else { self.value.unwrap_or(Value::Public) }
    }

    /// What it is after a store of all of it.
    fn of(value: Value, slot: u8) -> Self {
        let secret = if value.is_secret() { 0xff } else { 0 };
        Self { secret, value: Some(value).filter(|_| secret == 0), slot }
    }

    fn join(self, other: Self) -> Self {
        let slot = self.slot & other.slot;
        if self.secret | other.secret == 0 {
            return Self::of(self.value().join(other.value()), slot);
        }
        Self { secret: self.secret | other.secret, value: None, slot }
    }

    /// What it is after a store that may have been to it.
    fn reached(self, value: Value) -> Self {
        match self.slot {
            0xff => self,
            0 => self.join(Self::of(value, 0)),
            slot if value.is_secret() => Self { secret: self.secret | !slot, value: None, slot },
            _ => Self { value: None, ..self },
        }
    }
}

/// A frame; what was not stored is secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    words: BTreeMap<i64, Word>,
}

impl Frame {
    /// What `bytes` bytes from `at` on are.
    pub(crate) fn load(&self, at: i64, bytes: i64) -> Value {
        if bytes == WORD && at % WORD == 0 {
            return self.word(at).value();
        }
        let is_secret = |at, bytes| {
            words(at, bytes).any(|start| {
                let word = self.word(start);
                let is_pointer = matches!(word.value, Some(Value::Frame(_)));
                // A part of an address in the frame, or two at once: its way is lost.
                word.secret & part(start, at, bytes) != 0 || is_pointer
            })
        };
        match (is_secret(at, bytes), is_secret(at, 1)) {
            (false, _) => Value::Public,
            (true, false) => Value::PublicByte,
            (true, true) => Value::Secret,
        }
    }

    /// Stores `bytes` bytes; `is_slot` where that was a register that was moved.
    pub(crate) fn store(&mut self, at: i64, bytes: i64, value: Value, is_slot: bool) {
        if value == Value::PublicByte {
            self.store(at, bytes, Value::Secret, is_slot);
            return self.store(at, 1, Value::Public, is_slot);
        }
        for start in words(at, bytes) {
            let part = part(start, at, bytes);
            let slot = if is_slot { part } else { 0 };
            let word = if part == 0xff && bytes == WORD {
                Word::of(value, slot)
            } else {
                let old = self.word(start);
                let secret = if value.is_secret() { part } else { 0 };
                Word {
                    secret: old.secret & !part | secret,
                    value: None,
                    slot: old.slot & !part | slot,
                }
            };
            self.words.insert(start, word);
        }
    }

    /// Whether bytes are a slot.
    pub(crate) fn is_slot(&self, at: i64, bytes: i64) -> bool {
        words(at, bytes).all(|start| part(start, at, bytes) & !self.word(start).slot == 0)
    }

    /// Stores at a place that is not known.
    pub(crate) fn store_somewhere(&mut self, value: Value) {
        for word in self.words.range_mut(..BODY).map(|(_, word)| word) {
            *word = word.reached(value);
        }
    }

    /// Copies bytes, those of lower addresses first; the two places do not overlap.
    pub(crate) fn copy(&mut self, from: i64, to: i64, bytes: i64) {
        let mut done = 0;
        while done < bytes {
            let (at, is_whole) =
                (from + done, (from + done) % WORD == 0 && (to + done) % WORD == 0);
            let step = if is_whole && bytes - done >= WORD { WORD } else { 1 };
            let value = self.load(at, step);
            self.store(to + done, step, value, false);
            done += step;
        }
    }

    /// Joins what is known on another way; whether that changes anything.
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.words.retain(|start, _| other.words.contains_key(start));
        for (start, word) in &mut self.words {
            *word = word.join(other.words[start]);
        }
        *self != before
    }

    fn word(&self, start: i64) -> Word {
        self.words.get(&start).copied().unwrap_or(Word::SECRET)
    }
}

/// The bytes of a word that are among some bytes, a bit each.
fn part(start: i64, at: i64, bytes: i64) -> u8 {
    (0..WORD)
        .filter(|byte| (at..at + bytes).contains(&(start + byte)))
        .fold(0, |part, byte| part | 1 << byte)
}
