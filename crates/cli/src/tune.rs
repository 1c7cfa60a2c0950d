//! `lanecrypt tune`: what is fastest on this machine, measured once and kept.

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use lanecrypt::{
    BackendChoice, CipherName,
    cuda::Device,
    find_cipher, gpu,
    registry::CipherDescription,
    tuning::{self, Folder, Options},
};

use crate::{arguments::Machine, failure::Failure, file::print_line};

const ADVICE: &str = "\
Without tuning, the GPU uses settings measured on other cards or computed from its properties, and the choice between
CPU and GPU follows measurements on other machines. `cargo xtask tune` in a checkout prints the results.

Example: lanecrypt tune --cipher aria --cipher seed";

/// Measures the fastest settings of the GPU, and the sizes from which it beats the CPU, for later commands.
///
/// Takes minutes per cipher; run nothing else meanwhile. The results are kept in your cache folder.
#[derive(Debug, Args)]
#[command(after_help = ADVICE)]
pub(crate) struct Arguments {
    /// Cipher to measure, with all its key sizes; may be repeated [default: all].
    #[arg(long, short, value_name = "NAME", value_parser = cipher)]
    cipher: Vec<&'static CipherDescription>,
}

/// A cipher by its own name, or by one with a key size.
fn cipher(text: &str) -> Result<&'static CipherDescription, String> {
    find_cipher(&text.to_ascii_lowercase()).or_else(|unknown| {
        let name = text.parse::<CipherName>().map_err(|_| unknown.to_string())?;
        Ok(name.cipher)
    })
}

impl Arguments {
    pub(crate) fn run(&self, machine: &Machine) -> Result<(), Failure> {
        let device = match machine.backend() {
            // The one that commands take by themselves.
            BackendChoice::Auto => {
                Device::default().map_err(|error| Failure::NoDevice(error.to_string()))?
            }
            BackendChoice::Cuda(number) => gpu(number)?,
            BackendChoice::Cpu => {
                let text = "--backend cpu: there is nothing to choose on a CPU alone";
                return Err(Failure::Usage(text.to_owned()));
            }
        };
        let failed = |error: tuning::Error| Failure::Io(error.to_string());
        let folder = Folder::of_user().ok_or(tuning::Error::NoFolder).map_err(failed)?;
        let mut options = Options::default();
        if !self.cipher.is_empty() {
            options.ciphers.clone_from(&self.cipher);
        }
        let bar = if machine.quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {eta} left {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let report = tuning::tune_into(&folder, &device, &options, &mut |progress| {
            bar.set_length(progress.steps as u64);
            bar.set_position(progress.done as u64);
            bar.set_message(progress.next.to_owned());
        });
        bar.finish_and_clear();
        let report = report.map_err(failed)?;
        let file = folder.file(&device);
        let kernels = report.kernels.len();
        print_line(format_args!("{kernels} kernels were measured: {}", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cipher_is_named_with_a_key_size_or_without() {
        for (text, name) in
            [("AES", "aes"), ("aes-256", "aes"), ("des-ede3", "tdes"), ("seed", "seed")]
        {
            assert_eq!(cipher(text).map(|cipher| cipher.name), Ok(name), "{text}");
        }
        let error = cipher("rot13").expect_err("no cipher");
        assert!(error.contains("camellia"), "{error}");
    }
}
