//! The lines of a file as cases to run.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

use lanecrypt::{Mode, registry::Backend};
use lanecrypt_reference::vectors::{BigMessage, Lines, MonteCarlo, Vector, VectorFile};
use serde::Serialize;

use super::{chain, difference::Difference, message, vector};

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Plaintexts and ciphertexts.
    Vectors,
    /// Steps of Monte Carlo chains.
    Mct,
    /// Long messages.
    Big,
}

/// A line whose mode this tool knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    /// How many of the file's lines come before it.
    pub(super) position: usize,
    pub(super) line: Line<'a>,
}

/// A line of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line<'a> {
    Vector(&'a Vector),
    Chain(&'a MonteCarlo),
    Message(&'a BigMessage),
}

impl<'a> Line<'a> {
    fn kind(&self) -> Kind {
        match self {
            Self::Vector(_) => Kind::Vectors,
            Self::Chain(_) => Kind::Mct,
            Self::Message(_) => Kind::Big,
        }
    }

    /// The mode as the file writes it.
    pub(super) fn mode_name(&self) -> &'a str {
        match self {
            Self::Vector(vector) => &vector.mode,
            Self::Chain(step) => &step.mode,
            Self::Message(message) => &message.mode,
        }
    }
}

impl Case<'_> {
    pub(super) fn kind(&self) -> Kind {
        self.line.kind()
    }

    /// The line's name and its number in the file.
    pub(super) fn place(&self) -> (&str, usize) {
        match self.line {
            Line::Vector(vector) => (&vector.id, vector.line),
            Line::Chain(step) => (&step.id, step.line),
            Line::Message(message) => (&message.id, message.line),
        }
    }

    pub(super) fn mode(&self) -> Mode {
        known_mode(self.kind(), self.line.mode_name()).expect("cases_of takes known modes only")
    }

    /// Runs the line on a backend: what differs from the file, nothing if the case passes.
    pub(super) fn check(&self, backend: &Backend) -> Vec<Difference> {
        let mode = self.mode();
        let check = || match self.line {
            Line::Vector(vector) => vector::check(vector, mode, backend),
            Line::Chain(step) => chain::check(step, backend),
            Line::Message(message) => message::check(message, mode, backend),
        };
        // A backend that panics fails its case and lets the others run.
        catch_unwind(AssertUnwindSafe(check))
            .unwrap_or_else(|panic| vec![Difference::new(None, panic_text(&*panic))])
    }
}

/// The cases of a file, and the modes that this tool does not know, each with its number of lines.
pub(super) fn cases_of(file: &VectorFile) -> (Vec<Case<'_>>, Vec<(&str, usize)>) {
    let lines: Vec<Line<'_>> = match &file.lines {
        Lines::Vectors(lines) => lines.iter().map(Line::Vector).collect(),
        Lines::MonteCarlo(lines) => lines.iter().map(Line::Chain).collect(),
        Lines::Big(lines) => lines.iter().map(Line::Message).collect(),
        // The enum is open: a kind of file that is younger than this tool.
        _ => Vec::new(),
    };
    let mut cases = Vec::new();
    let mut unknown: Vec<(&str, usize)> = Vec::new();
    for (position, line) in lines.into_iter().enumerate() {
        let case = Case { position, line };
        if known_mode(case.kind(), line.mode_name()).is_some() {
            cases.push(case);
            continue;
        }
        let name = line.mode_name();
        if let Some((_, lines)) = unknown.iter_mut().find(|(mode, _)| *mode == name) {
            *lines += 1;
        } else {
            unknown.push((name, 1));
        }
    }
    (cases, unknown)
}

/// The mode with this name, where lines of this kind can have it.
fn known_mode(kind: Kind, name: &str) -> Option<Mode> {
    match (name, kind) {
        ("ecb", _) => Some(Mode::Ecb),
        ("cbc", _) => Some(Mode::Cbc),
        ("ccm", Kind::Vectors) => Some(Mode::Ccm),
        ("ctr", Kind::Vectors | Kind::Big) => Some(Mode::Ctr),
        ("gcm", Kind::Vectors | Kind::Big) => Some(Mode::Gcm),
        ("xts", Kind::Vectors | Kind::Big) => Some(Mode::Xts),
        _ => None,
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("with something that is no text"))
}
