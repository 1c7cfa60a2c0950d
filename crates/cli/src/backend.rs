//! Where ciphers run: `--backend` and `--threads`.

use std::str::FromStr;

use lanecrypt::{Engine, auto, constant_time_family, cuda::Device, engine};

use crate::{cipher_name::CipherName, failure::Failure};

/// What `--backend` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackendChoice {
    /// Where a piece finishes first.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU of this number.
    Cuda(usize),
}

impl FromStr for BackendChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let cuda = || text.strip_prefix("cuda:")?.parse().ok().map(Self::Cuda);
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => cuda().ok_or_else(|| "one of auto, cpu, cuda, cuda:1, ...".to_owned()),
        }
    }
}

impl BackendChoice {
    /// An engine for a cipher under a key, constant-time wherever it runs.
    ///
    /// # Errors
    /// [`Failure::NoDevice`] where a GPU is asked for that is not there or has no kernels of this cipher.
    pub(crate) fn engine(self, name: CipherName, key: &[u8]) -> Result<Box<dyn Engine>, Failure> {
        let cipher = name.cipher.name;
        match self {
            Self::Auto => Ok(auto(cipher, key)?),
            Self::Cpu => Ok(engine(cipher, "default", key)?),
            Self::Cuda(number) => {
                let device = device(number)?;
                let Some(family) = constant_time_family(cipher)? else {
                    return Err(Failure::NoDevice(format!("{cipher} has no kernels for a GPU")));
                };
                let engine = family.engine(&device, key);
                Ok(Box::new(engine.map_err(|error| Failure::Io(error.to_string()))?))
            }
        }
    }
}

/// The GPU of this number.
///
/// # Errors
/// [`Failure::NoDevice`].
pub(crate) fn device(number: usize) -> Result<Device, Failure> {
    let devices = Device::all().map_err(|error| Failure::NoDevice(error.to_string()))?;
    let count = devices.len();
    devices.into_iter().nth(number).ok_or_else(|| {
        Failure::NoDevice(format!("there is no GPU {number}; this machine has {count}"))
    })
}

/// Makes rayon's threads as many as `--threads` says.
///
/// # Errors
/// [`Failure::Usage`] for none at all.
pub(crate) fn set_threads(threads: Option<usize>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    if threads == 0 {
        return Err(Failure::Usage("--threads 0: one at least does the work".to_owned()));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| Failure::Io(error.to_string()))
}
