//! `lanecrypt speed`: throughput of ciphers over buffers of several lengths, as `openssl speed` shows it.

use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use lanecrypt::{
    BackendChoice, CIPHERS, CipherName, Direction, Engine, Operation,
    registry::{Backend, CipherDescription, Platform},
    size::{parse_bytes, size_name},
};
use serde_json::{Value, json};

use crate::{
    arguments::{Machine, Printed},
    failure::Failure,
    lists::{print, table},
};

const ADVICE: &str = "\
Figures are GB/s (10^9 bytes per second), one buffer at a time, in place, from host memory to host memory, on --threads
threads. `cpu` and `cuda` are what the other commands use; --form selects another implementation of this project, or all.

Examples:
  lanecrypt speed --cipher camellia-256 --mode cbc-decrypt
  lanecrypt speed --threads 1 --form all --cipher aes-128 --bytes 16K
  lanecrypt speed --json > speed.json";

/// Default lengths: those of `openssl speed`, and lengths that only files have.
const LENGTHS: [u64; 7] = [16, 256, 1 << 10, 8 << 10, 16 << 10, 1 << 20, 64 << 20];

/// Measures the speed of ciphers on this machine.
#[derive(Debug, Args)]
#[command(after_help = ADVICE)]
pub(crate) struct Arguments {
    /// Cipher to measure; may be repeated [default: all].
    #[arg(long, short, value_name = "NAME")]
    cipher: Vec<CipherName>,
    /// Operation to measure.
    #[arg(long, default_value = "ctr")]
    mode: SpeedMode,
    /// Buffer size in bytes, with an optional K, M or G; may be repeated.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    bytes: Vec<u64>,
    /// CPU implementation by name, or `all`; may be repeated.
    #[arg(long, value_name = "ID")]
    form: Vec<String>,
    /// Milliseconds to spend on each figure.
    #[arg(long, value_name = "MS", default_value_t = 100)]
    time: u64,
    #[command(flatten)]
    printed: Printed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SpeedMode {
    EcbEncrypt,
    EcbDecrypt,
    Ctr,
    CbcDecrypt,
}

impl SpeedMode {
    fn run(self, engine: &dyn Engine, data: &mut [u8]) -> Result<(), lanecrypt::Error> {
        let iv = &[0; 16][..engine.block_bytes()];
        match self {
            Self::EcbEncrypt => engine.ecb(Direction::Encrypt, data.into()),
            Self::EcbDecrypt => engine.ecb(Direction::Decrypt, data.into()),
            Self::Ctr => engine.ctr(iv, data.into()),
            Self::CbcDecrypt => engine.run(Operation::Cbc(Direction::Decrypt, iv), data.into()),
        }
    }
}

/// A row of the table: a cipher, who computes it, and GB/s of each length.
struct Row {
    cipher: CipherName,
    backend: String,
    rates: Vec<f64>,
}

/// Who computes a cipher, by name.
type Named = (String, Box<dyn Engine>);

/// The implementations of a cipher for CPUs.
fn on_cpu(cipher: &CipherDescription) -> impl Iterator<Item = &'static Backend> + use<> {
    cipher.backends.iter().filter(|backend| backend.platform == Platform::Cpu)
}

impl Arguments {
    pub(crate) fn run(&self, machine: &Machine) -> Result<(), Failure> {
        let lengths = self.lengths()?;
        self.check_forms(machine.backend())?;
        let ciphers: Vec<CipherName> =
            if self.cipher.is_empty() { CipherName::all().collect() } else { self.cipher.clone() };
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut data = Vec::new();
        data.try_reserve_exact(longest)
            .map_err(|error| Failure::Usage(format!("--bytes {longest}: {error}")))?;
        data.resize(longest, 0x5a);
        let mut rows = Vec::new();
        for cipher in ciphers {
            for (backend, engine) in self.engines(cipher, machine)? {
                let rate = |&bytes: &usize| self.rate(&*engine, &mut data[..bytes]);
                let rates = lengths.iter().map(rate).collect::<Result<_, _>>()?;
                rows.push(Row { cipher, backend, rates });
            }
        }
        if rows.is_empty() {
            let forms = self.form.join(", ");
            let text = format!("--form {forms}: no implementation of these ciphers on this CPU");
            return Err(Failure::Usage(text));
        }
        self.print(&lengths, &rows)
    }

    /// Whole blocks of every cipher.
    fn lengths(&self) -> Result<Vec<usize>, Failure> {
        let given = if self.bytes.is_empty() { &LENGTHS[..] } else { &self.bytes };
        let whole = |&bytes: &u64| {
            let length = usize::try_from(bytes).ok().filter(|&n| n > 0 && n.is_multiple_of(16));
            let text = format!("--bytes {bytes}: must be a positive multiple of 16");
            length.ok_or(Failure::Usage(text))
        };
        given.iter().map(whole).collect()
    }

    /// Forms are for CPUs: a GPU is measured without.
    fn check_forms(&self, backend: BackendChoice) -> Result<(), Failure> {
        if let (Some(form), BackendChoice::Cuda(number)) = (self.form.first(), backend) {
            let text = format!("--form {form}: it is for CPUs, and --backend names cuda:{number}");
            return Err(Failure::Usage(text));
        }
        let is_known = |form: &str| {
            let mut forms = CIPHERS.iter().flat_map(|cipher| on_cpu(cipher));
            form == "all" || forms.any(|backend| backend.id == form)
        };
        match self.form.iter().find(|form| !is_known(form)) {
            Some(form) => {
                let text = format!("--form {form}: no cipher has a form of this name for CPUs");
                Err(Failure::Usage(text))
            }
            None => Ok(()),
        }
    }

    /// Who computes a cipher here: what the other commands use, or the forms that are asked for.
    fn engines(&self, cipher: CipherName, machine: &Machine) -> Result<Vec<Named>, Failure> {
        let key: Vec<u8> = (0..cipher.key_bytes).map(|i| (i * 37 + 11) as u8).collect();
        let mut engines = Vec::new();
        if !self.form.is_empty() {
            let chosen = |id: &str| self.form.iter().any(|form| form == "all" || form == id);
            for backend in on_cpu(cipher.cipher).filter(|backend| chosen(backend.id)) {
                if (backend.available)().is_ok() {
                    let engine = lanecrypt::engine(cipher.cipher.name, backend.id, &key)?;
                    engines.push((backend.id.to_owned(), engine));
                }
            }
            return Ok(engines);
        }
        if !matches!(machine.backend(), BackendChoice::Cuda(_)) {
            engines.push(("cpu".to_owned(), BackendChoice::Cpu.engine(cipher.cipher.name, &key)?));
        }
        match (machine.backend(), BackendChoice::Cuda(0).engine(cipher.cipher.name, &key)) {
            (BackendChoice::Auto, Ok(engine)) => engines.push(("cuda".to_owned(), engine)),
            (BackendChoice::Cuda(number), _) => {
                let engine = BackendChoice::Cuda(number).engine(cipher.cipher.name, &key)?;
                engines.push((format!("cuda:{number}"), engine));
            }
            _ => {} // `auto` on a machine without a GPU
        }
        Ok(engines)
    }

    /// GB/s.
    fn rate(&self, engine: &dyn Engine, data: &mut [u8]) -> Result<f64, Failure> {
        let least = Duration::from_millis(self.time);
        self.mode.run(engine, data)?;
        let (start, mut passes, mut at_once) = (Instant::now(), 0_u64, 1);
        loop {
            for _ in 0..at_once {
                self.mode.run(engine, data)?;
            }
            passes += at_once;
            let time = start.elapsed();
            if time >= least {
                return Ok(passes as f64 * data.len() as f64 / time.as_secs_f64() / 1e9);
            }
            at_once *= 2; // so that looking at the clock costs nothing
        }
    }

    fn print(&self, lengths: &[usize], rows: &[Row]) -> Result<(), Failure> {
        let names: Vec<String> = lengths.iter().map(|&bytes| size_name(bytes)).collect();
        let header: Vec<&str> =
            ["cipher", "by"].into_iter().chain(names.iter().map(String::as_str)).collect();
        let cells = rows.iter().map(|row| {
            let rates = row.rates.iter().map(|rate| format!("{rate:.3}"));
            [row.cipher.to_string(), row.backend.clone()].into_iter().chain(rates).collect()
        });
        let json = rows.iter().map(|row| {
            let points = lengths.iter().zip(&row.rates);
            json!({
                "cipher": row.cipher.to_string(),
                "backend": row.backend,
                "mode": self.mode.to_possible_value().map(|value| value.get_name().to_owned()),
                "points": points
                    .map(|(bytes, rate)| json!({ "bytes": bytes, "gigabytes_per_second": rate }))
                    .collect::<Vec<_>>(),
            })
        });
        print(self.printed, &table(&header, cells.collect(), 2), &Value::Array(json.collect()))
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Mutex, thread};

    use clap::Parser;
    use lanecrypt::cipher::InOutBuf;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    /// Takes ten milliseconds or more for each call, and notes when it began and ended.
    #[derive(Debug, Default)]
    struct Slow(Mutex<Vec<[Instant; 2]>>);

    impl Engine for Slow {
        fn block_bytes(&self) -> usize {
            16
        }

        fn run(&self, _: Operation<'_>, _: InOutBuf<'_, '_, u8>) -> Result<(), lanecrypt::Error> {
            let start = Instant::now();
            thread::sleep(Duration::from_millis(10));
            self.0.lock().expect("no call panics").push([start, Instant::now()]);
            Ok(())
        }
    }

    #[test]
    fn rates_are_bytes_in_their_time() {
        let Line { arguments } = Line::parse_from(["speed", "--time", "100"]);
        let slow = Slow::default();
        let rate = arguments.rate(&slow, &mut [0; 4096]).expect("it does not fail");
        let end = Instant::now();
        // A pass before those that count; time is taken between it and them, and behind them.
        let calls = slow.0.into_inner().expect("no call panics");
        let ([before, counted @ ..], [.., [_, returned]]) = (&calls[..], &calls[..]) else {
            panic!("none")
        };
        let [least, most] = [*returned - counted[0][0], end - before[1]];
        assert!(most >= Duration::from_millis(100) && counted.len() > 1, "{counted:?}");
        let of = |time: Duration| counted.len() as f64 * 4096.0 / time.as_secs_f64() / 1e9;
        assert!((of(most)..=of(least)).contains(&rate), "{rate} in {least:?} to {most:?}");
    }

    #[test]
    fn what_is_measured_is_computed() {
        let engine = BackendChoice::Cpu.engine("seed", &[1; 16]).expect("every CPU has SEED");
        let run = |mode: SpeedMode, data: &[u8]| {
            let mut data = data.to_vec();
            mode.run(&*engine, &mut data).expect("whole blocks");
            data
        };
        let plaintext = vec![0x5a; 32];
        let by_ecb = run(SpeedMode::EcbEncrypt, &plaintext);
        let by_ctr = run(SpeedMode::Ctr, &plaintext);
        assert!(by_ecb != plaintext && by_ctr != plaintext && by_ecb != by_ctr);
        assert_eq!(run(SpeedMode::EcbDecrypt, &by_ecb), plaintext);
        assert_eq!(run(SpeedMode::Ctr, &by_ctr), plaintext);
        // Under an IV of zeros the first block of CBC is that of ECB, and the second is not.
        let by_cbc = run(SpeedMode::CbcDecrypt, &by_ecb);
        assert!(by_cbc[..16] == plaintext[..16] && by_cbc[16..] != plaintext[16..]);
    }
}
