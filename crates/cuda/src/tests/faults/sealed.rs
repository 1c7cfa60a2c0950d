//! Messages between a place outside and a device: whatever fails, nothing that was not verified passes for
//! plaintext, and an error is the outside's, the device's, or names a message.

use std::sync::Mutex;

use lanecrypt_reference::modes;

use super::{AnyError, KEY, at_every_call_of, gcm::Plain, watched};
use crate::{
    Device, DeviceBuffer, DeviceSlice, DeviceSliceMut, Error, Limits, SealedMessage, Sealing,
    TransferError,
    batch::BatchFamily,
    model_device::{Fault, Model, TOY},
};

static FAMILY: BatchFamily = BatchFamily::new(&TOY, &lanecrypt_kernels::batch::AES);
/// Bytes before the first message outside, which are nobody's.
const HEADER: usize = 40;

/// What lies outside, and on the device; with the messages that say so.
struct Both {
    messages: Vec<SealedMessage<'static>>,
    outside: Vec<u8>,
    plain: Vec<u8>,
}

/// Messages of such lengths, one behind the other: but for the bytes before each of them outside.
fn both(lengths: &[usize], gap: usize) -> Both {
    let mut both = Both { messages: vec![], outside: vec![0x5a; HEADER], plain: vec![] };
    for (number, &length) in lengths.iter().enumerate() {
        let mut text: Vec<u8> = (0..length).map(|i| (i * 7 + i / 256 + number) as u8).collect();
        let iv = [number as u8; 12];
        both.messages.push(SealedMessage {
            key: &KEY,
            sealing: Sealing::Gcm,
            iv,
            aad: &[],
            lead: &[],
            length,
            sealed_at: both.outside.len() as u64,
            part: 0..length,
            plain_at: both.plain.len(),
        });
        both.plain.extend(&text);
        let tag = modes::gcm_encrypt(&Plain, &iv, &[], &mut text).expect("a good message");
        both.outside.extend(text);
        both.outside.extend(tag);
        both.outside.extend(vec![0x5a; gap]);
    }
    both
}

/// Full ones behind a shorter first one, as in sealed files; some at multiples of a block and some not, and
/// long enough that several are hashed in pieces.
fn cases() -> [Both; 5] {
    [
        both(&[], 0),
        both(&[0], 0),
        both(&[120, 160, 160, 160, 7], 0),
        both(&[72, 112, 112, 112, 112, 112, 30], 3),
        both(&[3000, 3001, 3001, 1], 0),
    ]
}

/// What the outside fails with.
#[derive(Debug, thiserror::Error)]
#[error("broken")]
struct Broken;

impl Both {
    /// Opens them, from 8 bytes behind the beginning of the device's memory.
    fn open(&self, device: &Device) -> Result<Vec<u8>, TransferError<Broken>> {
        let mut buffer = DeviceBuffer::from_host(device, &vec![0xc5; self.plain.len() + 16])?;
        let start = buffer.slice(0..0)?.address();
        // SAFETY: the range is inside the buffer, which nobody else uses.
        let mut output = unsafe { DeviceSliceMut::from_raw(device, start + 8, self.plain.len()) };
        FAMILY.open_to_device(self.messages.iter().cloned(), &mut output, |to, at| {
            let from = self.outside.get(at as usize..).and_then(|rest| rest.get(..to.len()));
            to.copy_from_slice(from.ok_or(Broken)?);
            Ok(())
        })?;
        let mut found = vec![0; buffer.len()];
        buffer.read(0, &mut found)?;
        let (before, rest) = found.split_at(8);
        assert!(before == [0xc5; 8] && rest.ends_with(&[0xc5; 8]), "written outside");
        buffer.write(0, &[0])?; // as ours
        Ok(rest[..self.plain.len()].to_vec())
    }

    fn seal(&self, device: &Device) -> Result<Vec<u8>, TransferError<Broken>> {
        let all = [&[0xc5; 8], &self.plain[..]].concat();
        let buffer = DeviceBuffer::from_host(device, &all)?;
        let start = buffer.slice(0..0)?.address();
        // SAFETY: as above.
        let input = unsafe { DeviceSlice::from_raw(device, start + 8, self.plain.len()) };
        let outside = Mutex::new(vec![0x5a; self.outside.len()]);
        FAMILY.seal_from_device(self.messages.iter().cloned(), &input, |from, at| {
            let mut outside = outside.lock().expect("no panic");
            let to = outside.get_mut(at as usize..).and_then(|rest| rest.get_mut(..from.len()));
            to.ok_or(Broken)?.copy_from_slice(from);
            Ok(())
        })?;
        Ok(outside.into_inner().expect("no panic"))
    }
}

/// A device on which runs are so short that there are several.
fn device_of(model: &Model, threads: usize) -> Device {
    let device = model.device();
    device.limit_host_memory(Limits { pinned_bytes: 4096 * threads, threads });
    device
}

/// What failed was the device.
fn of_device(error: TransferError<Broken>) -> AnyError {
    match error {
        TransferError::Device(error) => Box::new(error),
        other => panic!("the device did not fail with {other}"),
    }
}

#[test]
fn whatever_fails_is_told() {
    for case in cases().iter().skip(1) {
        at_every_call_of(Model::roomy, "opening", &case.plain, |model| {
            case.open(&device_of(model, 1)).map_err(of_device)
        });
        at_every_call_of(Model::roomy, "sealing", &case.outside, |model| {
            case.seal(&device_of(model, 1)).map_err(of_device)
        });
    }
}

#[test]
fn runs_pass_any_number_of_threads_and_lanes() {
    watched(|| {
        for case in cases() {
            for threads in [0, 1, 3, 8, 1 << (usize::BITS - 1), usize::MAX] {
                for pinned_bytes in [0, 4096, 30_000, 1 << 20] {
                    let model = Model::roomy(Fault::None);
                    let device = model.device();
                    device.limit_host_memory(Limits { pinned_bytes, threads });
                    let what = format!("{threads} threads, {pinned_bytes} bytes pinned");
                    assert!(case.open(&device).expect("no fault") == case.plain, "{what}");
                    assert!(case.seal(&device).expect("no fault") == case.outside, "{what}");
                    assert!(!model.holds(&KEY), "{what}: a key is left");
                    drop(device);
                    assert_eq!(model.left_behind(), (0, 0), "{what}");
                }
            }
        }
    });
}

/// Plain bytes before messages, which leave gaps or none, messages without tags, and associated data.
fn with_leads(aad: &'static [u8]) -> Both {
    static LEAD: [u8; 32] = [0xee; 32];
    let mut both = Both { messages: vec![], outside: vec![0x5a; HEADER], plain: vec![] };
    let lengths = [(0, 100), (12, 100), (12, 4), (0, 33), (1, 0), (32, 160), (20, 140), (4, 9)];
    for (number, (lead, length)) in lengths.into_iter().enumerate() {
        let mut text = vec![number as u8 + 1; length];
        let iv = [number as u8; 12];
        both.plain.extend(&LEAD[..lead]);
        let sealing = if number % 3 == 1 { Sealing::Ctr } else { Sealing::Gcm };
        both.messages.push(SealedMessage {
            key: &KEY,
            sealing,
            iv,
            aad,
            lead: &LEAD[..lead],
            length,
            sealed_at: both.outside.len() as u64,
            part: 0..length,
            plain_at: both.plain.len(),
        });
        both.plain.extend(&text);
        match sealing {
            Sealing::Gcm => {
                let tag = modes::gcm_encrypt(&Plain, &iv, aad, &mut text).expect("a good message");
                both.outside.extend(text);
                both.outside.extend(tag);
            }
            Sealing::Ctr => {
                let mut counter = [0; 16];
                counter[..12].copy_from_slice(&iv);
                counter[15] = 1;
                modes::ctr32(&Plain, &counter, &mut text).expect("a good message");
                both.outside.extend(text);
            }
        }
        both.outside.extend(vec![0x5a; number % 2]);
    }
    both
}

#[test]
fn leads_come_before_messages_with_tags_or_without() {
    for aad in [&b""[..], b"seventeen bytes .", &[7; 100]] {
        let mut case = with_leads(aad);
        for (threads, pinned_bytes) in [(1, 1 << 20), (2, 4096), (3, 9000)] {
            let device = Model::roomy(Fault::None).device();
            device.limit_host_memory(Limits { pinned_bytes, threads });
            assert!(case.open(&device).expect("no fault") == case.plain);
            // Associated data of one message; of those before and behind it nothing.
            let right = std::mem::replace(&mut case.messages[3].aad, b"another");
            let error = case.open(&device).expect_err("the data is another");
            assert!(matches!(error, TransferError::NotAuthentic { message: 3 }), "{error}");
            case.messages[3].aad = right;
        }
        let device = device_of(&Model::roomy(Fault::None), 1);
        let first = case.messages[1].plain_at;
        for refused_at in [0, 11, usize::MAX] {
            case.messages[1].plain_at = refused_at;
            let refused = case.open(&device);
            assert!(matches!(refused, Err(TransferError::Device(Error::Range { .. }))));
        }
        case.messages[1].plain_at = first;
        let refused = case.seal(&device).expect_err("leads are of messages that are opened");
        assert!(matches!(refused, TransferError::Device(Error::Range { .. })), "{refused}");
        for message in &mut case.messages {
            message.lead = &[];
        }
        assert!(case.seal(&device).expect("no fault") == case.outside);
    }
}

/// The first message that is wrong is named, wherever it is and whoever else is on the way.
#[test]
fn a_message_that_was_changed_is_named() {
    let mut case = both(&[120, 160, 160, 160, 160, 160, 160, 7], 0);
    let device = device_of(&Model::roomy(Fault::None), 3);
    for number in 0..case.messages.len() {
        let SealedMessage { sealed_at, length, .. } = case.messages[number];
        let start = sealed_at as usize;
        for at in [start, start + length - 1, start + length, start + length + 15] {
            let last = case.outside.len() - 1;
            case.outside[at] ^= 0x10;
            case.outside[last] ^= 1; // another one, in the last message
            let error = case.open(&device).expect_err("it was changed");
            let is_it = matches!(error, TransferError::NotAuthentic { message } if message == number as u64);
            assert!(is_it || at == last, "byte {at}: {error}");
            case.outside[at] ^= 0x10;
            case.outside[last] ^= 1;
        }
    }
    assert!(case.open(&device).expect("it is as it was") == case.plain);
}

#[test]
fn the_outside_may_fail() {
    for case in cases().iter_mut().skip(1) {
        let device = device_of(&Model::roomy(Fault::None), 2);
        case.outside.truncate(case.outside.len() - 4);
        let opened = case.open(&device);
        assert!(matches!(opened, Err(TransferError::Outside(Broken))), "{opened:?}");
        let sealed = case.seal(&device);
        assert!(matches!(sealed, Err(TransferError::Outside(Broken))), "{sealed:?}");
    }
}

/// Parts of messages are brought to where they are wanted.
#[test]
fn a_part_of_a_message_is_enough() {
    let mut case = both(&[120, 160, 160, 7], 0);
    let device = device_of(&Model::roomy(Fault::None), 1);
    let (first, last) = (&mut case.messages[0], 200);
    first.part = 33..120;
    case.messages[1].plain_at = 87;
    case.messages[2].plain_at = 87 + 160;
    case.messages[2].part = 0..last - 120;
    case.messages.truncate(3);
    case.plain.drain(..33);
    case.plain.truncate(87 + 160 + last - 120);
    assert!(case.open(&device).expect("no fault") == case.plain);
    let sealed = case.seal(&device).expect_err("a part is not sealed");
    let range = Error::Range { start: 33, end: 120, length: 120 };
    assert_eq!(sealed.to_string(), range.to_string());
    case.messages[1].part = 7..161;
    assert!(matches!(case.open(&device), Err(TransferError::Device(Error::Range { .. }))));
    case.messages[1].part = 7..8;
    case.messages[1].part.end = 6;
    assert!(matches!(case.open(&device), Err(TransferError::Device(Error::Range { .. }))));
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut case = both(&[120, 160], 0);
    let device = device_of(&Model::roomy(Fault::None), 1);
    for at in [121, usize::MAX] {
        case.messages[1].plain_at = at;
        let refused = [case.open(&device), case.seal(&device)];
        let is_range =
            |result: &_| matches!(result, Err(TransferError::Device(Error::Range { .. })));
        assert!(refused.iter().all(is_range), "{refused:?}");
    }
    case.messages[1] =
        SealedMessage { length: usize::MAX, part: 0..0, plain_at: 0, ..case.messages[1].clone() };
    let refused = [case.open(&device), case.seal(&device)];
    let is_range = |result: &_| matches!(result, Err(TransferError::Device(Error::Range { .. })));
    assert!(refused.iter().all(is_range), "{refused:?}");
    case.messages[1].length = 100;
    case.messages[1].sealed_at = u64::MAX;
    let refused = case.open(&device);
    assert!(matches!(refused, Err(TransferError::Outside(Broken))), "{refused:?}");
    let mut buffer = DeviceBuffer::zeroed(&device, 160).expect("no fault");
    let mut slice = buffer.slice_mut(0..160).expect("all of it");
    let messages = case.messages.into_iter();
    let messages = messages.map(|message| SealedMessage { key: &KEY[..7], ..message });
    let read = |_: &mut [u8], _| Err(Broken);
    let error = FAMILY.open_to_device(messages, &mut slice, read).expect_err("a short key");
    assert!(matches!(error, TransferError::Device(Error::Data(_))), "{error:?}");
    let device = Model::default().device();
    let small = both(&[10], 0).open(&device).expect_err("the model has 64 KiB");
    assert!(small.to_string().contains("bytes of shared memory"), "{small}");
}
