//! `lanecrypt_fuzz::parquet` as a program of libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lanecrypt_fuzz::parquet(data));
