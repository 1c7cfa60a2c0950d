//! `lanecrypt self-test`: known answers on everything that this machine can run.

use clap::Args;
use lanecrypt::{
    CIPHERS, find_cipher,
    registry::{Backend, CipherDescription, Platform},
    self_test,
};
use serde_json::{Value, json};

use crate::{
    arguments::Printed,
    failure::Failure,
    file::print_line,
    lists::{print, table},
};

const ADVICE: &str = "\
Every implementation encrypts and decrypts messages whose ciphertext is known, in each mode and under each length of
key; the answers are published ones or those of other implementations (vectors/README.md). The provider for OpenSSL
and the Python package do the same with a cipher before its first use.

Examples:
  lanecrypt self-test
  lanecrypt self-test --cipher aes --json | jq '.[] | select(.error)'

Exit codes: 0 all answers given, 5 a wrong one.";

/// What is said of it to those who ask for a module's self-tests.
const NO_VALIDATION: &str =
    "These are algorithm self-tests as FIPS 140-3 asks for them; the module is not validated.";

/// Runs known answers on every implementation that this machine can run.
#[derive(Debug, Args)]
#[command(after_help = ADVICE)]
pub(crate) struct Arguments {
    /// Cipher to test; may be repeated [default: all].
    #[arg(long, short, value_name = "NAME")]
    cipher: Vec<String>,
    #[command(flatten)]
    printed: Printed,
}

/// What came of one implementation.
struct Row {
    cipher: &'static CipherDescription,
    backend: &'static Backend,
    answers: Result<usize, String>,
}

impl Arguments {
    /// # Errors
    /// [`Failure::SelfTest`] where an implementation is wrong; [`Failure::Usage`] for unknown ciphers.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let named = self.cipher.iter().map(|name| find_cipher(name));
        let mut ciphers = named.collect::<Result<Vec<_>, _>>()?;
        if ciphers.is_empty() {
            ciphers = CIPHERS.to_vec();
        }
        let mut rows = Vec::new();
        for cipher in ciphers {
            // The reference serves nobody, and the kernels compiled for the CPU are for tests.
            let is_used = |backend: &&Backend| {
                backend.id != "reference" && backend.platform != Platform::CudaOnHost
            };
            let here = cipher.backends.iter().filter(is_used);
            for backend in here.filter(|backend| (backend.available)().is_ok()) {
                let answers = self_test::of(cipher, backend).map_err(|error| error.to_string());
                rows.push(Row { cipher, backend, answers });
            }
        }
        self.show(&rows)?;
        match rows.iter().find_map(|row| row.answers.as_ref().err()) {
            Some(error) => Err(Failure::SelfTest(error.clone())),
            None => Ok(()),
        }
    }

    fn show(&self, rows: &[Row]) -> Result<(), Failure> {
        let line = |row: &Row| {
            let (answers, result) = match &row.answers {
                Ok(count) => (count.to_string(), "given"),
                Err(_) => (String::new(), "WRONG"),
            };
            vec![
                row.cipher.name.to_owned(),
                row.backend.id.to_owned(),
                row.backend.platform.to_string(),
                result.to_owned(),
                answers,
            ]
        };
        let json: Vec<_> = rows.iter().map(Row::json).collect();
        let header = ["cipher", "implementation", "on", "known answers", ""];
        print(
            self.printed,
            &table(&header, rows.iter().map(line).collect(), 4),
            &Value::Array(json),
        )?;
        if self.printed.json {
            return Ok(());
        }
        let given: usize = rows.iter().filter_map(|row| row.answers.as_ref().ok()).sum();
        print_line(format_args!(
            "{given} answers of {} implementations, each in both directions. {NO_VALIDATION}",
            rows.len()
        ))
    }
}

impl Row {
    fn json(&self) -> Value {
        json!({
            "cipher": self.cipher.name,
            "implementation": self.backend.id,
            "on": self.backend.platform.to_string(),
            "answers": self.answers.as_ref().ok(),
            "error": self.answers.as_ref().err(),
        })
    }
}
