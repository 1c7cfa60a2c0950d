//! Backends that are wrong on purpose, and a kat that finds out how: the test of the test.

use std::{fs, sync::atomic::AtomicBool};

use lanecrypt::{
    ConstantTime, Direction, Engine, Error, Operation,
    cipher::InOutBuf,
    modes,
    registry::{Backend, CipherDescription, Platform},
};
use lanecrypt_benches::kat::{Limits, Names, Report, Targets, run, sources};

/// How an engine is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// Leaves the last block of an output unwritten, out of place only.
    LastBlockOutOfPlace,
    /// Does not undo what encryption does.
    Decryption,
    Fails,
    Panics,
}

/// A cipher for children: every byte of a block is XORed with the key's.
#[derive(Debug)]
struct Toy {
    key: Vec<u8>,
    fault: Fault,
}

impl Engine for Toy {
    fn block_bytes(&self) -> usize {
        16
    }

    fn run(&self, operation: Operation<'_>, mut data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let Operation::Ecb(direction) = operation else {
            return modes::by_ecb(self, operation, data);
        };
        let in_place = std::ptr::eq(data.get_in().as_ptr(), data.get_out().as_ptr());
        match self.fault {
            Fault::Panics => panic!("out of fingers"),
            Fault::Fails => {
                return Err(Error::DataUnitLength { given: 0, block: 16 });
            }
            Fault::LastBlockOutOfPlace if !in_place => {
                let written = data.len() - 16;
                data = data.split_at(written).0;
            }
            Fault::Decryption if direction == Direction::Decrypt => return Ok(()),
            _ => {}
        }
        let stream = self.key.repeat(data.len() / 16);
        data.xor_in2out(&stream);
        Ok(())
    }
}

/// A backend with a fault.
macro_rules! toy {
    ($id:literal, $platform:ident, $fault:ident) => {
        Backend {
            id: $id,
            platform: Platform::$platform,
            lanes: 1,
            constant_time: ConstantTime::Yes,
            summary: "a toy",
            available: || Ok(()),
            create: |key| Ok(Box::new(Toy { key: key.to_vec(), fault: Fault::$fault })),
            family: None,
        }
    };
}

static TOY: CipherDescription = CipherDescription {
    name: "toy",
    standard: "none",
    block_bytes: 16,
    key_bytes: &[16],
    kernels: None,
    backends: &[
        toy!("good", Cpu, Nothing),
        toy!("reference", Cpu, Nothing),
        toy!("good-gpu", Cuda, Nothing),
        toy!("second-gpu", Cuda, Nothing),
        toy!("good-host", CudaOnHost, Nothing),
        toy!("second-host", CudaOnHost, Nothing),
        toy!("third-host", CudaOnHost, Nothing),
        toy!("wrong-host", CudaOnHost, Decryption),
        toy!("second-wrong-host", CudaOnHost, Decryption),
        toy!("third-wrong-host", CudaOnHost, Decryption),
        toy!("last-block", Cpu, LastBlockOutOfPlace),
        toy!("decryption", Cpu, Decryption),
        toy!("fails", Cpu, Fails),
        toy!("panics", Cpu, Panics),
    ],
};

fn report(text: &str, backends: &[&str], limits: Limits) -> Report {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("toy.txt"), text).expect("a file");
    let backends = backends.iter().map(|&id| id.to_owned()).collect();
    let names = Names { backends, ..Names::default() };
    let targets = Targets::new(&[&TOY], &names).expect("the names are known");
    let sources = sources::read(&[folder.path().into()]);
    run(&sources, &targets, &limits, &indicatif::ProgressBar::hidden())
}

/// Two blocks, with a key that shows every byte.
fn vectors() -> String {
    let pt = "00".repeat(32);
    let key = "101112131415161718191a1b1c1d1e1f";
    format!(
        "# bcv1 cipher=toy mode=ecb expect=ok vectors=1\nid=a key={key} pt={pt} ct={key}{key}\n"
    )
}

/// The one failure of a backend over two blocks.
#[track_caller]
fn failure(backend: &str) -> (Option<String>, String) {
    let mut report = report(&vectors(), &[backend], Limits::default());
    assert_eq!(report.total.failed, 1);
    let failure = report.failures.remove(0);
    assert_eq!((failure.line, failure.id.as_deref()), (Some(2), Some("a")));
    (failure.direction, failure.what)
}

#[test]
fn good_backends_pass_everywhere() {
    let report = report(&vectors(), &["good", "good-gpu", "good-host"], Limits::default());
    assert_eq!(report.total.to_string(), "3 passed, 0 failed, 0 skipped");
}

#[test]
fn each_fault_is_found() {
    let (direction, what) = failure("last-block");
    assert_eq!(direction.as_deref(), Some("encrypt"));
    assert!(what.starts_with("out of place: byte 16 differs"), "{what}");
    let (direction, what) = failure("decryption");
    assert_eq!(direction.as_deref(), Some("decrypt"));
    assert!(what.starts_with("in place: byte 0 differs"), "{what}");
    assert!(failure("fails").1.contains("in place: XTS data unit of 0 bytes"));
    assert_eq!(failure("panics"), (None, "panicked: out of fingers".to_owned()));
}

/// The names of the steps from this one on.
fn chain_names(first: usize) -> Vec<String> {
    (first..8).map(|step| format!("s{step}")).collect()
}

/// Eight steps whose two operations cancel out.
fn chains() -> String {
    let (key, input) = ("01".repeat(16), "02".repeat(16));
    let (output, previous) = (&input, "03".repeat(16));
    let line = |step| {
        format!(
            "id=s{step} mode=ecb dir=e inner=2 step={step} key={key} in={input} out={output} \
             prev={previous}\n"
        )
    };
    "# bcv1-mct cipher=toy lines=8\n".to_owned() + &(0..8).map(line).collect::<String>()
}

#[test]
fn the_emulator_runs_few_chains_unless_told_otherwise() {
    let backends = ["good", "good-gpu", "good-host"];
    let some = report(&chains(), &backends, Limits::default());
    assert_eq!(some.total.to_string(), "18 passed, 0 failed, 6 skipped");
    let [on_host] = &some.skips[..] else { panic!("{:?}", some.skips) };
    assert_eq!(
        (&on_host.names[..], &on_host.backends[0][..]),
        (&chain_names(2)[..], "toy/good-host")
    );
    let all = report(&chains(), &backends, Limits { all_chains: true, ..Limits::default() });
    assert_eq!(all.total.to_string(), "24 passed, 0 failed, 0 skipped");
    let wrong = report(&chains(), &["fails"], Limits::default());
    assert_eq!(wrong.total.failed, 8);
}

#[test]
fn families_of_a_gpu_share_chains() {
    let gpus = ["good-gpu", "second-gpu"];
    let shared = report(&chains(), &gpus, Limits::default());
    let passed: Vec<_> = shared.cells.iter().map(|cell| cell.tally.passed).collect();
    assert_eq!(passed, [4, 4]);
    assert_eq!((shared.skips.len(), shared.skips[0].cases), (1, 8));
    let all = report(&chains(), &gpus, Limits { all_vectors: true, ..Limits::default() });
    assert_eq!(all.total.to_string(), "16 passed, 0 failed, 0 skipped");
    // Vectors of other kinds run on each.
    let each = report(&vectors(), &gpus, Limits::default());
    assert_eq!(each.total.to_string(), "2 passed, 0 failed, 0 skipped");
}

#[test]
fn an_interrupted_run_says_what_it_left_out() {
    static INTERRUPTED: AtomicBool = AtomicBool::new(true);
    let limits = Limits { interrupted: Some(&INTERRUPTED), ..Limits::default() };
    let left = report(&chains(), &["good", "fails"], limits);
    assert_eq!(left.total.to_string(), "0 passed, 0 failed, 16 skipped");
    let [skip] = &left.skips[..] else { panic!("{:?}", left.skips) };
    assert!(skip.reason.contains("interrupted") && skip.cases == 16, "{skip:?}");
}

/// A message over the emulator's limit; with a key of zeros the digest is the plaintext's own.
fn long_message(len: u64, sha256: &str) -> String {
    let key = "00".repeat(16);
    format!(
        "# bcv1-big cipher=toy lines=1\n\
         id=m mode=ecb key={key} seed=0000000000000001 len={len} sha256={sha256}\n"
    )
}

#[test]
fn long_messages_come_back() {
    use sha2::{Digest, Sha256};
    // More than one piece of the comparison, and an end inside of one.
    let len = (1 << 20) + 80;
    let mut plaintext = vec![0; (1 << 20) + 80];
    lanecrypt_reference::plaintext::PlaintextStream::new(1).fill(&mut plaintext);
    let text = long_message(len, &hex::encode(Sha256::digest(&plaintext)));
    let backends = ["good", "good-host", "decryption", "reference"];
    let report_by_default = report(&text, &backends, Limits::default());
    assert_eq!(report_by_default.total.to_string(), "2 passed, 0 failed, 2 skipped");
    let of_skips: Vec<_> = report_by_default.skips.iter().map(|s| &s.backends[0][..]).collect();
    assert_eq!(of_skips, ["toy/reference", "toy/good-host"]);
    let limits = Limits { max_bytes: Some(len), ..Limits::default() };
    assert_eq!(report(&text, &backends, limits).total.skipped, 0);
    let limits = Limits { max_bytes: Some(len - 1), ..Limits::default() };
    assert_eq!(report(&text, &backends, limits).total.skipped, 4);
}

/// Lines of two sources and two lengths: names, and how many of each.
fn classes() -> String {
    let key = "01".repeat(16);
    let line = |id: &str, i: usize, blocks: usize| {
        let (pt, ct) = ("00".repeat(16 * blocks), key.repeat(blocks));
        format!("id={id}{i} key={key} pt={pt} ct={ct}\n")
    };
    let many = |id, count, blocks| (0..count).map(|i| line(id, i, blocks)).collect::<String>();
    "# bcv1 cipher=toy mode=ecb expect=ok vectors=45\n# source: random\n".to_owned()
        + &many("one", 30, 1)
        + &many("four", 12, 4)
        + "# source: weak keys\n"
        + &many("weak", 2, 1)
        + "# source: the only one\n"
        + &many("only", 1, 1)
}

#[test]
fn families_of_the_host_build_share_the_lines() {
    let hosts = ["good-host", "second-host", "third-host"];
    let by_default = report(&classes(), &[&["good"][..], &hosts].concat(), Limits::default());
    let passed = |report: &Report, id: &str| {
        let of_backend = report.cells.iter().find(|cell| cell.backend == id);
        of_backend.map_or(0, |cell| cell.tally.passed)
    };
    assert_eq!(passed(&by_default, "good"), 45, "the CPU runs every line");
    for id in hosts {
        // One of 30, of 12 and of the two weak keys, and the only one of its kind.
        assert_eq!(passed(&by_default, id), 4, "{id}");
    }
    let [skip] = &by_default.skips[..] else { panic!("{:?}", by_default.skips) };
    assert!(skip.reason.starts_with("spread: "), "{}", skip.reason);
    assert_eq!((skip.cases, skip.backends.len()), (3 * (45 - 4), 3));

    let without_cpu = report(&classes(), &hosts, Limits::default());
    for id in hosts {
        // A third of 30 and of 12.
        assert_eq!(passed(&without_cpu, id), 10 + 4 + 1 + 1, "{id}");
    }
    let all = report(&classes(), &hosts, Limits { all_vectors: true, ..Limits::default() });
    assert_eq!(all.total.to_string(), "135 passed, 0 failed, 0 skipped");
    // A family that runs alone runs every line.
    let alone = report(&classes(), &["second-host"], Limits::default());
    assert_eq!(alone.total.to_string(), "45 passed, 0 failed, 0 skipped");
}

/// Messages of these lengths. No digest is right, so the failures are the messages that ran.
fn messages(lengths: [u64; 4]) -> String {
    let (key, digest) = ("01".repeat(16), "00".repeat(32));
    let line = |(i, length)| {
        format!("id={i} mode=ecb key={key} seed={length:016x} len={length} sha256={digest}\n")
    };
    let lines: String = (1..).zip(lengths).map(line).collect();
    format!("# bcv1-big cipher=toy lines=4\n{lines}")
}

#[test]
fn families_of_the_host_build_share_chains_and_messages() {
    let hosts = ["good-host", "second-host", "third-host"];
    let backends = [&["good"][..], &hosts].concat();
    let on_families = |report: &Report| -> Vec<usize> {
        let of_families = report.cells.iter().filter(|cell| cell.backend != "good");
        of_families.map(|cell| cell.tally.passed + cell.tally.failed).collect()
    };
    // Each of the two that an emulator runs, by one family.
    let chains = report(&chains(), &backends, Limits::default());
    assert_eq!(on_families(&chains).iter().sum::<usize>(), 2);
    // One for each family, of four that the CPU runs.
    let messages = report(&messages([160, 320, 4096, 8192]), &backends, Limits::default());
    assert_eq!(on_families(&messages), [1, 1, 1]);
    assert_eq!(messages.total.failed, 4 + 3);
}

#[test]
fn backends_of_the_cpu_share_long_messages() {
    let text = messages([1, 2, 3, 4].map(|mebibytes| mebibytes << 20));
    let ran = |backends: &[&str], limits| {
        let failures = report(&text, backends, limits).failures.into_iter();
        let mut ran: Vec<_> =
            failures.map(|failure| (failure.id.expect("a line's"), failure.backend)).collect();
        ran.sort();
        ran
    };
    let backends = ["good", "last-block", "decryption", "reference"];
    let by_default = ran(&backends, Limits::default());
    let of = |id: &str| by_default.iter().filter(|(line, _)| line == id).count();
    // Each of three backends runs a long one, and all run the short one; the reference runs no long one.
    assert_eq!(["1", "2", "3", "4"].map(of), [4, 1, 1, 1]);
    let busiest = backends.map(|id| {
        let is_its =
            |ran: &&(String, Option<String>)| ran.1.as_deref() == Some(&format!("toy/{id}")[..]);
        by_default.iter().filter(is_its).count()
    });
    assert_eq!(busiest, [2, 2, 2, 1]);
    let all = Limits { all_vectors: true, ..Limits::default() };
    assert_eq!(ran(&backends, all).len(), 4 + 3 * 3);
    assert_eq!(ran(&["good"], Limits::default()).len(), 4, "one that runs alone runs all");
}

#[test]
fn every_line_runs_on_a_family_and_on_the_same_one_each_time() {
    // All families are wrong, so the failures are the lines that ran.
    let hosts = ["wrong-host", "second-wrong-host", "third-wrong-host"];
    let ran = || {
        let failures = report(&classes(), &hosts, Limits::default()).failures.into_iter();
        let mut ran: Vec<_> = failures.map(|failure| (failure.id, failure.backend)).collect();
        ran.sort();
        ran
    };
    let first = ran();
    assert_eq!(first, ran());
    let mut lines: Vec<_> = first.into_iter().map(|(id, _)| id).collect();
    lines.dedup();
    assert_eq!(lines.len(), 45);
}
