//! Runs the trials under valgrind, several in a process, and judges their output. What is wrong in company is run again
//! alone.

use std::{
    collections::HashMap,
    env,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::{Context, Result};
use lanecrypt::{
    CIPHERS, ConstantTime,
    registry::{Backend, CipherDescription},
};
use rayon::prelude::*;

use crate::{
    machine_code::{self, MachineCode},
    parts::{self, Part},
    report::{Row, Verdict},
};

/// What the line begins with that comes before the output of a trial.
pub(crate) const TRIAL: &str = "trial";
/// Trials of a process: to start one takes as long as most of them.
const TOGETHER: usize = 8;
/// Lines that are shown of what valgrind says about a backend whose claim is wrong.
const SHOWN_LINES: usize = 40;

/// Every backend of the CPU and of the host build whose name contains `filter`, and what checks the
/// search of machine code where that is needed.
///
/// # Errors
/// Where valgrind does not start, or machine code is not understood.
pub(crate) fn rows(filter: &str) -> Result<Vec<Row>> {
    let backends: Vec<(&CipherDescription, &Backend)> = CIPHERS
        .iter()
        .flat_map(|&cipher| cipher.backends.iter().map(move |backend| (cipher, backend)))
        .filter(|(_, backend)| !backend.platform.is_gpu())
        .filter(|(cipher, backend)| name(cipher, backend).contains(filter))
        .collect();
    let parts: Vec<_> =
        parts::all().into_iter().filter(|part| part.name.contains(filter)).collect();
    let available = backends.iter().filter(|(_, backend)| (backend.available)().is_ok());
    let names = available.map(|(cipher, backend)| name(cipher, backend));
    let names: Vec<_> = names.chain(parts.iter().map(|part| part.name.clone())).collect();
    let program = Program::new()?.with_trials(&names)?;
    let is_needed = backends.iter().any(|(_, backend)| machine_code::token(backend.id).is_some());
    let machine_code = is_needed.then(MachineCode::of_this_program).transpose()?;
    let row = |(cipher, backend)| row(&program, cipher, backend, machine_code.as_ref());
    let mut rows = backends.into_par_iter().map(row).collect::<Result<Vec<_>>>()?;
    let row_of = |part| row_of(&program, &part);
    rows.extend(parts.into_par_iter().map(row_of).collect::<Result<Vec<_>>>()?);
    rows.extend(machine_code.into_iter().flat_map(MachineCode::into_rows));
    Ok(rows)
}

/// As command lines and reports name a backend.
pub(crate) fn name(cipher: &CipherDescription, backend: &Backend) -> String {
    format!("{}/{}", cipher.name, backend.id)
}

fn row(
    program: &Program,
    cipher: &CipherDescription,
    backend: &Backend,
    machine_code: Option<&MachineCode>,
) -> Result<Row> {
    let name = name(cipher, backend);
    let row = |found: String, verdict, details| Row {
        name: name.clone(),
        claim: backend.constant_time,
        how: "valgrind",
        found,
        verdict,
        details,
    };
    let is_beyond = machine_code::token(backend.id).is_some();
    let is_here = (backend.available)();
    if let (Err(reason), false) = (&is_here, is_beyond) {
        return Ok(row(reason.to_string(), Verdict::NotHere, Vec::new()));
    }
    if is_here.is_ok() {
        let (said, verdict) = program.judged(&name, |said| judge(backend.constant_time, said))?;
        if said.unavailable.is_none() || !is_beyond {
            let details = program.details(&name, verdict)?;
            return Ok(row(said.shown(), verdict, details));
        }
    }
    let evidence = machine_code.and_then(|code| code.of(cipher.name, backend.id));
    let evidence = evidence.with_context(|| format!("{name}: the program has no code of it"))?;
    Ok(evidence.row(name, backend.constant_time))
}

/// The row of a part.
fn row_of(program: &Program, part: &Part) -> Result<Row> {
    let claim = part.claim;
    let (said, verdict) = program.judged(&part.name, |said| judge_part(claim, said))?;
    let details = program.details(&part.name, verdict)?;
    let name = part.name.clone();
    Ok(Row { name, claim, how: "valgrind", found: said.shown(), verdict, details })
}

/// This program, as trials run it: valgrind reads all symbols and numbers of lines before it starts one, which takes
/// longer than most trials. Where something is wrong it is run again with them.
struct Program {
    path: PathBuf,
    stripped: PathBuf,
    /// What trials said that were run together, by their names.
    said: HashMap<String, Said>,
}

impl Program {
    fn new() -> Result<Self> {
        let path = env::current_exe()?;
        let stripped = path.with_extension("stripped");
        let status = Command::new("strip").arg("-o").arg(&stripped).arg(&path).status();
        let is_there = status.is_ok_and(|status| status.success());
        let stripped = if is_there { stripped } else { path.clone() };
        Ok(Self { path, stripped, said: HashMap::new() })
    }

    /// Runs the trials of these names, several together.
    fn with_trials(self, names: &[String]) -> Result<Self> {
        let run = |names: &[String]| Ok(Said::read_all(&run(&self.stripped, names)?));
        let said = names.par_chunks(TOGETHER).map(run).collect::<Result<Vec<_>>>()?;
        Ok(Self { said: said.into_iter().flatten().collect(), ..self })
    }

    /// What a trial says, and whether that is what it claims: alone, where it is not so in company.
    fn judged(&self, name: &str, judge: impl Fn(&Said) -> Verdict) -> Result<(Said, Verdict)> {
        if let Some(said) = self.said.get(name)
            && judge(said) != Verdict::Wrong
        {
            return Ok((said.clone(), judge(said)));
        }
        let said = Said::read(&run(&self.stripped, &[name.to_owned()])?);
        let verdict = judge(&said);
        Ok((said, verdict))
    }

    /// What valgrind says of a trial whose claim is wrong.
    fn details(&self, name: &str, verdict: Verdict) -> Result<Vec<String>> {
        if verdict != Verdict::Wrong {
            return Ok(Vec::new());
        }
        Ok(first_lines(&run(&self.path, &[name.to_owned()])?))
    }
}

fn run(program: &Path, names: &[String]) -> Result<Output> {
    let options = ["--quiet", "--leak-check=no", "--error-limit=no", "--num-callers=20"];
    Command::new("valgrind")
        .args(options)
        // Threads of the kernels' host build hand over to each other, and their stacks begin 128 KiB apart. Valgrind would
        // take less than 2 MB for a frame of the same stack.
        .arg("--max-stackframe=100000")
        .arg(program)
        .args(names.iter().flat_map(|name| ["--trial", name]))
        .output()
        .context("valgrind does not start: apt-get install valgrind")
}

fn first_lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().take(SHOWN_LINES).map(str::to_owned).collect()
}

/// What a trial printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    trips: Vec<String>,
    unavailable: Option<String>,
    /// Steps it ran, where it came to its end.
    steps: Option<usize>,
}

impl Said {
    fn read(output: &Output) -> Self {
        let said = Self::parse(&String::from_utf8_lossy(&output.stdout));
        let steps = said.steps.filter(|_| output.status.success());
        Self { steps, ..said }
    }

    /// The same of several trials, by their names; nothing where one of them failed.
    fn read_all(output: &Output) -> HashMap<String, Self> {
        if !output.status.success() {
            return HashMap::new();
        }
        Self::parse_all(&String::from_utf8_lossy(&output.stdout))
    }

    fn parse_all(text: &str) -> HashMap<String, Self> {
        let start = format!("{TRIAL}\t");
        let trials = text.split(&start).skip(1);
        let named = trials.filter_map(|trial| trial.split_once('\n'));
        named.map(|(name, said)| (name.to_owned(), Self::parse(said))).collect()
    }

    fn parse(text: &str) -> Self {
        let mut said = Self::default();
        for (word, rest) in text.lines().filter_map(|line| line.split_once('\t')) {
            match word {
                "trips" => said.trips.push(rest.to_owned()),
                "unavailable" => said.unavailable = Some(rest.to_owned()),
                "done" => said.steps = rest.parse().ok(),
                _ => {}
            }
        }
        said
    }

    fn shown(&self) -> String {
        match self {
            Self { unavailable: Some(reason), .. } => reason.clone(),
            Self { steps: None, .. } => "ended before its end".to_owned(),
            Self { steps: Some(steps), trips, .. } if trips.is_empty() => {
                format!("nothing in {steps} steps")
            }
            Self { trips, .. } if trips.len() <= 2 => trips.join("; "),
            Self { trips, .. } => format!("{}, and {} more steps", trips[0], trips.len() - 1),
        }
    }
}

/// Whether what a trial said is what the part claims.
fn judge_part(claim: ConstantTime, said: &Said) -> Verdict {
    match (claim, said.steps) {
        (ConstantTime::No(step), Some(1..)) if !said.trips.is_empty() => {
            let end = format!(" in {step}");
            let is_there = said.trips.iter().all(|trip| trip.ends_with(&end));
            if is_there { Verdict::Trips } else { Verdict::Wrong }
        }
        (ConstantTime::No(_), _) => Verdict::Wrong,
        (ConstantTime::Yes, _) => judge(claim, said),
    }
}

/// Whether what a trial said is what the backend claims.
fn judge(claim: ConstantTime, said: &Said) -> Verdict {
    let trips_on = |secret: &str| said.trips.iter().any(|trip| trip.starts_with(secret));
    match (claim, said.steps) {
        (ConstantTime::Yes, Some(1..)) if said.trips.is_empty() => Verdict::Holds,
        (ConstantTime::No(_), Some(1..)) if trips_on("key:") && trips_on("data:") => Verdict::Trips,
        _ => Verdict::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOKS_UP: ConstantTime = ConstantTime::No("it looks up");
    const KEY_TRIPS: &str = "trips\tkey: 3 in key schedule\n";
    const DATA_TRIPS: &str = "trips\tdata: 16 in ECB encrypt, 1 blocks\n";

    #[test]
    fn trials_of_a_process_are_told_apart() {
        let text = format!("trial\ta/one\ndone\t3\ntrial\ta/two\n{KEY_TRIPS}done\t4\ntrial\tb\n");
        let all = Said::parse_all(&text);
        assert_eq!(all.len(), 3);
        assert_eq!((all["a/one"].steps, all["a/one"].trips.len()), (Some(3), 0));
        assert_eq!((all["a/two"].steps, all["a/two"].trips.len()), (Some(4), 1));
        assert_eq!(all["b"], Said::default(), "it did not end");
    }

    #[test]
    fn claims_are_judged() {
        let of = |claim, text: &str| judge(claim, &Said::parse(text));
        assert_eq!(of(ConstantTime::Yes, "done\t9\n"), Verdict::Holds);
        assert_eq!(of(ConstantTime::Yes, ""), Verdict::Wrong, "it crashed");
        assert_eq!(of(ConstantTime::Yes, "done\t0\n"), Verdict::Wrong, "it ran nothing");
        let trips = "trips\tkey and data: 1 in CTR\ndone\t9\n";
        assert_eq!(of(ConstantTime::Yes, trips), Verdict::Wrong);
        assert_eq!(of(ConstantTime::Yes, "unavailable\tno AES\n"), Verdict::Wrong, "unexpected");

        let both = format!("{KEY_TRIPS}{DATA_TRIPS}done\t2\n");
        assert_eq!(of(LOOKS_UP, &both), Verdict::Trips);
        assert_eq!(
            of(LOOKS_UP, &format!("{KEY_TRIPS}done\t2\n")),
            Verdict::Wrong,
            "blind for data"
        );
        assert_eq!(of(LOOKS_UP, &format!("{DATA_TRIPS}done\t2\n")), Verdict::Wrong, "for the key");
        assert_eq!(of(LOOKS_UP, "done\t9\n"), Verdict::Wrong);
    }

    #[test]
    fn parts_trip_where_they_say() {
        let of = |claim, text: &str| judge_part(claim, &Said::parse(text));
        let claim = ConstantTime::No("it opens");
        let trip = "trips\tkey and data: 7 in it opens\n";
        assert_eq!(of(claim, &format!("{trip}done\t2\n")), Verdict::Trips);
        assert_eq!(of(claim, "done\t2\n"), Verdict::Wrong, "blind");
        assert_eq!(of(claim, trip), Verdict::Wrong, "it crashed");
        let elsewhere = format!("{trip}trips\tkey and data: 1 in it reads\ndone\t2\n");
        assert_eq!(of(claim, &elsewhere), Verdict::Wrong);
        assert_eq!(of(ConstantTime::Yes, "done\t2\n"), Verdict::Holds);
        assert_eq!(of(ConstantTime::Yes, &format!("{trip}done\t2\n")), Verdict::Wrong);
    }

    #[test]
    fn only_the_listed_may_be_unavailable() {
        let said = Said::parse("unavailable\tno AVX-512\n");
        assert_eq!(judge(ConstantTime::Yes, &said), Verdict::Wrong);
        assert_eq!(said.shown(), "no AVX-512");
        let is_beyond = |id: &str| machine_code::token(id).is_some();
        let is = ["vaes-avx2", "bitslice-avx512", "gfni-avx2"].map(is_beyond);
        assert_eq!(is, [true; 3]);
        let is = ["aes-ni", "bitslice-avx2", "aes-avx2", "default"].map(is_beyond);
        assert_eq!(is, [false; 4]);
    }

    #[test]
    fn findings_are_shown_in_a_line() {
        let shown = |text: &str| Said::parse(text).shown();
        assert_eq!(shown("done\t9\n"), "nothing in 9 steps");
        assert_eq!(shown("trips\ta\n"), "ended before its end");
        assert_eq!(shown("trips\ta\ntrips\tb\ndone\t9\n"), "a; b");
        assert_eq!(shown("trips\ta\ntrips\tb\ntrips\tc\ndone\t9\n"), "a, and 2 more steps");
    }
}
