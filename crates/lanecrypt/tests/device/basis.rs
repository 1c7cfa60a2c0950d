//! The field of 2^128 elements on a device, on all basis blocks: products are linear in each factor, and masks in the
//! first of them, so that what is right on a basis is right for all.

use lanecrypt::{
    Direction,
    cuda::{DataUnits, Device, DeviceBuffer, GhashEngine, HashFamily},
};
use lanecrypt_reference::{
    gf128::{basis, ghash_product, of_ghash, rank, square_root, to_ghash, xts_masks},
    modes::{ecb_encrypt, ghash},
};
use libtest_mimic::Failed;

use crate::{
    Case,
    common::{EngineBlocks, Outcome, noise},
    compare,
    gcm::hash_families,
    units::families_of_16_bytes,
    widest_on_the_cpu,
};

/// GHASH on all 128 times 128 pairs by the kernel that takes short messages, which all families have, and long messages,
/// which have every basis block at many places, by every family.
///
/// The block of a message of one block is multiplied by the second power of the key: the keys here are square roots of
/// basis blocks.
pub(crate) fn products(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let blocks = DeviceBuffer::from_host(&device, basis().as_flattened())?;
    let families = hash_families(&device);
    let short = *families.first().ok_or("no family of hashes fits")?;
    for factor in basis() {
        let root = to_ghash(square_root(of_ghash(factor)));
        let engine = GhashEngine::new(&device, short, &root)?;
        // The block of lengths: 128 bits of data.
        let lengths = ghash_product(128_u128.to_be_bytes(), root);
        for (i, block) in basis().into_iter().enumerate() {
            let product = ghash_product(block, factor);
            let expected: Vec<u8> = product.iter().zip(lengths).map(|(x, y)| x ^ y).collect();
            if engine.hash(&[], &blocks.slice(16 * i..16 * i + 16)?)?[..] != expected[..] {
                return Err(format!("{block:02x?} times {factor:02x?}").into());
            }
        }
        for family in &families {
            long_message(&device, *family, factor)?;
        }
    }
    Ok(())
}

/// A message for the kernel that takes long ones, of basis blocks over and over, under a basis key.
fn long_message(device: &Device, family: HashFamily, key: [u8; 16]) -> Outcome {
    let engine = GhashEngine::new(device, family, &key)?;
    let blocks = engine.long_blocks() + 5;
    let data: Vec<u8> = basis().into_iter().cycle().take(blocks).flatten().collect();
    let buffer = DeviceBuffer::from_host(device, &data)?;
    let found = engine.hash(&[], &buffer.slice(0..data.len())?)?;
    if u128::from_be_bytes(found) == ghash(u128::from_be_bytes(key), &[], &data) {
        return Ok(());
    }
    Err(format!("{family:?}: {blocks} basis blocks under {key:02x?}").into())
}

/// Masks of XTS from blocks that all others are sums of: the numbers of units, as the tweak key encrypts them. With data
/// of zeros, what comes out is the masks, encrypted, and added once more.
pub(crate) fn masks(case: &Case) -> Outcome {
    const BLOCKS: usize = 70; // past two warps
    const UNITS: usize = 192; // so many random blocks are of full rank but once in 2^64 keys
    let device = (case.open)()?;
    for family in families_of_16_bytes() {
        let cipher = family.cipher();
        let length = cipher.key_bytes[0];
        let keys = noise(2 * length, 51);
        let create = |key: &[u8]| (widest_on_the_cpu(cipher)?.create)(key).map_err(Failed::from);
        let [data_cipher, tweak_cipher] =
            [EngineBlocks(create(&keys[..length])?), EngineBlocks(create(&keys[length..])?)];
        let mut firsts: Vec<_> = (0..UNITS as u128).map(u128::to_le_bytes).collect();
        ecb_encrypt(&tweak_cipher, firsts.as_flattened_mut())?;
        assert_eq!(rank(&firsts), 128, "{}: the first masks are no basis", cipher.name);
        let of_unit = |first: &[u8; 16]| xts_masks(*first).take(BLOCKS);
        let masks: Vec<u8> = firsts.iter().flat_map(of_unit).flatten().collect();
        let mut expected = masks.clone();
        ecb_encrypt(&data_cipher, &mut expected)?;
        expected.iter_mut().zip(&masks).for_each(|(byte, mask)| *byte ^= mask);
        let mut buffer = DeviceBuffer::zeroed(&device, masks.len())?;
        let units = DataUnits { bytes: 16 * BLOCKS, first: 0 };
        let engine = family.xts_engine(&device, &keys)?;
        engine.run(Direction::Encrypt, units, &mut buffer.slice_mut(0..masks.len())?)?;
        compare(&buffer, &expected, family.summary())?;
    }
    Ok(())
}
