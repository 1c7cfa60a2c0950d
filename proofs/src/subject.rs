//! What is proved of a cipher, and against what.

use lanecrypt_circuit::{
    KernelRounds, Wire,
    graph::{Graph, Steps},
};
use lanecrypt_core::Direction;
use lanecrypt_slicing::{
    Form, Rounds,
    record::{Plan, Recorder, Recording},
};

use crate::{model::Model, step::Standard};

/// A cipher: its plans and its standard.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) standard: &'static str,
    /// The plan with circuits of gates, and that with three-input functions.
    pub(crate) plans: [fn() -> Plan; 2],
    /// What the rounds of its bit-sliced kernel are made of, where they are made of the second plan.
    pub(crate) rounds: Option<KernelRounds>,
    pub(crate) wgsl: Wgsl,
    /// What the standard says that each step is, by the plan's names of steps.
    pub(crate) steps: &'static [(&'static str, Standard)],
    /// Keys that decide the key schedule for all, given what reading it shows of it.
    pub(crate) deciding_keys: Option<Keys>,
    pub(crate) claims: fn() -> Vec<Claim>,
}

/// What the kernels in WGSL are made of: whichever was faster on a GPU.
#[derive(Clone, Copy)]
pub(crate) struct Wgsl {
    /// Whether of the plan with three-input functions.
    pub(crate) has_lookups: bool,
    /// At most how many calls the body of a loop has, as in [`KernelRounds`].
    pub(crate) calls: usize,
}

/// That a whole of the plan computes a cipher of the standard, for all blocks and all round keys.
pub(crate) struct Claim {
    /// The cipher, its key size and the direction.
    pub(crate) name: String,
    /// The plan's name of the whole.
    pub(crate) whole: &'static str,
    /// Bytes of a key.
    pub(crate) key_bytes: usize,
    /// Bits of all round keys.
    pub(crate) key_bits: usize,
    /// The bits of the round keys that the standard's key schedule makes of a key. Nothing is proved of it: it checks
    /// the models, and forms' own key schedules, by examples.
    pub(crate) expand: Box<Map>,
    /// A batch as the form of gates runs it under a key.
    pub(crate) recorded: Recorded,
    pub(crate) direction: Direction,
    /// The bit-sliced kernel.
    pub(crate) device: Option<Device>,
    /// The file of vectors in ECB.
    pub(crate) vectors: Option<&'static str>,
    /// The key planes in the order in which the whole takes them, of the bits of round keys.
    pub(crate) key_planes: Box<Map>,
    /// The block that the standard makes of a block, bit 0 of byte 0 first, and of the bits of round keys.
    pub(crate) cipher: Box<Cipher>,
}

/// Keys of a number of bytes.
pub(crate) type Keys = fn(usize) -> Vec<Vec<u8>>;

/// Records a batch under a key.
pub(crate) type Recorded = fn(&[u8], Direction) -> Option<Recording>;

/// [`Recorded`] of a form.
pub(crate) fn recorded<F>(key: &[u8], direction: Direction) -> Option<Recording>
where
    F: Form<Core: Rounds<Recorder<false>>>,
{
    Recording::ecb_under::<F, false>(key, direction)
}

/// A file of kernels, and what its parameters have after the fields that all kernels have.
pub(crate) struct Device {
    /// `kernels/ptx/` has it.
    pub(crate) file: &'static str,
    /// Threads that share 32 blocks.
    pub(crate) width: usize,
    /// The name of the entry for ECB.
    pub(crate) entry: &'static str,
    /// Blocks for a warp above which CTR looks up what two rounds make of a counter.
    pub(crate) most_without_tables: Option<u64>,
    /// The words of the keys, the lowest bit first, of the bits of round keys.
    pub(crate) key_words: Box<Words>,
}

type Words = dyn Fn(&mut Model<'_>, &[Wire]) -> Vec<Vec<Wire>> + Sync + Send;
type Map = dyn Fn(&mut Model<'_>, &[Wire]) -> Vec<Wire> + Sync + Send;
type Cipher = dyn Fn(&mut Model<'_>, &[Wire], &[Wire]) -> Vec<Wire> + Sync + Send;

impl Subject {
    /// What the standard says that a step is.
    pub(crate) fn step(&self, name: &str) -> Option<Standard> {
        self.steps.iter().find(|step| step.0 == name).map(|step| step.1)
    }
}

/// What a direction is called in the names of claims and in tables.
pub(crate) const fn noun(direction: Direction) -> &'static str {
    match direction {
        Direction::Encrypt => "encryption",
        Direction::Decrypt => "decryption",
    }
}

/// The steps of a plan as the standard has them.
pub(crate) struct AsStandard<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) plan: &'a Plan,
}

impl Steps for AsStandard<'_> {
    fn keys(&self, step: &str) -> Option<usize> {
        self.subject.step(step).and_then(|_| self.plan.keys(step))
    }

    fn apply(&self, graph: &mut Graph, step: &str, planes: &[Wire], keys: &[Wire]) -> Vec<Wire> {
        let standard = self.subject.step(step);
        standard.map_or_else(Vec::new, |standard| standard(&mut Model::new(graph), planes, keys))
    }
}
