//! Whitening keys and subkeys, and the constants that an LFSR gives for them.

use core::{fmt, marker::PhantomData};

use cipher::{
    Array,
    consts::{U8, U16},
};
use lanecrypt_core::{Clear, Secret};
use lanecrypt_slicing::{Schedule, spread};

/// Rounds, four subkeys each.
pub(crate) const ROUNDS: usize = 32;

/// `delta[i]` is the seven bits of the LFSR from `s[i]`, its lowest bit, to `s[i + 6]`. The LFSR
/// has connection polynomial x^7 + x^3 + 1, that is `s[i + 6] = s[i + 2] ^ s[i - 1]`, and starts
/// from `delta[0] = 0x5a`.
pub(crate) const DELTA: [u8; 4 * ROUNDS] = {
    let mut delta = [0x5a; 4 * ROUNDS];
    let mut i = 1;
    while i < delta.len() {
        let bits = delta[i - 1];
        delta[i] = bits >> 1 | (bits >> 3 & 1 ^ bits & 1) << 6;
        i += 1;
    }
    delta
};

/// The order of the bytes of blocks and keys, as a type.
pub trait ByteOrder: fmt::Debug + Clone + Copy + Send + Sync + 'static {
    /// Whether it is the reverse of the standard's.
    const IS_REVERSED: bool;
    /// The cipher's name.
    const NAME: &'static str;
}

/// The standard's order, most significant first: a block is P7 to P0, the key MK15 to MK0.
#[derive(Clone, Copy, Debug)]
pub enum Standard {}

impl ByteOrder for Standard {
    const IS_REVERSED: bool = false;
    const NAME: &'static str = "Hight";
}

/// The order of KISA's C source, whose arrays are indexed as the standard numbers bytes: a block is
/// P0 to P7, the key MK0 to MK15.
#[derive(Clone, Copy, Debug)]
pub enum Kisa {}

impl ByteOrder for Kisa {
    const IS_REVERSED: bool = true;
    const NAME: &'static str = "HightKisa";
}

/// Whitening keys and subkeys, a byte each in some form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys<T> {
    /// WK0 to WK7: the first four before the first round, the others after the last.
    pub(crate) whitening: [T; 8],
    /// SK(4i) to SK(4i + 3), those of round i.
    pub(crate) rounds: [[T; 4]; ROUNDS],
}

impl<T: Clear> Clear for Keys<T> {
    fn clear(&mut self) {
        self.whitening.clear();
        self.rounds.clear();
    }
}

/// The keys of a cipher whose bytes are in the order `O`.
#[derive(Clone)]
pub struct Subkeys<O>(Secret<Keys<u8>>, PhantomData<O>);

impl<O> Subkeys<O> {
    /// Whitening keys and subkeys.
    pub(crate) fn get(&self) -> &Keys<u8> {
        &self.0
    }

    /// The same, every byte four times.
    #[allow(clippy::inline_always, reason = "to be compiled with an instruction set")]
    #[inline(always)]
    pub(crate) fn fours(&self) -> Secret<Keys<u32>> {
        let mut fours = Secret::new(Keys { whitening: [0; 8], rounds: [[0; 4]; ROUNDS] });
        for (four, byte) in fours.whitening.iter_mut().zip(self.0.whitening) {
            *four = spread(byte);
        }
        for (four, byte) in
            fours.rounds.as_flattened_mut().iter_mut().zip(self.0.rounds.as_flattened())
        {
            *four = spread(*byte);
        }
        fours
    }
}

impl<O: ByteOrder> Schedule for Subkeys<O> {
    type BlockSize = U8;
    type KeySize = U16;
    const NAME: &'static str = O::NAME;

    /// Without branches and look-ups that depend on the key.
    fn new(key: &Array<u8, U16>) -> Self {
        let master = |i: usize| key[if O::IS_REVERSED { i } else { 15 - i }];
        let mut keys = Secret::new(Keys { whitening: [0; 8], rounds: [[0; 4]; ROUNDS] });
        for (i, whitening) in keys.whitening.iter_mut().enumerate() {
            *whitening = master((i + 12) % 16);
        }
        for (n, subkey) in keys.rounds.as_flattened_mut().iter_mut().enumerate() {
            // n = 16i + 8h + j: byte j - i modulo 8 of half h of the key.
            let (i, half, j) = (n / 16, n / 8 % 2, n % 8);
            *subkey = master((8 + j - i) % 8 + 8 * half).wrapping_add(DELTA[n]);
        }
        Self(keys, PhantomData)
    }
}

impl<O> fmt::Debug for Subkeys<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subkeys").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<O> zeroize::ZeroizeOnDrop for Subkeys<O> {}
