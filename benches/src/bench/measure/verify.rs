//! Output is compared before it is timed.

use std::time::{Duration, Instant};

use lanecrypt::registry::{CipherDescription, Create};

use super::{
    cases::Case,
    keyed::last_on_cpu,
    runner::{Data, expected},
};

/// Longest input that the reference itself is asked for; above, another CPU backend is.
const REFERENCE_BYTES: usize = 64 << 10;

/// Runs a case once, checks its output, and says how long that took.
///
/// # Errors
/// A sentence naming the case where the output is wrong or the engine fails.
pub(crate) fn verify(case: &Case) -> Result<Duration, String> {
    let cipher = case.cipher;
    let failed = |error: String| format!("{case}: {error}");
    let mut runner = case.runner().map_err(failed)?;
    let mut found = Data::new(case.bytes, cipher.block_bytes);
    let start = Instant::now();
    found.run(&mut *runner).map_err(failed)?;
    let elapsed = start.elapsed();
    let oracle = oracle(cipher, case.bytes, case.contender.id());
    let expected = expected(cipher, oracle, case.work, case.key_bytes, case.bytes);
    if found.output() == expected.map_err(failed)?.output() {
        return Ok(elapsed);
    }
    Err(format!("{case} gives wrong output; nothing is timed"))
}

/// What to compare `id` with: the reference, or for long inputs the last CPU backend of the table
/// that runs here and is not the one in question.
fn oracle(cipher: &'static CipherDescription, bytes: usize, id: &str) -> Create {
    match last_on_cpu(cipher, |backend| backend.id != id) {
        Some(backend) if bytes > REFERENCE_BYTES || id == "reference" => backend.create,
        _ => cipher.backends[0].create,
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_record::Work;

    use super::*;
    use crate::bench::measure::{cases::Contender, peers::baseline::Baseline};
    use crate::bench::plan::ON_CPU;

    #[test]
    fn wrong_output_ends_the_run() {
        static WRONG: Baseline = Baseline {
            cipher: "aria",
            name: "wrong",
            create: lanecrypt::camellia::CAMELLIA.backends[0].create,
        };
        let cipher = lanecrypt::find_cipher("aria").expect("it is in the registry");
        let contender = Contender::Baseline(&WRONG);
        let all = ON_CPU.into_iter().filter(|&work| work != Work::GcmEncrypt);
        for work in all {
            let case = Case { cipher, key_bytes: 16, contender, work, bytes: 64 };
            let refused = verify(&case).expect_err("it is wrong");
            assert!(refused.contains("wrong output; nothing is timed"), "{refused}");
            let contender = Contender::Backend(&cipher.backends[1]);
            assert!(verify(&Case { contender, ..case }).is_ok());
        }
    }
}
