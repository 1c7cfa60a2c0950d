//! The table of `lanecrypt.cuh` inside kernels: `inside-figures.md`, which `inside.md` includes.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::{
    generated,
    record::{Record, grouped},
};

/// What a record has of it.
const FILE: &str = "inside.json";

#[derive(Deserialize)]
struct Figures {
    gpu: String,
    kernels: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    load: String,
    shared_bytes: u32,
    registers: u32,
    calls_per_second: f64,
    gbit_per_second: f64,
    roof: Option<f64>,
    bits_per_cycle: f64,
}

/// The part, of the newest record that has the figures.
///
/// # Errors
/// Where those cannot be read.
pub(crate) fn part(records: &[Record], source: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let found = records.iter().find(|record| record.folder.join(FILE).exists());
    let record = found.context("no record of lanecrypt.cuh inside kernels")?;
    let text = fs::read_to_string(record.folder.join(FILE))?;
    let figures: Figures = serde_json::from_str(&text).with_context(|| record.name.clone())?;
    let mut text = format!(
        "\n{}: {}.\n\n| kernel | load | registers | shared memory, KiB | 10<sup>9</sup> calls per second | Gbit/s | \
         of the roof | bits per cycle and multiprocessor |\n|---|---|---|---|---|---|---|---|\n",
        figures.gpu,
        record.short_link()
    );
    for row in &figures.kernels {
        let share = row.roof.map(|roof| format!("{:.0}%", 100.0 * row.gbit_per_second / roof));
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {:.1} | {} | {} | {:.1} |",
            row.name,
            row.load,
            row.registers,
            row.shared_bytes >> 10,
            row.calls_per_second / 1e9,
            grouped(row.gbit_per_second),
            share.unwrap_or_default(),
            row.bits_per_cycle
        );
    }
    let path = source.join("inside-figures.md");
    Ok(BTreeMap::from([(path, generated("benches/record", &text))]))
}
