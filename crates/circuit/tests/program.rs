//! The text format: what is read, what is refused and why, what is written; and the proof.

use lanecrypt_circuit::{Error, Program, TARGETS};
use lanecrypt_reference::sbox;

const HEAD: &str = "# name: adder\n# inputs: x0..x1\n# outputs: s0..s1\n";
const ADDER: &str = "# name: adder\n# inputs: x0..x1\n# outputs: s0..s1\n# gates: 2 = 1 xor + 1 and\n\
    # source: any book,\n#   any page\n\n# the sum\ns0 = x0 ^ x1\n\n# the carry\ns1 = x0 & x1\n# end\n";

/// The error of a program with these gate lines; the first of them is line 5.
fn error_of(gates: &str) -> Error {
    let text = format!("{HEAD}# gates: 2 = 1 xor + 1 and\n{gates}");
    text.parse::<Program>().expect_err("the text is wrong")
}

#[test]
fn a_text_comes_back_as_it_was() {
    let program: Program = ADDER.parse().unwrap();
    assert_eq!(program.to_string(), ADDER);
    assert_eq!(program.header("source"), Some("any book,\nany page"));
    for target in TARGETS {
        let program = target.lookups().unwrap();
        assert_eq!(program.to_string().parse::<Program>().unwrap(), program);
    }
}

#[test]
fn a_program_is_proved_on_all_inputs() {
    let program: Program = ADDER.parse().unwrap();
    assert_eq!(program.prove(&[0, 1, 1, 2]), Ok(()));
    let found = program.prove(&[0, 1, 0, 3]).unwrap_err();
    let name = "adder".to_owned();
    assert_eq!(found, Error::Disproved { name, input: 2, expected: 0, found: 1 });
    assert!(matches!(program.prove(&[0; 256]), Err(Error::Shape(_))));
}

#[test]
fn every_operation_has_its_truth_table() {
    let text = "# name: all\n# inputs: x0..x2\n# outputs: s0..s4\n\
        # gates: 5 = 1 xor + 1 and + 1 or + 1 not + 1 lut\n\
        s0 = x0 ^ x1\ns1 = x0 & x1\ns2 = x0 | x1\ns3 = ~x0\ns4 = lut 0x2e x2 x1 x0\n";
    let expected = |input: u8| {
        let [x0, x1] = [input & 1, input >> 1 & 1];
        // With c = x0, b = x1 and a = x2 the bit of the immediate is the input itself.
        (x0 ^ x1) | (x0 & x1) << 1 | (x0 | x1) << 2 | (x0 ^ 1) << 3 | (0x2E >> input & 1) << 4
    };
    let table: Vec<u8> = (0..8).map(expected).collect();
    assert_eq!(text.parse::<Program>().unwrap().prove(&table), Ok(()));
}

#[test]
fn wrong_texts_are_refused_with_their_line() {
    let wire = |name: &str| name.to_owned();
    assert_eq!(error_of("s0 = x0 ^ q\n"), Error::UnknownWire { line: 5, wire: wire("q") });
    let twice = Error::AssignedTwice { line: 6, wire: wire("t") };
    assert_eq!(error_of("t = x0 ^ x1\nt = x0 & x1\n"), twice);
    let input_assigned = Error::AssignedTwice { line: 5, wire: wire("x0") };
    assert_eq!(error_of("x0 = x0 ^ x1\n"), input_assigned);
    assert_eq!(error_of("s0 = x0 ^ x1\n"), Error::MissingOutput { wire: wire("s1") });
    for bad in [
        "s0 = x0 + x1",
        "s0 x0 ^ x1",
        "S0 = x0 ^ x1",
        "s0 = x0",
        "s0 = lut 96 x0 x1 x0",
        "s0 = lut 0x100 x0 x1 x0",
    ] {
        assert_eq!(error_of(&format!("{bad}\n")), Error::Syntax { line: 5, text: wire(bad) });
    }
}

#[test]
fn wrong_headers_are_refused() {
    let stated = "2 = 1 xor + 1 and".to_owned();
    let real = "2 = 2 xor".to_owned();
    assert_eq!(error_of("s0 = x0 ^ x1\ns1 = s0 ^ x1\n"), Error::HeaderCount { stated, real });
    let parse = |text: &str| text.parse::<Program>().unwrap_err();
    assert_eq!(parse("s0 = x0 ^ x1\n"), Error::Header { key: "inputs" });
    assert_eq!(parse("# inputs: x0..x1\n"), Error::Header { key: "outputs" });
    assert_eq!(
        parse(&format!("{HEAD}s0 = x0 ^ x1\ns1 = x0 & x1\n")),
        Error::Header { key: "gates" }
    );
    for inputs in ["x0", "x0..y1", "0..1", "x1..x0", "x0..x16", "x0..x300"] {
        let text = ADDER.replace("x0..x1", inputs);
        assert!(text.parse::<Program>().is_err(), "{inputs}");
    }
}

#[test]
fn a_corrupted_circuit_is_disproved_and_the_input_named() {
    let table = sbox::AES;
    let text = TARGETS[0].two_input().unwrap().to_string();
    let line = text.lines().find(|line| line.starts_with("z5 = ")).unwrap();
    let corrupt = text.replace(line, &line.replace('&', "|"));
    let counts = TARGETS[0].two_input().unwrap().counts();
    let mut changed = counts;
    changed.and -= 1;
    changed.or += 1;
    let corrupt = corrupt.replace(&counts.to_string(), &changed.to_string());
    let program: Program = corrupt.parse().unwrap();
    let error = program.prove(&table).unwrap_err();
    let Error::Disproved { input, expected, found, .. } = error else { panic!("{error}") };
    assert_eq!(expected, table[input]);
    assert_ne!(found, expected);
    let message = error.to_string();
    assert!(message.starts_with(&format!("aes_sbox: wrong for input {input:#04x}")), "{message}");
    // It is the first: with the entries up to it set right, the proof gets further.
    let mut patched = table;
    patched[input] = found;
    let later = program.prove(&patched).unwrap_err();
    assert!(matches!(later, Error::Disproved { input: next, .. } if next > input), "{later}");
}
