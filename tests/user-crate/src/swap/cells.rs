//! The cells of the table: each once, for their cipher `T` and ours, `O`.
//!
//! All mode crates have a version that works with `cipher` 0.5, and take any cipher of their block's size,
//! whatever their names say: ARIA and Camellia have every cell that AES has.

use std::hint::black_box;

use aead::{
    AeadInOut,
    consts::{U8, U12, U16},
};
use aes_gcm::AesGcm;
use aes_gcm_siv::AesGcmSiv;
use aes_siv::siv::CmacSiv;
use ccm::Ccm;
use cmac::Cmac;
use ctr::CtrCore;
use eax::Eax;
use lanecrypt_aes::{
    Engine,
    cipher::{Array, BlockSizeUser, InnerIvInit, KeyInit},
};
use lanecrypt_core::Direction;
use lanecrypt_modes::{self as ours, Xts, gcm_siv::SivCipher};
use ofb::OfbCore;
use xts_mode::Xts128;

use crate::{
    timing::{Table, way},
    ways::*,
};

/// More is no key to be wrapped.
const MOST_WRAPPED: usize = 256;
/// There is no limit.
const ANY: usize = usize::MAX;

/// What is measured of ours.
pub(crate) trait OurUser: User + Engine {}
impl<C: User + Engine> OurUser for C {}

/// The same call three ways; of two, our modes have none.
macro_rules! ways {
    ($theirs:expr, $under_theirs:expr) => {
        [Some($theirs), Some($under_theirs), None]
    };
    ($theirs:expr, $under_theirs:expr, $ours:expr) => {
        [Some($theirs), Some($under_theirs), Some($ours)]
    };
}

/// What ciphers of both sizes of block have, with the CTR of that size.
macro_rules! cells_of_any {
    ($table:ident, $t:ident, $o:ident, $theirs:ident, $ours:ident, $ctr:ident) => {
        let (table, t, o) = ($table, $theirs, $ours);
        table.single("key", ways!(keyed::<$t>(), keyed::<$o>()));
        table.single("encrypt_block", ways!(encrypt_block(t), encrypt_block(o)));
        table.single("decrypt_block", ways!(decrypt_block(t), decrypt_block(o)));
        table.row("encrypt_blocks", ANY, |_| {
            ways!(encrypt_blocks(t), encrypt_blocks(o), ecb(o, Direction::Encrypt))
        });
        table.row("decrypt_blocks", ANY, |_| {
            ways!(decrypt_blocks(t), decrypt_blocks(o), ecb(o, Direction::Decrypt))
        });
        let iv = iv::<CtrCore<&$t, ctr::flavors::$ctr>>();
        let their_ctr = || ctr::$ctr::from_core(CtrCore::inner_iv_init(t, black_box(&iv)));
        let mixed_ctr = || ctr::$ctr::from_core(CtrCore::inner_iv_init(o, black_box(&iv)));
        let our_ctr = || ours::Ctr::new(o, black_box(&iv)).expect("the IV is a block");
        table.row("ctr, kept", ANY, |_| {
            ways!(kept_stream(their_ctr()), kept_stream(mixed_ctr()), kept_stream(our_ctr()))
        });
        table.row("ctr, new IV", ANY, |_| {
            ways!(stream(their_ctr), stream(mixed_ctr), stream(our_ctr))
        });
        let their_ofb = || ofb::Ofb::from_core(OfbCore::inner_iv_init(t, black_box(&iv)));
        let mixed_ofb = || ofb::Ofb::from_core(OfbCore::inner_iv_init(o, black_box(&iv)));
        let our_ofb = || ours::Ofb::inner_iv_init(o, black_box(&iv));
        table.row("ofb, new IV", ANY, |_| {
            ways!(stream(their_ofb), stream(mixed_ofb), stream(our_ofb))
        });
        cells_of_any!(chained table, t, o, $t, $o, "cbc encryption", encrypt_chain, cbc, cbc, Encryptor);
        cells_of_any!(chained table, t, o, $t, $o, "cbc decryption", decrypt_chain, cbc, cbc, Decryptor);
        cells_of_any!(chained table, t, o, $t, $o, "cfb-mode encryption", encrypt_chain, cfb_mode, cfb, Encryptor);
        cells_of_any!(chained table, t, o, $t, $o, "cfb-mode decryption", decrypt_chain, cfb_mode, cfb, Decryptor);
        table.row("cmac, new key", ANY, |_| {
            ways!(keyed_mac::<Cmac<$t>>(), keyed_mac::<Cmac<$o>>())
        });
        table.row("cmac", ANY, |_| ways!(mac::<Cmac<$t>>(), mac::<Cmac<$o>>()));
    };
    (chained $table:ident, $theirs:ident, $ours:ident, $t:ident, $o:ident,
        $call:literal, $run:ident, $crate_:ident, $module:ident, $mode:ident) => {
        $table.row($call, ANY, |_| {
            ways!(
                $run::<$crate_::$mode<&$t>>($theirs),
                $run::<$crate_::$mode<&$o>>($ours),
                $run::<ours::$module::$mode<&$o>>($ours)
            )
        });
    };
}

/// Ciphers with blocks of 8 bytes.
pub(crate) fn narrow<T, O>(table: &Table)
where
    T: User + BlockSizeUser<BlockSize = U8>,
    O: OurUser + BlockSizeUser<BlockSize = U8>,
{
    let (theirs, ours) = (&T::new(&key::<T>()), &O::new(&key::<O>()));
    cells_of_any!(table, T, O, theirs, ours, Ctr64BE);
}

/// Ciphers with blocks of 16 bytes and keys of 16 or 32, which GCM-SIV takes.
pub(crate) fn siv<T, O>(table: &Table)
where
    T: User + BlockSizeUser<BlockSize = U16>,
    O: OurUser + SivCipher,
    CmacSiv<T>: KeyInit,
    CmacSiv<O>: KeyInit,
{
    all_but_siv::<T, O>(table);
    type GcmSiv<C> = ours::GcmSiv<C>;
    table.row("aes-gcm-siv encryption", ANY, |_| {
        ways!(seal::<AesGcmSiv<T>>(), seal::<AesGcmSiv<O>>(), seal::<GcmSiv<O>>())
    });
    table.row("aes-gcm-siv decryption", ANY, |n| {
        ways!(open::<AesGcmSiv<T>>(n), open::<AesGcmSiv<O>>(n), open::<GcmSiv<O>>(n))
    });
}

/// Ciphers with blocks of 16 bytes.
pub(crate) fn wide<T, O>(table: &Table)
where
    T: User + BlockSizeUser<BlockSize = U16>,
    O: OurUser + BlockSizeUser<BlockSize = U16>,
    CmacSiv<T>: KeyInit,
    CmacSiv<O>: KeyInit,
{
    all_but_siv::<T, O>(table);
    sealed::<AesGcmSiv<T>, AesGcmSiv<O>>(table, "aes-gcm-siv");
}

fn all_but_siv<T, O>(table: &Table)
where
    T: User + BlockSizeUser<BlockSize = U16>,
    O: OurUser + BlockSizeUser<BlockSize = U16>,
    CmacSiv<T>: KeyInit,
    CmacSiv<O>: KeyInit,
{
    let (theirs, ours) = (&T::new(&key::<T>()), &O::new(&key::<O>()));
    cells_of_any!(table, T, O, theirs, ours, Ctr128BE);
    type Gcm<C> = AesGcm<C, U12>;
    type OurGcm<C> = ours::Gcm<C, U12>;
    table.single("aes-gcm, key", ways!(keyed::<Gcm<T>>(), keyed::<Gcm<O>>(), keyed::<OurGcm<O>>()));
    table.row("aes-gcm encryption", ANY, |_| {
        ways!(seal::<Gcm<T>>(), seal::<Gcm<O>>(), seal::<OurGcm<O>>())
    });
    table.row("aes-gcm decryption", ANY, |n| {
        ways!(open::<Gcm<T>>(n), open::<Gcm<O>>(n), open::<OurGcm<O>>(n))
    });
    sealed::<Eax<T>, Eax<O>>(table, "eax");
    sealed::<Ccm<T, U16, U12>, Ccm<O, U16, U12>>(table, "ccm");
    table.row("aes-siv encryption", ANY, |_| ways!(seal_siv::<T>(), seal_siv::<O>()));
    table.row("aes-siv decryption", ANY, |n| ways!(open_siv::<T>(n), open_siv::<O>(n)));
    table.row("aes-kw, wrap", MOST_WRAPPED, |_| ways!(wrap(theirs), wrap(ours)));
    table.row("aes-kw, unwrap", MOST_WRAPPED, |n| ways!(unwrap(theirs, n), unwrap(ours, n)));
    xts(table, theirs, ours);
}

/// An AEAD that we have no mode for.
fn sealed<T: AeadInOut + KeyInit, O: AeadInOut + KeyInit>(table: &Table, name: &str) {
    table.row(&format!("{name} encryption"), ANY, |_| ways!(seal::<T>(), seal::<O>()));
    table.row(&format!("{name} decryption"), ANY, |n| ways!(open::<T>(n), open::<O>(n)));
}

/// A data unit in XTS.
fn xts<T, O>(table: &Table, theirs: &T, ours: &O)
where
    T: User + BlockSizeUser<BlockSize = U16>,
    O: OurUser + BlockSizeUser<BlockSize = U16>,
{
    let tweak = Array([0xd5; 16]);
    macro_rules! row {
        ($name:literal, $method:ident) => {
            table.row($name, ANY, |_| {
                let modes =
                    (Xts128::new(theirs, theirs), Xts128::new(ours, ours), Xts::new(ours, ours));
                ways!(
                    way(move |message| modes.0.$method(&mut message.data, black_box(tweak))),
                    way(move |message| modes.1.$method(&mut message.data, black_box(tweak))),
                    way(move |message| modes.2.$method(&mut message.data, black_box(tweak)))
                )
            });
        };
    }
    row!("xts-mode encryption", encrypt_sector);
    row!("xts-mode decryption", decrypt_sector);
}
