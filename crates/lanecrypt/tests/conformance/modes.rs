//! Trials of the modes.

use lanecrypt::{
    ChainedMessage, Direction, Engine, Error, Gcm, SerialMode, cipher::InOutBuf, modes,
    registry::Platform,
};
use lanecrypt_reference::{
    gf128::{basis, xts_masks},
    modes::{self as by_definition, BlockCipher},
};

use crate::{
    Case,
    common::{Outcome, noise},
    oracle::{both_ways, names},
};

/// Checks CTR over `length` bytes from `counter` on.
fn ctr_case(case: &Case, key: &[u8], counter: &[u8], length: usize) -> Outcome {
    let engine = case.engine(key)?;
    let input = noise(length, 5);
    let expected = case
        .oracle
        .expected(key, &input, |reference, data| by_definition::ctr(reference, counter, data))?;
    let what = format!("CTR over {length} bytes from {counter:02x?}");
    both_ways(&input, &expected, length % 5, &what, |data| engine.ctr(counter, data))
}

pub(crate) fn ctr_lengths(case: &Case) -> Outcome {
    let block = case.cipher.block_bytes;
    let batch = case.backend.lanes * block;
    for (i, key) in case.keys().enumerate() {
        let counter = noise(block, 7 + i as u64);
        for length in [0, 1, block - 1, block, block + 1, batch - 1, batch + 1, 3 * batch + 5] {
            ctr_case(case, &key, &counter, length)?;
        }
    }
    Ok(())
}

pub(crate) fn ctr_carries(case: &Case) -> Outcome {
    let block = case.cipher.block_bytes;
    let key = noise(case.cipher.key_bytes[0], 3);
    let length = (2 * case.backend.lanes + 3) * block + 1;
    // Counters that carry out of their low 8, 16, 32, 64 bits, and that wrap altogether, some way
    // into the data.
    for bits in [8, 10, 16, 32, 64, 8 * block as u32] {
        let all_ones = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
        for before in [0, 1, case.backend.lanes as u128 / 2] {
            let value = all_ones.wrapping_sub(before);
            let counter = &value.to_be_bytes()[16 - block..];
            ctr_case(case, &key, counter, length)?;
        }
    }
    Ok(())
}

/// CBC in whole blocks; chaining makes encryption serial, so decryption alone walks the batches.
pub(crate) fn cbc_lengths(case: &Case) -> Outcome {
    let (block, lanes) = (case.cipher.block_bytes, case.backend.lanes);
    for (i, key) in case.keys().enumerate() {
        let engine = case.engine(&key)?;
        let iv = noise(block, 11 + i as u64);
        for count in [0, 1, 2, 5] {
            let input = noise(count * block, 12);
            let expected = case.oracle.expected(&key, &input, |reference, data| {
                by_definition::cbc_encrypt(reference, &iv, data)
            })?;
            let what = format!("CBC encryption of {count} blocks, {}-byte key", key.len());
            both_ways(&input, &expected, count, &what, |data| {
                modes::cbc_encrypt(&engine, &iv, data)
            })?;
        }
        for count in case.block_counts() {
            let input = &case.oracle.input()[..count * block];
            // Every block decrypted by itself, then XORed with the one before it.
            let mut expected =
                case.oracle.answer(&key, Direction::Decrypt)?[..input.len()].to_vec();
            let previous = iv.iter().chain(input);
            expected.iter_mut().zip(previous).for_each(|(byte, previous)| *byte ^= previous);
            let what = format!("CBC decryption of {count} blocks, {}-byte key", key.len());
            both_ways(input, &expected, count % 5, &what, |data| {
                modes::cbc_decrypt(&engine, &iv, data)
            })?;
        }
        for count in [0, 1, lanes, lanes + 1, 2 * lanes + 3] {
            let input = noise(count * block, 13);
            let expected = case.oracle.expected(&key, &input, |reference, data| {
                by_definition::cbc_decrypt(reference, &iv, data)
            })?;
            let what = format!("CBC decryption of {count} blocks, {}-byte key", key.len());
            both_ways(&input, &expected, count % 5, &what, |data| {
                modes::cbc_decrypt(&engine, &iv, data)
            })?;
        }
    }
    Ok(())
}

/// XTS with and without stealing around the boundary of a batch; ciphers of shorter blocks refuse.
pub(crate) fn xts_lengths(case: &Case) -> Outcome {
    let batch = case.backend.lanes * 16;
    let tweak = by_definition::xts_tweak(0x0123_4567_89ab_cdef);
    for key in case.keys() {
        let tweak_key = noise(key.len(), 21);
        let [engine, tweak_engine] = [case.engine(&key)?, case.engine(&tweak_key)?];
        if case.cipher.block_bytes != 16 {
            let mut data = [0; 16];
            let refused = modes::xts(
                &engine,
                &tweak_engine,
                &tweak,
                Direction::Encrypt,
                data.as_mut_slice().into(),
            );
            names(refused, &["XTS", &case.cipher.block_bytes.to_string(), "16"])?;
            continue;
        }
        let tweak_cipher = case.oracle.reference(&tweak_key)?;
        for direction in Direction::BOTH {
            for length in [16, 17, 31, 32, batch + 16, batch + 31, 2 * batch + 5, 9 * batch + 48] {
                let input = noise(length, 22);
                let expected =
                    case.oracle.expected(&key, &input, |data_cipher, data| match direction {
                        Direction::Encrypt => {
                            by_definition::xts_encrypt(data_cipher, &tweak_cipher, &tweak, data)
                        }
                        Direction::Decrypt => {
                            by_definition::xts_decrypt(data_cipher, &tweak_cipher, &tweak, data)
                        }
                    })?;
                let what = format!("XTS, {direction} of {length} bytes, {}-byte key", key.len());
                both_ways(&input, &expected, length % 5, &what, |data| {
                    modes::xts(&engine, &tweak_engine, &tweak, direction, data)
                })?;
            }
        }
    }
    Ok(())
}

/// Masks from all 128 basis blocks: tweaks that the tweak key encrypts to them. With data of zeros, what comes out is the
/// masks, encrypted, and added once more.
pub(crate) fn xts_basis(case: &Case) -> Outcome {
    const BLOCKS: usize = 41; // past a batch of AES, and past a warp
    if case.cipher.block_bytes != 16 {
        return Ok(()); // `xts_lengths` sees it refused
    }
    let [key, tweak_key] = [23, 24].map(|seed| noise(case.cipher.key_bytes[0], seed));
    let [engine, tweak_engine] = [case.engine(&key)?, case.engine(&tweak_key)?];
    let [data_cipher, tweak_cipher] =
        [case.oracle.reference(&key)?, case.oracle.reference(&tweak_key)?];
    for first in basis() {
        let masks: Vec<u8> = xts_masks(first).take(BLOCKS).flatten().collect();
        let mut expected = masks.clone();
        by_definition::ecb_encrypt(&data_cipher, &mut expected)?;
        expected.iter_mut().zip(&masks).for_each(|(byte, mask)| *byte ^= mask);
        let mut tweak = first;
        tweak_cipher.decrypt_block(&mut tweak);
        let mut found = [0; 16 * BLOCKS];
        let data = found.as_mut_slice().into();
        modes::xts(&engine, &tweak_engine, &tweak, Direction::Encrypt, data)?;
        if found[..] != expected[..] {
            return Err(format!("XTS with masks from {first:02x?}").into());
        }
    }
    Ok(())
}

/// A counter of 32 bits that wraps some way into the data, or between two launches.
pub(crate) fn ctr32_wraps(case: &Case) -> Outcome {
    let (block, lanes) = (case.cipher.block_bytes, case.backend.lanes);
    let key = noise(case.cipher.key_bytes[0], 31);
    let engine = case.engine(&key)?;
    for before in [0, 1, lanes / 2, lanes, 2 * lanes + 3] {
        let mut counter = noise(block, 32);
        counter[block - 4..].copy_from_slice(&(before as u32).wrapping_neg().to_be_bytes());
        let input = noise((2 * lanes + 3) * block + 1, 33);
        let expected = case.oracle.expected(&key, &input, |reference, data| {
            by_definition::ctr32(reference, &counter, data)
        })?;
        let what = format!("CTR of 32 bits, wrapping after {before} blocks");
        both_ways(&input, &expected, before % 5, &what, |data| {
            modes::ctr32(&engine, &counter, data)
        })?;
    }
    Ok(())
}

/// A mode by the backend, and as it is defined.
type Pair = (
    &'static str,
    fn(&dyn Engine, &[u8], InOutBuf<'_, '_, u8>) -> Result<(), Error>,
    fn(&crate::common::EngineBlocks, &[u8], &mut [u8]) -> Result<(), by_definition::ModeError>,
);

/// CFB decryption walks the batches; CFB encryption and OFB are serial.
pub(crate) fn cfb_and_ofb_lengths(case: &Case) -> Outcome {
    let (block, lanes) = (case.cipher.block_bytes, case.backend.lanes);
    let serial: [Pair; 2] = [
        (
            "CFB encryption",
            |engine, iv, data| modes::cfb_encrypt(engine, iv, data),
            |cipher, iv, data| by_definition::cfb_encrypt(cipher, iv, data),
        ),
        (
            "OFB",
            |engine, iv, data| modes::ofb(engine, iv, data),
            |cipher, iv, data| by_definition::ofb(cipher, iv, data),
        ),
    ];
    let parallel: [Pair; 1] = [(
        "CFB decryption",
        |engine, iv, data| modes::cfb_decrypt(engine, iv, data),
        |cipher, iv, data| by_definition::cfb_decrypt(cipher, iv, data),
    )];
    let batch = lanes * block;
    let long = [0, 1, block - 1, block, batch, batch + block + 1, 2 * batch + 3 * block - 1];
    let short = [0, 1, block - 1, block, 5 * block + 1];
    for (i, key) in case.keys().enumerate() {
        let engine = case.engine(&key)?;
        let iv = noise(block, 41 + i as u64);
        for (pairs, lengths) in [(&serial[..], &short[..]), (&parallel, &long)] {
            for (name, ours, defined) in pairs {
                for &length in lengths {
                    let input = noise(length, 42);
                    let expected = case
                        .oracle
                        .expected(&key, &input, |cipher, data| defined(cipher, &iv, data))?;
                    let what = format!("{name} of {length} bytes, {}-byte key", key.len());
                    both_ways(&input, &expected, length % 5, &what, |data| {
                        ours(&engine, &iv, data)
                    })?;
                }
            }
        }
    }
    Ok(())
}

/// A serial mode, and as it is defined.
type Serial = (
    SerialMode,
    fn(&crate::common::EngineBlocks, &[u8], &mut [u8]) -> Result<(), by_definition::ModeError>,
);

/// Messages of equal and of different lengths, in numbers round those that fill lanes, against one after another.
pub(crate) fn messages_side_by_side(case: &Case) -> Outcome {
    let block = case.cipher.block_bytes;
    let key = noise(case.cipher.key_bytes[0], 71);
    let engine = case.engine(&key)?;
    let serial: [Serial; 3] = [
        (SerialMode::Cbc, |cipher, iv, data| by_definition::cbc_encrypt(cipher, iv, data)),
        (SerialMode::Cfb, |cipher, iv, data| by_definition::cfb_encrypt(cipher, iv, data)),
        (SerialMode::Ofb, |cipher, iv, data| by_definition::ofb(cipher, iv, data)),
    ];
    // A device has nothing of its own for these, and a launch for each block takes long.
    let counts: &[usize] = match case.backend.platform {
        Platform::Cpu => &[0, 1, 2, 7, 8, 9, 63, 64, 65, 200],
        _ => &[9],
    };
    for (mode, defined) in serial {
        for &count in counts {
            let equal = vec![3 * block; count];
            let ragged: Vec<_> = (0..count).map(|number| number * 3 % 7 * block).collect();
            for lengths in [equal, ragged] {
                let what = format!("{mode:?} of {count} messages");
                let texts = lengths.iter().zip(72..).map(|(&length, seed)| noise(length, seed));
                let (texts, ivs) = (texts.collect::<Vec<_>>(), noise(block * count, 73));
                let outputs = texts.iter().zip(ivs.chunks_exact(block)).map(|(text, iv)| {
                    case.oracle.expected(&key, text, |cipher, data| defined(cipher, iv, data))
                });
                let expected = outputs.collect::<Result<Vec<_>, _>>()?;
                both_ways(&texts.concat(), &expected.concat(), count % 5, &what, |data| {
                    run_messages(&*engine, mode, &ivs, &lengths, data)
                })?;
            }
        }
    }
    Ok(())
}

/// Runs messages that lie one behind the other, with their IVs.
fn run_messages(
    engine: &dyn Engine,
    mode: SerialMode,
    ivs: &[u8],
    lengths: &[usize],
    mut data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let mut registers = ivs.to_vec();
    let registers = registers.chunks_exact_mut(engine.block_bytes());
    let messages = registers.zip(lengths).map(|(iv, &length)| {
        let all = std::mem::replace(&mut data, (&mut [][..]).into());
        let (message, rest) = all.split_at(length);
        data = rest;
        ChainedMessage { iv, data: message }
    });
    let mut messages: Vec<_> = messages.collect();
    let result = mode.run_messages(engine, &mut messages);
    result.map_err(|error| Error::Device(error.into()))
}

/// Many XTS units in one call, whole blocks or stealing, the last one shorter; their number grows past
/// 64 bits.
pub(crate) fn xts_units(case: &Case) -> Outcome {
    if case.cipher.block_bytes != 16 {
        return Ok(()); // `xts_lengths` sees it refused
    }
    let key = noise(case.cipher.key_bytes[0], 51);
    let tweak_key = noise(key.len(), 52);
    let [engine, tweak_engine] = [case.engine(&key)?, case.engine(&tweak_key)?];
    let tweak_cipher = case.oracle.reference(&tweak_key)?;
    for direction in Direction::BOTH {
        for (unit, length) in
            [(16, 160), (17, 67 * 17), (48, 67 * 48), (512, 5 * 512 + 40), (520, 3 * 520 + 16)]
        {
            let first = u128::from(u64::MAX) - 2;
            let input = noise(length, 53);
            let expected = case.oracle.expected(&key, &input, |cipher, data| {
                let run = match direction {
                    Direction::Encrypt => by_definition::xts_encrypt,
                    Direction::Decrypt => by_definition::xts_decrypt,
                };
                for (i, unit) in data.chunks_mut(unit).enumerate() {
                    let tweak = by_definition::xts_tweak(first + i as u128);
                    run(cipher, &tweak_cipher, &tweak, unit)?;
                }
                Ok(())
            })?;
            let what = format!("XTS, {direction} of {length} bytes in units of {unit}");
            both_ways(&input, &expected, unit % 5, &what, |data| {
                modes::xts_units(&engine, &tweak_engine, first, unit, direction, data)
            })?;
        }
    }
    Ok(())
}

/// GCM both ways, with IVs and associated data of several lengths; a changed tag is refused and
/// nothing written.
pub(crate) fn gcm_messages(case: &Case) -> Outcome {
    let batch = 16 * case.backend.lanes;
    for key in case.keys() {
        let engine = case.engine(&key)?;
        let gcm = match Gcm::<&dyn Engine>::of(&*engine) {
            Ok(gcm) => gcm,
            Err(error) if case.cipher.block_bytes != 16 => {
                names(Err(error), &["GCM", &case.cipher.block_bytes.to_string(), "16"])?;
                continue;
            }
            Err(error) => return Err(format!("GCM: {error}").into()),
        };
        for (length, iv, aad) in
            [(0, 12, 20), (1, 1, 0), (batch + 17, 12, 33), (2 * batch - 3, 60, 1)]
        {
            let [input, iv, aad] =
                [(length, 61), (iv, 62), (aad, 63)].map(|(n, seed)| noise(n, seed));
            let mut tag = [0; 16];
            let expected = case.oracle.expected(&key, &input, |cipher, data| {
                tag = by_definition::gcm_encrypt(cipher, &iv, &aad, data)?;
                Ok(())
            })?;
            let what = format!("GCM of {length} bytes, {}-byte key", key.len());
            both_ways(&input, &expected, length % 5, &what, |data| {
                let mut made = [0; 16];
                gcm.encrypt(&iv, &aad, data, &mut made)?;
                if made == tag { Ok(()) } else { Err(Error::NotAuthentic) }
            })?;
            both_ways(&expected, &input, length % 5, &what, |data| {
                gcm.decrypt(&iv, &aad, data, &tag)
            })?;
            tag[15] ^= 1;
            let mut data = expected.clone();
            let refused = gcm.decrypt(&iv, &aad, data.as_mut_slice().into(), &tag);
            names(refused, &["tag"])?;
            if data != expected {
                return Err(format!("{what}: a refused message was written to").into());
            }
        }
    }
    Ok(())
}
