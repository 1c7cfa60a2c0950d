//! The file of experience data: a TOML file a model of device in the user's cache folder.

use std::{
    fmt, fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use directories::ProjectDirs;
use serde::{Deserialize, Serialize};

use super::{Crossovers, Error, Switches, Tuning};
use crate::{
    Brief,
    cuda::{Device, Experience, Geometry, Measured, Piece, kernels},
};

/// The version of what is said below.
const FORMAT: u32 = 1;
/// Longer files are none of ours.
const LONGEST: u64 = 8 << 20;
/// Bytes of data that anything can be known of.
const BYTES: std::ops::RangeInclusive<u64> = 1..=1 << 40;

/// What a file says of what it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    format: u32,
    /// Marketing name.
    device: String,
    compute_capability: (u32, u32),
    multiprocessors: u32,
    /// The CUDA version that the driver supports.
    driver: i32,
    /// The version of this crate, and the fingerprint of the kernels, in hexadecimal digits.
    lanecrypt: String,
    kernels: String,
}

impl About {
    fn of(device: &Device) -> Self {
        let properties = device.properties();
        Self {
            format: FORMAT,
            device: properties.name.clone(),
            compute_capability: properties.compute_capability,
            multiprocessors: properties.multiprocessors,
            driver: properties.driver_version,
            lanecrypt: env!("CARGO_PKG_VERSION").to_owned(),
            kernels: format!("{:016x}", kernels::fingerprint()),
        }
    }

    /// What a device is told by.
    fn whose(&self) -> (&str, (u32, u32), u32) {
        (&self.device, self.compute_capability, self.multiprocessors)
    }

    /// The same for a message.
    fn device(&self) -> String {
        let ((major, minor), count) = (self.compute_capability, self.multiprocessors);
        format!("{:?} ({count} multiprocessors of {major}.{minor})", Brief(&self.device))
    }

    /// The rest for a message.
    fn version(&self) -> String {
        let Self { format, driver, .. } = self;
        let (version, kernels) = (Brief(&self.lanecrypt), Brief(&self.kernels));
        format!("format {format}, driver {driver}, version {version:?}, kernels {kernels:?}")
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: About,
    /// Threads that the CPU had for what crossovers say which name no others.
    cpu_threads: usize,
    #[serde(default)]
    launches: Vec<Launches>,
    #[serde(default)]
    pieces: Vec<Pieces>,
    #[serde(default)]
    crossovers: Vec<Crossover>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Launches {
    kernel: String,
    key_bits: usize,
    /// Bytes of data, threads, thread blocks for every multiprocessor, nanoseconds.
    fastest: Vec<(u64, u32, u32, u64)>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pieces {
    kernel: String,
    key_bits: usize,
    /// Bytes of data, and of a piece.
    fastest: Vec<(u64, u64)>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Crossover {
    kernel: String,
    key_bits: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cpu_threads: Option<usize>,
    /// Bytes from which on it is the GPU, then again the CPU, and so on.
    switches: Vec<u64>,
}

/// Why a file is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ignored {
    /// There is none.
    Missing,
    /// It cannot be read.
    Unreadable(String),
    /// It is no experience data, or says what no device can do.
    Corrupt(String),
    /// It is of another driver or other kernels: what it says, and what is here.
    Stale(String),
    /// It is of another device: what it says, and what is here.
    Foreign(String),
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is none"),
            Self::Unreadable(why) => write!(f, "it cannot be read: {why}"),
            Self::Corrupt(why) => write!(f, "it is corrupt: {why}"),
            Self::Stale(why) => write!(f, "it is stale: {why}"),
            Self::Foreign(why) => write!(f, "it is of another device: {why}"),
        }
    }
}

impl std::error::Error for Ignored {}

/// A folder with a file for every model of device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder(PathBuf);

impl Folder {
    /// In the cache folder of this user; `None` where there is none.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let folders = ProjectDirs::from("", "", "lanecrypt")?;
        Some(Self(folders.cache_dir().join("experience")))
    }

    /// Any other.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The file of a device.
    #[must_use]
    pub fn file(&self, device: &Device) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = device.properties().name.chars().map(plain).collect();
        self.0.join(format!("{}.toml", name.trim_matches('-')))
    }

    /// Reads what is known of a device.
    ///
    /// # Errors
    /// Why that is nothing.
    pub fn read(&self, device: &Device) -> Result<Tuning, Ignored> {
        parse(&text(&self.file(device))?, &About::of(device))
    }

    /// The same, with a warning where there is a file that is of no use.
    pub(super) fn read_or_warn(&self, device: &Device) -> Option<Tuning> {
        match self.read(device) {
            Ok(tuning) => return Some(tuning),
            Err(Ignored::Missing) => {}
            Err(why) => {
                let file = self.file(device);
                log::warn!(
                    "experience data {} is ignored until it is made anew: {why}",
                    file.display()
                );
            }
        }
        None
    }

    /// Writes what is known of a device, in place of what there was, but for switches that were measured beside another
    /// number of threads of the CPU: these stay. Whoever reads meanwhile sees one or the other.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Format`] for numbers that TOML does not have.
    pub fn write(&self, device: &Device, tuning: &Tuning) -> Result<(), Error> {
        let file = self.file(device);
        let mut written = of_tuning(About::of(device), tuning);
        written.crossovers.extend(of_other_threads(&file, &written.about));
        let text = toml::to_string(&written)?;
        let text = format!(
            "# What was measured on this machine, for launches by Lanecrypt: `cargo xtask tune`, or\n\
             # `lanecrypt::tune()`, writes it anew. It may be deleted.\n\n{text}"
        );
        replace(&file, &text).map_err(|error| Error::File { path: file, error })
    }
}

fn text(path: &Path) -> Result<String, Ignored> {
    let file = fs::File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Ignored::Missing,
        _ => Ignored::Unreadable(error.to_string()),
    })?;
    let mut text = String::new();
    let read = file.take(LONGEST + 1).read_to_string(&mut text);
    match read.map_err(|error| Ignored::Unreadable(error.to_string()))? as u64 {
        ..=LONGEST => Ok(text),
        _ => Err(Ignored::Corrupt(format!("it is longer than {LONGEST} bytes"))),
    }
}

/// What a file has that is about what is here, but for another number of threads.
fn of_other_threads(path: &Path, here: &About) -> Vec<Crossover> {
    let file = text(path).ok().and_then(|text| toml::from_str::<File>(&text).ok());
    let Some(file) = file.filter(|file| file.about == *here) else { return Vec::new() };
    let named = file.crossovers.into_iter().map(|row| {
        let cpu_threads = Some(row.cpu_threads.unwrap_or(file.cpu_threads));
        Crossover { cpu_threads, ..row }
    });
    named.filter(|row| row.cpu_threads != Some(rayon::current_num_threads())).collect()
}

/// Writes beside the file, and renames. Each call has a name of its own for what is unfinished.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let (process, call) = (std::process::id(), CALLS.fetch_add(1, Ordering::Relaxed));
    let unfinished = path.with_extension(format!("{process}-{call}.unfinished"));
    let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished); // what failed is what is reported
    }
    written
}

/// What a file's text says, and the name of the device that it is about, whatever is here.
///
/// # Errors
/// [`Ignored::Corrupt`].
pub fn of_any_device(text: &str) -> Result<(String, Tuning), Ignored> {
    let file: File = toml::from_str(text).map_err(|error| corrupt(text, &error))?;
    Ok((file.about.device.clone(), to_tuning(file).map_err(Ignored::Corrupt)?))
}

/// Says where a file is wrong. What stands there may be anything, of any length: it is not repeated.
fn corrupt(text: &str, error: &toml::de::Error) -> Ignored {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Ignored::Corrupt(format!("line {line}, column {column} is not what experience data has there"))
}

/// What a text says, if it is about what is here.
fn parse(text: &str, here: &About) -> Result<Tuning, Ignored> {
    // What it is about comes first: older formats may have had another form.
    let table: toml::Table = toml::from_str(text).map_err(|error| corrupt(text, &error))?;
    let about = table.get("about").cloned().and_then(|about| About::deserialize(about).ok());
    let about = about.ok_or_else(|| Ignored::Corrupt("it does not say what it is about".into()))?;
    let differ = |texts: fn(&About) -> String| format!("{}, not {}", texts(&about), texts(here));
    if about.whose() != here.whose() {
        return Err(Ignored::Foreign(differ(About::device)));
    }
    if about != *here {
        return Err(Ignored::Stale(differ(About::version)));
    }
    // A table has forgotten where in the text its values stood.
    let file = File::deserialize(table).or_else(|_| toml::from_str(text));
    to_tuning(file.map_err(|error| corrupt(text, &error))?).map_err(Ignored::Corrupt)
}

/// What a file says, checked: its numbers are ones that a device can do.
fn to_tuning(file: File) -> Result<Tuning, String> {
    let mut experience = Experience::default();
    let mut crossovers = Crossovers::default();
    let ascend = |name: &str, bytes: Vec<u64>| {
        let is_out = |bytes: &&u64| !BYTES.contains(bytes);
        if let Some(bytes) = bytes.iter().find(is_out) {
            let name = Brief(name);
            return Err(format!("{name:?}: lengths of {bytes} bytes, which no data has"));
        }
        match bytes.windows(2).find(|pair| pair[0] >= pair[1]) {
            Some(pair) => Err(format!("{:?}: lengths that do not ascend: {pair:?}", Brief(name))),
            None => Ok(()),
        }
    };
    for Launches { kernel, key_bits, fastest } in file.launches {
        ascend(&kernel, fastest.iter().map(|row| row.0).collect())?;
        let measured = fastest.into_iter().map(|(bytes, threads, grid, nanoseconds)| {
            let is_possible = threads.is_multiple_of(32)
                && (32..=1024).contains(&threads)
                && (1..=1024).contains(&grid)
                && (1..1 << 40).contains(&nanoseconds);
            let geometry = Geometry { threads, blocks_per_multiprocessor: grid };
            let measured = Measured { bytes, geometry, nanoseconds };
            if is_possible {
                Ok(measured)
            } else {
                Err(format!("{:?}: {measured:?}", Brief(&kernel)))
            }
        });
        let measured = measured.collect::<Result<_, _>>()?;
        experience.set_launches(kernel, key_bits / 8, measured);
    }
    for Pieces { kernel, key_bits, fastest } in file.pieces {
        ascend(&kernel, fastest.iter().map(|row| row.0).collect())?;
        let pieces = fastest.into_iter().map(|(bytes, piece_bytes)| {
            let is_possible = (64 << 10..=1 << 40).contains(&piece_bytes);
            let piece = Piece { bytes, piece_bytes };
            if is_possible { Ok(piece) } else { Err(format!("{:?}: {piece:?}", Brief(&kernel))) }
        });
        let pieces = pieces.collect::<Result<_, _>>()?;
        experience.set_pieces(kernel, key_bits / 8, pieces);
    }
    for Crossover { kernel, key_bits, cpu_threads, switches } in file.crossovers {
        // Measured beside another number of threads they are of no use here.
        if cpu_threads.unwrap_or(file.cpu_threads) != rayon::current_num_threads() {
            continue;
        }
        let named = || format!("{:?}: switches that do not ascend", Brief(&kernel));
        let switches = Switches::new(switches).ok_or_else(named)?;
        crossovers.set(kernel, key_bits / 8, switches);
    }
    Ok(Tuning { experience: Arc::new(experience), crossovers })
}

fn of_tuning(about: About, tuning: &Tuning) -> File {
    let launches = tuning.experience.launches().map(|(kernel, key_bytes, row)| {
        let point = |measured: &Measured| {
            let Measured { bytes, geometry, nanoseconds } = *measured;
            (bytes, geometry.threads, geometry.blocks_per_multiprocessor, nanoseconds)
        };
        let fastest = row.iter().map(point).collect();
        Launches { kernel: kernel.to_owned(), key_bits: 8 * key_bytes, fastest }
    });
    let pieces = tuning.experience.pieces().map(|(kernel, key_bytes, row)| {
        let fastest = row.iter().map(|piece| (piece.bytes, piece.piece_bytes)).collect();
        Pieces { kernel: kernel.to_owned(), key_bits: 8 * key_bytes, fastest }
    });
    let crossovers = tuning.crossovers.iter().map(|(kernel, key_bytes, switches)| {
        let switches = switches.at().to_vec();
        let (kernel, key_bits) = (kernel.to_owned(), 8 * key_bytes);
        Crossover { kernel, key_bits, cpu_threads: None, switches }
    });
    File {
        about,
        cpu_threads: rayon::current_num_threads(),
        launches: launches.collect(),
        pieces: pieces.collect(),
        crossovers: crossovers.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file about no device in particular, with these rows.
    fn file(cpu_threads: usize, launch: &str, piece: &str) -> String {
        format!(
            r#"
            cpu_threads = {cpu_threads}
            [about]
            format = 1
            device = "any"
            compute_capability = [9, 0]
            multiprocessors = 132
            driver = 12010
            lanecrypt = "0.1.0"
            kernels = "0"
            [[launches]]
            kernel = "a"
            key_bits = 128
            fastest = [{launch}]
            [[pieces]]
            kernel = "b"
            key_bits = 128
            fastest = [{piece}]
            [[crossovers]]
            kernel = "c"
            key_bits = 128
            switches = [4096]
            "#
        )
    }

    #[test]
    fn no_more_is_read_than_a_file_may_have() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("any.toml");
        for more in [0, 1] {
            fs::write(&path, vec![b'#'; LONGEST as usize + more]).expect("it is written");
            match text(&path) {
                Ok(text) => assert_eq!((text.len() as u64, more), (LONGEST, 0)),
                Err(Ignored::Corrupt(why)) => assert!(more == 1 && why.contains("longer"), "{why}"),
                Err(other) => panic!("{other}"),
            }
        }
        let Folder(path) = Folder::of_user().expect("tests run for a user who has a home");
        assert!(path.ends_with("experience") && path.to_string_lossy().contains("lanecrypt"));
    }

    #[test]
    fn what_is_stale_says_what_it_was_made_with() {
        let text = file(1, "[64, 32, 2, 9]", "[64, 65536]");
        let there = toml::from_str::<File>(&text).expect("it is whole").about;
        let here = About { driver: 13000, ..there.clone() };
        let Err(Ignored::Stale(why)) = parse(&text, &here) else { panic!("another driver") };
        for about in [&there, &here] {
            assert!(why.contains(&about.version()), "{why}");
        }
        assert_eq!(there.version(), r#"format 1, driver 12010, version "0.1.0", kernels "0""#);
    }

    #[test]
    fn lengths_are_those_that_data_has() {
        let longest = 1_u64 << 40;
        let threads = rayon::current_num_threads();
        let read = |launch: u64, piece: u64| {
            let (launch, piece) = (format!("[{launch}, 32, 2, 9]"), format!("[{piece}, 65536]"));
            of_any_device(&file(threads, &launch, &piece))
        };
        for good in [1, 64, longest] {
            assert!(read(good, good).is_ok(), "{good}");
        }
        for bad in [0, longest + 1, i64::MAX as u64] {
            for (launch, piece, name) in [(bad, 64, "\"a\": lengths"), (64, bad, "\"b\": lengths")]
            {
                let refused = read(launch, piece);
                let names_it = matches!(&refused, Err(Ignored::Corrupt(why)) if why.contains(name));
                assert!(names_it, "{bad}: {refused:?}");
            }
        }
    }

    /// Messages say where a file is wrong, and repeat little of it, and nothing as it stands there.
    #[test]
    fn messages_are_short_and_escaped() {
        let good = file(rayon::current_num_threads(), "[64, 32, 2, 9]", "[64, 65536]");
        let here = toml::from_str::<File>(&good).expect("it is whole").about;
        let name = format!("\"\\u001b[31m{}\"", "x".repeat(1 << 16));
        let kernel = |name: &str| format!("kernel = {name}");
        for (from, to) in [
            (kernel("\"a\""), format!("kernel = {name}\n{name} = 1")),
            (kernel("\"a\""), format!("kernel = {name}\n{name} = 1\n{name} = 1")),
            ("key_bits = 128".into(), format!("key_bits = {name}")),
            ("[64, 32, 2, 9]".into(), "[64, 33, 2, 9]".into()),
            ("[64, 32, 2, 9]".into(), "[0, 32, 2, 9]".into()),
            ("[64, 65536]".into(), "[64, 1]".into()),
            ("[4096]".into(), format!("[{}1]", "4096, ".repeat(1 << 14))),
            ("device = \"any\"".into(), format!("device = {name}")),
            ("lanecrypt = \"0.1.0\"".into(), format!("lanecrypt = {name}")),
        ] {
            let mut text = good.replacen(&from, &to, 1);
            assert_ne!(text, good, "{from}");
            for short in ["\"a\"", "\"b\"", "\"c\""] {
                text = text.replace(&kernel(short), &kernel(&name));
            }
            let refused = [of_any_device(&text).err(), parse(&text, &here).err()];
            let mut refused = refused.into_iter().flatten().map(|why| why.to_string()).peekable();
            assert!(refused.peek().is_some(), "{from} to {to}");
            for why in refused {
                assert!(why.len() < 300 && !why.contains('\u{1b}'), "{from}: {why}");
            }
        }
        let refused = of_any_device("[about]\nformat = 1\ndevice = \"é\" 7").expect_err("no TOML");
        assert_eq!(
            refused.to_string(),
            "it is corrupt: line 3, column 14 is not what experience data has there"
        );
    }

    #[test]
    fn writers_do_not_share_what_is_unfinished() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("any.toml");
        let text = |thread: usize| format!("{thread}").repeat(1 << 20);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    (0..10).for_each(|_| replace(path, &text(thread)).expect("it is written"));
                });
            }
        });
        let found = fs::read_to_string(&path).expect("it is there");
        assert!((0..4).any(|thread| found == text(thread)), "one of them, and whole");
    }

    #[test]
    fn crossovers_are_those_of_as_many_threads() {
        let threads = rayon::current_num_threads();
        for there in [threads - 1, threads, threads + 1] {
            let text = file(there, "[64, 32, 2, 9]", "[64, 65536]");
            let (_, tuning) = of_any_device(&text).expect("it is whole");
            let known = tuning.crossovers.iter().count();
            assert_eq!(known, usize::from(there == threads), "{there} threads, here {threads}");
            assert_eq!(tuning.experience.launches().count(), 1, "the rest is of use");
        }
    }
}
