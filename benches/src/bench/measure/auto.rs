//! Where a buffer finishes first: `lanecrypt::Auto` at sizes round every switch, and both places beside it.

use std::time::{Duration, Instant};

use lanecrypt::{
    AutoEngine, Engine,
    cuda::{Device, Family, kernels::Task},
    engine, fastest_family,
    tuning::{self, Place, Tuning},
};
use lanecrypt_record::{self as record, Figure, Step, Work};

use super::{
    keyed::Keyed,
    passes::{clocked, median},
};
use crate::bench::{
    options::Options,
    plan::{RunWork as _, fill, fits, iv},
};

/// Passes that the median is of: this many of each engine at least, and as many as end in [`TIME`].
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
    let Some(device) = options.device() else { return Ok(Vec::new()) };
    let tuning = tuning::load(&device);
    let mut data = vec![0; LONGEST];
    fill(&mut data);
    let mut run = Run { options, device, tuning: &tuning, data, rows: Vec::new() };
    for keyed in Keyed::chosen(options) {
        let family = fastest_family(keyed.cipher.name).map_err(|error| error.to_string())?;
        family.map_or(Ok(()), |family| run.measure(family, &keyed))?;
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
    fn measure(&mut self, family: &Family, keyed: &Keyed) -> Result<(), String> {
        let (cipher, key_bytes) = (keyed.cipher, keyed.key.len());
        let auto = AutoEngine::by_family_on(&self.device, family, self.tuning, &keyed.key);
        let auto = auto.map_err(|error| keyed.failed(error))?;
        let cpu = engine(cipher.name, "default", &keyed.key);
        let cpu = cpu.map_err(|error| keyed.failed(error))?;
        let modes = MODES.into_iter().filter(|&(work, _)| fits(work, cipher.block_bytes));
        for (work, task) in modes.filter(|&(work, _)| !self.options.quick || work == Work::Ctr) {
            let switches =
                self.tuning.crossovers.of(family, &self.device, task, key_bytes).at().to_vec();
            for bytes in self.options.sizes(&sizes(&switches), &sizes(&switches)) {
                let gpu = auto.on_device().ok_or("no GPU")?;
                let engines: [&dyn Engine; 3] = [&cpu, gpu, &auto];
                let seconds = self.seconds(keyed, &engines, work, bytes.min(LONGEST))?;
                let chosen = match auto.place(task, bytes) {
                    Place::Gpu => record::Place::EndToEnd,
                    Place::Cpu => record::Place::Cpu,
                };
                let steps = [
                    (Step::Cpu, record::Place::Cpu),
                    (Step::Gpu, record::Place::EndToEnd),
                    (Step::Auto, chosen),
                ];
                let figure = |((step, place), seconds)| {
                    let figure = keyed.figure(work, place, bytes);
                    Figure { step, switches: switches.clone(), seconds, ..figure }
                };
                self.rows.extend(steps.into_iter().zip(seconds).map(figure));
            }
        }
        Ok(())
    }

    /// Medians of each engine, in turn; what they make of the data is compared first. Before a pass that
    /// counts there is one that does not, and every other time the order is the reverse: where the data lies,
    /// in which core's cache, is then this engine's doing, and what is left of others' falls to all alike.
    fn seconds(
        &mut self,
        keyed: &Keyed,
        engines: &[&dyn Engine; 3],
        work: Work,
        bytes: usize,
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
                    clocked(|| {
                        let ran = work.run(*engine, *engine, &iv, data);
                        ran.map_err(|error| keyed.failed(error))
                    })
                };
                let before =
                    if pass == 0 { data[..WINDOW.min(bytes)].to_vec() } else { Vec::new() };
                run(data)?;
                if pass == 0 {
                    keyed.verify_piece(work, 0, &before, &data[..before.len()], false)?;
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

    #[test]
    #[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
    fn both_places_and_the_choice_are_timed() {
        let device = Device::on_host().expect("LANECRYPT_HOST_KERNELS names the library");
        let options = Options::parse_from(["bench-all", "--quick", "--auto", "--size", "4K"]);
        let tuning = tuning::load(&device);
        let mut data = vec![0; 4 << 10];
        fill(&mut data);
        let mut run = Run { options: &options, device, tuning: &tuning, data, rows: Vec::new() };
        let family = fastest_family("aes").expect("it is known").expect("it has kernels");
        run.measure(family, &Keyed::new(family.cipher(), 16)).expect("it is right");
        let steps: Vec<Step> = run.rows.iter().map(|figure| figure.step).collect();
        assert_eq!(steps, [Step::Cpu, Step::Gpu, Step::Auto]);
    }
}
