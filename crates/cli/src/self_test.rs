//! `lanecrypt self-test`: known answers on everything that this machine can run.

use clap::Args;
use lanecrypt::{
    BackendChoice, CIPHERS, Engine, Error,
    cuda::{Device, Family},
    find_cipher, gpu,
    registry::{Backend, CipherDescription, Platform},
    self_test::{self, SelfTestError},
};
use serde_json::{Value, json};

use crate::{
    arguments::{Machine, Printed},
    failure::Failure,
    file::print_line,
    lists::{print, table},
};

const ADVICE: &str = "\
Every implementation encrypts and decrypts messages whose ciphertext is known, in each mode and under each length of
key; the answers are published ones or those of other implementations (vectors/README.md). The provider for OpenSSL
and the Python package do the same with a cipher before its first use. With --backend only what runs there is tested.

Examples:
  lanecrypt self-test
  lanecrypt self-test --backend cuda:1
  lanecrypt self-test --cipher aes --json | jq '.[] | select(.error)'

Exit codes: 0 all answers given, 4 no such device, 5 a wrong one.";

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

/// What of the machine is tested.
enum Tested {
    /// All that there is.
    Everything,
    Cpu,
    Gpu(Device),
}

impl Tested {
    fn by(choice: BackendChoice) -> Result<Self, Failure> {
        Ok(match choice {
            BackendChoice::Auto => Self::Everything,
            BackendChoice::Cpu => Self::Cpu,
            BackendChoice::Cuda(number) => Self::Gpu(gpu(number)?),
        })
    }

    /// What comes of an implementation; nothing of one that does not run there.
    fn answers(
        &self,
        cipher: &CipherDescription,
        backend: &Backend,
    ) -> Option<Result<usize, SelfTestError>> {
        // No command uses the reference, and the kernels compiled for the CPU are for tests.
        if backend.id == "reference" || backend.platform == Platform::CudaOnHost {
            return None;
        }
        match (self, backend.platform) {
            (Self::Gpu(device), Platform::Cuda) => on_gpu(cipher, backend, device),
            (Self::Everything, _) | (Self::Cpu, Platform::Cpu) => {
                (backend.available)().ok().map(|()| self_test::of(cipher, backend))
            }
            _ => None,
        }
    }
}

/// Kernels on a GPU that was asked for: those of a table's rows run on the first.
fn on_gpu(
    cipher: &CipherDescription,
    backend: &Backend,
    device: &Device,
) -> Option<Result<usize, SelfTestError>> {
    let family = Family::of(backend)?;
    family.program(device.properties()).ok()?;
    let create = |key: &[u8]| -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(family.engine(device, key)?))
    };
    Some(self_test::by(cipher, backend.id, &create))
}

impl Arguments {
    /// # Errors
    /// [`Failure::SelfTest`] where an implementation is wrong; [`Failure::Usage`] for unknown ciphers;
    /// [`Failure::NoDevice`] where nothing runs on what was asked for.
    pub(crate) fn run(&self, machine: &Machine) -> Result<(), Failure> {
        let named = self.cipher.iter().map(|name| find_cipher(name));
        let mut ciphers = named.collect::<Result<Vec<_>, _>>()?;
        if ciphers.is_empty() {
            ciphers = CIPHERS.to_vec();
        }
        let tested = Tested::by(machine.backend())?;
        let mut rows = Vec::new();
        for cipher in ciphers {
            for backend in cipher.backends {
                if let Some(answers) = tested.answers(cipher, backend) {
                    let answers = answers.map_err(|error| error.to_string());
                    rows.push(Row { cipher, backend, answers });
                }
            }
        }
        if rows.is_empty() {
            let text = "--backend: nothing of these ciphers runs there";
            return Err(Failure::NoDevice(text.to_owned()));
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
