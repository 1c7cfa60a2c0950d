//! Where ciphers run, as people name it: `auto`, `cpu`, `cuda`, `cuda:1`.

use std::str::FromStr;

use crate::{
    Engine, Error, LookupError, Xts, auto, constant_time_family,
    cuda::{self, Device},
    engine,
    io::RunsUnits,
};

/// Where a user chose to run ciphers.
///
/// ```
/// use lanecrypt::BackendChoice;
///
/// let choice: BackendChoice = "cpu".parse()?;
/// let engine = choice.engine("aria", &[0; 32])?;
/// assert_eq!(engine.block_bytes(), 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendChoice {
    /// CPU or GPU, whichever is faster for a piece.
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
    /// An engine for a cipher under a key, constant-time wherever it runs; on the CPU long calls run on
    /// all cores.
    ///
    /// # Errors
    /// [`LookupError::NoDevice`] where a GPU is asked for that is not there or has no kernels of this
    /// cipher; [`LookupError`] for unknown names and key lengths that the cipher does not take.
    pub fn engine(self, cipher: &str, key: &[u8]) -> Result<Box<dyn Engine>, LookupError> {
        match self {
            Self::Auto => auto(cipher, key),
            Self::Cpu => engine(cipher, "default", key),
            Self::Cuda(number) => {
                let device = gpu(number)?;
                let Some(family) = constant_time_family(cipher)? else {
                    let text = format!("{cipher} has no kernels for a GPU");
                    return Err(LookupError::NoDevice(text));
                };
                let engine = family.engine(&device, key);
                Ok(Box::new(engine.map_err(Error::from)?))
            }
        }
    }

    /// XTS of a cipher under its two keys, one after the other, the data's first; constant-time as
    /// [`engine`](Self::engine) is.
    ///
    /// # Errors
    /// As [`engine`](Self::engine).
    pub fn xts(
        self,
        cipher: &str,
        keys: &[u8],
    ) -> Result<Box<dyn RunsUnits + Send + Sync>, LookupError> {
        if let Self::Cuda(number) = self
            && let Some(family) = constant_time_family(cipher)?
        {
            let engine = family.xts_engine(&gpu(number)?, keys);
            return Ok(Box::new(engine.map_err(Error::from)?));
        }
        let (data, tweak) = keys.split_at(keys.len() / 2);
        Ok(Box::new(Xts::new(self.engine(cipher, data)?, self.engine(cipher, tweak)?)))
    }
}

/// The GPU of this number, which a user asked for.
///
/// # Errors
/// [`LookupError::NoDevice`] where there is none, or it cannot be opened.
pub fn gpu(number: usize) -> Result<Device, LookupError> {
    Device::number(number).map_err(|error| {
        let reason = match &error {
            cuda::Error::NoSuchDevice { .. } => error.to_string(),
            _ => format!("cuda:{number}: {error}"),
        };
        LookupError::NoDevice(reason)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;

    #[test]
    fn places_have_names() {
        assert_eq!("cuda:3".parse(), Ok(BackendChoice::Cuda(3)));
        assert_eq!("cuda".parse(), Ok(BackendChoice::Cuda(0)));
        assert_eq!("auto".parse(), Ok(BackendChoice::Auto));
        assert_eq!("cpu".parse(), Ok(BackendChoice::Cpu));
        for wrong in ["", "gpu", "cuda:", "cuda:-1", "CPU"] {
            assert!(wrong.parse::<BackendChoice>().is_err(), "{wrong}");
        }
        let error = BackendChoice::Cuda(4095).engine("aes", &[0; 16]).expect_err("nobody has it");
        assert!(matches!(error, LookupError::NoDevice(_)) && error.to_string().contains("4095"));
    }

    #[test]
    fn keys_of_xts_stand_one_behind_the_other() {
        let keys: Vec<u8> = (0..64).collect();
        for choice in [BackendChoice::Cpu, BackendChoice::Auto] {
            let (mut ours, mut expected) = (vec![7; 1024], vec![7; 1024]);
            let [data, tweak] = [&keys[..32], &keys[32..]]
                .map(|key| engine("aes", "reference", key).expect("a good key"));
            let run = |xts: &dyn RunsUnits, data: &mut [u8]| {
                xts.run_units(Direction::Encrypt, 5.into(), 512, data.into()).expect("two units");
            };
            run(&choice.xts("aes", &keys).expect("two good keys"), &mut ours);
            run(&Xts::new(data, tweak), &mut expected);
            assert_eq!(ours, expected);
        }
    }
}
