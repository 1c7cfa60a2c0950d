//! What a kernel takes of an architecture: parsed from ptxas, kept as CSV.

use std::fmt;

/// A kernel on an architecture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    kernel: String,
    architecture: String,
    registers: u32,
    static_shared_bytes: u32,
    local_bytes: u32,
    spill_store_bytes: u32,
    spill_load_bytes: u32,
}

const HEADER: &str = "kernel,architecture,registers,static_shared_bytes,local_bytes,\
                      spill_store_bytes,spill_load_bytes";

impl Usage {
    pub(crate) fn kernel(&self) -> &str {
        &self.kernel
    }

    pub(crate) fn is_same_kernel(&self, other: &Self) -> bool {
        self.kernel == other.kernel && self.architecture == other.architecture
    }

    pub(crate) fn spill_bytes(&self) -> u32 {
        self.spill_store_bytes + self.spill_load_bytes
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{},{},{},{},{},{},{}",
            self.kernel,
            self.architecture,
            self.registers,
            self.static_shared_bytes,
            self.local_bytes,
            self.spill_store_bytes,
            self.spill_load_bytes,
        )
    }
}

/// The table, sorted by kernel.
pub(crate) fn to_csv(table: &[Usage]) -> String {
    let mut lines: Vec<String> = table.iter().map(ToString::to_string).collect();
    lines.sort();
    format!("{HEADER}\n{}\n", lines.join("\n"))
}

/// Rows that are complete; others, such as the header, are left out.
pub(crate) fn from_csv(text: &str) -> Vec<Usage> {
    text.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<Usage> {
    let fields: Vec<&str> = line.split(',').collect();
    let [kernel, architecture, numbers @ ..] = fields.as_slice() else {
        return None;
    };
    let numbers: Vec<u32> = numbers.iter().filter_map(|number| number.parse().ok()).collect();
    let [registers, static_shared_bytes, local_bytes, spill_store_bytes, spill_load_bytes] =
        *numbers.as_slice()
    else {
        return None;
    };
    Some(Usage {
        kernel: (*kernel).to_owned(),
        architecture: (*architecture).to_owned(),
        registers,
        static_shared_bytes,
        local_bytes,
        spill_store_bytes,
        spill_load_bytes,
    })
}

/// Reads what `ptxas --verbose` prints: for each kernel a line with its name, one with its stack
/// and spills, one with its registers.
pub(crate) fn parse(report: &str, architecture: &str) -> Vec<Usage> {
    let mut usages: Vec<Usage> = Vec::new();
    for line in report.lines() {
        if let Some(rest) = line.split_once("Compiling entry function '") {
            let kernel = rest.1.split('\'').next().unwrap_or_default().to_owned();
            let architecture = architecture.to_owned();
            usages.push(Usage { kernel, architecture, ..Usage::default() });
        }
        let Some(usage) = usages.last_mut() else {
            continue;
        };
        for (field, unit) in [
            (&mut usage.local_bytes, " bytes stack frame"),
            (&mut usage.spill_store_bytes, " bytes spill stores"),
            (&mut usage.spill_load_bytes, " bytes spill loads"),
            (&mut usage.registers, " registers"),
            (&mut usage.static_shared_bytes, " bytes smem"),
        ] {
            if let Some(number) = number_before(line, unit) {
                *field = number;
            }
        }
    }
    usages
}

/// The number right before `unit`.
fn number_before(line: &str, unit: &str) -> Option<u32> {
    let (before, _) = line.split_once(unit)?;
    before.rsplit(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
ptxas info    : 2610 bytes gmem
ptxas info    : Compiling entry function 'aes_x' for 'sm_90'
ptxas info    : Function properties for aes_x
    24 bytes stack frame, 28 bytes spill stores, 32 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 16 bytes smem
";

    #[test]
    fn reads_what_ptxas_prints() {
        let [usage] = parse(REPORT, "sm_90").try_into().expect("one kernel");
        assert_eq!(usage.to_string(), "aes_x,sm_90,255,16,24,28,32");
        assert_eq!(usage.spill_bytes(), 60);
    }

    #[test]
    fn csv_round_trip() {
        let usages = parse(REPORT, "sm_90");
        assert_eq!(from_csv(&to_csv(&usages)), usages);
        assert_eq!(from_csv("aes_x,sm_90,1,2\n"), []);
    }
}
