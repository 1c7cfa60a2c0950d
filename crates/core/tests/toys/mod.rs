//! Toy ciphers for tests of what is made of an implementation: every byte plus a byte of the key.

#![allow(dead_code, reason = "every test takes what it needs of this")]

use std::{cell::Cell, marker::PhantomData};

use cipher::{
    Array, InOutBuf,
    array::ArraySize,
    consts::{U1, U2, U4, U8, U16},
};
use lanecrypt_core::{
    AnyCpu, Block, ConstantTime, Direction, Implementation, OneBlock, Secret, Unavailable,
};

/// A size of key.
pub(crate) trait Size: Clone + Send + Sync + 'static {
    type Bytes: ArraySize;
}

/// One byte.
#[derive(Clone)]
pub(crate) struct Short;
/// Two bytes.
#[derive(Clone)]
pub(crate) struct Long;

impl Size for Short {
    type Bytes = U1;
}
impl Size for Long {
    type Bytes = U2;
}

fn shift(key: u8, direction: Direction, bytes: &mut [u8]) {
    for byte in bytes {
        *byte = match direction {
            Direction::Encrypt => byte.wrapping_add(key),
            Direction::Decrypt => byte.wrapping_sub(key),
        };
    }
}

thread_local! {
    /// Numbers of blocks that [`Shifted`] was given at once: by `batches`, and by `few`.
    static CALLS: Cell<[usize; 2]> = const { Cell::new([0; 2]) };
    /// How often batch keys were made.
    static KEYS_MADE: Cell<usize> = const { Cell::new(0) };
}

/// Blocks that went through batches and through `few`, and how often batch keys were made, since the
/// last call of this.
pub(crate) fn counted() -> ([usize; 2], usize) {
    (CALLS.take(), KEYS_MADE.take())
}

fn count(at: usize, blocks: usize) {
    let mut calls = CALLS.get();
    calls[at] += blocks;
    CALLS.set(calls);
}

/// Blocks of 8 bytes, four a batch.
#[derive(Clone)]
pub(crate) struct Shifted<K>(Secret<[u8; 1]>, PhantomData<K>);

impl<K: Size> Implementation for Shifted<K> {
    type BlockSize = U8;
    type KeySize = K::Bytes;
    type Lanes = U4;
    type Token = ();
    type BatchKeys = (u8, Direction);

    const NAME: &'static str = "Shifted";
    const CONSTANT_TIME: ConstantTime = ConstantTime::No("it is a toy");

    fn detect() -> Result<(), Unavailable> {
        Ok(())
    }

    fn new((): (), key: &Array<u8, K::Bytes>) -> Self {
        Self(Secret::new([key[0]]), PhantomData)
    }

    fn batch_keys(&self, direction: Direction) -> (u8, Direction) {
        KEYS_MADE.set(KEYS_MADE.get() + 1);
        (self.0[0], direction)
    }

    fn run_batches(&self, keys: &(u8, Direction), blocks: InOutBuf<'_, '_, Block<Self>>) {
        count(0, blocks.len());
        let bytes = Array::slice_as_flattened_mut(blocks.into_out_with_copied_in());
        shift(keys.0, keys.1, bytes);
    }

    fn run_short(&self, direction: Direction, blocks: InOutBuf<'_, '_, Block<Self>>) {
        assert!(blocks.len() < 4, "short is less than a batch");
        count(1, blocks.len());
        let bytes = Array::slice_as_flattened_mut(blocks.into_out_with_copied_in());
        shift(self.0[0], direction, bytes);
    }
}

/// The token of a CPU that does not exist.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Never {}

/// [`Shifted`] where it cannot run.
#[derive(Clone)]
pub(crate) struct Lacking<K>(Shifted<K>);

impl<K: Size> Implementation for Lacking<K> {
    type BlockSize = U8;
    type KeySize = K::Bytes;
    type Lanes = U4;
    type Token = Never;
    type BatchKeys = (u8, Direction);

    const NAME: &'static str = "Lacking";
    const CONSTANT_TIME: ConstantTime = ConstantTime::Yes;

    fn detect() -> Result<Never, Unavailable> {
        Err(Unavailable::of_the_cpu("this CPU has no toys"))
    }

    fn new(token: Never, _: &Array<u8, K::Bytes>) -> Self {
        match token {}
    }

    fn batch_keys(&self, direction: Direction) -> (u8, Direction) {
        self.0.batch_keys(direction)
    }

    fn run_batches(&self, keys: &(u8, Direction), blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.0.run_batches(keys, blocks);
    }

    fn run_short(&self, direction: Direction, blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.0.run_short(direction, blocks);
    }
}

/// AES-128 of RustCrypto in batches of `Lanes`, with the modes that every implementation gets.
#[derive(Clone)]
pub(crate) struct InBatches<Lanes>(aes::Aes128, PhantomData<fn() -> Lanes>);

/// A token that says nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anywhere;

impl AnyCpu for Anywhere {
    fn get() -> Self {
        Self
    }
}

impl<Lanes: ArraySize> Implementation for InBatches<Lanes> {
    type BlockSize = U16;
    type KeySize = U16;
    type Lanes = Lanes;
    type Token = Anywhere;
    type BatchKeys = Direction;

    const NAME: &'static str = "Aes128";
    const CONSTANT_TIME: ConstantTime = ConstantTime::Yes;

    fn detect() -> Result<Anywhere, Unavailable> {
        Ok(Anywhere)
    }

    fn new(_: Anywhere, key: &Array<u8, U16>) -> Self {
        Self(cipher::KeyInit::new(key), PhantomData)
    }

    fn batch_keys(&self, direction: Direction) -> Direction {
        direction
    }

    fn run_batches(&self, direction: &Direction, blocks: InOutBuf<'_, '_, Block<Self>>) {
        use cipher::{BlockCipherDecrypt, BlockCipherEncrypt};
        match direction {
            Direction::Encrypt => self.0.encrypt_blocks_inout(blocks),
            Direction::Decrypt => self.0.decrypt_blocks_inout(blocks),
        }
    }

    fn run_short(&self, direction: Direction, blocks: InOutBuf<'_, '_, Block<Self>>) {
        assert!(blocks.len() < Lanes::USIZE.max(2), "short is less than a batch");
        self.run_batches(&direction, blocks);
    }
}

/// A block alone: DES of RustCrypto.
#[derive(Clone)]
pub(crate) struct Alone(des::Des);

impl OneBlock for Alone {
    type BlockSize = U8;
    type KeySize = U8;

    const NAME: &'static str = "Des";
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn new(key: &Array<u8, U8>) -> Self {
        Self(cipher::KeyInit::new(key))
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U8>) {
        use cipher::{BlockCipherDecrypt, BlockCipherEncrypt};
        match direction {
            Direction::Encrypt => self.0.encrypt_block(block),
            Direction::Decrypt => self.0.decrypt_block(block),
        }
    }
}
