//! Host memory in pieces, on several threads and within bounds.

use std::{sync::mpsc, thread, time::Duration};

use lanecrypt_core::Direction;

use super::{CHUNK, IV, KEY, OPERATIONS, at_every_call, on_device, on_the_cpu, plaintext};
use crate::{
    Limits, OnDevice, Operation,
    model::{Model, ToyCipher},
};

/// Fails a test whose threads wait for each other, which would hang otherwise.
fn watched(test: impl FnOnce() + Send + 'static) {
    let (sender, ended) = mpsc::channel();
    let test = thread::spawn(move || {
        test();
        sender.send(()).ok();
    });
    if ended.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("it hangs");
    }
    test.join().expect("the test's own failure");
}

#[test]
fn pieces_pass_any_number_of_threads_and_lanes() {
    watched(|| {
        let data: Vec<u8> = (0..16 * 700_usize).map(|i| (i * 7 + i / 256) as u8).collect();
        for threads in [0, 1, 2, 3, 8] {
            for pinned_bytes in [0, 256, 300, 5 * 128, 1 << 20] {
                let model = Model::default();
                let cipher = on_device(&model).expect("no fault");
                let device = cipher.engine().device();
                device.limit_host_memory(Limits { pinned_bytes, threads });
                for operation in OPERATIONS {
                    for length in [0, 16, CHUNK, CHUNK + 16, 2 * CHUNK, 3 * CHUNK - 16, data.len()]
                    {
                        let what = format!("{operation:?}, {length}, {threads}, {pinned_bytes}");
                        let expected = on_the_cpu(operation, &data[..length]);
                        let mut found = data[..length].to_vec();
                        let run = found.as_mut_slice().into();
                        cipher.engine().run_host_memory(operation, run).expect("no fault");
                        assert!(found == expected, "{what}");
                    }
                }
                // Lanes are of 128 bytes; one there is in any case.
                let most = (pinned_bytes / 128).clamp(1, 2 * threads.max(1));
                assert!(
                    model.pinned() <= most,
                    "{} lanes, {threads}, {pinned_bytes}",
                    model.pinned()
                );
                drop(cipher);
                assert_eq!(model.left_behind(), (0, 0), "{threads}, {pinned_bytes}");
            }
        }
    });
}

#[test]
fn calls_share_the_lanes_that_there_may_be() {
    watched(|| {
        let model = Model::default();
        let device = model.device();
        device.limit_host_memory(Limits { pinned_bytes: 3 * 128, threads: 3 });
        thread::scope(|scope| {
            for caller in 0..8_u8 {
                let device = &device;
                scope.spawn(move || {
                    let cipher = OnDevice::<ToyCipher>::new(device, &KEY.into()).expect("no fault");
                    cipher.engine().limit_chunk(CHUNK);
                    for length in [16 * 300, 16, 16 * 77] {
                        let data: Vec<u8> = (0..length).map(|i| i as u8 ^ caller).collect();
                        let operation = Operation::CbcDecrypt(&IV);
                        let mut found = data.clone();
                        let run = found.as_mut_slice().into();
                        cipher.engine().run_host_memory(operation, run).expect("no fault");
                        assert!(found == on_the_cpu(operation, &data), "caller {caller}");
                    }
                });
            }
        });
        assert!(model.pinned() <= 3);
        device.limit_host_memory(Limits { pinned_bytes: 0, threads: 1 });
        assert_eq!(model.left_behind(), (0, 0), "idle lanes are freed, and only they were left");
    });
}

/// In place, what is complete is complete and what comes after it is as it was.
#[test]
fn an_error_tells_what_is_complete() {
    for (threads, operation) in [1, 3].into_iter().flat_map(|t| OPERATIONS.map(|o| (t, o))) {
        let plain = plaintext();
        let expected = on_the_cpu(operation, &plain);
        at_every_call("pieces", &expected, |model| {
            let cipher = on_device(model)?;
            let limits = Limits { threads, ..Limits::default() };
            cipher.engine().device().limit_host_memory(limits);
            let (mut data, mut done) = (plain.clone(), 0);
            let run = data.as_mut_slice().into();
            let result = cipher.engine().run_on_host_memory(operation, run, &mut done);
            assert!(result.is_err() || done == data.len(), "{operation:?}: {done}");
            assert!(done.is_multiple_of(CHUNK) || done == data.len(), "{operation:?}: {done}");
            assert!(data[..done] == expected[..done], "{operation:?}: {done} bytes are complete");
            assert!(data[done..] == plain[done..], "{operation:?}: more than {done} bytes changed");
            result?;
            Ok(data)
        });
    }
}

/// A device that failed once is used again, and gives back what it held.
#[test]
fn lanes_that_failed_are_not_used_again() {
    for fault in 0..200 {
        let model = Model::failing(crate::model::Fault::At(fault));
        let Ok(cipher) = on_device(&model) else { continue };
        let operation = Operation::Ecb(Direction::Encrypt);
        let expected = on_the_cpu(operation, &plaintext());
        let mut data = plaintext();
        let first = cipher.engine().run_host_memory(operation, data.as_mut_slice().into());
        let mut data = plaintext();
        let second = cipher.engine().run_host_memory(operation, data.as_mut_slice().into());
        assert!(first.is_ok() || second.is_ok(), "one call failed: {first:?}, {second:?}");
        assert!(second.is_err() || data == expected, "after {first:?}");
    }
}
