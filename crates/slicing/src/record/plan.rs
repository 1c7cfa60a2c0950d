//! A cipher's plan: the steps that its bit-sliced form is made of, and their order, as data.

use std::vec::Vec;

use super::Recording;

/// What a cipher's bit-sliced form is made of.
///
/// The parts of a [`Whole`] run over planes from the moment that blocks are loaded into them to the moment that
/// they are stored. That this is what the form does, the whole as it was recorded shows: unrolled, the parts are
/// the same graph.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Planes of a batch: bits of a block.
    pub planes: usize,
    /// The steps.
    pub steps: Vec<Step>,
    /// The wholes that are made of them.
    pub wholes: Vec<Whole>,
}

/// A step by its name.
#[derive(Clone, Debug)]
pub struct Step {
    /// What parts call it.
    pub name: &'static str,
    /// What it does to its planes, with key planes from number 0 on.
    pub recording: Recording,
}

/// A whole cipher: of a number of round keys, in a direction.
#[derive(Clone, Debug)]
pub struct Whole {
    /// What it is called.
    pub name: &'static str,
    /// What it is made of.
    pub parts: Vec<Part>,
    /// A batch in ECB; its key planes are numbered in the order in which steps take them.
    pub recording: Recording,
}

/// A part of a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A step on these planes, under the next key planes.
    Call {
        /// The name of the step.
        step: &'static str,
        /// The plane that each plane of the step is.
        on: Vec<usize>,
    },
    /// Parts, again and again.
    Repeat {
        /// How often.
        times: usize,
        /// What.
        body: Vec<Part>,
    },
    /// New names: plane `i` is what plane `from[i]` was.
    Rename {
        /// The old names.
        from: Vec<usize>,
    },
}

impl Plan {
    /// The step of this name.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.name == name)
    }

    /// The whole of this name.
    #[must_use]
    pub fn whole(&self, name: &str) -> Option<&Whole> {
        self.wholes.iter().find(|whole| whole.name == name)
    }
}

/// A step on ranges of planes, one after the other.
#[must_use]
pub fn call<const N: usize>(step: &'static str, on: [core::ops::Range<usize>; N]) -> Part {
    Part::Call { step, on: on.into_iter().flatten().collect() }
}

/// Parts, again and again.
#[must_use]
pub fn repeat<const N: usize>(times: usize, body: [Part; N]) -> Part {
    Part::Repeat { times, body: Vec::from(body) }
}

/// New names, which are ranges of the old ones.
#[must_use]
pub fn rename<const N: usize>(from: [core::ops::Range<usize>; N]) -> Part {
    Part::Rename { from: from.into_iter().flatten().collect() }
}
