//! The committed circuits of linear layers: proved, as small as claimed, and found again.

use lanecrypt_circuit::{Error, LAYERS, Program, derive_layers};

/// Name, sums of two, sums of three: a search that finds fewer lowers these.
const SIZES: [(&str, usize, usize); 2] = [("aria_a", 48, 32), ("camellia_p", 16, 17)];

#[test]
fn the_committed_circuits_are_proved_and_as_small_as_claimed() {
    assert_eq!(LAYERS.len(), SIZES.len());
    for (layer, size) in LAYERS.iter().zip(SIZES) {
        let programs = [layer.two_input().unwrap(), layer.lookups().unwrap()];
        for program in &programs {
            assert_eq!(program.prove_linear(&(layer.rows)()), Ok(()));
        }
        let [gates, sums] = programs.map(|program| program.counts());
        assert_eq!((layer.name, gates.total(), sums.total()), size);
        assert_eq!((gates.xor, sums.xor + sums.lut), (gates.total(), sums.total()));
    }
}

#[test]
fn a_wrong_row_and_a_wrong_gate_are_caught() {
    let layer = &LAYERS[0];
    let program = layer.two_input().unwrap();
    let mut rows = (layer.rows)();
    rows[3] ^= 1;
    let name = "aria_a".to_owned();
    assert_eq!(program.prove_linear(&rows), Err(Error::WrongRow { name: name.clone(), row: 3 }));
    assert!(matches!(program.prove_linear(&rows[1..]), Err(Error::Shape(_))));
    // A product in place of the sum that is output 0, wherever it stands.
    let text = program.to_string().replace("48 = 48 xor", "48 = 47 xor + 1 and");
    let line = text.lines().find(|line| line.starts_with("y0 = ")).unwrap();
    let broken: Program = text.replace(line, &line.replace('^', "&")).parse().unwrap();
    let found = broken.prove_linear(&(layer.rows)());
    assert!(matches!(found, Err(Error::WrongRow { row: 0, .. })), "{found:?}");
}

#[test]
fn the_searches_find_the_committed_circuits_again() {
    for file in derive_layers(None).unwrap() {
        let path = format!("{}/../../{}", env!("CARGO_MANIFEST_DIR"), file.path);
        assert_eq!(file.contents, std::fs::read_to_string(path).unwrap(), "{}", file.path);
    }
}
