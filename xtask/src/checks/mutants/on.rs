//! Which mutant is on, by environment variables that `cargo xtask mutants` sets. Put into each crate that has mutants.

extern crate std;

use std::{
    env,
    fs::OpenOptions,
    io::Write,
    string::ToString,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

static ON: OnceLock<usize> = OnceLock::new();
static WAS_ASKED: [AtomicBool; 1 << 16] = [const { AtomicBool::new(false) }; 1 << 16];

/// Whether the mutant of this number is on: that of `LANECRYPT_MUTANT`. With `LANECRYPT_MUTANTS_LOG` none is; that file
/// gets the number of each that was asked for.
#[allow(dead_code)]
pub(crate) fn on(number: usize) -> bool {
    let log = || env::var_os("LANECRYPT_MUTANTS_LOG");
    let mutant = || env::var("LANECRYPT_MUTANT").ok().and_then(|number| number.parse().ok());
    let on = *ON.get_or_init(|| if log().is_some() { usize::MAX } else { mutant().unwrap_or(0) });
    if on == usize::MAX
        && !WAS_ASKED[number].swap(true, Ordering::Relaxed)
        && let Some(log) = log()
        && let Ok(mut log) = OpenOptions::new().append(true).create(true).open(log)
    {
        let _ = log.write_all((number.to_string() + "\n").as_bytes());
    }
    on == number
}
