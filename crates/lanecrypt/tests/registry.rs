//! The registry is whole: every cipher that a crate describes is in it, and what people read of its
//! backends is what it says. That every kernel module is run by some backend is a trial of
//! conformance/main.rs, which has the kernels.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use lanecrypt::{
    CIPHERS, ConstantTime,
    registry::{Backend, Platform},
};

/// The Rust files under a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry can be read").path());
    let of = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    paths.flat_map(of).filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

/// The code of every crate's `src`, without comments, so also without examples.
fn code() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/ has this one");
    let folders = fs::read_dir(crates).expect("crates/ can be read");
    let folders = folders.map(|entry| entry.expect("an entry can be read").path().join("src"));
    let without_comments = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        (path, lines.collect::<Vec<_>>().join("\n"))
    };
    folders.flat_map(|folder| sources(&folder)).map(without_comments).collect()
}

/// The names of the ciphers that a file describes to others; what is not public is of tests.
fn described_in(text: &str) -> impl Iterator<Item = &str> {
    let statics = text.split("\npub static ").skip(1).filter_map(|text| {
        let (_, description) =
            text.split(';').next()?.split_once(": CipherDescription = CipherDescription {")?;
        description.split('"').nth(1)
    });
    // Crates with several descriptions write them by a macro of this name.
    statics.chain(text.split("\ndescribe!(").skip(1).filter_map(|text| text.split('"').nth(1)))
}

#[test]
fn every_description_is_registered() {
    let mut described = BTreeSet::new();
    for (path, text) in code() {
        for name in described_in(&text) {
            assert!(
                described.insert(name.to_owned()),
                "{}: a second cipher {name:?}",
                path.display()
            );
        }
    }
    let registered: BTreeSet<_> = CIPHERS.iter().map(|cipher| cipher.name.to_owned()).collect();
    assert_eq!(registered.len(), CIPHERS.len(), "a cipher is registered twice");
    assert_eq!(described, registered);
}

/// What loads a library by a name from the environment is in nobody's build but the tests'.
#[test]
fn host_kernels_are_registered_under_their_feature_only() {
    let mut backends = CIPHERS.iter().flat_map(|cipher| cipher.backends);
    let is_there = backends.any(|backend| backend.platform == Platform::CudaOnHost);
    assert_eq!(is_there, cfg!(feature = "host-kernels"));
}

#[test]
fn names_are_found_by_lists() {
    for cipher in CIPHERS {
        let is_good = |name: &str| {
            let of_a_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            !name.is_empty() && name.chars().all(of_a_name)
        };
        assert!(is_good(cipher.name), "{:?}", cipher.name);
        let ids: BTreeSet<_> = cipher.backends.iter().map(|backend| backend.id).collect();
        assert_eq!(ids.len(), cipher.backends.len(), "an id of {} is there twice", cipher.name);
        assert!(ids.iter().all(|id| is_good(id)), "{ids:?}");
        assert_eq!(cipher.backends[0].id, "reference");
    }
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let text = |cipher, backend, key: &[u8]| {
        lanecrypt::engine(cipher, backend, key).map(drop).unwrap_err().to_string()
    };
    let found = text("rot13", "default", &[]);
    assert!(found.starts_with("there is no cipher \"rot13\"; known are aes, aria"), "{found}");
    let found = text("hight", "aes-sse2", &[0; 16]);
    let ids: Vec<_> = lanecrypt::hight::HIGHT.backends.iter().map(|it| it.id).collect();
    let expected = format!("hight has no backend \"aes-sse2\"; it has {}", ids.join(", "));
    assert_eq!(found, expected);
}

#[cfg(feature = "tune")]
#[test]
fn every_cipher_has_kernels_for_users() {
    for cipher in CIPHERS {
        let [fastest, constant_time] = [lanecrypt::fastest_family, lanecrypt::constant_time_family]
            .map(|of| {
                of(cipher.name).expect("a cipher").unwrap_or_else(|| panic!("{}", cipher.name))
            });
        assert_eq!(constant_time.constant_time(), ConstantTime::Yes, "{}", cipher.name);
        assert!([fastest, constant_time].iter().all(|of| of.cipher().name == cipher.name));
    }
}

/// A row of a table in Markdown: names in code, each an id or the start of some and a star, and
/// whether they are constant-time, where that does not depend on the cipher.
struct Row<'a> {
    names: Vec<&'a str>,
    is_constant_time: Option<bool>,
}

/// The rows of the tables that have a column `id`.
fn rows<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Row<'a>> {
    let cells = |line: &'a str| -> Option<Vec<&str>> {
        Some(line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect())
    };
    let mut column = None;
    let mut rows = Vec::new();
    for line in lines {
        let Some(cells) = cells(line) else {
            column = column.filter(|_| line.starts_with("|-"));
            continue;
        };
        match column {
            None => column = cells.iter().position(|cell| *cell == "id"),
            Some(column) => rows.push(Row {
                names: cells[column].split('`').skip(1).step_by(2).collect(),
                is_constant_time: cells
                    .last()
                    .filter(|claim| !claim.contains(": yes;"))
                    .map(|claim| claim.starts_with("yes")),
            }),
        }
    }
    rows
}

fn names(name: &str, id: &str) -> bool {
    name.strip_suffix('*').map_or(name == id, |start| id.starts_with(start))
}

/// Whether these are instructions of another architecture, whose rows this one does not have.
fn is_elsewhere(name: &str) -> bool {
    let x86 = ["-ni", "-sse2", "-avx2", "-avx512"].iter().any(|end| name.ends_with(end))
        || ["vaes-", "gfni-"].iter().any(|start| name.starts_with(start));
    let (on_x86, on_arm) = (cfg!(target_arch = "x86_64"), cfg!(target_arch = "aarch64"));
    (x86 && !on_x86)
        || (name.ends_with("-neon") && !on_arm)
        || (name.starts_with("aes-") && !on_x86 && !on_arm)
}

/// Every backend stands in a row, by its id or else by how it starts, with its claim; and every name
/// in a row is that of a backend.
fn table_is_of(of: &str, rows: &[Row<'_>], backends: &[&Backend]) {
    for backend in backends {
        let by_id = |row: &&Row<'_>| row.names.contains(&backend.id);
        let by_start = |row: &&Row<'_>| row.names.iter().any(|name| names(name, backend.id));
        let row = rows.iter().find(by_id).or_else(|| rows.iter().find(by_start));
        let row = row.unwrap_or_else(|| panic!("{of} has no row for {}", backend.id));
        let claim = backend.constant_time == ConstantTime::Yes;
        let written = row.is_constant_time.unwrap_or(claim);
        assert_eq!(written, claim, "{of}: the claim of {}", backend.id);
    }
    for name in rows.iter().flat_map(|row| &row.names).filter(|name| !is_elsewhere(name)) {
        let is_there = backends.iter().any(|backend| names(name, backend.id));
        assert!(is_there, "{of} has a row for {name}, which is no backend");
    }
}

/// The crate's documentation, for each crate that describes ciphers, with their backends of the CPU.
#[test]
fn crates_document_their_backends() {
    let sources = code();
    let mut crates = BTreeMap::<PathBuf, Vec<&Backend>>::new();
    for cipher in CIPHERS {
        let name = format!("\"{}\"", cipher.name);
        let tables = sources.iter().filter(|(path, _)| path.ends_with("src/backends.rs"));
        let (path, _) =
            tables.clone().find(|(_, text)| text.contains(&name)).expect("it has a table");
        let of_cpu = cipher.backends.iter().filter(|backend| backend.platform == Platform::Cpu);
        crates.entry(path.with_file_name("lib.rs")).or_default().extend(of_cpu);
    }
    let tables = sources.iter().filter(|(path, _)| path.ends_with("src/backends.rs")).count();
    assert_eq!(crates.len(), tables, "{:?}", crates.keys());
    for (path, backends) in crates {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        let mut rows = rows(text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim));
        rows.retain(|row| row.names != ["cuda-*"]);
        table_is_of(&path.display().to_string(), &rows, &backends);
    }
}

#[test]
#[cfg(feature = "cuda")]
fn the_security_page_names_every_backend() {
    let mut rows = rows(include_str!("../../../SECURITY.md").lines());
    rows.retain(|row| row.names[0] != "host-*"); // the same kernels
    rows.retain(|row| cfg!(feature = "wgpu") || row.names != ["wgpu-bitslice"]);
    let backends = CIPHERS.iter().flat_map(|cipher| cipher.backends);
    let backends = backends.filter(|backend| backend.platform != Platform::CudaOnHost);
    table_is_of("SECURITY.md", &rows, &backends.collect::<Vec<_>>());
}

#[cfg(feature = "parallel")]
#[test]
fn engines_of_the_cpu_share_its_threads() {
    for backend in ["reference", "bitslice-u32", "default"] {
        let engine = lanecrypt::engine("aes", backend, &[0; 16]).expect("it is there");
        assert!(format!("{engine:?}").starts_with("Parallel("), "{backend}: {engine:?}");
    }
}
