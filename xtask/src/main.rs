//! The project's tool. `cargo xtask --help` lists the tasks.
#![forbid(unsafe_code)]

mod bundle;
mod changed;
mod checks;
mod ci;
mod command;
mod judges;
mod kernels;
mod packages;
mod sources;
mod steps;
mod test;
mod tidy;
mod tools;
mod wheel;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{
    checks::{cross, ct, fuzz, inlining, known_faults, mutants, publishing},
    sources::{codegen, new_cipher, port},
};

/// Lanecrypt's tasks.
///
/// A newcomer needs two of them:
///
///   cargo xtask bench-all --quick   builds and measures everything this machine can run
///
///   cargo xtask test                runs all tests
#[derive(Parser)]
#[command(name = "cargo xtask", verbatim_doc_comment)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// All tests: unit, documentation, conformance of every backend, and the vectors.
    Test {
        /// Only those of packages that differ from this revision (by default the last commit), and of all
        /// that depend on them.
        #[arg(long, value_name = "REVISION", num_args = 0..=1, default_missing_value = "HEAD")]
        changed: Option<String>,
    },
    /// Known-answer tests over vector files (`cargo xtask kat --help` for its options).
    #[command(disable_help_flag = true)]
    Kat {
        /// Options of kat.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Measures every backend and writes a report (`cargo xtask bench-all --help`).
    #[command(disable_help_flag = true)]
    BenchAll {
        /// Options of bench-all.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Measures what is fastest on this machine, for all programs (`cargo xtask tune --help`).
    #[command(disable_help_flag = true)]
    Tune {
        /// Options of tune.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Writes the S-box sources from the circuits in crates/circuit/data, after proving them.
    Codegen {
        /// Changes nothing; fails where a file is not what the circuits give.
        #[arg(long)]
        check: bool,
        /// Derives the circuits anew first (minutes) and writes them too.
        #[arg(long, conflicts_with = "check")]
        derive: bool,
        /// Derives those of this cipher only.
        #[arg(long, requires = "derive")]
        cipher: Option<String>,
    },
    /// Compiles the kernels to PTX and records what they take of each architecture.
    Kernels {
        /// Only those of this folder of kernels/, beside what was recorded of the others. With --host
        /// its library is one by itself, with those that modes need.
        #[arg(conflicts_with = "check")]
        folder: Option<String>,
        /// Changes nothing; fails where a file is not what the sources give.
        #[arg(long)]
        check: bool,
        /// Builds the kernels for this CPU instead, and prints where the library is.
        #[arg(long, conflicts_with = "check")]
        host: bool,
    },
    /// Builds the book into book/out and checks its links.
    Book,
    /// Fuzzes readers, modes and seeks under libFuzzer, each for a minute.
    Fuzz {
        /// Seconds for each target.
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// Only this target: a file's name in fuzz/targets.
        target: Option<String>,
    },
    /// Puts faults into the code, one at a time, and lists those that no test notices (hours).
    Mutants {
        /// The faults of xtask/faults.toml instead, each of which the tests beside it must notice (half an
        /// hour).
        #[arg(long, conflicts_with_all = ["packages", "file"])]
        known: bool,
        /// Only these packages: core, cuda, slicing, reference, or a cipher. By default all.
        packages: Vec<String>,
        /// Only this file of each package's src.
        #[arg(long)]
        file: Option<String>,
    },
    /// Builds the Python wheel, installs it into a clean virtual environment and runs its tests there.
    Wheel {
        /// As it is given to people; by default it is the tests' build.
        #[arg(long)]
        release: bool,
    },
    /// Whether what is published can be: packages every crate, in the order in which they depend on another.
    Package {
        /// Builds each package from what is in it, too (minutes).
        #[arg(long)]
        build: bool,
    },
    /// Packs programs, vectors and a script in bundle/, for a machine with a GPU but no Rust.
    Bundle {
        /// The Python package too, with what tries it on a GPU.
        #[arg(long)]
        wheel: bool,
    },
    /// Checks every backend's constant-time claim, under valgrind, in machine code and in PTX.
    Ct {
        /// Checks backends whose name, as cipher/backend, contains this.
        filter: Option<String>,
    },
    /// Tests under emulators: big-endian and NEON under qemu-user, portable code under Miri.
    Cross {
        /// Only these; by default all.
        parts: Vec<cross::Part>,
    },
    /// Whether vector code stays inlined when it is built with cargo's own release profile.
    Inlining,
    /// Makes the skeleton of a new cipher: crate, vectors and page, and its lines in files of the tree.
    ///
    /// It compiles, and its tests fail until the reference and the vectors are there. A name that is
    /// taken is refused, and then nothing changes.
    ///
    ///   cargo xtask new-cipher lea --standard "KS X 3246" --key-bytes 16,24,32
    #[command(verbatim_doc_comment)]
    NewCipher {
        #[command(flatten)]
        specification: new_cipher::Specification,
    },
    /// Ports LEA in a copy of the tree, step by step as the book does, and runs its tests there.
    Port {
        /// Fails where the book's count of files and lines is not that of the port; else it is written.
        #[arg(long)]
        check: bool,
    },
    /// Rules that no other tool checks: first lines, unsafe code, long files.
    Tidy,
    /// Everything CI checks besides the tests.
    Ci {
        /// Only the steps whose names contain one of these.
        only: Vec<String>,
    },
}

/// Builds and runs bench-all, with Botan and OpenSSL where `--peers` asks for them.
fn bench_all(options: &[String]) -> anyhow::Result<()> {
    let with_peers = options.iter().any(|option| option == "--peers");
    let features: &[&str] = if with_peers {
        println!("Botan and OpenSSL: where they are not built yet, that takes minutes");
        &["peers"]
    } else {
        &[]
    };
    command::program("bench-all", features, options, &[])
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Test { changed } => test::run_all(changed.as_deref()),
        Task::Kat { options } => test::kat(&options),
        Task::BenchAll { options } => bench_all(&options),
        Task::Tune { options } => command::program("tune", &[], &options, &[]),
        Task::Codegen { check, derive, cipher } => codegen::run(check, derive, cipher.as_deref()),
        Task::Kernels { folder, host: true, .. } => kernels::host::build_of(folder.as_deref())
            .map(|library| println!("{}", library.display())),
        Task::Kernels { folder, check, .. } => kernels::run(check, folder.as_deref()),
        Task::Book => command::book(&[]),
        Task::Fuzz { seconds, target } => fuzz::run_targets(seconds, target.as_deref()),
        Task::Mutants { known: true, .. } => known_faults::run(),
        Task::Mutants { packages, file, .. } => mutants::run(&packages, file.as_deref()),
        Task::Wheel { release } => wheel::run_task(release),
        Task::Package { build } => publishing::run_task(build),
        Task::Bundle { wheel } => bundle::run_task(wheel),
        Task::Ct { filter } => ct::run_task(filter.as_deref()),
        Task::Cross { parts } => cross::run_parts(&parts),
        Task::Inlining => inlining::check(),
        Task::NewCipher { specification } => new_cipher::run(&specification),
        Task::Port { check } => port::run(check),
        Task::Tidy => tidy::run(),
        Task::Ci { only } => ci::run_steps(&only),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
