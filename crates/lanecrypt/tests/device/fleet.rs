//! Several devices as one: every device of the machine, or where there is one that one twice.

use std::collections::HashSet;

use cipher::InOutBuf;
use lanecrypt::{
    Direction, aes, cipher,
    cuda::{DataUnits, Device, DeviceBuffer, DeviceSliceMut, Error, Operation, PinnedBuffer},
    modes,
};
use libtest_mimic::Failed;

use crate::{
    Case,
    batches::batch_families,
    common::{Outcome, noise},
    expect, key,
    mix::{messages, run_apart_and_in_place},
    paint, targets,
};

/// The devices of a fleet, two at least.
fn devices(case: &Case) -> Result<Vec<Device>, Error> {
    let mut devices = (case.open_all)()?;
    if let [device] = &devices[..] {
        devices.push(device.clone());
    }
    Ok(devices)
}

/// Every cipher and family, in ranges that end anywhere, on one device and on all.
pub(crate) fn ranges(case: &Case) -> Outcome {
    let (all, mut alone) = (devices(case)?, HashSet::new());
    for target in targets(case)? {
        let engine = &target.engine;
        let block = target.cipher.block_bytes;
        let range = (target.backend.lanes + 5) * block;
        // A fleet of one once for a cipher.
        let one = alone.insert(target.cipher.name).then_some(&all[..1]);
        for devices in one.into_iter().chain([&all[..]]) {
            let fleet = engine.family().fleet(devices, key(target.cipher))?;
            fleet.limit_range(range);
            for operation in target.operations() {
                let is_ctr = matches!(operation, Operation::Ctr(_) | Operation::Ctr32(_));
                let tail = if is_ctr { 5 } else { 0 };
                let plain = noise(3 * range + 2 * block + tail, 23);
                let mut expected = plain.clone();
                expect(target.cipher, operation, &mut expected)?;
                let mut found = plain.clone();
                let report = fleet.run_host_memory(operation, found.as_mut_slice().into())?;
                let what = format!("{} {operation:?} on {}", target.name(), devices.len());
                assert!(found == expected, "{what}, in place");
                assert!(report.dropped.is_empty(), "{what}: {:?}", report.dropped);
                assert_eq!(report.bytes.iter().sum::<usize>(), plain.len(), "{what}");
                let mut output = PinnedBuffer::zeroed(&devices[0], plain.len())?;
                let mut input = PinnedBuffer::zeroed(&devices[0], plain.len())?;
                input.copy_from_slice(&plain);
                let both = InOutBuf::new(&input, &mut output).map_err(|_| "equal lengths")?;
                let report = fleet.run_host_memory(operation, both)?;
                assert!(*output == *expected, "{what}, from pinned memory to other");
                assert!(report.dropped.is_empty(), "{what}: {:?}", report.dropped);
            }
        }
    }
    Ok(())
}

/// XTS by units of a block, of sectors, with stealing, and too long for a piece.
pub(crate) fn data_units(case: &Case) -> Outcome {
    let (devices, keys) = (devices(case)?, noise(64, 5));
    let fleet = aes::cuda::FASTEST.xts_fleet(&devices, &keys)?;
    fleet.data_fleet().limit_range(10_000);
    let [one, other] =
        [&keys[..32], &keys[32..]].map(|key| lanecrypt::engine("aes", "default", key));
    let (one, other) = (one?, other?);
    for (bytes, length, limit) in [
        (16, 40_000, 1 << 20),
        (520, 52_100, 1 << 20),
        (4096, 81_920, 1 << 20),
        (30_001, 75_000, 1 << 10),
    ] {
        for engine in fleet.data_fleet().engines() {
            engine.limit_chunk(limit);
        }
        for direction in Direction::BOTH {
            let (mut expected, mut found) = (noise(length, 1), noise(length, 1));
            let whole = expected.as_mut_slice().into();
            modes::xts_units(&one, &other, u128::MAX, bytes, direction, whole)?;
            let units = DataUnits { bytes, first: u128::MAX };
            let report = fleet.run_host_memory(direction, units, found.as_mut_slice().into())?;
            assert!(found == expected, "{direction} in units of {bytes}");
            assert!(report.dropped.is_empty(), "{:?}", report.dropped);
        }
    }
    Ok(())
}

/// Data that lies on the devices in turn, a part of a block at its end.
pub(crate) fn parts(case: &Case) -> Outcome {
    let devices = devices(case)?;
    for target in targets(case)? {
        let (engine, block) = (&target.engine, target.cipher.block_bytes);
        let fleet = engine.family().fleet(&devices, key(target.cipher))?;
        for operation in target.operations() {
            let is_ctr = matches!(operation, Operation::Ctr(_) | Operation::Ctr32(_));
            let part = (target.backend.lanes + 3) * block;
            let lengths =
                [part, block, part, part / 2 / block * block + if is_ctr { 3 } else { 0 }];
            let plain = noise(lengths.iter().sum(), 29);
            let mut expected = plain.clone();
            expect(target.cipher, operation, &mut expected)?;
            let (mut rest, mut buffers) = (&plain[..], Vec::new());
            for (length, device) in lengths.into_iter().zip(devices.iter().cycle()) {
                buffers.push(DeviceBuffer::from_host(device, &rest[..length])?);
                rest = &rest[length..];
            }
            let whole = |buffer| -> Result<DeviceSliceMut<'_>, Error> {
                let buffer: &mut DeviceBuffer = buffer;
                buffer.slice_mut(0..buffer.len())
            };
            let slices = buffers.iter_mut().map(whole).collect::<Result<Vec<_>, _>>();
            fleet.run(operation, &mut slices?)?;
            let mut found = Vec::new();
            for buffer in &buffers {
                let mut part = vec![0; buffer.len()];
                buffer.read(0, &mut part)?;
                found.extend(part);
            }
            assert!(found == expected, "{} {operation:?}", target.name());
        }
    }
    Ok(())
}

/// Messages of all modes, good and bad, in parts that devices take.
pub(crate) fn batches(case: &Case) -> Outcome {
    let devices = devices(case)?;
    for family in batch_families() {
        let name = family.cipher().name;
        let messages = messages(family.cipher(), 200, 3000, 7, 41);
        for devices in [&devices[..1], &devices] {
            let fleet = family.fleet(devices)?;
            for (bytes, count) in [(usize::MAX, usize::MAX), (20_000, usize::MAX), (usize::MAX, 17)]
            {
                let what = format!("{name} on {} in parts of {bytes}, {count}", devices.len());
                run_apart_and_in_place(&messages, &what, |jobs| {
                    let (outcome, report) = fleet.run_in_parts(bytes, count, jobs);
                    assert!(report.dropped.is_empty(), "{what}: {:?}", report.dropped);
                    Ok::<_, Failed>(outcome)
                })?;
            }
            run_apart_and_in_place(&messages, name, |jobs| {
                Ok::<_, Failed>(fleet.run_host_memory(jobs).0)
            })?;
        }
    }
    Ok(())
}

/// Ranges as long as they are for large data, which the devices share.
pub(crate) fn large(case: &Case) -> Outcome {
    let devices = devices(case)?;
    let length = case.large_bytes / 6 / 16 * 16 + 5;
    let fleet = aes::cuda::FASTEST.fleet(&devices, key(&aes::AES))?;
    let mut plain = PinnedBuffer::zeroed(&devices[0], length)?;
    paint(&mut plain);
    let operation = Operation::Ctr(crate::COUNTER.into());
    let mut expected = plain.to_vec();
    expect(&aes::AES, operation, &mut expected)?;
    let mut output = PinnedBuffer::zeroed(&devices[0], length)?;
    let both = InOutBuf::new(&plain, &mut output).map_err(|_| "equal lengths")?;
    let report = fleet.run_host_memory(operation, both)?;
    assert!(*output == *expected, "from pinned memory to other: {report:?}");
    let mut pageable = plain.to_vec();
    let report = fleet.run_host_memory(operation, pageable.as_mut_slice().into())?;
    assert!(pageable == expected, "in place: {report:?}");
    let report = fleet.run_host_memory(operation, (&mut plain[..]).into())?;
    assert!(*plain == *expected, "in place in pinned memory: {report:?}");
    assert!(fleet.dropped().is_empty());
    Ok(())
}
