//! CFB of bytes and of bits (SP 800-38A, 6.3): a block of the cipher for each.

use lanecrypt::{Direction, cipher::InOutBuf};
use zeroize::Zeroizing;

use crate::{Key, Reason, shared::MAX_BLOCK};

/// Bytes that are decrypted at once: their blocks are known beforehand.
const AT_ONCE: usize = 256;

/// CFB of bytes; `register` is the IV, or the last bytes of ciphertext.
pub(crate) fn bytes(
    key: &Key,
    direction: Direction,
    register: &mut [u8],
    mut data: InOutBuf<'_, '_, u8>,
) -> Result<(), Reason> {
    if direction == Direction::Encrypt {
        for i in 0..data.len() {
            let keystream = encrypted(key, register)?[0];
            let mut place = data.get(i);
            let ciphertext = *place.get_in() ^ keystream;
            *place.get_out() = ciphertext;
            push(register, ciphertext);
        }
        return Ok(());
    }
    while !data.is_empty() {
        let length = AT_ONCE.min(data.len());
        let (piece, rest) = data.split_at(length);
        decrypt_bytes(key, register, piece)?;
        data = rest;
    }
    Ok(())
}

/// At most [`AT_ONCE`] bytes: block i is made of the bytes of ciphertext before byte i.
fn decrypt_bytes(
    key: &Key,
    register: &mut [u8],
    mut data: InOutBuf<'_, '_, u8>,
) -> Result<(), Reason> {
    let block = register.len();
    let mut known = [0; MAX_BLOCK + AT_ONCE];
    known[..block].copy_from_slice(register);
    known[block..block + data.len()].copy_from_slice(data.get_in());
    let mut blocks = Zeroizing::new([0; MAX_BLOCK * AT_ONCE]);
    let blocks = &mut blocks[..block * data.len()];
    for (window, place) in known.windows(block).zip(blocks.chunks_exact_mut(block)) {
        place.copy_from_slice(window);
    }
    key.engine().ecb(Direction::Encrypt, (&mut *blocks).into())?;
    for (i, keystream) in blocks.chunks_exact(block).enumerate() {
        let mut place = data.get(i);
        *place.get_out() = *place.get_in() ^ keystream[0];
    }
    register.copy_from_slice(&known[data.len()..data.len() + block]);
    Ok(())
}

/// CFB of this number of bits, from the highest of a byte on; other bits of the output stay.
pub(crate) fn bits(
    key: &Key,
    direction: Direction,
    register: &mut [u8],
    mut data: InOutBuf<'_, '_, u8>,
    bits: usize,
) -> Result<(), Reason> {
    for i in 0..bits {
        let shift = 7 - i % 8;
        let keystream = encrypted(key, register)?[0] >> 7;
        let mut place = data.get(i / 8);
        let input = *place.get_in() >> shift & 1;
        let output = input ^ keystream;
        let others = *place.get_out() & !(1 << shift);
        *place.get_out() = others | output << shift;
        push_bit(register, if direction == Direction::Encrypt { output } else { input });
    }
    Ok(())
}

fn encrypted(key: &Key, register: &[u8]) -> Result<Zeroizing<[u8; MAX_BLOCK]>, Reason> {
    let mut block = Zeroizing::new([0; MAX_BLOCK]);
    block[..register.len()].copy_from_slice(register);
    key.engine().ecb(Direction::Encrypt, (&mut block[..register.len()]).into())?;
    Ok(block)
}

fn push(register: &mut [u8], byte: u8) {
    register.rotate_left(1);
    if let Some(last) = register.last_mut() {
        *last = byte;
    }
}

fn push_bit(register: &mut [u8], bit: u8) {
    let mut carry = bit;
    for byte in register.iter_mut().rev() {
        let next = *byte >> 7;
        *byte = *byte << 1 | carry;
        carry = next;
    }
}
