//! Memory that is not ours, at any address: where kernels cannot read or write, it passes a copy.

use lanecrypt_core::Direction;

use super::{
    AnyError, BLOCKS, at_every_call, gcm, on_device, on_the_cpu, operations, plaintext, xts_engine,
    xts_on_the_cpu,
};
use crate::{
    DataUnits, Device, DeviceBuffer, DeviceSlice, DeviceSliceMut, Error, HashFamily, Operation,
    Stream, model_device::Model,
};

/// Bytes of memory round the data, which nothing may write to.
const ROOM: usize = 32;
const CANARY: u8 = 0xc5;

/// Somebody else's memory: what stands in it, from `start` on.
fn foreign(device: &Device, start: usize, data: &[u8]) -> Result<DeviceBuffer, Error> {
    let mut all = vec![CANARY; data.len() + ROOM];
    all[start..][..data.len()].copy_from_slice(data);
    DeviceBuffer::from_host(device, &all)
}

/// The address of a byte of it.
fn address(buffer: &DeviceBuffer, start: usize) -> u64 {
    buffer.slice(0..0).expect("it begins").address() + start as u64
}

/// What is there, after a check that nothing else was written.
fn back(buffer: &DeviceBuffer, start: usize, length: usize) -> Result<Vec<u8>, Error> {
    let mut all = vec![0; buffer.len()];
    buffer.read(0, &mut all)?;
    let mut rest = all.split_off(start);
    let after = rest.split_off(length);
    assert!(all.iter().chain(&after).all(|&byte| byte == CANARY), "written outside");
    Ok(rest)
}

/// Runs `work` between foreign memory at such offsets, or in place where they are the same.
fn between(
    device: &Device,
    [from, to]: [usize; 2],
    data: &[u8],
    work: impl FnOnce(Option<&DeviceSlice<'_>>, &mut DeviceSliceMut<'_>) -> Result<(), Error>,
) -> Result<Vec<u8>, AnyError> {
    let input = foreign(device, from, data)?;
    let before = if from == to { data.to_vec() } else { vec![CANARY; data.len()] };
    let output = foreign(device, to, &before)?;
    // SAFETY: the ranges are inside the buffers, which live longer and are used by nobody else.
    let (from_slice, mut to_slice) = unsafe {
        (
            DeviceSlice::from_raw(device, address(&input, from), data.len()),
            DeviceSliceMut::from_raw(device, address(&output, to), data.len()),
        )
    };
    work((from != to).then_some(&from_slice), &mut to_slice)?;
    Ok(back(&output, to, data.len())?)
}

#[test]
fn operations_run_at_any_address() {
    for operation in operations() {
        let is_ctr = matches!(operation, Operation::Ctr(_) | Operation::Ctr32(_));
        let length = 16 * BLOCKS - if is_ctr { 3 } else { 0 };
        let data = &plaintext()[..length];
        let expected = on_the_cpu(operation, data);
        for ends in [[8, 8], [1, 1], [0, 8], [15, 0], [7, 3]] {
            for limit in [16, 16 * 16 * 3, 16 * 16 * 100, usize::MAX] {
                let model = Model::default();
                let cipher = on_device(&model).expect("no fault");
                let engine = cipher.engine();
                engine.limit_chunk(limit);
                let stream = Stream::new(engine.device()).expect("no fault");
                let found = between(engine.device(), ends, data, |input, output| match input {
                    None => engine.queue(&stream, operation, output)?.wait(),
                    Some(input) => engine.queue(&stream, operation, (input, output))?.wait(),
                });
                let found = found.expect("no fault");
                assert!(found == expected, "{operation:?}, {ends:?}, limit {limit}");
            }
            at_every_call("foreign memory", &expected, |model| {
                let cipher = on_device(model)?;
                let engine = cipher.engine();
                between(engine.device(), ends, data, |input, output| match input {
                    None => engine.run(operation, output),
                    Some(input) => engine.run(operation, (input, output)),
                })
            });
        }
    }
}

#[test]
fn data_units_run_at_any_address() {
    let data = plaintext();
    for direction in Direction::BOTH {
        for units in [32, 50, 320].map(|bytes| DataUnits { bytes, first: 7 }) {
            let expected = xts_on_the_cpu(direction, units, &data);
            for ends in [[8, 8], [1, 0]] {
                at_every_call("foreign units", &expected, |model| {
                    let engine = xts_engine(model)?;
                    let device = engine.data_engine().device();
                    between(device, ends, &data, |input, output| match input {
                        None => engine.run(direction, units, output),
                        Some(input) => engine.run(direction, units, (input, output)),
                    })
                });
            }
        }
    }
}

/// Seals a message of GCM between foreign memory, and opens it again.
fn sealed_and_opened(
    model: &Model,
    (hash, limit): (HashFamily, usize),
    ends: [usize; 2],
    length: usize,
) -> Result<Vec<u8>, AnyError> {
    let (plain, _, tag) = gcm::sealed(length);
    let (iv, aad) = (gcm::LONG_IV, gcm::AAD);
    let engine = gcm::gcm_engine(model, hash, limit)?;
    let device = engine.engine().device();
    let mut made = [0; 13];
    let found = between(device, ends, &plain, |input, output| match input {
        None => engine.encrypt(iv, aad, output, &mut made),
        Some(input) => engine.encrypt(iv, aad, (input, output), &mut made),
    })?;
    assert!(made == *tag, "another tag");
    let opened = between(device, ends, &found, |input, output| match input {
        None => engine.decrypt(iv, aad, output, &tag),
        Some(input) => engine.decrypt(iv, aad, (input, output), &tag),
    })?;
    assert!(opened == plain, "it does not open");
    Ok(found)
}

#[test]
fn messages_are_sealed_at_any_address() {
    for hash in HashFamily::ALL {
        for length in [0, 100, 9_000] {
            let (_, expected, _) = gcm::sealed(length);
            for (ends, limit) in [([8, 8], 1 << 20), ([3, 0], 50_000), ([0, 5], 1 << 30)] {
                let model = Model::default();
                let found = sealed_and_opened(&model, (hash, limit), ends, length);
                assert!(found.expect("no fault") == expected, "{hash:?}, {length}, {ends:?}");
            }
        }
        let (_, expected, _) = gcm::sealed(100);
        at_every_call("foreign message", &expected, |model| {
            sealed_and_opened(model, (hash, 1000), [8, 8], 100)
        });
    }
}

/// What cannot run at any address names it.
#[test]
fn batches_name_an_address() {
    let model = Model::roomy(crate::model_device::Fault::None);
    let device = model.device();
    let mut buffer = DeviceBuffer::zeroed(&device, 64).expect("no fault");
    let start = address(&buffer, 8);
    let batch = super::batch::FAMILIES[0].prepare(&device, Vec::new()).expect("no jobs");
    // SAFETY: the range is inside the buffer, which nobody else uses.
    let mut slice = unsafe { DeviceSliceMut::from_raw(&device, start, 16) };
    let error = batch.run(&mut slice).expect_err("it is askew").to_string();
    assert_eq!(
        error,
        format!("memory of a device that starts at {start:#x}; here it starts at a multiple of 16")
    );
    assert!(matches!(slice.write(9, &[0; 8]), Err(Error::Range { start: 9, end: 17, length: 16 })));
    slice.write(8, b"the rest").expect("it fits");
    let mut read = [0; 8];
    assert!(slice.as_slice().read(usize::MAX, &mut read).is_err());
    slice.as_slice().read(8, &mut read).expect("it fits");
    assert_eq!(&read, b"the rest");
    buffer.read(16, &mut read).expect("it fits");
    assert_eq!(&read, b"the rest");
    buffer.write(0, &[0; 1]).expect("it is ours");
}
