//! Every backend of every cipher against the reference: a trial per backend and property.
//!
//! What is expected comes from the reference's block function, a block at a time, under the modes of
//! `lanecrypt_reference`: nothing that makes or cuts batches, counts or masks is on both sides. The
//! reference's own trials so say that batches and modes do with it what they should, and nothing of
//! the block function, which is on both sides there: its oracle are the vectors (`cargo xtask kat`)
//! and RustCrypto's crates (`tests/rustcrypto.rs`).
//!
//! A backend that cannot run is listed as ignored, with the reason on standard error; the
//! environment variable `LANECRYPT_EXPECT=id,cipher/id` makes that a failure.

mod common;

use std::{
    collections::HashMap,
    fmt::Display,
    process::ExitCode,
    sync::{Arc, Mutex},
};

use common::{Outcome, Property, noise};
use lanecrypt::{
    Backend, CIPHERS, CipherDescription, Direction, Engine, Error, Selection, cipher::InOutBuf,
    modes,
};
use lanecrypt_reference::modes::{self as by_definition, BlockCipher, ModeError};
use libtest_mimic::{Arguments, Failed, Trial};

/// Bytes around every buffer that nothing may touch.
const CANARY: [u8; 32] = [0xc5; 32];
/// Largest shift of a buffer from its natural alignment.
const MISALIGNMENTS: [usize; 3] = [0, 1, 7];

/// ECB results by key length and direction.
type Answers = HashMap<(usize, Direction), Arc<Vec<u8>>>;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let expected = common::expected();
    let mut trials = Vec::new();
    for cipher in CIPHERS {
        let oracle = Arc::new(Oracle::new(cipher));
        for backend in cipher.backends {
            trials.extend(backend_trials(cipher, backend, &oracle, &expected));
        }
    }
    #[cfg(feature = "host-kernels")]
    trials.extend(registry_trials(&expected));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What holds of the backends of the kernels together, where they can run without a GPU.
#[cfg(feature = "host-kernels")]
fn registry_trials(expected: &Selection) -> Vec<Trial> {
    let backends: Vec<_> = CIPHERS
        .iter()
        .flat_map(|&cipher| cipher.backends.iter().map(move |backend| (cipher, backend)))
        .filter(|(_, backend)| backend.platform == lanecrypt::Platform::CudaOnHost)
        .collect();
    let reason = backends.iter().find_map(|(_, backend)| (backend.available)().err());
    let reason = reason.as_ref().map(|reason| reason as &dyn Display);
    let is_expected = backends.iter().any(|(cipher, backend)| expected.contains(cipher, backend));
    let properties: [(&str, Property<_>); 1] = [("every_module_is_run", every_module_is_run)];
    common::trials("registry", reason, is_expected, backends, &properties)
}

/// A module that no backend runs is dead, or its family is missing in a cipher's table.
#[cfg(feature = "host-kernels")]
fn every_module_is_run(backends: &Vec<(&'static CipherDescription, &'static Backend)>) -> Outcome {
    use lanecrypt::cuda;
    let mut run = std::collections::HashSet::new();
    for (cipher, backend) in backends {
        let engine = (backend.create)(&noise(cipher.key_bytes[0], 1))
            .map_err(|error| format!("{}/{}: {error}", cipher.name, backend.id))?;
        let engine = engine.as_any().downcast_ref::<cuda::Engine>().ok_or("no device engine")?;
        run.insert(engine.program().module().name);
    }
    let of_modes = cuda::kernels::MODES.name;
    let mut modules = cuda::kernels::MODULES.iter().filter(|module| module.name != of_modes);
    match modules.find(|module| !run.contains(module.name)) {
        Some(module) => Err(format!("no backend runs the module {}", module.name).into()),
        None => Ok(()),
    }
}

/// The trials of one backend; where it cannot run, ignored or failing ones.
fn backend_trials(
    cipher: &'static CipherDescription,
    backend: &'static Backend,
    oracle: &Arc<Oracle>,
    expected: &Selection,
) -> Vec<Trial> {
    let properties: [(&str, Property<Case>); 8] = [
        ("ecb_at_batch_boundaries", ecb_at_batch_boundaries),
        ("ecb_buffers", ecb_buffers),
        ("ctr_lengths", ctr_lengths),
        ("ctr_carries", ctr_carries),
        ("cbc_lengths", cbc_lengths),
        ("xts_lengths", xts_lengths),
        ("bad_input", bad_input),
        ("secrets", secrets),
    ];
    let name = format!("{}::{}", cipher.name, backend.id);
    let reason = (backend.available)().err();
    let reason = reason.as_ref().map(|reason| reason as &dyn Display);
    let is_expected = expected.contains(cipher, backend);
    let case = Case { cipher, backend, oracle: oracle.clone() };
    common::trials(&name, reason, is_expected, case, &properties)
}

/// A backend under test, and what its answers are compared with.
struct Case {
    cipher: &'static CipherDescription,
    backend: &'static Backend,
    oracle: Arc<Oracle>,
}

impl Case {
    fn engine(&self, key: &[u8]) -> Result<Box<dyn Engine>, Failed> {
        (self.backend.create)(key).map_err(|error| format!("cannot be keyed: {error}").into())
    }

    /// Numbers of blocks around the boundary of a batch, so that every path of it is walked.
    fn block_counts(&self) -> Vec<usize> {
        let lanes = self.backend.lanes;
        let mut counts = vec![0, 1, 2, lanes - 1, lanes, lanes + 1, 2 * lanes + 1, 31 * lanes];
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    fn keys(&self) -> impl Iterator<Item = Vec<u8>> {
        self.cipher.key_bytes.iter().map(|&length| noise(length, length as u64))
    }
}

/// The reference backend as the block function that the modes are defined over.
struct Reference(Box<dyn Engine>);

impl Reference {
    fn run(&self, direction: Direction, block: &mut [u8]) {
        self.0.ecb(direction, block.into()).expect("the reference takes a block of its size");
    }
}

impl BlockCipher for Reference {
    fn block_bytes(&self) -> usize {
        self.0.block_bytes()
    }

    fn encrypt_block(&self, block: &mut [u8]) {
        self.run(Direction::Encrypt, block);
    }

    fn decrypt_block(&self, block: &mut [u8]) {
        self.run(Direction::Decrypt, block);
    }
}

/// The reference backend under the modes' definitions. Its ECB answers over one long random input
/// are kept.
struct Oracle {
    cipher: &'static CipherDescription,
    answers: Mutex<Answers>,
}

impl Oracle {
    fn new(cipher: &'static CipherDescription) -> Self {
        Self { cipher, answers: Mutex::default() }
    }

    /// Blocks of the longest input that any backend is asked for.
    fn input(&self) -> Vec<u8> {
        let lanes = self.cipher.backends.iter().map(|backend| backend.lanes).max().unwrap_or(1);
        noise(31 * lanes * self.cipher.block_bytes, 99)
    }

    fn reference(&self, key: &[u8]) -> Result<Reference, Failed> {
        let mut backends = self.cipher.backends.iter();
        let reference = backends.find(|backend| backend.id == "reference");
        let create = reference.ok_or("no backend has the id `reference`")?.create;
        create(key).map(Reference).map_err(|error| format!("the reference failed: {error}").into())
    }

    /// What a mode makes of `input` under the reference and `key`.
    fn expected(
        &self,
        key: &[u8],
        input: &[u8],
        mode: impl FnOnce(&Reference, &mut [u8]) -> Result<(), ModeError>,
    ) -> Result<Vec<u8>, Failed> {
        let mut data = input.to_vec();
        mode(&self.reference(key)?, &mut data).map_err(|error| format!("the oracle: {error}"))?;
        Ok(data)
    }

    /// The ECB result over `input()` under the key of this length.
    fn answer(&self, key: &[u8], direction: Direction) -> Result<Arc<Vec<u8>>, Failed> {
        let mut answers = self.answers.lock().expect("no trial panics while it asks");
        if let Some(answer) = answers.get(&(key.len(), direction)) {
            return Ok(answer.clone());
        }
        let ecb = match direction {
            Direction::Encrypt => by_definition::ecb_encrypt,
            Direction::Decrypt => by_definition::ecb_decrypt,
        };
        let answer = Arc::new(self.expected(key, &self.input(), ecb)?);
        answers.insert((key.len(), direction), answer.clone());
        Ok(answer)
    }
}

/// A buffer at a chosen distance from its allocation's alignment, with canaries on both sides.
struct Guarded {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Guarded {
    fn new(data: &[u8], misalignment: usize) -> Self {
        let start = CANARY.len() + misalignment;
        let mut bytes = vec![CANARY[0]; start];
        bytes.extend_from_slice(data);
        bytes.extend_from_slice(&CANARY);
        Self { bytes, start, length: data.len() }
    }

    fn data(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..][..self.length]
    }

    fn check(&mut self, expected: &[u8], what: &str) -> Outcome {
        if let Some(at) = self.data().iter().zip(expected).position(|(a, b)| a != b) {
            return Err(format!("{what}: byte {at} of {} is wrong", expected.len()).into());
        }
        let around = self.bytes[..self.start].iter().chain(&self.bytes[self.start + self.length..]);
        if around.into_iter().any(|&byte| byte != CANARY[0]) {
            return Err(format!("{what}: wrote outside its buffer").into());
        }
        Ok(())
    }
}

/// Runs `work` in place and out of place over a buffer and checks both.
fn both_ways(
    input: &[u8],
    expected: &[u8],
    misalignment: usize,
    what: &str,
    work: impl Fn(InOutBuf<'_, '_, u8>) -> Result<(), Error>,
) -> Outcome {
    let mut buffer = Guarded::new(input, misalignment);
    work(buffer.data().into()).map_err(|error| format!("{what}: {error}"))?;
    buffer.check(expected, &format!("{what}, in place"))?;

    let mut source = Guarded::new(input, misalignment);
    let mut target = Guarded::new(&vec![0x5a; input.len()], (misalignment * 3) % 8);
    let pair = InOutBuf::new(source.data(), target.data()).map_err(|_| "unequal lengths")?;
    work(pair).map_err(|error| format!("{what}: {error}"))?;
    target.check(expected, &format!("{what}, out of place"))?;
    source.check(input, &format!("{what}, the input of out of place"))
}

fn ecb_at_batch_boundaries(case: &Case) -> Outcome {
    let input = case.oracle.input();
    for key in case.keys() {
        let engine = case.engine(&key)?;
        for direction in Direction::BOTH {
            let answer = case.oracle.answer(&key, direction)?;
            for count in case.block_counts() {
                let bytes = count * case.cipher.block_bytes;
                let what = format!("{direction} of {count} blocks, {}-byte key", key.len());
                both_ways(&input[..bytes], &answer[..bytes], 0, &what, |data| {
                    engine.ecb(direction, data)
                })?;
            }
        }
    }
    Ok(())
}

fn ecb_buffers(case: &Case) -> Outcome {
    let input = case.oracle.input();
    let key = noise(case.cipher.key_bytes[0], case.cipher.key_bytes[0] as u64);
    let engine = case.engine(&key)?;
    let bytes = (case.backend.lanes + 1) * case.cipher.block_bytes;
    for direction in Direction::BOTH {
        let answer = case.oracle.answer(&key, direction)?;
        for misalignment in MISALIGNMENTS {
            let what = format!("{direction}, {misalignment} bytes off alignment");
            both_ways(&input[..bytes], &answer[..bytes], misalignment, &what, |data| {
                engine.ecb(direction, data)
            })?;
        }
    }
    Ok(())
}

/// Checks CTR over `length` bytes from `counter` on.
fn ctr_case(case: &Case, key: &[u8], counter: &[u8], length: usize) -> Outcome {
    let engine = case.engine(key)?;
    let input = noise(length, 5);
    let expected = case
        .oracle
        .expected(key, &input, |reference, data| by_definition::ctr(reference, counter, data))?;
    let what = format!("CTR over {length} bytes from {counter:02x?}");
    both_ways(&input, &expected, length % 5, &what, |data| engine.ctr(counter, data))
}

fn ctr_lengths(case: &Case) -> Outcome {
    let block = case.cipher.block_bytes;
    let batch = case.backend.lanes * block;
    for (i, key) in case.keys().enumerate() {
        let counter = noise(block, 7 + i as u64);
        for length in [0, 1, block - 1, block, block + 1, batch - 1, batch + 1, 3 * batch + 5] {
            ctr_case(case, &key, &counter, length)?;
        }
    }
    Ok(())
}

fn ctr_carries(case: &Case) -> Outcome {
    let block = case.cipher.block_bytes;
    let key = noise(case.cipher.key_bytes[0], 3);
    let length = (2 * case.backend.lanes + 3) * block + 1;
    // Counters that carry out of their low 8, 16, 32, 64 bits, and that wrap altogether, some way
    // into the data.
    for bits in [8, 10, 16, 32, 64, 8 * block as u32] {
        let all_ones = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
        for before in [0, 1, case.backend.lanes as u128 / 2] {
            let value = all_ones.wrapping_sub(before);
            let counter = &value.to_be_bytes()[16 - block..];
            ctr_case(case, &key, counter, length)?;
        }
    }
    Ok(())
}

/// CBC in whole blocks; chaining makes encryption serial, so decryption alone walks the batches.
fn cbc_lengths(case: &Case) -> Outcome {
    let (block, lanes) = (case.cipher.block_bytes, case.backend.lanes);
    for (i, key) in case.keys().enumerate() {
        let engine = case.engine(&key)?;
        let iv = noise(block, 11 + i as u64);
        for count in [0, 1, 2, 5] {
            let input = noise(count * block, 12);
            let expected = case.oracle.expected(&key, &input, |reference, data| {
                by_definition::cbc_encrypt(reference, &iv, data)
            })?;
            let what = format!("CBC encryption of {count} blocks, {}-byte key", key.len());
            both_ways(&input, &expected, count, &what, |data| {
                modes::cbc_encrypt(&engine, &iv, data)
            })?;
        }
        for count in case.block_counts() {
            let input = &case.oracle.input()[..count * block];
            // Every block decrypted by itself, then XORed with the one before it.
            let mut expected =
                case.oracle.answer(&key, Direction::Decrypt)?[..input.len()].to_vec();
            let previous = iv.iter().chain(input);
            expected.iter_mut().zip(previous).for_each(|(byte, previous)| *byte ^= previous);
            let what = format!("CBC decryption of {count} blocks, {}-byte key", key.len());
            both_ways(input, &expected, count % 5, &what, |data| {
                modes::cbc_decrypt(&engine, &iv, data)
            })?;
        }
        for count in [0, 1, lanes, lanes + 1, 2 * lanes + 3] {
            let input = noise(count * block, 13);
            let expected = case.oracle.expected(&key, &input, |reference, data| {
                by_definition::cbc_decrypt(reference, &iv, data)
            })?;
            let what = format!("CBC decryption of {count} blocks, {}-byte key", key.len());
            both_ways(&input, &expected, count % 5, &what, |data| {
                modes::cbc_decrypt(&engine, &iv, data)
            })?;
        }
    }
    Ok(())
}

/// XTS with and without stealing around the boundary of a batch; ciphers of shorter blocks refuse.
fn xts_lengths(case: &Case) -> Outcome {
    let batch = case.backend.lanes * 16;
    let tweak = by_definition::xts_tweak(0x0123_4567_89ab_cdef);
    for key in case.keys() {
        let tweak_key = noise(key.len(), 21);
        let [engine, tweak_engine] = [case.engine(&key)?, case.engine(&tweak_key)?];
        if case.cipher.block_bytes != 16 {
            let mut data = [0; 16];
            let refused = modes::xts(
                &engine,
                &tweak_engine,
                &tweak,
                Direction::Encrypt,
                data.as_mut_slice().into(),
            );
            names(refused, &["XTS", &case.cipher.block_bytes.to_string(), "16"])?;
            continue;
        }
        let tweak_cipher = case.oracle.reference(&tweak_key)?;
        for direction in Direction::BOTH {
            for length in [16, 17, 31, 32, batch + 16, batch + 31, 2 * batch + 5, 9 * batch + 48] {
                let input = noise(length, 22);
                let expected =
                    case.oracle.expected(&key, &input, |data_cipher, data| match direction {
                        Direction::Encrypt => {
                            by_definition::xts_encrypt(data_cipher, &tweak_cipher, &tweak, data)
                        }
                        Direction::Decrypt => {
                            by_definition::xts_decrypt(data_cipher, &tweak_cipher, &tweak, data)
                        }
                    })?;
                let what = format!("XTS, {direction} of {length} bytes, {}-byte key", key.len());
                both_ways(&input, &expected, length % 5, &what, |data| {
                    modes::xts(&engine, &tweak_engine, &tweak, direction, data)
                })?;
            }
        }
    }
    Ok(())
}

/// Fails unless `result` is an error whose text contains every one of `parts`.
fn names(result: Result<(), Error>, parts: &[&str]) -> Outcome {
    let Err(error) = result else {
        return Err("bad input was accepted".into());
    };
    let text = error.to_string();
    match parts.iter().find(|part| !text.contains(**part)) {
        None => Ok(()),
        Some(part) => Err(format!("{text:?} does not name {part:?}").into()),
    }
}

fn bad_input(case: &Case) -> Outcome {
    let accepted = format!("{:?}", case.cipher.key_bytes);
    let longest = case.cipher.key_bytes.iter().max().copied().unwrap_or(0);
    for length in [0, 1, longest - 1, longest + 1] {
        let refused = (case.backend.create)(&vec![0; length]).map(drop);
        names(refused, &[&format!("{length} bytes"), &accepted])?;
    }
    let block = case.cipher.block_bytes;
    let engine = case.engine(&noise(case.cipher.key_bytes[0], 1))?;
    for direction in Direction::BOTH {
        let mut data = vec![0x77; 2 * block + 1];
        let given = data.len().to_string();
        names(engine.ecb(direction, data.as_mut_slice().into()), &[&given, &block.to_string()])?;
        if data.iter().any(|&byte| byte != 0x77) {
            return Err("data of a refused length was changed".into());
        }
    }
    let mut data = vec![0; block];
    let refused = engine.ctr(&vec![0; block + 3], data.as_mut_slice().into());
    names(refused, &[&(block + 3).to_string(), &block.to_string()])
}

/// Debug output and errors hold no key material in any notation: they are the same under two keys.
fn secrets(case: &Case) -> Outcome {
    let same = |texts: [String; 2]| match texts {
        [first, second] if first == second => Ok(()),
        [first, second] => Err(Failed::from(format!("depends on the key: {first} {second}"))),
    };
    for &length in case.cipher.key_bytes {
        let keys = [noise(length, 1), noise(length, 2)];
        let [first, second] = [case.engine(&keys[0])?, case.engine(&keys[1])?];
        same([&first, &second].map(|engine| format!("{engine:?}")))?;
        same([&first, &second].map(|engine| format!("{engine:#?}")))?;
        let refused = |key: &[u8]| match (case.backend.create)(&key[1..]) {
            Ok(_) => Err(Failed::from("a key of a wrong length was accepted")),
            Err(error) => Ok(format!("{error} {error:?}")),
        };
        same([refused(&keys[0])?, refused(&keys[1])?])?;
    }
    Ok(())
}
