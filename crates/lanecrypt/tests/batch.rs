//! Batches on the CPU: every cipher, all modes, keys and lengths in one call, against the plain modes.

#[path = "common/engine_blocks.rs"]
mod engine_blocks;
mod mix;

use std::convert::Infallible;

use engine_blocks::EngineBlocks;
use lanecrypt::{
    CIPHERS,
    batch::{self, Job},
    registry::CipherDescription,
};
use mix::{Kind, Message, Numbers, messages, run_apart_and_in_place};

/// Runs messages on the CPU.
fn run(cipher: &'static CipherDescription, messages: &[Message], what: &str) {
    let on_cpu = |jobs: &mut [Job<'_>]| Ok::<_, Infallible>(batch::run_on_cpu(cipher, jobs));
    let Ok(()) = run_apart_and_in_place(messages, what, on_cpu);
}

#[test]
fn mixed_messages_of_every_cipher() {
    for (seed, &cipher) in (1..).zip(CIPHERS) {
        run(cipher, &messages(cipher, 120, 20_000, 5, seed), cipher.name);
    }
}

/// CBC encryption of many messages under a few keys, good and bad, among messages of other modes: in one call, as
/// if each were alone.
#[test]
fn messages_under_one_key() {
    for (seed, &cipher) in (301..).zip(CIPHERS) {
        let mut numbers = Numbers::new(seed);
        let keys: Vec<_> = (0..3).map(|_| numbers.bytes(cipher.key_bytes[0])).collect();
        for count in [2, 9, 70, 300] {
            let mut mixed = messages(cipher, count / 4, 300, 0, seed);
            for number in 0..count {
                let (key, length) = (keys[numbers.below(3)].clone(), numbers.below(400));
                let message = Message::under(key, cipher, Kind::CbcEncrypt, length, &mut numbers);
                let is_bad = number % 11 == 10;
                mixed.push(if is_bad { message.spoiled(&mut numbers) } else { message });
            }
            run(cipher, &mixed, &format!("{}, {count} chains", cipher.name));
        }
    }
}

/// Messages that get several threads each.
#[test]
fn long_messages_beside_short_ones() {
    let cipher = lanecrypt::find_cipher("aes").expect("it is there");
    let mut mixed = messages(cipher, 10, 2_000_000, 0, 77);
    mixed.extend(messages(cipher, 40, 100, 3, 78));
    run(cipher, &mixed, "long and short");
}

/// Whatever runs it, a GPU where there is one.
#[cfg(feature = "cuda")]
#[test]
fn a_batch_runs_somewhere() {
    for name in ["aes", "camellia", "tdes"] {
        let cipher = lanecrypt::find_cipher(name).expect("it is there");
        let messages = messages(cipher, 50, 5_000, 6, 99);
        let anywhere = |jobs: &mut [Job<'_>]| Ok::<_, Infallible>(batch::run(cipher, jobs));
        let Ok(()) = run_apart_and_in_place(&messages, name, anywhere);
    }
}

/// Those of blocks of 16 bytes; of the others the error names the cipher.
#[cfg(feature = "cuda")]
#[test]
fn ciphers_have_batches_on_devices() {
    for cipher in CIPHERS {
        let family = batch::on_device(cipher).map(|family| family.cipher().name);
        match family {
            Ok(found) => assert_eq!((found, cipher.block_bytes), (cipher.name, 16)),
            Err(error) => {
                assert_eq!(cipher.block_bytes, 8, "{error}");
                assert!(error.to_string().contains(cipher.name), "{error}");
            }
        }
    }
}

#[test]
fn no_jobs_are_complete() {
    let cipher = lanecrypt::find_cipher("aes").expect("it is there");
    let outcome = batch::run_on_cpu(cipher, &mut []);
    assert!(outcome.is_complete());
    assert_eq!(outcome.to_string(), "every job is complete");
}

#[test]
fn an_outcome_names_what_failed() {
    let cipher = lanecrypt::find_cipher("aes").expect("it is there");
    let mut data = [[0; 16]; 5];
    let keys: [&[u8]; 5] = [&[0; 16], &[0; 3], &[0; 5], &[0; 6], &[0; 7]];
    let jobs = keys.into_iter().zip(&mut data).map(|(key, data)| Job {
        key,
        mode: batch::JobMode::EcbEncrypt,
        data: data.as_mut_slice().into(),
    });
    let outcome = batch::run_on_cpu(cipher, &mut jobs.collect::<Vec<_>>());
    let text = outcome.into_result().expect_err("four are bad").to_string();
    assert!(text.starts_with("4 jobs failed: job 1: aes key of 3 bytes"), "{text}");
    assert!(text.ends_with("; ..."), "{text}");
    assert!(data[0] != [0; 16] && data[1..] == [[0; 16]; 4]);
}
