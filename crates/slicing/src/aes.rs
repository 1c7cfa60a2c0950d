//! Instruction sets that run a round of AES on whole blocks, one or more in a register.

use core::{
    fmt::Debug,
    ops::{BitAnd, BitXor, BitXorAssign},
};

use cipher::{Array, InOutBuf, array::ArraySize, consts::U1, typenum::Unsigned};
use lanecrypt_core::Secret;

use crate::{Carryless, Isa, State};

/// Bytes of the widest register.
const WIDEST: usize = 64;

/// An instruction set with AES instructions.
///
/// A round here is FIPS 197's, its key added at the end; rounds of decryption are those of the
/// equivalent inverse cipher (section 5.3.5).
pub trait AesBlocks: Isa {
    /// A register of blocks.
    type Blocks: Copy
        + Debug
        + Send
        + Sync
        + BitAnd<Output = Self::Blocks>
        + BitXor<Output = Self::Blocks>
        + BitXorAssign;
    /// Blocks of a register: 1, 2 or 4.
    type Lanes: ArraySize;
    /// The same instructions on single blocks.
    type Single: AesBlocks<Lanes = U1, Single = Self::Single>;

    /// The token of the same instructions on single blocks.
    fn single(self) -> Self::Single;

    /// A register of single blocks, of which the first are as many as there are lanes, and the others are left out.
    fn join(self, blocks: [SingleBlocks<Self>; 4]) -> Self::Blocks;

    /// The blocks of a register, and behind them others that have no meaning.
    fn split(self, register: Self::Blocks) -> [SingleBlocks<Self>; 4];

    /// The same block in every lane.
    fn broadcast(self, block: &[u8; 16]) -> Self::Blocks;

    /// Takes as many blocks as there are lanes.
    ///
    /// # Panics
    /// Where `blocks` has another length.
    fn load(self, blocks: &[u8]) -> Self::Blocks;

    /// Gives the blocks back.
    ///
    /// # Panics
    /// Where `blocks` has another length.
    fn store(self, register: Self::Blocks, blocks: &mut [u8]);

    /// Takes as many bytes as a register has, or fewer and zeros after them.
    ///
    /// # Panics
    /// Where there are more bytes than a register has.
    #[allow(clippy::inline_always, reason = "SIMD code must be inlined into the region")]
    #[inline(always)]
    fn load_part(self, bytes: &[u8]) -> Self::Blocks {
        if bytes.len() == 16 * Self::Lanes::USIZE {
            return self.load(bytes);
        }
        if let (2.., Ok(block)) = (Self::Lanes::USIZE, bytes.try_into()) {
            // Not by way of memory: what was just stored in parts would be waited for.
            let single = self.single();
            let zero = single.broadcast(&[0; 16]);
            return self.join([single.broadcast(block), zero, zero, zero]);
        }
        let mut register = Secret::new([0; WIDEST]);
        register[..bytes.len()].copy_from_slice(bytes);
        self.load(&register[..16 * Self::Lanes::USIZE])
    }

    /// Gives the first bytes of a register back.
    ///
    /// # Panics
    /// Where there are more bytes than a register has.
    #[allow(clippy::inline_always, reason = "SIMD code must be inlined into the region")]
    #[inline(always)]
    fn store_part(self, register: Self::Blocks, bytes: &mut [u8]) {
        if bytes.len() == 16 * Self::Lanes::USIZE {
            return self.store(register, bytes);
        }
        if Self::Lanes::USIZE > 1 && bytes.len() == 16 {
            return self.single().store(self.split(register)[0], bytes);
        }
        let mut whole = Secret::new([0; WIDEST]);
        self.store(register, &mut whole[..16 * Self::Lanes::USIZE]);
        bytes.copy_from_slice(&whole[..bytes.len()]);
    }

    /// Sums of 32-bit words, whose first byte is the lowest.
    fn add32(self, a: Self::Blocks, b: Self::Blocks) -> Self::Blocks;

    /// Consecutive counter blocks, big-endian, the first of them `first`.
    fn count(self, first: u128) -> Self::Blocks;

    /// Every block, as a polynomial over GF(2) with the least significant bit first, times x^8
    /// modulo x^128 + x^7 + x^2 + x + 1: eight steps of XTS.
    fn times_x8(self, masks: Self::Blocks) -> Self::Blocks;

    /// A round of encryption.
    fn encrypt_round(self, state: Self::Blocks, key: Self::Blocks) -> Self::Blocks;

    /// The last round of encryption, without MixColumns.
    fn encrypt_last(self, state: Self::Blocks, key: Self::Blocks) -> Self::Blocks;

    /// A round of decryption.
    fn decrypt_round(self, state: Self::Blocks, key: Self::Blocks) -> Self::Blocks;

    /// The last round of decryption, without InvMixColumns.
    fn decrypt_last(self, state: Self::Blocks, key: Self::Blocks) -> Self::Blocks;
}

/// A single block of an instruction set.
pub type SingleBlocks<I> = <<I as AesBlocks>::Single as AesBlocks>::Blocks;

/// AES instructions on single blocks, with what the key expansion (FIPS 197, section 5.2) takes besides.
pub trait AesKeySteps: Carryless<Lanes = U1> {
    /// The bytes of a block in this order, which is public; a zero where it says `0x80`.
    fn shuffle(self, block: Self::Blocks, order: &[u8; 16]) -> Self::Blocks;

    /// `InvMixColumns` of a block.
    fn inv_mix_columns(self, block: Self::Blocks) -> Self::Blocks;
}

/// A register of whole blocks.
#[derive(Clone, Copy, Debug)]
pub struct WholeBlocks<B>(pub B);

impl<I: AesBlocks> State<I> for WholeBlocks<I::Blocks> {
    type Lanes = I::Lanes;

    #[allow(clippy::inline_always, reason = "SIMD code must be inlined into the region")]
    #[inline(always)]
    fn new(isa: I) -> Self {
        Self(isa.broadcast(&[0; 16]))
    }

    #[allow(clippy::inline_always, reason = "SIMD code must be inlined into the region")]
    #[inline(always)]
    fn load(&mut self, isa: I, blocks: &[u8]) {
        self.0 = isa.load(blocks);
    }

    #[allow(clippy::inline_always, reason = "SIMD code must be inlined into the region")]
    #[inline(always)]
    fn store(&mut self, isa: I, blocks: &mut [u8]) {
        isa.store(self.0, blocks);
    }

    #[allow(clippy::inline_always, reason = "SIMD code must be inlined into the region")]
    #[inline(always)]
    fn add(&mut self, isa: I, blocks: &[u8]) {
        self.0 ^= isa.load(blocks);
    }

    #[allow(clippy::inline_always, reason = "SIMD code must be inlined into the region")]
    #[inline(always)]
    fn add_to<N: ArraySize>(
        &mut self,
        isa: I,
        blocks: &mut InOutBuf<'_, '_, Array<u8, N>>,
        _scratch: &mut [u8],
    ) {
        let sum = self.0 ^ isa.load(Array::slice_as_flattened(blocks.get_in()));
        isa.store(sum, Array::slice_as_flattened_mut(blocks.get_out()));
    }

    #[allow(clippy::inline_always, reason = "SIMD code must be inlined into the region")]
    #[inline(always)]
    fn count(&mut self, isa: I, first: lanecrypt_core::Counter, _scratch: &mut [u8]) {
        self.0 = isa.count(first.value());
    }
}

/// Work that AES instructions do, on single blocks, or code without them.
pub trait AesBody {
    /// What comes of it.
    type Output;

    /// Does it by instructions. `#[inline(always)]`.
    fn with<I: AesKeySteps>(self, isa: I) -> Self::Output;

    /// Does it where there are none.
    fn without(self) -> Self::Output;
}

/// Whether this CPU has the instructions that [`run_aes`] takes.
#[must_use]
#[inline]
pub fn has_aes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return crate::AesNi::detect().is_ok();
    #[cfg(target_arch = "aarch64")]
    return crate::NeonAes::detect().is_ok();
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    false
}

/// Runs a body with the AES instructions of this CPU, if it has any.
#[inline(never)] // one call, so that what comes of it is made where it stays
pub fn run_aes<B: AesBody>(body: B) -> B::Output {
    #[cfg(target_arch = "x86_64")]
    if let Ok(isa) = crate::AesNi::detect() {
        return isa.run(With(body));
    }
    #[cfg(target_arch = "aarch64")]
    if let Ok(isa) = crate::NeonAes::detect() {
        return isa.run(With(body));
    }
    body.without()
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
struct With<B>(B);

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl<I: AesKeySteps, B: AesBody> crate::Body<I> for With<B> {
    type Output = B::Output;

    #[allow(clippy::inline_always, reason = "SIMD code must be inlined into the region")]
    #[inline(always)]
    fn run(self, isa: I) -> B::Output {
        self.0.with(isa)
    }
}

/// Masks that are made from those before them at once: x^8 times each.
pub(crate) const MASKS_AT_ONCE: usize = 8;

/// A mask and the seven after it, each x times the one before (IEEE 1619, 5.2).
#[must_use]
#[expect(
    clippy::inline_always,
    reason = "in a region of instructions a call would be to slower code"
)]
#[inline(always)]
pub fn eight_masks(first: [u8; 16]) -> [[u8; 16]; MASKS_AT_ONCE] {
    let mut mask = u128::from_le_bytes(first);
    let mut masks = [first; MASKS_AT_ONCE];
    for block in &mut masks {
        *block = mask.to_le_bytes();
        mask = (mask << 1) ^ ((mask >> 127).wrapping_neg() & 0x87);
    }
    masks
}
