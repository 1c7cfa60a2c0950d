//! One measurement: what was measured, over how many bytes, and how long it took.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What runs over the data.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Work {
    /// ECB encryption.
    EcbEncrypt,
    /// ECB decryption.
    EcbDecrypt,
    /// CTR, XOR with data. Also what is meant where a record does not say.
    #[default]
    Ctr,
    /// CBC decryption.
    CbcDecrypt,
    /// XTS encryption: of one data unit on CPUs, of units of a page on devices.
    XtsEncrypt,
    /// XTS decryption, on devices.
    XtsDecrypt,
    /// GCM encryption with an IV of 12 bytes and no associated data.
    GcmEncrypt,
    /// GCM decryption of what has the right tag, on devices.
    GcmDecrypt,
    /// CTR's key stream alone, not stored: on devices, where kernels have that form.
    Keystream,
    /// Random bytes, of `lanecrypt::random`.
    RandomBytes,
    /// Random `i64` of a range of six.
    RandomIntegers,
    /// Random `f32` in [0, 1).
    RandomUnits,
    /// Random `f32` of the normal distribution.
    RandomNormals,
}

impl Work {
    /// What `lanecrypt::random` draws; its throughput is that of the numbers, which are written and not read.
    pub const RANDOM: [Self; 4] =
        [Self::RandomBytes, Self::RandomIntegers, Self::RandomUnits, Self::RandomNormals];
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EcbEncrypt => "ECB encryption",
            Self::EcbDecrypt => "ECB decryption",
            Self::Ctr => "CTR",
            Self::CbcDecrypt => "CBC decryption",
            Self::XtsEncrypt => "XTS encryption",
            Self::XtsDecrypt => "XTS decryption",
            Self::GcmEncrypt => "GCM encryption",
            Self::GcmDecrypt => "GCM decryption",
            Self::Keystream => "key stream, not stored",
            Self::RandomBytes => "random bytes",
            Self::RandomIntegers => "random i64, a range of six",
            Self::RandomUnits => "random f32 in [0, 1)",
            Self::RandomNormals => "random f32, normal",
        })
    }
}

/// Where data was before and after.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Place {
    /// CPU, in host memory.
    #[default]
    Cpu,
    /// On the device before and after.
    Resident,
    /// The same, launch after launch for a minute: the time is the mean of all.
    Sustained,
    /// On the device, queued on a stream: the time is the host's, from before that until it has run.
    Queued,
    /// Device, from host memory to host memory.
    EndToEnd,
    /// The same with memory that is pinned.
    Pinned,
}

impl Place {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Resident => "GPU, resident",
            Self::Sustained => "GPU, resident, a minute without a pause",
            Self::Queued => "GPU, launch to finish",
            Self::EndToEnd => "GPU, end to end",
            Self::Pinned => "GPU, pinned memory",
        }
    }
}

/// Which of several times of one thing a figure is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Step {
    /// The only one.
    #[default]
    Whole,
    /// Opening a device, before the first call.
    Open,
    /// What a first call takes longer than the second where the driver has compiled nothing yet.
    Compile,
    /// The same where another process has had the same kernels compiled.
    Load,
    /// A file's encryption.
    Encryption,
    /// A file's decryption.
    Decryption,
    /// All of the CPU's threads, beside [`Self::Auto`].
    Cpu,
    /// The GPU, beside [`Self::Auto`].
    Gpu,
    /// What chooses between the two; the figure's place says what was chosen.
    Auto,
    /// RustCrypto's cipher, in its mode, beside [`Self::Swapped`].
    Theirs,
    /// Our cipher in RustCrypto's mode.
    Swapped,
    /// Our cipher in our mode, or our own call for many blocks.
    Ours,
}

/// One measurement. Labels that mean nothing in a [`Part`](crate::Part) have their defaults there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figure {
    /// The cipher's name; none of files.
    pub cipher: String,
    /// Bits of the key.
    pub key_bits: usize,
    /// The backend, the library, or of files the command.
    #[serde(alias = "tool")]
    pub backend: String,
    /// The mode.
    pub work: Work,
    /// Where the data was.
    pub place: Place,
    /// Which time of it.
    #[serde(skip_serializing_if = "is_default")]
    pub step: Step,
    /// How many: messages of a batch, devices of a fleet, threads of a thread block (0: as the kernel is
    /// launched by itself), blocks of a call.
    #[serde(alias = "messages", alias = "devices", alias = "threads")]
    #[serde(skip_serializing_if = "is_default")]
    pub count: usize,
    /// What a user calls, where parts of the measurement are no [`Work`]: a method of a cipher, or what of a
    /// mode crate.
    #[serde(skip_serializing_if = "is_default")]
    pub call: String,
    /// How the implementation says that it runs a call of this length.
    #[serde(skip_serializing_if = "is_default")]
    pub way: String,
    /// Bytes from which on [`Step::Auto`] takes the GPU, then again the CPU, and so on.
    #[serde(skip_serializing_if = "is_default")]
    pub switches: Vec<u64>,
    /// Bytes of data, of all messages together; none of calls that are counted in blocks.
    pub bytes: usize,
    /// Median seconds of a pass.
    pub seconds: f64,
    /// Seconds of the fastest pass, on the CPU; older records have the median alone.
    #[serde(skip_serializing_if = "is_default")]
    pub fastest_seconds: Option<f64>,
    /// Passes that the median is of.
    pub samples: usize,
    /// Between which seconds the median lies with 95% confidence; older records do not say.
    #[serde(skip_serializing_if = "is_default")]
    pub interval: Option<[f64; 2]>,
    /// GHz of the core, measured just before; on GPUs, and in records from before it was measured,
    /// there is none.
    #[serde(skip_serializing_if = "is_default")]
    pub gigahertz: Option<f64>,
    /// Joules of the board that a pass takes where passes follow each other for seconds: where the driver counts them.
    #[serde(skip_serializing_if = "is_default")]
    pub joules: Option<f64>,
    /// Whether it is another library's; older records do not say.
    #[serde(skip_serializing_if = "is_default")]
    pub is_peer: bool,
    /// Of which run it is, where several are read together; a record does not say.
    #[serde(skip)]
    pub run: usize,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Figure {
    /// Under a 128-bit key, of eleven passes; callers change what else they need.
    #[must_use]
    pub fn of(
        (cipher, backend): (&str, &str),
        (work, place): (Work, Place),
        bytes: usize,
        seconds: f64,
    ) -> Self {
        let (cipher, backend) = (cipher.into(), backend.into());
        let (key_bits, samples) = (128, 11);
        Self { cipher, key_bits, backend, work, place, bytes, seconds, samples, ..Self::default() }
    }

    /// Gbit/s, with 1 Gbit = 10^9 bits.
    #[must_use]
    pub fn gbit_per_second(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.seconds / 1e9
    }

    /// GB/s, with 1 GB = 10^9 bytes.
    #[must_use]
    pub fn gigabytes_per_second(&self) -> f64 {
        self.gbit_per_second() / 8.0
    }

    /// Seconds of the fastest pass where it is known, else the median. Cycles and ratios are of
    /// this: what else runs on the machine makes passes longer, never shorter.
    #[must_use]
    pub fn undisturbed_seconds(&self) -> f64 {
        self.fastest_seconds.unwrap_or(self.seconds)
    }

    /// Cycles of the core per byte, in the fastest pass, where the clock is known.
    #[must_use]
    pub fn cycles_per_byte(&self) -> Option<f64> {
        self.gigahertz.map(|clock| clock * 1e9 * self.undisturbed_seconds() / self.bytes as f64)
    }

    /// Gbit for each joule, which is Gbit/s for each watt, where energy was measured.
    #[must_use]
    pub fn gbit_per_joule(&self) -> Option<f64> {
        self.joules.map(|joules| self.bytes as f64 * 8.0 / joules / 1e9)
    }

    /// Cipher and bits of the key in capitals, as tables have them.
    #[must_use]
    pub fn keyed(&self) -> String {
        format!("{}-{}", self.cipher.to_uppercase(), self.key_bits)
    }
}

/// The name of a cipher with a key of `bits`, as people write it.
#[must_use]
pub fn title(cipher: &str, bits: usize) -> String {
    match (cipher, bits) {
        ("camellia", _) => format!("Camellia-{bits}"),
        ("des", _) => "DES".into(),
        ("tdes", 128) => "3DES (2 keys)".into(),
        ("tdes", _) => "3DES (3 keys)".into(),
        ("tdes-eee", 128) => "3DES-EEE (2 keys)".into(),
        ("tdes-eee", _) => "3DES-EEE (3 keys)".into(),
        ("hight", _) => "HIGHT".into(),
        ("seed", _) => "SEED".into(),
        _ => format!("{}-{bits}", cipher.to_uppercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ciphers_have_the_names_that_people_write() {
        let names = [("aes", 256), ("camellia", 128), ("tdes", 128), ("tdes", 192), ("des", 64)];
        let names = names.map(|(cipher, bits)| title(cipher, bits));
        assert_eq!(names, ["AES-256", "Camellia-128", "3DES (2 keys)", "3DES (3 keys)", "DES"]);
    }
}
