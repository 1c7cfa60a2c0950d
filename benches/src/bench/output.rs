//! What becomes of measurements: the options for the report, and for comparing with another record.

use std::path::PathBuf;

use clap::Args;

/// What groups the options that say what to measure: they mean nothing where nothing is measured.
pub(crate) const MEASURING: &str = "measuring";

// These options go with measuring, and some of them without. A documentation comment would be shown.
#[derive(Clone, Debug, Args)]
pub(crate) struct Output {
    /// The folder to write to, instead of a new one under benches/record.
    #[arg(long, value_name = "DIR", conflicts_with = "with")]
    pub(crate) out: Option<PathBuf>,
    /// Also prints all tables and, with --compare, changes below the threshold.
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Reports what changed beyond noise since the record OLD, a folder or its report.json.
    ///
    /// Noise is what the confidence intervals of two medians have in common. A loss over the threshold
    /// makes the exit code 1.
    #[arg(long, value_name = "OLD")]
    pub(crate) compare: Option<PathBuf>,
    /// Measures nothing: compares with this record.
    #[arg(long, value_name = "NEW", requires = "compare", conflicts_with = MEASURING)]
    pub(crate) with: Option<PathBuf>,
    /// Loss of throughput, in per cent, that is tolerated.
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_percent)]
    pub(crate) threshold: f64,
    /// Measures nothing: makes the page of this record, a folder or its report.json; may be repeated.
    ///
    /// Of several records, the newest figure of each kind counts, for the newest record's CPU and GPU. The
    /// page is written beside the first record, or, with --out, to that folder together with the merged
    /// record.
    #[arg(long, value_name = "RECORD", conflicts_with_all = [MEASURING, "compare"])]
    pub(crate) report: Vec<PathBuf>,
}

/// "5%" or "5".
fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>();
    let percent = number.ok().filter(|percent| (0.0..100.0).contains(percent));
    percent.ok_or_else(|| format!("{text} is not a percentage from 0 to 100"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::bench::options::CommandLine;

    #[test]
    fn percentages_are_with_or_without_their_sign() {
        assert_eq!(parse_percent("5%"), Ok(5.0));
        assert_eq!(parse_percent("0.5"), Ok(0.5));
        for wrong in ["", "%", "-1", "100", "five", "nan"] {
            assert!(parse_percent(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_measures_nothing_takes_no_options_of_measuring() {
        let parse = |arguments: &[&str]| {
            CommandLine::try_parse_from([&["bench-all"], arguments].concat())
                .map(|options| options.output)
        };
        let of_two = ["--report", "a", "--report", "b", "--out", "c", "--verbose"];
        assert_eq!(parse(&of_two).expect("they go together").report.len(), 2);
        let compared = parse(&["--compare", "a", "--quick"]).expect("this run is compared");
        assert!((compared.threshold - 5.0).abs() < 1e-9);
        assert!(parse(&["--compare", "a", "--with", "b", "--threshold", "2%"]).is_ok());
        for wrong in [
            &["--report", "a", "--quick"][..],
            &["--report", "a", "--compare", "b"],
            &["--compare", "a", "--with", "b", "--cipher", "aes"],
            &["--with", "b"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
