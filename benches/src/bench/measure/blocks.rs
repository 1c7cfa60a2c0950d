//! The time of a call against its number of blocks: a user's short calls, through the default type.

use std::{iter, time::Duration};

use lanecrypt::registry::{Backend, CipherDescription, Dispatch};
use lanecrypt_record::{Figure, Place, Work};

use super::{
    cases::{Case, Contender},
    keyed::Keyed,
    peers::baseline,
    runner::Calls,
    verify::verify,
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
    let keyed = Keyed::new(cipher, cipher.key_bytes[0]);
    let engine = (ours.create)(&keyed.key).map_err(|error| keyed.failed(error))?;
    let ways = ways(|blocks| engine.dispatch(blocks));
    let theirs = baseline::of(cipher).map(Contender::Baseline);
    let contenders = iter::once(Contender::Backend(ours)).chain(theirs);
    let lengths = lengths(&ways);
    let cases = contenders.flat_map(|contender| lengths.iter().map(move |&n| (contender, n)));
    let call = |(contender, blocks)| Call::new(cipher, contender, blocks);
    let mut calls = cases.map(call).collect::<Result<Vec<Call>, String>>()?;
    let mut gigahertz: f64 = 0.0;
    for _ in 0..passes {
        gigahertz = gigahertz.max(lanecrypt_clock::gigahertz());
        for call in &mut calls {
            call.fastest = call.fastest.min(call.calls.pass()?);
        }
    }
    let figure = |call: &Call| {
        let is_peer = call.contender.is_peer();
        let way = ways.iter().rfind(|way| !is_peer && way.0 <= call.blocks);
        Figure {
            backend: call.contender.id().to_owned(),
            count: call.blocks,
            way: way.map_or_else(String::new, |way| way.1.clone()),
            seconds: call.fastest,
            gigahertz: Some(gigahertz),
            is_peer,
            ..keyed.figure(Work::EcbEncrypt, Place::Cpu, 0)
        }
    };
    Ok(calls.iter().map(figure).collect())
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
    contender: Contender,
    blocks: usize,
    calls: Calls,
    /// Seconds.
    fastest: f64,
}

impl Call {
    /// Compares its output first.
    fn new(
        cipher: &'static CipherDescription,
        contender: Contender,
        blocks: usize,
    ) -> Result<Self, String> {
        let (work, key_bytes) = (Work::EcbEncrypt, cipher.key_bytes[0]);
        let case = Case { cipher, key_bytes, contender, work, bytes: blocks * cipher.block_bytes };
        verify(&case)?;
        Ok(Self { contender, blocks, calls: case.calls(BATCH)?, fastest: f64::INFINITY })
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
            let engine = (backend.create)(&Keyed::new(cipher, cipher.key_bytes[0]).key);
            let ways = ways(|blocks| engine.as_ref().ok()?.dispatch(blocks));
            assert_eq!(ways[0].0, 1, "{}: a single block is run somehow", cipher.name);
            for blocks in lengths(&ways) {
                // Its construction compares the output.
                Call::new(cipher, Contender::Backend(backend), blocks).expect("it is right");
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
