//! The cases on a CPU: who computes which cipher, in which mode, over how much.

use std::{fmt, time::Duration};

use lanecrypt::registry::{Backend, CipherDescription, Platform};
use lanecrypt_record::Work;

use super::{
    peers::baseline::{self, Baseline},
    peers::{PEERS, Peer},
    runner::{self, Calls, Data, EngineRunner, Runner},
};
use crate::bench::{
    options::Options,
    plan::{ON_CPU, fits},
};

/// One measurement on a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) cipher: &'static CipherDescription,
    /// Bytes of the key.
    pub(crate) key_bytes: usize,
    /// Who computes it.
    pub(crate) contender: Contender,
    /// The mode.
    pub(crate) work: Work,
    /// Bytes of data.
    pub(crate) bytes: usize,
}

impl Case {
    /// Makes what is timed.
    ///
    /// # Errors
    /// Those of the backend, or what a library lacks, as a sentence.
    pub(crate) fn runner(&self) -> Result<Box<dyn Runner>, String> {
        self.contender.runner(self.cipher, self.work, self.key_bytes)
    }

    /// What is timed: calls over its data that take about as long as a pass should.
    ///
    /// # Errors
    /// Those of running it, as a sentence that names it.
    pub(crate) fn calls(&self, pass: Duration) -> Result<Calls, String> {
        let data = Data::new(self.bytes, self.cipher.block_bytes);
        let calls = self.runner().and_then(|runner| Calls::new(runner, data, pass));
        calls.map_err(|error| format!("{self}: {error}"))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cipher, key_bytes, contender, work, bytes } = self;
        write!(f, "{}-{}, {}, {work}, {bytes} bytes", cipher.name, 8 * key_bytes, contender.id())
    }
}

/// Something that is measured: a backend, or another library.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Contender {
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
    pub(crate) fn id(&self) -> &'static str {
        match self {
            Self::Backend(backend) => backend.id,
            Self::Baseline(baseline) => baseline.name,
            Self::Peer(peer) => peer.name,
        }
    }

    /// Whether it is somebody else's.
    #[must_use]
    pub(crate) fn is_peer(&self) -> bool {
        !matches!(self, Self::Backend(_))
    }

    fn runner(
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

/// Everything that computes a cipher on a CPU, other libraries last.
fn contenders(cipher: &'static CipherDescription, with_peers: bool) -> Vec<Contender> {
    let ours = cipher.backends.iter().filter(|backend| backend.platform == Platform::Cpu);
    let peers = PEERS.iter().filter(|_| with_peers);
    let theirs = baseline::of(cipher).into_iter().map(Contender::Baseline);
    ours.map(Contender::Backend).chain(theirs).chain(peers.map(Contender::Peer)).collect()
}

impl Options {
    /// Every case on the CPU, and what cannot run with the reason.
    #[must_use]
    pub(crate) fn cpu_cases(&self) -> (Vec<Case>, Vec<String>) {
        let (mut cases, mut skipped) = (Vec::new(), Vec::new());
        if self.gpu_only {
            return (cases, skipped);
        }
        for cipher in self.ciphers() {
            for contender in contenders(cipher, self.peers) {
                if let Contender::Backend(backend) = contender {
                    if !self.takes(cipher, backend) {
                        continue;
                    }
                    if let Err(reason) = (backend.available)() {
                        skipped.push(format!("{}/{}: {reason}", cipher.name, backend.id));
                        continue;
                    }
                }
                cases.extend(self.cases_of(cipher, contender, &mut skipped));
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
        let works = if self.quick { &ON_CPU[..3] } else { &ON_CPU[..] };
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
                cases.extend(sizes.iter().map(|bytes| {
                    let bytes = bytes.next_multiple_of(block);
                    Case { cipher, key_bytes, contender, work, bytes }
                }));
            }
        }
        cases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_run_has_a_third_of_the_cases() {
        let options = Options::parse_from(["bench-all"]);
        let (cases, _) = options.cpu_cases();
        assert!(cases.len() > 100, "{}", cases.len());
        let quick = Options::parse_from(["bench-all", "--quick"]).cpu_cases().0;
        assert!(quick.len() * 3 < cases.len());
        for of_16_kib in [&cases, &quick] {
            assert!(of_16_kib.iter().any(|case| case.bytes == 16 << 10));
        }
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
            (cases.iter().filter(|case| case.contender.id() == "OpenSSL").count(), ours)
        };
        assert_eq!(of_peers(&[]), (0, Vec::new()));
        let lacks = ["OpenSSL: it has no HIGHT", "OpenSSL: it has no SEED-CTR"];
        assert_eq!(of_peers(&["--peers", "--quick"]), (2 * 4, lacks.map(str::to_owned).to_vec()));
    }
}
