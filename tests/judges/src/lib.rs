//! Judges: implementations that are not ours, must accept what we write, and whose files we must read.
//!
//! ```no_run
//! use lanecrypt_judges::{Judge, program, python, trials};
//!
//! const QEMU: Judge = program("qemu-img");
//! const TINK: Judge = python("tink");
//!
//! let arguments = libtest_mimic::Arguments::from_args();
//! let all = trials(vec![
//!     ("opens_what_qemu_made", &[QEMU], || Ok(())),
//!     ("opens_what_the_wheel_sealed", &[TINK, QEMU], || {
//!         let mut python = TINK.command()?; // std::process::Command
//!         python.args(["-c", "import tink"]).status()?;
//!         Ok(())
//!     }),
//! ]);
//! libtest_mimic::run(&arguments, all).exit();
//! ```
//!
//! A trial whose judge is missing is shown as ignored, with the reason on standard error. It fails
//! instead where the environment variable `LANECRYPT_EXPECT_JUDGES` names the judge, or is `all`, as
//! in CI. `cargo xtask test` installs them where it can.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod memory;

use std::{
    collections::BTreeMap,
    env, io,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

use libtest_mimic::{Failed, Trial};

/// The environment variable that lists, with commas, the judges that must be here; `all` is all.
pub const EXPECT: &str = "LANECRYPT_EXPECT_JUDGES";
/// The environment variable with the Python that has the modules; `python3` where it is not set.
pub const PYTHON: &str = "LANECRYPT_JUDGES_PYTHON";

/// What a trial is.
pub type Test = fn() -> Result<(), Failed>;

/// An implementation that is not ours.
#[derive(Clone, Copy, Debug)]
pub struct Judge {
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Program,
    Module,
}

/// A program of this name on the `PATH`, or where administrators have theirs.
#[must_use]
pub const fn program(name: &'static str) -> Judge {
    Judge { name, kind: Kind::Program }
}

/// A module of this name that Python can import.
#[must_use]
pub const fn python(name: &'static str) -> Judge {
    Judge { name, kind: Kind::Module }
}

impl Judge {
    /// What starts it: the program, or a Python that can import the module.
    ///
    /// # Errors
    /// `NotFound`, naming it and where it was looked for.
    pub fn command(&self) -> io::Result<Command> {
        match self.kind {
            Kind::Program => find(self.name).map(Command::new),
            Kind::Module => {
                let python = env::var_os(PYTHON).unwrap_or_else(|| "python3".into());
                if !imports(Path::new(&python), self.name)? {
                    let python = Path::new(&python).display();
                    return Err(not_found(format!("{python} cannot import {}", self.name)));
                }
                Ok(Command::new(python))
            }
        }
    }

    fn is_expected(&self) -> bool {
        let expected = env::var(EXPECT).unwrap_or_default();
        expected.split(',').any(|name| name == "all" || name == self.name)
    }
}

/// Whether this Python can import a module. It is asked once: some take seconds.
fn imports(python: &Path, module: &'static str) -> io::Result<bool> {
    static KNOWN: Mutex<BTreeMap<(PathBuf, &str), bool>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = (python.to_path_buf(), module);
    if let Some(can) = known.get(&asked) {
        return Ok(*can);
    }
    let import = format!("import {module}");
    let can = Command::new(python).args(["-c", &import]).output()?.status.success();
    known.insert(asked, can);
    Ok(can)
}

fn find(name: &str) -> io::Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let administrators = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    let mut files = env::split_paths(&path).chain(administrators).map(|folder| folder.join(name));
    files
        .find(|file| file.is_file())
        .ok_or_else(|| not_found(format!("there is no program {name} on the PATH")))
}

fn not_found(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, message)
}

/// Trials of libtest-mimic, each by its name and the judges that it needs.
///
/// One whose judge is missing is ignored, with the reason on standard error, or fails where the
/// judge is expected.
#[must_use]
pub fn trials(tests: Vec<(&'static str, &'static [Judge], Test)>) -> Vec<Trial> {
    tests.into_iter().map(|(name, judges, test)| trial(name, judges, test)).collect()
}

fn trial(name: &'static str, judges: &[Judge], test: Test) -> Trial {
    let missing =
        judges.iter().find_map(|judge| judge.command().err().map(|reason| (judge, reason)));
    let Some((judge, reason)) = missing else { return Trial::test(name, test) };
    eprintln!("{name} cannot run here: {reason}");
    let reason = format!("{EXPECT} names {}, but {reason}", judge.name);
    Trial::test(name, move || Err(reason.into())).with_ignored_flag(!judge.is_expected())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "a trial may fail")]
    fn pass() -> Result<(), Failed> {
        Ok(())
    }

    #[test]
    fn what_is_missing_is_ignored_by_name() {
        const NOBODY: Judge = program("no-such-judge");
        const SHELL: Judge = program("sh");
        let error = NOBODY.command().expect_err("there is no such program");
        assert_eq!(error.to_string(), "there is no program no-such-judge on the PATH");
        let all = trials(vec![("missing", &[NOBODY], pass), ("here", &[SHELL], pass)]);
        let ignored = all.iter().map(Trial::has_ignored_flag).collect::<Vec<_>>();
        assert_eq!(ignored, [!NOBODY.is_expected(), false]);
    }
}
