//! Whether a rung is right: known answers of others, and those of the first rung, which is the standard's text, for every block
//! of many lengths.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use lanecrypt_reference::{
    sbox::SM4,
    vectors::{Lines, VectorFile},
};

use crate::{rung_01, rungs::Encrypt};

/// Known answers, from the workspace's root.
const VECTORS: &str = "vectors/sm4_ecb.txt";
/// Lengths in blocks: one, and one less, as many, and one more than what rungs take at once, and several of these with a rest.
const LENGTHS: [usize; 25] = [
    1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 64, 65, 94, 127, 128, 129, 193, 255, 256, 257, 511, 512,
    513, 1_193,
];
/// What is behind the blocks, and must stay.
const UNTOUCHED: [u8; 16] = [0x5a; 16];

/// The round keys of a key (GB/T 32907, section 7.3).
pub(crate) fn round_keys(key: &[u8; 16]) -> [u32; 32] {
    let bytes = key.as_chunks().0;
    let fk = [0xa3b1_bac6_u32, 0x56aa_3350, 0x677d_9197, 0xb270_22dc];
    let mut k = [0, 1, 2, 3].map(|i| fk[i] ^ u32::from_be_bytes(bytes[i]));
    let mut keys = [0; 32];
    for (i, key) in (0..).zip(&mut keys) {
        let constant =
            u32::from_be_bytes([0, 7, 14, 21].map(|j: u8| (28_u8.wrapping_mul(i)).wrapping_add(j)));
        let sum = k[1] ^ k[2] ^ k[3] ^ constant;
        let b = u32::from_be_bytes(sum.to_be_bytes().map(|byte| SM4[usize::from(byte)]));
        *key = k[0] ^ b ^ b.rotate_left(13) ^ b.rotate_left(23);
        k = [k[1], k[2], k[3], *key];
    }
    keys
}

/// Blocks of which no two are alike.
pub(crate) fn blocks(count: usize) -> Vec<[u8; 16]> {
    let block = |i: u128| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    (0..count as u128).map(|i| block(i).to_le_bytes()).collect()
}

/// Checks a rung.
///
/// # Errors
/// The first that is wrong.
pub(crate) fn check(name: &str, encrypt: &Encrypt) -> Result<()> {
    known_answers(encrypt).with_context(|| name.to_owned())?;
    let keys = round_keys(b"a key of no use.");
    for count in LENGTHS {
        let input = blocks(count);
        let mut expected = input.clone();
        rung_01::encrypt(&keys, &mut expected);
        let mut all = [&input[..], &[UNTOUCHED; 4]].concat();
        encrypt(&keys, &mut all[..count]);
        let wrong = expected.iter().zip(&all).filter(|(expected, given)| expected != given).count();
        ensure!(wrong == 0, "{name}: {wrong} of {count} blocks are wrong");
        ensure!(all[count..] == [UNTOUCHED; 4], "{name} writes behind {count} blocks");
    }
    Ok(())
}

/// The known answers of the electronic codebook.
fn known_answers(encrypt: &Encrypt) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = VectorFile::read(root.join(VECTORS))?;
    let Lines::Vectors(vectors) = &file.lines else { anyhow::bail!("{VECTORS} has no vectors") };
    for vector in vectors {
        let key = vector.key[..].try_into().context("a key of 16 bytes")?;
        let mut blocks = vector.pt.as_deref().context("a plaintext")?.as_chunks().0.to_vec();
        encrypt(&round_keys(key), &mut blocks);
        ensure!(blocks.as_flattened() == vector.ct, "{} is wrong", vector.id);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{rung_03, rungs};

    #[test]
    fn every_rung_that_this_cpu_has_is_right() {
        for rung in rungs::all().expect("the listings say what they are") {
            match &rung.encrypt {
                Ok(encrypt) => check(rung.name, encrypt).expect("it is right"),
                Err(lacks) => println!("{} NOT run: {lacks}", rung.name),
            }
        }
    }

    /// What goes wrong in such code: a rest that is left out, one wrong lane, another key.
    #[test]
    fn a_broken_rung_is_noticed() {
        let without_rest = |keys: &[u32; 32], blocks: &mut [[u8; 16]]| {
            let whole = blocks.len() / 4 * 4;
            rung_03::encrypt(keys, &mut blocks[..whole]);
        };
        let one_lane = |keys: &[u32; 32], blocks: &mut [[u8; 16]]| {
            rung_03::encrypt(keys, blocks);
            if let Some(block) = blocks.get_mut(511) {
                block[15] ^= 0x80;
            }
        };
        let other_key = |keys: &[u32; 32], blocks: &mut [[u8; 16]]| {
            let mut keys = *keys;
            keys[31] ^= 1;
            rung_03::encrypt(&keys, blocks);
        };
        let right: Encrypt = Box::new(rung_03::encrypt);
        check("right", &right).expect("it is right");
        let broken: [(&str, Encrypt); 3] = [
            ("without a rest", Box::new(without_rest)),
            ("one lane", Box::new(one_lane)),
            ("another key", Box::new(other_key)),
        ];
        for (name, encrypt) in broken {
            assert!(check(name, &encrypt).is_err(), "{name}");
        }
    }
}
