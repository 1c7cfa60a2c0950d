//! What takes long: many threads with keys of their own on one device, and engines that come and go. A
//! minute and 100,000 of them on a GPU; seconds and some thousand on the host build of the kernels.
//!
//! A program of its own, whose trials run one after the other: they read how much memory is in use.

#[allow(dead_code, unused_imports, reason = "other programs take more of it")]
mod common;

use std::{
    fmt::Display,
    process::ExitCode,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use common::{Outcome, Property, noise};
use lanecrypt::{
    CIPHERS, Counter, Direction, Engine as _, Gcm,
    aes::{self, cuda::Aes256},
    batch::{Job, JobMode},
    cipher::{Block, BlockCipherEncrypt},
    cuda::{
        CipherKernels, DataUnits, Device, DeviceBuffer, Engine, Error, Family, GcmEngine, Limits,
        Operation, PinnedBuffer, Stream, XtsEngine,
    },
    modes,
    registry::{CipherDescription, Platform},
};
use libtest_mimic::{Arguments, Failed};

/// A device, and how long it is kept busy.
#[derive(Clone, Copy)]
struct Case {
    open: fn() -> Result<Device, Error>,
    /// How long threads run.
    lasts: Duration,
    /// Bytes that each of them runs at once, about.
    bytes: usize,
    /// Engines that are made.
    engines: usize,
    /// After what it hangs.
    patience: Duration,
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let expected = common::expected();
    let minute = Duration::from_secs(60);
    let long = Case {
        open: Device::default,
        lasts: minute,
        bytes: 1 << 20,
        engines: 100_000,
        patience: 8 * minute,
    };
    let cases = [
        ("cuda", Platform::Cuda, long),
        #[cfg(feature = "host-kernels")]
        (
            "host",
            Platform::CudaOnHost,
            Case {
                open: Device::on_host,
                lasts: Duration::from_secs(2),
                bytes: 4 << 10,
                engines: 2_000,
                patience: 4 * minute,
            },
        ),
    ];
    let properties: [(&str, Property<Case>); 2] = [
        ("threads_with_keys_of_their_own", threads_with_keys_of_their_own),
        ("engines_come_and_go", engines_come_and_go),
    ];
    let mut trials = Vec::new();
    for (name, platform, case) in cases {
        let is_expected = CIPHERS.iter().any(|cipher| {
            let mut backends = cipher.backends.iter().filter(|b| b.platform == platform);
            backends.any(|backend| expected.contains(cipher, backend))
        });
        let reason = (case.open)().err();
        let reason = reason.as_ref().map(|reason| reason as &dyn Display);
        trials.extend(common::trials(name, reason, is_expected, case, &properties));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs `work` on a thread, and fails where it does not end: what waits for ever would hang the program.
fn watched(case: &Case, work: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
    let (sender, ended) = mpsc::channel();
    let thread = thread::spawn(move || {
        let outcome = work();
        sender.send(()).ok();
        outcome
    });
    let limit = case.lasts + case.patience;
    if ended.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
        return Err(format!("it hangs, or takes more than {} s", limit.as_secs()).into());
    }
    thread.join().map_err(|_| "a thread panicked")?
}

/// Threads on one device.
const THREADS: usize = 16;

/// Each with a key, engines and a stream of its own, in every way that there is; every result is checked.
fn threads_with_keys_of_their_own(case: &Case) -> Outcome {
    let case = *case;
    watched(&case, move || {
        let device = &(case.open)()?;
        thread::scope(|scope| {
            let start = |number| scope.spawn(move || Worker::new(device, number, case)?.work(case));
            let threads: Vec<_> = (0..THREADS).map(start).collect();
            threads.into_iter().enumerate().try_for_each(|(number, thread)| {
                let outcome = thread.join().map_err(|_| Failed::from("a thread panicked"))?;
                outcome.map_err(|error| format!("thread {number}: {}", text(&error)).into())
            })
        })
    })
}

fn text(failed: &Failed) -> &str {
    failed.message().unwrap_or("it failed")
}

/// The fastest kernels of every cipher, and constant-time ones.
fn families() -> Vec<&'static Family> {
    let kernels = CIPHERS.iter().filter_map(|cipher| CipherKernels::of(cipher));
    kernels.flat_map(|kernels| [kernels.fastest, kernels.constant_time]).collect()
}

/// Where a block begins that is an IV here, the counter of which wraps soon.
const IV: [u8; 16] = [9, 8, 7, 6, 5, 4, 3, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf0];
const UNITS: DataUnits = DataUnits { bytes: 520, first: 77 };

/// What a thread runs, and what comes out.
struct Worker {
    engine: Engine,
    stream: Stream,
    /// Operations with what goes in and what comes out.
    expected: Vec<(Operation<'static>, Vec<u8>, Vec<u8>)>,
    /// Of ciphers with blocks of 16 bytes.
    modes: Option<Modes>,
}

struct Modes {
    gcm: GcmEngine,
    xts: XtsEngine,
    plain: Vec<u8>,
    sealed: Vec<u8>,
    tag: [u8; 16],
    in_units: Vec<u8>,
}

fn on_cpu(cipher: &CipherDescription, key: &[u8]) -> Result<Box<dyn lanecrypt::Engine>, Failed> {
    let default = cipher.backend("default").ok_or("every cipher has a default")?;
    Ok((default.create)(key)?)
}

impl Worker {
    fn new(device: &Device, number: usize, case: Case) -> Result<Self, Failed> {
        let family = families()[number % families().len()];
        let cipher = family.cipher();
        let key_bytes = cipher.key_bytes[number % cipher.key_bytes.len()];
        let key = noise(key_bytes, 1000 + number as u64);
        let (cpu, iv) = (on_cpu(cipher, &key)?, &IV[16 - cipher.block_bytes..]);
        let mut expected = Vec::new();
        for (i, operation) in [
            Operation::Ecb(Direction::Encrypt),
            Operation::Ecb(Direction::Decrypt),
            Operation::Ctr(Counter::read(iv, cipher.block_bytes)?),
            Operation::Ctr32(Counter::read(iv, cipher.block_bytes)?),
            Operation::Cbc(Direction::Decrypt, iv),
            Operation::Cfb(Direction::Decrypt, iv),
        ]
        .into_iter()
        .enumerate()
        {
            let tail =
                if matches!(operation, Operation::Ctr(_) | Operation::Ctr32(_)) { 3 } else { 0 };
            let length = (case.bytes / (1 + (i + number) % 5)).next_multiple_of(16) - tail;
            let plain = noise(length, (100 * number + i) as u64);
            let mut made = plain.clone();
            let whole = made.as_mut_slice().into();
            cpu.run(operation, whole)?;
            expected.push((operation, plain, made));
        }
        let modes = (cipher.block_bytes == 16).then(|| Modes::new(device, family, &key, case));
        let engine = family.engine(device, &key)?;
        Ok(Self { engine, stream: Stream::new(device)?, expected, modes: modes.transpose()? })
    }

    /// Goes on until time is up, once at least.
    fn work(&self, case: Case) -> Outcome {
        let start = Instant::now();
        loop {
            for (operation, plain, expected) in &self.expected {
                let mut data = plain.clone();
                self.engine.run_host_memory(*operation, data.as_mut_slice().into())?;
                same(&data, expected, operation)?;
                let mut buffer = DeviceBuffer::from_host(self.engine.device(), plain)?;
                let mut whole = buffer.slice_mut(0..plain.len())?;
                self.engine.queue(&self.stream, *operation, &mut whole)?.wait()?;
                buffer.read(0, &mut data)?;
                same(&data, expected, operation)?;
            }
            self.modes.as_ref().map_or(Ok(()), Modes::work)?;
            if start.elapsed() > case.lasts {
                return Ok(());
            }
        }
    }
}

fn same(found: &[u8], expected: &[u8], what: &dyn std::fmt::Debug) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{what:?} gives wrong bytes").into()) }
}

impl Modes {
    fn new(device: &Device, family: &Family, key: &[u8], case: Case) -> Result<Self, Failed> {
        let (cipher, plain) = (family.cipher(), noise(case.bytes / 520 * 520, 5));
        let tweak_key = noise(key.len(), 6);
        let (mut sealed, mut in_units, mut tag) = (plain.clone(), plain.clone(), [0; 16]);
        Gcm::<_, (), ()>::of(on_cpu(cipher, key)?)?.encrypt(
            &IV,
            b"aad",
            sealed.as_mut_slice().into(),
            &mut tag,
        )?;
        modes::xts_units(
            &*on_cpu(cipher, key)?,
            &*on_cpu(cipher, &tweak_key)?,
            UNITS.first,
            UNITS.bytes,
            Direction::Encrypt,
            in_units.as_mut_slice().into(),
        )?;
        let gcm = family.gcm_engine(device, key)?;
        let xts = family.xts_engine(device, &[key, &tweak_key].concat())?;
        Ok(Self { gcm, xts, plain, sealed, tag, in_units })
    }

    fn work(&self) -> Outcome {
        let (mut data, mut tag) = (self.plain.clone(), [0; 16]);
        self.gcm.encrypt_host_memory(&IV, b"aad", data.as_mut_slice().into(), &mut tag)?;
        same(&data, &self.sealed, &"GCM")?;
        same(&tag, &self.tag, &"the tag of GCM")?;
        tag[3] ^= 1;
        let opened = self.gcm.decrypt_host_memory(&IV, b"aad", data.as_mut_slice().into(), &tag);
        let is_refused = matches!(opened, Err(Error::Data(lanecrypt::Error::NotAuthentic)));
        if !is_refused {
            return Err(format!("a wrong tag gives {opened:?}").into());
        }
        same(&data, &self.sealed, &"GCM with a wrong tag")?;
        self.gcm.decrypt_host_memory(&IV, b"aad", data.as_mut_slice().into(), &self.tag)?;
        same(&data, &self.plain, &"decryption in GCM")?;
        self.xts.run_host_memory(Direction::Encrypt, UNITS, data.as_mut_slice().into())?;
        same(&data, &self.in_units, &"XTS")
    }
}

/// Memory that is in use, or free.
#[derive(Debug)]
struct Reading {
    device_free: usize,
    pinned: usize,
    /// Of the process, where the system tells.
    resident: usize,
}

impl Reading {
    /// With nothing kept for later calls.
    fn of(device: &Device) -> Result<Self, Error> {
        device.limit_host_memory(Limits { threads: 2, pinned_bytes: 4 << 20 });
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
        Ok(Self {
            device_free: device.free_bytes()?,
            pinned: PinnedBuffer::bytes_of_all(),
            resident: pages.unwrap_or(0) * 4096,
        })
    }
}

/// Engines of all kinds, each of which does something; memory is read when the first ones have gone, and
/// when all have.
fn engines_come_and_go(case: &Case) -> Outcome {
    let case = *case;
    watched(&case, move || {
        let device = (case.open)()?;
        let mut before = Reading::of(&device)?;
        let first = case.engines / 4;
        for number in 0..first + case.engines {
            if number == first {
                before = Reading::of(&device)?;
            }
            come_and_go(&device, number).map_err(|e| format!("engine {number}: {}", text(&e)))?;
        }
        let after = Reading::of(&device)?;
        println!("{} engines: {before:?}, then {after:?}", case.engines);
        // Less than a byte in ten of what one of the smallest has.
        let room = (2 << 20) + 200 * case.engines;
        let is_kept = after.pinned == 0
            && after.device_free + room > before.device_free
            && after.resident < before.resident + room;
        if is_kept { Ok(()) } else { Err(format!("{before:?} became {after:?}").into()) }
    })
}

/// Makes something under a key of its own, runs a little with it, and drops it.
fn come_and_go(device: &Device, number: usize) -> Outcome {
    let key = &noise(64, number as u64);
    let family = &aes::cuda::FASTEST;
    let plain = noise(1040, 3);
    let mut data = plain.clone();
    let whole = data.as_mut_slice().into();
    let ctr = Operation::Ctr(IV.into());
    match number % 16 {
        0 => {
            let (gcm, mut tag) = (family.gcm_engine(device, &key[..32])?, [0; 16]);
            gcm.encrypt_host_memory(&IV, b"aad", whole, &mut tag)?;
            gcm.decrypt_host_memory(&IV, b"aad", data.as_mut_slice().into(), &tag)?;
            same(&data, &plain, &"GCM")?;
        }
        1 => {
            let xts = family.xts_engine(device, key)?;
            xts.run_host_memory(Direction::Encrypt, UNITS, whole)?;
        }
        2 => {
            let (engine, stream) = (family.engine(device, &key[..16])?, Stream::new(device)?);
            let mut buffer = DeviceBuffer::from_host(device, &plain)?;
            let mut slice = buffer.slice_mut(0..plain.len())?;
            drop(engine.queue(&stream, ctr, &mut slice)?);
        }
        3 => {
            let fleet = family.fleet(&[device.clone(), device.clone()], &key[..24])?;
            fleet.limit_range(512);
            assert!(fleet.run_host_memory(ctr, whole)?.dropped.is_empty());
        }
        4 => {
            let aes = Aes256::new(device, key[..32].try_into()?)?;
            let mut blocks = vec![Block::<Aes256>::default(); 65];
            aes.encrypt_blocks(&mut blocks);
            assert_eq!(aes.fallbacks(), 0);
        }
        5 => {
            let (mode, data) = (JobMode::Ctr { counter: &IV }, data.as_mut_slice().into());
            let job = Job { key: &key[..16], mode, data };
            let outcome = aes::cuda::BATCHES.run_host_memory(device, &mut [job])?;
            assert!(outcome.is_complete(), "{outcome}");
        }
        6 => {
            let mut pinned = PinnedBuffer::zeroed(device, plain.len())?;
            family.engine(device, &key[..16])?.run_host_memory(ctr, (&mut pinned[..]).into())?;
        }
        _ => {
            let engine = family.engine(device, &key[..16])?;
            engine.ctr(&IV, whole)?;
            on_cpu(&aes::AES, &key[..16])?.ctr(&IV, data.as_mut_slice().into())?;
            same(&data, &plain, &"CTR there and back")?;
        }
    }
    Ok(())
}
