//! A progress bar on standard error, where that is a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::Machine;

/// Bytes that are done, and their rate; with a known end, also the time that is left. Dropped, it takes the bar away.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Over this number of bytes, if it is known.
    pub(crate) fn over(machine: &Machine, bytes: Option<u64>) -> Self {
        if machine.quiet || !std::io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden() };
        }
        let (bar, template) = match bytes {
            Some(bytes) => (
                ProgressBar::new(bytes),
                "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
            ),
            None => (ProgressBar::new_spinner(), "{spinner} {bytes} {bytes_per_sec} {elapsed}"),
        };
        let style = ProgressStyle::with_template(template);
        Self { bar: bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())) }
    }

    /// Counts `bytes` more as done.
    pub(crate) fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
    }
}
