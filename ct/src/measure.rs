//! `cargo xtask ct --measure`: run time itself, compared between secrets that stay and secrets that change.
//!
//! The method is that of dudect (Reparaz, Balasch, Verbauwhede: Dude, is my code constant time?, DATE 2017): a step runs
//! over inputs of two classes in random order, which are prepared before the first of them is timed, and Welch's test
//! compares the classes' times, all of them and those below some percentiles, where interrupts are left out.

mod gpu;
mod steps;
mod welch;

use anyhow::{Context, Result, ensure};
use lanecrypt::ConstantTime;
use lanecrypt_reference::vectors::PlaintextStream;
use rayon::prelude::*;

use self::{
    steps::Step,
    welch::{Classes, Times},
};
use crate::report::{Row, Verdict};

/// From here on, times of the classes differ.
const DIFFERS: f64 = 4.5;
/// What a step that leaks on purpose must show.
const CONTROL: f64 = 10.0;
/// The most times that it is measured.
const CONTROL_TIMES: usize = 1_000_000;

/// Where steps are measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Here, on this many cores at once.
    Cpu { cores: usize },
    /// On the GPU, one after another.
    Gpu,
}

/// Measures every step whose name contains `filter`, each as often as asked for, and the controls.
///
/// # Errors
/// Those of engines; a control that shows nothing.
pub(crate) fn rows(filter: &str, measurements: usize, place: Place) -> Result<Vec<Row>> {
    let (controls, steps, cores) = match place {
        Place::Cpu { cores } => (steps::controls(), steps::all(filter)?, cores),
        Place::Gpu => (gpu::controls()?, gpu::all(filter)?, 1),
    };
    let mut rows = Vec::new();
    for control in controls {
        let times = measurements.min(CONTROL_TIMES);
        let t = differences(&control, times)?;
        ensure!(t > CONTROL, "blind: {} leaks, and |t| is {t:.1} of {times}", control.name);
        rows.push(row(&control, t, times));
    }
    let measured = |step: &Step| {
        let mut t = differences(step, measurements)?;
        // Of some hundred steps, one may exceed the limit by chance; twice in a row, none does.
        if step.claim == ConstantTime::Yes && t >= DIFFERS {
            t = t.min(differences(step, measurements)?);
        }
        eprintln!("{}: |t| = {t:.2}", step.name);
        Ok(row(step, t, measurements))
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build()?;
    let measured: Result<Vec<Row>> = pool.install(|| steps.par_iter().map(measured).collect());
    rows.extend(measured?);
    Ok(rows)
}

fn row(step: &Step, t: f64, measurements: usize) -> Row {
    let verdict = match step.claim {
        ConstantTime::Yes if t < DIFFERS => Verdict::Holds,
        ConstantTime::Yes => Verdict::Wrong,
        ConstantTime::No(_) if t >= DIFFERS => Verdict::Trips,
        ConstantTime::No(_) => Verdict::Unseen,
    };
    let name = step.name.clone();
    let found = format!("|t| = {t:.2} over {measurements} times");
    Row { name, claim: step.claim, how: step.how, found, verdict, details: Vec::new() }
}

/// The greatest |t| of the classes' times.
fn differences(step: &Step, measurements: usize) -> Result<f64> {
    let at_once = step.at_once;
    let mut numbers = PlaintextStream::new(0x7e57);
    let mut fixed = vec![0; step.bytes];
    numbers.fill(&mut fixed);
    let mut inputs = vec![0; at_once * step.bytes];
    let mut classes = vec![0; at_once];
    let mut compared: Option<Classes> = None;
    let mut done = 0;
    while done < measurements {
        numbers.fill(&mut classes);
        for (class, input) in classes.iter_mut().zip(inputs.chunks_exact_mut(step.bytes)) {
            *class &= 1;
            // Both are written alike, whatever is written.
            numbers.fill(input);
            if *class == 0 {
                (step.fix)(&fixed, input);
            }
        }
        let times = (step.time)(&mut inputs).with_context(|| step.name.clone())?;
        let times = classes.iter().zip(times).filter_map(|(&class, time)| Some((class, time?)));
        let times: Times = times.collect();
        // Those of the first inputs, when nothing is in a cache yet, say where the percentiles are.
        match &mut compared {
            None => compared = Some(Classes::with_limits_of(&times)),
            Some(classes) => classes.add(&times),
        }
        done += at_once;
    }
    Ok(compared.map_or(0.0, |classes| classes.greatest()))
}
