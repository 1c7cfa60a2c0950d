//! Measuring what a user gets who replaces RustCrypto's ciphers by ours: a program of tests/user-crate, built
//! as a user's crate is, measures; this starts it and reads its lines.

use std::{
    ffi::OsStr,
    process::{Command, Stdio},
};

use lanecrypt_record::{Figure, Step};
use serde::Deserialize;

use super::passes::with_median;
use crate::bench::options::Options;

/// The environment variable with the program's path.
pub(crate) const PROGRAM: &str = "LANECRYPT_BENCH_SWAP";
/// What is said where there is none.
const ABSENT: &str = "the swap: not measured, as LANECRYPT_BENCH_SWAP names no program; \
    `cargo xtask bench-all` builds one";

/// Ciphers that replace one of RustCrypto's.
const CIPHERS: [&str; 7] = ["aes", "aria", "camellia", "des", "tdes", "tdes-eee", "sm4"];
/// Packets, pages, and a megabyte.
const SIZES: [usize; 8] = [16, 64, 256, 576, 1504, 4096, 16 << 10, 1 << 20];
const QUICK_SIZES: [usize; 4] = [16, 256, 1504, 16 << 10];
/// The program wants whole blocks of all ciphers.
const BLOCK: usize = 16;
/// Time for a cell, in milliseconds.
const MILLISECONDS: [u32; 2] = [40, 10];

/// A line of the program: nanoseconds of a call in each round, three ways. Where we have no such mode, the
/// third has no rounds.
#[derive(Deserialize)]
struct Cell {
    cipher: String,
    key_bits: usize,
    call: String,
    bytes: usize,
    theirs: Vec<f64>,
    ours_under_theirs: Vec<f64>,
    ours: Vec<f64>,
}

impl Cell {
    fn figures(self) -> Vec<Figure> {
        let figure = |(step, nanoseconds): (Step, Vec<f64>)| {
            let seconds: Vec<f64> = nanoseconds.iter().map(|time| time / 1e9).collect();
            let fastest_seconds = seconds.iter().copied().min_by(f64::total_cmp)?;
            let figure = Figure {
                cipher: self.cipher.clone(),
                key_bits: self.key_bits,
                call: self.call.clone(),
                step,
                bytes: self.bytes,
                fastest_seconds: Some(fastest_seconds),
                is_peer: step == Step::Theirs,
                ..Figure::default()
            };
            Some(with_median(figure, seconds))
        };
        let ways = [
            (Step::Theirs, self.theirs),
            (Step::Swapped, self.ours_under_theirs),
            (Step::Ours, self.ours),
        ];
        ways.into_iter().filter_map(figure).collect()
    }
}

/// Measures the chosen ciphers; without the program it says so, or fails where nothing else was asked for.
///
/// # Errors
/// A sentence naming what failed.
pub(crate) fn measure(options: &Options) -> Result<Vec<Figure>, String> {
    let types = types(options);
    let sizes = options.sizes(&SIZES, &QUICK_SIZES);
    let sizes: Vec<usize> = sizes.into_iter().filter(|bytes| bytes.is_multiple_of(BLOCK)).collect();
    if types.is_empty() || sizes.is_empty() {
        return Ok(Vec::new());
    }
    match std::env::var_os(PROGRAM) {
        Some(program) => read(&run(&program, &types, &sizes, options.quick)?),
        None if options.swap => Err(ABSENT.into()),
        None => {
            eprintln!("{ABSENT}");
            Ok(Vec::new())
        }
    }
}

/// The program's names of the chosen ciphers with their keys.
fn types(options: &Options) -> Vec<String> {
    let replacing = options.ciphers().filter(|cipher| CIPHERS.contains(&cipher.name));
    let keyed = replacing.flat_map(|cipher| {
        options.key_bytes(cipher).iter().map(|bytes| format!("{}-{}", cipher.name, 8 * bytes))
    });
    keyed.collect()
}

/// What the program prints.
fn run(
    program: &OsStr,
    types: &[String],
    sizes: &[usize],
    is_quick: bool,
) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(["--milliseconds", &MILLISECONDS[usize::from(is_quick)].to_string()]);
    for bytes in sizes {
        command.args(["--bytes", &bytes.to_string()]);
    }
    let failed =
        |what: &dyn std::fmt::Display| format!("the swap, {}: {what}", program.to_string_lossy());
    let output = command.args(types).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| failed(&error))
}

/// The figures in the program's lines.
fn read(lines: &str) -> Result<Vec<Figure>, String> {
    let cell = |line: &str| {
        let cell: Result<Cell, _> = serde_json::from_str(line);
        cell.map(Cell::figures).map_err(|error| format!("the swap's line {line:?}: {error}"))
    };
    Ok(lines.lines().map(cell).collect::<Result<Vec<_>, String>>()?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_figure_for_each_way_that_there_is() {
        let lines = r#"{"cipher":"aes","key_bits":128,"call":"key","bytes":0,"theirs":[40,36,50],"ours_under_theirs":[400,396,404],"ours":[]}
{"cipher":"des","key_bits":64,"call":"ctr, kept","bytes":16,"theirs":[8],"ours_under_theirs":[4],"ours":[2]}"#;
        let figures = read(lines).expect("they are lines");
        let of = |f: &Figure| (f.cipher.clone(), f.step, f.is_peer, f.bytes);
        assert_eq!(
            figures.iter().map(of).collect::<Vec<_>>(),
            [
                ("aes".into(), Step::Theirs, true, 0),
                ("aes".into(), Step::Swapped, false, 0),
                ("des".into(), Step::Theirs, true, 16),
                ("des".into(), Step::Swapped, false, 16),
                ("des".into(), Step::Ours, false, 16),
            ]
        );
        let key = &figures[1];
        assert_eq!((key.key_bits, &*key.call, key.samples), (128, "key", 3));
        assert!((key.seconds - 400e-9).abs() < 1e-15, "the median");
        assert!((key.undisturbed_seconds() - 396e-9).abs() < 1e-15, "the fastest");
        assert!(read("cipher,key_bits").unwrap_err().contains("key_bits"));
    }

    #[test]
    fn types_are_those_that_replace_one() {
        let of = |arguments: &[&str]| types(&Options::parse_from(arguments));
        assert_eq!(of(&["bench-all", "--cipher", "hight"]), [""; 0]);
        let quick = ["aes-128", "aria-128", "camellia-128", "des-64", "tdes-128", "sm4-128"];
        assert_eq!(of(&["bench-all", "--quick"]), quick);
        let named = ["tdes-eee-128", "tdes-eee-192"];
        assert_eq!(of(&["bench-all", "--cipher", "tdes-eee"]), named);
    }

    /// A type that the program has and this does not ask for would never be measured.
    #[test]
    fn types_are_those_of_the_program() {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/user-crate/src/swap/main.rs");
        let program = std::fs::read_to_string(program).expect("the program's source");
        let (_, list) = program.split_once("\nciphers! {\n").expect("it has a list of types");
        let (list, _) = list.split_once("\n}").expect("the list has an end");
        let name = |line: &str| {
            let [_, name, bits] = line.split('"').collect::<Vec<_>>()[..] else { return None };
            Some(format!("{name}-{}", bits.trim_start().split_once(':')?.0))
        };
        let mut named: Vec<_> = list.lines().map(|line| name(line).expect(line)).collect();
        let all = CIPHERS.iter().flat_map(|name| ["--cipher", name]);
        let mut asked_for = types(&Options::parse_from(["bench-all"].into_iter().chain(all)));
        named.sort();
        asked_for.sort();
        assert_eq!(asked_for, named);
    }

    #[test]
    fn a_program_that_fails_is_named() {
        let failed = run(OsStr::new("false"), &[], &[], true).unwrap_err();
        assert!(failed.starts_with("the swap, false: "), "{failed}");
    }
}
