//! Host memory in pieces, on several threads and within bounds.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    thread,
};

use cipher::{Array, BlockCipherEncrypt, InOutBuf};
use lanecrypt_core::Direction;
use lanecrypt_reference::modes;

use super::{
    CHUNK, IV, KEY, at_every_call, gcm::Plain, on_device, on_the_cpu, operations, plaintext,
    watched,
};
use crate::{
    Device, Error, Limits, OnDevice, Operation, PinnedBuffer,
    model_device::{self, Fault, Model, ToyCipher},
};

#[test]
fn pieces_pass_any_number_of_threads_and_lanes() {
    watched(|| {
        let data: Vec<u8> = (0..16 * 700_usize).map(|i| (i * 7 + i / 256) as u8).collect();
        for threads in [0, 1, 2, 3, 8, 1 << (usize::BITS - 1), usize::MAX] {
            for pinned_bytes in [0, 256, 300, 5 * 128, 1 << 20] {
                let model = Model::default();
                let cipher = on_device(&model).expect("no fault");
                let device = cipher.engine().device();
                device.limit_host_memory(Limits { pinned_bytes, threads });
                for operation in operations() {
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
                let most = (pinned_bytes / 128).clamp(1, threads.max(1).saturating_mul(2));
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
                    for length in [16 * 300_usize, 16, 16 * 77] {
                        let data: Vec<u8> = (0..length).map(|i| i as u8 ^ caller).collect();
                        let operation = Operation::Cbc(Direction::Decrypt, &IV);
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
    for (threads, operation) in [1, 3].into_iter().flat_map(|t| operations().map(|o| (t, o))) {
        let plain = plaintext();
        let expected = on_the_cpu(operation, &plain);
        at_every_call("pieces", &expected, |model| {
            let cipher = on_device(model)?;
            let limits = Limits { threads, ..Limits::default() };
            cipher.engine().device().limit_host_memory(limits);
            let mut data = plain.clone();
            let result = cipher.engine().run_host_memory(operation, data.as_mut_slice().into());
            let done = match &result {
                Ok(()) => data.len(),
                Err(Error::Interrupted { complete, .. }) => *complete,
                Err(other) => panic!("{other}"),
            };
            assert!(data[..done] == expected[..done], "{operation:?}: {done} bytes are complete");
            assert!(data[done..] == plain[done..], "{operation:?}: more than {done} bytes changed");
            result?;
            Ok(data)
        });
    }
}

/// Pinned memory of ours is used as it is; it may be a part of it, and one end alone.
#[test]
fn pinned_memory_is_not_copied() {
    for operation in operations() {
        let plain = plaintext();
        let length = plain.len();
        let expected = on_the_cpu(operation, &plain);
        at_every_call("pinned, in place", &expected, |model| {
            let cipher = on_device(model)?;
            let mut data = PinnedBuffer::zeroed(cipher.engine().device(), length + 32)?;
            data[16..16 + length].copy_from_slice(&plain);
            let part = &mut data[16..16 + length];
            cipher.engine().run_host_memory(operation, part.into()).inspect_err(|error| {
                if let Error::Interrupted { complete, .. } = error {
                    assert!(data[16..16 + complete] == expected[..*complete], "{complete}");
                }
            })?;
            assert_eq!(model.pinned(), 1, "lanes have none");
            assert!(data[..16] == [0; 16] && data[16 + length..] == [0; 16]);
            Ok(data[16..16 + length].to_vec())
        });
        at_every_call("pinned, apart", &expected, |model| {
            let cipher = on_device(model)?;
            let device = cipher.engine().device();
            let mut input = PinnedBuffer::zeroed(device, length)?;
            input.copy_from_slice(&plain);
            let mut output = PinnedBuffer::zeroed(device, length)?;
            let both = InOutBuf::new(&input, &mut output).expect("equal lengths");
            cipher.engine().run_host_memory(operation, both)?;
            assert_eq!(model.pinned(), 2, "lanes have none");
            assert!(*input == *plain, "the input stays");
            let mut elsewhere = vec![0; length];
            let both = InOutBuf::new(&input, &mut elsewhere).expect("equal lengths");
            cipher.engine().run_host_memory(operation, both)?;
            assert!(*output == *elsewhere);
            Ok(elsewhere)
        });
    }
}

/// A cipher that falls back needs what is not complete as it was.
#[test]
fn falling_back_from_pinned_memory() {
    let operation = Operation::Ecb(Direction::Encrypt);
    let expected = on_the_cpu(operation, &plaintext());
    at_every_call("a fallback", &expected, |model| {
        let cipher = on_device(model)?;
        let mut data = PinnedBuffer::zeroed(cipher.engine().device(), expected.len())?;
        data.copy_from_slice(&plaintext());
        let (blocks, _) = Array::slice_as_chunks_mut(&mut data);
        cipher.encrypt_blocks(blocks);
        Ok(data.to_vec())
    });
}

/// A device that failed once is used again, and gives back what it held.
#[test]
fn lanes_that_failed_are_not_used_again() {
    for fault in 0..200 {
        let model = Model::failing(Fault::At(fault));
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

/// Encrypts when it is dropped, as a value does that writes out what it has.
struct EncryptsLate<'a> {
    device: &'a Device,
    data: &'a mut [u8],
    tag: Option<[u8; 16]>,
    ran: &'a mut Option<Result<(), Error>>,
}

impl Drop for EncryptsLate<'_> {
    fn drop(&mut self) {
        assert!(thread::panicking());
        let data = (&mut *self.data).into();
        *self.ran = Some(match &mut self.tag {
            Some(tag) => model_device::FAMILY.gcm_engine(self.device, &KEY).and_then(|engine| {
                engine.limit_chunk(CHUNK);
                engine.encrypt_host_memory(&IV, &[], data, tag)
            }),
            None => model_device::FAMILY.engine(self.device, &KEY).and_then(|engine| {
                engine.limit_chunk(CHUNK);
                engine.run_host_memory(Operation::Ctr(IV.into()), data)
            }),
        });
    }
}

/// A destructor that runs while its thread unwinds gets all of its data through a device.
#[test]
fn all_is_encrypted_while_a_thread_unwinds() {
    watched(|| {
        let plain: Vec<u8> = (0..16 * 99_usize).map(|i| (i * 5) as u8).collect();
        for (threads, tag) in [1, 3].into_iter().flat_map(|t| [(t, None), (t, Some([0; 16]))]) {
            let device = Model::roomy(Fault::None).device();
            device.limit_host_memory(Limits { threads, ..Limits::default() });
            let (mut data, mut ran) = (plain.clone(), None);
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                let _late = EncryptsLate { device: &device, data: &mut data, tag, ran: &mut ran };
                resume_unwind(Box::new(()));
            }));
            assert!(unwound.is_err());
            ran.expect("it was dropped").expect("no fault");
            let expected = if tag.is_some() {
                let mut expected = plain.clone();
                let sealed = modes::gcm_encrypt(&Plain, &IV, &[], &mut expected);
                sealed.expect("a good message");
                expected
            } else {
                on_the_cpu(Operation::Ctr(IV.into()), &plain)
            };
            assert!(data == expected, "{threads} threads, {tag:?}");
        }
    });
}
