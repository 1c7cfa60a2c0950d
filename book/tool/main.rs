//! Builds the book into `book/out`: fills its tables and pictures from the recorded measurements, then
//! checks what mdBook does not, that every link, anchor, picture and included piece of source is
//! there.
//!
//! `lanecrypt-book [--check-only]`: what is wrong is listed as `file:line: what`, with exit code 1.
#![forbid(unsafe_code)]

mod check;
mod drawings;
mod figures;
mod include;
mod measured;
mod occupancy;
mod page;
mod record;
mod records;
mod svg;
#[cfg(test)]
mod tests;

use std::{env, fs, path::Path, process::ExitCode};

use mdbook_driver::MDBook;

use crate::record::Record;

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
    let records = record::read(&root.join("../benches/record"))?;
    if !generated_are_current(root, &records, check_only)? {
        return Ok(false);
    }
    let problems = check::check(root, &records)?;
    for problem in &problems {
        eprintln!("{problem}");
    }
    if !problems.is_empty() {
        return Ok(false);
    }
    if !check_only {
        let mut book = MDBook::load(root)?;
        records::add(&mut book, &records)?;
        book.build()?;
        let built = book.build_dir_for("html");
        records::copy_files(&records, &built)?;
        println!("{}", built.join("index.html").display());
    }
    Ok(true)
}

/// Writes what is made of the records and the kernels' tables, or only says whether it is current.
fn generated_are_current(
    root: &Path,
    records: &[Record],
    check_only: bool,
) -> anyhow::Result<bool> {
    let source = root.join("src");
    let mut files = measured::tables(records, &source);
    files.extend(figures::picture(records, &source));
    files.extend(drawings::pictures(&source));
    files.insert(source.join("occupancy-table.md"), occupancy::table(&root.join("../kernels"))?);
    let mut current = true;
    for (path, text) in files {
        if fs::read_to_string(&path).unwrap_or_default() == text {
            continue;
        }
        if check_only {
            let path = path.display();
            eprintln!("{path}: not what records and kernels say; run `cargo xtask book`");
            current = false;
        } else {
            fs::write(&path, text)?;
        }
    }
    Ok(current)
}
