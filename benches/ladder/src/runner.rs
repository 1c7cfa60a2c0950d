//! What all runners of listings share, of kernels and of a CPU: which are asked for, and where figures are written.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::replace::replace;

/// Whether a listing of this name is to run: where none was asked for, or a part of its name.
#[must_use]
pub fn is_asked(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|part| name.contains(part.as_str()))
}

/// Where a program writes its figures, beside the table that it prints.
#[derive(Debug, Args)]
pub struct Outputs {
    /// Writes a record to this folder: the figures as JSON and CSV, and the table as report.md.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Writes the figures as JSON to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes the table as CSV to this file.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

impl Outputs {
    /// Writes a record, its report and its table as CSV to where that was asked for; `name` is that of the files of a record.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn write(
        &self,
        name: &str,
        record: &impl Serialize,
        report: &str,
        csv: &str,
    ) -> Result<()> {
        let json = serde_json::to_string_pretty(record)? + "\n";
        if let Some(folder) = &self.out {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            replace(&folder.join(format!("{name}.json")), &json)?;
            replace(&folder.join(format!("{name}.csv")), csv)?;
            replace(&folder.join("report.md"), report)?;
        }
        if let Some(path) = &self.json {
            replace(path, &json)?;
        }
        if let Some(path) = &self.csv {
            replace(path, csv)?;
        }
        Ok(())
    }
}
