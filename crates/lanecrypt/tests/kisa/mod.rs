//! KISA's own SEED, through the crate `kisaseed`.

use std::sync::Arc;

use cipher_0_4::{BlockDecrypt, BlockEncrypt, KeyInit as _};
use lanecrypt::cipher::{Array, consts::U16};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};

/// `kisaseed` with the traits of today's `cipher`: its own are those of 0.4.
#[derive(Clone)]
pub(crate) struct KisaSeed(Arc<kisaseed::SEED>);

impl OneBlock for KisaSeed {
    type BlockSize = U16;
    type KeySize = U16;

    const NAME: &'static str = "kisaseed";
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn new(key: &Array<u8, U16>) -> Self {
        Self(Arc::new(kisaseed::SEED::new(&key.0.into())))
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U16>) {
        let mut theirs = block.0.into();
        match direction {
            Direction::Encrypt => self.0.encrypt_block(&mut theirs),
            Direction::Decrypt => self.0.decrypt_block(&mut theirs),
        }
        block.0 = theirs.into();
    }
}
