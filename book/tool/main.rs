//! Builds the porting guide into `book/out`: fills its tables from the recorded measurements, then
//! checks what mdBook does not, that every link, anchor, picture and included piece of source is
//! there.
//!
//! `lanecrypt-book [--check-only]`: what is wrong is listed as `file:line: what`, with exit code 1.
#![forbid(unsafe_code)]

mod check;
mod include;
mod measured;
mod page;
#[cfg(test)]
mod tests;

use std::{env, fs, path::Path, process::ExitCode};

use mdbook_driver::MDBook;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let check_only = match arguments[..] {
        [] => false,
        ["--check-only"] => true,
        _ => {
            eprintln!("usage: lanecrypt-book [--check-only]");
            return ExitCode::from(2);
        }
    };
    match run(Path::new(env!("CARGO_MANIFEST_DIR")), check_only) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("lanecrypt-book: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Checks the book in `root` and builds it; `false` where the check found something.
fn run(root: &Path, check_only: bool) -> anyhow::Result<bool> {
    if !tables_are_current(root, check_only)? {
        return Ok(false);
    }
    let problems = check::check(root)?;
    for problem in &problems {
        eprintln!("{problem}");
    }
    if !problems.is_empty() {
        return Ok(false);
    }
    if !check_only {
        let book = MDBook::load(root)?;
        book.build()?;
        let index = book.build_dir_for("html").join("index.html");
        println!("{}", index.display());
    }
    Ok(true)
}

/// Writes the tables of measurements, or only says whether they are those of the newest record.
fn tables_are_current(root: &Path, check_only: bool) -> anyhow::Result<bool> {
    let mut current = true;
    for (path, text) in measured::tables(&root.join("../benches/record"), &root.join("src"))? {
        if fs::read_to_string(&path).unwrap_or_default() == text {
            continue;
        }
        if check_only {
            eprintln!("{}: not what benches/record says; run `cargo xtask book`", path.display());
            current = false;
        } else {
            fs::write(&path, text)?;
        }
    }
    Ok(current)
}
