//! The circuits of [`TARGETS`] and [`LAYERS`] found anew, each in the way that belongs to it.

use std::sync::Mutex;

use crate::derive::{self, Affine};
use crate::files::{DATA, GeneratedFile, NamedTable, table_of};
use crate::layers::LAYERS;
use crate::lut::{self, Effort};
use crate::small::{self, Gates};
use crate::targets::{Derivation, TARGETS, Target};
use crate::{Error, Program};

/// The core of every circuit that is derived from inversion.
const INVERSION: &str = include_str!("../data/inversion.slp");

/// Greedy runs for the linear layers: seconds.
const LINEAR_EFFORT: derive::Effort =
    derive::Effort { seed: 1, survey: 10, refine: 300, maps: 150 };

/// The search for a circuit that has no seed in its header yet.
const FIRST_EFFORT: Effort = Effort { seed: 1, steps: 300_000 };

/// Derives the circuits of all [`TARGETS`] and [`LAYERS`], or of one cipher's, anew on all cores, and returns the
/// data files' texts. Takes two minutes of processor time a target in a release build; the same code
/// gives the same texts on every machine.
///
/// # Errors
/// As [`crate::generated_files`], and [`Error::NotEquivalent`] for a table that is no affine image
/// of inversion though its target says so.
pub fn derive_files(
    tables: &[NamedTable<'_>],
    cipher: Option<&str>,
) -> Result<Vec<GeneratedFile>, Error> {
    let wanted = |target: &&Target| cipher.is_none_or(|cipher| target.cipher == cipher);
    let waiting = Mutex::new(TARGETS.iter().filter(wanted));
    let next = || waiting.lock().ok()?.next();
    let work = || -> Result<Vec<GeneratedFile>, Error> {
        let mut files = Vec::new();
        while let Some(target) = next() {
            files.extend(target.derive(table_of(target, tables)?)?);
        }
        Ok(files)
    };
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let derived: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    let mut files = Vec::new();
    for result in derived {
        let stopped = |_| Error::Shape("a derivation stopped".into());
        files.extend(result.map_err(stopped)??);
    }
    files.extend(derive_layers(cipher)?);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Derives the circuits of all [`LAYERS`], or of one cipher's, anew: seconds.
///
/// # Errors
/// [`Error::Shape`] for a layer that the searches cannot take.
pub fn derive_layers(cipher: Option<&str>) -> Result<Vec<GeneratedFile>, Error> {
    let mut files = Vec::new();
    for layer in LAYERS.iter().filter(|layer| cipher.is_none_or(|cipher| layer.cipher == cipher)) {
        files.extend(layer.derive()?);
    }
    Ok(files)
}

impl Target {
    /// Both data files, from circuits that are proved against the table; none where they are another
    /// target's.
    fn derive(&self, table: &[u8]) -> Result<Vec<GeneratedFile>, Error> {
        let (two_input, lookups) = match self.derivation {
            Derivation::Inversion { .. } => self.derived_circuits(table)?,
            Derivation::Search { .. } => {
                let found = |gates, old: Result<Program, Error>| {
                    let effort = old.ok().and_then(|old| effort_of(&old)).unwrap_or(FIRST_EFFORT);
                    self.search(table, gates, effort)
                };
                let two_input = found(Gates::TwoInput, self.two_input())?;
                (two_input, found(Gates::Lookups, self.lookups())?)
            }
            Derivation::Shared { .. } => return Ok(Vec::new()),
        };
        two_input.prove(table)?;
        lookups.prove(table)?;
        let file = |program: &Program, extension| GeneratedFile {
            path: format!("{DATA}/{}.{extension}", self.name),
            contents: program.to_string(),
        };
        Ok(vec![file(&two_input, "slp"), file(&lookups, "lut")])
    }

    /// The circuit that the search from the table alone finds with this effort, which the header
    /// states, so that `codegen --derive` can repeat it.
    ///
    /// # Errors
    /// [`Error::Shape`] for a target whose circuits are not found in this way, and what
    /// [`small::search`] returns.
    pub fn search(&self, table: &[u8], gates: Gates, effort: Effort) -> Result<Program, Error> {
        let Derivation::Search { outputs } = self.derivation else {
            return Err(Error::Shape(format!("{} is not found by a search", self.name)));
        };
        let search = format!("seed {}, {} steps", effort.seed, effort.steps);
        let notes = [
            ("source", "the project's own search"),
            ("derived", "cargo xtask codegen --derive (small::search)"),
            (SEARCH, search.as_str()),
        ];
        small::search(table, outputs, gates, effort, (self.name, &notes))
    }

    /// The two-input circuit and the lookups of a target that is an affine image of inversion.
    fn derived_circuits(&self, table: &[u8]) -> Result<(Program, Program), Error> {
        let Derivation::Inversion { start, effort, .. } = self.derivation else {
            return Err(not_derived(self));
        };
        let circuits = self.images_of_inversion(table)?;
        let lookups = self.lookups_from(&circuits, start, effort)?;
        let two_input = circuits.into_iter().next().ok_or_else(|| no_start(self))?;
        Ok((two_input, lookups))
    }

    /// Two-input circuits of a target that is an affine image of inversion, the smallest first: the
    /// one that `--derive` writes, and where a search for lookups can start.
    ///
    /// # Errors
    /// [`Error::Shape`] for a target whose circuits are not found in this way, and what
    /// [`derive::derive`] returns.
    pub fn images_of_inversion(&self, table: &[u8]) -> Result<Vec<Program>, Error> {
        let Derivation::Inversion { top, top_text, .. } = self.derivation else {
            return Err(not_derived(self));
        };
        let not_affine = || Error::Shape(format!("{}: its top map is not affine", self.name));
        let top = Affine::from_fn(top).ok_or_else(not_affine)?;
        let derived = format!(
            "cargo xtask codegen --derive (derive::derive, {LINEAR_EFFORT:?}).\n\
             The inversion reads {top_text}, after the best of its 2040 symmetries;\n\
             both linear layers are the project's own search."
        );
        let source = format!("{DATA}/inversion.slp, which names the publication");
        let notes = [("source", source.as_str()), ("derived", derived.as_str())];
        let core: Program = INVERSION.parse()?;
        derive::derive(&core, &top, table, self.name, &notes, LINEAR_EFFORT)
    }

    fn lookups_from(
        &self,
        circuits: &[Program],
        start: usize,
        effort: Effort,
    ) -> Result<Program, Error> {
        let circuit = circuits.get(start).ok_or_else(|| no_start(self))?;
        let derived = format!(
            "cargo xtask codegen --derive (lut::map, {effort:?}),\n\
             from circuit {start} of the {} two-input ones that derive::derive found.\n\
             A lookup's table is the immediate of PTX lop3 and of vpternlog.",
            circuits.len()
        );
        let source = format!("{DATA}/inversion.slp, by the project's own search");
        let notes = [("source", source.as_str()), ("derived", derived.as_str())];
        lut::map(circuit, self.name, &notes, effort)
    }
}

/// The header line with the effort of a search.
const SEARCH: &str = "search";

/// The effort that a circuit's header states.
fn effort_of(program: &Program) -> Option<Effort> {
    let (seed, steps) = program.header(SEARCH)?.strip_prefix("seed ")?.split_once(", ")?;
    let steps = steps.strip_suffix(" steps")?.parse().ok()?;
    Some(Effort { seed: seed.parse().ok()?, steps })
}

fn not_derived(target: &Target) -> Error {
    Error::Shape(format!("{} is not derived from inversion", target.name))
}

fn no_start(target: &Target) -> Error {
    Error::Shape(format!("{}: the search has no circuit to start from", target.name))
}
