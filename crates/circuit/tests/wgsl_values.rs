//! What functions in WGSL compute, read from their text: three-input functions in gates, and the way in and out of
//! planes.

use std::{array, collections::HashMap};

use lanecrypt_circuit::emit_wgsl;
use lanecrypt_reference::plaintext::PlaintextStream;
use lanecrypt_slicing::record::{Gate, Node, Plan, Recording, Step};

/// What kernels are given to exchange bits with.
const MASKS: [u32; 4] = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff];

/// An expression, its names, and how far it was read.
struct Reader<'a> {
    tokens: Vec<&'a str>,
    at: usize,
    values: &'a HashMap<String, u32>,
    /// Operations so far.
    operations: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, values: &'a HashMap<String, u32>) -> Self {
        let mut tokens = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '.';
            let length = match rest.find(|c| !is_word(c)).unwrap_or(rest.len()) {
                0 if rest.starts_with("<<") || rest.starts_with(">>") => 2,
                length => length.max(1),
            };
            tokens.push(&rest[..length]);
            rest = rest[length..].trim_start();
        }
        Self { tokens, at: 0, values, operations: 0 }
    }

    fn next(&mut self) -> &'a str {
        self.at += 1;
        self.tokens[self.at - 1]
    }

    /// WGSL has parentheses wherever operators are not the same, and around a shift within a shift.
    fn value(&mut self) -> u32 {
        let mut value = self.operand();
        let mut before = None;
        while let Some(&sign) =
            self.tokens.get(self.at).filter(|token| !matches!(**token, ")" | ","))
        {
            self.at += 1;
            self.operations += 1;
            let other = self.operand();
            assert!(before.is_none_or(|before| before == sign), "{:?}", self.tokens);
            value = match sign {
                "^" => value ^ other,
                "&" => value & other,
                "|" => value | other,
                "<<" | ">>" if before.is_some() => panic!("{:?}", self.tokens),
                "<<" => value << other,
                ">>" => value >> other,
                _ => panic!("{sign} in {:?}", self.tokens),
            };
            before = Some(sign);
        }
        value
    }

    fn operand(&mut self) -> u32 {
        match self.next() {
            "~" => {
                self.operations += 1;
                !self.operand()
            }
            "(" => self.up_to(")"),
            "insertBits" => {
                assert_eq!(self.next(), "(");
                let [bits, new, offset, count] = [",", ",", ",", ")"].map(|end| self.up_to(end));
                let mask = ((1 << count) - 1) << offset;
                bits & !mask | new << offset & mask
            }
            token => match token.strip_suffix('u').map(str::parse) {
                Some(Ok(number)) => number,
                _ => self.values[token],
            },
        }
    }

    fn up_to(&mut self, end: &str) -> u32 {
        let value = self.value();
        assert_eq!(self.next(), end);
        value
    }
}

/// What a function of a kernel's text makes of planes, and how many operations its statements have.
fn results(text: &str, function: &str, planes: &[u32]) -> (Vec<u32>, usize) {
    let names = ["x", "y", "z", "w"].map(|name| format!("parameters.masks.{name}"));
    let mut values: HashMap<String, u32> = names.into_iter().zip(MASKS).collect();
    values.extend(planes.iter().enumerate().map(|(i, &plane)| (format!("p.p{i}"), plane)));
    let (_, body) = text.split_once(&format!("fn {function}(")).expect("it is there");
    let (body, _) = body.split_once("\n}\n").expect("it ends");
    let (_, body) = body.split_once("{\n").expect("it begins");
    let mut operations = 0;
    for statement in body.split(';').map(str::trim) {
        if let Some(declaration) = statement.strip_prefix("let ") {
            let (name, expression) = declaration.split_once(" = ").expect("it has a value");
            let mut reader = Reader::new(expression, &values);
            let value = reader.value();
            assert_eq!(reader.at, reader.tokens.len(), "{expression}");
            operations += reader.operations;
            values.insert(name.to_owned(), value);
        } else {
            let (_, list) = statement.split_once('(').expect("it returns planes");
            let list = list.strip_suffix(')').expect("the list ends");
            return (list.split(',').map(|name| values[name.trim()]).collect(), operations);
        }
    }
    panic!("{function} returns nothing")
}

fn text_of(recording: Recording) -> Result<String, String> {
    let steps = vec![Step { name: "it", recording }];
    let plan = Plan { planes: 64, steps, wholes: Vec::new() };
    emit_wgsl("toy", &plan, 0).map_err(|error| error.to_string())
}

#[test]
fn every_table_has_an_expression() {
    let inputs = [0xf0, 0xcc, 0xaa];
    let expression = |table: u8| {
        let mut nodes: Vec<Node> = (0..3).map(Node::Input).collect();
        nodes.push(Node::Gate(Gate::Lut(table, [0, 1, 2])));
        let text = text_of(Recording::new(nodes, vec![3, 1, 2])).expect("it has text");
        let (results, operations) = results(&text, "step_it", &inputs);
        assert_eq!(results[0] & 0xff, u32::from(table), "{text}");
        operations
    };
    let operations: Vec<usize> = (0..=255).map(expression).collect();
    // A choice, a majority, and a sum.
    for (table, expected) in [(0xf0, 0), (0x0f, 1), (0xca, 3), (0xe8, 4), (0x96, 2), (0x80, 2)] {
        assert_eq!(operations[table], expected, "{table:#x}");
    }
    assert!(operations.iter().all(|&operations| operations <= 5));
}

#[test]
fn blocks_become_planes_and_planes_blocks() {
    let text = text_of(Recording::new(vec![Node::Input(0)], vec![0])).expect("it has text");
    let mut stream = PlaintextStream::new(1);
    let blocks: [u64; 32] = array::from_fn(|_| {
        let mut block = [0; 8];
        stream.fill(&mut block);
        u64::from_le_bytes(block)
    });
    let words: Vec<u32> =
        blocks.iter().flat_map(|&block| [block as u32, (block >> 32) as u32]).collect();
    let (planes, _) = results(&text, "slice", &words);
    let bit = |plane: usize, lane: usize| (blocks[lane] >> plane & 1) as u32;
    let plane = |plane| (0..32).fold(0, |bits, lane| bits | bit(plane, lane) << lane);
    assert_eq!(planes, (0..64).map(plane).collect::<Vec<u32>>());
    assert_eq!(results(&text, "unslice", &planes).0, words);
}

#[test]
fn exchanges_have_text_at_five_distances() {
    let exchange = |distance| {
        let rows = [0, 1];
        let row = |is_high| Node::Exchange { distance, rows, is_high };
        let nodes = vec![Node::Input(0), Node::Input(1), row(false), row(true)];
        text_of(Recording::new(nodes, vec![2, 3]))
    };
    for distance in [1, 2, 4, 8, 16] {
        let [low, high] = [0x0123_4567, 0x89ab_cdef];
        let (rows, _) = results(&exchange(distance).expect("it has text"), "step_it", &[low, high]);
        let [mut bits, mut others] = [low, high].map(|row: u32| array::from_fn(|i| row >> i & 1));
        Node::exchange(distance as usize, &mut bits, &mut others);
        let row = |bits: [u32; 32]| bits.iter().rev().fold(0, |row, bit| row << 1 | bit);
        assert_eq!(rows, [row(bits), row(others)], "{distance}");
    }
    for distance in [0, 3, 32] {
        let fault = exchange(distance).expect_err("it is no power of two below 32");
        assert!(fault.contains("no text in WGSL"), "{fault}");
    }
}
