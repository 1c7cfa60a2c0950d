//! What the book's page "In your browser" has of Lanecrypt, as a module of WebAssembly: the ciphers, their kernels, what
//! these take of a key, and the form for CPUs.
//!
//! `lanecrypt-wgpu` itself does not run in a browser, whose GPU answers only when nothing runs, while an engine waits.
//! With wgpu there would also come the files of JavaScript that wasm-bindgen writes. So the page's script launches
//! kernels, which takes it fewer lines than a second engine would; whatever knows a cipher is here, in Rust.
#![cfg(target_arch = "wasm32")]
#![deny(unsafe_code)]

mod ffi;

use lanecrypt::{CIPHERS, Direction, registry::CipherDescription, wgpu::Family};

/// Operations of two inputs that a batch takes: `cipher,key bits,direction,inputs,operations`.
const FORMS: &str = include_str!("../../../benches/schema/forms.csv");

/// A cipher and its generated kernels.
struct Offered {
    cipher: &'static CipherDescription,
    family: &'static Family,
}

/// The ciphers that have kernels in WGSL, in the order of their numbers.
fn offered() -> impl Iterator<Item = Offered> {
    CIPHERS.iter().filter_map(|&cipher| {
        let family = cipher.backends.iter().find_map(Family::of)?;
        Some(Offered { cipher, family })
    })
}

/// A cipher by its number.
fn numbered(number: usize) -> Offered {
    offered().nth(number).expect("a number that the page was told")
}

/// The ciphers as JSON: name, standard, bytes of a block, and for each key length in bytes the operations that a thread
/// of a kernel does on its 32 blocks, in encryption and in decryption, transposes not counted.
fn ciphers() -> String {
    let ciphers = offered().map(|Offered { cipher, family }| {
        let keys = cipher.key_bytes.iter().map(|bytes| {
            let [encryption, decryption] =
                ["encryption", "decryption"].map(|direction| operations(family, *bytes, direction));
            format!(r#"{{"bytes":{bytes},"operations":[{encryption},{decryption}]}}"#)
        });
        format!(
            r#"{{"name":"{}","standard":"{}","block":{},"keys":[{}]}}"#,
            cipher.name,
            cipher.standard,
            cipher.block_bytes,
            listed(keys)
        )
    });
    format!(r#"{{"cpu":"{}","ciphers":[{}]}}"#, CPU, listed(ciphers))
}

/// What the form for CPUs computes with.
const CPU: &str =
    if cfg!(target_feature = "simd128") { "SIMD of 128 bits" } else { "words of 64 bits" };

fn listed(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(",")
}

fn operations(family: &Family, key_bytes: usize, direction: &str) -> &'static str {
    let name = family.program().name();
    let row = format!("{name},{},{direction},2,", 8 * key_bytes);
    let found = FORMS.lines().find_map(|line| line.strip_prefix(&row));
    found.expect("the ledger has every form")
}

/// What the kernels take of a key in a direction: the masks as bytes, then the name of the kernel.
fn keys(family: &Family, direction: Direction, key: &[u8]) -> Vec<u8> {
    let pair = family.keys(key).expect("a key of the cipher");
    let keys = match direction {
        Direction::Encrypt => pair.encrypt,
        Direction::Decrypt => pair.decrypt,
    };
    let masks = keys.masks().iter().flat_map(|mask| mask.to_le_bytes());
    masks.chain("ecb_".bytes()).chain(keys.whole().bytes()).collect()
}

/// Runs ECB over whole blocks by a backend for CPUs.
fn run((cipher, backend): (&str, &str), direction: Direction, key: &[u8], blocks: &mut [u8]) {
    let engine = lanecrypt::engine(cipher, backend, key).expect("a key of the cipher");
    engine.ecb(direction, blocks.into()).expect("whole blocks");
}
