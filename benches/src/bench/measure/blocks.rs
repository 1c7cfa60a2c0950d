//! The time of a call against its number of blocks: a user's short calls, through the default type.

use std::time::Duration;

use lanecrypt::registry::{Backend, CipherDescription, Create, Dispatch};
use lanecrypt_record::{Figure, Place, Work};

use super::{
    clock,
    keyed::Keyed,
    peers::baseline,
    runner::{Calls, Data, EngineRunner, expected, key},
};
use crate::bench::options::Options;

/// The id of the type that users name, as a backend and as a line of a picture.
pub(crate) const DEFAULT: &str = "default";

/// Numbers of blocks that are tried everywhere: powers of two, and those one and a half times as
/// large.
const LENGTHS: [usize; 22] =
    [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048];

/// Passes over all lengths, of which each length's fastest counts: one after the other, so that
/// what disturbs the machine for a while does not fall on one length alone.
const PASSES: usize = 41;
/// The same for `--quick`.
const QUICK_PASSES: usize = 9;
/// Calls are repeated for about this time before the clock is read.
const BATCH: Duration = Duration::from_micros(20);

/// Verifies and measures the chosen ciphers.
///
/// # Errors
/// A sentence naming what failed; wrong output is a failure.
pub(crate) fn measure(options: &Options) -> Result<Vec<Figure>, String> {
    if options.gpu_only {
        return Ok(Vec::new());
    }
    let passes = if options.quick { QUICK_PASSES } else { PASSES };
    let curves = options.ciphers().map(|cipher| curve(cipher, passes));
    Ok(curves.collect::<Result<Vec<_>, String>>()?.concat())
}

/// Measures one cipher: our default type, and the table code that it replaces where there is any.
fn curve(cipher: &'static CipherDescription, passes: usize) -> Result<Vec<Figure>, String> {
    let ours = default_backend(cipher)?;
    let engine = (ours.create)(&key(Work::EcbEncrypt, cipher.key_bytes[0]));
    let engine = engine.map_err(|error| error.to_string())?;
    let ways = ways(|blocks| engine.dispatch(blocks));
    let lengths = lengths(&ways);
    let theirs = baseline::of(cipher).map(|baseline| (baseline.name, baseline.create));
    let contenders: Vec<_> = std::iter::once((ours.id, ours.create)).chain(theirs).collect();
    let mut calls = Vec::new();
    for &(name, create) in &contenders {
        for &blocks in &lengths {
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
    let keyed = Keyed::new(cipher, cipher.key_bytes[0]);
    let figure = |i: usize, name: &str, call: &Call| {
        let way = ways.iter().rfind(|way| i == 0 && way.0 <= call.blocks);
        Figure {
            backend: name.to_owned(),
            count: call.blocks,
            way: way.map_or_else(String::new, |way| way.1.clone()),
            seconds: call.fastest,
            gigahertz: Some(gigahertz),
            is_peer: i > 0,
            ..keyed.figure(Work::EcbEncrypt, Place::Cpu, 0)
        }
    };
    let lines = calls.chunks(lengths.len()).zip(&contenders).enumerate();
    let of_line = |(i, (calls, &(name, _))): (usize, (&[Call], &(&str, Create)))| {
        calls.iter().map(|call| figure(i, name, call)).collect::<Vec<_>>()
    };
    Ok(lines.flat_map(of_line).collect())
}

/// The row of the type that a user names.
///
/// # Errors
/// A sentence, where a cipher has none.
fn default_backend(cipher: &CipherDescription) -> Result<&'static Backend, String> {
    cipher.backend(DEFAULT).ok_or_else(|| format!("{} has no backend {DEFAULT}", cipher.name))
}

/// The numbers of blocks, from 1 on, from which on a call is run another way, and which: what the
/// implementation says of itself, by the decisions that it runs.
fn ways(way: impl Fn(usize) -> Option<Dispatch>) -> Vec<(usize, String)> {
    let mut ways: Vec<(usize, Dispatch)> = Vec::new();
    for blocks in 1..=LENGTHS[LENGTHS.len() - 1] {
        if let Some(way) = way(blocks)
            && ways.last().is_none_or(|last| last.1 != way)
        {
            ways.push((blocks, way));
        }
    }
    ways.into_iter().map(|(blocks, way)| (blocks, way.to_string())).collect()
}

/// [`LENGTHS`], and those on either side of every switch.
fn lengths(ways: &[(usize, String)]) -> Vec<usize> {
    let round_switches = ways.iter().skip(1).flat_map(|&(blocks, _)| [blocks - 1, blocks]);
    let mut lengths: Vec<usize> = LENGTHS.into_iter().chain(round_switches).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// A call that is timed, keyed before.
struct Call {
    blocks: usize,
    calls: Calls,
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
        let calls = Calls::new(Box::new(runner), data, BATCH)?;
        Ok(Self { blocks, calls, fastest: f64::INFINITY })
    }

    /// Times one batch.
    fn pass(&mut self) -> Result<(), String> {
        self.fastest = self.fastest.min(self.calls.pass()?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt::CIPHERS;

    use super::*;

    #[test]
    fn every_cipher_has_a_default_type() {
        for cipher in CIPHERS {
            let backend = default_backend(cipher).expect("it has one");
            let engine = (backend.create)(&key(Work::EcbEncrypt, cipher.key_bytes[0]));
            let ways = ways(|blocks| engine.as_ref().ok()?.dispatch(blocks));
            assert_eq!(ways[0].0, 1, "{}: a single block is run somehow", cipher.name);
            for blocks in lengths(&ways) {
                // Its construction compares the output.
                Call::new(cipher, DEFAULT, backend.create, blocks).expect("it is right");
            }
        }
    }

    #[test]
    fn switches_are_where_the_way_changes_and_are_measured_on_either_side() {
        let ways = ways(|blocks| {
            Some(match blocks {
                ..5 => Dispatch::Short(4),
                5..200 => Dispatch::Batches(128),
                _ => Dispatch::Batches(256),
            })
        });
        let texts = ["4 at once", "batches of 128", "batches of 256"].map(str::to_owned);
        assert!(ways.iter().cloned().eq([1, 5, 200].into_iter().zip(texts)), "{ways:?}");
        let lengths = lengths(&ways);
        assert!([4, 5, 199, 200].iter().all(|blocks| lengths.contains(blocks)));
        assert!(lengths.is_sorted() && lengths.len() == LENGTHS.len() + 3, "{lengths:?}");
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
        let curve = curve(aria, QUICK_PASSES).expect("it is right");
        let names = lanecrypt_record::distinct(curve.iter().map(|figure| figure.backend.as_str()));
        assert_eq!(names, [DEFAULT, "RustCrypto aria + ctr"]);
        let lines = curve.chunk_by(|a, b| a.backend == b.backend);
        let lengths: Vec<Vec<usize>> =
            lines.clone().map(|line| line.iter().map(|point| point.count).collect()).collect();
        assert!(lengths[0].is_sorted() && lengths[0].len() > LENGTHS.len());
        assert_eq!(lengths[0], lengths[1]);
        for line in lines {
            let [first, .., last] = line else { panic!("there are points") };
            assert!(last.seconds > first.seconds && last.seconds.is_finite(), "{line:?}");
        }
    }
}
