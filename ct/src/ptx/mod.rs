//! The kernels' PTX: no address and no branch of a constant-time kernel depends on key or data.

pub(crate) mod inside;
mod parse;
mod public;
mod taint;

use std::collections::{BTreeSet, HashMap};

use anyhow::{Context, Result, ensure};
use lanecrypt::{
    CIPHERS, ConstantTime,
    cuda::{
        Engine, HashFamily,
        kernels::{Kernel, MODULES, Module, batch, gcm, ghash, modes, random},
    },
    registry::{Backend, CipherDescription, Platform},
};

use crate::{
    report::{Row, Verdict},
    valgrind::name,
};

/// Findings that are shown of a backend whose claim is wrong.
const SHOWN_FINDINGS: usize = 10;

/// What was found in kernels, by their names.
#[derive(Default)]
struct Analyses {
    findings: HashMap<String, Vec<taint::Finding>>,
}

/// Every GPU backend whose name contains `filter`. Backends of the host build name the kernels,
/// since they can be made where there is no GPU.
///
/// # Errors
/// PTX that is not understood; kernels that no backend has; public fields that no kernel reads.
pub(crate) fn rows(filter: &str) -> Result<Vec<Row>> {
    let analyses = Analyses::of(MODULES)?;
    let mut rows = Vec::new();
    let mut owned = Vec::new();
    for &cipher in CIPHERS {
        let on_host = |backend: &&Backend| backend.platform == Platform::CudaOnHost;
        for backend in cipher.backends.iter().filter(on_host) {
            let kernels = kernels(cipher, backend)?;
            owned.extend(kernels.iter().copied());
            let name = name(cipher, backend).replacen("host-", "cuda-", 1);
            rows.push(analyses.row(name, backend.constant_time, &kernels)?);
        }
    }
    // What modes need beside a cipher runs for backends of either claim. What batches read is described
    // in memory, so that lengths and places, which are public, cannot be told from secrets there: nothing
    // is claimed for them.
    let of_batches: Vec<_> = batch::kernels().collect();
    let of_gcm: Vec<_> = gcm::kernels().collect();
    for (name, claim, kernels) in [
        ("modes/cuda", ConstantTime::Yes, modes::KERNELS),
        ("ghash/cuda", ConstantTime::Yes, ghash::COMMON_KERNELS),
        ("ghash/cuda-tables", HashFamily::Tables.constant_time(), ghash::TABLE_KERNELS),
        ("ghash/cuda-matrices", HashFamily::Matrices.constant_time(), ghash::MATRIX_KERNELS),
        (
            "ghash/cuda-wide-matrices",
            HashFamily::WideMatrices.constant_time(),
            ghash::WIDE_MATRIX_KERNELS,
        ),
        ("batch/cuda", ConstantTime::LOOKS_UP, &of_batches),
        ("gcm/cuda", ConstantTime::LOOKS_UP, &of_gcm),
        ("random/cuda", ConstantTime::LOOKS_UP, random::KERNELS),
    ] {
        let kernels: Vec<_> = kernels.iter().copied().map(Kernel::name).collect();
        owned.extend(kernels.iter().copied());
        rows.push(analyses.row(name.into(), claim, &kernels)?);
    }
    let is_owned = |name: &&String| owned.contains(&name.as_str());
    let orphans: Vec<_> = analyses.findings.keys().filter(|name| !is_owned(name)).collect();
    ensure!(orphans.is_empty(), "no backend has the kernels {orphans:?}");
    rows.retain(|row| row.name.contains(filter));
    Ok(rows)
}

/// The kernels of a backend, each once: some take both directions.
fn kernels(cipher: &CipherDescription, backend: &Backend) -> Result<Vec<&'static str>> {
    let key = vec![0; cipher.key_bytes[0]];
    let engine = Engine::of(backend, &key).with_context(|| name(cipher, backend))?;
    let engine = engine.context("no row of a device")?;
    let program = engine.program();
    let names: BTreeSet<_> = program.kernels().map(|(_, kernel)| kernel.name()).collect();
    Ok(names.into_iter().collect())
}

impl Analyses {
    fn of(modules: &'static [Module]) -> Result<Self> {
        let mut findings = HashMap::new();
        let mut read = Vec::new();
        for module in modules {
            let entries = parse::entries(module.ptx);
            let entries = entries.with_context(|| module.name)?;
            ensure!(!entries.is_empty(), "{}: no kernel", module.name);
            for entry in entries {
                let analysis = taint::analyse(&entry, &public::of_kernel(module.name, entry.name));
                let analysis = analysis.with_context(|| format!("{}.ptx", module.name))?;
                read.extend(analysis.public_reads.iter().map(|&offset| (module.name, offset)));
                findings.insert(entry.name.to_owned(), analysis.findings);
            }
        }
        public::require_used(&read)?;
        Ok(Self { findings })
    }

    fn row(&self, name: String, claim: ConstantTime, kernels: &[&str]) -> Result<Row> {
        let mut findings = Vec::new();
        let mut silent = 0;
        for kernel in kernels {
            let found = self.findings.get(*kernel);
            let found = found.with_context(|| format!("kernel {kernel} is in no module"))?;
            findings.extend(found.iter().map(|finding| format!("{kernel}: {finding}")));
            silent += usize::from(found.is_empty());
        }
        let verdict = match claim {
            ConstantTime::Yes if findings.is_empty() => Verdict::Holds,
            ConstantTime::No(_) if silent == 0 => Verdict::Trips,
            _ => Verdict::Wrong,
        };
        let shown = if verdict == Verdict::Wrong { SHOWN_FINDINGS } else { 0 };
        let found = format!("{} places in {} kernels", findings.len(), kernels.len());
        findings.truncate(shown);
        Ok(Row { name, claim, how: "PTX", found, verdict, details: findings })
    }
}
