//! The project's tool. `cargo xtask --help` lists the tasks.
#![forbid(unsafe_code)]

mod bundle;
mod changed;
mod checks;
mod ci;
mod command;
mod inside;
mod judges;
mod kernels;
mod ladder;
mod listings;
mod packages;
mod rates;
mod release;
mod roof;
mod sources;
mod steps;
mod test;
mod test_programs;
mod tidy;
mod tools;
mod user_crate;
mod wheel;

use std::{process::ExitCode, thread};

use clap::{Parser, Subcommand};

use crate::{
    checks::{
        browser, cross, ct, fuzz, inlining, known_faults, mutants, proofs, publishing, statistics,
        suites,
    },
    sources::{codegen, generated::Mode, new_cipher, port},
};

/// Lanecrypt's tasks.
///
/// A newcomer needs two of them:
///
///   cargo xtask bench-all --quick   builds and measures everything that this machine can run
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
    /// Runs all tests: unit, documentation, conformance of every backend, and test vectors.
    Test {
        /// Tests only packages that differ from this revision (by default the last commit), and all packages
        /// that depend on them.
        #[arg(long, value_name = "REVISION", num_args = 0..=1, default_missing_value = "HEAD")]
        changed: Option<String>,
    },
    /// Runs known-answer tests over vector files (options: `cargo xtask kat --help`).
    #[command(disable_help_flag = true)]
    Kat {
        /// Options of kat.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Measures every backend and writes a report (options: `cargo xtask bench-all --help`).
    #[command(disable_help_flag = true)]
    BenchAll {
        /// Options of bench-all.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Measures what is fastest on this machine, for all programs (options: `cargo xtask tune --help`).
    #[command(disable_help_flag = true)]
    Tune {
        /// Options of tune.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Proves the circuits in crates/circuit/data and writes the S-box sources from them; then checks that the
    /// ciphers' plans are what their forms do.
    Codegen {
        /// Changes nothing; fails if a file is not what the circuits give.
        #[arg(long)]
        check: bool,
        /// First derives the circuits anew (minutes) and writes them as well.
        #[arg(long, conflicts_with = "check")]
        derive: bool,
        /// Derives only the circuits of this cipher.
        #[arg(long, requires = "derive")]
        cipher: Option<String>,
    },
    /// Compiles the kernels to PTX and records the registers and memory that they use on each architecture.
    Kernels {
        /// Compiles only this folder of kernels/ and keeps the records of the others. With --host, builds a
        /// library of this folder and the kernels that modes need.
        #[arg(conflicts_with = "check")]
        folder: Option<String>,
        /// Changes nothing; fails if a file is not what the sources give.
        #[arg(long)]
        check: bool,
        /// Builds the kernels for this CPU instead, and prints the path of the library.
        #[arg(long, conflicts_with = "check")]
        host: bool,
    },
    /// Builds the book into book/out and checks its links and figures.
    Book {
        /// Makes book/out/lanecrypt.epub, too; installs pandoc if it is not there.
        #[arg(long)]
        epub: bool,
        /// Makes book/out/lanecrypt.pdf, too, which takes half a minute; installs pandoc and Chromium if they are not there.
        #[arg(long)]
        pdf: bool,
    },
    /// Fuzzes readers, modes and seeks under libFuzzer, each for a minute.
    Fuzz {
        /// Seconds per target.
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// Runs only this target, a file name in fuzz/targets.
        target: Option<String>,
    },
    /// Puts faults into the code, one at a time, and lists those that no test detects (minutes a package).
    Mutants {
        /// Uses the faults of xtask/faults.toml instead, which the tests named there must detect (half an
        /// hour).
        #[arg(long, conflicts_with = "file")]
        known: bool,
        /// Packages to change: a folder of crates, such as core, modes or aes; with --known, words in a fault's
        /// description or path [default: all].
        packages: Vec<String>,
        /// Changes only this file of each package's src.
        #[arg(long)]
        file: Option<String>,
        /// Only each Nth fault, from number K on.
        #[arg(long, value_name = "K/N", conflicts_with = "known")]
        shard: Option<String>,
        /// Those in constants and the like instead, each of which needs a compilation (half a minute each).
        #[arg(long, conflicts_with = "known")]
        compiled: bool,
    },
    /// Builds the Python wheel, installs it into a clean virtual environment and runs its tests there.
    Wheel {
        /// Builds the wheel as it is published; the default is the tests' build.
        #[arg(long)]
        release: bool,
    },
    /// Checks that the crates can be published: packages each, dependencies first.
    Package {
        /// Also builds each package from its contents (minutes).
        #[arg(long)]
        build: bool,
    },
    /// Does all of a release that needs no network and no key: with --dry-run once, with --twice to see that two builds
    /// are the same. docs/releasing.md has what a person does.
    Release {
        #[command(flatten)]
        options: release::Options,
    },
    /// Packs programs, vectors and a script into bundle/, for a GPU machine without Rust.
    Bundle {
        /// Includes the Python package and its tests on a GPU.
        #[arg(long)]
        wheel: bool,
    },
    /// Checks every backend's constant-time claim, under valgrind, in machine code and in PTX.
    Ct {
        /// Checks only backends whose name, as cipher/backend, contains this.
        filter: Option<String>,
        /// Compares run times of secrets that stay and secrets that change instead (dudect), TIMES of each step
        /// [default: 10 million]. It takes two hours; what else runs makes it less sharp.
        #[arg(long, value_name = "TIMES", num_args = 0..=1, default_missing_value = "10000000")]
        measure: Option<usize>,
        /// Measures on this many cores at once.
        #[arg(long, value_name = "CORES", requires = "measure")]
        cores: Option<usize>,
        /// Measures kernels on this machine's GPU, by its clock, in place of the CPU.
        #[arg(long, requires = "measure", conflicts_with = "cores")]
        gpu: bool,
        /// Checks the wheel as it is published instead, under valgrind with Python (a release build, minutes).
        #[arg(long, conflicts_with_all = ["filter", "measure"])]
        wheel: bool,
    },
    /// Tests for other machines: big-endian and NEON under qemu-user, doors on 32 bits, portable code under Miri.
    Cross {
        /// Parts to run [default: all].
        parts: Vec<cross::Part>,
    },
    /// Checks that vector code stays inlined under cargo's default release profile.
    Inlining,
    /// Makes the skeleton of a new cipher: crate, vectors and page, and its lines in existing files.
    ///
    /// The skeleton compiles; its tests fail until the reference and the vectors are written. A name that is
    /// taken is refused, and nothing changes.
    ///
    ///   cargo xtask new-cipher lea --standard "KS X 3246" --key-bytes 16,24,32
    #[command(verbatim_doc_comment)]
    NewCipher {
        #[command(flatten)]
        specification: new_cipher::Specification,
    },
    /// Ports the ciphers of the book's worked ports, step by step, each in a copy of the tree without it, which must be the
    /// tree in the end.
    Port {
        /// Ciphers whose ports are done [default: all].
        ciphers: Vec<String>,
        /// Leaves out what builds and tests the steps: what tools write is taken from this tree.
        #[arg(long)]
        quick: bool,
        /// The same, and fails if the book's count of files and lines differs from the port's, instead of writing it.
        #[arg(long)]
        check: bool,
    },
    /// Runs the test suites of RustCrypto's crates of modes with our ciphers in the place of theirs (minutes).
    Judges {
        /// Runs only suites whose names contain one of these [default: all].
        only: Vec<String>,
    },
    /// Judges the random numbers of the library: scipy's tests over their distributions (a minute), dieharder's over their
    /// bytes (hours of a core).
    Statistics {
        /// Of dieharder's tests, runs only that of this number in `dieharder -l`.
        #[arg(long, value_name = "TEST")]
        only: Option<u32>,
    },
    /// Proves that the bit-sliced form of every cipher computes its standard, for all blocks and round keys.
    Prove {
        /// Proves only this cipher.
        cipher: Option<String>,
    },
    /// Predicts how fast a cipher can be on cards, by the counts of its round.
    ///
    ///   cargo xtask roof aes-128
    ///
    ///   cargo xtask roof block=64 rounds=31 functions=112 key-bits=64 --json
    #[command(verbatim_doc_comment)]
    Roof {
        #[command(flatten)]
        question: roof::Question,
    },
    /// Builds the rungs of the book's ladder, checks every block and measures them, on a GPU, or without one on the host
    /// (options: `cargo xtask ladder --help`); or those of the ladder on one core (options: `cargo xtask ladder --cpu --help`).
    #[command(disable_help_flag = true)]
    Ladder {
        /// Runs the ladder of CPUs.
        #[arg(long, conflicts_with_all = ["host", "build"])]
        cpu: bool,
        /// Runs them on the host.
        #[arg(long)]
        host: bool,
        /// Builds only, and prints where: all that a GPU machine without Rust needs.
        #[arg(long)]
        build: bool,
        /// Options of ladder.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Measures the rates of a GPU's pipes and memory, which the roofs in the book go by (options: `cargo xtask rates
    /// --help`).
    #[command(disable_help_flag = true)]
    Rates {
        /// Builds only, and prints where: all that a GPU machine without Rust needs.
        #[arg(long)]
        build: bool,
        /// Options of rates.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Builds the kernels that call `lanecrypt.cuh`, checks every block and measures them, on a GPU, or without one on the
    /// host (options: `cargo xtask inside --help`).
    #[command(disable_help_flag = true)]
    Inside {
        /// Runs them on the host.
        #[arg(long)]
        host: bool,
        /// Builds only, and prints where: all that a GPU machine without Rust needs.
        #[arg(long)]
        build: bool,
        /// Options of inside.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Checks rules that no other tool has: first lines, unsafe code, long files, plain English.
    Tidy,
    /// Runs everything that CI checks besides the tests.
    Ci {
        /// Runs only steps whose names contain one of these.
        only: Vec<String>,
    },
}

/// Options of bench-all that leave the swap out, as they measure something else or nothing.
const WITHOUT_SWAP: [&str; 16] = [
    "--auto",
    "--backend",
    "--batches",
    "--files",
    "--first-calls",
    "--fleet",
    "--gpu-only",
    "--help",
    "--host-memory",
    "--report",
    "--sustained",
    "--energy",
    "--version",
    "--with",
    "-V",
    "-h",
];

/// Whether these options of bench-all measure the swap, so that its program is wanted.
fn has_swap(options: &[String]) -> bool {
    let leaves_out = |option: &String| {
        let name = option.split('=').next().unwrap_or_default();
        WITHOUT_SWAP.contains(&name)
    };
    options.iter().any(|option| option == "--swap") || !options.iter().any(leaves_out)
}

/// Builds and runs tune.
fn tune(options: &[String]) -> anyhow::Result<()> {
    command::hand_over(&command::built("tune", &[])?, options, &[])
}

/// Builds and runs bench-all, with Botan and OpenSSL where `--peers` asks for them, and with the program that
/// measures the swap.
fn bench_all(options: &[String]) -> anyhow::Result<()> {
    let with_peers = options.iter().any(|option| option == "--peers");
    let features: &[&str] = if with_peers {
        println!("Botan and OpenSSL: where they are not built yet, that takes minutes");
        &["peers"]
    } else {
        &[]
    };
    // Two builds side by side: each ends with a crate that a core compiles alone.
    let (swap, program) = thread::scope(|scope| {
        // With the caller's flags, which may leave instructions out.
        let flags = std::env::var_os("RUSTFLAGS");
        let build = || user_crate::built("swap", &["swap"], flags);
        let swap = scope.spawn(|| has_swap(options).then(build));
        let program = command::built("bench-all", features);
        (swap.join(), program)
    });
    let swap = swap.expect("builds do not panic").transpose()?;
    let environment = swap.map(|program| ("LANECRYPT_BENCH_SWAP", program));
    command::hand_over(&program?, options, environment.as_slice())
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Test { changed } => test::run_all(changed.as_deref()),
        Task::Kat { options } => test::kat(&options),
        Task::BenchAll { options } => bench_all(&options),
        Task::Tune { options } => tune(&options),
        Task::Codegen { derive: true, cipher, .. } => codegen::derive(cipher.as_deref()),
        Task::Codegen { check, .. } => codegen::run(check).and_then(|()| proofs::plans(check)),
        Task::Kernels { folder, host: true, .. } => kernels::host::build_of(folder.as_deref())
            .map(|library| println!("{}", library.display())),
        Task::Kernels { folder, check, .. } => kernels::run(check, folder.as_deref()),
        Task::Book { epub, pdf } => browser::book(epub, pdf),
        Task::Fuzz { seconds, target } => fuzz::run_targets(seconds, target.as_deref()),
        Task::Mutants { known: true, packages, .. } => known_faults::run(&packages),
        Task::Mutants { packages, file, shard, compiled, .. } => {
            mutants::run(&packages, file.as_deref(), shard.as_deref(), compiled)
        }
        Task::Wheel { release } => wheel::run_task(release),
        Task::Package { build } => publishing::run_task(build),
        Task::Release { options } => release::run_task(&options),
        Task::Bundle { wheel } => bundle::run_task(wheel),
        Task::Ct { wheel: true, .. } => ct::wheel(),
        Task::Ct { filter, measure: Some(times), cores, gpu, .. } => {
            ct::measure(filter.as_deref(), times, cores, gpu)
        }
        Task::Ct { filter, .. } => ct::run_task(filter.as_deref()),
        Task::Cross { parts } => cross::run_parts(&parts),
        Task::Inlining => inlining::check(),
        Task::NewCipher { specification } => new_cipher::run(&specification),
        Task::Port { ciphers, quick, check } => {
            port::run(quick || check, Mode::from_check(check), &ciphers)
        }
        Task::Judges { only } => suites::run(&only),
        Task::Statistics { only } => statistics::run_task(only),
        Task::Prove { cipher } => proofs::prove(cipher.as_deref()),
        Task::Roof { question } => roof::run(&question),
        Task::Inside { build: true, .. } => inside::pack(),
        Task::Inside { host, options, .. } => inside::run_task(host, &options),
        Task::Ladder { cpu: true, options, .. } => ladder::on_cpu(&options),
        Task::Ladder { build: true, .. } => ladder::pack(),
        Task::Ladder { host, options, .. } => ladder::run_task(host, &options),
        Task::Rates { build: true, .. } => rates::pack(),
        Task::Rates { options, .. } => rates::run_task(&options),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_swap_is_built_where_it_is_measured() {
        let has =
            |options: &str| has_swap(&options.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for options in ["", "--quick", "--cipher aes --size 16", "--swap --batches", "--peers"] {
            assert!(has(options), "{options}");
        }
        for options in ["--batches", "--report x", "--backend=aes-ni", "--quick --gpu-only", "-h"] {
            assert!(!has(options), "{options}");
        }
    }
}
