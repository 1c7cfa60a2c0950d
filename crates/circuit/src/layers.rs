//! The linear layers that the workspace has circuits of, and where each circuit comes from.

use lanecrypt_reference::diffusion::{ARIA_A, CAMELLIA_P};

use crate::files::{DATA, GeneratedFile, doc_of, rust_head};
use crate::linear;
use crate::lut::Effort;
use crate::program::{Assembly, Gate};
use crate::{Error, Program, emit_rust, sums};

/// A linear layer on the bytes of a block, or of a half, which works on each bit of them alike.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Name of the circuit, `aria_a`.
    pub name: &'static str,
    /// The cipher: the folder under `crates/`.
    pub cipher: &'static str,
    /// Name of the function in `crates/<cipher>/src/linear.rs`, the only one there.
    pub rust_function: &'static str,
    /// What the function does, for its documentation.
    pub doc: &'static str,
    /// The definition: a mask a row of the bytes that it sums, byte 0 the lowest bit.
    pub rows: fn() -> Vec<u32>,
    /// Parts that a row is split into for the form in sums of three.
    parts: usize,
    /// The circuit of sums of two.
    two_input: &'static str,
    /// The circuit of sums of three.
    lookups: &'static str,
}

/// Every linear layer with circuits.
pub const LAYERS: &[Layer] = &[
    Layer {
        name: "aria_a",
        cipher: "aria",
        rust_function: "diffuse",
        doc: "ARIA's diffusion layer A (RFC 5794, section 2.4.3) on a bit of every byte.",
        rows: || {
            ARIA_A.iter().map(|row| row.iter().fold(0, |mask, byte| mask | 1 << byte)).collect()
        },
        parts: 3,
        two_input: include_str!("../data/aria_a.slp"),
        lookups: include_str!("../data/aria_a.lut"),
    },
    Layer {
        name: "camellia_p",
        cipher: "camellia",
        rust_function: "p",
        doc: "Camellia's P (RFC 3713, section 2.4.1) on a bit of every byte of a half. What the result is\n\
              added to is a third summand of its last sums: compilers that have one instruction for\n\
              such a sum take it.",
        rows: || {
            let mask = |row: &&[u8]| row.iter().fold(0, |mask, byte| mask | 1 << (byte - 1));
            CAMELLIA_P.iter().map(mask).collect()
        },
        parts: 2,
        two_input: include_str!("../data/camellia_p.slp"),
        lookups: include_str!("../data/camellia_p.lut"),
    },
];

/// Greedy runs for the sums of two, and their seed.
const ATTEMPTS: (u32, u64) = (300, 1);

/// The search for sums of three.
const EFFORT: Effort = Effort { seed: 1, steps: 300_000 };

impl Layer {
    /// The committed circuit of sums of two.
    ///
    /// # Errors
    /// What is wrong with the data file.
    pub fn two_input(&self) -> Result<Program, Error> {
        self.two_input.parse()
    }

    /// The committed circuit of sums of three.
    ///
    /// # Errors
    /// What is wrong with the data file.
    pub fn lookups(&self) -> Result<Program, Error> {
        self.lookups.parse()
    }

    /// The Rust file, from the committed circuits, which are proved first.
    pub(crate) fn generated_file(&self) -> Result<GeneratedFile, Error> {
        let forms = [&self.two_input()?, &self.lookups()?];
        let mut sources = Vec::new();
        for (program, extension) in forms.into_iter().zip(["slp", "lut"]) {
            program.prove_linear(&(self.rows)())?;
            let counts = program.counts();
            sources.push(format!("//! `{DATA}/{}.{extension}`, {counts}", self.name));
        }
        let rust = emit_rust(forms, self.rust_function, &doc_of(self.doc, &forms));
        Ok(GeneratedFile {
            path: format!("crates/{}/src/linear.rs", self.cipher),
            contents: rust_head(&sources) + "\n" + &rust,
        })
    }

    /// Both data files anew: the same on every machine.
    pub(crate) fn derive(&self) -> Result<Vec<GeneratedFile>, Error> {
        let (two_input, lookups) = (self.derive_sums_of_two()?, self.derive_sums_of_three()?);
        let file = |program: &Program, extension| GeneratedFile {
            path: format!("{DATA}/{}.{extension}", self.name),
            contents: program.to_string(),
        };
        Ok(vec![file(&two_input, "slp"), file(&lookups, "lut")])
    }

    fn derive_sums_of_two(&self) -> Result<Program, Error> {
        let rows = (self.rows)();
        let (attempts, seed) = ATTEMPTS;
        let found = linear::minimise(rows.len(), &rows, attempts, seed)?;
        let zero = || Error::Shape(format!("{}: a row of zeros", self.name));
        let output_wires: Option<Vec<_>> = found.outputs.into_iter().collect();
        let output_wires = &output_wires.ok_or_else(zero)?;
        let gates = found.gates.iter().map(|&(a, b)| Gate::Xor(a, b));
        let gates = &gates.collect::<Vec<_>>();
        let names = |letter| (0..rows.len()).map(|i| format!("{letter}{i}")).collect::<Vec<_>>();
        let (inputs, outputs) = (&names('x'), &names('y'));
        let copy = |wire| Gate::And(wire, wire);
        let search = format!("linear::minimise, seed {seed}, {attempts} attempts");
        let program = Assembly { inputs, outputs, gates, output_wires, copy };
        program.finish(self.name, &notes(&derived_by(&search)))
    }

    fn derive_sums_of_three(&self) -> Result<Program, Error> {
        let rows = (self.rows)();
        let search = format!("sums::share in {} parts a row, {EFFORT:?}", self.parts);
        let derived = derived_by(&search);
        sums::share((rows.len(), &rows), self.parts, EFFORT, (self.name, &notes(&derived)))
    }
}

fn derived_by(search: &str) -> String {
    format!("cargo xtask codegen --derive ({search})")
}

fn notes(derived: &str) -> [(&str, &str); 2] {
    [("source", "the project's own search"), ("derived", derived)]
}
