//! Files that measurements are taken with, and what they take.

use std::{
    error::Error,
    fs::{self, File},
    io::{self, Write},
    path::Path,
    time::Instant,
};

/// Seconds by the clock, and of all threads together.
pub(crate) struct Time {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

/// What a call took.
pub(crate) fn timed<T, E: Into<Box<dyn Error>>>(
    run: impl FnOnce() -> Result<T, E>,
) -> Result<Time, Box<dyn Error>> {
    let (begin, cpu) = (Instant::now(), cpu_seconds()?);
    run().map_err(Into::into)?;
    Ok(Time { wall: begin.elapsed().as_secs_f64(), cpu: cpu_seconds()? - cpu })
}

/// What this process has used so far: by proc(5), fields 14 and 15 of `stat`, in hundredths.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(ticks as f64 / 100.0)
}

/// Writes a file that no two mebibytes of are alike.
pub(crate) fn write_text(path: &Path, mebibytes: u64) -> Result<(), Box<dyn Error>> {
    let mut file = File::create(path)?;
    Ok((0..mebibytes).try_for_each(|number| file.write_all(&mebibyte(number)))?)
}

/// Compares what is written to it with what [`write_text`] writes.
pub(crate) struct Comparing {
    mebibytes: u64,
    /// The number of the mebibyte that comes next, and what of it has come.
    next: u64,
    come: Vec<u8>,
}

impl Comparing {
    /// With this number of mebibytes.
    pub(crate) fn new(mebibytes: u64) -> Self {
        Self { mebibytes, next: 0, come: Vec::new() }
    }

    /// Fails where it had fewer.
    pub(crate) fn finish(self) -> Result<(), Box<dyn Error>> {
        if self.next == self.mebibytes && self.come.is_empty() {
            return Ok(());
        }
        Err(format!("{} of {} mebibytes came", self.next, self.mebibytes).into())
    }
}

impl Write for Comparing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min((1 << 20) - self.come.len());
        self.come.extend_from_slice(&bytes[..taken]);
        if self.come.len() == 1 << 20 {
            if self.next == self.mebibytes || self.come != mebibyte(self.next) {
                return Err(io::Error::other(format!("mebibyte {} is not right", self.next)));
            }
            self.come.clear();
            self.next += 1;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn mebibyte(number: u64) -> Vec<u8> {
    let mut text = vec![0; 1 << 20];
    for (number, word) in (number << 17..).zip(text.as_chunks_mut::<8>().0) {
        *word = u64::wrapping_mul(number, 0x9e37_79b9_7f4a_7c15).to_le_bytes();
    }
    text
}
