//! DES and triple DES on NVIDIA GPUs: RustCrypto types, and the kernel families beside each other.
//!
//! ```
//! use lanecrypt_cuda::Device;
//! use lanecrypt_des::{cipher::BlockCipherEncrypt, cuda};
//!
//! match Device::default() {
//!     Ok(device) => {
//!         let cipher = cuda::TdesEde3::new(&device, &[0; 24].into())?;
//!         let mut blocks = vec![[0; 8].into(); 1 << 16];
//!         cipher.encrypt_blocks(&mut blocks); // one pass of the device
//!         assert_eq!(blocks[0][..4], [0x8c, 0xa6, 0x4d, 0xe9]);
//!     }
//!     Err(error) => println!("no GPU: {error}"),
//! }
//! # Ok::<(), lanecrypt_cuda::Error>(())
//! ```
//!
//! One kernel text serves DES and both orders of triple DES, in both directions: which it is, is in
//! the round keys. The families stand in a module for each description of the registry.
//!
//! | family | how | constant-time |
//! |---|---|---|
//! | `TABLE_SHARED` | one copy of the tables in shared memory | no |
//! | `CONFLICT_FREE` | tables replicated over the banks | addresses vary, bank conflicts cannot |
//! | `BITSLICE` | 32 blocks per thread, no look-ups | yes |

use alloc::vec::Vec;

use cipher::{Array, array::ArraySize};
use lanecrypt_core::Direction;
use lanecrypt_cuda::{CipherKernels, DeviceChoices, KeyPair, Keys, OnDevice};
use zeroize::Zeroizing;

use crate::{
    CpuForms, Ede2, Ede3, Eee2, Eee3, Keying, Single,
    schedule::{self, PerRound, ROUNDS},
    table32::word_key,
};

/// DES whose bulk methods run on a GPU.
pub type Des = OnDevice<crate::Des>;
/// Triple DES (EDE, two keys) whose bulk methods run on a GPU.
pub type TdesEde2 = OnDevice<crate::TdesEde2>;
/// Triple DES (EDE, three keys) whose bulk methods run on a GPU.
pub type TdesEde3 = OnDevice<crate::TdesEde3>;
/// Triple DES (EEE, two keys) whose bulk methods run on a GPU.
pub type TdesEee2 = OnDevice<crate::TdesEee2>;
/// Triple DES (EEE, three keys) whose bulk methods run on a GPU.
pub type TdesEee3 = OnDevice<crate::TdesEee3>;

/// Passes of triple DES.
const MAX_PASSES: usize = 3;

/// The families of one description.
macro_rules! families {
    ($module:ident, $cipher:ident, $keys:path, $doc:literal) => {
        #[doc = $doc]
        pub mod $module {
            use lanecrypt_core::ConstantTime;
            use lanecrypt_cuda::{CipherKernels, Family, kernels::programs};

            /// One copy of the tables in shared memory.
            pub static TABLE_SHARED: Family = Family::new(
                &crate::$cipher,
                "one copy of eight tables in shared memory",
                ConstantTime::LOOKS_UP,
                &[&programs::DES_TABLE_SHARED],
                $keys,
            );
            /// Tables replicated over the banks of shared memory.
            pub static CONFLICT_FREE: Family = Family::new(
                &crate::$cipher,
                "eight tables in every bank",
                ConstantTime::LOOKS_UP,
                &[&programs::DES_CONFLICT_FREE],
                $keys,
            );
            /// Bit-sliced, 32 blocks per thread.
            pub static BITSLICE: Family = Family::new(
                &crate::$cipher,
                "32 blocks a thread, a bit of each in a register",
                ConstantTime::Yes,
                &[&programs::DES_BITSLICE],
                $keys,
            );
            /// What the types of users take.
            pub static KERNELS: CipherKernels =
                CipherKernels { fastest: &BITSLICE, constant_time: &BITSLICE, batches: None };
        }
    };
}
families!(des, DES, super::key_pair::<crate::Single>, "DES.");
families!(tdes, TDES, super::ede_key_pair, "Triple DES, encrypt-decrypt-encrypt.");
families!(tdes_eee, TDES_EEE, super::eee_key_pair, "Triple DES, three times encryption.");

fn ede_key_pair(key: &[u8]) -> KeyPair {
    if key.len() == 16 { key_pair::<Ede2>(key) } else { key_pair::<Ede3>(key) }
}

fn eee_key_pair(key: &[u8]) -> KeyPair {
    if key.len() == 16 { key_pair::<Eee2>(key) } else { key_pair::<Eee3>(key) }
}

/// The keys of both directions: the same rounds, in opposite orders.
fn key_pair<K: Keying>(key: &[u8]) -> KeyPair {
    let rounds = schedule::expand::<K, _>(&checked::<K::Size>(key), |round_key| round_key);
    KeyPair {
        encrypt: kernel_keys::<K>(&rounds, Direction::Encrypt),
        decrypt: kernel_keys::<K>(&rounds, Direction::Decrypt),
    }
}

/// A key whose length the family has checked.
fn checked<Size: ArraySize>(key: &[u8]) -> Zeroizing<Array<u8, Size>> {
    Zeroizing::new(Array::from_fn(|i| key[i]))
}

/// `DesKeys` of `kernels/des/keys.cuh`: two words per round, up to 48 rounds, number of passes.
fn kernel_keys<K: Keying>(rounds: &PerRound<K, u64>, direction: Direction) -> Keys {
    let room = 2 * MAX_PASSES * ROUNDS;
    let mut words = Zeroizing::new(Vec::with_capacity(room + 4));
    for pass in 0..K::PASSES.len() {
        let numbers = (0..ROUNDS).map(|round| schedule::number::<K>(direction, pass, round));
        words.extend(numbers.flat_map(|number| word_key(rounds[number])));
    }
    words.resize(room, 0);
    words.extend([K::PASSES.len() as u32, 0, 0, 0]);
    Keys::new(words)
}

/// The bit-sliced kernels are the fastest of all five types.
macro_rules! on_device {
    ($($keying:ident, $module:ident;)*) => {$(
        impl DeviceChoices for CpuForms<$keying> {
            fn kernels() -> &'static CipherKernels {
                &$module::KERNELS
            }
        }
    )*};
}
on_device! {
    Single, des;
    Ede2, tdes;
    Ede3, tdes;
    Eee2, tdes_eee;
    Eee3, tdes_eee;
}
