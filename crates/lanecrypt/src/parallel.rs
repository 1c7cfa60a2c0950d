//! An engine over all cores: long inputs are cut into pieces that the caller and rayon's threads take.

use std::{
    fmt,
    sync::{Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use cipher::InOutBuf;
use lanecrypt_core::{
    Chains, Counter, Direction, Engine, Error, GcmPass, Operation, Secret,
    modes::{gcm::run_hashed, times_power_of_x},
};
use lanecrypt_slicing::{HashKey, SendBuf};

/// The shortest piece that a thread takes, in bytes: full batches of every backend.
pub const THREAD_PIECE_BYTES: usize = 64 << 10;

/// The longest piece, in bytes: one that is begun last keeps the others waiting for a short time only.
const LONGEST_PIECE: usize = 16 * THREAD_PIECE_BYTES;

/// How long a call must have to go on for before threads are woken: so long they may take to come,
/// above all in a virtual machine. Tests have short data, and want the threads.
const WAKING: Duration = Duration::from_micros(if cfg!(test) { 0 } else { 100 });

/// An engine whose long calls run on all threads of rayon's current pool.
///
/// Inputs of less than two [`THREAD_PIECE_BYTES`]s run on the caller's thread alone, and so does what that has done soon:
/// how long the first piece takes says how long the others would. Results are those
/// of the engine within.
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
        work: impl Fn(usize, InOutBuf<'_, '_, u8>) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let block = self.engine.block_bytes();
        in_pieces(data, self.piece_bytes(), |before, piece| work(before / block, piece))
    }

    /// Bytes of the shortest piece: whole blocks, however long they are.
    fn piece_bytes(&self) -> usize {
        let block = self.engine.block_bytes();
        (THREAD_PIECE_BYTES / block).max(1) * block
    }

    /// Whole blocks of GCM and their hash, in one pass if the engine has one.
    fn gcm_piece(
        &self,
        direction: Direction,
        before: Counter,
        key: &HashKey,
        hash: &mut [u8; 16],
        mut data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let mut counter = [0; 16];
        before.fill(&mut counter);
        let is_done = key.with_powers(|powers| {
            let pass = GcmPass { direction, counter, powers, hash: &mut *hash, whole: None };
            self.engine.gcm(pass, data.reborrow())
        });
        if is_done? {
            return Ok(());
        }
        run_hashed(&self.engine, direction, before, data, |ciphertext| key.absorb(hash, ciphertext))
    }

    /// Runs a decryption in which every block needs the block of ciphertext before it: pieces come with that
    /// of their first.
    fn after_ciphertext(
        &self,
        iv: &[u8],
        data: InOutBuf<'_, '_, u8>,
        work: impl Fn(&[u8], InOutBuf<'_, '_, u8>) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let (block, unit) = (self.block_bytes(), self.piece_bytes());
        // The ciphertext before every place where a piece may begin, read before any of them
        // overwrites it.
        let last_blocks = data.get_in().chunks(unit).map(|piece| &piece[piece.len() - block..]);
        let before: Vec<u8> = iv.iter().chain(last_blocks.flatten()).copied().collect();
        self.in_pieces(data, |blocks, piece| {
            let at = blocks * block / unit * block;
            work(&before[at..][..block], piece)
        })
    }
}

/// Adds pieces to a hash, each by the number of its blocks and its own hash, by Horner's rule: what comes
/// after a piece multiplies it. Most are equally long.
fn join<'a>(
    key: &HashKey,
    hash: &mut [u8; 16],
    pieces: impl Iterator<Item = (u64, &'a Secret<[u8; 16]>)>,
) {
    let mut factor = None;
    for (blocks, own) in pieces {
        let (_, power) = match factor.take().filter(|(of, _)| *of == blocks) {
            Some(same) => factor.insert(same),
            None => factor.insert((blocks, key.power(blocks))),
        };
        power.absorb(hash, &[0; 16]);
        hash.iter_mut().zip(own.iter()).for_each(|(byte, own)| *byte ^= own);
    }
}

/// What of a buffer has not been taken yet.
struct Queue<'inp, 'out, T> {
    /// Items before it, and itself.
    rest: Mutex<(usize, Option<SendBuf<'inp, 'out, T>>)>,
    piece: usize,
}

impl<'inp, 'out, T> Queue<'inp, 'out, T> {
    fn take(&self) -> Option<(usize, InOutBuf<'inp, 'out, T>)> {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, data) = (rest.0, rest.1.take()?.into_inner());
        let (piece, others) = if data.len() <= self.piece {
            (data, None)
        } else {
            let (piece, others) = data.split_at(self.piece);
            (piece, Some(others.into()))
        };
        *rest = (before + piece.len(), others);
        Some((before, piece))
    }
}

/// Whether there may be enough for two threads, where a piece has this number of items at least.
fn may_be_worth_threads(items: usize, unit: usize) -> bool {
    items >= 2 * unit && rayon::current_num_threads() >= 2
}

/// Runs `work` on pieces of a buffer, each with the number of items before it, which is a multiple of `unit`:
/// on the caller's thread, and where that takes longer than to wake others, on these too.
///
/// # Errors
/// One of those of `work`; then some pieces were not run.
pub(crate) fn in_pieces<T: Send + Sync, Error: Send + Sync>(
    data: InOutBuf<'_, '_, T>,
    unit: usize,
    work: impl Fn(usize, InOutBuf<'_, '_, T>) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    if !may_be_worth_threads(data.len(), unit) {
        return work(0, data);
    }
    let (first, rest) = data.split_at(unit);
    let start = Instant::now();
    work(0, first)?;
    let units = rest.len().div_ceil(unit);
    let alone = start.elapsed().saturating_mul(u32::try_from(units).unwrap_or(u32::MAX));
    if alone < WAKING {
        return work(unit, rest);
    }
    let threads = rayon::current_num_threads();
    let piece = (units / (4 * threads)).clamp(1, LONGEST_PIECE / THREAD_PIECE_BYTES);
    let pieces = units.div_ceil(piece);
    let queue = Queue { rest: Mutex::new((unit, Some(rest.into()))), piece: piece * unit };
    let failure = OnceLock::new();
    let take_pieces = || {
        while failure.get().is_none()
            && let Some((before, piece)) = queue.take()
        {
            if let Err(error) = work(before, piece) {
                let _ = failure.set(error); // another one was first
            }
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 1..threads.min(pieces) {
            scope.spawn(|_| take_pieces());
        }
        take_pieces();
    });
    failure.into_inner().map_or(Ok(()), Err)
}

impl<E: Engine> Engine for Parallel<E> {
    fn block_bytes(&self) -> usize {
        self.engine.block_bytes()
    }

    fn chunk_bytes(&self) -> usize {
        self.engine.chunk_bytes()
    }

    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        operation.check(self.block_bytes(), data.len())?;
        let engine = &self.engine;
        if operation.is_serial() || !may_be_worth_threads(data.len(), THREAD_PIECE_BYTES) {
            return engine.run(operation, data);
        }
        match operation {
            Operation::Ctr(first) => self.in_pieces(data, |before, piece| {
                engine.run(Operation::Ctr(first.plus(before as u128)), piece)
            }),
            Operation::Ctr32(first) => self.in_pieces(data, |before, piece| {
                engine.run(Operation::Ctr32(first.plus32(before as u128)), piece)
            }),
            Operation::Ctr32Le(first) => self.in_pieces(data, |before, piece| {
                engine.run(Operation::Ctr32Le(first.plus32_le(before as u128)), piece)
            }),
            Operation::Cbc(direction, iv) => self.after_ciphertext(iv, data, |previous, piece| {
                engine.run(Operation::Cbc(direction, previous), piece)
            }),
            Operation::Cfb(direction, iv) => self.after_ciphertext(iv, data, |previous, piece| {
                engine.run(Operation::Cfb(direction, previous), piece)
            }),
            Operation::Xts(direction, mask) => self.in_pieces(data, |before, piece| {
                let mask = times_power_of_x(mask, before as u64);
                engine.run(Operation::Xts(direction, &mask), piece)
            }),
            Operation::Ecb(_) | Operation::Ofb(_) => {
                self.in_pieces(data, |_, piece| engine.run(operation, piece))
            }
        }
    }

    /// Long messages come as the blocks within them.
    fn gcm(&self, pass: GcmPass<'_>, data: InOutBuf<'_, '_, u8>) -> Result<bool, Error> {
        if !may_be_worth_threads(data.len(), THREAD_PIECE_BYTES) {
            return self.engine.gcm(pass, data);
        }
        let GcmPass { direction, counter, powers, hash, whole: None } = pass else {
            return Ok(false);
        };
        let (before, key) = (Counter::from(counter), HashKey::of_powers(powers));
        // With room for all: a vector that grows leaves its hashes in memory that is given back.
        let hashes = Mutex::new(Vec::with_capacity(data.len().div_ceil(self.piece_bytes())));
        self.in_pieces(data, |number, piece| {
            let (mut own, blocks) = (Secret::new([0; 16]), (piece.len() / 16) as u64);
            self.gcm_piece(direction, before.plus32(number as u128), &key, &mut own, piece)?;
            hashes.lock().unwrap_or_else(PoisonError::into_inner).push((number, blocks, own));
            Ok(())
        })?;
        let mut hashes = hashes.into_inner().unwrap_or_else(PoisonError::into_inner);
        hashes.sort_unstable_by_key(|(number, ..)| *number);
        join(&key, hash, hashes.iter().map(|(_, blocks, own)| (*blocks, own)));
        Ok(true)
    }

    fn chains_at_once(&self) -> usize {
        self.engine.chains_at_once()
    }

    /// On the caller's thread alone: between two blocks all threads would have to meet.
    fn run_chains(&self, chains: Chains<'_, '_, '_>) -> Result<(), Error> {
        self.engine.run_chains(chains)
    }
}

impl<E: fmt::Debug> fmt::Debug for Parallel<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Parallel").field(&self.engine).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
    };

    use lanecrypt_core::SerialMode;

    use super::*;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
    }

    /// Every mode at lengths round the pieces, on pools of several sizes, against the engine alone.
    #[test]
    fn pieces_are_seamless() {
        let lengths = [
            0,
            16,
            2 * THREAD_PIECE_BYTES - 16,
            2 * THREAD_PIECE_BYTES,
            2 * THREAD_PIECE_BYTES + 16,
            5 * THREAD_PIECE_BYTES + 48,
        ];
        for (cipher, key_bytes) in [("aes", 32), ("hight", 16)] {
            let cipher = crate::find_cipher(cipher).expect("it is in the registry");
            let create = cipher.backend("default").expect("every cipher has one").create;
            let engine = || create(&vec![7; key_bytes]).expect("a good key");
            for threads in [2, 3, 7] {
                pool(threads).install(|| {
                    for length in lengths {
                        agree(&*engine(), &Parallel::new(engine()), length);
                    }
                });
            }
        }
    }

    /// A cipher that inverts blocks of 12 bytes, which no power of two is a multiple of, and turns them round.
    #[derive(Debug)]
    struct Twelve;

    impl Engine for Twelve {
        fn block_bytes(&self) -> usize {
            12
        }

        fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
            let Operation::Ecb(_) = operation else {
                return crate::modes::by_ecb(self, operation, data);
            };
            operation.check(12, data.len())?;
            for block in data.into_out_with_copied_in().chunks_exact_mut(12) {
                block.reverse();
                for byte in block.iter_mut() {
                    *byte = !*byte;
                }
            }
            Ok(())
        }
    }

    #[test]
    fn pieces_are_whole_blocks() {
        let pool = pool(3);
        for blocks in [5461, 5462, 10_922, 10_923, 10_924, 50_000] {
            pool.install(|| twelve(blocks));
        }
    }

    /// Every mode that ciphers with such blocks have.
    fn twelve(blocks: usize) {
        let iv = b"twelve bytes";
        let passes: [(&str, Pass<'_>); 4] = [
            ("encryption", &|engine, data| engine.ecb(Direction::Encrypt, data)),
            ("decryption", &|engine, data| engine.ecb(Direction::Decrypt, data)),
            ("CBC", &|engine, data| crate::modes::cbc_decrypt(engine, iv, data)),
            ("CFB", &|engine, data| crate::modes::cfb_decrypt(engine, iv, data)),
        ];
        let data: Vec<u8> = (0..12 * blocks).map(|i| ((i * i) >> 7) as u8).collect();
        for (name, pass) in passes {
            let (mut expected, mut ours) = (data.clone(), data.clone());
            pass(&Twelve, expected.as_mut_slice().into()).expect("whole blocks");
            pass(&Parallel::new(Twelve), ours.as_mut_slice().into()).expect(name);
            assert!(ours == expected, "{name} of {blocks} blocks");
        }
    }

    type Pass<'a> = &'a dyn Fn(&dyn Engine, InOutBuf<'_, '_, u8>) -> Result<(), Error>;

    fn agree(alone: &dyn Engine, parallel: &dyn Engine, length: usize) {
        let data: Vec<u8> = (0..length).map(|i| ((i * i) >> 7) as u8).collect();
        let iv = &[0xff, 1, 2, 3, 4, 5, 0xff, 0xfe, 9, 8, 7, 0xff, 0xff, 0xff, 0xff, 0xf0]
            [..alone.block_bytes()];
        let encrypt = Direction::Encrypt;
        let passes: [(&str, Pass<'_>); 11] = [
            ("encryption", &|engine, data| engine.ecb(encrypt, data)),
            ("decryption", &|engine, data| engine.ecb(Direction::Decrypt, data)),
            ("CBC encryption", &|engine, data| engine.run(Operation::Cbc(encrypt, iv), data)),
            ("CFB encryption", &|engine, data| engine.run(Operation::Cfb(encrypt, iv), data)),
            ("OFB", &|engine, data| engine.run(Operation::Ofb(iv), data)),
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
    fn every_piece_is_run_once_and_an_error_ends_them() {
        let pool = pool(3);
        let numbers: Vec<u32> = (0..1003).collect();
        let run = |bad: usize| {
            let mut out = vec![0; numbers.len()];
            let result = pool.install(|| {
                let data = InOutBuf::new(&numbers, &mut out).expect("equally long");
                in_pieces(data, 4, |before, mut piece| {
                    assert_eq!(before, piece.get_in()[0] as usize);
                    let sums: Vec<u32> = piece.get_in().iter().map(|n| n + 7).collect();
                    piece.get_out().copy_from_slice(&sums);
                    if before == bad { Err(before) } else { Ok(()) }
                })
            });
            (result, out)
        };
        let (result, out) = run(usize::MAX);
        assert_eq!(result, Ok(()));
        assert!(out.iter().zip(&numbers).all(|(out, n)| *out == n + 7));
        for bad in [0, 4] {
            assert_eq!(run(bad).0, Err(bad));
        }
    }

    #[test]
    fn pieces_are_a_part_of_what_each_thread_has() {
        let pool = pool(3);
        // (units, units of a piece after the first, pieces of this length, units of the last)
        for (units, piece, pieces, last) in [(2, 1, 1, 0), (101, 8, 12, 4), (1001, 16, 62, 8)] {
            let lengths = Mutex::new(Vec::new());
            let mut data = vec![0_u32; 4 * units];
            let work = |before, piece: InOutBuf<'_, '_, u32>| {
                lengths.lock().expect("nothing panicked").push((before, piece.len()));
                Ok::<(), ()>(())
            };
            pool.install(|| in_pieces(data.as_mut_slice().into(), 4, work)).expect("no error");
            let mut lengths = lengths.into_inner().expect("nothing panicked");
            lengths.sort_unstable();
            let mut expected = [vec![4], vec![4 * piece; pieces], vec![4 * last]].concat();
            expected.retain(|length| *length > 0);
            assert_eq!(lengths.iter().map(|(_, length)| *length).collect::<Vec<_>>(), expected);
        }
        assert_eq!(Parallel::new(Twelve).piece_bytes(), 65_532, "5,461 blocks");
    }

    #[test]
    fn threads_take_pieces_at_the_same_time() {
        let pool = pool(3);
        let arrived = AtomicUsize::new(0);
        let work = |before, _: InOutBuf<'_, '_, u32>| {
            let start = Instant::now();
            arrived.fetch_add(usize::from(before > 0), Ordering::Relaxed);
            while before > 0 && arrived.load(Ordering::Relaxed) < 2 {
                if start.elapsed() > Duration::from_secs(60) {
                    return Err("one thread has all of them");
                }
                thread::yield_now();
            }
            Ok(())
        };
        let mut data = [0; 40];
        assert_eq!(pool.install(|| in_pieces(data.as_mut_slice().into(), 4, work)), Ok(()));
    }

    /// An engine that notes its calls, and the bytes of each.
    #[derive(Debug)]
    struct Watched {
        engine: Box<dyn Engine>,
        calls: Mutex<Vec<(&'static str, usize)>>,
    }

    impl Watched {
        fn note(&self, call: &'static str, bytes: usize) {
            self.calls.lock().expect("nothing panicked").push((call, bytes));
        }
    }

    impl Engine for Watched {
        fn block_bytes(&self) -> usize {
            self.engine.block_bytes()
        }

        fn chunk_bytes(&self) -> usize {
            48
        }

        fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
            self.note("run", data.len());
            self.engine.run(operation, data)
        }

        fn gcm(&self, pass: GcmPass<'_>, data: InOutBuf<'_, '_, u8>) -> Result<bool, Error> {
            self.note(if pass.whole.is_some() { "message" } else { "gcm" }, data.len());
            self.engine.gcm(pass, data)
        }

        fn chains_at_once(&self) -> usize {
            5
        }

        fn run_chains(&self, chains: Chains<'_, '_, '_>) -> Result<(), Error> {
            self.note("chains", chains.bytes.len());
            self.engine.run_chains(chains)
        }
    }

    #[test]
    fn long_calls_are_cut_and_others_are_the_engines() {
        const PIECE: usize = THREAD_PIECE_BYTES;
        let aes = crate::find_cipher("aes").expect("it is in the registry");
        let (engine, calls) = (aes.default_engine(&[7; 16]).expect("a good key"), Mutex::default());
        let parallel = Parallel::new(Watched { engine, calls });
        let pool = pool(3);
        let calls = |bytes: usize, run: &(dyn Fn(InOutBuf<'_, '_, u8>) + Sync)| {
            pool.install(|| run(vec![5; bytes].as_mut_slice().into()));
            std::mem::take(&mut *parallel.engine.calls.lock().expect("nothing panicked"))
        };
        let ecb = |data: InOutBuf<'_, '_, u8>| {
            parallel.ecb(Direction::Encrypt, data).expect("whole blocks");
        };
        assert_eq!(calls(2 * PIECE - 16, &ecb), [("run", 2 * PIECE - 16)]);
        assert_eq!(calls(2 * PIECE, &ecb), [("run", PIECE); 2]);
        let gcm = |data: InOutBuf<'_, '_, u8>| {
            let gcm = crate::Gcm::<_, (), ()>::of(&parallel).expect("16-byte blocks");
            gcm.encrypt(&[0; 12], b"", data, &mut [0; 16]).expect("a good length");
        };
        // A CPU without carry-less products has no pass that also hashes.
        let passes = if HashKey::new(&[0; 16]).is_some() { 5 } else { 0 };
        let is_whole = calls(48, &gcm).contains(&("message", 48));
        assert_eq!(is_whole, passes > 0, "with its tag");
        let mut cut = calls(5 * PIECE, &gcm);
        cut.retain(|(call, bytes)| *call == "gcm" && *bytes > 0);
        assert_eq!(cut, vec![("gcm", PIECE); passes]);
        let chains = |data: InOutBuf<'_, '_, u8>| {
            let chain = Chains {
                bytes: 0..data.len(),
                texts: &mut [data],
                registers: &mut [0; 16],
                mode: SerialMode::Cbc,
            };
            parallel.run_chains(chain).expect("whole blocks");
        };
        assert_eq!(calls(4 * PIECE, &chains), [("chains", 4 * PIECE)]);
        assert_eq!((parallel.chunk_bytes(), parallel.chains_at_once()), (48, 5));
        assert_eq!(format!("{:?}", Parallel::new(Twelve)), "Parallel(Twelve)");
    }

    #[test]
    fn bad_input_is_refused_as_alone() {
        let engine = Parallel::new(crate::engine("aes", "default", &[0; 16]).expect("a good key"));
        let mut data = vec![0; 2 * THREAD_PIECE_BYTES + 1];
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
