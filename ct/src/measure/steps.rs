//! What is timed: ciphers under fixed and random data and keys, tags that are wrong early and late, and controls.

use std::{hint::black_box, time::Instant};

use anyhow::Result;
use lanecrypt::{
    CIPHERS, ConstantTime, Direction, Engine, Gcm, GcmSiv,
    aes::Aes128,
    cipher::KeyInit,
    registry::{Backend, CipherDescription, Platform},
};

use crate::valgrind::name;

/// How steps of the CPU are measured.
const TIME: &str = "time";

/// Bytes of inputs that are prepared at once.
const PREPARED_BYTES: usize = 1 << 20;
/// The most of them.
const PREPARED: usize = 10_000;

/// A step over secret bytes.
pub(super) struct Step {
    pub(super) name: String,
    pub(super) claim: ConstantTime,
    /// How it is measured.
    pub(super) how: &'static str,
    /// Bytes of its input.
    pub(super) bytes: usize,
    /// Inputs that are prepared at once.
    pub(super) at_once: usize,
    /// Makes of a random input one of the class that stays, from the bytes that stay.
    pub(super) fix: fn(&[u8], &mut [u8]),
    pub(super) time: Time,
}

/// Runs a step over inputs one after another, and gives the time of each; `None` where it was not measured.
pub(super) type Time = Box<dyn Fn(&mut [u8]) -> Result<Vec<Option<f64>>> + Send + Sync>;

/// Times `run` here, in nanoseconds.
fn timed(bytes: usize, run: impl Fn(&mut [u8]) + Send + Sync + 'static) -> Time {
    Box::new(move |inputs| {
        let time = |input| {
            let start = Instant::now();
            run(input);
            Some(start.elapsed().as_nanos() as f64)
        };
        Ok(inputs.chunks_exact_mut(bytes).map(time).collect())
    })
}

/// All of the input stays.
fn whole(fixed: &[u8], input: &mut [u8]) {
    input.copy_from_slice(fixed);
}

/// Every backend of the CPU that runs here, over data and over keys, and what is secret beside ciphers.
pub(super) fn all(filter: &str) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for cipher in CIPHERS {
        let here =
            |backend: &&Backend| backend.platform == Platform::Cpu && (backend.available)().is_ok();
        for backend in cipher.backends.iter().filter(here) {
            steps.extend(data(cipher, backend)?);
            steps.push(key(cipher, backend));
        }
    }
    steps.extend([tags(), hash_keys(), derived_keys()]);
    steps.retain(|step| step.name.contains(filter));
    Ok(steps)
}

fn step(
    name: String,
    claim: ConstantTime,
    bytes: usize,
    run: impl Fn(&mut [u8]) + Send + Sync + 'static,
) -> Step {
    let at_once = (PREPARED_BYTES / bytes).clamp(1, PREPARED);
    Step { name, claim, how: TIME, bytes, at_once, fix: whole, time: timed(bytes, run) }
}

/// A full batch, and one block, in both directions.
fn data(cipher: &'static CipherDescription, backend: &Backend) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for blocks in [1, backend.lanes] {
        for direction in Direction::BOTH {
            let engine = (backend.create)(&vec![0x5a; cipher.key_bytes[0]])?;
            let name = format!("{}, {direction}, {blocks} blocks", name(cipher, backend));
            let run = move |data: &mut [u8]| {
                engine.ecb(direction, black_box(data).into()).expect("whole blocks");
            };
            steps.push(step(name, backend.constant_time, blocks * cipher.block_bytes, run));
        }
        if backend.lanes == 1 {
            break;
        }
    }
    Ok(steps)
}

/// The key schedule, and that it is cleared.
fn key(cipher: &'static CipherDescription, backend: &Backend) -> Step {
    let create = backend.create;
    let run = move |key: &mut [u8]| {
        black_box(create(black_box(key)).expect("a good key"));
    };
    let name = format!("{}, key", name(cipher, backend));
    step(name, backend.constant_time, cipher.key_bytes[0], run)
}

/// Bytes of a message that is refused: nonce and ciphertext stay, the tag is the input.
const MESSAGE: [u8; 64] = [0x3c; 64];

/// Tags that are wrong: in their last byte alone where they stay, anywhere where they change.
fn tags() -> Step {
    let cipher = Gcm::<Aes128>::new(&[7; 16].into());
    let mut right = [0; 16];
    let mut ciphertext = MESSAGE;
    cipher.encrypt(&[1; 12], b"", ciphertext.as_mut_slice().into(), &mut right).expect("an IV");
    let run = move |difference: &mut [u8]| {
        // What is random differs in its first byte already.
        let mut tag = right;
        tag.iter_mut().zip(&*difference).for_each(|(byte, bits)| *byte ^= bits);
        let mut data = ciphertext;
        let refused =
            cipher.decrypt(&[1; 12], b"", black_box(&mut data).as_mut_slice().into(), &tag);
        assert!(black_box(refused).is_err(), "a wrong tag");
    };
    let fix = |_: &[u8], difference: &mut [u8]| {
        difference.fill(0);
        difference[15] = 1;
    };
    let name = "tag of GCM, compared".to_owned();
    Step { fix, ..step(name, ConstantTime::Yes, 16, run) }
}

/// The hash key of GCM, and its powers for a message.
fn hash_keys() -> Step {
    let run = |key: &mut [u8]| {
        let key = lanecrypt::GhashKey::new((&*key).try_into().expect("16 bytes"));
        let mut hash = key.start();
        key.add(&mut hash, &[7; 100]);
        black_box(&hash);
    };
    step("hash key of GCM".to_owned(), ConstantTime::Yes, 16, run)
}

/// The keys that GCM-SIV derives of a nonce, and its hash, POLYVAL.
fn derived_keys() -> Step {
    let run = |key: &mut [u8]| {
        let cipher = GcmSiv::<Aes128>::new((&*key).try_into().expect("16 bytes"));
        let mut data = MESSAGE;
        black_box(cipher.encrypt(&[1; 12], b"", data.as_mut_slice().into()).expect("short"));
    };
    step("derived keys of GCM-SIV".to_owned(), ConstantTime::Yes, 16, run)
}

/// Steps that leak: a comparison that ends at the first difference, and a branch for each bit.
pub(super) fn controls() -> Vec<Step> {
    let leaks = ConstantTime::No("on purpose");
    let compare = |input: &mut [u8]| {
        let differs = black_box(&*input).iter().position(|byte| black_box(*byte) != 0);
        black_box(differs);
    };
    let branch = |input: &mut [u8]| {
        let mut product = 1_u64;
        for byte in black_box(&*input) {
            if byte & 1 == 1 {
                (0..8).for_each(|_| product = black_box(product).wrapping_mul(0x9e37_79b9));
            }
        }
        black_box(product);
    };
    let zeros = |_: &[u8], input: &mut [u8]| input.fill(0);
    let early = step("control: a comparison that ends early".into(), leaks, 64, compare);
    let branches = step("control: a branch for each byte".into(), leaks, 64, branch);
    vec![Step { fix: zeros, ..early }, Step { fix: zeros, ..branches }]
}
