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

#[path = "../common/mod.rs"]
mod common;
mod modes;
mod oracle;

use std::{fmt::Display, process::ExitCode, sync::Arc};

use common::{Outcome, Property, noise};
use lanecrypt::{
    CIPHERS, Direction, Engine,
    registry::{Backend, CipherDescription, Selection},
};
use libtest_mimic::{Arguments, Failed, Trial};
use modes::{
    cbc_lengths, cfb_and_ofb_lengths, ctr_carries, ctr_lengths, ctr32_wraps, gcm_messages,
    messages_side_by_side, xts_basis, xts_lengths, xts_units,
};
use oracle::{Oracle, both_ways, names};

/// Largest shift of a buffer from its natural alignment.
const MISALIGNMENTS: [usize; 3] = [0, 1, 7];

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
        .filter(|(_, backend)| backend.platform == lanecrypt::registry::Platform::CudaOnHost)
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
    use lanecrypt::cuda::{self, kernels};
    let mut run = std::collections::HashSet::new();
    for (cipher, backend) in backends {
        let engine = cuda::Engine::of(backend, &noise(cipher.key_bytes[0], 1))
            .map_err(|error| format!("{}/{}: {error}", cipher.name, backend.id))?;
        let engine = engine.ok_or("no device engine")?;
        run.insert(engine.program().module().name);
    }
    // The trials of `device` run what no engine's program has.
    let others: Vec<_> =
        kernels::kernels_of_no_program().map(|kernel| kernel.module().name).collect();
    let mut modules = kernels::MODULES.iter().filter(|module| !others.contains(&module.name));
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
    let properties: [(&str, Property<Case>); 14] = [
        ("ecb_at_batch_boundaries", ecb_at_batch_boundaries),
        ("ecb_buffers", ecb_buffers),
        ("ctr_lengths", ctr_lengths),
        ("ctr_carries", ctr_carries),
        ("ctr32_wraps", ctr32_wraps),
        ("cbc_lengths", cbc_lengths),
        ("cfb_and_ofb_lengths", cfb_and_ofb_lengths),
        ("messages_side_by_side", messages_side_by_side),
        ("xts_basis", xts_basis),
        ("xts_lengths", xts_lengths),
        ("xts_units", xts_units),
        ("gcm_messages", gcm_messages),
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
