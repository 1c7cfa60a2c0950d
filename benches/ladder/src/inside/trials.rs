//! What each kernel must give, by somebody else's code, and what it is measured with.

use std::time::Duration;

use aes::{Aes128, Aes192, Aes256};
use anyhow::{Result, bail, ensure};
use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use ghash::{GHash, universal_hash::UniversalHash};
use lanecrypt_cuda::DeviceBuffer;
use lanecrypt_ladder::{Job, Listing};

use crate::dpf;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;
/// Bytes behind the output that a kernel must leave alone, and what they hold.
const MARGIN: usize = 4096;
const UNTOUCHED: u8 = 0x5a;

/// FIPS 197's keys: that of A.1, and that of A.3, of which shorter ones are the beginning.
const KEY: [u8; 16] = [
    0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c,
];
const LONG_KEY: [u8; 32] = [
    0x60, 0x3d, 0xeb, 0x10, 0x15, 0xca, 0x71, 0xbe, 0x2b, 0x73, 0xae, 0xf0, 0x85, 0x7d, 0x77, 0x81,
    0x1f, 0x35, 0x2c, 0x07, 0x3b, 0x61, 0x08, 0xd7, 0x2d, 0x98, 0x10, 0xa3, 0x09, 0x14, 0xdf, 0xf4,
];
/// Bytes of keys of AES.
const SIZES: [usize; 3] = [16, 24, 32];

/// Blocks that a kernel is checked with, around warps, rows and thread blocks: on a GPU, and as few as the host needs.
fn lengths(on_host: bool) -> &'static [usize] {
    if on_host {
        &[1, 257, 1030]
    } else {
        &[1, 31, 32, 33, 255, 256, 257, 1023, 1025, 5003, 300_001]
    }
}

/// What a kernel is measured with.
pub(crate) struct Load {
    pub(crate) name: String,
    /// Calls of the cipher, or products, in a launch.
    pub(crate) calls: u64,
    /// Whether what was counted of its PTX is for this one.
    pub(crate) is_counted: bool,
    /// What the kernel's parameters end with.
    pub(crate) words: Vec<u64>,
    /// Blocks that it writes, and bytes of its table.
    pub(crate) blocks: u64,
    pub(crate) table: Vec<u8>,
}

/// Runs a load once and returns the device's time.
pub(crate) type Run<'a> = Box<dyn FnMut() -> Result<Duration> + 'a>;

/// A kernel's trial.
pub(crate) trait Trial {
    /// Compares everything that it gives, and says what that was.
    fn check(&self, listing: &Listing, on_host: bool) -> Result<String>;

    /// What it is measured with; nothing, where it is there to be checked.
    fn loads(&self) -> Vec<Load>;

    /// Whether it reads blocks beside its table.
    fn has_input(&self) -> bool {
        true
    }

    /// A load on the device.
    fn prepare<'a>(&self, listing: &'a Listing, load: &Load) -> Result<Run<'a>> {
        let bytes = load.blocks as usize * BLOCK;
        let device = listing.device();
        let input = if self.has_input() {
            Some(DeviceBuffer::from_host(device, &numbered(load.blocks as usize))?)
        } else {
            None
        };
        let mut output = DeviceBuffer::zeroed(device, bytes)?;
        let table = DeviceBuffer::from_host(device, &load.table)?;
        let (words, blocks) = (load.words.clone(), load.blocks);
        Ok(Box::new(move || {
            let (input, output, table) = (input.as_ref(), &mut output, &table);
            Ok(listing.run(Job { input, output, blocks, table, words: &words, keys: None })?)
        }))
    }
}

/// The trial of a listing.
pub(crate) fn trial(name: &str) -> Result<Box<dyn Trial>> {
    Ok(match name {
        "fixed-key" => Box::new(FixedKey),
        "key-a-block" => Box::new(KeyABlock),
        "bit-sliced" => Box::new(BitSliced),
        "every-table" => Box::new(EveryTable),
        "ghash" => Box::new(Ghash),
        "dpf" => Box::new(dpf::Dpf),
        _ => bail!("{name}: there is no trial of this listing"),
    })
}

/// Blocks of which no two are alike.
pub(crate) fn numbered(blocks: usize) -> Vec<u8> {
    let word = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..2 * blocks as u64).flat_map(|i| word(i).to_le_bytes()).collect()
}

/// What a kernel writes, `blocks` of them.
///
/// # Errors
/// Where it writes behind them.
pub(crate) fn output(
    listing: &Listing,
    input: Option<&[u8]>,
    blocks: usize,
    table: &[u8],
    words: &[u64],
) -> Result<Vec<u8>> {
    let device = listing.device();
    let bytes = blocks * BLOCK;
    let mut result = vec![UNTOUCHED; bytes + MARGIN];
    let mut output = DeviceBuffer::from_host(device, &result)?;
    let input = input.map(|bytes| DeviceBuffer::from_host(device, bytes)).transpose()?;
    let table = DeviceBuffer::from_host(device, table)?;
    listing.run(Job {
        input: input.as_ref(),
        output: &mut output,
        blocks: blocks as u64,
        table: &table,
        words,
        keys: None,
    })?;
    output.read(0, &mut result)?;
    let behind = result.split_off(bytes);
    ensure!(behind.iter().all(|byte| *byte == UNTOUCHED), "bytes behind the output are written");
    Ok(result)
}

/// Compares all blocks with what `expected` makes of them, in their order.
fn compare(
    (name, blocks): (&str, usize),
    given: &[u8],
    input: &[u8],
    mut expected: impl FnMut(usize, [u8; BLOCK]) -> [u8; BLOCK],
) -> Result<()> {
    let (given, _) = given.as_chunks::<BLOCK>();
    let (input, _) = input.as_chunks::<BLOCK>();
    let wrong = given.iter().zip(input).enumerate();
    let wrong = wrong.filter(|(i, (given, input))| **given != expected(*i, **input)).count();
    ensure!(wrong == 0 && given.len() == blocks, "{name}: {wrong} of {blocks} blocks are wrong");
    Ok(())
}

/// A cipher by its key's length.
enum Cipher {
    Short(Aes128),
    Middle(Aes192),
    Long(Aes256),
}

impl Cipher {
    fn new(key: &[u8]) -> Result<Self> {
        Ok(match key.len() {
            16 => Self::Short(Aes128::new_from_slice(key)?),
            24 => Self::Middle(Aes192::new_from_slice(key)?),
            _ => Self::Long(Aes256::new_from_slice(key)?),
        })
    }

    fn encrypt(&self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let mut block = block.into();
        match self {
            Self::Short(cipher) => cipher.encrypt_block(&mut block),
            Self::Middle(cipher) => cipher.encrypt_block(&mut block),
            Self::Long(cipher) => cipher.encrypt_block(&mut block),
        }
        block.into()
    }

    fn decrypt(&self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let mut block = block.into();
        match self {
            Self::Short(cipher) => cipher.decrypt_block(&mut block),
            Self::Middle(cipher) => cipher.decrypt_block(&mut block),
            Self::Long(cipher) => cipher.decrypt_block(&mut block),
        }
        block.into()
    }
}

/// The sum of two blocks.
fn sum(a: [u8; BLOCK], b: [u8; BLOCK]) -> [u8; BLOCK] {
    (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
}

/// Blocks of a load: a gibibyte of them.
const MANY: u64 = 1 << 26;

struct FixedKey;

impl Trial for FixedKey {
    fn check(&self, listing: &Listing, on_host: bool) -> Result<String> {
        let cipher = Cipher::new(&KEY)?;
        for &blocks in lengths(on_host) {
            let input = numbered(blocks);
            let hashed = output(listing, Some(&input), blocks, &[0], &[0])?;
            compare(("E(x) + x", blocks), &hashed, &input, |_, x| sum(cipher.encrypt(x), x))?;
            let hashed = output(listing, Some(&input), blocks, &[0], &[1])?;
            compare(("the hash with a tweak", blocks), &hashed, &input, |i, x| {
                let inner = cipher.encrypt(x);
                sum(cipher.encrypt(sum(inner, (i as u128).to_le_bytes())), inner)
            })?;
        }
        Ok("both hashes".to_owned())
    }

    fn loads(&self) -> Vec<Load> {
        let load = |name: &str, word, calls| Load {
            name: name.to_owned(),
            calls: calls * MANY,
            is_counted: word == 0,
            words: vec![word],
            blocks: MANY,
            table: vec![0],
        };
        vec![load("E(x) + x", 0, 1), load("with a tweak, two calls", 1, 2)]
    }
}

struct KeyABlock;

impl KeyABlock {
    /// Keys of this size, of which no two are alike.
    fn keys(blocks: usize, size: usize) -> Vec<u8> {
        let mut keys = numbered((blocks * size).div_ceil(BLOCK));
        keys.truncate(blocks * size);
        keys.reverse();
        keys
    }
}

impl Trial for KeyABlock {
    fn check(&self, listing: &Listing, on_host: bool) -> Result<String> {
        for size in SIZES {
            for &blocks in lengths(on_host) {
                let (input, keys) = (numbered(blocks), Self::keys(blocks, size));
                let given = output(listing, Some(&input), blocks, &keys, &[size as u64])?;
                let ciphers: Vec<Cipher> =
                    keys.chunks(size).map(Cipher::new).collect::<Result<_>>()?;
                let name = format!("AES-{} under a key a block", 8 * size);
                compare((&name, blocks), &given, &input, |i, x| ciphers[i].encrypt(x))?;
            }
        }
        Ok("keys of 16, 24 and 32 bytes".to_owned())
    }

    fn loads(&self) -> Vec<Load> {
        let load = |size: usize| Load {
            name: format!("AES-{}", 8 * size),
            calls: MANY,
            is_counted: size == 16,
            words: vec![size as u64],
            blocks: MANY,
            table: Self::keys(MANY as usize, size),
        };
        SIZES.map(load).into()
    }
}

struct BitSliced;

impl Trial for BitSliced {
    fn check(&self, listing: &Listing, on_host: bool) -> Result<String> {
        let cipher = Cipher::new(&KEY)?;
        for &blocks in lengths(on_host) {
            let input = numbered(blocks);
            let given = output(listing, Some(&input), blocks, &[0], &[0])?;
            compare(("encryption", blocks), &given, &input, |_, x| cipher.encrypt(x))?;
            let given = output(listing, Some(&input), blocks, &[0], &[1])?;
            compare(("decryption", blocks), &given, &input, |_, x| cipher.decrypt(x))?;
        }
        Ok("both directions".to_owned())
    }

    fn loads(&self) -> Vec<Load> {
        let load = |name: &str, word| Load {
            name: name.to_owned(),
            calls: MANY,
            is_counted: word == 0,
            words: vec![word],
            blocks: MANY,
            table: vec![0],
        };
        vec![load("encryption", 0), load("decryption", 1)]
    }
}

/// What the listing `every-table` is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Encrypt,
    Decrypt,
    EncryptExpanded,
    EncryptSliced,
    DecryptSliced,
}

struct EveryTable;

impl Trial for EveryTable {
    fn check(&self, listing: &Listing, on_host: bool) -> Result<String> {
        use What::{Decrypt, DecryptSliced, Encrypt, EncryptExpanded, EncryptSliced};
        let by_tables = [4, 2, 1]
            .into_iter()
            .flat_map(|tables| [Encrypt, Decrypt, EncryptExpanded].map(|what| (tables, what)));
        let all = by_tables.chain([(0, EncryptSliced), (0, DecryptSliced)]);
        let blocks = if on_host { 100 } else { 70_001 };
        let input = numbered(blocks);
        for (tables, what) in all {
            for size in SIZES {
                let words = [size as u64, tables, what as u64];
                let given = output(listing, Some(&input), blocks, &LONG_KEY, &words)?;
                let cipher = Cipher::new(&LONG_KEY[..size])?;
                let name = format!("AES-{} by {tables} tables, {what:?}", 8 * size);
                compare((&name, blocks), &given, &input, |_, x| match what {
                    Decrypt | DecryptSliced => cipher.decrypt(x),
                    _ => cipher.encrypt(x),
                })?;
            }
        }
        Ok("all sizes of keys, numbers of tables and directions".to_owned())
    }

    fn loads(&self) -> Vec<Load> {
        Vec::new()
    }
}

struct Ghash;

impl Trial for Ghash {
    fn check(&self, listing: &Listing, on_host: bool) -> Result<String> {
        for &blocks in lengths(on_host) {
            let input = numbered(blocks);
            let factors: Vec<u8> = input.iter().rev().copied().collect();
            let given = output(listing, Some(&input), blocks, &factors, &[])?;
            let (factors, _) = factors.as_chunks::<BLOCK>();
            compare(("products", blocks), &given, &input, |i, x| {
                // The hash of one block is its product with the key.
                let mut hash = GHash::new(&factors[i].into());
                hash.update(&[x.into()]);
                hash.finalize().into()
            })?;
        }
        Ok("products".to_owned())
    }

    fn loads(&self) -> Vec<Load> {
        vec![Load {
            name: "products".to_owned(),
            calls: MANY,
            is_counted: true,
            words: Vec::new(),
            blocks: MANY,
            table: numbered(MANY as usize),
        }]
    }
}
