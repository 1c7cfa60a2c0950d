//! Streams of a device: work of several at once, and memory and streams of the crate cudarc.

use std::{ops::Range, thread};

use lanecrypt::{
    aes,
    cuda::{DataUnits, DeviceBuffer, Operation, Stream},
};
use libtest_mimic::Failed;

use crate::{
    Case, Platform, Target,
    common::{Outcome, noise},
    compare, expect, targets,
};

/// Streams that run at once.
const STREAMS: usize = 4;
/// Bytes of a buffer, and where the data in it begins and ends: CTR ends inside a block.
const BYTES: usize = (1 << 16) + 48;
const START: usize = 16;
const END: usize = (1 << 16) + 16;
/// Bytes of data that an emulator gets, whose streams take turns however short the work is.
const BYTES_ON_HOST: usize = 1 << 13;

/// Every family's operations, each on streams of its own beside each other: none waits before all are
/// queued, and all share one engine.
pub(crate) fn streams_run_beside_each_other(case: &Case) -> Outcome {
    for target in targets(case)? {
        for operation in target.operations() {
            let end = match case.platform {
                Platform::CudaOnHost => START + BYTES_ON_HOST,
                _ => END,
            };
            queue_on_all(&target, operation, START..end)?;
        }
    }
    Ok(())
}

fn queue_on_all(target: &Target, operation: Operation<'_>, data: Range<usize>) -> Outcome {
    let engine = &target.engine;
    let device = engine.device();
    let tail = usize::from(matches!(operation, Operation::Ctr(_) | Operation::Ctr32(_))) * 3;
    let range = data.start..data.end - tail;
    let plain: Vec<_> = (0..STREAMS as u64).map(|seed| noise(BYTES, seed)).collect();
    let mut buffers = Vec::new();
    for data in &plain {
        buffers.push((DeviceBuffer::from_host(device, data)?, Stream::new(device)?));
    }
    let mut slices = Vec::new();
    for (buffer, stream) in &mut buffers {
        slices.push((buffer.slice_mut(range.clone())?, &*stream));
    }
    let mut pending = Vec::new();
    for (slice, stream) in &mut slices {
        pending.push(engine.queue(stream, operation, slice)?);
    }
    for pending in pending {
        pending.wait()?;
    }
    for ((buffer, _), mut expected) in buffers.iter().zip(plain) {
        expect(target.cipher, operation, &mut expected[range.clone()])?;
        compare(buffer, &expected, &format!("{}, {operation:?}", target.name()))?;
    }
    Ok(())
}

/// A stream that is dropped while its work runs, without a wait: the work is complete all the same.
pub(crate) fn streams_dropped_early(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let bytes = case.large_bytes / 64 / 16 * 16;
    let operation = Operation::Ctr(crate::COUNTER.into());
    let engine = aes::cuda::FASTEST.engine(&device, crate::key(&aes::AES))?;
    let plain = noise(bytes, 3);
    let mut expected = plain.clone();
    expect(&aes::AES, operation, &mut expected)?;
    for _ in 0..5 {
        let mut buffer = DeviceBuffer::from_host(&device, &plain)?;
        let stream = Stream::new(&device)?;
        let mut slice = buffer.slice_mut(0..bytes)?;
        std::mem::forget(engine.queue(&stream, operation, &mut slice)?);
        drop(stream);
        compare(&buffer, &expected, "after the stream was dropped")?;
        // And one whose buffer goes too, with more work queued than has run.
        let stream = Stream::new(&device)?;
        for _ in 0..3 {
            let mut slice = buffer.slice_mut(0..bytes)?;
            std::mem::forget(engine.queue(&stream, operation, &mut slice)?);
        }
        drop((buffer, stream));
    }
    Ok(())
}

/// One stream per thread, and one engine of XTS, out of place.
pub(crate) fn threads_queue_data_units(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let keys = noise(32, 7);
    let engine = aes::cuda::TABLE_SHARED.xts_engine(&device, &keys)?;
    let direction = lanecrypt::Direction::Encrypt;
    let units = DataUnits { bytes: 520, first: 5 };
    let range = START..END - END % 520;
    let expected = |data: &[u8]| -> Result<Vec<u8>, Failed> {
        let [one, other] =
            [&keys[..16], &keys[16..]].map(|key| lanecrypt::engine("aes", "default", key));
        let mut data = data.to_vec();
        let part = &mut data[range.clone()];
        lanecrypt::modes::xts_units(&one?, &other?, 5, 520, direction, part.into())?;
        Ok(data)
    };
    thread::scope(|scope| {
        let run = |seed: usize| -> Outcome {
            let data = noise(BYTES, seed as u64);
            let stream = Stream::new(&device)?;
            let input = DeviceBuffer::from_host(&device, &data)?;
            for _ in 0..3 {
                let mut output = DeviceBuffer::from_host(&device, &data)?;
                let (from, mut to) =
                    (input.slice(range.clone())?, output.slice_mut(range.clone())?);
                engine.queue(&stream, direction, units, (&from, &mut to))?.wait()?;
                compare(&output, &expected(&data)?, &format!("stream {seed}"))?;
            }
            Ok(())
        };
        let threads: Vec<_> = (0..STREAMS).map(|seed| scope.spawn(move || run(seed))).collect();
        for thread in threads {
            thread.join().map_err(|_| "a thread panicked")??;
        }
        Ok(())
    })
}

/// Buffers that cudarc allocated, on streams that it made.
#[cfg(feature = "cudarc-interop")]
pub(crate) fn memory_of_cudarc(case: &Case) -> Outcome {
    use lanecrypt::cuda::{CudarcStream, Device, cudarc::driver::CudaContext};

    let context = CudaContext::new(0)?;
    let device = Device::number(0)?;
    let stream = CudarcStream::new(&device, context.new_stream()?)?;
    let other = context.new_stream()?;
    for target in targets(case)? {
        let engine = &target.engine;
        for operation in target.operations() {
            let plain = noise(BYTES, 9);
            let mut expected = plain[START..END].to_vec();
            expect(target.cipher, operation, &mut expected)?;
            // Made on another stream, so that cudarc must let ours wait.
            let input = other.clone_htod(&plain)?;
            let mut output = other.alloc_zeros::<u8>(BYTES)?;
            let to = &mut output.slice_mut(START..END);
            stream.run(engine, operation, (&input.slice(START..END), to))?;
            let found = other.clone_dtoh(&output)?;
            if found[START..END] != expected || found[..START].iter().any(|&byte| byte != 0) {
                return Err(format!("{}, {operation:?}", target.name()).into());
            }
            let mut data = input;
            stream.run(engine, operation, &mut data.slice_mut(START..END))?;
            let found = other.clone_dtoh(&data)?;
            if found[START..END] != expected || found[..START] != plain[..START] {
                return Err(format!("{}, {operation:?} in place", target.name()).into());
            }
        }
    }
    let engine = aes::cuda::TABLE_SHARED.engine(&device, &noise(16, 1))?;
    let ecb = Operation::Ecb(lanecrypt::Direction::Encrypt);
    // At no multiple of 16 memory passes a copy.
    let mut data = other.alloc_zeros::<u8>(64)?;
    stream.run(&engine, ecb, &mut data.slice_mut(8..40))?;
    stream.run(&engine, ecb, &mut data.slice_mut(48..64))?;
    let found = other.clone_dtoh(&data)?;
    let is_right = found[8..24] == found[48..] && found[24..40] == found[48..];
    if !is_right || [&found[..8], &found[40..48]].concat() != [0; 16] {
        return Err(format!("memory that is not aligned gave {found:?}").into());
    }
    Ok(())
}
