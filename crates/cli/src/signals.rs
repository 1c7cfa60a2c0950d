//! Signals that end the command: a flag that their handler sets, and a thread that ends a process which waits.

use std::{
    fs::{self, File},
    io,
    path::PathBuf,
    sync::{
        Arc, LazyLock, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::{
    consts::signal::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ},
    flag,
    iterator::Signals,
};

use crate::failure::{Failure, INTERRUPTED, complain};

/// The signals that end the command, unless they were ignored when it started.
const ENDING: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];
/// Set by the signal handler itself. A thread that was told of the signal could run later than the end of an input
/// whose writer the same Ctrl-C ended, and a cut-off input would pass for a whole one.
static CANCELLED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// How long the work has to end by itself: it may wait for an input that never comes.
const GRACE: Duration = Duration::from_secs(1);
/// The same for work that only ever waits for a disk.
const GRACE_OF_FILES: Duration = Duration::from_secs(30);
/// Whether the work is of that kind.
static IS_OF_FILES: AtomicBool = AtomicBool::new(false);
/// Whether the files of a job are left, which somebody goes on with.
static LEAVES_A_JOB: AtomicBool = AtomicBool::new(false);
/// The terminal at which a passphrase is typed, and how it was before.
static TERMINAL: Mutex<Option<(File, Termios)>> = Mutex::new(None);
/// Temporary files, which are removed when the process ends before its work does.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The flag, for work that checks it.
pub(crate) fn cancelled() -> &'static AtomicBool {
    &CANCELLED
}

/// Fails once a signal has come.
pub(crate) fn check() -> Result<(), Failure> {
    if cancelled().load(Ordering::SeqCst) { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Says that the work reads and writes files only, so that it soon looks at the flag.
pub(crate) fn goes_between_files() {
    IS_OF_FILES.store(true, Ordering::Relaxed);
}

/// Says that files of a job are there, which stay when a signal ends the process.
pub(crate) fn leaves_a_job() {
    LEAVES_A_JOB.store(true, Ordering::Relaxed);
}

/// What there is after an interruption, for the message that tells of it.
pub(crate) fn left() -> &'static str {
    if LEAVES_A_JOB.load(Ordering::Relaxed) {
        "the files of the job are left, to go on with or to discard"
    } else {
        "no unfinished file is left"
    }
}

/// Runs `ask`, which turns off the terminal's echo. A signal that ends the process meanwhile turns it on again.
pub(crate) fn at_the_terminal<T>(ask: impl FnOnce() -> T) -> T {
    let set = |terminal| *TERMINAL.lock().unwrap_or_else(PoisonError::into_inner) = terminal;
    set(terminal_as_it_is().ok()); // where there is none, asking fails
    let answer = ask();
    set(None);
    answer
}

fn terminal_as_it_is() -> io::Result<(File, Termios)> {
    let terminal = File::open("/dev/tty")?;
    let before = tcgetattr(&terminal)?;
    Ok((terminal, before))
}

/// Has a temporary file removed when a signal ends the process.
pub(crate) fn remove_when_interrupted(temporary: PathBuf) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(temporary);
}

/// Interrupted by a signal, the process leaves nothing unfinished behind, and exits with code 130. A file that grows
/// beyond the limit of its size is no end, but an error of writing.
pub(crate) fn end_when_interrupted() {
    if let Err(error) = listen() {
        complain(format!("an interruption may leave an unfinished file behind: {error}"));
    }
}

fn listen() -> io::Result<()> {
    let ignored = ignored_signals();
    let heard: Vec<_> = ENDING.into_iter().filter(|signal| !ignored.contains(signal)).collect();
    for &signal in &heard {
        flag::register(signal, Arc::clone(&CANCELLED))?;
    }
    // With any handler, the write fails that would have ended the process.
    flag::register(SIGXFSZ, Arc::default())?;
    let mut signals = Signals::new(&heard)?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if signals.forever().next().is_some() {
            end();
        }
    })?;
    Ok(())
}

/// Ends the process, after a time in which the work may end by itself.
fn end() {
    let is_of_files = IS_OF_FILES.load(Ordering::Relaxed);
    thread::sleep(if is_of_files { GRACE_OF_FILES } else { GRACE });
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        fs::remove_file(path).ok();
    }
    if let Some((terminal, before)) = &*TERMINAL.lock().unwrap_or_else(PoisonError::into_inner) {
        tcsetattr(terminal, OptionalActions::Now, before).ok();
    }
    complain(Failure::Interrupted);
    std::process::exit(INTERRUPTED.into());
}

/// Signals that were ignored when the process started: `nohup` SIGHUP, a shell without job control SIGINT of
/// a command in the background. Such a signal must not end the command.
///
/// Only Linux says so without unsafe code. Elsewhere no signal counts as ignored.
fn ignored_signals() -> Vec<i32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    ENDING.into_iter().filter(|&signal| is_ignored(&status, signal)).collect()
}

/// Whether `/proc/self/status` says that a signal is ignored: `SigIgn` is a mask whose lowest bit is signal 1.
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_is_read_by_bits() {
        let status = "Name:\tlanecrypt\nSigBlk:\t0000000000000003\nSigIgn:\t0000000000001001\n";
        let ignored: Vec<_> = (1..64).filter(|&signal| is_ignored(status, signal)).collect();
        assert_eq!(ignored, [SIGHUP, 13]);
        assert!(!is_ignored("", SIGHUP) && !is_ignored("SigIgn:\tx", SIGHUP));
    }
}
