//! `lanecrypt_fuzz::keysets` as a program of libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lanecrypt_fuzz::keysets(data));
