//! Two-input circuits of S-boxes that are affine-equivalent to inversion in GF(2^8).
//!
//! Such an S-box is `S(w) = B Inv(A w + a) + b`. The core (`data/inversion.slp`) reads linear forms
//! of its input and ends in products of which every output bit of `S` is a sum. With `A w + a` put
//! into the forms, the forms are an affine layer of `w`; the sums are found by Gaussian elimination
//! over the truth tables. Both layers are then minimised. A constant is one more input, namely one,
//! and adding it is a NOT: constants are shared and moved like any other term.
//!
//! The way to write an S-box like that is not unique: `Inv(u) = c Inv(c u)` and squaring commutes
//! with inversion, so `u` may be replaced by `c u^(2^k)`, 2040 maps in all. They are all tried.

use lanecrypt_reference::gf256;

use crate::Error;
use crate::linear::{self, LinearProgram};
use crate::program::{Builder, Gate, Program};

/// An affine map of bytes: bit `i` of the result is the parity of the input under `rows[i]`, plus
/// bit `i` of the constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// The matrix, one mask per output bit.
    pub rows: [u8; 8],
    /// The image of zero.
    pub constant: u8,
}

impl Affine {
    /// The affine map that a function computes, or `None` if it is not affine.
    pub fn from_fn(function: impl Fn(u8) -> u8) -> Option<Self> {
        let constant = function(0);
        let columns: [u8; 8] = core::array::from_fn(|input| function(1 << input) ^ constant);
        let row =
            |bit: usize| (0..8).fold(0, |mask, input| mask | (columns[input] >> bit & 1) << input);
        let map = Self { rows: core::array::from_fn(row), constant };
        (0..=255).all(|input| function(input) == map.apply(input)).then_some(map)
    }

    /// The image of a byte.
    #[must_use]
    pub fn apply(&self, input: u8) -> u8 {
        let parity = |mask: u8| (mask & input).count_ones() as u8 & 1;
        let bits = self.rows.iter().zip(0..);
        bits.fold(self.constant, |sum, (&mask, bit)| sum ^ parity(mask) << bit)
    }
}

/// How hard to minimise the linear layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Seed of the ties.
    pub seed: u64,
    /// Greedy runs a layer and map, when all 2040 maps are compared.
    pub survey: u32,
    /// Greedy runs a layer for each of the best maps.
    pub refine: u32,
    /// How many of the best maps are refined.
    pub maps: usize,
}

/// Circuits of the S-box `table`, whose input `top` carries to the inversion's input (`A w + a`):
/// one for each of the `Effort::maps` best maps, fewest gates first.
///
/// # Errors
/// [`Error::NotEquivalent`] if an output bit is not a sum of the core's products, so `top` is not the
/// map of this table; [`Error::Shape`] for a core that has not eight inputs or a table that has not
/// 256 entries; and what [`linear::minimise`] returns.
pub fn derive(
    core: &Program,
    top: &Affine,
    table: &[u8],
    name: &str,
    notes: &[(&str, &str)],
    effort: Effort,
) -> Result<Vec<Program>, Error> {
    let core = Core::new(core)?;
    if table.len() != 256 {
        return Err(Error::Shape(format!("an image of inversion has no {} entries", table.len())));
    }
    let mut ranked = Vec::new();
    for (index, map) in inversion_symmetries().into_iter().enumerate() {
        let Some(map) = Affine::from_fn(|input| map(top.apply(input))) else {
            continue;
        };
        let seed = effort.seed ^ index as u64;
        ranked.push((Layers::new(&core, &map, table, effort.survey, seed)?.cost(), map));
    }
    ranked.sort_by_key(|(cost, _)| *cost);
    let mut refined = Vec::new();
    for (_, map) in ranked.into_iter().take(effort.maps) {
        refined.push(Layers::new(&core, &map, table, effort.refine, effort.seed)?);
    }
    refined.sort_by_key(Layers::cost);
    refined.iter().map(|layers| layers.assemble(&core, name, notes)).collect()
}

/// Multiplication in the field of the inversion core, that of AES.
pub(crate) fn multiply(a: u8, b: u8) -> u8 {
    gf256::multiply(a, b, gf256::AES_MODULUS)
}

/// The maps `u -> c u^(2^k)`, `c` not zero.
fn inversion_symmetries() -> Vec<impl Fn(u8) -> u8> {
    let squarings = |count| move |input| (0..count).fold(input, |power, _| multiply(power, power));
    let pairs = (0..8).flat_map(|count| (1..=255).map(move |factor| (count, factor)));
    pairs.map(|(count, factor)| move |input| multiply(factor, squarings(count)(input))).collect()
}

/// The core, taken apart into linear forms and the rest.
struct Core<'a> {
    program: &'a Program,
    tables: Vec<Vec<u64>>,
    /// For each wire the mask of inputs of which it is the sum, if it is one.
    linear: Vec<Option<u8>>,
    /// The linear wires that the rest reads.
    forms: Vec<usize>,
}

impl<'a> Core<'a> {
    fn new(program: &'a Program) -> Result<Self, Error> {
        let (inputs, outputs) = (program.inputs().len(), program.outputs().len());
        if inputs != 8 || outputs > 31 || program.counts().lut != 0 {
            return Err(Error::Shape(
                "a core has 8 inputs, at most 31 outputs and no lookups".into(),
            ));
        }
        let tables = program.truth_tables();
        let linear: Vec<_> = tables.iter().map(|table| linear_mask(table, &tables)).collect();
        let mut forms = Vec::new();
        for (index, statement) in program.statements().iter().enumerate() {
            if linear[8 + index].is_none() {
                forms.extend(
                    operands(statement.gate).into_iter().filter(|&wire| linear[wire].is_some()),
                );
            }
        }
        forms.sort_unstable();
        forms.dedup();
        Ok(Self { program, tables, linear, forms })
    }
}

fn operands(gate: Gate) -> [usize; 2] {
    match gate {
        Gate::Xor(a, b) | Gate::And(a, b) | Gate::Or(a, b) => [a, b],
        Gate::Not(a) | Gate::Lut(_, [a, ..]) => [a, a],
    }
}

/// The mask of inputs whose sum a column is. `tables` starts with the inputs' own columns.
fn linear_mask(column: &[u64], tables: &[Vec<u64>]) -> Option<u8> {
    let mask = (0..8).fold(0u8, |mask, input| {
        let point = 1usize << input;
        mask | ((column[point / 64] >> (point % 64) & 1) as u8) << input
    });
    let sum = |word: usize| {
        (0..8).filter(|input| mask >> input & 1 != 0).fold(0, |sum, i| sum ^ tables[i][word])
    };
    (0..column.len()).all(|word| column[word] == sum(word)).then_some(mask)
}

/// Both minimised layers of one way to write the S-box.
struct Layers {
    /// From the eight inputs and the constant to the forms.
    top: LinearProgram,
    /// From the products and the constant to the eight outputs.
    bottom: LinearProgram,
}

impl Layers {
    fn new(
        core: &Core<'_>,
        map: &Affine,
        table: &[u8],
        attempts: u32,
        seed: u64,
    ) -> Result<Self, Error> {
        let forms = core.forms.iter().map(|&form| {
            let mask = core.linear[form].unwrap_or(0);
            let rows =
                (0..8).filter(|bit| mask >> bit & 1 != 0).map(|bit| u32::from(map.rows[bit]));
            let constant = (mask & map.constant).count_ones() & 1;
            rows.fold(constant << 8, |sum, row| sum ^ row)
        });
        let top = linear::minimise(9, &forms.collect::<Vec<_>>(), attempts, seed)?;
        let sums = output_sums(core, map, table)?;
        let bottom = linear::minimise(core.program.outputs().len() + 1, &sums, attempts, seed)?;
        Ok(Self { top, bottom })
    }

    fn cost(&self) -> usize {
        self.top.gates.len() + self.bottom.gates.len()
    }

    fn assemble(
        &self,
        core: &Core<'_>,
        name: &str,
        notes: &[(&str, &str)],
    ) -> Result<Program, Error> {
        let outputs: Vec<String> = (0..8).map(|bit| format!("s{bit}")).collect();
        let mut builder = Builder::new(core.program.inputs().to_vec(), outputs.clone())?;
        let form_names: Vec<&str> =
            core.forms.iter().map(|&form| core.program.operand(form)).collect();
        let inputs: Vec<Option<usize>> = (0..8).map(Some).chain([None]).collect();
        let forms = add_layer(&mut builder, &self.top, inputs, ("a", &form_names))?;
        let mut wires = vec![None; core.tables.len()];
        for (&form, wire) in core.forms.iter().zip(forms) {
            wires[form] = Some(wire);
        }
        let moved = |wire: usize, wires: &[Option<usize>]| wires[wire].ok_or_else(zero_row);
        for (index, statement) in core.program.statements().iter().enumerate() {
            if core.linear[8 + index].is_none() {
                let [a, b] = operands(statement.gate);
                let (a, b) = (moved(a, &wires)?, moved(b, &wires)?);
                let gate = match statement.gate {
                    Gate::Xor(..) => Gate::Xor(a, b),
                    Gate::And(..) => Gate::And(a, b),
                    Gate::Or(..) => Gate::Or(a, b),
                    Gate::Not(_) | Gate::Lut(..) => Gate::Not(a),
                };
                wires[8 + index] = Some(builder.push(&statement.name, gate)?);
            }
        }
        let products = core.program.output_wires().iter().map(|&wire| wires[wire]).chain([None]);
        let names: Vec<&str> = outputs.iter().map(String::as_str).collect();
        let placed = add_layer(&mut builder, &self.bottom, products.collect(), ("b", &names))?;
        for (wire, output) in placed.into_iter().zip(&outputs) {
            if builder.wire(output) != Ok(wire) {
                builder.push(output, Gate::And(wire, wire))?;
            }
        }
        builder.finish(name, notes)
    }
}

fn zero_row() -> Error {
    Error::Shape("a constant where the core or the output needs a wire".into())
}

/// Adds a layer's gates. `wires` gives the wires of its inputs, `None` for the constant one.
/// Gates that hold a row are called by its name, others by the prefix and a number.
fn add_layer(
    builder: &mut Builder,
    layer: &LinearProgram,
    mut wires: Vec<Option<usize>>,
    (prefix, names): (&str, &[&str]),
) -> Result<Vec<usize>, Error> {
    for (index, &(a, b)) in layer.gates.iter().enumerate() {
        let gate = match (wires[a], wires[b]) {
            (Some(a), Some(b)) => Gate::Xor(a, b),
            (Some(a), None) | (None, Some(a)) => Gate::Not(a),
            (None, None) => return Err(zero_row()),
        };
        let row = layer.outputs.iter().position(|&output| output == Some(layer.inputs + index));
        let temporary = format!("{prefix}{index}");
        // An input of the core may be a form, and its name is an input's: it keeps a temporary one.
        let name = row.map(|row| names[row]).filter(|name| builder.wire(name).is_err());
        wires.push(Some(builder.push(name.unwrap_or(&temporary), gate)?));
    }
    layer
        .outputs
        .iter()
        .map(|output| output.and_then(|wire| wires[wire]).ok_or_else(zero_row))
        .collect()
}

/// For each output bit the products, and the constant as one more, of which it is the sum.
fn output_sums(core: &Core<'_>, map: &Affine, table: &[u8]) -> Result<Vec<u32>, Error> {
    // In terms of the core's input: the products at `map(w)` belong to the output `table[w]`.
    let mut images = [0u8; 256];
    for (input, &output) in (0..=255u8).zip(table) {
        images[usize::from(map.apply(input))] = output;
    }
    let column = |bit: usize| -> [u64; 4] {
        core::array::from_fn(|word| {
            (0..64).fold(0, |sum, p| sum | u64::from(images[64 * word + p] >> bit & 1) << p)
        })
    };
    let products = core.program.output_wires().iter().map(|&wire| &core.tables[wire]);
    let mut generators: Vec<[u64; 4]> =
        products.map(|t| core::array::from_fn(|word| t[word])).collect();
    generators.push([u64::MAX; 4]);
    let mut basis = Vec::new();
    for (index, &generator) in generators.iter().enumerate() {
        let (rest, sum) = reduce(&basis, generator);
        if rest != [0; 4] {
            basis.push((rest, sum ^ 1 << index));
        }
    }
    let sum_of = |bit| match reduce(&basis, column(bit)) {
        ([0, 0, 0, 0], sum) => Ok(sum),
        _ => Err(Error::NotEquivalent { bit }),
    };
    (0..8).map(sum_of).collect()
}

/// Subtracts the basis columns that clear a column from the front; the rest, and what was taken.
fn reduce(basis: &[([u64; 4], u32)], mut column: [u64; 4]) -> ([u64; 4], u32) {
    let mut taken = 0;
    for (element, sum) in basis {
        let leading = element.iter().position(|&word| word != 0).unwrap_or(0);
        let bit = element[leading] & element[leading].wrapping_neg();
        if column[leading] & bit != 0 {
            column = core::array::from_fn(|word| column[word] ^ element[word]);
            taken ^= sum;
        }
    }
    (column, taken)
}
