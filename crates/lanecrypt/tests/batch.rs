//! Batches on the CPU: every cipher, all modes, keys and lengths in one call, against the plain modes.

#[path = "common/engine_blocks.rs"]
mod engine_blocks;
mod mix;

use engine_blocks::EngineBlocks;
use lanecrypt::{
    CIPHERS, CipherDescription,
    batch::{self, Job, JobData},
};
use mix::{Message, check, messages};

/// Runs messages on the CPU, apart and in place.
fn run(cipher: &'static CipherDescription, messages: &[Message], what: &str) {
    let mut apart = messages.to_vec();
    let mut outputs: Vec<_> = messages.iter().map(|m| vec![0xa5; m.input.len()]).collect();
    let jobs =
        apart.iter_mut().zip(messages).zip(&mut outputs).map(|((message, original), output)| {
            let (key, mode) = message.mode();
            let data = JobData::new(&original.input, output).expect("equal lengths");
            Job { key, mode, data }
        });
    let outcome = batch::run_on_cpu(cipher, &mut jobs.collect::<Vec<_>>());
    check(&apart, &outcome, what);
    for (number, (message, output)) in messages.iter().zip(&outputs).enumerate() {
        let expected = match message.bad {
            None => message.output.clone(),
            Some(_) => vec![0xa5; message.input.len()],
        };
        assert!(*output == expected, "{what}: job {number}, {:?}", message.kind);
    }

    let mut in_place = messages.to_vec();
    let mut data: Vec<_> = messages.iter().map(|message| message.input.clone()).collect();
    let jobs = in_place.iter_mut().zip(&mut data).map(|(message, data)| {
        let (key, mode) = message.mode();
        Job { key, mode, data: data.as_mut_slice().into() }
    });
    let outcome = batch::run_on_cpu(cipher, &mut jobs.collect::<Vec<_>>());
    check(&in_place, &outcome, what);
    for (number, (message, data)) in messages.iter().zip(&data).enumerate() {
        assert!(*data == message.output, "{what} in place: job {number}, {:?}", message.kind);
    }
}

#[test]
fn mixed_messages_of_every_cipher() {
    for (seed, &cipher) in (1..).zip(CIPHERS) {
        run(cipher, &messages(cipher, 120, 20_000, 5, seed), cipher.name);
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
        let mut tried = messages(cipher, 50, 5_000, 6, 99);
        let mut texts: Vec<_> = tried.iter().map(|message| message.input.clone()).collect();
        let jobs = tried.iter_mut().zip(&mut texts).map(|(message, text)| {
            let (key, mode) = message.mode();
            Job { key, mode, data: text.as_mut_slice().into() }
        });
        let outcome = batch::run(cipher, &mut jobs.collect::<Vec<_>>());
        check(&tried, &outcome, name);
        for (message, text) in tried.iter().zip(&texts) {
            assert!(*text == message.output, "{name}: {:?}", message.kind);
        }
        let family = batch::on_device(cipher).map(|family| family.cipher().name);
        match family {
            Ok(found) => assert_eq!((found, name), ("aes", "aes")),
            Err(error) => assert!(error.to_string().contains(name), "{error}"),
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
