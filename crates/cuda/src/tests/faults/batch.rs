//! Batches: whatever fails, no job that is not named is incomplete, and nothing unverified is written.

use std::sync::LazyLock;

use lanecrypt_core::{
    CipherDescription, Error,
    batch::{Job, JobData, JobMode},
};
use lanecrypt_kernels::batch;
use lanecrypt_reference::modes;

use super::{at_every_call_of, gcm::Plain, watched};
use crate::{
    BatchFamily, Device, DeviceBuffer, DeviceJob, HashFamily, Limits, PinnedBuffer, TransferError,
    model_device::{self, Fault, Model},
};

/// The toy cipher by the kernels of the ciphers, which are launched alike.
pub(super) static FAMILIES: LazyLock<Vec<BatchFamily>> = LazyLock::new(|| {
    let of_program = |program: &&'static _| BatchFamily::new(&model_device::TOY, program);
    batch::PROGRAMS.iter().map(of_program).collect()
});

const IV: [u8; 16] = [0xfe; 16];
const LONG_IV: &[u8] = &[0x17; 21];
const AAD: &[u8] = &[0x61; 19];
/// The number of the message with a wrong tag.
pub(super) const WRONG: usize = 6;

/// A message in one of the modes, and what comes out.
#[derive(Clone)]
pub(super) struct Message {
    pub(super) mode: usize,
    pub(super) tag: Vec<u8>,
    pub(super) input: Vec<u8>,
    pub(super) output: Vec<u8>,
    pub(super) sealed_tag: Vec<u8>,
}

impl Message {
    fn new(mode: usize, length: usize) -> Self {
        let plain: Vec<u8> = (0..length).map(|i| (i * 7 + i / 256 + mode) as u8).collect();
        let (mut input, mut output) = (plain.clone(), plain);
        let (mut tag, mut sealed_tag) = (vec![], vec![]);
        let result = match mode {
            0 => modes::ecb_encrypt(&Plain, &mut output),
            1 => modes::ecb_decrypt(&Plain, &mut output),
            2 => modes::ctr(&Plain, &IV, &mut output),
            3 => modes::ctr32(&Plain, &IV, &mut output),
            4 => modes::cbc_encrypt(&Plain, &IV, &mut output),
            5 => modes::cbc_decrypt(&Plain, &IV, &mut output),
            _ => {
                let tag_of_all = modes::gcm_encrypt(&Plain, LONG_IV, AAD, &mut output);
                sealed_tag = tag_of_all.expect("a good message")[..13].to_vec();
                tag = vec![0; 13];
                Ok(())
            }
        };
        result.expect("a good message");
        if mode == 7 {
            tag.clone_from(&sealed_tag);
            std::mem::swap(&mut input, &mut output);
        }
        Self { mode, tag, input, output, sealed_tag }
    }

    pub(super) fn mode(&mut self) -> JobMode<'_> {
        match self.mode {
            0 => JobMode::EcbEncrypt,
            1 => JobMode::EcbDecrypt,
            2 => JobMode::Ctr { counter: &IV },
            3 => JobMode::Ctr32 { counter: &IV },
            4 => JobMode::CbcEncrypt { iv: &IV },
            5 => JobMode::CbcDecrypt { iv: &IV },
            6 => JobMode::GcmEncrypt { iv: LONG_IV, aad: AAD, tag: &mut self.tag },
            _ => JobMode::GcmDecrypt { iv: LONG_IV, aad: AAD, tag: &self.tag },
        }
    }
}

/// Jobs of messages, each with its text, in place.
fn jobs<'a>(
    messages: &'a mut [Message],
    texts: impl IntoIterator<Item = &'a mut [u8]>,
) -> Vec<Job<'a>> {
    let job = |(message, text): (&'a mut Message, _)| Job {
        key: &super::KEY,
        mode: message.mode(),
        data: JobData::from(text),
    };
    messages.iter_mut().zip(texts).map(job).collect()
}

/// All modes, short and long messages and one of no bytes, and one with a wrong tag.
pub(super) fn messages() -> Vec<Message> {
    let lengths = [(0, 48), (1, 80), (2, 1500), (3, 37), (4, 64), (5, 160), (7, 100), (6, 900)];
    let more = [(7, 33), (6, 20), (7, 700), (6, 0), (5, 0)];
    let mut all: Vec<_> =
        lengths.into_iter().chain(more).map(|(m, l)| Message::new(m, l)).collect();
    all[WRONG].tag[3] ^= 4;
    all[WRONG].output = all[WRONG].input.clone();
    all
}

/// Places of the messages in a buffer, and its length.
fn places(messages: &[Message]) -> (Vec<usize>, usize) {
    let mut at = 32;
    let place = |message: &Message| {
        let start = at;
        at += message.input.len().next_multiple_of(16) + 16;
        start
    };
    (messages.iter().map(place).collect(), at)
}

/// The texts of all messages where they belong, then all tags.
fn laid(
    messages: &[Message],
    text: impl Fn(&Message) -> &[u8],
    tag: impl Fn(&Message) -> &[u8],
) -> Vec<u8> {
    let (places, length) = places(messages);
    let mut all = vec![0xc5; length];
    for (message, at) in messages.iter().zip(places) {
        all[at..at + text(message).len()].copy_from_slice(text(message));
    }
    all.extend(messages.iter().flat_map(tag));
    all
}

#[test]
fn resident_batches_report() {
    let messages = messages();
    let (places, length) = places(&messages);
    let is_sealed = |message: &Message| message.mode == 6;
    let expected =
        laid(&messages, |m| &m.output, |m| if is_sealed(m) { &m.sealed_tag } else { &m.tag });
    let ways = HashFamily::ALL.into_iter().flat_map(|hash| {
        [None, Some([16, 64, 16, 2]), Some([4, 8, 32, 8])].map(|cuts| (hash, cuts))
    });
    for (family, (hash, cuts)) in FAMILIES.iter().cycle().zip(ways) {
        at_every_call_of(Model::roomy, &format!("{hash:?}, {cuts:?}"), &expected, |model| {
            let device = model.device();
            let mut tried = messages.clone();
            let data = laid(&tried, |m| &m.input, |_| &[]);
            let mut buffer = DeviceBuffer::from_host(&device, &data)?;
            let jobs = tried.iter_mut().zip(&places).map(|(message, &at)| {
                let length = message.input.len();
                DeviceJob { key: &super::KEY, mode: message.mode(), input: at, output: at, length }
            });
            let batch = family.prepare_with(&device, hash, cuts, jobs.collect())?;
            let outcome = batch.run(&mut buffer.slice_mut(0..length)?)?;
            let failed: Vec<_> = outcome.failures().iter().map(|failure| failure.job).collect();
            assert_eq!(failed, [WRONG], "{outcome}");
            let mut found = vec![0; length];
            buffer.read(0, &mut found)?;
            found.extend(tried.iter().flat_map(|message| &message.tag));
            Ok(found)
        });
    }
}

/// Every job is complete or named, and in place what is named is as it was.
#[test]
fn batches_in_host_memory_name_what_is_incomplete() {
    let messages = messages();
    let faults = [(Fault::At as fn(usize) -> Fault, 0), (Fault::From, 0), (Fault::At, 1700)];
    for (family, (fault, part)) in FAMILIES.iter().rev().zip(faults) {
        for call in 0.. {
            let model = Model::roomy(fault(call));
            let mut tried = messages.clone();
            let mut texts: Vec<_> = tried.iter().map(|message| message.input.clone()).collect();
            let mut jobs = jobs(&mut tried, texts.iter_mut().map(Vec::as_mut_slice));
            let outcome = family.run_host_memory_in_parts(&model.device(), part, &mut jobs);
            drop(jobs);
            let outcome = outcome.expect("the device fits");
            let mut failures = outcome.failures().iter().peekable();
            for (number, (message, text)) in tried.iter().zip(&texts).enumerate() {
                let failure = failures.next_if(|failure| failure.job == number);
                assert!(number != WRONG || failure.is_some(), "a wrong tag is accepted");
                match failure.map(|failure| &failure.error) {
                    None => {
                        assert!(*text == message.output, "job {number}, call {call}");
                        assert!(message.mode != 6 || message.tag == message.sealed_tag);
                    }
                    Some(error) => {
                        assert!(*text == message.input, "job {number}, call {call}: {error}");
                        let is_right = matches!(error, Error::NotAuthentic) && number == WRONG
                            || matches!(error, Error::Device(_)) && model.has_failed();
                        assert!(is_right, "job {number}, call {call}: {error}");
                        let is_lost = fault(0) == Fault::From(0) && number != WRONG;
                        let says_so = number != WRONG && super::is_device_lost(error);
                        assert_eq!(says_so, is_lost, "job {number}, call {call}: {error}");
                    }
                }
            }
            if !model.has_failed() {
                assert!(call > 20, "hardly a driver call was made");
                assert_eq!(model.left_behind(), (0, 0), "freed without being cleared");
                break;
            }
        }
    }
}

/// The texts of messages in pinned memory, one byte between them.
struct Pinned(PinnedBuffer);

impl Pinned {
    fn new(device: &Device, messages: &[Message]) -> Result<Self, crate::Error> {
        let texts: Vec<u8> =
            messages.iter().flat_map(|message| [&[0xc5], &message.input[..]].concat()).collect();
        let mut buffer = PinnedBuffer::zeroed(device, texts.len())?;
        buffer.copy_from_slice(&texts);
        Ok(Self(buffer))
    }

    /// The text of each.
    fn texts(&mut self, messages: &[Message]) -> Vec<&mut [u8]> {
        let mut rest = &mut self.0[..];
        let text = |message: &Message| {
            let (between, behind) = std::mem::take(&mut rest).split_at_mut(1);
            assert_eq!(between, [0xc5], "a byte that is no message's");
            let (text, behind) = behind.split_at_mut(message.input.len());
            rest = behind;
            text
        };
        messages.iter().map(text).collect()
    }
}

/// Kernels move what is in pinned memory: no copy is as long as the messages. A job that is not named is complete.
#[test]
fn batches_in_pinned_memory_name_what_is_incomplete() {
    let messages = messages();
    let bytes: usize = messages.iter().map(|message| message.input.len()).sum();
    let sealed = |message: &Message| if message.mode == 6 { 13 } else { 0 };
    for (family, fault) in FAMILIES.iter().zip([Fault::At as fn(usize) -> Fault, Fault::From]) {
        for call in 0.. {
            let model = Model::mapping(fault(call));
            let device = model.device();
            let mut tried = messages.clone();
            let Ok(mut pinned) = Pinned::new(&device, &messages) else { continue };
            let texts = pinned.texts(&messages);
            let mut jobs = jobs(&mut tried, texts);
            let outcome = family.run_host_memory(&device, &mut jobs);
            drop(jobs);
            let outcome = outcome.expect("the device fits");
            let mut failures = outcome.failures().iter().peekable();
            for ((number, message), text) in
                messages.iter().enumerate().zip(pinned.texts(&messages))
            {
                let failure = failures.next_if(|failure| failure.job == number);
                assert!(number != WRONG || failure.is_some(), "a wrong tag is accepted");
                if failure.is_none() {
                    assert!(*text == message.output, "job {number}, call {call}");
                    assert!(
                        tried[number].tag[..sealed(message)]
                            == message.sealed_tag[..sealed(message)]
                    );
                } else if !model.has_failed() {
                    assert!(number == WRONG && *text == message.input, "job {number}, call {call}");
                }
            }
            if !model.has_failed() {
                // What is described, with keys and items, is not the messages.
                assert!(model.largest_write() < 300 * messages.len(), "{bytes} bytes were copied");
                break;
            }
        }
    }
}

/// What a device moved half of is not run by another: a fleet's messages pass by memory of lanes, wherever they are.
#[test]
fn a_fleet_runs_messages_in_pinned_memory_again() {
    let messages = messages();
    for call in 0.. {
        let models = [Model::mapping(Fault::None), Model::mapping(Fault::At(call))];
        let devices = models.each_ref().map(Model::device);
        let fleet = FAMILIES[0].fleet(&devices).expect("they fit");
        let mut tried = messages.clone();
        let mut pinned = Pinned::new(&devices[0], &messages).expect("no fault");
        let mut jobs = jobs(&mut tried, pinned.texts(&messages));
        let (outcome, _) = fleet.run_in_parts(400, 3, &mut jobs);
        drop(jobs);
        let failed: Vec<_> = outcome.failures().iter().map(|failure| failure.job).collect();
        assert_eq!(failed, [WRONG], "call {call}: {outcome}");
        for (message, text) in messages.iter().zip(pinned.texts(&messages)) {
            assert!(*text == message.output, "call {call}");
        }
        if !models[1].has_failed() {
            break;
        }
    }
}

/// Runs the messages and compares all that is written; the key is nowhere then.
fn run_in_host_memory(device: &Device, part: usize, messages: &[Message], what: &str) {
    let mut tried = messages.to_vec();
    let mut texts: Vec<_> = tried.iter().map(|message| message.input.clone()).collect();
    let mut jobs = jobs(&mut tried, texts.iter_mut().map(Vec::as_mut_slice));
    let outcome = FAMILIES[0].run_host_memory_in_parts(device, part, &mut jobs);
    drop(jobs);
    let outcome = outcome.expect("the device fits");
    let failed: Vec<_> = outcome.failures().iter().map(|failure| failure.job).collect();
    let wrong: Vec<_> = (WRONG..messages.len()).step_by(13).collect();
    assert_eq!(failed, wrong, "{what}: {outcome}");
    for (number, (message, text)) in tried.iter().zip(&texts).enumerate() {
        assert!(*text == message.output, "{what}: job {number}");
        assert!(message.mode != 6 || message.tag == message.sealed_tag, "{what}: job {number}");
    }
}

/// Several times the messages, so that several parts are on their way; one of them may be longer than all
/// that may be there.
#[test]
fn parts_pass_any_number_of_threads_and_lanes() {
    watched(|| {
        let messages = vec![messages(); 5].concat();
        for threads in [0, 1, 3, 8, 1 << (usize::BITS - 1), usize::MAX] {
            for pinned_bytes in [0, 4096, 10_000, 1 << 20] {
                let model = Model::roomy(Fault::None);
                let device = model.device();
                device.limit_host_memory(Limits { pinned_bytes, threads });
                for part in [0, 1700, 5000, usize::MAX] {
                    let what = format!("{threads} threads, {pinned_bytes}, parts of {part}");
                    run_in_host_memory(&device, part, &messages, &what);
                    assert!(!model.holds(&super::KEY), "{what}: a key is left");
                }
                device.limit_host_memory(Limits { pinned_bytes: 0, threads });
                assert_eq!(model.left_behind(), (0, 0), "{threads}, {pinned_bytes}");
            }
        }
    });
}

/// Parts that want more than others leave wait for them, and not in a circle.
#[test]
fn calls_share_the_lanes_that_there_may_be() {
    watched(|| {
        let (model, messages) = (Model::roomy(Fault::None), messages());
        let device = model.device();
        device.limit_host_memory(Limits { pinned_bytes: 3 << 10, threads: 3 });
        std::thread::scope(|scope| {
            for part in [0, 1000, 3000, usize::MAX, 0, 2000] {
                let (device, messages) = (&device, &messages);
                scope.spawn(move || run_in_host_memory(device, part, messages, "one of many"));
            }
        });
    });
}

#[test]
fn a_device_with_too_little_shared_memory_is_refused() {
    let needs_more = |(_, program): &(_, &&batch::BatchProgram)| program.shared_bytes() > 64 << 10;
    let (more, enough): (Vec<_>, Vec<_>) =
        FAMILIES.iter().zip(batch::PROGRAMS).partition(needs_more);
    assert!(more.len() > 2 && !enough.is_empty());
    for (family, _) in more {
        let error = family.run_host_memory(&Model::default().device(), &mut []);
        let text = error.expect_err("the model has 64 KiB").to_string();
        let named = "65536 bytes of shared memory on model, batches of toy need";
        assert!(text.contains(named), "{text}");
    }
    for (family, _) in enough {
        let outcome = family.run_host_memory(&Model::default().device(), &mut []);
        assert!(outcome.is_ok(), "{outcome:?}");
    }
}

#[test]
fn debug_texts_tell_no_key_and_no_code() {
    let shown = |key: &[u8; 16]| {
        let device = Model::roomy(Fault::None).device();
        let mut tag = [0; 16];
        let mode = JobMode::GcmEncrypt { iv: LONG_IV, aad: AAD, tag: &mut tag };
        let job = DeviceJob { key, mode, input: 0, output: 16, length: 7 };
        let job_text = format!("{job:?}");
        let refused =
            DeviceJob { key: &key[1..], mode: JobMode::EcbEncrypt, input: 0, output: 0, length: 0 };
        let batch = FAMILIES[0].prepare(&device, vec![job, refused]).expect("no fault");
        let texts = [job_text, format!("{batch:?}"), format!("{:?}", FAMILIES[0])];
        for (text, most) in texts.iter().zip([200, 400, 4000]) {
            assert!(text.len() < most, "{text}");
        }
        texts
    };
    assert_eq!(shown(&[0x53; 16]), shown(&[0xa1; 16]));
}

/// By as little as a byte, whatever order the jobs have.
#[test]
fn outputs_that_overlap_are_refused() {
    let device = Model::roomy(Fault::None).device();
    let prepare = |places: [(usize, usize); 2]| {
        let jobs = places.map(|(output, length)| {
            let mode = JobMode::Ctr { counter: &IV };
            DeviceJob { key: &super::KEY, mode, input: 0, output, length }
        });
        FAMILIES[0].prepare(&device, jobs.into()).map(drop)
    };
    for length in 1..=16 {
        prepare([(32, length), (48, 1)]).expect("they touch at most");
        for over in 1..=length {
            let overlap = prepare([(32, 16 + over), (48, length)]);
            let is_it = matches!(overlap, Err(crate::Error::Overlap { first: 0, second: 1 }));
            assert!(is_it, "{over} of {length} bytes: {overlap:?}");
            let overlap = prepare([(48, length), (32, 16 + over)]);
            let is_it = matches!(overlap, Err(crate::Error::Overlap { first: 1, second: 0 }));
            assert!(is_it, "{over} of {length} bytes: {overlap:?}");
        }
    }
}

/// A place for a message that no device has room for: it is refused before the device is asked.
#[test]
fn messages_that_are_too_long_are_named() {
    let device = Model::roomy(Fault::None).device();
    let longest =
        usize::try_from(u64::from(u32::MAX) * 16).map_or(isize::MAX as usize, |most| most);
    let job = DeviceJob {
        key: &super::KEY,
        mode: JobMode::Ctr { counter: &IV },
        input: 0,
        output: 0,
        length: longest + 1,
    };
    let mut buffer = DeviceBuffer::zeroed(&device, 16).expect("no fault");
    let batch = FAMILIES[0].prepare(&device, vec![job]).expect("the others may run");
    let outcome = batch.run(&mut buffer.slice_mut(0..16).expect("in it"));
    let text = outcome.expect("no fault").to_string();
    assert!(text.contains(&format!("takes {longest}")), "{text}");
}

/// Kernels trust the length of a job's key: it says how many rows of round keys they write.
#[test]
fn ciphers_that_the_kernels_do_not_take_are_refused() {
    const fn toy(block_bytes: usize, key_bytes: &'static [usize]) -> CipherDescription {
        CipherDescription { block_bytes, key_bytes, ..model_device::TOY }
    }
    static LONG_KEYS: CipherDescription = toy(16, &[32, 64]);
    static SMALL_BLOCKS: CipherDescription = toy(8, &[16]);
    static OTHER_KEYS: CipherDescription = toy(16, &[16, 24]);
    let mismatches = [
        (
            BatchFamily::new(&LONG_KEYS, &batch::ARIA),
            "keys of 64 bytes where they take [16, 24, 32]",
        ),
        (BatchFamily::new(&SMALL_BLOCKS, &batch::AES), "blocks of 8 bytes where they take 16"),
        (BatchFamily::new(&OTHER_KEYS, &batch::SEED), "keys of 24 bytes where they take [16]"),
    ];
    for (family, reason) in mismatches {
        let model = Model::roomy(Fault::None);
        let device = model.device();
        let refuses = |result: Result<(), crate::Error>| {
            let error = result.expect_err(reason);
            assert!(matches!(error, crate::Error::Mismatch { .. }), "{error}");
            assert!(error.to_string().contains(reason), "{error}");
        };
        refuses(family.prepare(&device, vec![]).map(drop));
        refuses(family.run_host_memory(&device, &mut []).map(drop));
        refuses(family.fleet(std::slice::from_ref(&device)).map(drop));
        let mut buffer = DeviceBuffer::zeroed(&device, 16).expect("no fault");
        let read = |_: &mut [u8], _| Ok::<_, ()>(());
        let sealed = family.seal_from_device(
            std::iter::empty(),
            &buffer.slice(0..16).expect("in it"),
            |_, _| Ok::<_, ()>(()),
        );
        let mut place = buffer.slice_mut(0..16).expect("in it");
        let opened = family.open_to_device(std::iter::empty(), &mut place, read);
        for result in [sealed, opened] {
            refuses(result.map_err(|error| match error {
                TransferError::Device(error) => error,
                other => panic!("{other:?}"),
            }));
        }
        assert_eq!(model.launches(), 0);
    }
}
