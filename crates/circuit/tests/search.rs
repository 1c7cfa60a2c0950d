//! The searches keep the function: linear layers, derivation and lookup mapping.

use lanecrypt_circuit::derive::{self, Affine, derive};
use lanecrypt_circuit::linear::minimise;
use lanecrypt_circuit::small::{self, Gates};
use lanecrypt_circuit::{Error, Program, TARGETS, find_affine_equivalence, lut, sums};
use lanecrypt_reference::{des, sbox};
use proptest::prelude::*;

fn core() -> Program {
    include_str!("../data/inversion.slp").parse().unwrap()
}

/// A quick search for sums of three.
const ADDITIONS: lut::Effort = lut::Effort { seed: 3, steps: 200 };

const QUICK: derive::Effort = derive::Effort { seed: 7, survey: 1, refine: 1, maps: 2 };

#[test]
fn any_affine_image_of_inversion_is_derived() {
    let sbox = sbox::AES;
    // Another affine map on either side, with constants on both.
    let before =
        |input: u8| input.rotate_left(3) ^ input.rotate_left(4) ^ input.rotate_left(6) ^ 0x5A;
    let after = |output: u8| output ^ (output << 1) ^ 0xC4;
    let table: [u8; 256] =
        core::array::from_fn(|input| after(sbox[usize::from(before(input as u8))]));
    let top = Affine::from_fn(before).unwrap();
    let programs = derive(&core(), &top, &table, "image", &[], QUICK).unwrap();
    assert_eq!(programs.len(), 2);
    for program in programs {
        assert_eq!(program.prove(&table), Ok(()));
        assert_eq!(program.to_string().parse::<Program>().unwrap(), program);
    }
}

#[test]
fn the_affine_maps_are_found_from_the_table_alone() {
    let (sbox, inverse_sbox) = (sbox::AES, sbox::AES_INVERSE);
    let before = |input: u8| input.rotate_left(3) ^ (input << 2) ^ 0x5A;
    let image = core::array::from_fn(|input| sbox[usize::from(before(input as u8))] ^ 0x11);
    for table in [sbox, inverse_sbox, image] {
        let found = find_affine_equivalence(&table).unwrap();
        let program = derive(&core(), &found.inner, &table, "found", &[], QUICK).unwrap();
        assert_eq!(program[0].prove(&table), Ok(()));
        // Zero is its own inverse, and one is.
        for fixed in [0, 1] {
            let input = (0..=255).find(|&input| found.inner.apply(input) == fixed).unwrap();
            assert_eq!(found.outer.apply(fixed), table[usize::from(input)]);
        }
    }
    let mut swapped = sbox;
    swapped.swap(3, 200);
    assert_eq!(find_affine_equivalence(&swapped), None);
    assert_eq!(find_affine_equivalence(&[7; 256]), None);
}

#[test]
fn a_table_that_is_no_image_is_refused() {
    let mut table = sbox::AES;
    table.swap(3, 200);
    let top = Affine::from_fn(|input| input).unwrap();
    let found = derive(&core(), &top, &table, "swapped", &[], QUICK);
    assert!(matches!(found, Err(Error::NotEquivalent { .. })));
    let small = derive(&core(), &top, &des::SBOXES[0], "small", &[], QUICK);
    assert!(matches!(small, Err(Error::Shape(_))));
    assert_eq!(Affine::from_fn(|input| input & (input << 1)), None);
}

#[test]
fn the_same_seed_gives_the_same_circuit() {
    let effort = lut::Effort { seed: 3, steps: 300 };
    let once = lut::map(&core(), "once", &[], effort).unwrap();
    assert_eq!(lut::map(&core(), "once", &[], effort).unwrap(), once);
    assert!(once.counts().total() < core().counts().total());
}

#[test]
fn small_tables_are_searched_with_either_kind_of_gates() {
    let effort = lut::Effort { seed: 5, steps: 2_000 };
    // The half of S4 whose first input bit is zero.
    let table = &des::SBOXES[3][..32];
    for (gates, most) in [(Gates::TwoInput, 40), (Gates::Lookups, 14)] {
        let found = small::search(table, 4, gates, effort, ("s4", &[])).unwrap();
        assert_eq!(found.prove(table), Ok(()));
        assert!(found.counts().total() <= most, "{}", found.counts());
        assert_eq!(found.counts().lut > 0, gates == Gates::Lookups);
        assert_eq!(small::search(table, 4, gates, effort, ("s4", &[])).unwrap(), found);
    }
}

#[test]
fn tables_that_no_search_is_for_are_refused() {
    let effort = lut::Effort { seed: 1, steps: 10 };
    let search = |table: &[u8], outputs| {
        small::search(table, outputs, Gates::Lookups, effort, ("bad", &[])).map(drop)
    };
    for (length, outputs) in [(0, 1), (1, 1), (48, 4), (128, 4), (64, 0), (64, 9)] {
        let found = search(&vec![0; length], outputs);
        assert!(matches!(found, Err(Error::Shape(_))), "{length} entries of {outputs} bits");
    }
    for gates in [Gates::TwoInput, Gates::Lookups] {
        for table in [[2, 2, 3, 2], [1, 0, 1, 1]] {
            let found = small::search(&table, 2, gates, effort, ("constant", &[]));
            assert!(matches!(found, Err(Error::Shape(_))), "{table:?}: an output is a constant");
        }
    }
    // Not found by a search from the table alone.
    let found = TARGETS[0].search(&sbox::AES, Gates::Lookups, effort);
    assert!(matches!(found, Err(Error::Shape(_))));
}

#[test]
fn a_search_states_its_effort() {
    let effort = lut::Effort { seed: 9, steps: 60 };
    let target = TARGETS.iter().find(|target| target.name == "des_sbox4").unwrap();
    let found = target.search(&des::SBOXES[3], Gates::Lookups, effort).unwrap();
    assert_eq!(found.header("search"), Some("seed 9, 60 steps"));
}

/// The text of a program whose gates come from `choices`: a kind and three operands each.
fn random_program(inputs: usize, choices: &[(u8, u8, [u16; 3])]) -> String {
    let mut names: Vec<String> = (0..inputs).map(|input| format!("x{input}")).collect();
    let mut lines = String::new();
    let mut kinds = [0; 5];
    for (index, &(kind, table, operands)) in choices.iter().enumerate() {
        let [a, b, c] = operands.map(|operand| names[usize::from(operand) % names.len()].clone());
        let value = match kind {
            0 => format!("{a} ^ {b}"),
            1 => format!("{a} & {b}"),
            2 => format!("{a} | {b}"),
            3 => format!("~{a}"),
            _ => format!("lut {table:#04x} {a} {b} {c}"),
        };
        kinds[usize::from(kind)] += 1;
        let name = match (index + 3).checked_sub(choices.len()) {
            Some(output) => format!("s{output}"),
            None => format!("t{index}"),
        };
        lines = lines + &name + " = " + &value + "\n";
        names.push(name);
    }
    let kinds =
        kinds.iter().zip(["xor", "and", "or", "not", "lut"]).filter(|(count, _)| **count > 0);
    let kinds: Vec<String> = kinds.map(|(count, kind)| format!("{count} {kind}")).collect();
    let (last, total, kinds) = (inputs - 1, choices.len(), kinds.join(" + "));
    format!(
        "# name: any\n# inputs: x0..x{last}\n# outputs: s0..s2\n# gates: {total} = {kinds}\n\n{lines}"
    )
}

/// The truth table of a program with at most eight outputs.
fn table_of(program: &Program) -> Vec<u8> {
    let columns = program.truth_tables();
    let bit = |wire: usize, input: usize| (columns[wire][input / 64] >> (input % 64) & 1) as u8;
    let outputs = |input| {
        program
            .output_wires()
            .iter()
            .zip(0..)
            .fold(0, |sum, (&wire, index)| sum | bit(wire, input) << index)
    };
    (0..1 << program.inputs().len()).map(outputs).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_linear_program_computes_its_matrix(
        rows in prop::collection::vec(0u32..512, 1..20),
        columns in prop::collection::vec(0u32..256, 17..32),
        seed: u64,
    ) {
        let few_inputs = minimise(9, &rows, 3, seed).unwrap();
        prop_assert_eq!(few_inputs.matrix(), rows);
        // Many inputs and eight rows: solved as the transpose.
        let rows: Vec<u32> = (0..8).map(|bit| {
            columns.iter().zip(0..).fold(0, |row, (column, input)| row | (column >> bit & 1) << input)
        }).collect();
        let many_inputs = minimise(columns.len(), &rows, 3, seed).unwrap();
        prop_assert_eq!(many_inputs.matrix(), rows);
    }

    #[test]
    fn shared_sums_compute_their_matrix(
        inputs in 1usize..17,
        masks in prop::collection::vec(1u32..1 << 16, 1..17),
        seed: u64,
    ) {
        // At most nine inputs a row, which three parts of three hold.
        let ninth = |mask: &u32| (0..9).fold(*mask, |left, _| left & left.wrapping_sub(1));
        let outside = !((1_u32 << inputs) - 1);
        let rows: Vec<u32> = masks
            .iter()
            .map(|mask| (mask ^ ninth(mask)) & !outside)
            .map(|row| row.max(1))
            .collect();
        let effort = lut::Effort { seed, ..ADDITIONS };
        let program = sums::share((inputs, &rows), 3, effort, ("sums", &[])).unwrap();
        prop_assert_eq!(program.prove_linear(&rows), Ok(()));
    }

    #[test]
    fn a_program_keeps_its_function_as_lookups(
        inputs in 1usize..9,
        choices in prop::collection::vec((0u8..5, any::<u8>(), any::<[u16; 3]>()), 3..25),
        seed: u64,
    ) {
        let text = random_program(inputs, &choices);
        let program: Program = text.parse().unwrap();
        prop_assert_eq!(program.to_string(), text);
        let mapped = lut::map(&program, "mapped", &[], lut::Effort { seed, steps: 60 }).unwrap();
        prop_assert_eq!(mapped.prove(&table_of(&program)), Ok(()));
        prop_assert_eq!(mapped.to_string().parse::<Program>().unwrap(), mapped);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_small_table_is_computed(
        inputs in 2usize..6,
        entries in prop::collection::vec(any::<u8>(), 64),
        seed: u64,
    ) {
        let table: Vec<u8> = entries[..1 << inputs].iter().map(|entry| entry & 3).collect();
        let column = |bit: u8| table.iter().map(move |entry| entry >> bit & 1);
        // A constant has no two-input gate.
        prop_assume!((0..2).all(|bit| column(bit).any(|v| v == 0) && column(bit).any(|v| v == 1)));
        for gates in [Gates::TwoInput, Gates::Lookups] {
            let effort = lut::Effort { seed, steps: 500 };
            let found = small::search(&table, 2, gates, effort, ("any", &[])).unwrap();
            prop_assert_eq!(found.prove(&table), Ok(()));
        }
    }
}

#[test]
fn layers_out_of_reach_are_refused() {
    assert!(matches!(minimise(17, &[1; 17], 1, 0), Err(Error::Shape(_))));
    assert!(matches!(minimise(4, &[16], 1, 0), Err(Error::Shape(_))));
    assert_eq!(minimise(4, &[0, 8, 8], 1, 0).unwrap().outputs, [None, Some(3), Some(3)]);
    for (inputs, rows, parts) in [(4, [1, 0], 3), (4, [1, 16], 3), (4, [1, 15], 1), (17, [1, 1], 3)]
    {
        let found = sums::share((inputs, &rows), parts, ADDITIONS, ("sums", &[]));
        assert!(matches!(found, Err(Error::Shape(_))), "{inputs} inputs, {rows:?}, {parts} parts");
    }
    for (inputs, rows) in [(4, vec![]), (0, vec![1]), (32, vec![u32::MAX])] {
        let found = sums::share((inputs, &rows), 3, ADDITIONS, ("sums", &[]));
        assert!(matches!(found, Err(Error::Shape(_))), "{inputs} inputs, {rows:?}");
    }
}
