//! The time of a call against its number of blocks: a user's short calls, through the default type.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use lanecrypt::{
    CipherDescription, CpuEngine, Create, Engine, Error, aes, aria, camellia,
    cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit},
    des, hight, seed,
};

use super::{
    baseline, clock,
    plan::{Options, Work},
    record::{BlockCurve, BlockLine},
    runner::{Data, EngineRunner, Runner, expected},
};

/// The id of a cipher's default type, as a backend and as a line of a picture.
pub(super) const DEFAULT: &str = "default";

/// Numbers of blocks that are tried: powers of two, and those one and a half times as large.
const LENGTHS: [usize; 22] =
    [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048];

/// Passes over all lengths, of which each length's fastest counts: one after the other, so that
/// what disturbs the machine for a while does not fall on one length alone.
const PASSES: usize = 41;
/// The same for `--quick`.
const QUICK_PASSES: usize = 9;
/// Calls are repeated for so long before the clock is read.
const BATCH: Duration = Duration::from_micros(20);

/// Verifies and measures the chosen ciphers.
///
/// # Errors
/// A sentence naming what failed; wrong output is a failure.
pub(super) fn measure(options: &Options) -> Result<Vec<BlockCurve>, String> {
    if options.gpu_only {
        return Ok(Vec::new());
    }
    let passes = if options.quick { QUICK_PASSES } else { PASSES };
    options.ciphers().map(|cipher| curve(cipher, passes)).collect()
}

/// Measures one cipher.
fn curve(cipher: &'static CipherDescription, passes: usize) -> Result<BlockCurve, String> {
    let theirs = baseline::of(cipher).map(|baseline| (baseline.name, baseline.create));
    let ours = default_type(cipher).map(|create| (DEFAULT, create));
    let contenders: Vec<_> = ours.into_iter().chain(theirs).collect();
    let mut calls = Vec::new();
    for &(name, create) in &contenders {
        for blocks in LENGTHS {
            calls.push(Call::new(cipher, name, create, blocks)?);
        }
    }
    let mut gigahertz: f64 = 0.0;
    for _ in 0..passes {
        gigahertz = gigahertz.max(clock::gigahertz());
        for call in &mut calls {
            call.pass()?;
        }
    }
    let line = |(calls, &(name, _)): (&[Call], &(&str, Create))| BlockLine {
        name: name.to_owned(),
        points: calls.iter().map(|call| (call.blocks, call.fastest * 1e9)).collect(),
    };
    Ok(BlockCurve {
        cipher: cipher.name.to_owned(),
        key_bits: 8 * cipher.key_bytes[0],
        gigahertz,
        switches: switches(cipher).to_vec(),
        lines: calls.chunks(LENGTHS.len()).zip(&contenders).map(line).collect(),
    })
}

/// The numbers of blocks from which on the default type takes a wider form: the registry does not
/// say yet.
fn switches(_cipher: &CipherDescription) -> &'static [usize] {
    &[]
}

/// The type that a user names, under the cipher's shortest key: the registry's [`DEFAULT`], or
/// where that has none the type itself.
fn default_type(cipher: &CipherDescription) -> Option<Create> {
    let registered = cipher.backends.iter().find(|backend| backend.id == DEFAULT);
    let of_name = || -> Option<Create> {
        Some(match cipher.name {
            "aes" => |key| keyed::<aes::Aes128>(&aes::AES, key),
            "aria" => |key| keyed::<aria::Aria128>(&aria::ARIA, key),
            "camellia" => |key| keyed::<camellia::Camellia128>(&camellia::CAMELLIA, key),
            "des" => |key| keyed::<des::Des>(&des::DES, key),
            "tdes" => |key| keyed::<des::TdesEde2>(&des::TDES, key),
            "tdes-eee" => |key| keyed::<des::TdesEee2>(&des::TDES_EEE, key),
            "hight" => |key| keyed::<hight::Hight>(&hight::HIGHT, key),
            "hight-kisa" => |key| keyed::<hight::HightKisa>(&hight::HIGHT_KISA, key),
            "seed" => |key| keyed::<seed::Seed128>(&seed::SEED, key),
            _ => return None,
        })
    };
    registered.map(|backend| backend.create).or_else(of_name)
}

/// An engine of a type whose key has the cipher's shortest length.
fn keyed<C>(cipher: &CipherDescription, key: &[u8]) -> Result<Box<dyn Engine>, Error>
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt,
    C: std::fmt::Debug + Send + Sync + 'static,
{
    let wrong =
        |_| Error::KeyLength { cipher: cipher.name, given: key.len(), accepted: cipher.key_bytes };
    let cipher = C::new_from_slice(key).map_err(wrong)?;
    Ok(Box::new(CpuEngine::new(cipher)))
}

/// A call that is timed, keyed before.
struct Call {
    blocks: usize,
    runner: EngineRunner,
    data: Data,
    /// Calls that take about [`BATCH`].
    repeats: u32,
    /// Seconds.
    fastest: f64,
}

impl Call {
    /// Keys it and compares its output with the reference's.
    fn new(
        cipher: &'static CipherDescription,
        name: &str,
        create: Create,
        blocks: usize,
    ) -> Result<Self, String> {
        let (work, key_bytes) = (Work::EcbEncrypt, cipher.key_bytes[0]);
        let bytes = blocks * cipher.block_bytes;
        let runner = EngineRunner::new(create, work, key_bytes);
        let mut runner = runner.map_err(|error| error.to_string())?;
        let mut data = Data::new(bytes, cipher.block_bytes);
        data.run(&mut runner)?;
        let reference = cipher.backends[0].create;
        if data.output() != expected(cipher, reference, work, key_bytes, bytes)?.output() {
            let cipher = cipher.name;
            return Err(format!("{cipher}/{name}: {blocks} blocks are wrong; nothing is timed"));
        }
        let mut call = Self { blocks, runner, data, repeats: 1, fastest: f64::INFINITY };
        while call.batch()? < BATCH && call.repeats < 1 << 20 {
            call.repeats *= 2;
        }
        Ok(call)
    }

    /// Times one batch.
    fn pass(&mut self) -> Result<(), String> {
        let seconds = self.batch()?.as_secs_f64() / f64::from(self.repeats);
        self.fastest = self.fastest.min(seconds);
        Ok(())
    }

    fn batch(&mut self) -> Result<Duration, String> {
        let runner: &mut dyn Runner = &mut self.runner;
        let start = Instant::now();
        for _ in 0..self.repeats {
            black_box(&mut self.data).run(runner)?;
        }
        Ok(start.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt::CIPHERS;

    use super::*;

    #[test]
    fn every_cipher_has_a_default_type() {
        for cipher in CIPHERS {
            let create = default_type(cipher).unwrap_or_else(|| panic!("{} has none", cipher.name));
            // Its construction compares the output.
            Call::new(cipher, DEFAULT, create, 3).expect("it is right");
            assert!(create(&[0; 5]).is_err());
        }
    }

    #[test]
    fn wrong_output_is_not_timed() {
        let [aria, camellia] = ["aria", "camellia"]
            .map(|name| lanecrypt::find_cipher(name).expect("it is in the registry"));
        let wrong = Call::new(aria, "wrong", camellia.backends[0].create, 1);
        assert!(wrong.err().expect("it is wrong").contains("aria/wrong"));
    }

    #[test]
    fn a_curve_has_every_length_of_ours_and_theirs() {
        let aria = lanecrypt::find_cipher("aria").expect("it is in the registry");
        let curve = curve(aria, 1).expect("it is right");
        let names: Vec<&str> = curve.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, [DEFAULT, "RustCrypto aria + ctr"]);
        for line in &curve.lines {
            assert!(line.points.iter().map(|point| point.0).eq(LENGTHS));
            let [first, .., last] = &line.points[..] else { panic!("there are points") };
            assert!(last.1 > first.1 && last.1.is_finite(), "{line:?}");
        }
    }
}
