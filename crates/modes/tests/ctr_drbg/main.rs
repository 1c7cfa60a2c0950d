//! `CtrDrbg` against OpenSSL's generator and a sample of NIST's, and what it refuses.

#[path = "../fails/mod.rs"]
mod fails;

use std::error::Error;

use fails::{Fails, fail_after};
use lanecrypt_aes::{Aes128, Aes192, Aes256};
use lanecrypt_modes::{
    BlockEngine,
    cipher::KeyInit,
    ctr_drbg::{
        CtrDrbg, DrbgError, Expected, MAX_REQUEST_BYTES, Seeded, SeededError,
        rand_core::{TryCryptoRng, TryRng},
    },
};
use sha2::{Digest, Sha256};

/// Bytes in hexadecimal digits; `-` is none.
fn bytes(text: &str) -> Vec<u8> {
    if text == "-" { Vec::new() } else { hex::decode(text).expect("hexadecimal digits") }
}

/// Runs a line of `openssl.txt` and returns all answers.
fn answers<C: BlockEngine + KeyInit>(fields: &[&str]) -> Result<Vec<u8>, DrbgError> {
    let [derives, entropy, nonce, personalization, steps @ ..] = fields else {
        panic!("{fields:?}")
    };
    let [entropy, nonce, personalization] = [entropy, nonce, personalization].map(|f| bytes(f));
    let mut drbg = match *derives {
        "1" => CtrDrbg::<C>::new(&entropy, &nonce, &personalization)?,
        _ => CtrDrbg::<C>::with_full_entropy(&entropy, &personalization)?,
    };
    let mut all = Vec::new();
    for step in steps {
        let parts: Vec<&str> = step.split(':').collect();
        let (entropy, request) = match parts[..] {
            ["reseed", entropy, additional] => (Some((bytes(entropy), bytes(additional))), None),
            // The additional input goes into the seed, and then no more (SP 800-90A, 9.3.1).
            ["fresh", entropy, length, additional] => {
                (Some((bytes(entropy), bytes(additional))), Some((length, Vec::new())))
            }
            ["generate", length, additional] => (None, Some((length, bytes(additional)))),
            _ => panic!("{step}"),
        };
        if let Some((entropy, additional)) = entropy {
            drbg.reseed(&entropy, &additional)?;
        }
        if let Some((length, additional)) = request {
            // What is in the output does not go into it.
            let mut output = vec![0xa5; length.parse().expect("a number")];
            drbg.generate(&mut output, &additional)?;
            all.extend(output);
        }
    }
    Ok(all)
}

#[test]
fn answers_are_those_of_openssl() {
    let lines = include_str!("openssl.txt").lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for line in lines {
        let fields: Vec<&str> = line.split(' ').collect();
        let [cipher, steps @ .., digest, end] = &fields[..] else { panic!("{line}") };
        let all = match *cipher {
            "aes-128" => answers::<Aes128>(steps),
            "aes-192" => answers::<Aes192>(steps),
            "aes-256" => answers::<Aes256>(steps),
            _ => panic!("{cipher}"),
        };
        let all = all.expect(line);
        assert!(all.ends_with(&bytes(end)), "the last answer: {line}");
        assert_eq!(hex::encode(Sha256::digest(&all)), *digest, "{line}");
        count += 1;
    }
    assert_eq!(count, 36);
}

/// The first test of NIST's sample of ACVP's ctrDRBG 1.0 (usnistgov/ACVP-Server, gen-val/json-files/ctrDRBG-1.0): AES-128
/// with prediction resistance; and how its second answer begins.
const SAMPLE: [&str; 6] = [
    "1",
    "318891DF5E6BBA14A4EE6875F19FE7E05A279E148F74368FF201C78ACAC1E5DB",
    "FD13A35CCFB61CF672BD81608B87251F709F9BED2E09162F8622DA8C9E1E87B2",
    "8C29532470A7ACC931D1FC0AB93FFA1B78B7BF5F5EC218C405CD897F8DDD42AD",
    "fresh:6F3771C13671D73B64E92AD522008690694323E65517B951C7CD933012F48FDA:512:\
     E006972258D790A6AF15BBD769BB1C03E8869422F0200DEA23D6FA7D3B35BE65",
    "fresh:53017D23EC9486A8AA98CEB5A4328950A642F90AC738DCAF96EB08EE28F0A781:512:\
     3273FF73687F460FB32B61649808314DADA54D83FAB92530FBF95EA47A6E3F06",
];
const SECOND_ANSWER: &str = "43BC32FEC5308B54C146B8226A8F80ECD5AD67194BA3BAD635D74D51848C333C";

#[test]
fn a_sample_of_nist() {
    let all = answers::<Aes128>(&SAMPLE).expect("good lengths");
    assert!(all[512..].starts_with(&bytes(SECOND_ANSWER)));
}

#[test]
fn what_is_too_short_or_long_is_refused() {
    let refused = |result: Result<CtrDrbg<Aes256>, DrbgError>| result.expect_err("refused");
    let least = |bytes| Expected::AtLeast(bytes);
    let error = refused(CtrDrbg::new(&[0; 31], &[0; 16], &[]));
    assert!(matches!(error, DrbgError::Entropy { given: 31, expected } if expected == least(32)));
    assert_eq!(error.to_string(), "31 bytes of entropy; expected at least 32");
    let error = refused(CtrDrbg::new(&[0; 32], &[0; 15], &[]));
    assert!(matches!(error, DrbgError::Nonce { given: 15, expected } if expected == least(16)));
    for length in [47, 49] {
        let error = refused(CtrDrbg::with_full_entropy(&vec![0; length], &[]));
        let exactly = Expected::Exactly(48);
        assert!(matches!(error, DrbgError::Entropy { expected, .. } if expected == exactly));
    }
    let error = refused(CtrDrbg::with_full_entropy(&[0; 48], &[0; 49]));
    assert!(matches!(error, DrbgError::Input { given: 49, most: 48 }));
}

#[test]
fn a_refused_request_changes_nothing() {
    let new = || CtrDrbg::<Aes128>::with_full_entropy(&[7; 32], &[]).expect("a seed's length");
    let (mut asked, mut other) = (new(), new());
    let mut long = vec![1; MAX_REQUEST_BYTES + 1];
    let error = asked.generate(&mut long, &[]).expect_err("too long");
    assert!(matches!(error, DrbgError::Request { given: 65_537 }));
    assert!(matches!(asked.generate(&mut long[..9], &[0; 33]), Err(DrbgError::Input { .. })));
    assert!(matches!(asked.reseed(&[1; 31], &[]), Err(DrbgError::Entropy { .. })));
    assert!(long.iter().all(|&byte| byte == 1), "nothing was written");
    let [mut one, mut same] = [[0; 100]; 2];
    asked.generate(&mut one, &[]).expect("a good request");
    other.generate(&mut same, &[]).expect("a good request");
    assert_eq!(one, same);
    // And an empty request is one, after which the key is another.
    asked.generate(&mut [], &[]).expect("an empty request");
    asked.generate(&mut one, &[]).expect("a good request");
    other.generate(&mut same, &[]).expect("a good request");
    assert_ne!(one, same);
}

/// Whichever of its calls fails, those that make a seed of the additional input among them.
#[test]
fn an_engine_that_fails_leaves_zeros() {
    let mut failures = 0;
    for calls in 0.. {
        fail_after(usize::MAX);
        let mut drbg = CtrDrbg::<Fails>::new(&[1; 16], &[2; 8], &[]).expect("good lengths");
        fail_after(calls);
        let mut output = [7; 40];
        let Err(error) = drbg.generate(&mut output, b"additional") else { break };
        assert!(matches!(error, DrbgError::Engine(_)), "{error}");
        assert_eq!(output, [0; 40], "call {calls}");
        failures += 1;
    }
    assert!(failures > 3, "it failed {failures} times");
}

/// Entropy that can be foretold: seeds of one byte each, of which there are this many.
struct Source {
    seeds: u8,
    used: u8,
}

/// No seed is left.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is empty")]
struct Empty;

impl TryRng for Source {
    type Error = Empty;

    fn try_next_u32(&mut self) -> Result<u32, Empty> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Empty> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Empty> {
        if self.used == self.seeds {
            return Err(Empty);
        }
        self.used += 1;
        bytes.fill(self.used);
        Ok(())
    }
}

impl TryCryptoRng for Source {}

#[test]
fn a_source_gives_a_seed_for_so_many_answers() {
    let mut seeded = Seeded::<Aes256, _>::new(Source { seeds: 2, used: 0 }, 2).expect("a seed");
    let mut by_hand = CtrDrbg::<Aes256>::with_full_entropy(&[1; 48], &[]).expect("a seed");
    // Three answers: the second ends the first seed.
    let (mut found, mut expected) =
        (vec![0; 2 * MAX_REQUEST_BYTES + 5], vec![0; 2 * MAX_REQUEST_BYTES + 5]);
    seeded.try_fill_bytes(&mut found).expect("two seeds");
    for (i, part) in expected.chunks_mut(MAX_REQUEST_BYTES).enumerate() {
        if i == 2 {
            by_hand.reseed(&[2; 48], &[]).expect("a seed's length");
        }
        by_hand.generate(part, &[]).expect("a good request");
    }
    assert!(found == expected);
    assert_eq!(format!("{seeded:?}"), "Seeded { .. }");
    seeded.try_next_u64().expect("the second seed's");
    // A third seed is wanted and not there.
    found.fill(9);
    let error = seeded.try_fill_bytes(&mut found).expect_err("an empty source");
    assert!(matches!(error, SeededError::Source(Empty)));
    assert_eq!(error.to_string(), "the source of entropy: it is empty");
    assert!(error.source().expect("the source's error").is::<Empty>());
    assert!(found.iter().all(|&byte| byte == 0));
    assert!(Seeded::<Aes128, _>::new(Source { seeds: 0, used: 0 }, 1).is_err());
}

#[test]
fn words_of_both_sizes_are_answers() {
    let mut seeded = Seeded::<Aes256, _>::new(Source { seeds: 1, used: 0 }, 2).expect("a seed");
    let mut by_hand = CtrDrbg::<Aes256>::with_full_entropy(&[1; 48], &[]).expect("a seed");
    let (mut short, mut long) = ([0; 4], [0; 8]);
    by_hand.generate(&mut short, &[]).expect("a good request");
    by_hand.generate(&mut long, &[]).expect("a good request");
    assert_eq!(seeded.try_next_u32().expect("the seed's"), u32::from_le_bytes(short));
    assert_eq!(seeded.try_next_u64().expect("the seed's"), u64::from_le_bytes(long));
    assert!(seeded.try_next_u32().is_err() && seeded.try_next_u64().is_err(), "no seed is left");
}
