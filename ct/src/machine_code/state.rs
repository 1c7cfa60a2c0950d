//! What is known of registers, flags and the frame at one place of a function, and what a memory
//! operand means there.

use super::{
    frame::Frame,
    parse::{ARGUMENTS, General, Index, Memory, PRESERVED, RSP},
    value::Value,
};

/// What is known before an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) general: [Value; 16],
    /// Whether they are secret.
    pub(crate) vectors: [bool; 32],
    pub(crate) carry: bool,
    /// The other flags.
    pub(crate) flags: bool,
    pub(crate) masks: [Value; 8],
    pub(crate) frame: Frame,
}

/// What an address is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Frame(i64),
    SomewhereInFrame,
    Keys(i64),
    Constants,
    /// Blocks, keys, and whatever else pointers lead to.
    Elsewhere,
}

/// The place, and whether its address is secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) place: Place,
    pub(crate) is_secret: bool,
}

impl State {
    /// At the start of a function with these arguments. What it was not given is secret; but what a caller
    /// leaves in a register that carries no argument and is not preserved, no program reads, unless on a way
    /// that is never gone: the compiler leaves such ways where it could not tell, and they are none.
    pub(crate) fn new(arguments: [Value; 6]) -> Self {
        let mut general = [Value::Public; 16];
        for register in PRESERVED {
            general[usize::from(register)] = Value::Secret;
        }
        general[usize::from(RSP)] = Value::Frame(Some(0));
        for (register, value) in ARGUMENTS.into_iter().zip(arguments) {
            general[usize::from(register)] = value;
        }
        let frame = Frame::default();
        Self {
            general,
            vectors: [true; 32],
            carry: true,
            flags: true,
            masks: [Value::Secret; 8],
            frame,
        }
    }

    /// Joins what is known on another way; whether that changes anything.
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        let mut changed = self.frame.join(&other.frame);
        let masks = self.masks.iter_mut().zip(&other.masks);
        for (value, &other) in self.general.iter_mut().zip(&other.general).chain(masks) {
            let joined = value.join(other);
            changed |= joined != *value;
            *value = joined;
        }
        let flags = [(&mut self.carry, &other.carry), (&mut self.flags, &other.flags)];
        let bits = self.vectors.iter_mut().zip(&other.vectors);
        for (bit, other) in bits.chain(flags) {
            changed |= *other && !*bit;
            *bit |= *other;
        }
        changed
    }

    /// Whether the flags are secret that a condition is about, as mnemonics end with it.
    pub(crate) fn is_secret_condition(&self, condition: &str) -> bool {
        match condition {
            "b" | "ae" | "c" | "nc" => self.carry,
            "be" | "a" => self.carry || self.flags,
            _ => self.flags,
        }
    }

    pub(crate) fn whole(&self, register: u8) -> Value {
        self.general[usize::from(register)]
    }

    /// What a register is, or a part of it.
    pub(crate) fn register(&self, register: General) -> Value {
        let whole = self.whole(register.number);
        if register.is_high { whole.mix(whole) } else { whole.lowest(i64::from(register.bytes)) }
    }

    /// Writes a part of a register; four bytes clear the four above them, fewer leave the others.
    pub(crate) fn set(&mut self, register: General, value: Value) {
        let whole = &mut self.general[usize::from(register.number)];
        *whole = match (value.lowest(i64::from(register.bytes)), register.bytes) {
            (value, 4 | 8) => value,
            _ if value.is_secret() => Value::Secret,
            (_, 1) if whole.is_secret() && !register.is_high => Value::PublicByte,
            _ if whole.is_secret() => Value::Secret,
            _ => Value::Public,
        };
    }

    /// The address of a memory operand as a value.
    pub(crate) fn address(&self, memory: &Memory) -> Value {
        if memory.is_static {
            return Value::Constants;
        }
        let base = memory.base.map_or(Value::Number(0), |base| self.whole(base));
        let index = match memory.index {
            None => Value::Number(0),
            Some(Index::General(index)) => self.whole(index).times(memory.scale),
            Some(Index::Vector(index)) if self.vectors[usize::from(index)] => Value::Secret,
            Some(Index::Vector(_)) => Value::Public,
        };
        base.plus(Value::Number(memory.offset)).plus(index)
    }

    /// What a memory operand is of.
    pub(crate) fn locate(&self, memory: &Memory) -> Address {
        let value = self.address(memory);
        let place = match value {
            _ if memory.is_segment => Place::Elsewhere,
            Value::Frame(Some(at)) => Place::Frame(at),
            // A secret address is a finding; it may lie in the frame all the same.
            Value::Frame(None) | Value::Secret | Value::PublicByte => Place::SomewhereInFrame,
            Value::Keys(at) => Place::Keys(at),
            Value::Constants => Place::Constants,
            Value::Public | Value::Number(_) | Value::Function(_) => Place::Elsewhere,
        };
        Address { place, is_secret: value.is_secret() }
    }
}
