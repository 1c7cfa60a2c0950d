//! What a contender does over and over while it is timed.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use lanecrypt::{
    Engine, Error, Gcm,
    registry::{CipherDescription, Create},
};
use lanecrypt_record::Work;

use crate::bench::plan::{self, RunWork as _, iv, noise, seal};

/// A keyed implementation of one mode.
pub(crate) trait Runner {
    /// Runs the mode with this IV, counter or tweak over `input`, or in place over the start of
    /// `output`, whichever this implementation does best. `output` starts as a copy of `input` and
    /// is [`ROOM`] bytes longer.
    ///
    /// # Errors
    /// A sentence of the implementation.
    fn run(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String>;
}

/// Bytes of output beyond the input, because OpenSSL's safe interface asks for one more block.
const ROOM: usize = 16;

/// Data to run over.
pub(crate) struct Data {
    input: &'static [u8],
    output: Vec<u8>,
    iv: Vec<u8>,
}

impl Data {
    /// This many bytes for a cipher with blocks of `block_bytes`.
    pub(crate) fn new(bytes: usize, block_bytes: usize) -> Self {
        let input = noise(bytes);
        let mut output = input.to_vec();
        output.resize(bytes + ROOM, 0);
        Self { input, output, iv: iv(block_bytes) }
    }

    /// Runs over it once.
    ///
    /// # Errors
    /// The runner's.
    pub(crate) fn run(&mut self, runner: &mut dyn Runner) -> Result<(), String> {
        runner.run(&self.iv, self.input, &mut self.output)
    }

    /// What the last run made of it.
    pub(crate) fn output(&self) -> &[u8] {
        &self.output[..self.input.len()]
    }
}

/// Calls of a runner, one after the other, as many as the clock needs to tell their time.
pub(crate) struct Calls {
    runner: Box<dyn Runner>,
    data: Data,
    repeats: u32,
}

impl Calls {
    /// As many as take about as long as a pass should.
    ///
    /// # Errors
    /// The runner's.
    pub(crate) fn new(runner: Box<dyn Runner>, data: Data, pass: Duration) -> Result<Self, String> {
        let mut calls = Self { runner, data, repeats: 1 };
        loop {
            let taken = calls.batch()?.as_nanos().max(1);
            let wanted = pass.as_nanos() * u128::from(calls.repeats) / taken;
            if wanted < 2 * u128::from(calls.repeats) || calls.repeats > u32::MAX / 4 {
                calls.repeats = (wanted as u32).clamp(1, 2 * calls.repeats);
                return Ok(calls);
            }
            calls.repeats *= 2;
        }
    }

    /// Seconds of a call, in one pass.
    ///
    /// # Errors
    /// The runner's.
    pub(crate) fn pass(&mut self) -> Result<f64, String> {
        Ok(self.batch()?.as_secs_f64() / f64::from(self.repeats))
    }

    fn batch(&mut self) -> Result<Duration, String> {
        let start = Instant::now();
        for _ in 0..self.repeats {
            black_box(&mut self.data).run(&mut *self.runner)?;
        }
        Ok(start.elapsed())
    }
}

/// The key of a mode: XTS takes two, in one.
#[must_use]
pub(crate) fn key(work: Work, key_bytes: usize) -> Vec<u8> {
    plan::key(if work == Work::XtsEncrypt { 2 * key_bytes } else { key_bytes })
}

/// An engine, with the modes that this project has.
#[derive(Debug)]
pub(crate) struct EngineRunner {
    work: Work,
    engine: Box<dyn Engine>,
    tweak_engine: Option<Box<dyn Engine>>,
    /// In GCM, which keeps more of a key than its engine does.
    gcm: Option<Gcm<Box<dyn Engine>>>,
}

impl EngineRunner {
    /// Makes the engines of a mode.
    ///
    /// # Errors
    /// Those of the engine.
    pub(crate) fn new(create: Create, work: Work, key_bytes: usize) -> Result<Self, Error> {
        let key = key(work, key_bytes);
        let (data_key, tweak_key) = key.split_at(key_bytes);
        let tweak_engine = (!tweak_key.is_empty()).then(|| create(tweak_key)).transpose()?;
        let gcm = (work == Work::GcmEncrypt).then(|| Gcm::of(create(data_key)?)).transpose()?;
        Ok(Self { work, engine: create(data_key)?, tweak_engine, gcm })
    }
}

impl Runner for EngineRunner {
    fn run(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
        let tweak_engine = self.tweak_engine.as_ref().unwrap_or(&self.engine);
        let output = &mut output[..input.len()];
        let ran = match &self.gcm {
            Some(gcm) => seal(gcm, iv, output),
            None => self.work.run(&*self.engine, &**tweak_engine, iv, output),
        };
        ran.map_err(|error| error.to_string())
    }
}

/// What a mode makes of this many bytes on this backend, for comparison.
///
/// # Errors
/// Those of the engine and the mode, as a sentence.
pub(crate) fn expected(
    cipher: &CipherDescription,
    create: Create,
    work: Work,
    key_bytes: usize,
    bytes: usize,
) -> Result<Data, String> {
    let runner = EngineRunner::new(create, work, key_bytes);
    let mut runner = runner.map_err(|error| error.to_string())?;
    let mut data = Data::new(bytes, cipher.block_bytes);
    data.run(&mut runner)?;
    Ok(data)
}
