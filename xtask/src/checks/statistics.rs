//! Random numbers before judges of statistics: dieharder over a stream of bytes, scipy over numbers.

use std::{
    io::{self, Write},
    ops::RangeInclusive,
    path::Path,
    process::Stdio,
    thread,
};

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;

use crate::{
    command::{self, command, run},
    judges,
};

/// The newest of November 2026.
const PYTHON: [&str; 2] = ["numpy==2.4.6", "scipy==1.17.1"];
/// Compares numbers with their distributions.
const SCRIPT: &str = "xtask/src/checks/statistics.py";

/// Runs scipy's tests, and then dieharder's, or those of this number.
pub(crate) fn run_task(only: Option<u32>) -> Result<()> {
    let program = command::built("lanecrypt", &[])?;
    scipy(&program)?;
    let missing = judges::install_programs(&[("dieharder", "dieharder")]);
    ensure!(missing.is_empty(), "dieharder is not installed, and is no package here");
    dieharder(&program, only)
}

fn scipy(program: &Path) -> Result<()> {
    let (folder, installed) = judges::install_modules(&PYTHON, "scipy");
    installed?;
    run(command("python3").arg(SCRIPT).arg(program).env("PYTHONPATH", folder))
}

/// Dieharder's tests by their numbers, and the lengths at which a test is run where it has more than one. Number 14 is
/// not among them: `dieharder -l` says "Do Not Use".
fn tests() -> Vec<(u32, Option<u32>)> {
    let single = (0..=13).chain(15..=17).chain(100..=102).chain(204..=209);
    let with = |test, lengths: RangeInclusive<u32>| lengths.map(move |length| (test, Some(length)));
    let several = with(200, 1..=12).chain(with(201, 2..=5)).chain(with(202, 2..=5));
    single.map(|test| (test, None)).chain(several).chain(with(203, 0..=32)).collect()
}

/// Runs the tests side by side on all cores, each over a stream of its own.
fn dieharder(program: &Path, only: Option<u32>) -> Result<()> {
    let tests: Vec<(u32, _)> =
        (0..).zip(tests()).filter(|(_, (test, _))| only.is_none_or(|only| only == *test)).collect();
    ensure!(!tests.is_empty(), "dieharder has no such test, or says not to use it");
    let judged = |(stream, (test, length))| {
        let (lines, bytes) = judge(program, stream, test, length)?;
        print!("{lines}");
        Ok((lines, bytes))
    };
    let said = tests.into_par_iter().map(judged).collect::<Result<Vec<_>>>()?;
    let bytes: u64 = said.iter().map(|(_, bytes)| bytes).sum();
    let mut passed = 0;
    let mut others = Vec::new();
    for (line, is_pass) in said.iter().flat_map(|(lines, _)| results(lines)) {
        passed += usize::from(is_pass);
        if !is_pass {
            others.push(line);
        }
    }
    println!("dieharder has read {} GiB", bytes >> 30);
    ensure!(others.is_empty(), "not passed:\n{}", others.join("\n"));
    println!("{passed} results, all passed");
    Ok(())
}

/// What dieharder says of a test over a stream, and how many bytes it has read. It draws more where chance alone may have
/// made a result weak, until that is one or the other.
fn judge(program: &Path, stream: u32, test: u32, length: Option<u32>) -> Result<(String, u64)> {
    let mut random = command(program);
    random.args(["random", "16777215T", "--seed", "1", "--quiet", "--threads", "1"]);
    random.args(["--stream", &stream.to_string()]);
    let mut random = random.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let from = random.stdout.take().context("it has an output")?;
    let mut judge = command("dieharder");
    judge.args(["-d", &test.to_string()]);
    if let Some(length) = length {
        judge.args(["-n", &length.to_string()]);
    }
    judge.args(["-g", "200", "-Y", "1", "-k", "2"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut judge = judge.spawn().context("dieharder does not start")?;
    let to = judge.stdin.take().context("it has an input")?;
    // It ends when dieharder has read enough.
    let feeding = thread::spawn(move || fed(from, to));
    let said = judge.wait_with_output()?;
    let bytes = feeding.join().unwrap_or_default();
    random.kill()?;
    random.wait()?;
    let said = String::from_utf8_lossy(&said.stdout);
    let lines: Vec<_> = results(&said).into_iter().map(|(line, _)| line).collect();
    ensure!(!lines.is_empty(), "dieharder has come to no result in test {test}:\n{said}");
    Ok((lines.join("\n") + "\n", bytes))
}

/// Copies until whoever reads has enough; how many bytes were taken.
fn fed(mut from: impl io::Read, mut to: impl Write) -> u64 {
    let mut piece = vec![0; 1 << 20];
    let mut bytes = 0;
    while let Ok(count @ 1..) = from.read(&mut piece) {
        if to.write_all(&piece[..count]).is_err() {
            break;
        }
        bytes += count as u64;
    }
    bytes
}

/// The lines in which dieharder comes to a result, and whether that is a pass. Where it has drawn more, these are the last
/// ones, of most samples.
fn results(said: &str) -> Vec<(&str, bool)> {
    let of = |line| {
        let mut cells = str::split(line, '|').map(str::trim).skip(3);
        let (samples, verdict) = (cells.next()?.parse().ok()?, cells.nth(1)?);
        let is_result = ["PASSED", "WEAK", "FAILED"].contains(&verdict);
        is_result.then_some((line, samples, verdict == "PASSED"))
    };
    let all: Vec<(_, u64, _)> = said.lines().filter_map(of).collect();
    let most = all.iter().map(|(_, samples, _)| *samples).max();
    let last = all.into_iter().filter(|(_, samples, _)| Some(*samples) == most);
    last.map(|(line, _, is_pass)| (line, is_pass)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_results_count() {
        let said = "\
#        test_name   |ntup| tsamples |psamples|  p-value |Assessment
   diehard_birthdays|   0|       100|     100|0.33333333|  PASSED  
           sts_runs|   2|    100000|     100|0.99999999|  FAILED  
           sts_runs|   2|    100000|     100|0.99600000|   WEAK   
";
        let passes = |said: &str| -> Vec<bool> {
            results(said).into_iter().map(|(_, is_pass)| is_pass).collect()
        };
        assert_eq!(passes(said), [true, false, false]);
        let more = "           sts_runs|   2|    100000|     200|0.48701695|  PASSED  \n";
        assert_eq!(passes(&format!("{said}{more}")), [true]);
        assert!(passes("dieharder: no such file").is_empty());
    }

    #[test]
    fn every_test_is_run_but_one() {
        let tests = tests();
        assert!(!tests.iter().any(|(test, _)| *test == 14));
        assert_eq!(tests.len(), 26 + 12 + 4 + 4 + 33);
    }

    #[test]
    fn who_has_enough_ends_the_feeding() {
        struct Full(u64);
        impl Write for Full {
            fn write(&mut self, from: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(from.len() as u64).ok_or(io::ErrorKind::BrokenPipe)?;
                Ok(from.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert_eq!(fed(io::repeat(1), Full(5 << 20)), 5 << 20);
        assert_eq!(fed(&[1, 2, 3][..], Full(5)), 3);
    }
}
