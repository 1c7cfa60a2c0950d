//! An engine over all cores: long inputs are cut into pieces that rayon's threads take.

use std::{any::Any, fmt};

use cipher::InOutBuf;
use lanecrypt_core::{
    Chain, Counter, Direction, Engine, Error, HashPowers,
    modes::{gcm::HASHED_AT_ONCE, times_power_of_x},
};
use lanecrypt_slicing::HashKey;
use rayon::prelude::*;

/// The shortest piece that is worth a thread, in bytes: the fastest backend takes some ten
/// microseconds for it, which is what waking a thread costs.
pub const PIECE: usize = 256 << 10;

/// An engine whose long calls run on all threads of rayon's current pool.
///
/// Inputs of less than two [`PIECE`]s run on the caller's thread alone. Results are those of the
/// engine within. GCM encrypts and hashes on all threads; its decryption hashes on one. Out of place,
/// the input is copied to the output first.
pub struct Parallel<E> {
    engine: E,
}

impl<E: Engine> Parallel<E> {
    /// Wraps an engine that runs on the CPU.
    pub fn new(engine: E) -> Self {
        Self { engine }
    }

    /// Runs `work` on pieces, each with the number of blocks before it.
    fn in_pieces(
        &self,
        data: InOutBuf<'_, '_, u8>,
        work: impl Fn(usize, &mut [u8]) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let (bytes, pieces) = pieces(data);
        let blocks = bytes / self.engine.block_bytes();
        pieces.try_for_each(|(i, piece)| work(i * blocks, piece))
    }

    /// CTR of whole blocks in place and their hash, in one pass as far as the engine has one. The counter
    /// does not wrap.
    fn hash_piece(
        &self,
        first: Counter,
        key: &HashKey,
        hash: &mut [u8; 16],
        data: &mut [u8],
    ) -> Result<(), Error> {
        let mut counter = [0; 16];
        first.fill(&mut counter);
        let done = self.engine.ctr32_hashed(&counter, key.powers(), hash, (&mut *data).into())?;
        for (i, part) in data[done..].chunks_mut(HASHED_AT_ONCE).enumerate() {
            first.plus(((done + i * HASHED_AT_ONCE) / 16) as u128).fill(&mut counter);
            self.engine.ctr(&counter, (&mut *part).into())?;
            key.absorb(hash, part);
        }
        Ok(())
    }

    /// Runs a decryption in which every block needs the block of ciphertext before it.
    fn decrypt_chained(
        &self,
        previous: &mut [u8],
        data: InOutBuf<'_, '_, u8>,
        work: impl Fn(&E, &mut [u8], InOutBuf<'_, '_, u8>) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        if !is_worth_threads(data.len()) {
            return work(&self.engine, previous, data);
        }
        let block = self.block_bytes();
        // The ciphertext before every place where a piece may begin, read before any of them
        // overwrites it.
        let last_blocks = data.get_in().chunks(PIECE).map(|piece| &piece[piece.len() - block..]);
        let before: Vec<u8> = previous.iter().chain(last_blocks.flatten()).copied().collect();
        self.in_pieces(data, |blocks, piece| {
            let at = blocks * block / PIECE * block;
            let mut previous = before[at..][..block].to_vec();
            work(&self.engine, &mut previous, piece.into())
        })?;
        previous.copy_from_slice(&before[before.len() - block..]);
        Ok(())
    }
}

/// Bytes of a piece of such data, and the pieces by number: multiples of the shortest one, so that all but
/// the last are full batches.
fn pieces<'a>(
    data: InOutBuf<'_, 'a, u8>,
) -> (usize, impl IndexedParallelIterator<Item = (usize, &'a mut [u8])>) {
    let bytes = data.len().div_ceil(rayon::current_num_threads()).next_multiple_of(PIECE);
    (bytes, data.into_out_with_copied_in().par_chunks_mut(bytes).enumerate())
}

/// Whether there is enough for two threads.
fn is_worth_threads(bytes: usize) -> bool {
    bytes >= 2 * PIECE && rayon::current_num_threads() >= 2
}

impl<E: Engine> Engine for Parallel<E> {
    fn block_bytes(&self) -> usize {
        self.engine.block_bytes()
    }

    fn chunk_bytes(&self) -> usize {
        self.engine.chunk_bytes()
    }

    fn ecb(&self, direction: Direction, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        if !is_worth_threads(data.len()) || data.len() % self.block_bytes() != 0 {
            return self.engine.ecb(direction, data);
        }
        self.in_pieces(data, |_, piece| self.engine.ecb(direction, piece.into()))
    }

    fn ctr(&self, counter: &[u8], data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let block = self.block_bytes();
        let first = Counter::from_block(counter).filter(|_| counter.len() == block);
        let Some(first) = first.filter(|_| is_worth_threads(data.len())) else {
            return self.engine.ctr(counter, data);
        };
        self.in_pieces(data, |before, piece| {
            let mut counter = [0; 16];
            first.plus(before as u128).fill(&mut counter[..block]);
            self.engine.ctr(&counter[..block], piece.into())
        })
    }

    fn ctr32_hashed(
        &self,
        counter: &[u8; 16],
        powers: &HashPowers,
        hash: &mut [u8; 16],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<usize, Error> {
        let first = Counter::from_block(counter).filter(|_| self.block_bytes() == 16);
        let whole = data.len() / 16 * 16;
        let fits = |first: &Counter| (whole / 16) as u64 <= first.blocks_before_wrap32();
        let Some(first) = first.filter(fits).filter(|_| is_worth_threads(whole)) else {
            return self.engine.ctr32_hashed(counter, powers, hash, data);
        };
        let key = HashKey::of_powers(powers);
        let (bytes, pieces) = pieces(data.split_at(whole).0);
        let hashes = pieces.map(|(i, piece)| {
            let mut own = [0; 16];
            self.hash_piece(first.plus((i * bytes / 16) as u128), &key, &mut own, piece)?;
            Ok(own)
        });
        let hashes = hashes.collect::<Result<Vec<_>, Error>>()?;
        // By Horner's rule: what comes after a piece multiplies it.
        let of_others = key.power((bytes / 16) as u64);
        let of_last = key.power((whole - (hashes.len() - 1) * bytes) as u64 / 16);
        for (i, own) in hashes.iter().enumerate() {
            let factor = if i + 1 == hashes.len() { &of_last } else { &of_others };
            factor.absorb(hash, &[0; 16]);
            hash.iter_mut().zip(own).for_each(|(byte, own)| *byte ^= own);
        }
        Ok(whole)
    }

    fn cbc_decrypt_blocks(
        &self,
        previous: &mut [u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        self.decrypt_chained(previous, data, |engine, previous, piece| {
            engine.cbc_decrypt_blocks(previous, piece)
        })
    }

    fn cfb_decrypt_blocks(
        &self,
        previous: &mut [u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        self.decrypt_chained(previous, data, |engine, previous, piece| {
            engine.cfb_decrypt_blocks(previous, piece)
        })
    }

    fn chain_blocks(
        &self,
        chain: Chain,
        previous: &mut [u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        self.engine.chain_blocks(chain, previous, data)
    }

    fn xts_blocks(
        &self,
        direction: Direction,
        mask: &mut [u8; 16],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        if !is_worth_threads(data.len()) {
            return self.engine.xts_blocks(direction, mask, data);
        }
        let blocks = data.len() / 16;
        let first = u128::from_le_bytes(*mask);
        self.in_pieces(data, |before, piece| {
            let mut mask = times_power_of_x(first, before as u64).to_le_bytes();
            self.engine.xts_blocks(direction, &mut mask, piece.into())
        })?;
        *mask = times_power_of_x(first, blocks as u64).to_le_bytes();
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self.engine.as_any()
    }
}

impl<E: fmt::Debug> fmt::Debug for Parallel<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Parallel").field(&self.engine).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every mode at lengths round the pieces, on pools of several sizes, against the engine alone.
    #[test]
    fn pieces_are_seamless() {
        let lengths = [0, 16, 2 * PIECE - 16, 2 * PIECE, 2 * PIECE + 16, 5 * PIECE + 48];
        for (cipher, key_bytes) in [("aes", 32), ("hight", 16)] {
            let cipher = crate::find_cipher(cipher).expect("it is in the registry");
            let create = cipher.backend("default").expect("every cipher has one").create;
            let engine = || create(&vec![7; key_bytes]).expect("a good key");
            for threads in [2, 3, 7] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                pool.expect("threads").install(|| {
                    for length in lengths {
                        agree(&*engine(), &Parallel::new(engine()), length);
                    }
                });
            }
        }
    }

    type Pass<'a> = &'a dyn Fn(&dyn Engine, InOutBuf<'_, '_, u8>) -> Result<(), Error>;

    fn agree(alone: &dyn Engine, parallel: &dyn Engine, length: usize) {
        let data: Vec<u8> = (0..length).map(|i| ((i * i) >> 7) as u8).collect();
        let iv = &[0xff, 1, 2, 3, 4, 5, 0xff, 0xfe, 9, 8, 7, 0xff, 0xff, 0xff, 0xff, 0xf0]
            [..alone.block_bytes()];
        let passes: [(&str, Pass<'_>); 8] = [
            ("encryption", &|engine, data| engine.ecb(Direction::Encrypt, data)),
            ("decryption", &|engine, data| engine.ecb(Direction::Decrypt, data)),
            ("CTR", &|engine, data| engine.ctr(iv, data)),
            ("GCM", &|engine, data| sealed(engine, iv, data)),
            ("GCM with an IV that is hashed", &|engine, data| sealed(engine, &iv[..5], data)),
            ("CBC", &|engine, data| crate::modes::cbc_decrypt(engine, iv, data)),
            ("CFB", &|engine, data| crate::modes::cfb_decrypt(engine, iv, data)),
            ("XTS", &|engine, data| {
                if iv.len() < 16 || data.is_empty() {
                    return Ok(());
                }
                crate::modes::xts(engine, engine, iv, Direction::Decrypt, data)
            }),
        ];
        for (name, pass) in passes {
            let mut expected = data.clone();
            pass(alone, expected.as_mut_slice().into()).expect("a good length");
            let mut ours = data.clone();
            pass(parallel, ours.as_mut_slice().into()).expect("a good length");
            assert!(ours == expected, "{name} of {length} bytes in place");
            let mut ours = vec![0; length];
            let both = InOutBuf::new(&data, &mut ours).expect("equally long");
            pass(parallel, both).expect("a good length");
            // Nothing is written where there is no such mode.
            let is_run = iv.len() == 16 && (name != "XTS" || length > 0);
            if is_run || !(name.starts_with("GCM") || name == "XTS") {
                assert!(ours == expected, "{name} of {length} bytes out of place");
            }
        }
    }

    /// GCM, and the tag over the first bytes; back again with what is in place.
    fn sealed(engine: &dyn Engine, iv: &[u8], mut data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        if engine.block_bytes() < 16 {
            return Ok(());
        }
        let gcm = crate::Gcm::<_, (), ()>::of(engine)?;
        let (plain, mut tag) = (data.get_in().to_vec(), [0; 16]);
        gcm.encrypt(iv, b"header", data.reborrow(), &mut tag)?;
        let mut opened = data.get_out().to_vec();
        gcm.decrypt(iv, b"header", opened.as_mut_slice().into(), &tag)?;
        assert!(opened == plain, "it opens");
        data.get_out().iter_mut().zip(tag).for_each(|(byte, tag)| *byte ^= tag);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused_as_alone() {
        let engine = Parallel::new(crate::engine("aes", "default", &[0; 16]).expect("a good key"));
        let mut data = vec![0; 2 * PIECE + 1];
        assert!(matches!(
            engine.ecb(Direction::Encrypt, data.as_mut_slice().into()),
            Err(Error::NotWholeBlocks { .. })
        ));
        assert!(matches!(
            engine.ctr(&[0; 8], data.as_mut_slice().into()),
            Err(Error::IvLength { .. })
        ));
        assert!(data.iter().all(|&byte| byte == 0), "nothing is written");
    }
}
