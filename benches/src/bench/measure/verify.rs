//! Output is compared before it is timed.

use std::time::{Duration, Instant};

use lanecrypt::{
    Counter, Direction, Engine, Error, modes,
    registry::{Backend, CipherDescription, Create, Platform},
};
use lanecrypt_record::Work;

use super::{
    cases::{Case, Contender},
    runner::{Data, expected},
};
use crate::bench::plan::{self, RunWork as _, UNIT};

/// Longest input that the reference itself is asked for; above, another CPU backend is.
const REFERENCE_BYTES: usize = 64 << 10;

/// The IV, counter or tweak that everything is measured with. As a counter it begins as GCM's and TLS's do;
/// where the low 32 bits wrap, which is once in 64 GiB, a device needs another launch.
#[must_use]
pub(crate) fn iv(block: usize) -> Vec<u8> {
    let mut iv = vec![0xff; block];
    iv[0] = 0;
    iv[block - 4..].copy_from_slice(&2_u32.to_be_bytes());
    iv
}

/// The same as a counter.
pub(super) fn counter(block: usize) -> Counter {
    Counter::from_block(&iv(block)).expect("ciphers have blocks of 8 or 16 bytes")
}

/// Runs a case once, checks its output, and says how long that took.
///
/// # Errors
/// A sentence naming the case where the output is wrong or the engine fails.
pub(crate) fn verify(
    case: &Case,
    cipher: &'static CipherDescription,
    contender: Contender,
) -> Result<Duration, String> {
    let failed = |error: String| format!("{case:?}: {error}");
    let mut runner = contender.runner(cipher, case.work, case.key_bytes).map_err(failed)?;
    let mut found = Data::new(case.bytes, cipher.block_bytes);
    let start = Instant::now();
    found.run(&mut *runner).map_err(failed)?;
    let elapsed = start.elapsed();
    let oracle = oracle(cipher, case.bytes, contender.id());
    let expected = expected(cipher, oracle, case.work, case.key_bytes, case.bytes);
    if found.output() == expected.map_err(failed)?.output() {
        return Ok(elapsed);
    }
    Err(format!("{case:?} gives wrong output; nothing is timed"))
}

/// What to compare `id` with: the reference, or for long inputs the last CPU backend of the table
/// that runs here and is not the one in question.
pub(crate) fn oracle(cipher: &'static CipherDescription, bytes: usize, id: &str) -> Create {
    match last_on_cpu(cipher, |backend| backend.id != id) {
        Some(backend) if bytes > REFERENCE_BYTES || id == "reference" => backend.create,
        _ => cipher.backends[0].create,
    }
}

/// An engine of that backend.
///
/// # Errors
/// Those of the backend.
pub(crate) fn fastest_on_cpu(
    cipher: &'static CipherDescription,
    key: &[u8],
) -> Result<Box<dyn Engine>, Error> {
    let backend = last_on_cpu(cipher, |_| true).unwrap_or(&cipher.backends[0]);
    (backend.create)(key)
}

/// The last CPU backend of the table that runs here, the fastest by custom, among those chosen.
fn last_on_cpu(
    cipher: &'static CipherDescription,
    chosen: impl Fn(&Backend) -> bool,
) -> Option<&'static Backend> {
    let runs = |backend: &&Backend| {
        backend.platform == Platform::Cpu && chosen(backend) && (backend.available)().is_ok()
    };
    cipher.backends.iter().rev().find(runs)
}

/// Checks pieces of a device's output against a CPU: `output` is what `work` made of `input`,
/// which starts `offset` bytes into the data. Where `is_resident`, XTS ran over data units of [`UNIT`]
/// bytes, the first of them with number 0, and GCM on the device.
///
/// # Errors
/// A sentence where they differ.
pub(crate) fn verify_piece(
    cipher: &'static CipherDescription,
    key: &[u8],
    work: Work,
    offset: usize,
    input: &[u8],
    output: &[u8],
    is_resident: bool,
) -> Result<(), String> {
    let backend = last_on_cpu(cipher, |_| true).ok_or("no CPU backend runs here")?;
    let engine = (backend.create)(key).map_err(|error| error.to_string())?;
    let block = cipher.block_bytes;
    let first = counter(block);
    let mut counter = vec![0; block];
    first.plus((offset / block) as u128).fill(&mut counter);
    let mut expected = input.to_vec();
    let mut from = 0;
    let ran = match work {
        Work::XtsEncrypt | Work::XtsDecrypt if is_resident => {
            let tweak = (backend.create)(&plan::key(2 * key.len())[key.len()..]);
            let tweak = tweak.map_err(|error| error.to_string())?;
            let direction = match work {
                Work::XtsEncrypt => Direction::Encrypt,
                _ => Direction::Decrypt,
            };
            let first = (offset / UNIT) as u128;
            modes::xts_units(
                &engine,
                &tweak,
                first,
                UNIT,
                direction,
                expected.as_mut_slice().into(),
            )
        }
        // The tag is the business of tests, and of decryption itself.
        Work::GcmEncrypt | Work::GcmDecrypt if is_resident => {
            plan::gcm_bytes(&engine, &iv(block), (offset / block) as u32, &mut expected)
        }
        Work::CbcDecrypt if offset > 0 => {
            // The first block is the one before.
            from = block;
            modes::cbc_decrypt(&engine, &input[..block], expected[block..].as_mut().into())
        }
        _ => work.run(&*engine, &*engine, &counter, &mut expected),
    };
    ran.map_err(|error| error.to_string())?;
    if expected[from..] == output[from..] {
        return Ok(());
    }
    Err(format!("{work} gives wrong output near byte {offset}; nothing is timed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::measure::peers::baseline::Baseline;
    use crate::bench::plan::ON_CPU;

    #[test]
    fn wrong_output_ends_the_run() {
        static WRONG: Baseline = Baseline {
            cipher: "aria",
            name: "wrong",
            create: lanecrypt::camellia::CAMELLIA.backends[0].create,
        };
        let cipher = lanecrypt::find_cipher("aria").expect("it is in the registry");
        let contender = Contender::Baseline(&WRONG);
        let all = ON_CPU.into_iter().filter(|&work| work != Work::GcmEncrypt);
        for work in all {
            let (cipher_name, backend) = ("aria".to_owned(), "wrong".to_owned());
            let case = Case { cipher: cipher_name, key_bytes: 16, backend, work, bytes: 64 };
            let refused = verify(&case, cipher, contender).expect_err("it is wrong");
            assert!(refused.contains("wrong output; nothing is timed"), "{refused}");
            let right = Contender::Backend(&cipher.backends[1]);
            assert!(verify(&case, cipher, right).is_ok());
        }
    }
}
