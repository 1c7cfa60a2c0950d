//! Thousands of small messages in one call, each under a key of its own. Runs without a GPU.
//!
//! `cargo run --package lanecrypt --example 5_messages`

use lanecrypt::{
    aes::AES,
    batch::{self, Job, JobMode, Outcome},
};

/// What is sealed for each session: its key, its message and the tag.
struct Session {
    key: [u8; 32],
    message: Vec<u8>,
    tag: [u8; 16],
}

const NONCE: &[u8] = b"never twice!"; // under one key

fn seal(session: &mut Session) -> Job<'_> {
    Job {
        key: &session.key,
        mode: JobMode::GcmEncrypt { iv: NONCE, aad: b"", tag: &mut session.tag },
        data: session.message.as_mut_slice().into(),
    }
}

fn open(session: &mut Session) -> Job<'_> {
    Job {
        key: &session.key,
        mode: JobMode::GcmDecrypt { iv: NONCE, aad: b"", tag: &session.tag },
        data: session.message.as_mut_slice().into(),
    }
}

fn main() -> Result<(), Outcome> {
    let session = |i: u16| Session {
        key: std::array::from_fn(|at| i.to_le_bytes()[at % 2]),
        message: vec![i as u8; usize::from(i) % 300],
        tag: [0; 16],
    };
    let mut sessions: Vec<_> = (0..3000).map(session).collect();
    let mut jobs: Vec<_> = sessions.iter_mut().map(seal).collect();
    // `run` takes a GPU where there is one, and else does this.
    batch::run_on_cpu(&AES, &mut jobs).into_result()?;

    // One message is damaged on its way. It is named, and all others are opened.
    sessions[1234].message[5] ^= 0x80;
    let mut jobs: Vec<_> = sessions.iter_mut().map(open).collect();
    let outcome = batch::run_on_cpu(&AES, &mut jobs);
    println!("{outcome}");
    assert!(outcome.failures().len() == 1 && outcome.failures()[0].job == 1234);
    assert!(sessions[2999].message.iter().all(|byte| *byte == 2999_u16 as u8));
    Ok(())
}
