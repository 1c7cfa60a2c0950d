//! Which parameters there are, as the C interface wants them listed: of a cipher, of contexts, of the provider.

use super::parameter::{INTEGER, OCTET_POINTER, OCTETS, Parameter, UNSIGNED, UTF8, UTF8_POINTER};

/// Constant tables with pointers in them.
#[repr(transparent)]
pub(super) struct Table<T>(pub(super) T);
// SAFETY: the pointers are to constants, which never change.
unsafe impl<T> Sync for Table<T> {}

pub(super) static PARAMS: Table<[Parameter; 10]> = Table([
    Parameter::of(c"mode", UNSIGNED, 4),
    Parameter::of(c"keylen", UNSIGNED, 8),
    Parameter::of(c"ivlen", UNSIGNED, 8),
    Parameter::of(c"blocksize", UNSIGNED, 8),
    Parameter::of(c"aead", INTEGER, 4),
    Parameter::of(c"custom-iv", INTEGER, 4),
    Parameter::of(c"cts", INTEGER, 4),
    Parameter::of(c"tls-multi", INTEGER, 4),
    Parameter::of(c"has-randkey", INTEGER, 4),
    Parameter::END,
]);
pub(super) static GETTABLE: Table<[Parameter; 8]> = Table([
    Parameter::of(c"keylen", UNSIGNED, 8),
    Parameter::of(c"ivlen", UNSIGNED, 8),
    Parameter::of(c"padding", UNSIGNED, 4),
    Parameter::of(c"num", UNSIGNED, 4),
    Parameter::of(c"iv", OCTETS, 0),
    Parameter::of(c"updated-iv", OCTETS, 0),
    Parameter::of(c"tls-mac", OCTET_POINTER, 0),
    Parameter::END,
]);
pub(super) static SETTABLE: Table<[Parameter; 6]> = Table([
    Parameter::of(c"padding", UNSIGNED, 4),
    Parameter::of(c"num", UNSIGNED, 4),
    Parameter::of(c"use-bits", UNSIGNED, 4),
    Parameter::of(c"tls-version", UNSIGNED, 4),
    Parameter::of(c"tls-mac-size", UNSIGNED, 8),
    Parameter::END,
]);
pub(super) static GETTABLE_OF_GCM: Table<[Parameter; 9]> = Table([
    Parameter::of(c"keylen", UNSIGNED, 8),
    Parameter::of(c"ivlen", UNSIGNED, 8),
    Parameter::of(c"taglen", UNSIGNED, 8),
    Parameter::of(c"iv", OCTETS, 0),
    Parameter::of(c"updated-iv", OCTETS, 0),
    Parameter::of(c"tag", OCTETS, 0),
    Parameter::of(c"tlsaadpad", UNSIGNED, 8),
    Parameter::of(c"tlsivgen", OCTETS, 0),
    Parameter::END,
]);
pub(super) static GETTABLE_OF_CCM: Table<[Parameter; 7]> = Table([
    Parameter::of(c"keylen", UNSIGNED, 8),
    Parameter::of(c"ivlen", UNSIGNED, 8),
    Parameter::of(c"taglen", UNSIGNED, 8),
    Parameter::of(c"iv", OCTETS, 0),
    Parameter::of(c"updated-iv", OCTETS, 0),
    Parameter::of(c"tag", OCTETS, 0),
    Parameter::END,
]);
pub(super) static SETTABLE_OF_CCM: Table<[Parameter; 3]> =
    Table([Parameter::of(c"ivlen", UNSIGNED, 8), Parameter::of(c"tag", OCTETS, 0), Parameter::END]);
pub(super) static SETTABLE_OF_GCM: Table<[Parameter; 6]> = Table([
    Parameter::of(c"ivlen", UNSIGNED, 8),
    Parameter::of(c"tag", OCTETS, 0),
    Parameter::of(c"tlsaad", OCTETS, 0),
    Parameter::of(c"tlsivfixed", OCTETS, 0),
    Parameter::of(c"tlsivinv", OCTETS, 0),
    Parameter::END,
]);
pub(super) static SETTABLE_OF_XTS_OF_GB: Table<[Parameter; 2]> =
    Table([Parameter::of(c"xts_standard", UTF8, 0), Parameter::END]);

pub(super) static ABOUT: Table<[Parameter; 4]> = Table([
    Parameter::of(c"name", UTF8_POINTER, 0),
    Parameter::of(c"version", UTF8_POINTER, 0),
    Parameter::of(c"status", UNSIGNED, 4),
    Parameter::END,
]);
