//! How DES is keyed, and the key schedule (FIPS 46-3, appendix 1).

use core::{array, fmt};

use cipher::{
    Array,
    array::ArraySize,
    consts::{U1, U3, U8, U16, U24, U32, U48},
};
use lanecrypt_core::{Clear, Direction, Secret};
use lanecrypt_reference::des::{LEFT_SHIFTS, PC2};
use lanecrypt_slicing::{Schedule, byte_planes, transpose_halves};

/// Rounds of one pass of DES.
pub(crate) const ROUNDS: usize = 16;
/// Bytes of a block, and of the key of one pass.
pub(crate) const BLOCK: usize = 8;

/// A way to key DES, as a type: one pass, or three of them under two or three keys.
pub trait Keying: Clone + Copy + fmt::Debug + Send + Sync + 'static {
    /// Bytes of the key.
    type Size: ArraySize;
    /// Round keys: sixteen for every eight bytes of the key.
    type RoundKeys: ArraySize;
    /// How many passes there are.
    type Passes: ArraySize;
    /// RustCrypto's name of the cipher.
    const NAME: &'static str;
    /// The passes of encryption: which eight bytes of the key each takes, and its direction.
    const PASSES: &'static [(usize, Direction)];
}

macro_rules! keying {
    ($name:ident, $doc:literal, $cipher:literal, $size:ty, $keys:ty, $passes:ty, $($part:literal $way:ident),*) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Keying for $name {
            type Size = $size;
            type RoundKeys = $keys;
            type Passes = $passes;
            const NAME: &'static str = $cipher;
            const PASSES: &'static [(usize, Direction)] = &[$(($part, Direction::$way)),*];
        }
    };
}
keying!(Single, "One pass of DES.", "Des", U8, U16, U1, 0 Encrypt);
keying!(Ede2, "Encrypt, decrypt, encrypt under K1, K2, K1.", "TdesEde2", U16, U32, U3,
    0 Encrypt, 1 Decrypt, 0 Encrypt);
keying!(Ede3, "Encrypt, decrypt, encrypt under K1, K2, K3.", "TdesEde3", U24, U48, U3,
    0 Encrypt, 1 Decrypt, 2 Encrypt);
keying!(Eee2, "Encrypt three times under K1, K2, K1.", "TdesEee2", U16, U32, U3,
    0 Encrypt, 1 Encrypt, 0 Encrypt);
keying!(Eee3, "Encrypt three times under K1, K2, K3.", "TdesEee3", U24, U48, U3,
    0 Encrypt, 1 Encrypt, 2 Encrypt);

/// C and D after permuted choice 1: 28 bits each. The parity bits are gone. The choice takes the columns of the
/// key's 8x8 bits, the last byte's bit first, C the first four of them.
pub(crate) fn halves_of_key(key: u64) -> [u32; 2] {
    let [_, c7, c6, c5, c4, c3, c2, c1] =
        byte_planes(&[key.swap_bytes()]).map(|plane| plane as u32);
    [c1 << 20 | c2 << 12 | c3 << 4 | c4 >> 4, c7 << 20 | c6 << 12 | c5 << 4 | c4 & 0xf]
}

const HALF: u32 = (1 << 28) - 1;

pub(crate) fn rotate28(half: u32, by: u32) -> u32 {
    (half << by | half >> (28 - by)) & HALF
}

/// Something for every round key, in the order of encryption: sixteen for each eight bytes of the
/// key.
pub(crate) type PerRound<K, T> = Secret<Array<T, <K as Keying>::RoundKeys>>;

/// The key schedule, in the form of every round key: made of 48 bits, the standard's bit 1 the most significant.
pub(crate) fn expand<K: Keying, T: Clear + Default>(
    key: &Array<u8, K::Size>,
    form: impl Fn(u64) -> T,
) -> PerRound<K, T> {
    expand_in::<K, T, Standard>(key, form)
}

/// [`expand`] with the bits of round keys in another order.
fn expand_in<K: Keying, T: Clear + Default, O: Order>(
    key: &Array<u8, K::Size>,
    form: impl Fn(u64) -> T,
) -> PerRound<K, T> {
    let mut keys: PerRound<K, T> = Secret::new(Array::default());
    let parts = key.as_chunks::<BLOCK>().0;
    for (rounds, part) in keys.as_chunks_mut::<ROUNDS>().0.iter_mut().zip(parts) {
        for (round, key) in rounds.iter_mut().zip(expand_part::<O>(u64::from_be_bytes(*part))) {
            *round = form(key);
        }
    }
    keys
}

/// Which round key `direction` adds in a round of a pass: it takes the passes backwards to decrypt,
/// and in each the rounds.
#[allow(clippy::inline_always, reason = "an index")]
#[inline(always)]
pub(crate) fn number<K: Keying>(direction: Direction, pass: usize, round: usize) -> usize {
    let last = K::PASSES.len() - 1;
    let is_backwards = direction == Direction::Decrypt;
    let (part, of_pass) = K::PASSES[if is_backwards { last - pass } else { pass }];
    part * ROUNDS + if direction == of_pass { round } else { ROUNDS - 1 - round }
}

// ANCHOR: run
/// Runs every pass on the halves after the initial permutation and leaves them as they are before
/// the final one. Between two passes the permutations cancel, which leaves an exchange.
pub(crate) fn run<K: Keying, T: Clear + Copy>(
    keys: &PerRound<K, T>,
    direction: Direction,
    [left, right]: &mut [u32; 2],
    f: impl Fn(u32, T) -> u32,
) {
    for pass in 0..K::PASSES.len() {
        for round in (0..ROUNDS).step_by(2) {
            *left ^= f(*right, keys[number::<K>(direction, pass, round)]);
            *right ^= f(*left, keys[number::<K>(direction, pass, round + 1)]);
        }
        core::mem::swap(left, right);
    }
}
// ANCHOR_END: run

/// A round key in eight bytes, its bits where the bits of a half are that they are added to.
#[derive(Clone, Copy, Default)]
pub(crate) struct RoundKey {
    /// Those of the four inner inputs of every S-box: bits of a half that no two S-boxes share.
    pub(crate) inner: u32,
    /// Those of the first inputs, a nibble an S-box, S1 in the top one: in the nibble's lowest bit;
    /// and of the last inputs in the bit above. Other bits are zero.
    pub(crate) outer: u32,
}

/// The two words as one, `inner` the lower.
impl Order for RoundKey {
    const BITS: [u8; 64] = {
        let mut order = [0; 64];
        let mut sbox = 0;
        while sbox < 8 {
            let (six, nibble) = (6 * sbox, 28 - 4 * sbox);
            let mut i = 0;
            while i < 4 {
                order[nibble + i] = PC2[six + 4 - i];
                i += 1;
            }
            order[32 + nibble] = PC2[six];
            order[32 + nibble + 1] = PC2[six + 5];
            sbox += 1;
        }
        order
    };
}

impl RoundKey {
    fn new(words: u64) -> Self {
        Self { inner: words as u32, outer: (words >> 32) as u32 }
    }
}

impl Clear for RoundKey {
    fn clear(&mut self) {
        self.inner.clear();
        self.outer.clear();
    }
}

/// The round keys of a key.
#[derive(Clone)]
pub struct RoundKeys<K: Keying>(PerRound<K, RoundKey>);

impl<K: Keying> RoundKeys<K> {
    /// The round keys in the order of encryption.
    pub(crate) fn get(&self) -> &PerRound<K, RoundKey> {
        &self.0
    }
}

impl<K: Keying> Schedule for RoundKeys<K> {
    type BlockSize = U8;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self(expand_in::<K, _, RoundKey>(key, RoundKey::new))
    }
}

#[cfg(feature = "zeroize")]
impl<K: Keying> zeroize::ZeroizeOnDrop for RoundKeys<K> {}

impl<K: Keying> fmt::Debug for RoundKeys<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundKeys").finish_non_exhaustive()
    }
}

/// An order of the bits of a round key.
trait Order {
    /// Which bit of C and D each bit is, the least significant first, as permuted choice 2 numbers them: C from 1
    /// on, D from 29 on. 0 is none.
    const BITS: [u8; 64];
}

/// The order of the standard.
struct Standard;

impl Order for Standard {
    const BITS: [u8; 64] = {
        let mut order = [0; 64];
        let mut i = 0;
        while i < PC2.len() {
            order[i] = PC2[PC2.len() - 1 - i];
            i += 1;
        }
        order
    };
}

/// For every bit, whether it is of C, of D, or of neither, and how many bits of that are before it.
const fn places(bits: [u8; 64]) -> [(usize, u32); 64] {
    let mut places = [(2, 0); 64];
    let mut i = 0;
    while i < bits.len() {
        if bits[i] > 0 {
            let bit = bits[i] as u32 - 1;
            places[i] = (bit as usize / 28, bit % 28);
        }
        i += 1;
    }
    places
}

/// The round keys of eight bytes of key, bit-sliced with rounds as lanes. C and D only turn from round to round,
/// so a bit of all round keys is a run of the bits of one of them, which has itself behind it:
///
/// ```text
/// 31 30 29 .. 0        bit s from the left is that of C (or D) turned by s places
/// ```
///
/// Transposed, these runs are round keys, one for every number of places; each round takes its own.
fn expand_part<O: Order>(key: u64) -> [u64; ROUNDS] {
    let [c, d] = halves_of_key(key).map(|half| u64::from(half) << 36 | u64::from(half) << 8);
    let run = |bit: usize| {
        let (half, before) = const { places(O::BITS) }[bit];
        [c, d, 0][half] << before >> 32
    };
    let mut rows = array::from_fn(|i| run(32 + i) << 32 | run(i));
    transpose_halves(&mut rows);
    let mut turned = 0;
    LEFT_SHIFTS.map(|by| {
        turned += usize::from(by);
        rows[31 - turned]
    })
}
