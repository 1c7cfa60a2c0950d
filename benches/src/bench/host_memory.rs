//! Measuring host memory: CTR in place, the whole way to the GPU and back, and by the CPU's cores over the
//! same bytes. Parts of what comes out are compared with one core's before anything is timed.

use std::time::Instant;

use lanecrypt::{
    CipherDescription, Parallel, aes, aria, camellia,
    cuda::{Device, DeviceCipher, Family, PinnedBuffer},
    des, hight, seed,
};

use super::{
    plan::{Options, Work, key, noise},
    record::{HostMemoryMeasurement, Place, median},
    report::{Section, distinct},
    verify::{iv, verify_piece},
};
use crate::size::size_name;

/// Passes that the median is of; odd.
const SAMPLES: usize = 11;
/// Bytes, and those of a quick run.
const SIZES: [usize; 5] = [64 << 10, 1 << 20, 16 << 20, 256 << 20, 8 << 30];
const QUICK_SIZES: [usize; 2] = [1 << 20, 256 << 20];
/// Bytes compared at the start, in the middle and at the end.
const WINDOW: usize = 1 << 20;

/// The kernels that each cipher's type takes by itself.
pub(super) fn families() -> [&'static Family; 7] {
    [
        aes::Aes128::family(),
        aria::Aria128::family(),
        camellia::Camellia128::family(),
        des::Des::family(),
        des::TdesEde3::family(),
        hight::Hight::family(),
        seed::Seed128::family(),
    ]
}

/// Measures the chosen ciphers with each key size.
///
/// # Errors
/// A sentence naming what failed; wrong output is a failure.
pub(super) fn measure(options: &Options) -> Result<Vec<HostMemoryMeasurement>, String> {
    let mut measured = Vec::new();
    let device = if options.cpu_only { None } else { Device::default().ok() };
    let sizes = options.sizes(&SIZES, &QUICK_SIZES);
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let mut pageable = vec![0; largest];
    let pinned = device.as_ref().map(|device| PinnedBuffer::zeroed(device, largest)).transpose();
    let mut pinned = pinned.map_err(|error| error.to_string())?;
    for family in families() {
        let cipher = family.cipher();
        if !options.ciphers().any(|chosen| chosen.name == cipher.name) {
            continue;
        }
        for &key_bytes in options.key_bytes(cipher) {
            let key = key(key_bytes);
            if let (Some(device), Some(pinned)) = (&device, &mut pinned) {
                let engine = family.engine(device, &key).map_err(|error| error.to_string())?;
                let target = Target { cipher, key: &key, engine: &engine };
                for &bytes in &sizes {
                    measured.push(target.measure(Place::EndToEnd, &mut pageable[..bytes])?);
                    measured.push(target.measure(Place::Pinned, &mut pinned[..bytes])?);
                }
            }
            if !options.gpu_only {
                let default = cipher.backend("default").ok_or("no default backend")?;
                let engine = (default.create)(&key).map_err(|error| error.to_string())?;
                let target = Target { cipher, key: &key, engine: &Parallel::new(engine) };
                for &bytes in &sizes {
                    measured.push(target.measure(Place::Cpu, &mut pageable[..bytes])?);
                }
            }
        }
    }
    Ok(measured)
}

/// An engine under a key.
struct Target<'a> {
    cipher: &'static CipherDescription,
    key: &'a [u8],
    engine: &'a dyn lanecrypt::Engine,
}

impl Target<'_> {
    fn measure(&self, place: Place, data: &mut [u8]) -> Result<HostMemoryMeasurement, String> {
        let Self { cipher, key, engine } = *self;
        let failed = |what: &dyn std::fmt::Display| {
            format!("{}-{} from host memory: {what}", cipher.name, 8 * key.len())
        };
        let iv = iv(cipher.block_bytes);
        let (bytes, noise) = (data.len(), noise(64 << 20));
        for piece in data.chunks_mut(noise.len()) {
            piece.copy_from_slice(&noise[..piece.len()]);
        }
        let mut seconds = Vec::new();
        for pass in 0..=SAMPLES {
            let start = Instant::now();
            engine.ctr(&iv, (&mut *data).into()).map_err(|error| failed(&error))?;
            let time = start.elapsed().as_secs_f64();
            if pass > 0 {
                seconds.push(time);
                continue;
            }
            let length = WINDOW.min(bytes);
            for offset in [0, (bytes - length) / 2 / 16 * 16, bytes - length] {
                let input: Vec<u8> =
                    (offset..offset + length).map(|i| noise[i % noise.len()]).collect();
                let output = &data[offset..offset + length];
                verify_piece(cipher, key, Work::Ctr, offset, &input, output, false)
                    .map_err(|error| failed(&error))?;
            }
        }
        Ok(HostMemoryMeasurement {
            cipher: cipher.name.to_owned(),
            key_bits: 8 * key.len(),
            place,
            bytes,
            samples: seconds.len(),
            seconds: median(seconds),
        })
    }
}

/// Throughput from host memory to host memory: ciphers down, places and sizes across.
pub(super) fn section(measured: &[HostMemoryMeasurement]) -> Option<Section> {
    let kind = |m: &HostMemoryMeasurement| (m.cipher.to_uppercase(), m.key_bits);
    let kinds = distinct(measured.iter().map(kind));
    let columns = distinct(measured.iter().map(|m| (m.place, m.bytes)));
    if columns.is_empty() {
        return None;
    }
    let row = |wanted: &(String, usize)| {
        let cell = |&(place, bytes): &(Place, usize)| {
            let is_it = |m: &&HostMemoryMeasurement| {
                kind(m) == *wanted && (m.place, m.bytes) == (place, bytes)
            };
            let found = measured.iter().find(is_it);
            found.map_or_else(String::new, |m| format!("{:.2}", m.gigabytes_per_second()))
        };
        let name = format!("{}-{}", wanted.0, wanted.1);
        std::iter::once(name).chain(columns.iter().map(cell)).collect()
    };
    let titles =
        columns.iter().map(|(place, bytes)| format!("{}, {}", place.name(), size_name(*bytes)));
    Some(Section {
        title: "Host memory, GB/s".into(),
        note: "CTR in place, from host memory to host memory; CPU is all of its cores.".into(),
        header: std::iter::once("cipher".to_owned()).chain(titles).collect(),
        rows: kinds.iter().map(row).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_a_place_and_size() {
        assert!(section(&[]).is_none());
        let measured = [Place::EndToEnd, Place::Cpu].map(|place| HostMemoryMeasurement {
            cipher: "aes".into(),
            key_bits: 128,
            place,
            bytes: 1 << 20,
            seconds: 1e-3,
            samples: 11,
        });
        let section = section(&measured).expect("there are measurements");
        assert_eq!(section.header[1..], ["GPU, end to end, 1 MiB", "CPU, 1 MiB"]);
        assert_eq!(section.rows, [["AES-128", "1.05", "1.05"]]);
    }
}
