//! The tables of HIGHT's implementations: the same ones in both byte orders.

use alloc::boxed::Box;
use core::fmt::Debug;

use cipher::{
    KeyInit,
    consts::{U8, U16},
    typenum::Unsigned,
};
use lanecrypt_core::{
    Backend, Cipher, CipherDescription, ConstantTime, CpuEngine, Engine, Error, Implementation,
    Platform, on_cleared_stack,
};
use lanecrypt_slicing::Gapped;

use crate::{Bitslice, Reference, Reversed, Sliced, Table};

/// HIGHT and every way this crate computes it, in the standard's byte order.
pub static HIGHT: CipherDescription = CipherDescription {
    name: "hight",
    standard: "ISO/IEC 18033-3",
    block_bytes: 8,
    key_bytes: &[16],
    backends: backends!(standard, Standard),
};

/// HIGHT in the byte order of KISA's C source.
pub static HIGHT_KISA: CipherDescription = CipherDescription {
    name: "hight-kisa",
    standard: "ISO/IEC 18033-3",
    block_bytes: 8,
    key_bytes: &[16],
    backends: backends!(kisa, Kisa),
};

/// The implementations in one byte order; `$families` is the module of `crate::cuda` that has its
/// kernel families.
macro_rules! backends {
    ($families:ident, $order:ty) => {{
        #[cfg(not(feature = "cuda"))]
        const ALL: &[Backend] = &cpu_backends::<$order>();
        #[cfg(feature = "cuda")]
        const ALL: &[Backend] = {
            use crate::cuda::$families::{
                BITSLICE, BYTESLICE, BYTESLICE_UNCOALESCED, TABLE, TABLE_UNCOALESCED,
            };
            const ON_DEVICES: &[Backend] = &lanecrypt_cuda::backends!(
                "table-shared-uncoalesced" => TABLE_UNCOALESCED,
                "table-shared" => TABLE,
                "byteslice-uncoalesced" => BYTESLICE_UNCOALESCED,
                "byteslice" => BYTESLICE,
                "bitslice" => BITSLICE,
            );
            const ON_CPU: &[Backend] = &cpu_backends::<$order>();
            &lanecrypt_core::joined::<{ ON_CPU.len() + ON_DEVICES.len() }>(ON_CPU, ON_DEVICES)
        };
        ALL
    }};
}
use backends;

/// An implementation as the tables want it.
trait Hight: Implementation<BlockSize = U8, KeySize = U16> + Debug + 'static {}
impl<I: Implementation<BlockSize = U8, KeySize = U16> + Debug + 'static> Hight for I {}

/// A byte order.
trait ByteOrder {
    /// An implementation in this order, from one in the standard's.
    type Of<I: Hight>: Hight;

    fn description() -> &'static CipherDescription;
}

struct Standard;
struct Kisa;

impl ByteOrder for Standard {
    type Of<I: Hight> = I;

    fn description() -> &'static CipherDescription {
        &HIGHT
    }
}

impl ByteOrder for Kisa {
    type Of<I: Hight> = Reversed<I>;

    fn description() -> &'static CipherDescription {
        &HIGHT_KISA
    }
}

/// The rows of one byte order.
const fn cpu_backends<O: ByteOrder>() -> [Backend; 8] {
    const YES: ConstantTime = ConstantTime::Yes;
    const LOOKS_UP: ConstantTime = ConstantTime::No("table addresses depend on key and data");
    [
        row::<O, Reference>("reference", YES, "as the standard reads, a byte at a time"),
        row::<O, Table>("table", LOOKS_UP, "F0 and F1 as tables, as in KISA's source"),
        row::<O, Bitslice<u32>>("bitslice-u32", YES, "32 blocks, a bit of each in a word"),
        row::<O, Bitslice<u64>>("bitslice-u64", YES, "64 blocks, a bit of each in a word"),
        row::<O, Sliced<Gapped<u32>>>(
            "byteslice-u32-gap",
            LOOKS_UP,
            "a byte of 3 blocks in a word, 4 bits apart, F0 and F1 as tables",
        ),
        row::<O, Sliced<Gapped<u64>>>(
            "byteslice-u64-gap",
            YES,
            "a byte of 7 blocks in a word, 1 bit apart",
        ),
        row::<O, Sliced<u32>>("byteslice-u32", YES, "a byte of 4 blocks in a word"),
        row::<O, Sliced<u64>>("byteslice-u64", YES, "a byte of 8 blocks in a word"),
    ]
}

const fn row<O: ByteOrder, I: Hight>(
    id: &'static str,
    constant_time: ConstantTime,
    summary: &'static str,
) -> Backend {
    Backend {
        id,
        platform: Platform::Cpu,
        lanes: I::Lanes::USIZE,
        constant_time,
        summary,
        available: || Ok(()),
        create: create::<O, I>,
    }
}

/// Makes an engine.
fn create<O: ByteOrder, I: Hight>(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
    let cipher = O::description();
    let wrong_length =
        |_| Error::KeyLength { cipher: cipher.name, given: key.len(), accepted: cipher.key_bytes };
    on_cleared_stack(|| {
        let keyed = Cipher::<O::Of<I>>::new_from_slice(key).map_err(wrong_length)?;
        Ok(Box::new(CpuEngine::new(keyed)) as _)
    })
}
