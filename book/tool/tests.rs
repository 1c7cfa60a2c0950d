//! Small books with one thing wrong in each.

use std::{fs, path::Path};

use mdbook_driver::MDBook;
use tempfile::TempDir;

use crate::{check::check, page};

const SUMMARY: &str = "# Summary\n\n- [One](one.md)\n- [Two](parts/two.md)\n";
const ONE: &str = "# One\n\nSee [two](parts/two.md#its-end).\n\n{{#include measured.md}}\n";
const TWO: &str = "# Two\n\n[back](../one.md), ![a picture](../img/bits.svg)\n\n## Its `end`\n\n\
    ```rust\n{{#include ../../code/a.rs:kernel}}\n```\n";
const CODE: &str = "// ANCHOR: kernel\nfn kernel() {}\n// ANCHOR_END: kernel\n";

/// A book with nothing wrong.
fn book() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write(&folder, "src/SUMMARY.md", SUMMARY);
    write(&folder, "src/one.md", ONE);
    write(&folder, "src/measured.md", "## Measured\n");
    write(&folder, "src/parts/two.md", TWO);
    write(&folder, "src/img/bits.svg", "<svg/>");
    write(&folder, "code/a.rs", CODE);
    folder
}

fn write(folder: &TempDir, path: &str, text: &str) {
    let path = folder.path().join(path);
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// What the check reports, with paths from the book's folder.
fn problems(folder: &TempDir) -> Vec<String> {
    let prefix = format!("{}/src/", folder.path().display());
    let problems = check(folder.path(), &[]).expect("the book can be read");
    let texts = problems.iter().map(ToString::to_string);
    texts.map(|text| text.replace(&prefix, "")).collect()
}

#[test]
fn a_sound_book_has_no_problem() {
    assert_eq!(problems(&book()), [""; 0]);
}

#[test]
fn a_broken_link_is_found() {
    let folder = book();
    write(&folder, "src/measured.md", "Figures\n\nof [then](three.md).\n");
    assert_eq!(problems(&folder), ["measured.md:3: three.md: there is no such file"]);
}

#[test]
fn a_broken_anchor_is_found() {
    let folder = book();
    write(&folder, "src/measured.md", "[below](#below), [two](parts/two.md#end)\n");
    assert_eq!(
        problems(&folder),
        [
            "measured.md:1: #below: there is no such heading",
            "measured.md:1: parts/two.md#end: there is no such heading",
        ]
    );
}

#[test]
fn a_heading_of_an_included_page_counts() {
    let folder = book();
    write(&folder, "src/parts/two.md", "[figures](../one.md#measured)\n\n## Its end\n");
    assert_eq!(problems(&folder), [""; 0]);
}

#[test]
fn a_missing_include_anchor_is_found() {
    let folder = book();
    write(&folder, "src/measured.md", "{{#include ../code/a.rs:kernels}}\n");
    assert_eq!(problems(&folder), ["measured.md:1: ../code/a.rs has no anchor kernels"]);
}

#[test]
fn an_anchor_without_end_is_found() {
    let folder = book();
    write(&folder, "src/measured.md", "{{#include ../code/a.rs:kernel}}\n");
    write(&folder, "code/a.rs", "// ANCHOR: kernel\n// ANCHOR_END: kernel_end\n");
    let found = problems(&folder);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0], "measured.md:1: ../code/a.rs does not end its anchor kernel");
}

#[test]
fn a_missing_included_file_is_found() {
    let folder = book();
    write(&folder, "src/measured.md", "\n{{#include ../code/b.rs:1:5}}\n");
    let found = problems(&folder);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("measured.md:2: cannot include ../code/b.rs: "), "{found:?}");
}

#[test]
fn an_escaped_include_is_text() {
    let folder = book();
    write(&folder, "src/measured.md", "`\\{{#include file:anchor}}`\n");
    assert_eq!(problems(&folder), [""; 0]);
}

#[test]
fn a_missing_picture_is_found() {
    let folder = book();
    write(&folder, "src/measured.md", "![](img/no.svg)\n\n<img alt=\"\" src=\"img/none.png\">\n");
    assert_eq!(
        problems(&folder),
        [
            "measured.md:1: img/no.svg: there is no such file",
            "measured.md:3: img/none.png: there is no such file",
        ]
    );
}

#[test]
fn a_link_out_of_the_book_is_found() {
    let folder = book();
    write(&folder, "src/measured.md", "[source](../code/a.rs)\n");
    assert_eq!(problems(&folder), ["measured.md:1: ../code/a.rs leads out of the book"]);
}

#[test]
fn a_page_outside_the_table_of_contents_is_found() {
    let folder = book();
    write(&folder, "src/measured.md", "\n");
    write(&folder, "src/parts/three.md", "# Three\n");
    assert_eq!(problems(&folder), ["parts/three.md:1: SUMMARY.md does not have this page"]);
}

#[test]
fn a_cipher_s_page_has_the_sections_of_the_others() {
    let folder = book();
    let summary =
        "# Summary\n\n- [Two](parts/two.md)\n\n# Part 3: the ciphers\n\n- [One](one.md)\n";
    write(&folder, "src/SUMMARY.md", summary);
    let found = problems(&folder);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("one.md:1: the sections of a cipher's page are "), "{found:?}");
    let sections = [
        "Description",
        "Reference",
        "Representation",
        "Circuit",
        "CPU words",
        "CUDA",
        "The roof",
        "Measurements",
        "What failed",
    ];
    let text = sections.map(|section| format!("## {section}\n\n### More\n")).join("\n");
    write(&folder, "src/one.md", &format!("{text}\n{{{{#include measured.md}}}}\n"));
    assert_eq!(problems(&folder), [""; 0]);
}

#[test]
fn a_table_that_no_record_has_is_found() {
    let folder = book();
    write(&folder, "src/measured.md", "\n{{#records Host memory, GB/s}}\n");
    let found = ["measured.md:2: no record has a section Host memory, GB/s"];
    assert_eq!(problems(&folder), found);
}

#[test]
fn headings_have_the_ids_that_mdbook_gives_them() {
    let folder = book();
    let headings = "# One\n\n## A `T-table`, 4 × 32: p_1 & *more*\n\n## Twice\n\n## Twice\n\n\
        ### Named {#by-name}\n";
    write(&folder, "src/one.md", headings);
    build(folder.path());
    let html = fs::read_to_string(folder.path().join("out/one.html")).expect("a built page");
    let ids = page::ids(headings);
    assert_eq!(ids.len(), 5);
    for id in ids {
        assert!(html.contains(&format!("id=\"{id}\"")), "{id}");
    }
}

/// Builds with the project's own settings.
fn build(root: &Path) {
    for file in ["book.toml", "style.css"] {
        let original = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        fs::copy(original, root.join(file)).expect("the settings");
    }
    let book = MDBook::load(root).expect("a book");
    book.build().expect("it builds");
}
