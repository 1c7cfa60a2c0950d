//! What is measured: cases, and the choice of them on the command line.

use std::{fmt, sync::OnceLock};

use clap::Parser;
use lanecrypt::{
    Backend, CIPHERS, CipherDescription, Direction, Engine, Error, Gcm, Platform, Selection,
    SelectionError, modes,
};
use serde::{Deserialize, Serialize};

use super::{
    baseline::{self, Baseline},
    output::{self, Output},
    peers::{PEERS, Peer},
    runner::{self, EngineRunner, Runner},
};
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
#[derive(Clone, Debug, Parser)]
#[command(name = "bench-all", verbatim_doc_comment, group = output::measuring())]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(super) struct Options {
    /// One key size, fewer modes and sizes, shorter measurements, thread-block sizes of hight only:
    /// minutes instead of an hour.
    #[arg(long)]
    pub(super) quick: bool,
    /// Measures only this cipher; may be repeated.
    ///
    /// The default is all ciphers but tdes-eee and hight-kisa, which do the same operations as tdes and
    /// hight in another order and are as fast.
    #[arg(long, value_name = "NAME")]
    pub(super) cipher: Vec<String>,
    /// Measures only these backends, as ID,CIPHER/ID; may be repeated. Baselines are always measured.
    #[arg(long, value_name = "LIST", value_parser = parse_backends)]
    pub(super) backend: Vec<Selection>,
    /// Measures only this size (for batches, of a message), in bytes or with K, M, G; may be repeated.
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub(super) size: Vec<usize>,
    /// Also measures Botan and OpenSSL. (Rust crates are always measured for comparison.)
    ///
    /// They must have been compiled in: `cargo xtask bench-all --peers` does that, in minutes.
    #[arg(long, conflicts_with = "gpu_only")]
    pub(super) peers: bool,
    /// Measures only batches of messages that each have a key.
    #[arg(long, conflicts_with = "backend")]
    pub(super) batches: bool,
    /// Measures only host memory, including batches in it: through the GPU and back, and on all CPU cores.
    #[arg(long, conflicts_with = "backend")]
    pub(super) host_memory: bool,
    /// Measures only a process's first call on the GPU: opening the device and loading kernels.
    #[arg(long, conflicts_with_all = ["backend", "cpu_only"])]
    pub(super) first_calls: bool,
    /// Measures only CTR on the GPU over the largest size, launched without a pause for one minute per
    /// backend and key size.
    #[arg(long, requires = "gpu_only")]
    pub(super) sustained: bool,
    /// Measures only several GPUs as one: data resident on them, and host memory that they share.
    #[arg(long, conflicts_with_all = ["backend", "cpu_only"])]
    pub(super) fleet: bool,
    /// Measures only the choice between CPU and GPU, at sizes around every switch in the experience data.
    #[arg(long, conflicts_with = "backend")]
    pub(super) auto: bool,
    /// Measures only whole files on a RAM disk, with the command `lanecrypt` and with other commands.
    #[arg(long, conflicts_with = "backend")]
    pub(super) files: bool,
    /// Measures only on the GPU.
    #[arg(long, conflicts_with = "cpu_only")]
    pub(super) gpu_only: bool,
    /// Measures only on the CPU.
    #[arg(long)]
    pub(super) cpu_only: bool,
    #[command(flatten)]
    pub(super) output: Output,
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

/// Bytes of a data unit of XTS on devices: a sector of a disk, and a page.
pub(super) const UNIT: usize = 4096;

/// Bytes of an IV of GCM.
pub(super) const GCM_IV_BYTES: usize = 12;

/// What runs over the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Work {
    /// ECB encryption.
    EcbEncrypt,
    /// ECB decryption.
    EcbDecrypt,
    /// CTR, XOR with data.
    Ctr,
    /// CBC decryption.
    CbcDecrypt,
    /// XTS encryption: of one data unit on CPUs, of units of [`UNIT`] bytes on devices.
    XtsEncrypt,
    /// XTS decryption, on devices.
    XtsDecrypt,
    /// GCM encryption with an IV of 12 bytes and no associated data.
    GcmEncrypt,
    /// GCM decryption of what has the right tag, on devices.
    GcmDecrypt,
    /// CTR's key stream alone, not stored: on devices, where kernels have that form.
    Keystream,
}

impl Work {
    pub(super) const ALL: [Self; 6] = [
        Self::EcbEncrypt,
        Self::EcbDecrypt,
        Self::Ctr,
        Self::CbcDecrypt,
        Self::XtsEncrypt,
        Self::GcmEncrypt,
    ];
    /// What kernels do themselves.
    pub(super) const ON_DEVICE: [Self; 8] = [
        Self::EcbEncrypt,
        Self::EcbDecrypt,
        Self::Ctr,
        Self::CbcDecrypt,
        Self::XtsEncrypt,
        Self::XtsDecrypt,
        Self::GcmEncrypt,
        Self::GcmDecrypt,
    ];

    /// Runs it in place. The counter, IV or tweak is `iv`; `tweak_engine` serves XTS alone.
    ///
    /// # Errors
    /// The engine's and the mode's.
    pub(super) fn run(
        self,
        engine: &dyn Engine,
        tweak_engine: &dyn Engine,
        iv: &[u8],
        data: &mut [u8],
    ) -> Result<(), Error> {
        match self {
            Self::EcbEncrypt => engine.ecb(Direction::Encrypt, data.into()),
            Self::EcbDecrypt => engine.ecb(Direction::Decrypt, data.into()),
            Self::Ctr => engine.ctr(iv, data.into()),
            Self::CbcDecrypt => modes::cbc_decrypt(engine, iv, data.into()),
            Self::XtsEncrypt => {
                modes::xts(engine, tweak_engine, iv, Direction::Encrypt, data.into())
            }
            Self::XtsDecrypt => {
                modes::xts(engine, tweak_engine, iv, Direction::Decrypt, data.into())
            }
            Self::GcmEncrypt => seal(&Gcm::of(engine)?, iv, data),
            Self::GcmDecrypt => gcm_bytes(engine, iv, 0, data),
            Self::Keystream => {
                data.fill(0);
                engine.ctr(iv, data.into())
            }
        }
    }
}

/// Encrypts in GCM with the first bytes of `iv` as it is usually long.
///
/// # Errors
/// The engine's.
pub(super) fn seal<E: Engine>(gcm: &Gcm<E>, iv: &[u8], data: &mut [u8]) -> Result<(), Error> {
    gcm.encrypt(&iv[..GCM_IV_BYTES], &[], data.into(), &mut std::hint::black_box([0; 16]))
}

/// What GCM makes of data of a message from the block with this number on, without the tag: the same in
/// both directions.
///
/// # Errors
/// The engine's.
pub(super) fn gcm_bytes(
    engine: &dyn Engine,
    iv: &[u8],
    first: u32,
    data: &mut [u8],
) -> Result<(), Error> {
    let mut counter = [0; 16];
    counter[..GCM_IV_BYTES].copy_from_slice(&iv[..GCM_IV_BYTES]);
    counter[15] = 1; // the tag's
    modes::ctr32(engine, &modes::gcm::counter(&counter, first), data.into())
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EcbEncrypt => "ECB encryption",
            Self::EcbDecrypt => "ECB decryption",
            Self::Ctr => "CTR",
            Self::CbcDecrypt => "CBC decryption",
            Self::XtsEncrypt => "XTS encryption",
            Self::XtsDecrypt => "XTS decryption",
            Self::GcmEncrypt => "GCM encryption",
            Self::GcmDecrypt => "GCM decryption",
            Self::Keystream => "key stream, not stored",
        })
    }
}

/// One measurement on a CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Case {
    /// The cipher's name.
    pub(super) cipher: String,
    /// Bytes of the key.
    pub(super) key_bytes: usize,
    /// The backend's id, or a baseline's name.
    pub(super) backend: String,
    /// The mode.
    pub(super) work: Work,
    /// Bytes of data.
    pub(super) bytes: usize,
}

/// The key that everything is measured with: any will do, none is special.
#[must_use]
pub(super) fn key(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 37 + 11) as u8).collect()
}

/// Something that is measured: a backend, or another library.
#[derive(Clone, Copy, Debug)]
pub(super) enum Contender {
    /// One of ours.
    Backend(&'static Backend),
    /// A Rust library's.
    Baseline(&'static Baseline),
    /// A library's in another language.
    Peer(&'static Peer),
}

impl Contender {
    /// The id or name in reports.
    #[must_use]
    pub(super) fn id(&self) -> &'static str {
        match self {
            Self::Backend(backend) => backend.id,
            Self::Baseline(baseline) => baseline.name,
            Self::Peer(peer) => peer.name,
        }
    }

    /// Whether it is somebody else's.
    #[must_use]
    pub(super) fn is_peer(&self) -> bool {
        !matches!(self, Self::Backend(_))
    }

    /// Makes what is timed.
    ///
    /// # Errors
    /// Those of the backend, or what a library lacks, as a sentence.
    pub(super) fn runner(
        &self,
        cipher: &CipherDescription,
        work: Work,
        key_bytes: usize,
    ) -> Result<Box<dyn Runner>, String> {
        let create = match self {
            Self::Backend(backend) => backend.create,
            Self::Baseline(_) if work == Work::GcmEncrypt => {
                return Err(format!("it has no {work}"));
            }
            Self::Baseline(baseline) => baseline.create,
            Self::Peer(peer) => {
                return (peer.create)(cipher, work, &runner::key(work, key_bytes));
            }
        };
        let runner = EngineRunner::new(create, work, key_bytes);
        runner.map(|runner| Box::new(runner) as Box<dyn Runner>).map_err(|error| error.to_string())
    }
}

/// The contender of a case.
#[must_use]
pub(super) fn find(case: &Case) -> Option<(&'static CipherDescription, Contender)> {
    let cipher = CIPHERS.iter().copied().find(|cipher| cipher.name == case.cipher)?;
    let all = contenders(cipher, true);
    all.into_iter().find(|contender| contender.id() == case.backend).map(|found| (cipher, found))
}

/// Everything that computes a cipher on a CPU, other libraries last.
fn contenders(cipher: &'static CipherDescription, with_peers: bool) -> Vec<Contender> {
    let ours = cipher.backends.iter().filter(|backend| backend.platform == Platform::Cpu);
    let peers = PEERS.iter().filter(|_| with_peers);
    let theirs = baseline::of(cipher).into_iter().map(Contender::Baseline);
    ours.map(Contender::Backend).chain(theirs).chain(peers.map(Contender::Peer)).collect()
}

impl Options {
    /// The ciphers chosen.
    pub(super) fn ciphers(&self) -> impl Iterator<Item = &'static CipherDescription> {
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
    pub(super) fn tries_thread_blocks(&self, cipher: &CipherDescription) -> bool {
        !self.quick || cipher.name == "hight"
    }

    /// Whether they are tried with messages of all lengths: P4 did so with AES.
    #[must_use]
    pub(super) fn tries_messages(&self, cipher: &CipherDescription) -> bool {
        !self.quick && cipher.name == "aes"
    }

    /// Names on the command line that do not exist, or not together.
    ///
    /// # Errors
    /// One sentence for a person.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.peers && PEERS.is_empty() {
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
    pub(super) fn takes(&self, cipher: &CipherDescription, backend: &Backend) -> bool {
        self.backend.is_empty() || self.backend.iter().any(|list| list.contains(cipher, backend))
    }

    /// Key sizes to measure.
    #[must_use]
    pub(super) fn key_bytes(&self, cipher: &CipherDescription) -> &'static [usize] {
        if self.quick { &cipher.key_bytes[..1] } else { cipher.key_bytes }
    }

    /// Sizes to measure: those chosen, or the ones given here.
    #[must_use]
    pub(super) fn sizes(&self, full: &[usize], quick: &[usize]) -> Vec<usize> {
        if !self.size.is_empty() {
            return self.size.clone();
        }
        if self.quick { quick.to_vec() } else { full.to_vec() }
    }

    /// Every case on the CPU, and what cannot run with the reason.
    #[must_use]
    pub(super) fn cpu_cases(&self) -> (Vec<Case>, Vec<String>) {
        let (mut cases, mut skipped) = (Vec::new(), Vec::new());
        if self.gpu_only {
            return (cases, skipped);
        }
        for cipher in self.ciphers() {
            for contender in contenders(cipher, self.peers) {
                match contender {
                    Contender::Backend(backend) if !self.takes(cipher, backend) => {}
                    Contender::Backend(backend) => match (backend.available)() {
                        Err(reason) => {
                            skipped.push(format!("{}/{}: {reason}", cipher.name, backend.id));
                        }
                        Ok(()) => cases.extend(self.cases_of(cipher, contender, &mut skipped)),
                    },
                    _ => cases.extend(self.cases_of(cipher, contender, &mut skipped)),
                }
            }
        }
        (cases, skipped)
    }

    /// The cases of one contender; what it lacks is added to `skipped`, once each.
    fn cases_of(
        &self,
        cipher: &'static CipherDescription,
        contender: Contender,
        skipped: &mut Vec<String>,
    ) -> Vec<Case> {
        let block = cipher.block_bytes;
        let sizes = self.sizes(
            &[block, 256, 4 << 10, 16 << 10, 64 << 10, 1 << 20, 16 << 20],
            &[block, 4 << 10, 16 << 10, 1 << 20],
        );
        let works = if self.quick { &Work::ALL[..3] } else { &Work::ALL[..] };
        let mut cases = Vec::new();
        for &key_bytes in self.key_bytes(cipher) {
            for &work in works.iter().filter(|&&work| fits(work, block)) {
                if let Err(reason) = contender.runner(cipher, work, key_bytes) {
                    let what = format!("{}: {reason}", contender.id());
                    if !skipped.contains(&what) {
                        skipped.push(what);
                    }
                    continue;
                }
                cases.extend(sizes.iter().map(|&bytes| Case {
                    cipher: cipher.name.to_owned(),
                    key_bytes,
                    backend: contender.id().to_owned(),
                    work,
                    bytes: bytes.next_multiple_of(block),
                }));
            }
        }
        cases
    }
}

/// XTS and GCM are defined for 16-byte blocks only.
pub(super) fn fits(work: Work, block: usize) -> bool {
    use Work::{GcmDecrypt, GcmEncrypt, XtsDecrypt, XtsEncrypt};
    !matches!(work, XtsEncrypt | XtsDecrypt | GcmEncrypt | GcmDecrypt) || block == 16
}

/// Reproducible random data, never zeros: up to the largest CPU size.
///
/// # Panics
/// Where more is asked for than there is.
pub(super) fn noise(bytes: usize) -> &'static [u8] {
    static NOISE: OnceLock<Vec<u8>> = OnceLock::new();
    let noise = NOISE.get_or_init(|| {
        let mut data = vec![0; 64 << 20];
        lanecrypt_reference::vectors::PlaintextStream::new(1).fill(&mut data);
        data
    });
    &noise[..bytes]
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
        let refused = Options::try_parse_from(["bench-all", "--backend", "abacus"]).unwrap_err();
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
    fn every_case_can_be_found_again() {
        let options = Options::parse_from(["bench-all"]);
        let (cases, _) = options.cpu_cases();
        assert!(cases.len() > 100, "{}", cases.len());
        assert!(cases.iter().all(|case| find(case).is_some()));
        let quick = Options::parse_from(["bench-all", "--quick"]).cpu_cases().0;
        assert!(quick.len() * 3 < cases.len());
        for of_16_kib in [&cases, &quick] {
            assert!(of_16_kib.iter().any(|case| case.bytes == 16 << 10));
        }
    }

    #[cfg(not(feature = "peers"))]
    #[test]
    fn without_peers_their_option_says_where_to_get_them() {
        let refused = Options::parse_from(["bench-all", "--peers"]).check().unwrap_err();
        assert!(refused.contains("cargo xtask bench-all --peers"), "{refused}");
    }

    #[cfg(feature = "peers")]
    #[test]
    fn peers_are_measured_when_asked_for_and_what_they_lack_is_named() {
        let names = ["bench-all", "--cipher", "seed", "--cipher", "hight"];
        let of_peers = |options: &[&str]| {
            let options = Options::parse_from([&names[..], options].concat());
            assert_eq!(options.check(), Ok(()));
            let (cases, skipped) = options.cpu_cases();
            let ours = skipped.iter().filter(|line| line.starts_with("OpenSSL"));
            let ours = ours.cloned().collect::<Vec<_>>();
            (cases.iter().filter(|case| case.backend == "OpenSSL").count(), ours)
        };
        assert_eq!(of_peers(&[]), (0, Vec::new()));
        let lacks = ["OpenSSL: it has no HIGHT", "OpenSSL: it has no SEED-CTR"];
        assert_eq!(of_peers(&["--peers", "--quick"]), (2 * 4, lacks.map(str::to_owned).to_vec()));
    }
}
