//! The table of a cipher's implementations: its parts together, keys, names.
#![cfg(feature = "alloc")]

use lanecrypt_core::{Backend, CipherDescription, ConstantTime, Platform, Unavailable, joined};

const fn backend(id: &'static str) -> Backend {
    Backend {
        id,
        platform: Platform::Cpu,
        lanes: 1,
        constant_time: ConstantTime::Yes,
        summary: "none",
        available: || Err(Unavailable::because("it is made up")),
        create: |_| Err(Unavailable::because("it is made up").into()),
    }
}

const FIRST: &[Backend] = &[backend("a"), backend("b")];
const SECOND: &[Backend] = &[backend("c"), backend("d"), backend("e")];

#[test]
fn lists_are_joined_in_order() {
    const ALL: [Backend; 5] = joined(FIRST, SECOND);
    assert_eq!(ALL.map(|backend| backend.id), ["a", "b", "c", "d", "e"]);
    assert_eq!(joined::<2>(FIRST, &[]).map(|backend| backend.id), ["a", "b"]);
    assert_eq!(format!("{:?}", ALL[0]), "Backend { id: \"a\", .. }");
}

#[test]
fn keys_of_other_lengths_are_refused() {
    let cipher = CipherDescription {
        name: "made-up",
        standard: "none",
        block_bytes: 8,
        key_bytes: &[8, 16],
        backends: FIRST,
    };
    assert!(cipher.check_key(&[0; 8]).is_ok() && cipher.check_key(&[0; 16]).is_ok());
    for length in [0, 7, 9, 24] {
        let error = cipher.check_key(&vec![0; length]).expect_err("not accepted").to_string();
        assert_eq!(error, format!("made-up key of {length} bytes; accepted are [8, 16] bytes"));
    }
}

#[test]
fn platforms_and_claims_have_names() {
    let platforms = [Platform::Cpu, Platform::Cuda, Platform::CudaOnHost];
    assert_eq!(platforms.map(|p| p.to_string()), ["CPU", "CUDA", "CUDA kernels on the CPU"]);
    assert_eq!(ConstantTime::Yes.to_string(), "yes");
    assert_eq!(ConstantTime::No("it looks up").to_string(), "no: it looks up");
}
