//! `lanecrypt_fuzz::experience` as a program of libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lanecrypt_fuzz::experience(data));
