//! GCM (SP 800-38D) on the device: CTR and GHASH, one after the other, or in one launch.

use cipher::InOutBuf;
use lanecrypt_core::{
    ConstantTime, Mode,
    modes::gcm::{check_lengths, counter, first_counter},
};
use lanecrypt_kernels::{Task, gcm::Gcm};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{
    Device, DeviceInOut, DeviceSlice, DeviceSliceMut, Engine, Error, Family, GhashEngine,
    HashFamily, Operation, Pending, Stream,
    device::buffer::MAX_BLOCK,
    engine::{
        ghash::{End, Hash},
        on_stream::OnStream,
    },
    launch::{
        copies::{self, Rows},
        operation::Work,
        parameters::Header,
    },
    pipeline::{self, Cut},
};

/// Bytes of a block, which GCM is defined for.
const BLOCK: usize = MAX_BLOCK;

/// Bytes below which one launch is faster than CTR and the end of the hash. On an H200, Gbit/s of AES-128 in one and in two:
/// 401 and 324 over 1 MiB, 879 and 907 over 4 MiB.
const ONE_LAUNCH_BELOW: usize = 2 << 20;

impl Family {
    /// GCM under a key that the cipher takes, with the fastest hash for the device. That may look
    /// tables up where the cipher does not: see [`GcmEngine::constant_time`].
    ///
    /// # Errors
    /// Those of [`Family::engine`]; [`Error::Data`] for ciphers of other than 128-bit blocks.
    pub fn gcm_engine(&self, device: &Device, key: &[u8]) -> Result<GcmEngine, Error> {
        self.gcm_engine_with(device, HashFamily::of(device.properties()), key)
    }

    /// The same with a certain hash.
    ///
    /// # Errors
    /// As [`gcm_engine`](Self::gcm_engine); [`Error::Unavailable`] for a hash that the device cannot
    /// run.
    pub fn gcm_engine_with(
        &self,
        device: &Device,
        hash: HashFamily,
        key: &[u8],
    ) -> Result<GcmEngine, Error> {
        let given = self.cipher().block_bytes;
        if given != BLOCK {
            return Err(Error::Data(lanecrypt_core::Error::BlockLength { mode: Mode::Gcm, given }));
        }
        let engine = self.engine(device, key)?;
        let h = engine.single()?.encrypted(&[0; BLOCK])?;
        let hash = GhashEngine::new(device, hash, &h)?;
        let in_one_launch = self.gcm(device.properties());
        Ok(GcmEngine { engine, hash, in_one_launch })
    }
}

/// A cipher under one key and the hash key that belongs to it, on one device.
///
/// IVs have any length but zero, and tags 4 to 16 bytes. Decryption hashes before it decrypts, and
/// writes nothing before the tag has been found right, in constant time. An IV must never be used
/// twice under one key. Several threads may use one engine; those without a stream of their own take turns.
#[derive(Debug)]
pub struct GcmEngine {
    engine: Engine,
    hash: GhashEngine,
    /// What encrypts messages that are not long.
    in_one_launch: Option<&'static Gcm>,
}

impl GcmEngine {
    /// The engine of the cipher.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The hash.
    #[must_use]
    pub fn hash(&self) -> &GhashEngine {
        &self.hash
    }

    /// The claims of all parts together: the cipher here and on the CPU, and the hash.
    #[must_use]
    pub fn constant_time(&self) -> ConstantTime {
        let single = self.engine.single.as_ref().map(|single| single.constant_time);
        let mut claims = single.into_iter().chain([self.engine.constant_time()]);
        let not = claims.find(|claim| matches!(claim, ConstantTime::No(_)));
        not.unwrap_or_else(|| self.hash.family().constant_time())
    }

    /// As [`Engine::limit_chunk`], for associated data too.
    pub fn limit_chunk(&self, bytes: usize) {
        self.engine.limit_chunk(bytes);
        self.hash.limit_chunk(bytes);
    }

    /// Encrypts data on this engine's device, in place or from one slice to another, and fills `tag`.
    ///
    /// # Errors
    /// [`Error::OtherDevice`]; [`Error::Data`] for an empty IV, lengths of tags or data that GCM does
    /// not take, and unequal lengths: nothing is written then. Driver errors: the output is unspecified
    /// then.
    pub fn encrypt<'d>(
        &self,
        iv: &[u8],
        aad: &[u8],
        data: impl Into<DeviceInOut<'d>>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let data = self.checked(data, [iv, aad], tag.len())?;
        let seal = self.seal(self.stream(), iv, &data)?;
        let mut made = [0; BLOCK];
        self.hash.with_hash(self.stream(), |hash| {
            hash.add_host(aad)?;
            hash.receive(&mut made, |hash, output| seal.end(hash, aad.len(), output))
        })?;
        tag.copy_from_slice(&made[..tag.len()]);
        Ok(())
    }

    /// As [`encrypt`](Self::encrypt), on a stream: see [`Engine::queue`]. The tag is as long as `tag`, in
    /// memory of the device. Waits for what was queued on the stream where the IV has other than 12 bytes, or
    /// the associated data more than 64.
    ///
    /// # Errors
    /// As [`encrypt`](Self::encrypt), and [`Error::OtherDevice`] for a stream or a tag of another device.
    /// Nothing is running any more then.
    pub fn queue_encrypt<'b>(
        &'b self,
        stream: &'b Stream,
        iv: &[u8],
        aad: &[u8],
        data: impl Into<DeviceInOut<'b>>,
        tag: &'b mut DeviceSliceMut<'_>,
    ) -> Result<Pending<'b>, Error> {
        let tag = tag.as_slice();
        let data = self.checked(data, [iv, aad], tag.len())?;
        let device = self.engine.device();
        stream.require_device(device)?;
        tag.require_device(device)?;
        let queued = stream.begin().and_then(|()| {
            let seal = self.seal(stream, iv, &data)?;
            self.hash.with_hash(stream, |hash| {
                hash.add_host(aad)?;
                let to = tag.address();
                if tag.len() == BLOCK && to.is_multiple_of(BLOCK as u64) {
                    return seal.end(hash, aad.len(), to);
                }
                let (aside, rows) = (hash.aside(), Rows::one(tag.len() as u64));
                seal.end(hash, aad.len(), aside)?;
                copies::copy(device, stream.handle, (aside, to), rows)
            })
        });
        stream.pending(queued)
    }

    /// Decrypts data on this engine's device, in place or from one slice to another, if `tag` is the right
    /// one.
    ///
    /// # Errors
    /// Those of [`encrypt`](Self::encrypt); [`Error::Data`] with
    /// [`NotAuthentic`](lanecrypt_core::Error::NotAuthentic) for a wrong tag. On every error of data
    /// nothing is written. After driver errors the output may have parts of the plaintext, but only
    /// of one whose tag was right.
    pub fn decrypt<'d>(
        &self,
        iv: &[u8],
        aad: &[u8],
        data: impl Into<DeviceInOut<'d>>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let data = self.checked(data, [iv, aad], tag.len())?;
        self.open(self.stream(), iv, aad, &data, tag)
    }

    /// As [`decrypt`](Self::decrypt), on a stream: see [`Engine::queue`]. Waits for what was queued on the
    /// stream and for the hash; the decryption is queued when the tag was found right.
    ///
    /// # Errors
    /// As [`decrypt`](Self::decrypt), and [`Error::OtherDevice`] for a stream of another device. Nothing is
    /// running any more then.
    pub fn queue_decrypt<'b>(
        &'b self,
        stream: &'b Stream,
        iv: &[u8],
        aad: &[u8],
        data: impl Into<DeviceInOut<'b>>,
        tag: &[u8],
    ) -> Result<Pending<'b>, Error> {
        let data = self.checked(data, [iv, aad], tag.len())?;
        stream.require_device(self.engine.device())?;
        let queued = stream.begin().and_then(|()| self.open(stream, iv, aad, &data, tag));
        stream.pending(queued)
    }

    /// Encrypts host memory of any size that GCM takes, pieces of it side by side through memory of the
    /// device as [`Engine::run_host_memory`] does, and fills `tag`.
    ///
    /// # Errors
    /// [`Error::Data`] as [`encrypt`](Self::encrypt). [`Error::Interrupted`] by driver errors, which says
    /// how much is complete, or a driver error before anything was written; `tag` is as it was then.
    pub fn encrypt_host_memory(
        &self,
        iv: &[u8],
        aad: &[u8],
        mut data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let length = data.len();
        check(iv, aad, length, tag.len())?;
        let first = self.first_counter(self.stream(), iv)?;
        let work = self.engine.work(counters(&first), length)?;
        let device = self.engine.device();
        let cut = Cut::new(device, &mut data, self.engine.chunk_limit.get(), BLOCK);
        let (mask, mut made, mut complete) = (self.mask(&first)?, [0; BLOCK], 0);
        let run = self.hash.with_hash(self.stream(), |hash| {
            hash.add_host(aad)?;
            hash.receive(&mut made, |hash, output| {
                let end = End { lengths: [aad.len(), length], mask: &mask, output };
                hash.add_pieces([length, cut.bytes], Some(end), |pieces| {
                    pipeline::run(device, data, cut, BLOCK, |stream, address, number, bytes| {
                        let work = work.after_blocks(number * (cut.bytes / BLOCK));
                        let blocks = bytes.div_ceil(BLOCK);
                        self.engine.on(stream).launch(work, address, address, blocks)?;
                        pieces.hash(stream, address, number, bytes)
                    })?;
                    complete = length;
                    Ok(())
                })
            })
        });
        run.map_err(|error| match complete {
            0 => error,
            _ => Error::Interrupted { complete, error: Box::new(error) },
        })?;
        tag.copy_from_slice(&made[..tag.len()]);
        Ok(())
    }

    /// Decrypts host memory of any size that GCM takes, if `tag` is the right one. It passes the device
    /// twice, as [`Engine::run_host_memory`] does: all of it is hashed before any of it is decrypted.
    ///
    /// # Errors
    /// [`Error::Data`] as [`decrypt`](Self::decrypt), after which nothing is written. Driver errors before
    /// the tag was found right: nothing is written then either; [`Error::Interrupted`] by those that come
    /// later, which says how much is complete.
    pub fn decrypt_host_memory(
        &self,
        iv: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let lengths = [aad.len(), data.len()];
        check(iv, aad, data.len(), tag.len())?;
        let first = self.first_counter(self.stream(), iv)?;
        self.hash.with_hash(self.stream(), |hash| {
            hash.add_host(aad)?;
            hash.add_host(data.get_in())?;
            self.require(hash, &first, tag, |hash, mask, output| {
                hash.add_last(0, 0, End { lengths, mask, output })
            })
        })?;
        self.engine.run_host_memory(counters(&first), data)
    }

    /// Where all runs that names no stream.
    fn stream(&self) -> &Stream {
        &self.engine.default_stream
    }

    /// Checks a message on this engine's device, of this IV and associated data.
    fn checked<'d>(
        &self,
        data: impl Into<DeviceInOut<'d>>,
        [iv, aad]: [&[u8]; 2],
        tag: usize,
    ) -> Result<DeviceInOut<'d>, Error> {
        let data = data.into();
        data.require_device(self.engine.device())?;
        check(iv, aad, data.len(), tag)?;
        Ok(data)
    }

    /// Queues the encryption of the data of a message that was checked, where the end of its hash does not encrypt it.
    fn seal<'a>(
        &'a self,
        stream: &'a Stream,
        iv: &[u8],
        data: &'a DeviceInOut<'_>,
    ) -> Result<Seal<'a>, Error> {
        let first = self.first_counter(stream, iv)?;
        let mask = self.mask(&first)?;
        let work = self.engine.work(counters(&first), data.len())?;
        let on = self.engine.on(stream);
        let (bytes, (input, output)) = (data.len(), data.ends());
        let blocks = bytes.div_ceil(BLOCK);
        let fits = (1..ONE_LAUNCH_BELOW).contains(&bytes)
            && (input | output).is_multiple_of(BLOCK as u64)
            && !self.hash.is_long(bytes)
            && work.blocks_at_once(blocks) == blocks;
        let in_one_launch = self.in_one_launch.filter(|_| fits);
        if in_one_launch.is_none() {
            on.run(work, data.ends(), bytes)?;
        }
        Ok(Seal { on, mask, data, in_one_launch: in_one_launch.map(|kernel| (kernel, work)) })
    }

    /// Queues the decryption of a message that was checked, once its tag was found right.
    fn open(
        &self,
        stream: &Stream,
        iv: &[u8],
        aad: &[u8],
        data: &DeviceInOut<'_>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let first = self.first_counter(stream, iv)?;
        self.hash.with_hash(stream, |hash| {
            hash.add_host(aad)?;
            self.require(hash, &first, tag, |hash, mask, output| {
                add_ciphertext(hash, aad.len(), data.input(), mask, output)
            })
        })?;
        let work = self.engine.work(counters(&first), data.len())?;
        self.engine.on(stream).run(work, data.ends(), data.len())
    }

    /// The counter block J0 of an IV.
    fn first_counter(&self, stream: &Stream, iv: &[u8]) -> Result<[u8; BLOCK], Error> {
        match first_counter(iv) {
            Some(first) => Ok(first),
            None => self.hash.with_hash(stream, |hash| {
                let mut first = [0; BLOCK];
                hash.add_host(iv)?;
                hash.receive(&mut first, |hash, output| {
                    let lengths = [0, iv.len()];
                    hash.add_last(0, 0, End { lengths, mask: &[0; BLOCK], output })
                })?;
                Ok(first)
            }),
        }
    }

    /// The mask of the tag of a message: J0, encrypted.
    fn mask(&self, first: &[u8; BLOCK]) -> Result<Zeroizing<[u8; BLOCK]>, Error> {
        self.engine.single()?.encrypted(first)
    }

    /// Compares `tag`, in constant time, with that which `work` queues: with the mask of the message, and the
    /// address that the tag goes to.
    fn require(
        &self,
        hash: &mut Hash<'_>,
        first: &[u8; BLOCK],
        tag: &[u8],
        work: impl FnOnce(&mut Hash<'_>, &[u8; BLOCK], u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut made = Zeroizing::new([0; BLOCK]);
        let mask = self.mask(first)?;
        hash.receive(&mut made, |hash, output| work(hash, &mask, output))?;
        if bool::from(made[..tag.len()].ct_eq(tag)) {
            Ok(())
        } else {
            Err(Error::Data(lanecrypt_core::Error::NotAuthentic))
        }
    }
}

/// A message whose data is encrypted, or is when its hash ends.
struct Seal<'a> {
    on: OnStream<'a>,
    mask: Zeroizing<[u8; BLOCK]>,
    data: &'a DeviceInOut<'a>,
    in_one_launch: Option<(&'static Gcm, Work)>,
}

impl Seal<'_> {
    /// Adds the ciphertext after the associated data, and the end; the tag goes to `output`.
    fn end(&self, hash: &mut Hash<'_>, aad_bytes: usize, output: u64) -> Result<(), Error> {
        let Self { on, mask, data, in_one_launch } = self;
        let Some((gcm, work)) = in_one_launch else {
            return add_ciphertext(hash, aad_bytes, data.output(), mask, output);
        };
        let bytes = data.len();
        let end = End { lengths: [aad_bytes, bytes], mask, output };
        hash.add_made(gcm.kernel(), bytes, end, |launch, of_hash| {
            let (input, output) = data.ends();
            let [first, second] = work.words();
            let blocks = (bytes / BLOCK) as u64;
            let header = Header { input, output, blocks, mode: [first, second, 0] };
            let text = on.keyed.keys(Task::Ctr).parameters(header, gcm.text_bytes());
            let mut block = Zeroizing::new(vec![0; launch.parameter_bytes() / 8]);
            let (of_text, rest) = block.split_at_mut(text.len());
            of_text.copy_from_slice(&text);
            rest[..of_hash.len()].copy_from_slice(of_hash);
            on.keyed.device().launch(on.stream.handle, launch, &block)
        })
    }
}

/// Checks all lengths of a message of `bytes` bytes.
fn check(iv: &[u8], aad: &[u8], bytes: usize, tag: usize) -> Result<(), Error> {
    check_lengths(iv.len(), aad.len(), bytes, tag).map_err(Error::Data)
}

/// The operation over the data of a message.
fn counters(first: &[u8; BLOCK]) -> Operation<'static> {
    Operation::Ctr32(counter(first, 0).into())
}

/// Adds the ciphertext of a message after its associated data, and the end.
fn add_ciphertext(
    hash: &mut Hash<'_>,
    aad_bytes: usize,
    ciphertext: &DeviceSlice<'_>,
    mask: &[u8; BLOCK],
    output: u64,
) -> Result<(), Error> {
    let (address, bytes) = (ciphertext.address(), ciphertext.len());
    hash.add_last(address, bytes, End { lengths: [aad_bytes, bytes], mask, output })
}
