//! XTS over data units on a device, against the CPU unit by unit.

use std::collections::HashSet;

use lanecrypt::{
    CIPHERS, Direction,
    cuda::{DataUnits, Device, DeviceBuffer, Family, XtsEngine, kernels::Task},
    modes,
    registry::{CipherDescription, Platform},
};

use crate::{
    Case,
    common::{Outcome, noise},
    compare, widest_on_the_cpu,
};

/// Bytes of units, and how many of them there are: with and without stealing, so short that a warp
/// has many, so long that many warps have one. The last unit is shorter where that leaves a block.
const UNITS: [(usize, usize); 11] = [
    (16, 300),
    (17, 11),
    (31, 5),
    (32, 40),
    (48, 1),
    (512, 41),
    (4096, 3),
    (4097, 2),
    (20_001, 1),
    (48, 300),
    (520, 7),
];

/// So many units that warps which take runs from a queue have several, of each sort of warp: units shorter
/// than a step of theirs, of a step, of one row and more, and such as end anywhere.
const UNITS_OF_RUNS: [(usize, usize); 8] = [
    (16, 5000),
    (48, 1700),
    (512, 160),
    (528, 160),
    (4096, 20),
    (12_288, 9),
    (65_536, 1),
    (48_000, 2),
];

/// Every family of one program, of ciphers with blocks of 16 bytes.
pub(crate) fn families_of_16_bytes() -> impl Iterator<Item = &'static Family> {
    let ciphers = CIPHERS.iter().filter(|cipher| cipher.block_bytes == 16);
    let rows = ciphers.flat_map(|cipher| cipher.backends);
    let families = rows.filter(|row| row.platform == Platform::Cuda).filter_map(Family::of);
    families.filter(|family| family.all_programs().count() == family.programs().len())
}

/// XTS over many units, every key size and family, against the CPU unit by unit.
pub(crate) fn data_units(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let mut modules = HashSet::new();
    for family in families_of_16_bytes() {
        let program = family.program(device.properties()).map_err(|reason| reason.to_string())?;
        modules.insert(program.module().name);
        let has_runs = program.kernel(Task::XtsEncrypt).is_some_and(|k| k.unit().threads > 32);
        let more = if has_runs { &UNITS_OF_RUNS[..] } else { &[] };
        for (i, &length) in family.cipher().key_bytes.iter().enumerate() {
            let keys = noise(2 * length, 31 + length as u64);
            let engine = family.xts_engine(&device, &keys)?;
            // All of them under the first length of keys, the last two of each list under the others.
            let of = |units: &'static [(usize, usize)]| {
                units.iter().skip(if i == 0 { 0 } else { units.len().saturating_sub(2) })
            };
            for &(bytes, count) in of(&UNITS).chain(of(more)) {
                data_units_of(&device, family, &engine, &keys, (bytes, count))?;
            }
        }
    }
    let programs = lanecrypt::cuda::kernels::programs::PROGRAMS.iter();
    let with_xts = programs.filter(|program| program.block_bytes() == 16);
    let mut names = with_xts.map(|program| program.module().name);
    // A small GPU takes other programs of a family.
    match names.find(|name| !modules.contains(name) && case.platform == Platform::CudaOnHost) {
        None => Ok(()),
        Some(module) => Err(format!("XTS by {module} was not tried").into()),
    }
}

fn data_units_of(
    device: &Device,
    family: &Family,
    engine: &XtsEngine,
    keys: &[u8],
    (bytes, count): (usize, usize),
) -> Outcome {
    // Numbers carry out of 64 bits on the way.
    let units = DataUnits { bytes, first: u128::from(u64::MAX) - count as u128 / 2 };
    let length = bytes * count + (bytes / 3).max(16) * usize::from(bytes >= 48 && count > 1);
    let (start, after) = (48, 32);
    let data = noise(start + length + after, bytes as u64);
    let range = start..start + length;
    for direction in Direction::BOTH {
        let mut expected = data.clone();
        xts_by_the_cpu(family.cipher(), keys, direction, units, &mut expected[range.clone()])?;
        let what = format!("{} {direction}, {length} bytes, {units:?}", family.summary());

        let mut buffer = DeviceBuffer::from_host(device, &data)?;
        engine.run(direction, units, &mut buffer.slice_mut(range.clone())?)?;
        compare(&buffer, &expected, &format!("{what}, in place"))?;

        // Half of the units at once.
        let scratch = if bytes % 16 == 0 { 16 } else { bytes + 80 };
        engine.limit_chunk(16 * scratch * count.div_ceil(2));
        let input = DeviceBuffer::from_host(device, &data)?;
        let mut output = DeviceBuffer::from_host(device, &data)?;
        let (from, mut to) = (input.slice(range.clone())?, output.slice_mut(range.clone())?);
        engine.run(direction, units, (&from, &mut to))?;
        compare(&output, &expected, &format!("{what}, out of place"))?;
        compare(&input, &data, &format!("{what}, its input"))?;

        // Half of the units in a part of host memory, or a unit in three parts.
        engine.limit_chunk(if count == 1 { bytes / 3 } else { count.div_ceil(2) * bytes });
        let mut copy = data.clone();
        engine.run_host_memory(direction, units, copy[range.clone()].as_mut().into())?;
        if copy != expected {
            return Err(format!("{what}, host memory in parts").into());
        }
        engine.limit_chunk(256 << 20);
    }
    Ok(())
}

/// Unit by unit.
pub(crate) fn xts_by_the_cpu(
    cipher: &CipherDescription,
    keys: &[u8],
    direction: Direction,
    units: DataUnits,
    data: &mut [u8],
) -> Outcome {
    let backend = widest_on_the_cpu(cipher)?;
    let create = |key: &[u8]| (backend.create)(key).map_err(|error| error.to_string());
    let (data_key, tweak_key) = keys.split_at(keys.len() / 2);
    let [data_engine, tweak_engine] = [create(data_key)?, create(tweak_key)?];
    for (i, unit) in data.chunks_mut(units.bytes).enumerate() {
        let tweak = units.first.wrapping_add(i as u128).to_le_bytes();
        modes::xts(&data_engine, &tweak_engine, &tweak, direction, unit.into())
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}
