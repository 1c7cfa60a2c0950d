//! `lanecrypt_fuzz::texts` as a program of libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lanecrypt_fuzz::texts(data));
