//! Messages between a place outside and a device: whatever fails, nothing that was not verified passes for
//! plaintext, and an error is the outside's, the device's, or names a message.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

use lanecrypt_reference::modes;

use super::{AnyError, KEY, at_every_call_of, gcm::Plain, watched};
use crate::{
    Device, DeviceBuffer, DeviceSlice, DeviceSliceMut, Error, Limits, PinnedBuffer, SealedMessage,
    Sealing, TransferError,
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

/// The device's memory as what is sealed, from 8 bytes behind its beginning on, and what `seal` makes of it.
fn from_device<T>(case: &Both, device: &Device, seal: impl FnOnce(&DeviceSlice<'_>) -> T) -> T {
    let all = [&[0xc5; 8], &case.plain[..]].concat();
    let buffer = DeviceBuffer::from_host(device, &all).expect("no fault");
    let start = buffer.slice(0..0).expect("none of it").address();
    // SAFETY: the range is inside the buffer, which nobody else uses.
    seal(&unsafe { DeviceSlice::from_raw(device, start + 8, case.plain.len()) })
}

impl Both {
    /// Into memory of the host, the device's own or not.
    fn seal_to_memory(
        &self,
        device: &Device,
        output: &mut [u8],
    ) -> Result<(), TransferError<Broken>> {
        let told = AtomicU64::new(0);
        let sealed = from_device(self, device, |input| {
            let messages = self.messages.iter().cloned();
            FAMILY.seal_from_device_to_memory(messages, input, output, |complete| {
                told.fetch_add(complete.end - complete.start, Ordering::Relaxed);
                Ok(())
            })
        });
        let all = self.messages.iter().map(|message| message.length as u64 + 16).sum::<u64>();
        assert!(sealed.is_err() || told.into_inner() == all);
        sealed
    }

    /// What is appended by and by, and when it breaks: before the piece that would be longer than `most` with others.
    fn append(&self, device: &Device, most: usize) -> (Vec<u8>, Result<(), TransferError<Broken>>) {
        let mut appended = Vec::new();
        let result = from_device(self, device, |input| {
            let messages = self.messages.iter().cloned();
            FAMILY.seal_from_device_in_order(messages, input, |piece| {
                if appended.len() + piece.len() > most {
                    return Err(Broken);
                }
                appended.extend_from_slice(piece);
                Ok(())
            })
        });
        (appended, result)
    }
}

#[test]
fn memory_and_whoever_takes_it_in_order_get_the_same() {
    watched(|| {
        // More parts of a run than are copied one by one, beside the others.
        for case in cases().into_iter().chain([both(&[33; 70], 3)]) {
            for (threads, pinned_bytes) in [(1, 0), (1, 4096), (3, 9000), (8, 30_000), (2, 1 << 20)]
            {
                let model = Model::roomy(Fault::None);
                let device = model.device();
                device.limit_host_memory(Limits { pinned_bytes, threads });
                let mut memory = vec![0x5a; case.outside.len()];
                case.seal_to_memory(&device, &mut memory).expect("no fault");
                assert!(memory == case.outside, "{threads} threads, {pinned_bytes}: memory");
                let mut pinned =
                    PinnedBuffer::zeroed(&device, 3 + case.outside.len()).expect("pinned");
                pinned.fill(0x5a);
                case.seal_to_memory(&device, &mut pinned[3..]).expect("no fault");
                assert!(pinned[3..] == case.outside, "{threads} threads, {pinned_bytes}: pinned");
                drop(pinned);
                let (appended, result) = case.append(&device, usize::MAX);
                result.expect("no fault");
                let messages = case.messages.iter();
                let expected =
                    messages.map(|m| &case.outside[m.sealed_at as usize..][..m.length + 16]);
                assert!(appended == expected.collect::<Vec<_>>().concat(), "in order");
                assert!(!model.holds(&KEY), "a key is left");
                drop(device);
                assert_eq!(model.left_behind(), (0, 0));
            }
        }
    });
}

#[test]
fn what_is_appended_ends_where_that_fails() {
    watched(|| {
        let case = both(&[160; 40], 0);
        let device = device_of(&Model::roomy(Fault::None), 3);
        let all = case.outside.len() - HEADER;
        for most in (0..all).step_by(517) {
            let (appended, result) = case.append(&device, most);
            assert!(matches!(result, Err(TransferError::Outside(Broken))), "{most}: {result:?}");
            assert!(
                case.outside[HEADER..].starts_with(&appended) && appended.len() <= most,
                "{most}"
            );
        }
    });
}

#[test]
fn whatever_fails_on_the_way_to_memory_is_told() {
    for case in cases().iter().skip(1) {
        at_every_call_of(Model::roomy, "sealing to memory", &case.outside, |model| {
            let device = device_of(model, 1);
            let mut pinned = PinnedBuffer::zeroed(&device, case.outside.len())?;
            pinned.fill(0x5a);
            let buffer = DeviceBuffer::from_host(&device, &[&case.plain[..], &[0; 16]].concat())?;
            let input = buffer.slice(0..case.plain.len())?;
            let messages = case.messages.iter().cloned();
            let sealed =
                FAMILY.seal_from_device_to_memory(messages, &input, &mut pinned, |_| Ok(()));
            sealed.map_err(of_device)?;
            Ok(pinned.to_vec())
        });
    }
}

#[test]
fn who_is_told_may_end_it() {
    let case = both(&[160; 40], 0);
    let device = device_of(&Model::roomy(Fault::None), 3);
    let mut memory = vec![0; case.outside.len()];
    let ended = from_device(&case, &device, |input| {
        let messages = case.messages.iter().cloned();
        FAMILY.seal_from_device_to_memory(messages, input, &mut memory, |_| Err(Broken))
    });
    assert!(matches!(ended, Err(TransferError::Outside(Broken))), "{ended:?}");
}

#[test]
fn places_in_memory_are_in_order_and_inside() {
    let case = both(&[120, 160], 0);
    let device = device_of(&Model::roomy(Fault::None), 1);
    let sealed = |messages: Vec<SealedMessage<'static>>, bytes: usize| {
        let case = Both { messages, outside: vec![], plain: case.plain.clone() };
        case.seal_to_memory(&device, &mut vec![0; bytes])
    };
    let all = case.outside.len();
    sealed(case.messages.clone(), all).expect("it fits");
    let mut swapped = case.messages.clone();
    swapped.swap(0, 1);
    let mut overlapping = case.messages.clone();
    overlapping[1].sealed_at -= 1;
    let mut far = case.messages.clone();
    far[1].sealed_at = u64::MAX;
    for (messages, bytes) in [
        (case.messages.clone(), all - 1),
        (case.messages.clone(), 0),
        (swapped, all),
        (overlapping, all),
        (far, all),
    ] {
        let refused = sealed(messages, bytes);
        assert!(matches!(refused, Err(TransferError::Device(Error::Range { .. }))), "{refused:?}");
    }
}

/// Regions at multiples of a block and not, of which one is empty; each message with a lead.
#[test]
fn regions_are_sealed_and_opened_each_by_itself() {
    static LEADS: [[u8; 32]; 6] = [[1; 32], [2; 32], [3; 32], [4; 32], [5; 32], [6; 32]];
    const LENGTHS: [usize; 6] = [160, 0, 4096, 33, 160, 1];
    for (askew, threads, pinned_bytes) in
        [(0, 1, 1 << 20), (0, 2, 4096), (8, 3, 9000), (1, 1, 1 << 20)]
    {
        let device = Model::roomy(Fault::None).device();
        device.limit_host_memory(Limits { pinned_bytes, threads });
        let mut case = both(&LENGTHS, 0);
        let (mut at, mut expected) = (0, Vec::new());
        for (message, lead) in case.messages.iter_mut().zip(&LEADS) {
            let sealed = &case.outside[message.sealed_at as usize..][..message.length + 16];
            expected.extend([&lead[..], sealed].concat());
            (message.lead, message.sealed_at, message.plain_at) = (lead, at + 32, 0);
            at += 48 + message.length as u64;
        }
        let texts = LENGTHS.iter().scan(0, |at, &length| {
            *at += length;
            Some(&case.plain[*at - length..*at])
        });
        let texts: Vec<&[u8]> = texts.collect();
        let canary = [0xc5; 16];
        let mut buffers: Vec<_> = texts
            .iter()
            .map(|text| {
                let all = [&canary[..askew], text, &canary[..]].concat();
                DeviceBuffer::from_host(&device, &all).expect("no fault")
            })
            .collect();
        let regions: Vec<_> = buffers
            .iter()
            .zip(LENGTHS)
            .map(|(buffer, length)| buffer.slice(askew..askew + length).expect("inside"))
            .collect();
        let mut memory = vec![0; expected.len()];
        let messages = case.messages.iter().cloned();
        FAMILY
            .seal_regions_to_memory(&device, messages, &regions, &mut memory, |_| {
                Ok::<_, Broken>(())
            })
            .expect("no fault");
        assert!(memory == expected, "{askew}");
        for wrong in [&[][..], &[0], &[1], &[2, 5], &[0, 1, 2, 3, 4, 5]] {
            let mut changed = memory.clone();
            for &number in wrong {
                let message: &SealedMessage<'_> = &case.messages[number];
                changed[message.sealed_at as usize + message.length / 2] ^= 1;
            }
            for (buffer, text) in buffers.iter_mut().zip(&texts) {
                buffer.write(askew, &vec![0x77; text.len()]).expect("no fault");
            }
            let messages = case.messages.iter().cloned().map(|m| SealedMessage { lead: &[], ..m });
            let mut regions: Vec<_> = buffers
                .iter_mut()
                .zip(LENGTHS)
                .map(|(buffer, length)| buffer.slice_mut(askew..askew + length).expect("inside"))
                .collect();
            let found = FAMILY.open_regions(&device, messages, &mut regions, |to, at| {
                to.copy_from_slice(&changed[at as usize..][..to.len()]);
                Ok::<_, Broken>(())
            });
            let named: Vec<_> = wrong.iter().map(|&number| number as u64).collect();
            assert_eq!(found.expect("no fault"), named);
            for (number, (buffer, text)) in buffers.iter().zip(&texts).enumerate() {
                let mut found = vec![0; buffer.len()];
                buffer.read(0, &mut found).expect("no fault");
                let zeros = vec![0; text.len()];
                let text = if wrong.contains(&number) { &zeros[..] } else { text };
                assert!(
                    found == [&canary[..askew], text, &canary[..]].concat(),
                    "{number} of {wrong:?}"
                );
            }
        }
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
