//! Builds the porting guide into `book/out`, after checking what mdBook does not: that every link,
//! anchor, picture and included piece of source is there.
//!
//! `lanecrypt-book [--check-only]`: what is wrong is listed as `file:line: what`, with exit code 1.
#![forbid(unsafe_code)]

mod check;
mod include;
mod page;
#[cfg(test)]
mod tests;

use std::{env, path::Path, process::ExitCode};

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
