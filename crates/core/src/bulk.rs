//! CTR, CBC and CFB decryption and XTS from an implementation's batches alone: for those that have
//! no faster way of their own.

use cipher::{Array, InOutBuf};

use crate::{
    Block, Counter, Implementation,
    modes::{Masks, wiped, xor},
};

/// Bytes of a piece: many batches of words, and a batch of the widest registers.
const PIECE_BYTES: usize = 4096;

/// Aligned as the widest registers and lines of the cache are.
#[repr(align(64))]
struct Scratch([u8; PIECE_BYTES]);

/// Runs `work` on pieces of at most [`PIECE_BYTES`], with scratch memory of the same length.
fn in_pieces<I: Implementation>(
    mut blocks: InOutBuf<'_, '_, Block<I>>,
    mut work: impl FnMut(InOutBuf<'_, '_, Block<I>>, &mut [Block<I>]),
) {
    // What has a faster way leaves nothing as a rule: clearing the memory takes as long as a sector of a disk.
    if blocks.is_empty() {
        return;
    }
    let mut scratch = Scratch([0; PIECE_BYTES]);
    let scratch = Array::slice_as_chunks_mut(&mut scratch.0).0;
    let most = scratch.len().min(blocks.len());
    while !blocks.is_empty() {
        let length = most.min(blocks.len());
        let (piece, rest) = blocks.split_at(length);
        work(piece, &mut scratch[..length]);
        blocks = rest;
    }
    wiped(Array::slice_as_flattened_mut(&mut scratch[..most]), |_| ());
}

/// See [`Implementation::ctr`].
pub fn ctr<I: Implementation>(
    implementation: &I,
    keys: &I::BatchKeys,
    mut counter: Counter,
    blocks: InOutBuf<'_, '_, Block<I>>,
) {
    in_pieces::<I>(blocks, |piece, keystream| {
        counter.fill(Array::slice_as_flattened_mut(keystream));
        counter = counter.plus(keystream.len() as u128);
        implementation.run_batches(keys, (&mut *keystream).into());
        let output = Array::slice_as_flattened_mut(piece.into_out_with_copied_in());
        xor(output, Array::slice_as_flattened(keystream));
    });
}

/// CBC decryption of any number of blocks, under batch keys of decryption; `previous` is the block of
/// ciphertext before them, and becomes the last of them.
pub fn cbc_decrypt<I: Implementation>(
    implementation: &I,
    keys: &I::BatchKeys,
    previous: &mut Block<I>,
    blocks: InOutBuf<'_, '_, Block<I>>,
) {
    in_pieces::<I>(blocks, |mut piece, ciphertext| {
        // The ciphertext is needed twice, and in place the output overwrites it.
        ciphertext.clone_from_slice(piece.get_in());
        implementation.run_batches(keys, piece.reborrow());
        let plaintext = Array::slice_as_flattened_mut(piece.get_out());
        let (first, rest) = plaintext.split_at_mut(previous.len());
        xor(first, previous);
        xor(rest, Array::slice_as_flattened(ciphertext));
        if let Some(last) = ciphertext.last() {
            previous.clone_from(last);
        }
    });
}

/// CFB decryption of any number of blocks, under batch keys of encryption; `previous` is the block of
/// ciphertext before them, and becomes the last of them.
pub fn cfb_decrypt<I: Implementation>(
    implementation: &I,
    keys: &I::BatchKeys,
    previous: &mut Block<I>,
    blocks: InOutBuf<'_, '_, Block<I>>,
) {
    in_pieces::<I>(blocks, |piece, keystream| {
        if let [first, rest @ ..] = &mut *keystream
            && let [before @ .., last] = piece.get_in()
        {
            first.clone_from(previous);
            rest.clone_from_slice(before);
            previous.clone_from(last);
        }
        implementation.run_batches(keys, (&mut *keystream).into());
        let output = Array::slice_as_flattened_mut(piece.into_out_with_copied_in());
        xor(output, Array::slice_as_flattened(keystream));
    });
}

/// XTS of any number of blocks in the direction of the keys; `mask` is that of the first, and becomes the one
/// after the last.
pub fn xts<I: Implementation>(
    implementation: &I,
    keys: &I::BatchKeys,
    mask: &mut [u8; 16],
    blocks: InOutBuf<'_, '_, Block<I>>,
) {
    in_pieces::<I>(blocks, |piece, masks| {
        let masks = Array::slice_as_flattened_mut(masks);
        let output = piece.into_out_with_copied_in();
        implementation.add_next_masks(mask, masks, Array::slice_as_flattened_mut(output));
        implementation.run_batches(keys, (&mut *output).into());
        implementation.add_masks(masks, Array::slice_as_flattened_mut(output));
    });
}

/// See [`Implementation::add_next_masks`].
pub fn add_next_masks(mask: &mut [u8; 16], masks: &mut [u8], data: &mut [u8]) {
    Masks(mask).fill(masks);
    xor(data, masks);
}

/// See [`Implementation::add_masks`].
pub fn add_masks(masks: &[u8], data: &mut [u8]) {
    xor(data, masks);
}
