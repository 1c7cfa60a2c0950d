//! Kernels, by the clock of a multiprocessor: data that stays and changes, and keys.

use anyhow::{Context, Result};
use lanecrypt::{
    CIPHERS, ConstantTime, Direction, find_cipher,
    registry::{Backend, CipherDescription, Platform},
};
use lanecrypt_cuda::{Device, DeviceBuffer, Engine, Family, Operation, listing::Clock};

use super::steps::{Step, Time};
use crate::valgrind::name;

/// Bytes of an input: as many as a warp takes at most, so that one warp's time is that of the launch.
const BYTES: usize = 16 << 10;
/// Inputs that are prepared at once: launches that wait for the device, and keys.
const AT_ONCE: usize = 512;
/// How these steps are measured.
const CLOCK: &str = "clock64";

/// Every family of kernels, over data and over keys.
pub(super) fn all(filter: &str) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for cipher in CIPHERS {
        let on_gpu = |backend: &&Backend| backend.platform == Platform::Cuda;
        for backend in cipher.backends.iter().filter(on_gpu) {
            for direction in Direction::BOTH {
                steps.push(data(cipher, backend, direction)?);
            }
            steps.push(keys(cipher, backend)?);
        }
    }
    steps.retain(|step| step.name.contains(filter));
    Ok(steps)
}

/// Tables in shared memory, whose banks are looked up in at addresses of the data.
pub(super) fn controls() -> Result<Vec<Step>> {
    let aes = find_cipher("aes").context("there is AES")?;
    let tables = aes.backend("cuda-table-shared").context("there are tables")?;
    let step = data(aes, tables, Direction::Encrypt)?;
    Ok(vec![Step { name: format!("control: {}", step.name), ..step }])
}

fn family(backend: &Backend) -> Result<(&'static Family, Device)> {
    Family::on_device(backend)?.context("a row of a GPU has a family")
}

/// A launch over blocks that are all the same, or all random.
fn data(
    cipher: &'static CipherDescription,
    backend: &Backend,
    direction: Direction,
) -> Result<Step> {
    let (family, device) = family(backend)?;
    let engine = family.engine(&device, &vec![0x5a; cipher.key_bytes[0]])?;
    let clock = Clock::new(&device)?;
    let time: Time = Box::new(move |inputs| {
        let mut data = DeviceBuffer::from_host(&device, inputs)?;
        let operation = Operation::Ecb(direction);
        Ok(nanoseconds(&clock.cycles(&[&engine], operation, &mut data, BYTES)?))
    });
    let name = format!("{}, {direction}", name(cipher, backend));
    Ok(step(name, backend.constant_time, BYTES, time))
}

fn step(name: String, claim: ConstantTime, bytes: usize, time: Time) -> Step {
    Step { name, claim, how: CLOCK, bytes, at_once: AT_ONCE, fix: first_block, time }
}

/// The first block of what stays, again and again.
fn first_block(fixed: &[u8], input: &mut [u8]) {
    for block in input.chunks_mut(16) {
        block.copy_from_slice(&fixed[..block.len()]);
    }
}

/// A launch over the same data, under a key that stays or changes.
fn keys(cipher: &'static CipherDescription, backend: &Backend) -> Result<Step> {
    let (family, device) = family(backend)?;
    let clock = Clock::new(&device)?;
    let key_bytes = cipher.key_bytes[0];
    let time: Time = Box::new(move |inputs| {
        let engines: Result<Vec<Engine>, _> =
            inputs.chunks_exact(key_bytes).map(|key| family.engine(&device, key)).collect();
        let engines = engines?;
        let engines: Vec<&Engine> = engines.iter().collect();
        let mut data = DeviceBuffer::zeroed(&device, engines.len() * BYTES)?;
        let operation = Operation::Ecb(Direction::Encrypt);
        Ok(nanoseconds(&clock.cycles(&engines, operation, &mut data, BYTES)?))
    });
    let fix = |fixed: &[u8], input: &mut [u8]| input.copy_from_slice(fixed);
    let name = format!("{}, key", name(cipher, backend));
    Ok(Step { fix, ..step(name, backend.constant_time, key_bytes, time) })
}

/// As times are compared; a cycle stands for a nanosecond.
fn nanoseconds(cycles: &[Option<u64>]) -> Vec<Option<f64>> {
    cycles.iter().map(|cycles| cycles.map(|cycles| cycles as f64)).collect()
}
