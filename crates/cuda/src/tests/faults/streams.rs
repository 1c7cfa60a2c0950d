//! Streams: what is queued runs later, in order on its stream, and never outside its buffers.

use lanecrypt_core::Direction;

use super::{IV, at_every_call, on_device, on_the_cpu, operations, xts_engine, xts_on_the_cpu};
use crate::{
    DataUnits, DeviceBuffer, Error, Operation, Pending, Stream,
    model_device::{Fault, Model},
};

const LENGTH: usize = 16 * 40;

fn data() -> Vec<u8> {
    (0..LENGTH).map(|i| (i * 13 + i / 256) as u8).collect()
}

fn whole(buffer: &DeviceBuffer) -> Vec<u8> {
    let mut found = vec![0; buffer.len()];
    buffer.read(0, &mut found).expect("no fault");
    found
}

#[test]
fn what_is_queued_runs_when_it_is_waited_for() {
    let model = Model::default();
    let cipher = on_device(&model).expect("no fault");
    let (engine, device) = (cipher.engine(), cipher.engine().device());
    let stream = Stream::new(device).expect("no fault");
    for operation in operations() {
        let mut buffer = DeviceBuffer::from_host(device, &data()).expect("no fault");
        let mut slice = buffer.slice_mut(0..LENGTH).expect("in it");
        let pending = engine.queue(&stream, operation, &mut slice).expect("no fault");
        assert!(!pending.is_complete().expect("no fault"), "the model waits as long as it may");
        pending.wait().expect("no fault");
        assert!(whole(&buffer) == on_the_cpu(operation, &data()), "{operation:?}");
    }
}

#[test]
fn the_first_of_two_does_not_wait_for_the_second() {
    let model = Model::default();
    let cipher = on_device(&model).expect("no fault");
    let (engine, device) = (cipher.engine(), cipher.engine().device());
    let ecb = Operation::Ecb(Direction::Encrypt);
    let stream = Stream::new(device).expect("no fault");
    let mut buffers = [0; 3].map(|_| DeviceBuffer::from_host(device, &data()).expect("no fault"));
    let mut slices = buffers.each_mut().map(|buffer| buffer.slice_mut(0..LENGTH).expect("in it"));
    let [first, second, third] =
        slices.each_mut().map(|slice| engine.queue(&stream, ecb, slice).expect("no fault"));
    let complete = |pending: &Pending<'_>| pending.is_complete().expect("no fault");
    second.wait().expect("no fault");
    assert!(complete(&first), "it came before");
    assert!(!complete(&third), "nobody waits for it yet");
    third.wait().expect("no fault");
    drop(first);
    for buffer in &buffers {
        assert!(whole(buffer) == on_the_cpu(ecb, &data()));
    }
}

#[test]
fn dropping_waits_and_forgetting_harms_nobody() {
    let model = Model::default();
    let cipher = on_device(&model).expect("no fault");
    let (engine, device) = (cipher.engine(), cipher.engine().device());
    let ecb = Operation::Ecb(Direction::Encrypt);
    let stream = Stream::new(device).expect("no fault");
    let mut buffer = DeviceBuffer::from_host(device, &data()).expect("no fault");
    let mut slice = buffer.slice_mut(0..LENGTH).expect("in it");
    let pending = engine.queue(&stream, ecb, &mut slice).expect("no fault");
    assert_eq!(model.waiting(), 1);
    drop(pending);
    // Asked of the model, since a read of the buffer waits by itself.
    assert_eq!(model.waiting(), 0);
    assert!(whole(&buffer) == on_the_cpu(ecb, &data()));

    // The model checks that kernels find their buffers.
    let mut slice = buffer.slice_mut(0..LENGTH).expect("in it");
    std::mem::forget(engine.queue(&stream, ecb, &mut slice).expect("no fault"));
    assert_eq!(model.waiting(), 1);
    drop((buffer, stream));
    assert_eq!(model.waiting(), 0);
}

/// Work of which a part was queued has run when its error is told: the borrow of its buffers ends there.
#[test]
fn what_fails_to_be_queued_is_waited_for() {
    let units = DataUnits { bytes: 50, first: 7 };
    for faults in [Fault::At as fn(usize) -> Fault, Fault::From] {
        let mut queued_in_part = 0;
        for call in 0.. {
            let model = Model::failing(faults(call));
            let tried = try_to_queue(&model, units, |launches| {
                assert_eq!(model.waiting(), 0, "call {call}");
                queued_in_part += usize::from(launches < model.launches());
            });
            if tried.is_ok() && !model.has_failed() {
                break;
            }
        }
        assert!(queued_in_part > 2, "hardly anything was queued before it failed");
    }
}

/// Queues two works of several launches; `failed` is called right after one could not be, with the number
/// of launches before it.
fn try_to_queue(
    model: &Model,
    units: DataUnits,
    mut failed: impl FnMut(usize),
) -> Result<(), Error> {
    let (cipher, xts) = (on_device(model)?, xts_engine(model)?);
    let stream = Stream::new(cipher.engine().device())?;
    let mut buffer = DeviceBuffer::from_host(stream.device(), &data())?;
    let mut slice = buffer.slice_mut(0..LENGTH)?;
    let before = model.launches();
    let chain = Operation::Cbc(Direction::Decrypt, &IV);
    let chained = cipher.engine().queue(&stream, chain, &mut slice);
    chained.inspect_err(|_| failed(before))?.wait()?;
    let stream = Stream::new(xts.data_engine().device())?;
    let mut buffer = DeviceBuffer::from_host(stream.device(), &data())?;
    let mut slice = buffer.slice_mut(0..LENGTH)?;
    let before = model.launches();
    let queued = xts.queue(&stream, Direction::Encrypt, units, &mut slice);
    queued.inspect_err(|_| failed(before))?.wait()
}

#[test]
fn polling_leaves_no_marks() {
    let model = Model::default();
    let cipher = on_device(&model).expect("no fault");
    let (engine, device) = (cipher.engine(), cipher.engine().device());
    let ecb = Operation::Ecb(Direction::Encrypt);
    let stream = Stream::new(device).expect("no fault");
    let mut buffers = [0; 12].map(|_| DeviceBuffer::zeroed(device, 64).expect("no fault"));
    let mut slices = buffers.each_mut().map(|buffer| buffer.slice_mut(0..64).expect("in it"));
    let queued = slices.each_mut().map(|slice| {
        let pending = engine.queue(&stream, ecb, slice).expect("no fault");
        assert!(!pending.is_complete().expect("no fault"));
        pending
    });
    for (number, pending) in queued.into_iter().enumerate() {
        if number.is_multiple_of(2) {
            pending.wait().expect("no fault");
            continue;
        }
        drop(pending);
    }
    drop((buffers, stream, cipher));
    assert_eq!(model.left_behind(), (0, 0));
}

/// Beside each other, from several threads, by one engine.
#[test]
fn streams_and_threads_do_not_disturb_each_other() {
    let model = Model::default();
    let cipher = on_device(&model).expect("no fault");
    let engine = cipher.engine();
    std::thread::scope(|scope| {
        for operation in operations() {
            scope.spawn(move || {
                let stream = Stream::new(engine.device()).expect("no fault");
                let input = DeviceBuffer::from_host(engine.device(), &data()).expect("no fault");
                let mut output = DeviceBuffer::zeroed(engine.device(), LENGTH).expect("no fault");
                for _ in 0..5 {
                    let from = input.slice(0..LENGTH).expect("in it");
                    let mut to = output.slice_mut(0..LENGTH).expect("in it");
                    let pending =
                        engine.queue(&stream, operation, (&from, &mut to)).expect("no fault");
                    pending.wait().expect("no fault");
                    assert!(whole(&output) == on_the_cpu(operation, &data()), "{operation:?}");
                }
            });
        }
    });
}

#[test]
fn queued_work_reports() {
    for operation in operations() {
        let is_ctr = matches!(operation, Operation::Ctr(_) | Operation::Ctr32(_));
        let length = LENGTH - if is_ctr { 3 } else { 0 };
        let expected = on_the_cpu(operation, &data()[..length]);
        at_every_call("queue", &expected, |model| {
            let cipher = on_device(model)?;
            let (engine, device) = (cipher.engine(), cipher.engine().device());
            let stream = Stream::new(device)?;
            let mut buffer = DeviceBuffer::from_host(device, &data()[..length])?;
            let mut slice = buffer.slice_mut(0..length)?;
            engine.queue(&stream, operation, &mut slice)?.wait()?;
            let mut found = vec![0; length];
            buffer.read(0, &mut found)?;
            Ok(found)
        });
    }
}

#[test]
fn queued_data_units_report() {
    let units = DataUnits { bytes: 50, first: 7 };
    for direction in Direction::BOTH {
        let expected = xts_on_the_cpu(direction, units, &data());
        at_every_call("queue of XTS", &expected, |model| {
            let engine = xts_engine(model)?;
            let device = engine.data_engine().device();
            let stream = Stream::new(device)?;
            let input = DeviceBuffer::from_host(device, &data())?;
            let mut output = DeviceBuffer::zeroed(device, LENGTH)?;
            let (from, mut to) = (input.slice(0..LENGTH)?, output.slice_mut(0..LENGTH)?);
            engine.queue(&stream, direction, units, (&from, &mut to))?.wait()?;
            let mut found = vec![0; LENGTH];
            output.read(0, &mut found)?;
            let mut input = input;
            let mut data = input.slice_mut(0..LENGTH)?;
            engine.queue(&stream, direction, units, &mut data)?.wait()?;
            let mut again = vec![0; LENGTH];
            input.read(0, &mut again)?;
            assert!(again == found, "in place it is another result");
            Ok(found)
        });
    }
}

#[test]
fn streams_and_addresses_that_do_not_fit_are_refused() {
    let (model, other) = (Model::default(), Model::default());
    let cipher = on_device(&model).expect("no fault");
    let (engine, device) = (cipher.engine(), cipher.engine().device());
    let ecb = Operation::Ecb(Direction::Encrypt);
    let mut buffer = DeviceBuffer::zeroed(device, 64).expect("no fault");
    let mut slice = buffer.slice_mut(0..64).expect("in it");
    let theirs = Stream::new(&other.device()).expect("no fault");
    let queued = engine.queue(&theirs, ecb, &mut slice);
    let text = queued.expect_err("another device").to_string();
    assert!(text.contains("the stream is of"), "{text}");

    // SAFETY: the model knows all streams, and this one as that of another context.
    let foreign = unsafe { Stream::from_raw(device, Model::FOREIGN.0 as *mut _) };
    assert!(matches!(foreign, Err(Error::OtherContext { .. })));

    let stream = Stream::new(device).expect("no fault");
    let start = buffer.slice(0..64).expect("in it").address();
    for (input, output) in [(16, 8), (0, 8), (0, 16), (32, 0)] {
        // SAFETY: nothing is queued, and the addresses are those of the buffer.
        let queued = unsafe { engine.queue_raw(&stream, ecb, start + input, start + output, 48) };
        assert!(matches!(queued, Err(Error::Addresses { .. })), "{input}, {output}");
    }
    let launches = model.launches();
    // SAFETY: two halves of the buffer, which nobody else uses until the stream has run.
    unsafe { engine.queue_raw(&stream, ecb, start, start + 32, 32) }.expect("no overlap");
    stream.synchronize().expect("no fault");
    assert_eq!(model.launches(), launches + 1);
    let mut expected = vec![0; 64];
    expected[32..].copy_from_slice(&on_the_cpu(ecb, &[0; 32]));
    assert!(whole(&buffer) == expected);
}
