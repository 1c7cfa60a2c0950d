//! An instruction set that records what is done instead of doing it, for tools: a form's own text becomes a
//! straight-line program.
//!
//! A word is the number of what made it. Keys are broadcast from masks, and here a mask says which key plane it
//! stands for ([`key`]), so that a form's own types of keys carry names. Whatever a form computes of its blocks
//! and keys is then a [`Recording`]: of one step ([`Recording::step`]), of the way in or out ([`Recording::load`],
//! [`Recording::store`]), or of a whole batch in ECB ([`Recording::ecb`]).
//!
//! ```
//! use lanecrypt_slicing::{BitLanes, record::{Node, Gate, Recording, key}};
//!
//! let step = Recording::step::<false>(1, |isa, planes| planes[0] ^= isa.splat(key(7)));
//! let nodes = [Node::Input(0), Node::Key(7), Node::Gate(Gate::Xor(0, 1))];
//! assert_eq!((step.nodes(), step.outputs()), (&nodes[..], &[2][..]));
//! ```

mod plan;

use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};
use std::{cell::RefCell, vec, vec::Vec};

use cipher::{Array, InOutBuf, consts::U32};
use lanecrypt_core::{Direction, Unavailable};

pub use self::plan::{Part, Plan, Step, Whole, call, rename, repeat};
use crate::{
    BitLanes, Body, Form, Isa, Rounds, Schedule, Word,
    batch::Ecb,
    bits::{self, Columns, masks},
    word::from_known_gates,
};

/// A wire by number: that of the node, of a recording or of another program, that gives it its value.
pub type Wire = usize;

/// What a gate computes from earlier wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// `a ^ b`
    Xor(Wire, Wire),
    /// `a & b`
    And(Wire, Wire),
    /// `a | b`
    Or(Wire, Wire),
    /// `~a`
    Not(Wire),
    /// `lut 0x96 a b c`: bit `4a + 2b + c` of the immediate, as PTX `lop3` and `vpternlog` count.
    Lut(u8, [Wire; 3]),
}

/// What makes a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A plane that a step is given.
    Input(usize),
    /// A key plane: the same bit in every lane.
    Key(usize),
    /// All zeros or all ones.
    Constant(bool),
    /// A bit of the lanes' numbers.
    LaneBit(usize),
    /// 32 bits of the blocks, little-endian: the word of this number, counted from the first byte.
    Load(usize),
    /// A row that [`exchange`](Self::exchange) leaves of two.
    Exchange {
        /// How far apart the bits are.
        distance: u32,
        /// The lower row and the upper one.
        rows: [Wire; 2],
        /// Whether it is the upper one that is left.
        is_high: bool,
    },
    /// A gate, lane by lane.
    Gate(Gate),
}

impl Node {
    /// What exchanging does to the bits of two rows: in runs of `distance` of them, the second, fourth and so on of
    /// `low` change places with the first, third and so on of `high`.
    pub fn exchange<T>(distance: usize, low: &mut [T; 32], high: &mut [T; 32]) {
        for bit in (0..32).filter(|bit| bit & distance == 0) {
            core::mem::swap(&mut low[bit + distance], &mut high[bit]);
        }
    }

    /// The same, from other wires.
    #[must_use]
    pub fn map(self, wire: impl Fn(Wire) -> Wire) -> Self {
        match self {
            Self::Exchange { distance, rows, is_high } => {
                Self::Exchange { distance, rows: rows.map(wire), is_high }
            }
            Self::Gate(gate) => Self::Gate(match gate {
                Gate::Xor(a, b) => Gate::Xor(wire(a), wire(b)),
                Gate::And(a, b) => Gate::And(wire(a), wire(b)),
                Gate::Or(a, b) => Gate::Or(wire(a), wire(b)),
                Gate::Not(a) => Gate::Not(wire(a)),
                Gate::Lut(table, operands) => Gate::Lut(table, operands.map(wire)),
            }),
            _ => self,
        }
    }
}

/// What was recorded: nodes, each of earlier ones, and the wires that come out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    nodes: Vec<Node>,
    outputs: Vec<Wire>,
}

/// What is being recorded.
#[derive(Default)]
struct Tape {
    nodes: Vec<Node>,
    /// Words of the blocks, by number, with the wires that are stored there.
    stores: Vec<(usize, Wire)>,
}

std::thread_local! {
    static TAPE: RefCell<Tape> = RefCell::default();
}

fn push<const TERNARY: bool>(node: Node) -> Plane<TERNARY> {
    TAPE.with_borrow_mut(|tape| {
        tape.nodes.push(node);
        Plane(tape.nodes.len() - 1)
    })
}

impl Recording {
    /// A recording of these nodes, each of earlier ones.
    #[must_use]
    pub fn new(nodes: Vec<Node>, outputs: Vec<Wire>) -> Self {
        Self { nodes, outputs }
    }

    /// What is done to `planes` planes, which are then the outputs. `TERNARY`: whether circuits of three-input
    /// functions are taken.
    pub fn step<const TERNARY: bool>(
        planes: usize,
        work: impl FnOnce(Recorder<TERNARY>, &mut [Plane<TERNARY>]),
    ) -> Self {
        Self::of(|| {
            let mut planes: Vec<_> = (0..planes).map(|i| push(Node::Input(i))).collect();
            work(Recorder::NAMES, &mut planes);
            planes.iter().map(|plane| plane.0).collect()
        })
    }

    /// How blocks become `planes` planes.
    #[must_use]
    pub fn load(planes: usize) -> Self {
        Self::of(|| {
            let mut words = vec![push::<false>(Node::Constant(false)); planes];
            Recorder::NAMES.slice(&vec![0; 4 * planes], &mut words);
            words.iter().map(|word| word.0).collect()
        })
    }

    /// How `planes` planes become blocks: the outputs are words of them.
    #[must_use]
    pub fn store(planes: usize) -> Self {
        Self::of(|| {
            let mut words: Vec<_> = (0..planes).map(|i| push::<false>(Node::Input(i))).collect();
            Recorder::NAMES.unslice(&mut words, &mut vec![0; 4 * planes]);
            stored()
        })
    }

    /// A batch in ECB under these keys, from words of blocks to words of blocks.
    #[must_use]
    pub fn ecb<C: Rounds<Recorder<TERNARY>>, const TERNARY: bool>(keys: &C::Keys) -> Self {
        Self::of_batch::<C, TERNARY>(Recorder::NAMES, keys)
    }

    /// The same of a form under a key of its own, whose planes are constants; `None` where the key has not the right
    /// length. Node by node it is the recording under names.
    #[must_use]
    pub fn ecb_under<F: Form<Core: Rounds<Recorder<TERNARY>>>, const TERNARY: bool>(
        key: &[u8],
        direction: Direction,
    ) -> Option<Self> {
        let schedule = F::Schedule::new(key.try_into().ok()?);
        let keys = F::keys(&schedule, direction);
        Some(Self::of_batch::<F::Core, TERNARY>(Recorder { has_names: false }, F::view(&keys)))
    }

    fn of_batch<C: Rounds<Recorder<TERNARY>>, const TERNARY: bool>(
        recorder: Recorder<TERNARY>,
        keys: &C::Keys,
    ) -> Self {
        Self::of(|| {
            let mut blocks = [Array::default(); 32];
            recorder.run(Ecb::<C> { keys, blocks: InOutBuf::from(&mut blocks[..]) });
            stored()
        })
    }

    /// Records work that returns the outputs.
    fn of(work: impl FnOnce() -> Vec<Wire>) -> Self {
        TAPE.take();
        let outputs = work();
        Self { nodes: TAPE.take().nodes, outputs }
    }

    /// The nodes, each of earlier ones.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The wires that come out.
    #[must_use]
    pub fn outputs(&self) -> &[Wire] {
        &self.outputs
    }

    /// How many key planes it has: one more than the highest number.
    #[must_use]
    pub fn keys(&self) -> usize {
        let number = |node: &Node| if let Node::Key(number) = node { number + 1 } else { 0 };
        self.nodes.iter().map(number).max().unwrap_or(0)
    }
}

/// The wires that were stored, in the order of the words.
fn stored() -> Vec<Wire> {
    let mut stores = TAPE.with_borrow(|tape| tape.stores.clone());
    stores.sort_unstable();
    assert!(stores.iter().map(|store| store.0).eq(0..stores.len()), "each word is stored once");
    stores.iter().map(|store| store.1).collect()
}

/// The mask that stands for a key plane.
#[must_use]
pub const fn key(number: usize) -> u32 {
    number as u32 + 1
}

/// The masks of `N` bytes of key planes from number `first` on, the lowest bit of a byte first.
#[must_use]
pub fn key_bytes<const N: usize>(first: usize) -> [[u32; 8]; N] {
    core::array::from_fn(|byte| core::array::from_fn(|bit| key(first + 8 * byte + bit)))
}

/// A recorded word: the number of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane<const TERNARY: bool>(Wire);

macro_rules! operator {
    ($operator:ident $method:ident $assign:ident $by:ident $record:ident) => {
        impl<const TERNARY: bool> $operator for Plane<TERNARY> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                push(Node::Gate(Gate::$record(self.0, other.0)))
            }
        }

        impl<const TERNARY: bool> $assign for Plane<TERNARY> {
            fn $by(&mut self, other: Self) {
                *self = $operator::$method(*self, other);
            }
        }
    };
}
operator!(BitXor bitxor BitXorAssign bitxor_assign Xor);
operator!(BitAnd bitand BitAndAssign bitand_assign And);
operator!(BitOr bitor BitOrAssign bitor_assign Or);

impl<const TERNARY: bool> Not for Plane<TERNARY> {
    type Output = Self;

    fn not(self) -> Self {
        push(Node::Gate(Gate::Not(self.0)))
    }
}

impl<const TERNARY: bool> Word for Plane<TERNARY> {
    const TERNARY: bool = TERNARY;

    fn lut3<const TABLE: i32>(a: Self, b: Self, c: Self) -> Self {
        if TERNARY {
            push(Node::Gate(Gate::Lut(TABLE.cast_unsigned() as u8, [a.0, b.0, c.0])))
        } else {
            from_known_gates::<Self, TABLE>(a, b, c)
        }
    }
}

impl<const TERNARY: bool> Columns for Plane<TERNARY> {
    const BYTES: usize = 4;
    const COUNT: usize = 1;

    fn gather(_: &[u8], start: usize, _: usize) -> Self {
        push(Node::Load(start / 4))
    }

    fn scatter(self, _: &mut [u8], start: usize, _: usize) {
        TAPE.with_borrow_mut(|tape| tape.stores.push((start / 4, self.0)));
    }

    fn exchange<const DISTANCE: u32>(low: &mut Self, high: &mut Self) {
        let rows = [low.0, high.0];
        for (row, is_high) in [(low, false), (high, true)] {
            *row = push(Node::Exchange { distance: DISTANCE, rows, is_high });
        }
    }
}

/// The token of the recording instruction set: 32 lanes.
#[derive(Clone, Copy, Debug)]
pub struct Recorder<const TERNARY: bool> {
    /// Whether keys are names of key planes.
    has_names: bool,
}

impl<const TERNARY: bool> Recorder<TERNARY> {
    const NAMES: Self = Self { has_names: true };
}

impl<const TERNARY: bool> Isa for Recorder<TERNARY> {
    fn detect() -> Result<Self, Unavailable> {
        Ok(Self::NAMES)
    }

    fn run<B: Body<Self>>(self, body: B) -> B::Output {
        body.run(self)
    }
}

impl<const TERNARY: bool> BitLanes for Recorder<TERNARY> {
    type Word = Plane<TERNARY>;
    type Lanes = U32;

    /// A mask is a constant, or stands for a key plane.
    fn splat(self, mask: u32) -> Plane<TERNARY> {
        push(match mask {
            0 => Node::Constant(false),
            u32::MAX => Node::Constant(true),
            name => {
                assert!(self.has_names, "a mask is the same bit in every lane");
                Node::Key(name as usize - 1)
            }
        })
    }

    /// A byte stands for the eight key planes from [`key`] of the first one on.
    fn splat_byte(self, four: u32) -> [Plane<TERNARY>; 8] {
        core::array::from_fn(|bit| {
            self.splat(if self.has_names { four + bit as u32 } else { masks(four as u8)[bit] })
        })
    }

    fn slice(self, blocks: &[u8], planes: &mut [Plane<TERNARY>]) {
        bits::slice(blocks, planes);
    }

    fn unslice(self, planes: &mut [Plane<TERNARY>], blocks: &mut [u8]) {
        bits::unslice(planes, blocks);
    }

    fn lane_bit(self, bit: usize) -> Plane<TERNARY> {
        push(Node::LaneBit(bit))
    }
}
