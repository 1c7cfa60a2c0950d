//! No recorded figure is above its roof.

use std::{fs, path::Path};

use lanecrypt_record::{Environment, Figure, Part, Place, Record, roof};

/// How much faster than it is said to be a GPU's clock may be.
const CLOCK: f64 = 1.02;
/// The same of a core: its clock is measured before a figure, and those of the recorded ones move by steps of 100 MHz
/// between 2.6 and 2.9 GHz, two of them at most from one figure to the next.
const CORE_CLOCK: f64 = 1.08;

/// The parts whose figures are of one kernel or one core, each by its backend.
const PARTS: [Part; 4] =
    [Part::Measurements, Part::ThreadBlocks, Part::BlockSizes, Part::BlockCurves];

fn records() -> impl Iterator<Item = (String, Record)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record");
    let folders = fs::read_dir(folder).expect("records").map(|entry| entry.expect("a folder"));
    folders.filter_map(|entry| {
        let text = fs::read_to_string(entry.path().join("report.json")).ok()?;
        let name = entry.file_name().to_string_lossy().into_owned();
        Some((name, serde_json::from_str(&text).expect("a record")))
    })
}

/// What a figure reached of its roof or bound, where that is known.
fn reached(figure: &Figure, environment: &Environment) -> Option<f64> {
    match figure.place {
        Place::Cpu => roof::of_core(figure, environment),
        _ => roof::Roof::of(figure, environment.gpu_details.as_ref()).map(|roof| roof.reached),
    }
}

#[test]
fn no_figure_is_above_its_roof() {
    let mut counted = 0;
    let mut above = Vec::new();
    for (name, record) in records() {
        for figure in PARTS.iter().flat_map(|part| record.part(*part)).filter(|f| !f.is_peer) {
            let Some(reached) = reached(figure, &record.environment) else { continue };
            counted += 1;
            if reached > if figure.place == Place::Cpu { CORE_CLOCK } else { CLOCK } {
                above.push(format!("{name}: {reached:.3} {figure:?}"));
            }
        }
    }
    assert!(above.is_empty(), "{} of {counted}:\n{}", above.len(), above.join("\n"));
    assert!(counted > 1_000, "{counted}");
}
