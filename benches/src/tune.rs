//! The program `tune`: `lanecrypt::tuning` on the command line.

use std::{
    collections::BTreeMap, error::Error, fs, path::PathBuf, process::ExitCode, sync::Arc,
    time::Duration,
};

use clap::Parser;
use comfy_table::{CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use lanecrypt::{
    cuda::{Device, Experience, Measured},
    tuning::{self, Folder, Ignored, Options, Report, Tuned, is_users_kernel},
};
use serde_json::{Value, json};

use crate::size::{parse_bytes, size_name};

/// Measures the fastest kernel launches, host-memory pieces, and place (CPU or GPU) for each buffer size on
/// this machine, and keeps them as experience data in your cache folder. Run nothing else meanwhile.
///
/// Earlier results for ciphers that are not named are kept.
///
/// Example: tune --cipher aria --launches
#[derive(Clone, Debug, Parser)]
#[command(name = "tune", verbatim_doc_comment)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Arguments {
    /// Measures only this cipher; may be repeated.
    #[arg(long, value_name = "NAME")]
    cipher: Vec<String>,
    /// Measures only this size, in bytes or with K, M, G; may be repeated [default: 64 B to 1 GiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    size: Vec<usize>,
    /// Minimum microseconds to measure each point for.
    #[arg(long, default_value_t = 1000)]
    time: u64,
    /// Only launches of kernels over resident data.
    #[arg(long, conflicts_with = "host_memory")]
    launches: bool,
    /// Only host memory: its pieces, and whether the CPU or the GPU is faster.
    #[arg(long)]
    host_memory: bool,
    /// Prints the results as JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Runs the kernels on this CPU instead of a GPU, to try the program; the times mean nothing.
    #[arg(long)]
    on_host: bool,
    /// Measures nothing: writes this file of experience data as Rust, for Lanecrypt's own sources, as far as
    /// it is of kernels that users' types have.
    #[arg(long, value_name = "FILE", exclusive = true)]
    built_in: Option<PathBuf>,
}

fn parse_size(text: &str) -> Result<usize, String> {
    let bytes = parse_bytes(text)?;
    let size = usize::try_from(bytes).ok().filter(|size| *size >= 64 && size.is_multiple_of(16));
    size.ok_or_else(|| "must be a multiple of 16, and at least 64 bytes".to_owned())
}

impl Arguments {
    /// Runs it; the exit code is 0, or 1 where something failed.
    #[must_use]
    pub fn execute(&self) -> ExitCode {
        match self.run() {
            Ok(text) => {
                println!("{text}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("tune: {error}");
                ExitCode::FAILURE
            }
        }
    }

    fn run(&self) -> Result<String, Box<dyn Error>> {
        if let Some(file) = &self.built_in {
            return Ok(built_in(&fs::read_to_string(file)?)?);
        }
        let device = if self.on_host { Device::on_host()? } else { Device::default()? };
        let folder = Folder::of_user().ok_or(tuning::Error::NoFolder)?;
        match folder.read(&device) {
            Ok(_) | Err(Ignored::Missing) => {}
            Err(why) => eprintln!("{} is made anew: {why}", folder.file(&device).display()),
        }
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {eta} {msg}");
        let bar = ProgressBar::new(0);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let report = tuning::tune_into(&folder, &device, &self.options()?, &mut |progress| {
            bar.set_length(progress.steps as u64);
            bar.set_position(progress.done as u64);
            bar.set_message(progress.next.to_owned());
        });
        bar.finish_and_clear();
        let report = report?;
        if self.json {
            return Ok(serde_json::to_string_pretty(&to_json(&report))?);
        }
        let options = self.options()?;
        let launches = options.launches.then(|| launches(&report.kernels).to_string());
        let crossovers = options.host_memory.then(|| crossovers(&report).to_string());
        let file = folder.file(&device).display().to_string();
        let parts: Vec<String> = launches.into_iter().chain(crossovers).chain([file]).collect();
        Ok(parts.join("\n"))
    }

    fn options(&self) -> Result<Options, Box<dyn Error>> {
        let mut options = Options { time: Duration::from_micros(self.time), ..Options::default() };
        if !self.cipher.is_empty() {
            let found = self.cipher.iter().map(|name| lanecrypt::find_cipher(name));
            options.ciphers = found.collect::<Result<_, _>>()?;
        }
        if !self.size.is_empty() {
            options.sizes.clone_from(&self.size);
            options.sizes.sort_unstable();
            options.sizes.dedup();
        }
        options.launches = !self.host_memory;
        options.host_memory = !self.launches;
        Ok(options)
    }
}

/// Kernels down: what was chosen at the largest size, and what tuning gains over all sizes.
fn launches(kernels: &[Tuned]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let largest = kernels.iter().flat_map(|tuned| &tuned.points).map(|(at, _)| at.bytes).max();
    let largest = size_name(usize::try_from(largest.unwrap_or(0)).unwrap_or(0));
    table.set_header([
        "kernel".to_owned(),
        "key bits".to_owned(),
        "threads".to_owned(),
        "blocks/SM".to_owned(),
        format!("Gbit/s, {largest}"),
        "untuned".to_owned(),
        "mean gain, %".to_owned(),
        "peak gain, %".to_owned(),
        "at".to_owned(),
    ]);
    for Tuned { kernel, key_bytes, points } in kernels {
        let gain = |usual: u64, tuned: u64| 100.0 * (usual as f64 / tuned as f64 - 1.0);
        let gains = points.iter().map(|(at, usual)| (gain(*usual, at.nanoseconds), at.bytes));
        let mean = gains.clone().map(|(gain, _)| gain).sum::<f64>() / points.len().max(1) as f64;
        let peak = gains.max_by(|left, right| left.0.total_cmp(&right.0)).unwrap_or((0.0, 0));
        let Some((at, usual)) = points.last() else { continue };
        let rate = |nanoseconds| at.bytes as f64 * 8.0 / nanoseconds as f64;
        table.add_row([
            (*kernel).to_owned(),
            (8 * key_bytes).to_string(),
            at.geometry.threads.to_string(),
            at.geometry.blocks_per_multiprocessor.to_string(),
            format!("{:.1}", rate(at.nanoseconds)),
            format!("{:.1}", rate(*usual)),
            format!("{mean:.1}"),
            format!("{:.1}", peak.0),
            size_name(usize::try_from(peak.1).unwrap_or(0)),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Where the CPU hands over to the GPU, and back.
fn crossovers(report: &Report) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header([
        "from host memory, by",
        "key bits",
        "the CPU, up to, then the GPU, and so on",
    ]);
    for (kernel, key_bytes, switches) in report.tuning.crossovers.iter() {
        let at = switches.at().iter().map(|&at| size_name(usize::try_from(at).unwrap_or(0)));
        let at = at.collect::<Vec<_>>().join(", ");
        let at = if at.is_empty() { "always the CPU".to_owned() } else { at };
        table.add_row([kernel.to_owned(), (8 * key_bytes).to_string(), at]);
    }
    table
}

fn to_json(report: &Report) -> Value {
    let kernels = report.kernels.iter().map(|Tuned { kernel, key_bytes, points }| {
        let points = points.iter().map(|(at, usual)| {
            json!({
                "bytes": at.bytes,
                "threads": at.geometry.threads,
                "blocks_per_multiprocessor": at.geometry.blocks_per_multiprocessor,
                "nanoseconds": at.nanoseconds,
                "untuned_nanoseconds": usual,
            })
        });
        json!({
            "kernel": kernel, "key_bits": 8 * key_bytes, "points": points.collect::<Vec<_>>(),
        })
    });
    let crossovers = report.tuning.crossovers.iter().map(|(kernel, key_bytes, switches)| {
        json!({ "kernel": kernel, "key_bits": 8 * key_bytes, "switches": switches.at() })
    });
    json!({
        "kernels": kernels.collect::<Vec<_>>(), "crossovers": crossovers.collect::<Vec<_>>(),
    })
}

/// The source file that `lanecrypt-cuda` has of experience data: what is built in, with these data in place of what is
/// known of the same device, kernels and keys.
fn built_in(text: &str) -> Result<String, Ignored> {
    let (device, tuning) = tuning::of_any_device(text)?;
    let mut devices: BTreeMap<String, Experience> = Experience::built_in_devices()
        .map(|name| (name.to_owned(), Experience::of_device(name)))
        .collect();
    devices.entry(device).or_default().extend(Arc::unwrap_or_clone(tuning.experience));
    let devices: String = devices.iter().map(|(name, known)| device_rows(name, known)).collect();
    Ok(format!(
        "//! What was measured on GPUs that we had.\n\
         //! Generated by `cargo xtask tune --built-in FILE`, do not edit by hand.\n\n\
         /// A kernel, bytes of the cipher's key, and by bytes of data: threads, thread blocks for \
         every\n/// multiprocessor, nanoseconds.\n\
         pub(super) type Launches = (&'static str, usize, &'static [(u64, u32, u32, u64)]);\n\n\
         #[rustfmt::skip]\n\
         #[allow(clippy::unreadable_literal, reason = \"nobody types them\")]\n\
         pub(super) static DEVICES: &[(&str, &[Launches])] = &[\n{devices}];"
    ))
}

/// A device and the launches of users' kernels there.
fn device_rows(device: &str, experience: &Experience) -> String {
    let row = |(kernel, key_bytes, row): (&str, usize, &[Measured])| {
        let points = row.iter().map(|at| {
            let grid = at.geometry.blocks_per_multiprocessor;
            format!("({}, {}, {grid}, {})", at.bytes, at.geometry.threads, at.nanoseconds)
        });
        let points = points.collect::<Vec<_>>().join(", ");
        format!("        ({kernel:?}, {key_bytes}, &[{points}]),\n")
    };
    let launches = experience.launches().filter(|(kernel, ..)| is_users_kernel(kernel));
    let rows: String = launches.map(row).collect();
    format!("    ({device:?}, &[\n{rows}    ]),\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the host build's file looks like.
    const FILE: &str = r#"
        cpu_threads = 1
        [about]
        format = 1
        device = "a \"GPU\""
        compute_capability = [9, 0]
        multiprocessors = 132
        driver = 13000
        lanecrypt = "0.0.0"
        kernels = "0"
        [[launches]]
        kernel = "aes_bitslice_ctr"
        key_bits = 192
        fastest = [[64, 32, 1, 9000], [4096, 96, 2, 9001]]
        [[launches]]
        kernel = "aes_bytewise_ctr"
        key_bits = 192
        fastest = [[64, 32, 1, 9000]]
    "#;

    #[test]
    fn experience_data_becomes_source_text() {
        let text = built_in(FILE).expect("it is experience data, of whatever device");
        let row =
            "        (\"aes_bitslice_ctr\", 24, &[(64, 32, 1, 9000), (4096, 96, 2, 9001)]),\n";
        assert!(text.contains(row) && text.contains("(\"a \\\"GPU\\\"\", &["), "{text}");
        assert!(text.starts_with("//! ") && !text.contains("bytewise"), "{text}");
        assert!(built_in(&FILE.replace("96,", "97,")).is_err());
    }

    #[test]
    fn what_is_built_in_stays() {
        let known = Experience::built_in_devices().next().expect("a GPU that we had");
        let file = FILE.replace("a \\\"GPU\\\"", known);
        let text = built_in(&file).expect("it is experience data");
        assert_eq!(text.matches(&format!("({known:?}, &[")).count(), 1);
        assert_eq!(text.matches("(\"aes_bitslice_ctr\", 24, ").count(), 1, "in its place");
        let rows = text.lines().filter(|line| line.starts_with("        (\"")).count();
        assert_eq!(rows, Experience::of_device(known).launches().count());
    }

    #[test]
    fn options_say_what_is_measured() {
        let of = |options: &[&str]| Arguments::try_parse_from([&["tune"], options].concat());
        let all = of(&[]).expect("no options").options().expect("all ciphers");
        assert!(all.launches && all.host_memory && all.ciphers.len() == lanecrypt::CIPHERS.len());
        assert_eq!((all.sizes.first(), all.sizes.last()), (Some(&64), Some(&(1 << 30))));
        let some = of(&["--launches", "--cipher", "aria", "--size", "4K", "--size", "64"]);
        let some = some.expect("good options").options().expect("a cipher");
        assert!(some.launches && !some.host_memory && some.ciphers.len() == 1);
        assert_eq!(some.sizes, [64, 4096]);
        assert!(of(&["--size", "65"]).is_err() && of(&["--launches", "--host-memory"]).is_err());
        assert!(of(&["--cipher", "rot13"]).expect("a name").options().is_err());
    }
}
