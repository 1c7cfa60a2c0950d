//! XTS (IEEE 1619) over two engines with blocks of 16 bytes, with the names of the crate `xts-mode` 0.6.

use core::fmt;

use cipher::{InOutBuf, consts::U16};
use lanecrypt_core::{
    Direction, Engine, Error,
    modes::{self, UnitNumbers},
};
use subtle::ConstantTimeEq;

pub use self::Xts as Xts128;
pub use cipher::array::{self, Array};

/// The tweak of data unit `number`: least significant byte first (IEEE 1619, 5.1).
#[must_use]
pub fn get_tweak_default(number: u128) -> Array<u8, U16> {
    Array(number.to_le_bytes())
}

/// Whether the two halves of an XTS key are the same, in constant time.
///
/// IEEE 1619 allows such a key (its first vector has one) and [`Xts`] takes it; FIPS 140 guidance
/// (C.I) forbids it, since ciphertexts chosen for it tell the tweaks.
#[must_use]
pub fn xts_halves_are_equal(key: &[u8]) -> bool {
    let (data, tweak) = key.split_at(key.len() / 2);
    data.ct_eq(tweak).into()
}

/// XTS with a cipher under the data key and one under the tweak key: `xts_mode::Xts128` with the same
/// methods, and others that report errors, work out of place, and take many units at once.
///
/// A data unit has 16 bytes at least; where it is no multiple of 16, its end is stolen from the block
/// before. It may have 2^20 blocks (SP 800-38E, 4): that a longer one is not passed is up to the caller.
#[derive(Clone)]
pub struct Xts<C> {
    data: C,
    tweak: C,
}

impl<C: Engine> Xts<C> {
    /// With the cipher for data and the one for tweaks.
    pub fn new(data: C, tweak: C) -> Self {
        Self { data, tweak }
    }

    /// Runs one data unit with the tweak that `tweak` is.
    ///
    /// # Errors
    /// [`Error::BlockLength`], [`Error::DataUnitLength`]: nothing is written then. The engines' own
    /// errors: the output is unspecified then.
    pub fn unit(
        &self,
        direction: Direction,
        tweak: &[u8; 16],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        modes::xts(&self.data, &self.tweak, tweak, direction, data)
    }

    /// Runs data units of `unit_bytes` with these `numbers`, which are consecutive where only the first one is
    /// given; the last unit may be shorter.
    ///
    /// # Errors
    /// As [`unit`](Self::unit).
    pub fn units(
        &self,
        direction: Direction,
        numbers: impl Into<UnitNumbers>,
        unit_bytes: usize,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        modes::xts_units(&self.data, &self.tweak, numbers, unit_bytes, direction, data)
    }

    /// Encrypts a data unit in place.
    ///
    /// # Panics
    /// Where it is shorter than a block, and where an engine fails.
    pub fn encrypt_sector(&self, sector: &mut [u8], tweak: Array<u8, U16>) {
        expect(self.unit(Direction::Encrypt, &tweak.0, sector.into()));
    }

    /// Decrypts a data unit in place.
    ///
    /// # Panics
    /// Where it is shorter than a block, and where an engine fails.
    pub fn decrypt_sector(&self, sector: &mut [u8], tweak: Array<u8, U16>) {
        expect(self.unit(Direction::Decrypt, &tweak.0, sector.into()));
    }

    /// Encrypts data units of `sector_size` bytes in place, the last of which may be shorter, each
    /// with the tweak of its number, from `first_sector_index` on.
    ///
    /// # Panics
    /// Where a unit is shorter than a block, and where an engine fails.
    pub fn encrypt_area(
        &self,
        area: &mut [u8],
        sector_size: usize,
        first_sector_index: u128,
        get_tweak_fn: impl Fn(u128) -> Array<u8, U16>,
    ) {
        self.area(
            Direction::Encrypt,
            area.chunks_mut(sector_size),
            first_sector_index,
            get_tweak_fn,
        );
    }

    /// Decrypts what [`encrypt_area`](Self::encrypt_area) encrypted.
    ///
    /// # Panics
    /// Where a unit is shorter than a block, and where an engine fails.
    pub fn decrypt_area(
        &self,
        area: &mut [u8],
        sector_size: usize,
        first_sector_index: u128,
        get_tweak_fn: impl Fn(u128) -> Array<u8, U16>,
    ) {
        self.area(
            Direction::Decrypt,
            area.chunks_mut(sector_size),
            first_sector_index,
            get_tweak_fn,
        );
    }

    fn area<'a>(
        &self,
        direction: Direction,
        sectors: impl Iterator<Item = &'a mut [u8]>,
        first: u128,
        tweak: impl Fn(u128) -> Array<u8, U16>,
    ) {
        for (i, sector) in (0..).zip(sectors) {
            expect(self.unit(direction, &tweak(first.wrapping_add(i)).0, sector.into()));
        }
    }
}

fn expect(result: Result<(), Error>) {
    if let Err(error) = result {
        panic!("XTS: {error}");
    }
}

impl<C> fmt::Debug for Xts<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Xts").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<C: zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for Xts<C> {}
