//! GCM (SP 800-38D) on a device: CTR, and the hash of the ciphertext, piece by piece; what is short is hashed on the host.

use std::{sync::Arc, time::Duration};

use cipher::InOutBuf;
use lanecrypt_core::{
    Counter, Direction, Engine as _, GcmPass, HashPowers, Secret, modes::gcm::lengths,
};
use lanecrypt_slicing as slicing;

use crate::{
    Engine, Error,
    device::locked,
    engine::{Flights, Work},
    ghash::{BLOCK, HashKey},
    programs::GHASH,
    slot::Hashing,
};

impl Engine {
    /// `lanecrypt_core::Engine::gcm` for blocks of 16 bytes.
    pub(crate) fn run_gcm(
        &self,
        pass: GcmPass<'_>,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let GcmPass { direction, counter, powers, hash, whole } = pass;
        let key = self.hash_key(powers)?;
        let key_on_host = key.on_host();
        let pipeline = self.device.pipeline(&GHASH, "hash")?;
        let hashing = Hashing { pipeline: &pipeline, key: &key, direction };
        let (first, bytes) = (Counter::from(counter), data.len());
        let mut tag_mask = Secret::new([0; BLOCK]);
        let mut joined = Joined { key: key_on_host, hash: &mut *hash, last: None };
        if let Some(aad) = whole {
            key_on_host.absorb(joined.hash, aad);
        }
        let mut flights = Flights::new(self, |blocks, piece| joined.add(blocks, piece));
        if whole.is_some() {
            flights.start(Work::ctr(first).secret(), tag_mask.as_mut_slice().into())?;
        }
        // Kernels count with the whole block, GCM with 32 bits.
        let next = first.plus32(1);
        let blocks = next.blocks_before_wrap32();
        let most = usize::try_from(blocks * BLOCK as u64).unwrap_or(usize::MAX);
        let (data, wrapped) = data.split_at(bytes.min(most));
        flights.start(Work::ctr(next).hashed(hashing), data)?;
        flights.start(Work::ctr(next.plus32(blocks.into())).hashed(hashing), wrapped)?;
        flights.land_all()?;
        if let Some(aad) = whole {
            key_on_host.absorb(hash, &lengths([aad.len() as u64, bytes as u64]));
            hash.iter_mut().zip(&*tag_mask).for_each(|(byte, mask)| *byte ^= mask);
        }
        Ok(())
    }

    /// As [`time`](Self::time), of GCM: CTR, and the hash of what it makes, under any hash key.
    ///
    /// # Errors
    /// [`Error::Refused`] for other than blocks of 16 bytes, for less than a block, and where the CPU has no
    /// instructions that multiply polynomials, without which GCM is hashed there; those of running it.
    pub fn time_gcm(&self, bytes: usize, launches: u32) -> Result<(Duration, usize), Error> {
        let on_host = slicing::HashKey::new(&[1; BLOCK]).filter(|_| self.block_bytes() == BLOCK);
        let Some(on_host) = on_host else {
            return Err(self.device.refused("timing GCM", &"it has no hash on this device"));
        };
        let key = on_host.with_powers(|powers| HashKey::new(&self.device, powers))?;
        let pipeline = self.device.pipeline(&GHASH, "hash")?;
        let hashing = Hashing { pipeline: &pipeline, key: &key, direction: Direction::Encrypt };
        self.time_work(Work::ctr([0; BLOCK].into()).hashed(hashing), bytes, launches)
    }

    /// The key with these powers on the device, where it stays until another one is wanted.
    fn hash_key(&self, powers: &HashPowers) -> Result<Arc<HashKey>, Error> {
        let mut kept = locked(&self.hash_key);
        if let Some(key) = kept.as_ref().filter(|key| key.is_of(powers)) {
            return Ok(key.clone());
        }
        let key = Arc::new(HashKey::new(&self.device, powers)?);
        *kept = Some(key.clone());
        Ok(key)
    }
}

/// The hash of all pieces so far.
struct Joined<'a> {
    key: &'a slicing::HashKey,
    hash: &'a mut [u8; BLOCK],
    /// How many blocks the last piece had, and the power of H that they were worth: most pieces are equally long.
    last: Option<(usize, slicing::HashKey)>,
}

impl Joined<'_> {
    /// Adds a piece of so many blocks, of which the hash is `X_1 H^(n-1) + .. + X_n`, by Horner's rule.
    fn add(&mut self, blocks: usize, piece: &[u8; BLOCK]) {
        // As if a block were added: it multiplies by H once more.
        if blocks > 1 {
            let of_last = self.last.take().filter(|(of, _)| *of == blocks);
            let made = || (blocks, self.key.power(blocks as u64 - 1));
            let (_, power) = self.last.insert(of_last.unwrap_or_else(made));
            power.absorb(self.hash, &[0; BLOCK]);
        }
        self.key.absorb(self.hash, piece);
    }
}
