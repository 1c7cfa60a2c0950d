//! Small books with one thing wrong in each.

use std::{
    fs,
    path::{Path, PathBuf},
};

use mdbook_driver::MDBook;
use tempfile::TempDir;

use crate::{browser, check::check, page, record};

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
    write(&folder, "code/b.rs", "// ANCHOR: begun\n// ANCHOR_END: begun_end\n");
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

/// What is written over a file of the sound book, and what the check then says.
type Change = (&'static str, &'static str, &'static [&'static str]);

const CHANGES: [Change; 14] = [
    ("src/one.md", ONE, &[]),
    (
        "src/measured.md",
        "Figures\n\nof [then](three.md).\n",
        &["measured.md:3: three.md: there is no such file"],
    ),
    (
        "src/measured.md",
        "[below](#below), [two](parts/two.md#end)\n",
        &[
            "measured.md:1: #below: there is no such heading",
            "measured.md:1: parts/two.md#end: there is no such heading",
        ],
    ),
    // A heading of an included page counts.
    ("src/parts/two.md", "[figures](../one.md#measured)\n\n## Its end\n", &[]),
    (
        "src/measured.md",
        "{{#include ../code/a.rs:kernels}}\n",
        &["measured.md:1: ../code/a.rs has no anchor kernels"],
    ),
    (
        "src/measured.md",
        "{{#include ../code/b.rs:begun}}\n",
        &["measured.md:1: ../code/b.rs does not end its anchor begun"],
    ),
    (
        "src/measured.md",
        "\n{{#include ../code/c.rs:1:5}}\n",
        &["measured.md:2: cannot include ../code/c.rs: No such file or directory (os error 2)"],
    ),
    // Behind a backslash it is text.
    ("src/measured.md", "`\\{{#include file:anchor}}`\n", &[]),
    (
        "src/measured.md",
        "![](img/no.svg)\n\n<img alt=\"\" src=\"img/none.png\">\n",
        &[
            "measured.md:1: img/no.svg: there is no such file",
            "measured.md:3: img/none.png: there is no such file",
        ],
    ),
    (
        "src/measured.md",
        "[source](../code/a.rs)\n",
        &["measured.md:1: ../code/a.rs leads out of the book"],
    ),
    ("src/parts/three.md", "# Three\n", &["parts/three.md:1: SUMMARY.md does not have this page"]),
    (
        "src/measured.md",
        "\n{{#records Host memory, GB/s}}\n",
        &["measured.md:2: no record has a section Host memory, GB/s"],
    ),
    (
        "src/measured.md",
        "It runs at {{given 2 GB/s}}\nby the data sheet and at 3\nGB/s.\n",
        &["measured.md:2: 3 GB/s is typed; quote a record, or mark what it is"],
    ),
    // The part of the ciphers, where the sections of a page are always the same.
    (
        "src/SUMMARY.md",
        "# Summary\n\n- [Two](parts/two.md)\n\n# Part 3: the ciphers\n\n- [One](one.md)\n",
        &["one.md:1: the sections of a cipher's page are Description, Reference, Representation, \
           Circuit, CPU words, CUDA, The roof, Measurements, What failed"],
    ),
];

#[test]
fn what_is_wrong_is_found_and_nothing_else() {
    for (path, text, expected) in CHANGES {
        let folder = book();
        write(&folder, path, text);
        assert_eq!(problems(&folder), expected, "{path}: {text}");
    }
}

/// A page that needs two records in every way in which a page can.
const QUOTES: &str = "{{#figure aes-128 default CTR}} {{#records Table}}\n\n{{#records Table | a}}\n\n\
    {{#cell a / row / column}} [all](records/a/report.md)\n\n{{tried 4 s}}\n";

#[test]
fn a_record_that_a_page_needs_cannot_be_removed() {
    let folder = book();
    write(&folder, "src/measured.md", QUOTES);
    let table = "# A\n\n## Table\n\n| | column |\n|---|---|\n| row | 1 |\n";
    write(&folder, "record/a/report.md", table);
    let json = r#"{"environment": {"gpu": "none", "driver": "1", "commit": "c", "date": "d", "cpu": "x"},
        "measurements": [{"cipher": "aes", "key_bits": 128, "backend": "default", "work": "Ctr",
            "place": "Cpu", "bytes": 1024, "seconds": 1e-3, "samples": 11}]}"#;
    write(&folder, "record/a/report.json", json);
    let trials = "| page | figure | from |\n|---|---|---|\n| `measured.md` | 4 s | c |\n";
    write(&folder, "record/b-trials/report.md", trials);
    let found = |removed: Option<&str>| {
        if let Some(name) = removed {
            fs::remove_dir_all(folder.path().join("record").join(name)).expect("it is there");
        }
        let records = record::read(&folder.path().join("record")).expect("records");
        let problems = check(folder.path(), &records).expect("the book can be read");
        let lines = problems.iter().map(ToString::to_string);
        lines.map(|text| text.rsplit('/').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found(None), [""; 0]);
    let no_trial = "measured.md:7: the record of trials has no 4 s for this page";
    assert_eq!(found(Some("b-trials")), [no_trial]);
    let without = found(Some("a"));
    assert_eq!(without.len(), 6, "{without:?}");
}

#[test]
fn a_cipher_s_page_may_have_more_than_its_sections() {
    let folder = book();
    let (path, summary, expected) = CHANGES[CHANGES.len() - 1];
    write(&folder, path, summary);
    let (_, sections) = expected[0].split_once(" are ").expect("they are named");
    let text = sections.replace(", ", "\n\n### More\n\n## ");
    write(&folder, "src/one.md", &format!("## {text}\n\n{{{{#include measured.md}}}}\n"));
    assert_eq!(problems(&folder), [""; 0]);
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

#[test]
fn the_page_in_a_browser_has_its_data_where_there_is_a_module() {
    let folder = tempfile::tempdir().expect("a folder");
    let vectors = "# bcv1 cipher=rot mode=ecb expect=ok vectors=1\n\nid=one key=00 pt=01 ct=02\n";
    write(&folder, "vectors/rot_ecb.txt", vectors);
    write(&folder, "vectors/rot_cbc.txt", "not read");
    write(&folder, "module.wasm", "\0asm");
    let path = |name: &str| folder.path().join(name);
    let data = |module: Option<&Path>| {
        browser::write_data(&path("vectors"), module, folder.path()).expect("it is written");
        fs::read_to_string(path(browser::DATA)).expect("a script")
    };
    assert!(!data(None).contains("LANECRYPT"));
    let script = data(Some(&path("module.wasm")));
    for name in ["module", "vectors"] {
        assert!(script.contains(&format!("  {name}: \"H4sI")), "{script}"); // gzip, in base64
    }
    write(&folder, "vectors/rot_ecb.txt", &vectors.replace("ct=02", "ct=0"));
    let module = path("module.wasm");
    let refused = browser::write_data(&path("vectors"), Some(&module), folder.path());
    assert!(refused.is_err(), "half a byte");
    for (module, has) in [(None, false), (Some(&*module), true)] {
        browser::write_calculator(module, folder.path()).expect("it is written");
        let script = fs::read_to_string(path(browser::CALCULATOR)).expect("a script");
        assert_eq!(script.contains("CALCULATOR_MODULE = \"AGFzbQ==\""), has, "{script}");
    }
}

/// Where a text of a picture begins and ends, with letters of a wide font.
fn extent(text: &str) -> (f64, f64) {
    let (head, content) = text.split_once('>').expect("a tag ends");
    let attribute = |name: &str| {
        let (_, rest) = head.split_once(&format!("{name}=\""))?;
        rest.split('"').next()
    };
    let class = attribute("class").unwrap_or_default();
    let x: f64 = attribute(" x").and_then(|x| x.parse().ok()).expect("it has a place");
    let content = content.split("</text>").next().unwrap_or_default();
    let letters: usize =
        content.split('<').map(|part| part.rsplit('>').next().unwrap_or(part).len()).sum();
    let is = |name: &str| class.split(' ').any(|class| class == name);
    let size = if is("small") || is("name") { 12.0 } else { 14.0 };
    let width = 0.55 * size * letters as f64;
    if is("at-end") || is("at-left") {
        (x - width, x)
    } else if is("at-middle") || is("code") {
        (x - width / 2.0, x + width / 2.0)
    } else {
        (x, x + width)
    }
}

/// The pictures below a folder.
fn pictures(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let of_entry = |path: PathBuf| if path.is_dir() { pictures(&path) } else { vec![path] };
    let all = entries.flat_map(of_entry);
    all.filter(|path| path.extension().is_some_and(|end| end == "svg")).collect()
}

#[test]
fn no_picture_cuts_a_label_off() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["src/img", "../benches/record"].map(|folder| book.join(folder));
    let mut count = 0;
    for path in folders.iter().flat_map(|folder| pictures(folder)) {
        let text = fs::read_to_string(&path).expect("a picture");
        let (_, size) = text.split_once("viewBox=\"").expect("it has a size");
        let size: Vec<f64> =
            size.split(['"', ' ']).take(3).filter_map(|n| n.parse().ok()).collect();
        // What another program drew has no classes; what stands along a line is as high as it is long.
        let labels = text.split("<text").skip(1);
        for label in
            labels.filter(|label| label.contains("class=") && !label.contains("transform="))
        {
            let (start, end) = extent(label);
            let fits = start >= 0.0 && end <= size[2];
            assert!(fits, "{}: {start} to {end} of {}: {label}", path.display(), size[2]);
            count += 1;
        }
        assert!(!text.contains("class=\"chart\"") || text.contains("prefers-color-scheme: dark"));
    }
    assert!(count > 1000, "{count}");
}
