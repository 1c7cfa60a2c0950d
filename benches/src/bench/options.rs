//! What is measured, as the command line says it.

use clap::{Args, Parser};
use lanecrypt::{
    CIPHERS,
    cuda::Device,
    registry::{Backend, CipherDescription, Selection, SelectionError},
};

use crate::bench::output::{MEASURING, Output};
use crate::size::parse_bytes;

/// Measures every cipher and every backend that this machine can run, and writes a report.
///
/// Output is verified before it is timed. The run ends with one screen; all tables go to a folder of its
/// own under benches/record: index.html to look at, report.md, report.csv, report.json and pictures.
///
/// Examples:
///
///   bench-all --quick --cipher aes --backend bitslice-u64 --size 1M
///
///   bench-all --quick --compare benches/record/2026-11-22-xeon-f534e9c   what became slower?
///
///   bench-all --report cpu/report.json --report gpu/report.json --out page   a page of two records
///
/// Exit codes: 0; 1 if something failed or, with --compare, lost more than the threshold; 2 for wrong
/// options.
#[derive(Debug, Parser)]
#[command(name = "bench-all", verbatim_doc_comment)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(flatten)]
    pub(crate) output: Output,
}

// What to measure. No text of its own: clap would show it in place of that above.
#[derive(Clone, Debug, Args)]
#[group(id = MEASURING)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct Options {
    /// One key size, fewer modes and sizes, shorter measurements, thread-block sizes of hight only:
    /// minutes instead of an hour.
    #[arg(long)]
    pub(crate) quick: bool,
    /// How long a figure of the CPU is measured, in milliseconds: by default 300, or 40 with --quick.
    ///
    /// With 1 a run shows that everything can be measured, and its figures are of no use.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    milliseconds: Option<u64>,
    /// Measures only this cipher; may be repeated.
    ///
    /// The default is all ciphers but tdes-eee and hight-kisa, which do the same operations as tdes and
    /// hight in another order and are as fast.
    #[arg(long, value_name = "NAME")]
    pub(crate) cipher: Vec<String>,
    /// Measures only these backends, as ID,CIPHER/ID; may be repeated. Baselines are always measured.
    #[arg(long, value_name = "LIST", value_parser = parse_backends)]
    pub(crate) backend: Vec<Selection>,
    /// Measures only this size (for batches, of a message), in bytes or with K, M, G; may be repeated.
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub(crate) size: Vec<usize>,
    /// Also measures Botan and OpenSSL. (Rust crates are always measured for comparison.)
    ///
    /// They must have been compiled in: `cargo xtask bench-all --peers` does that, in minutes.
    #[arg(long, conflicts_with = "gpu_only")]
    pub(crate) peers: bool,
    /// Measures only batches of messages that each have a key.
    #[arg(long, conflicts_with = "backend")]
    pub(crate) batches: bool,
    /// Measures only host memory, including batches in it: through the GPU and back, and on all CPU cores.
    #[arg(long, conflicts_with = "backend")]
    pub(crate) host_memory: bool,
    /// Measures only a process's first call on the GPU: opening the device and loading kernels.
    #[arg(long, conflicts_with_all = ["backend", "cpu_only"])]
    pub(crate) first_calls: bool,
    /// Measures only CTR on the GPU over the largest size, launched without a pause for one minute per
    /// backend and key size.
    #[arg(long, requires = "gpu_only")]
    pub(crate) sustained: bool,
    /// Measures only ECB and CTR on the GPU over the largest size, and the energy that they take.
    #[arg(long, requires = "gpu_only", conflicts_with_all = ["quick", "sustained"])]
    pub(crate) energy: bool,
    /// Measures only several GPUs as one: data resident on them, and host memory that they share.
    #[arg(long, conflicts_with_all = ["backend", "cpu_only"])]
    pub(crate) fleet: bool,
    /// Measures only the choice between CPU and GPU, at sizes around every switch in the experience data.
    #[arg(long, conflicts_with = "backend")]
    pub(crate) auto: bool,
    /// Measures only whole files on a RAM disk, with the command `lanecrypt` and with other commands.
    #[arg(long, conflicts_with = "backend")]
    pub(crate) files: bool,
    /// Measures only what a user gets who replaces RustCrypto's ciphers by ours, under RustCrypto's mode
    /// crates and under our modes, from a key to a megabyte.
    ///
    /// `cargo xtask bench-all` builds the program that measures it, as a user's crate is built.
    #[arg(long, conflicts_with_all = ["backend", "gpu_only"])]
    pub(crate) swap: bool,
    /// Measures only on the GPU.
    #[arg(long, conflicts_with = "cpu_only")]
    pub(crate) gpu_only: bool,
    /// Measures only on the CPU.
    #[arg(long)]
    pub(crate) cpu_only: bool,
}

/// A size of a measurement: any number of bytes but none.
fn parse_size(text: &str) -> Result<usize, String> {
    let bytes = parse_bytes(text)?;
    let size = usize::try_from(bytes).ok().filter(|&size| size > 0);
    size.ok_or_else(|| format!("{text} bytes cannot be measured"))
}

fn parse_backends(text: &str) -> Result<Selection, SelectionError> {
    Selection::parse(text, CIPHERS)
}

/// What `--peers` is answered where they are not compiled in.
const NO_PEERS: &str = "--peers: Botan and OpenSSL are not compiled into this program; \
    `cargo xtask bench-all --peers` builds one that has them (feature `peers` of lanecrypt-benches)";

/// Ciphers that do what another one does, in another order: measured where they are named.
const ONLY_WHEN_NAMED: [&str; 2] = ["tdes-eee", "hight-kisa"];

#[cfg(test)]
impl Options {
    /// Those of a command line.
    pub(crate) fn parse_from(
        arguments: impl IntoIterator<Item: Into<std::ffi::OsString> + Clone>,
    ) -> Self {
        CommandLine::parse_from(arguments).options
    }
}

impl Options {
    /// The ciphers chosen.
    pub(crate) fn ciphers(&self) -> impl Iterator<Item = &'static CipherDescription> {
        let chosen = self.cipher.clone();
        CIPHERS.iter().copied().filter(move |cipher| {
            if chosen.is_empty() {
                !ONLY_WHEN_NAMED.contains(&cipher.name)
            } else {
                chosen.iter().any(|name| name == cipher.name)
            }
        })
    }

    /// Whether the thread-block sizes of this cipher's kernels are tried: P3 tried HIGHT's.
    #[must_use]
    pub(crate) fn tries_thread_blocks(&self, cipher: &CipherDescription) -> bool {
        !self.quick || cipher.name == "hight"
    }

    /// Whether they are tried with messages of all lengths: P4 did so with AES.
    #[must_use]
    pub(crate) fn tries_messages(&self, cipher: &CipherDescription) -> bool {
        !self.quick && cipher.name == "aes"
    }

    /// Names on the command line that do not exist, or not together.
    ///
    /// # Errors
    /// One sentence for a person.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.peers && !cfg!(feature = "peers") {
            return Err(NO_PEERS.into());
        }
        for name in &self.cipher {
            lanecrypt::find_cipher(name).map_err(|error| error.to_string())?;
        }
        let names_one = |list: &Selection| {
            self.ciphers().any(|cipher| cipher.backends.iter().any(|b| list.contains(cipher, b)))
        };
        if self.backend.iter().all(names_one) {
            return Ok(());
        }
        let ids = self.ciphers().flat_map(|cipher| cipher.backends).map(|backend| backend.id);
        let known = ids.collect::<Vec<_>>().join(", ");
        Err(format!("a --backend names none of the chosen ciphers'; they have {known}"))
    }

    /// Whether a backend is chosen.
    #[must_use]
    pub(crate) fn takes(&self, cipher: &CipherDescription, backend: &Backend) -> bool {
        self.backend.is_empty() || self.backend.iter().any(|list| list.contains(cipher, backend))
    }

    /// Key sizes to measure.
    #[must_use]
    pub(crate) fn key_bytes(&self, cipher: &CipherDescription) -> &'static [usize] {
        if self.quick { &cipher.key_bytes[..1] } else { cipher.key_bytes }
    }

    /// The GPU, where one is here and wanted.
    #[must_use]
    pub(crate) fn device(&self) -> Option<Device> {
        if self.cpu_only { None } else { Device::default().ok() }
    }

    /// How long to measure a figure of the CPU.
    #[must_use]
    pub(crate) fn milliseconds(&self) -> u64 {
        self.milliseconds.unwrap_or(if self.quick { 40 } else { 300 })
    }

    /// Sizes to measure: those chosen, or the ones given here.
    #[must_use]
    pub(crate) fn sizes(&self, full: &[usize], quick: &[usize]) -> Vec<usize> {
        if !self.size.is_empty() {
            return self.size.clone();
        }
        if self.quick { quick.to_vec() } else { full.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_no_size() {
        assert_eq!(parse_size("64k"), Ok(64 << 10));
        assert!(parse_size("0").is_err());
        assert!(parse_size("1.5M").is_err());
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        let options = Options::parse_from(["bench-all", "--cipher", "rot13"]);
        assert!(options.check().unwrap_err().contains("aes"));
        let refused =
            CommandLine::try_parse_from(["bench-all", "--backend", "abacus"]).unwrap_err();
        assert!(refused.to_string().contains("bitslice-u64"), "{refused}");
        let arguments = ["bench-all", "--backend", "byteslice-u32", "--cipher", "des"];
        assert!(Options::parse_from(arguments).check().unwrap_err().contains("bitslice-u64"));
        let options = Options::parse_from(["bench-all", "--backend", "table32", "--cipher", "aes"]);
        assert_eq!(options.check(), Ok(()));
    }

    #[test]
    fn ciphers_that_tell_nothing_new_are_measured_when_named() {
        let names = |arguments: &[&str]| -> Vec<&str> {
            Options::parse_from(arguments).ciphers().map(|cipher| cipher.name).collect()
        };
        assert_eq!(names(&["bench-all", "--cipher", "hight-kisa"]), ["hight-kisa"]);
        let by_default = names(&["bench-all"]);
        assert_eq!(by_default, names(&["bench-all", "--quick"]));
        // Each name that is left out is one of the registry.
        assert_eq!(by_default.len() + ONLY_WHEN_NAMED.len(), CIPHERS.len());
    }

    #[test]
    fn the_swap_is_an_option_with_a_text() {
        use clap::CommandFactory;
        let help = CommandLine::command().render_long_help().to_string();
        assert!(
            help.contains("--swap") && help.contains("replaces RustCrypto's ciphers"),
            "{help}"
        );
        assert!(CommandLine::try_parse_from(["bench-all", "--swap", "--quick"]).is_ok());
        assert!(CommandLine::try_parse_from(["bench-all", "--swap", "--gpu-only"]).is_err());
        assert!(CommandLine::try_parse_from(["bench-all", "--swap", "--report", "x"]).is_err());
    }

    #[cfg(not(feature = "peers"))]
    #[test]
    fn without_peers_their_option_says_where_to_get_them() {
        let refused = Options::parse_from(["bench-all", "--peers"]).check().unwrap_err();
        assert!(refused.contains("cargo xtask bench-all --peers"), "{refused}");
    }
}
