//! Where a buffer finishes first: `lanecrypt::Auto` at sizes round every switch, and both places beside it.

use std::{
    fmt::Display,
    time::{Duration, Instant},
};

use lanecrypt::{
    AutoEngine, Engine,
    cuda::{Device, Family, kernels::Task},
    engine, fastest_family,
    tuning::{self, Place, Tuning},
};
use lanecrypt_record::{self as record, Figure, Step, Work};

use super::{
    sample::median,
    verify::{iv, verify_piece},
};
use crate::bench::{
    options::Options,
    plan::{RunWork as _, fits, key, noise},
};

/// Passes that the median is of: so many of each engine at least, and as many as end in [`TIME`].
const SAMPLES: std::ops::RangeInclusive<usize> = 11..=101;
/// How long the passes of the three engines take together, but for [`SAMPLES`].
const TIME: Duration = Duration::from_millis(100);
/// Sizes where nothing is switched.
const WITHOUT_SWITCH: [usize; 2] = [64 << 10, 64 << 20];
/// The longest, whatever is switched there.
const LONGEST: usize = 1 << 30;
/// Bytes that are compared with a CPU.
const WINDOW: usize = 1 << 20;

/// The modes, and the kernels that choices are recorded for.
const MODES: [(Work, Task); 5] = [
    (Work::EcbEncrypt, Task::EcbEncrypt),
    (Work::EcbDecrypt, Task::EcbDecrypt),
    (Work::Ctr, Task::Ctr),
    (Work::CbcDecrypt, Task::CbcDecrypt),
    (Work::XtsEncrypt, Task::XtsEncrypt),
];

/// Measures the chosen ciphers; a quick run takes CTR under the shortest key.
///
/// # Errors
/// A sentence naming what failed; wrong output is a failure.
pub(crate) fn measure(options: &Options) -> Result<Vec<Figure>, String> {
    let Ok(device) = Device::default() else { return Ok(Vec::new()) };
    if options.cpu_only {
        return Ok(Vec::new());
    }
    let tuning = tuning::load(&device);
    let (mut data, noise) = (vec![0; LONGEST], noise(64 << 20));
    data.chunks_mut(noise.len()).for_each(|piece| piece.copy_from_slice(&noise[..piece.len()]));
    let mut run = Run { options, device, tuning: &tuning, data, rows: Vec::new() };
    for cipher in options.ciphers() {
        let Some(family) = fastest_family(cipher.name).map_err(|error| error.to_string())? else {
            continue;
        };
        for key_bytes in options.key_bytes(cipher) {
            run.measure(family, *key_bytes)?;
        }
    }
    Ok(run.rows)
}

struct Run<'a> {
    options: &'a Options,
    device: Device,
    tuning: &'a Tuning,
    data: Vec<u8>,
    rows: Vec<Figure>,
}

impl Run<'_> {
    fn measure(&mut self, family: &Family, key_bytes: usize) -> Result<(), String> {
        let cipher = family.cipher();
        let key = key(key_bytes);
        let named = |error: &dyn Display| format!("{}: {error}", cipher.name);
        let auto = AutoEngine::by_family_on(&self.device, family, self.tuning, &key);
        let auto = auto.map_err(|error| named(&error))?;
        let cpu = engine(cipher.name, "default", &key).map_err(|error| named(&error))?;
        let modes = MODES.into_iter().filter(|&(work, _)| fits(work, cipher.block_bytes));
        for (work, task) in modes.filter(|&(work, _)| !self.options.quick || work == Work::Ctr) {
            let switches =
                self.tuning.crossovers.of(family, &self.device, task, key_bytes).at().to_vec();
            for bytes in self.options.sizes(&sizes(&switches), &sizes(&switches)) {
                let gpu = auto.on_device().ok_or("no GPU")?;
                let engines: [&dyn Engine; 3] = [&cpu, gpu, &auto];
                let failed =
                    |what: String| format!("{}-{} {work}: {what}", cipher.name, 8 * key_bytes);
                let [cpu_seconds, gpu_seconds, auto_seconds] = self
                    .seconds(&engines, work, bytes.min(LONGEST), |input, output| {
                        verify_piece(cipher, &key, work, 0, input, output, false)
                    })
                    .map_err(failed)?;
                let chosen = match auto.place(task, bytes) {
                    Place::Gpu => record::Place::EndToEnd,
                    Place::Cpu => record::Place::Cpu,
                };
                let steps = [
                    (Step::Cpu, record::Place::Cpu, cpu_seconds),
                    (Step::Gpu, record::Place::EndToEnd, gpu_seconds),
                    (Step::Auto, chosen, auto_seconds),
                ];
                self.rows.extend(steps.map(|(step, place, seconds)| Figure {
                    cipher: cipher.name.to_owned(),
                    key_bits: 8 * key_bytes,
                    work,
                    place,
                    step,
                    switches: switches.clone(),
                    bytes,
                    seconds,
                    ..Figure::default()
                }));
            }
        }
        Ok(())
    }

    /// Medians of each engine, in turn; what they make of the data is compared first. Before a pass that
    /// counts there is one that does not, and every other time the order is the reverse: where the data lies,
    /// in which core's cache, is then this engine's doing, and what is left of others' falls to all alike.
    fn seconds(
        &mut self,
        engines: &[&dyn Engine; 3],
        work: Work,
        bytes: usize,
        verify: impl Fn(&[u8], &[u8]) -> Result<(), String>,
    ) -> Result<[f64; 3], String> {
        let data = &mut self.data[..bytes];
        let mut seconds = [const { Vec::new() }; 3];
        let start = Instant::now();
        for pass in 0..=*SAMPLES.end() {
            if pass > *SAMPLES.start() && start.elapsed() > TIME {
                break;
            }
            let mut turns: Vec<_> = engines.iter().zip(&mut seconds).collect();
            if pass % 2 == 1 {
                turns.reverse();
            }
            for (engine, seconds) in turns {
                let iv = iv(engine.block_bytes());
                let run = |data: &mut [u8]| {
                    let start = Instant::now();
                    let ran = work.run(*engine, *engine, &iv, data);
                    let time = start.elapsed().as_secs_f64();
                    ran.map(|()| time).map_err(|error| error.to_string())
                };
                let before =
                    if pass == 0 { data[..WINDOW.min(bytes)].to_vec() } else { Vec::new() };
                run(data)?;
                if pass == 0 {
                    verify(&before, &data[..before.len()])?;
                } else {
                    seconds.push(run(data)?);
                }
            }
        }
        Ok(seconds.map(median))
    }
}

/// Sizes on both sides of every switch.
fn sizes(switches: &[u64]) -> Vec<usize> {
    if switches.is_empty() {
        return WITHOUT_SWITCH.to_vec();
    }
    let near = |&at: &u64| [at / 2, at / 10 * 9, at / 10 * 11, at * 2];
    let near = switches.iter().flat_map(near).map(|bytes| bytes as usize / 16 * 16);
    let mut sizes: Vec<usize> = near.map(|bytes| bytes.clamp(64, LONGEST)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_every_switch_are_measured() {
        assert_eq!(sizes(&[]), WITHOUT_SWITCH);
        assert_eq!(sizes(&[1600]), [800, 1440, 1760, 3200]);
        assert_eq!(sizes(&[0]), [64]);
        assert!(sizes(&[1600, 1 << 40]).iter().all(|&bytes| bytes <= LONGEST));
    }
}
