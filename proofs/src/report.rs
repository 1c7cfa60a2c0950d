//! Everything about every cipher, and a table of what was proved, how, and in what time.

use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use comfy_table::{Table, presets::ASCII_MARKDOWN};
use lanecrypt_circuit::graph;
use lanecrypt_slicing::record::{Plan, Recording, Step};
use rayon::prelude::*;

use crate::{
    controls, examples,
    ptx::{self, Job, Mode},
    solver, step,
    subject::{Claim, Subject},
    whole, wrong_kernels,
};

/// What a plan's circuits are made of.
const CIRCUITS: [&str; 2] = ["gates", "three-input functions"];

/// A row of the table: the cipher, what was proved, by what, and the seconds.
type Row = [String; 4];

/// Proves all of these ciphers and prints the table.
pub(crate) fn prove_all(subjects: &[Subject]) -> Result<()> {
    let start = Instant::now();
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["cipher", "for all blocks and keys", "proved by", "s"]);
    for subject in subjects {
        for row in prove(subject).with_context(|| subject.name)? {
            table.add_row(row);
        }
    }
    println!("{table}");
    let claims = subjects.iter().map(|subject| (subject.claims)().len()).sum::<usize>();
    let signature = cadical::Solver::<cadical::Timeout>::new().signature().to_owned();
    let seconds = start.elapsed().as_secs_f64();
    let formulas = solver::formulas();
    println!("{claims} ciphers, each by both kinds of circuits, in {seconds:.1} s");
    println!("{signature} refuted {formulas} different formulas");
    Ok(())
}

/// All of one cipher.
fn prove(subject: &Subject) -> Result<Vec<Row>> {
    let plans = subject.plans.map(|plan| plan());
    let steps: Vec<_> =
        (0..2).flat_map(|i| plans[i].steps.iter().map(move |step| (i, step))).collect();
    let mut rows = steps
        .par_iter()
        .map(|&(circuits, step)| prove_step(subject, circuits, step))
        .collect::<Result<Vec<Row>>>()?;
    // Of no circuits, so that both plans have the same.
    rows.push(prove_transposes(subject, plans[0].planes)?);
    for (plan, circuits) in plans.iter().zip(CIRCUITS) {
        rows.extend(prove_wholes(subject, plan, circuits)?);
    }
    let claims = (subject.claims)();
    let block_bytes = plans[0].planes / 8;
    let jobs: Vec<Job<'_>> = claims.iter().flat_map(|claim| Job::all(claim, block_bytes)).collect();
    rows.extend(jobs.par_iter().map(|job| prove_kernel(subject, job)).collect::<Result<Vec<_>>>()?);
    // The first kernel in each mode.
    let of_mode = |mode| jobs.iter().find(|job| job.mode == mode);
    let first: Vec<_> = [Mode::Ecb, Mode::Ctr].into_iter().filter_map(of_mode).collect();
    rows.extend(first.par_iter().map(|job| refute(subject, job)).collect::<Result<Vec<_>>>()?);
    rows.push(run_examples(subject, &plans[0])?);
    Ok(rows)
}

/// That the committed PTX of a kernel is the cipher.
fn prove_kernel(subject: &Subject, job: &Job<'_>) -> Result<Row> {
    let start = Instant::now();
    let what = format!("PTX of {}: {}", job.entry(), job.claim.name);
    let proof = ptx::prove(job).with_context(|| what.clone())?;
    Ok(row(subject, what, proof.to_string(), start))
}

/// That faults of a kernel are refuted.
fn refute(subject: &Subject, job: &Job<'_>) -> Result<Row> {
    let start = Instant::now();
    let refuted = wrong_kernels::run(job)?.join(", ");
    let what = format!("refuted when made wrong in the PTX of {}: {refuted}", job.entry());
    Ok(row(subject, what, "as above".into(), start))
}

/// Vectors through the models, keys through the forms' key schedules.
fn run_examples(subject: &Subject, plan: &Plan) -> Result<Row> {
    let start = Instant::now();
    let run = |claim: Claim| -> Result<[usize; 2]> {
        let keys = examples::keys(plan, &claim, subject.deciding_keys)?;
        Ok([examples::vectors(&claim, plan.planes / 8)?, keys])
    };
    let counts = (subject.claims)().into_par_iter().map(run).collect::<Result<Vec<_>>>()?;
    let [blocks, keys] = [0, 1].map(|i| counts.iter().map(|counts| counts[i]).sum::<usize>());
    let what = format!("examples: {blocks} blocks of vectors, {keys} keys through key schedules");
    Ok(row(subject, what, "evaluation of the models, no proof".into(), start))
}

fn row(subject: &Subject, what: String, how: String, start: Instant) -> Row {
    let seconds = format!("{:.1}", start.elapsed().as_secs_f64());
    [subject.name.to_owned(), what, how, seconds]
}

fn prove_step(subject: &Subject, circuits: usize, Step { name, recording }: &Step) -> Result<Row> {
    let start = Instant::now();
    let circuits = CIRCUITS[circuits];
    let standard = subject.step(name).with_context(|| format!("no standard of step {name}"))?;
    let proof = step::prove(recording, standard).map_err(|refutation| {
        let ones: Vec<_> = refutation
            .example
            .iter()
            .filter(|(_, is_set)| **is_set)
            .map(|(node, _)| node)
            .collect();
        let output = refutation.output;
        anyhow!(
            "step {name} of {circuits}: output {output} is wrong where these are ones: {ones:?}"
        )
    })?;
    Ok(row(
        subject,
        format!("step {name}, {circuits}, {} nodes", recording.nodes().len()),
        proof.to_string(),
        start,
    ))
}

/// That blocks become planes and back.
fn prove_transposes(subject: &Subject, planes: usize) -> Result<Row> {
    let start = Instant::now();
    whole::prove_transposes(planes, &Recording::load(planes), &Recording::store(planes))?;
    Ok(row(subject, "the way in and out".into(), "following every bit".into(), start))
}

/// That the plan is what was recorded, that it is the standard's cipher, and that faults are refuted.
fn prove_wholes(subject: &Subject, plan: &Plan, circuits: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let start = Instant::now();
    let nodes = plan.wholes.iter().map(|whole| graph::check(plan, whole));
    let nodes = nodes.sum::<Result<usize, _>>()?;
    let what = format!("the plan is what was recorded, {circuits}: {} wholes", plan.wholes.len());
    rows.push(row(subject, what, format!("identity of {nodes} nodes"), start));
    let start = Instant::now();
    let prove = |claim: Claim| {
        whole::prove(subject, plan, &claim).with_context(|| claim.name.clone())?;
        Ok(claim.name)
    };
    let names = (subject.claims)().into_par_iter().map(prove).collect::<Result<Vec<_>>>()?;
    rows.push(row(
        subject,
        format!("{}: {}", subject.standard, names.join(", ")),
        "normal forms".into(),
        start,
    ));
    let start = Instant::now();
    let refuted = controls::run(subject, plan)?;
    rows.push(row(
        subject,
        format!("refuted when made wrong: {}", refuted.join(", ")),
        "as above".into(),
        start,
    ));
    Ok(rows)
}
