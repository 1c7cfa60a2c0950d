//! The modes that chain blocks: CBC, CFB and OFB.

use cipher::InOutBuf;

use super::{in_pieces, iv_block, wiped, with_scratch, xor};
use crate::{Chain, Direction, Engine, Error, Mode, engine::whole_blocks};

/// CBC encryption without padding (SP 800-38A, 6.2).
///
/// # Errors
/// [`Error::IvLength`], [`Error::NotWholeBlocks`]; the engine's own errors.
pub fn cbc_encrypt<E: Engine + ?Sized>(
    engine: &E,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    let mut previous = iv_block(Mode::Cbc, iv, block)?;
    whole_blocks(Mode::Cbc, data.len(), block)?;
    engine.chain_blocks(Chain::CbcEncrypt, &mut previous[..block], data)
}

/// CBC decryption without padding (SP 800-38A, 6.2), many blocks at once.
///
/// # Errors
/// [`Error::IvLength`], [`Error::NotWholeBlocks`]; the engine's own errors.
pub fn cbc_decrypt<E: Engine + ?Sized>(
    engine: &E,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    let mut previous = iv_block(Mode::Cbc, iv, block)?;
    whole_blocks(Mode::Cbc, data.len(), block)?;
    engine.cbc_decrypt_blocks(&mut previous[..block], data)
}

/// [`Engine::cbc_decrypt_blocks`] by ECB.
pub(crate) fn cbc_decrypt_blocks<E: Engine + ?Sized>(
    engine: &E,
    previous: &mut [u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    with_scratch(engine, data.len(), |scratch| {
        let chunk = scratch.len() / block * block;
        in_pieces(data, chunk, |_, mut piece| {
            // The ciphertext is needed twice, and in place the output overwrites it.
            let ciphertext = &mut scratch[..piece.len()];
            ciphertext.copy_from_slice(piece.get_in());
            engine.ecb(Direction::Decrypt, piece.reborrow())?;
            let plaintext = piece.get_out();
            let (first, rest) = plaintext.split_at_mut(block);
            xor(first, previous);
            xor(rest, ciphertext);
            previous.copy_from_slice(&ciphertext[ciphertext.len() - block..]);
            Ok(())
        })
    })
}

/// CFB encryption with segments of a whole block (SP 800-38A, 6.3: CFB-128, CFB-64); of the last
/// block there may be a part.
///
/// # Errors
/// [`Error::IvLength`]; the engine's own errors.
pub fn cfb_encrypt<E: Engine + ?Sized>(
    engine: &E,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    with_tail(engine, Mode::Cfb, iv, data, |previous, blocks| {
        engine.chain_blocks(Chain::CfbEncrypt, previous, blocks)
    })
}

/// CFB decryption with segments of a whole block (SP 800-38A, 6.3), many blocks at once; of the last
/// block there may be a part.
///
/// # Errors
/// [`Error::IvLength`]; the engine's own errors.
pub fn cfb_decrypt<E: Engine + ?Sized>(
    engine: &E,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    with_tail(engine, Mode::Cfb, iv, data, |previous, blocks| {
        engine.cfb_decrypt_blocks(previous, blocks)
    })
}

/// OFB in either direction (SP 800-38A, 6.4), over any length.
///
/// # Errors
/// [`Error::IvLength`]; the engine's own errors.
pub fn ofb<E: Engine + ?Sized>(
    engine: &E,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    with_tail(engine, Mode::Ofb, iv, data, |previous, blocks| {
        engine.chain_blocks(Chain::Ofb, previous, blocks)
    })
}

/// Runs the whole blocks by `work`, and what is left by the encryption of the block before it.
fn with_tail<E: Engine + ?Sized>(
    engine: &E,
    mode: Mode,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
    work: impl FnOnce(&mut [u8], InOutBuf<'_, '_, u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    let mut previous = iv_block(mode, iv, block)?;
    wiped(&mut previous[..block], |previous| {
        let whole = data.len() / block * block;
        let (blocks, tail) = data.split_at(whole);
        work(previous, blocks)?;
        if !tail.is_empty() {
            engine.ecb(Direction::Encrypt, (&mut *previous).into())?;
            xor(tail.into_out_with_copied_in(), previous);
        }
        Ok(())
    })
}

/// [`Engine::chain_blocks`], a block at a time by `encrypt`.
pub(crate) fn chain_blocks(
    chain: Chain,
    previous: &mut [u8],
    data: InOutBuf<'_, '_, u8>,
    mut encrypt: impl FnMut(&mut [u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    in_pieces(data, previous.len(), |_, piece| {
        let output = piece.into_out_with_copied_in();
        match chain {
            Chain::CbcEncrypt => {
                xor(previous, output);
                encrypt(previous)?;
                output.copy_from_slice(previous);
            }
            Chain::CfbEncrypt => {
                encrypt(previous)?;
                xor(output, previous);
                previous.copy_from_slice(output);
            }
            Chain::Ofb => {
                encrypt(previous)?;
                xor(output, previous);
            }
        }
        Ok(())
    })
}

/// [`Engine::cfb_decrypt_blocks`] by ECB.
pub(crate) fn cfb_decrypt_blocks<E: Engine + ?Sized>(
    engine: &E,
    previous: &mut [u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    with_scratch(engine, data.len(), |scratch| {
        let chunk = scratch.len() / block * block;
        in_pieces(data, chunk, |_, piece| {
            let keystream = &mut scratch[..piece.len()];
            let (before, last) = piece.get_in().split_at(piece.len() - block);
            keystream[..block].copy_from_slice(previous);
            keystream[block..].copy_from_slice(before);
            previous.copy_from_slice(last);
            engine.ecb(Direction::Encrypt, (&mut *keystream).into())?;
            xor(piece.into_out_with_copied_in(), keystream);
            Ok(())
        })
    })
}
