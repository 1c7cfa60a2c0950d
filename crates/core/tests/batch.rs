//! What a batch refuses of a job, by its mode, before anything of it is written.

use lanecrypt_core::{Error, Mode, batch::JobMode};

const BLOCK: [u8; 16] = [7; 16];

/// Jobs of every mode that have IVs and tags of the right lengths.
fn with_each_mode(mut look: impl FnMut(JobMode<'_>)) {
    let (iv, mut tag) = (&BLOCK[..], BLOCK);
    look(JobMode::EcbEncrypt);
    look(JobMode::EcbDecrypt);
    look(JobMode::Ctr { counter: iv });
    look(JobMode::Ctr32 { counter: iv });
    look(JobMode::CbcEncrypt { iv });
    look(JobMode::CbcDecrypt { iv });
    look(JobMode::GcmEncrypt { iv, aad: &[], tag: &mut tag });
    look(JobMode::GcmDecrypt { iv, aad: &[], tag: iv });
}

#[test]
fn ecb_and_cbc_take_whole_blocks() {
    with_each_mode(|job| {
        let is_whole = matches!(job.mode(), Mode::Ecb | Mode::Cbc);
        for length in [0, 16, 4096] {
            job.check(length, 16).expect("whole blocks");
        }
        for length in [1, 15, 17, 4095] {
            match job.check(length, 16) {
                Err(Error::NotWholeBlocks { mode, given, block: 16 }) if is_whole => {
                    assert_eq!((mode, given), (job.mode(), length));
                }
                Ok(()) if !is_whole => {}
                other => panic!("{job:?} of {length} bytes: {other:?}"),
            }
        }
    });
}

#[test]
fn blocks_ivs_and_tags_have_their_lengths() {
    with_each_mode(|job| match (job.mode(), job.check(16, 8)) {
        (Mode::Gcm, Err(Error::BlockLength { mode: Mode::Gcm, given: 8 }))
        | (Mode::Ecb, Ok(())) => {}
        (Mode::Ctr | Mode::Cbc, Err(Error::IvLength { mode, given: 16, accepted: 8 })) => {
            assert_eq!(mode, job.mode());
        }
        (_, other) => panic!("{job:?} in blocks of 8 bytes: {other:?}"),
    });
    let short = &BLOCK[..15];
    for job in [
        JobMode::Ctr { counter: short },
        JobMode::Ctr32 { counter: short },
        JobMode::CbcEncrypt { iv: short },
        JobMode::CbcDecrypt { iv: short },
    ] {
        let refused = job.check(16, 16);
        assert!(matches!(refused, Err(Error::IvLength { given: 15, accepted: 16, .. })), "{job:?}");
    }
    let gcm = |iv, tag| JobMode::GcmDecrypt { iv, aad: &[], tag }.check(16, 16);
    assert!(matches!(gcm(&[], &BLOCK), Err(Error::EmptyIv)));
    for length in [0, 3, 17] {
        let refused = gcm(short, &[0; 17][..length]);
        assert!(
            matches!(refused, Err(Error::TagLength { mode: Mode::Gcm, given }) if given == length)
        );
        let tag = &mut [0; 17][..length];
        let refused = JobMode::GcmEncrypt { iv: short, aad: &[], tag }.check(16, 16);
        assert!(
            matches!(refused, Err(Error::TagLength { mode: Mode::Gcm, given }) if given == length)
        );
    }
    for length in 4..=16 {
        gcm(short, &BLOCK[..length]).expect("a tag's length");
    }
}
