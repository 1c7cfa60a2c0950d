//! Rates of a multiprocessor's pipes: `cargo xtask rates` compiles the kernels in `kernels/rates`, counts what a step takes of
//! the pipes, and hands all to the program `rates` of `benches/ladder`.

use std::{fs, path::PathBuf};

use anyhow::Result;
use lanecrypt_cuda::compiler::ON_DEVICE;
use lanecrypt_roof::Lanes;

use crate::{
    command::{command, empty, root, run, target},
    listings::{self, Listing, Listings},
    sources::generated::{self, Mode},
};

/// Where the kernels are.
const KERNELS: &str = "kernels/rates";
/// What was counted, for the book.
const COUNTED_FILE: &str = "kernels/rates/counted.csv";
/// Its first line.
const HEADER: &str = "kernel,title,shared,alu,multiplier,all";
/// Blocks over which a thread is counted: some for each thread of a thread block.
const BLOCKS: u64 = 4096;

/// Builds the kernels and runs them.
pub(crate) fn run_task(options: &[String]) -> Result<()> {
    if !listings::is_help(options) {
        build(Mode::Write)?;
    }
    run(command(listings::program("rates")?).arg(folder()).args(options))
}

/// Checks that every kernel compiles, and that its steps take what is written of them.
pub(crate) fn check() -> Result<()> {
    build(Mode::Check)
}

/// Builds the kernels and the runner, without its symbols, into one folder.
pub(crate) fn pack() -> Result<()> {
    build(Mode::Write)?;
    let folder = folder();
    listings::pack("rates", &folder)?;
    println!("{}: copy it to the machine and run `./rates .` there", folder.display());
    Ok(())
}

fn folder() -> PathBuf {
    target().join("rates")
}

fn build(mode: Mode) -> Result<()> {
    let folder = folder();
    empty(folder.clone())?;
    let listings = Listings {
        folder: KERNELS,
        includes: root().join(KERNELS),
        includes_on_host: None,
        options: &[ON_DEVICE],
    };
    let known = listings.compile(&listings.read()?, &folder, |kernel, ptx| {
        let steps = kernel.number_of("steps")?;
        let lanes = kernel.lanes_of(ptx, 0, (BLOCKS, [0, 1, 0]))?;
        let lanes = lanes.map(|lanes| lanes / f64::from(steps));
        let mut json = kernel.json(Some(lanes));
        json["steps"] = steps.into();
        Ok((json, counted(kernel, lanes)))
    })?;
    let (known, counted): (Vec<_>, Vec<_>) = known.into_iter().unzip();
    let counted = format!("{HEADER}\n{}", counted.concat());
    let counted = [(COUNTED_FILE.to_owned(), counted.into_bytes())];
    generated::ensure(&counted, mode, "cargo xtask rates")?;
    fs::write(folder.join("rates.json"), serde_json::to_string_pretty(&known)? + "\n")?;
    Ok(())
}

/// A kernel's line of what was counted: its title has no comma where a semicolon serves.
fn counted(kernel: &Listing, [shared, alu, multiplier, all]: Lanes) -> String {
    let title = kernel.title().replace(", ", "; ");
    format!("{},{title},{shared:.3},{alu:.3},{multiplier:.3},{all:.3}\n", kernel.name)
}

#[cfg(test)]
mod tests {
    use lanecrypt_roof::clocks;

    use super::*;

    /// The rule of the ledger against a GPU: nothing is faster than it says, and a pipe by itself is as fast.
    #[test]
    fn recorded_rates_are_what_the_ledger_says() {
        let counted = fs::read_to_string(root().join(COUNTED_FILE)).expect("it is committed");
        let roof = |name: &str| {
            let line = counted.lines().find_map(|line| line.strip_prefix(&format!("{name},")));
            let lanes = line.expect(name).split(',').skip(1).map(str::parse);
            let lanes = lanes.collect::<Result<Vec<f64>, _>>().expect("numbers");
            1.0 / clocks(&lanes.try_into().expect("four pipes"))
        };
        let records = fs::read_dir(root().join("benches/record")).expect("records");
        let paths = records.map(|record| record.expect("a record").path().join("rates.json"));
        let mut compared = 0;
        for path in paths.filter(|path| path.exists()) {
            let text = fs::read_to_string(&path).expect("it can be read");
            let record: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            for rate in record["rates"].as_array().expect("rates") {
                let name = rate["name"].as_str().expect("a name");
                let reached = rate["steps_per_clock"].as_f64().expect("a rate") / roof(name);
                // Conflicts of banks, and of registers' ports, are none of the ledger's.
                let has_conflicts =
                    name.ends_with("-in-one-copy") || name.ends_with("-of-registers");
                let least = if has_conflicts { 0.0 } else { 0.93 };
                assert!((least..1.02).contains(&reached), "{name}: {reached:.3} of the ledger's");
                compared += 1;
            }
        }
        assert!(compared > 10, "{compared} rates");
    }
}
