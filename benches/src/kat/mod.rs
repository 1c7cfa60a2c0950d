//! Known-answer tests: every backend of every cipher over vector files from anywhere on disk.
//!
//! A *case* is one line of a file on one backend, in both directions where the line has both.
//! [`sources::read`] reads the files, [`Targets`] says which backends run, [`run`] runs the cases
//! and gives a [`Report`], and [`print::render`] writes it for people. The registry is an argument,
//! so that tests can hand in backends that are wrong on purpose.
//!
//! ```
//! use lanecrypt_benches::kat::{Limits, Names, Targets, run, sources};
//!
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("a.txt"), "# bcv1 cipher=aes mode=ecb expect=ok vectors=1\n\
//! #     id=a key=00000000000000000000000000000000 pt=00000000000000000000000000000000 \
//! #     ct=66e94bd4ef8a2c3b884cfa59ca342b2e\n")?;
//! let names = Names { backends: vec!["bitslice-u64".into()], ..Names::default() };
//! let targets = Targets::new(lanecrypt::CIPHERS, &names)?;
//! let files = sources::read(&[folder.path().into()]);
//! let report = run(&files, &targets, &Limits::default(), &indicatif::ProgressBar::hidden());
//! assert_eq!(report.total.to_string(), "1 passed, 0 failed, 0 skipped");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod acvp;
mod budget;
mod case;
mod chain;
pub mod command;
mod difference;
mod keyed;
mod limits;
mod message;
pub mod print;
mod report;
mod run;
pub mod sources;
mod spread;
mod sums;
mod targets;
mod vector;

pub use case::Kind;
pub use difference::Difference;
pub use limits::Limits;
pub use report::{Cell, Failure, Report, Skip, Tally};
pub use run::run;
pub use targets::{Names, Target, Targets, UnknownName};
