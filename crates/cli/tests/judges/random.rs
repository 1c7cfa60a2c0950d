//! `lanecrypt random`: the bytes of the library, wherever they are cut.

use std::fs;

use lanecrypt::random::{Draw, Generator};

use crate::command::{Outcome, ensure, failure, lanecrypt, printed};

pub(crate) fn the_library_s_bytes() -> Outcome {
    const LENGTH: usize = (33 << 20) + 5; // past two pieces
    let mut expected = vec![0; LENGTH];
    Generator::from_seed(7).stream(3)?.bytes(&mut expected)?;
    let seeded = ["--seed", "7", "--stream", "3"];
    let of = |words: &[&str]| {
        let mut command = lanecrypt(&["random"]);
        printed(command.args(words).args(seeded), b"")
    };
    ensure(of(&[&LENGTH.to_string()])? == expected, "the stream differs")?;
    for (from, length) in [(0, 0), (0, 1), (17, 4096), (16 << 20, 100)] {
        let found = of(&[&length.to_string(), "--from", &from.to_string()])?;
        ensure(found == expected[from..from + length], format!("{length} bytes from {from}"))?;
    }

    let folder = tempfile::tempdir()?;
    let file = folder.path().join("noise");
    let path = file.to_str().ok_or("a path that is text")?;
    of(&["1M", path])?;
    ensure(fs::read(&file)? == expected[..1 << 20], "the file differs")
}

pub(crate) fn numbers() -> Outcome {
    for (what, draw) in [
        ("units32", Draw::Units32),
        ("units64", Draw::Units64),
        ("normals32", Draw::Normals32),
        ("normals64", Draw::Normals64),
    ] {
        let mut expected = vec![0; 80_000];
        let mut random = Generator::from_seed(1);
        random.seek(800);
        random.draw(draw, &mut expected)?;
        let words = ["random", "80000", "--seed", "1", "--from", "800", "--as", what];
        ensure(printed(&mut lanecrypt(&words), b"")? == expected, what)?;
    }
    Ok(())
}

pub(crate) fn without_a_seed_nothing_repeats() -> Outcome {
    let drawn = || printed(&mut lanecrypt(&["random", "64"]), b"");
    let (first, second) = (drawn()?, drawn()?);
    ensure(first.len() == 64 && first != second, "64 bytes are the same twice")
}

pub(crate) fn what_cannot_be_drawn() -> Outcome {
    let cases: [(&[&str], &str); 7] = [
        (&["1Q"], "number of bytes"),
        (&["16", "--from", "4"], "--seed"),
        (&["16", "--stream", "4"], "--seed"),
        (&["16", "--seed", "1", "--stream", "281474976710656"], "stream 281474976710656"),
        (&["16", "--seed", "1", "--from", "18446744073709551610"], "2^64"),
        (&["17", "--as", "units32"], "a number has 4"),
        (&["16", "--seed", "1", "--from", "4", "--as", "normals64"], "a number has 8"),
    ];
    for (words, named) in cases {
        let (code, complaint) = failure(lanecrypt(&["random"]).args(words), b"")?;
        let is_right = code == 2 && complaint.contains(named);
        ensure(is_right, format!("{words:?}: exit code {code}: {complaint}"))?;
    }
    Ok(())
}
