//! A function for each kind of call, over the type that is called: a cipher, a mode of either library.

use std::{fmt::Debug, hint::black_box};

use aead::AeadInOut;
use aes_kw::AesKw;
use aes_siv::siv::CmacSiv;
use cmac::{Mac, digest::FixedOutputReset};
use lanecrypt_aes::{
    Engine,
    cipher::{
        Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
        BlockSizeUser, InOutBuf, InnerIvInit, Iv, IvSizeUser, KeyInit, KeySizeUser, StreamCipher,
        array::ArraySize, common::InnerInit, consts::U16,
    },
};
use lanecrypt_core::Direction;

use crate::timing::{Message, Way, way};

/// Bytes of associated data: those of a record of TLS 1.2.
const ASSOCIATED: [u8; 13] = [0x17; 13];

/// Bytes that a wrapped key has more than the key.
const IV_LEN: usize = 8;

/// What is measured: a cipher with its key.
pub(crate) trait User: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + Clone {}
impl<C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + Clone> User for C {}

/// The key of everything: no byte is like another, so that no key of triple DES is like another.
pub(crate) fn key<K: KeySizeUser + ?Sized>() -> Array<u8, K::KeySize> {
    bytes(0x1b)
}

/// The IV, tweak or nonce of everything.
pub(crate) fn iv<M: IvSizeUser + ?Sized>() -> Iv<M> {
    bytes(0xd5)
}

fn bytes<N: ArraySize>(first: u8) -> Array<u8, N> {
    Array::from_fn(|i| first.wrapping_add(i as u8 * 7))
}

/// A key is set, and what it became is dropped.
pub(crate) fn keyed<'a, K: KeyInit + 'a>() -> Way<'a> {
    let key = key::<K>();
    way(move |_| drop(black_box(K::new(black_box(&key)))))
}

pub(crate) fn encrypt_block<C: BlockCipherEncrypt>(cipher: &C) -> Way<'_> {
    way(|message| cipher.encrypt_block(&mut blocks::<C>(message)[0]))
}

pub(crate) fn decrypt_block<C: BlockCipherDecrypt>(cipher: &C) -> Way<'_> {
    way(|message| cipher.decrypt_block(&mut blocks::<C>(message)[0]))
}

pub(crate) fn encrypt_blocks<C: BlockCipherEncrypt>(cipher: &C) -> Way<'_> {
    way(|message| cipher.encrypt_blocks(blocks::<C>(message)))
}

pub(crate) fn decrypt_blocks<C: BlockCipherDecrypt>(cipher: &C) -> Way<'_> {
    way(|message| cipher.decrypt_blocks(blocks::<C>(message)))
}

/// Our own call for all blocks.
pub(crate) fn ecb<C: Engine>(cipher: &C, direction: Direction) -> Way<'_> {
    way(move |message| {
        cipher.ecb(direction, (&mut *message.data).into()).expect("a CPU does not fail");
    })
}

fn blocks<B: BlockSizeUser>(message: &mut Message) -> &mut [Array<u8, B::BlockSize>] {
    Array::slice_as_chunks_mut(&mut message.data).0
}

/// A stream that is kept: each message is its next bytes.
pub(crate) fn kept_stream<'a, S: StreamCipher + 'a>(mut stream: S) -> Way<'a> {
    way(move |message| stream.apply_keystream(&mut message.data))
}

/// A stream for each message.
pub(crate) fn stream<'a, S: StreamCipher>(make: impl Fn() -> S + 'a) -> Way<'a> {
    way(move |message| make().apply_keystream(&mut message.data))
}

/// Blocks of a message in a mode that chains them.
pub(crate) fn encrypt_chain<'a, M>(cipher: M::Inner) -> Way<'a>
where
    M: InnerIvInit<Inner: Copy + 'a> + BlockModeEncrypt,
{
    let iv = iv::<M>();
    way(move |message| {
        M::inner_iv_init(cipher, black_box(&iv)).encrypt_blocks(blocks::<M>(message));
    })
}

/// The same, decrypted.
pub(crate) fn decrypt_chain<'a, M>(cipher: M::Inner) -> Way<'a>
where
    M: InnerIvInit<Inner: Copy + 'a> + BlockModeDecrypt,
{
    let iv = iv::<M>();
    way(move |message| {
        M::inner_iv_init(cipher, black_box(&iv)).decrypt_blocks(blocks::<M>(message));
    })
}

/// A message's code under a key of its own.
pub(crate) fn keyed_mac<'a, M: Mac + KeyInit + 'a>() -> Way<'a> {
    let key = key::<M>();
    way(move |message| {
        let mac = <M as KeyInit>::new(black_box(&key)).chain_update(&message.data);
        keep(&mut message.tag, &mac.finalize().into_bytes());
    })
}

/// A message's code under a key that is kept.
pub(crate) fn mac<'a, M: Mac + FixedOutputReset + KeyInit + 'a>() -> Way<'a> {
    let mut mac = <M as KeyInit>::new(&key::<M>());
    way(move |message| {
        Mac::update(&mut mac, &message.data);
        keep(&mut message.tag, &mac.finalize_reset().into_bytes());
    })
}

/// A message is sealed under a key that is kept.
pub(crate) fn seal<'a, A: AeadInOut + KeyInit + 'a>() -> Way<'a> {
    let (aead, nonce) = (A::new(&key::<A>()), bytes(0xd5));
    way(move |Message { data, tag }| {
        let made =
            aead.encrypt_inout_detached(black_box(&nonce), &ASSOCIATED, (&mut **data).into());
        keep(tag, &made.expect("it is not too long"));
    })
}

/// A sealed message is opened, from one buffer to another.
pub(crate) fn open<'a, A: AeadInOut + KeyInit + 'a>(length: usize) -> Way<'a> {
    let (aead, nonce) = (A::new(&key::<A>()), bytes(0xd5));
    let mut sealed = vec![0x5a; length];
    let tag = aead.encrypt_inout_detached(&nonce, &ASSOCIATED, (&mut *sealed).into());
    let tag = tag.expect("it is not too long");
    way(move |message| {
        let data = both(&sealed, message);
        opened(aead.decrypt_inout_detached(black_box(&nonce), &ASSOCIATED, data, &tag));
    })
}

/// AES-SIV's `seal`: `SivAead` has it for the types of the crate `aes` alone.
pub(crate) fn seal_siv<'a, C>() -> Way<'a>
where
    C: User + BlockSizeUser<BlockSize = U16> + 'a,
    CmacSiv<C>: KeyInit,
{
    let (mut siv, headers) = (CmacSiv::<C>::new(&key::<CmacSiv<C>>()), headers());
    way(move |Message { data, tag }| {
        let made = siv.encrypt_inout_detached(black_box(&headers), (&mut **data).into());
        keep(tag, &made.expect("it is not too long"));
    })
}

/// AES-SIV's `open`.
pub(crate) fn open_siv<'a, C>(length: usize) -> Way<'a>
where
    C: User + BlockSizeUser<BlockSize = U16> + 'a,
    CmacSiv<C>: KeyInit,
{
    let (mut siv, headers) = (CmacSiv::<C>::new(&key::<CmacSiv<C>>()), headers());
    let mut sealed = vec![0x5a; length];
    let tag = siv.encrypt_inout_detached(&headers, (&mut *sealed).into());
    let tag = tag.expect("it is not too long");
    way(move |message| {
        let data = both(&sealed, message);
        opened(siv.decrypt_inout_detached(black_box(&headers), data, &tag));
    })
}

/// Associated data and nonce.
fn headers() -> [Vec<u8>; 2] {
    [ASSOCIATED.to_vec(), vec![0xd5; 16]]
}

/// A key is wrapped.
pub(crate) fn wrap<C>(cipher: &C) -> Way<'_>
where
    C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>,
{
    let wrapping = AesKw::inner_init(cipher);
    way(move |Message { data, tag }| {
        tag.resize(data.len() + IV_LEN, 0);
        wrapping.wrap_key(data, tag).expect("the key is of whole words");
    })
}

/// A wrapped key is unwrapped.
pub(crate) fn unwrap<C: User + BlockSizeUser<BlockSize = U16>>(
    cipher: &C,
    length: usize,
) -> Way<'_> {
    let wrapping = AesKw::inner_init(cipher);
    let mut wrapped = vec![0; length + IV_LEN];
    wrapping.wrap_key(&vec![0x5a; length], &mut wrapped).expect("the key is of whole words");
    way(move |message| {
        wrapping.unwrap_key(black_box(&wrapped), &mut message.data).expect("it is whole");
    })
}

/// A sealed message, and where it is opened to.
fn both<'a>(sealed: &'a [u8], message: &'a mut Message) -> InOutBuf<'a, 'a, u8> {
    InOutBuf::new(sealed, &mut message.data).expect("both are as long")
}

fn opened(result: Result<(), impl Debug>) {
    result.expect("the tag is right");
}

fn keep(tag: &mut Vec<u8>, made: &[u8]) {
    tag.clear();
    tag.extend_from_slice(made);
}
