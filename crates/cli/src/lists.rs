//! `lanecrypt devices` and `lanecrypt ciphers`.

use std::{env, fs, thread};

use comfy_table::{CellAlignment, Table, presets};
use lanecrypt::{
    CipherName, constant_time_family,
    cuda::{self, Device, Properties},
    registry::Platform,
};
use serde_json::{Value, json};

use crate::{
    arguments::Printed,
    failure::{Failure, complain},
    file::print_line,
};

/// A table for a terminal.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>, numbers_from: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(header.iter().copied());
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(numbers_from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Prints a table or its JSON.
///
/// # Errors
/// [`Failure::Io`].
pub(crate) fn print(printed: Printed, table: &Table, json: &Value) -> Result<(), Failure> {
    if printed.json { print_line(format_args!("{json:#}")) } else { print_line(table) }
}

pub(crate) fn devices(printed: Printed) -> Result<(), Failure> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let cpu = cpu_name(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
    let mut rows = vec![vec!["cpu".to_owned(), cpu.clone(), format!("{threads} threads")]];
    let mut json = vec![json!({ "backend": "cpu", "name": cpu, "threads": threads })];
    let mut complaints = Vec::new();
    match Device::count() {
        Err(why) => complaints.push(format!("no GPU: {why}")),
        Ok(count) => {
            for number in 0..count {
                let backend = format!("cuda:{number}");
                match gpu(number, &backend) {
                    Ok((row, value)) => {
                        rows.push(row);
                        json.push(value);
                    }
                    Err(why) => complaints.push(format!("{backend}: {why}")),
                }
            }
        }
    }
    print(printed, &table(&["--backend", "", ""], rows, 3), &Value::Array(json))?;
    for complaint in complaints {
        complain(complaint);
    }
    Ok(())
}

/// A GPU as a row and in JSON. One that is busy keeps no other from being listed.
fn gpu(number: usize, backend: &str) -> Result<(Vec<String>, Value), cuda::Error> {
    let gpu = Device::number(number)?;
    let free = gpu.free_bytes()?;
    let Properties { name, compute_capability: (major, minor), .. } = gpu.properties();
    let Properties { multiprocessors, memory_bytes, driver_version, .. } = gpu.properties();
    let (left, all) = (gib(free as u64), gib(*memory_bytes));
    let about =
        format!("{multiprocessors} multiprocessors of {major}.{minor}, {left} of {all} GiB free");
    let value = json!({
        "backend": backend,
        "name": name,
        "compute_capability": format!("{major}.{minor}"),
        "multiprocessors": multiprocessors,
        "memory_bytes": memory_bytes,
        "free_bytes": free,
        "cuda": driver_version,
    });
    Ok((vec![backend.to_owned(), name.clone(), about], value))
}

/// GiB, to a tenth.
fn gib(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 30))
}

/// As `/proc/cpuinfo` calls it.
fn cpu_name(cpuinfo: &str) -> String {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(": ")).map(|(_, name)| name.to_owned());
    name.unwrap_or_else(|| env::consts::ARCH.to_owned())
}

pub(crate) fn ciphers(printed: Printed) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let mut json = Vec::new();
    for name in CipherName::all() {
        let cipher = name.cipher;
        let modes = if cipher.block_bytes == 16 {
            "ecb cbc cfb ofb ctr xts gcm"
        } else {
            "ecb cbc cfb ofb ctr"
        };
        let on_cpu = cipher.backends.iter().filter(|backend| backend.platform == Platform::Cpu);
        let runs = on_cpu.clone().filter(|backend| (backend.available)().is_ok()).count();
        let has_kernels = constant_time_family(cipher.name)?.is_some();
        rows.push(vec![
            name.to_string(),
            cipher.standard.to_owned(),
            modes.to_owned(),
            if has_kernels { "CPU, GPU" } else { "CPU" }.to_owned(),
            (8 * name.key_bytes).to_string(),
            (8 * cipher.block_bytes).to_string(),
            format!("{runs} of {}", on_cpu.count()),
        ]);
        json.push(json!({
            "name": name.to_string(),
            "standard": cipher.standard,
            "key_bits": 8 * name.key_bytes,
            "block_bits": 8 * cipher.block_bytes,
            "modes": modes.split(' ').collect::<Vec<_>>(),
            "gpu": has_kernels,
        }));
    }
    let header =
        ["cipher", "standard", "modes of raw", "on", "key bits", "block bits", "CPU forms"];
    print(printed, &table(&header, rows, 4), &Value::Array(json))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_has_a_name() {
        let cpuinfo = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: Some CPU: 2 GHz\n";
        assert_eq!(cpu_name(cpuinfo), "Some CPU: 2 GHz");
        assert_eq!(cpu_name("processor\t: 0\n"), env::consts::ARCH);
    }

    #[test]
    fn memory_is_told_in_tenths_of_gib() {
        assert_eq!([0, 3 << 29, 80 << 30].map(gib), ["0.0", "1.5", "80.0"]);
    }
}
