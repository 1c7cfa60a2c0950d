//! Batches on a device, against the plain modes and the CPU's batches.

use lanecrypt::{
    CIPHERS, aes,
    batch::{self, Job, JobData, JobMode},
    cuda::{
        BatchFamily, CipherKernels, Device, DeviceBuffer, DeviceJob, Error, HashFamily,
        PinnedBuffer,
    },
};
use lanecrypt_reference::vectors::{Outcome as Expected, Vector};

use crate::{
    Case, Platform,
    common::{Outcome, noise},
    compare,
    gcm::{self, hash_families},
    mix::{Bad, Kind, Message, Numbers, check, jobs, messages, run_apart_and_in_place},
};

/// The families for batches, of every cipher that has them.
pub(crate) fn batch_families() -> impl Iterator<Item = &'static BatchFamily> {
    CIPHERS.iter().filter_map(|cipher| CipherKernels::of(cipher)?.batches)
}

/// Bytes before the first message.
const START: usize = 48;
/// How messages are cut: as the device likes, and so that short ones are cut.
const CUTS: [Option<[u32; 4]>; 3] = [None, Some([64, 128, 128, 16]), Some([256, 16, 64, 0])];

/// Messages of any length in a buffer, a few bytes between them.
struct Laid {
    places: Vec<usize>,
    data: Vec<u8>,
    expected: Vec<u8>,
}

impl Laid {
    /// Each at a multiple of 16.
    fn new(messages: &[Message], seed: u64) -> Self {
        Self::with_gaps(40, 16, messages, seed)
    }

    /// Gaps are of fewer bytes than these, but that messages start at multiples of `unit`.
    fn with_gaps(gaps: usize, unit: usize, messages: &[Message], seed: u64) -> Self {
        let mut numbers = Numbers::new(seed);
        let mut at = START;
        let place = |message: &Message| {
            let start = at;
            at = (at + message.input.len() + numbers.below(gaps)).next_multiple_of(unit);
            start
        };
        let places: Vec<_> = messages.iter().map(place).collect();
        let mut data = noise(at + 33, seed);
        let mut expected = data.clone();
        for (message, &start) in messages.iter().zip(&places) {
            data[start..start + message.input.len()].copy_from_slice(&message.input);
            expected[start..start + message.output.len()].copy_from_slice(&message.output);
        }
        Self { places, data, expected }
    }
}

/// Runs messages in every way and compares all bytes, those between them too.
fn run(
    device: &Device,
    family: &BatchFamily,
    hash: HashFamily,
    cuts: Option<[u32; 4]>,
    messages: &[Message],
    what: &str,
) -> Outcome {
    let what = format!("{}, {what}, {hash:?}, {cuts:?}", family.cipher().name);
    let inputs = Laid::new(messages, 3);
    let mut tried = messages.to_vec();
    let places: Vec<_> = inputs.places.iter().map(|&place| (place, place)).collect();
    let mut buffer = DeviceBuffer::from_host(device, &inputs.data)?;
    let batch = family.prepare_with(device, hash, cuts, on_device(&mut tried, &places))?;
    let outcome = batch.run(&mut buffer.slice_mut(0..inputs.data.len())?)?;
    check(&tried, &outcome, &format!("{what}, in place"));
    compare(&buffer, &inputs.expected, &format!("{what}, in place"))?;

    // In another order, and with other gaps.
    let reversed: Vec<_> = messages.iter().rev().cloned().collect();
    let outputs = Laid::new(&reversed, 4);
    let mut places = outputs.places.clone();
    places.reverse();
    let places: Vec<_> = inputs.places.iter().copied().zip(places).collect();
    let mut tried = messages.to_vec();
    let blank = noise(outputs.expected.len(), 4);
    let mut expected = blank.clone();
    for (message, &(_, at)) in messages.iter().zip(&places) {
        if message.bad.is_none() {
            expected[at..at + message.output.len()].copy_from_slice(&message.output);
        }
    }
    let input = DeviceBuffer::from_host(device, &inputs.data)?;
    let mut output = DeviceBuffer::from_host(device, &blank)?;
    let batch = family.prepare_with(device, hash, cuts, on_device(&mut tried, &places))?;
    let mut to = output.slice_mut(0..blank.len())?;
    let outcome = batch.run((&input.slice(0..inputs.data.len())?, &mut to))?;
    check(&tried, &outcome, &format!("{what}, apart"));
    compare(&output, &expected, &format!("{what}, apart"))?;
    compare(&input, &inputs.data, &format!("{what}, the input"))
}

fn on_device<'a>(messages: &'a mut [Message], places: &[(usize, usize)]) -> Vec<DeviceJob<'a>> {
    let job = |(message, &(input, output)): (&'a mut Message, _)| {
        let length = message.input.len();
        let (key, mode) = message.mode();
        DeviceJob { key, mode, input, output, length }
    };
    messages.iter_mut().zip(places).map(job).collect()
}

/// Messages of all modes, keys and lengths, good ones and bad ones between them.
pub(crate) fn mixed(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let (count, most) =
        if case.platform == Platform::CudaOnHost { (60, 9_000) } else { (700, 300_000) };
    for family in batch_families() {
        for (seed, cuts) in (10..).zip(CUTS) {
            let all = messages(family.cipher(), count, most, 4, seed);
            // More than the lanes of two warps.
            let mut encrypted = messages(family.cipher(), 3 * count, most / 3, 4, seed + 90);
            encrypted.retain(needs_no_session_before);
            for hash in hash_families(&device) {
                run(&device, family, hash, cuts, &all, "mixed")?;
                run(&device, family, hash, cuts, &encrypted, "encrypted alone")?;
            }
        }
    }
    Ok(())
}

/// Whether a message is encrypted as soon as its key is expanded: among such alone, a kernel may do both.
fn needs_no_session_before(message: &Message) -> bool {
    match message.kind {
        Kind::EcbEncrypt | Kind::Ctr | Kind::Ctr32 => !message.input.is_empty(),
        Kind::GcmEncrypt => !message.input.is_empty() && message.iv.len() == 12,
        Kind::EcbDecrypt | Kind::CbcEncrypt | Kind::CbcDecrypt | Kind::GcmDecrypt => false,
    }
}

/// One mode at a time, lengths around those where another kernel or another way takes over.
pub(crate) fn boundaries(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let blocks =
        [1, 2, 7, 8, 9, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 192, 255, 257, 510, 1100];
    for family in batch_families() {
        for kind in Kind::ALL {
            let mut numbers = Numbers::new(kind as u64);
            let lengths = blocks.into_iter().flat_map(|blocks| [16 * blocks, 16 * blocks - 5]);
            let messages: Vec<_> = lengths
                .map(|length| Message::new(family.cipher(), kind, length, &mut numbers))
                .collect();
            for hash in hash_families(&device) {
                run(
                    &device,
                    family,
                    hash,
                    Some([256, 64, 256, 100]),
                    &messages,
                    &format!("{kind:?}"),
                )?;
            }
        }
    }
    Ok(())
}

/// Host memory in parts, apart and in place.
pub(crate) fn host_memory(case: &Case) -> Outcome {
    let device = (case.open)()?;
    for family in batch_families() {
        let name = family.cipher().name;
        let messages = messages(family.cipher(), 50, 5_000, 5, 21);
        for part in [0, 4_000, 64 << 20] {
            let what = format!("{name}, host memory, parts of {part}");
            run_apart_and_in_place(&messages, &what, |jobs| {
                family.run_host_memory_in_parts(&device, part, jobs)
            })?;
        }
    }
    Ok(())
}

/// Pinned memory: messages that start at any byte, which kernels move, and whole blocks one behind the other, which are
/// copied together. No other byte changes.
pub(crate) fn pinned_memory(case: &Case) -> Outcome {
    let device = (case.open)()?;
    for family in batch_families() {
        let anywhere = messages(family.cipher(), 90, 5_000, 5, 22);
        let mut numbers = Numbers::new(23);
        let whole = (0..40).map(|number| {
            let kind = Kind::ALL[number % Kind::ALL.len()];
            Message::new(family.cipher(), kind, 16 * (1 + number * number), &mut numbers)
        });
        let whole: Vec<_> = whole.collect();
        for part in [0, 4_000, 64 << 20] {
            let what = format!("{}, pinned memory, parts of {part}", family.cipher().name);
            let run = |jobs: &mut [Job<'_>]| family.run_host_memory_in_parts(&device, part, jobs);
            for (messages, gaps) in [(&anywhere, 40), (&whole, 1)] {
                let what = format!("{what}, gaps of less than {gaps}");
                pinned_in_place(&device, messages, gaps, &what, run)?;
                pinned_apart(&device, messages, gaps, &what, run)?;
            }
        }
    }
    Ok(())
}

fn pinned_in_place(
    device: &Device,
    messages: &[Message],
    gaps: usize,
    what: &str,
    run: impl Fn(&mut [Job<'_>]) -> Result<batch::Outcome, Error>,
) -> Outcome {
    let laid = Laid::with_gaps(gaps, 1, messages, 5);
    let mut tried = messages.to_vec();
    let mut buffer = pinned(device, &laid.data)?;
    let texts = parts(&mut buffer, &laid.places, messages).into_iter().map(JobData::from);
    let outcome = run(&mut jobs(&mut tried, texts))?;
    check(&tried, &outcome, &format!("{what}, in place"));
    assert!(*buffer == *laid.expected, "{what}, in place");
    Ok(())
}

/// With other gaps; those that kernels move in another order, too.
fn pinned_apart(
    device: &Device,
    messages: &[Message],
    gaps: usize,
    what: &str,
    run: impl Fn(&mut [Job<'_>]) -> Result<batch::Outcome, Error>,
) -> Outcome {
    let is_reversed = gaps > 1;
    let inputs = Laid::with_gaps(gaps, 1, messages, 6);
    let mut ordered = messages.to_vec();
    if is_reversed {
        ordered.reverse();
    }
    let outputs = Laid::with_gaps(gaps, 1, &ordered, 7);
    let mut expected = noise(outputs.data.len(), 8);
    let mut tried = messages.to_vec();
    let input = pinned(device, &inputs.data)?;
    let mut output = pinned(device, &expected)?;
    let mut to = parts(&mut output, &outputs.places, &ordered);
    if is_reversed {
        to.reverse();
    }
    let texts = messages.iter().zip(&inputs.places).zip(to).map(|((message, &at), to)| {
        JobData::new(&input[at..at + message.input.len()], to).expect("equal lengths")
    });
    let outcome = run(&mut jobs(&mut tried, texts))?;
    check(&tried, &outcome, &format!("{what}, apart"));
    for (message, &at) in ordered.iter().zip(&outputs.places) {
        let place = at..at + message.input.len();
        match message.bad {
            None => expected[place].copy_from_slice(&message.output),
            // What is not authentic is as it was, or the ciphertext.
            Some(Bad::Tag) if output[place.clone()] == message.input => {
                expected[place].copy_from_slice(&message.input);
            }
            Some(_) => {}
        }
    }
    assert!(*output == *expected, "{what}, apart");
    assert!(*input == *inputs.data, "{what}, the input");
    Ok(())
}

fn pinned(device: &Device, data: &[u8]) -> Result<PinnedBuffer, Error> {
    let mut buffer = PinnedBuffer::zeroed(device, data.len())?;
    buffer.copy_from_slice(data);
    Ok(buffer)
}

/// The bytes of messages that start at these places, one behind the other.
fn parts<'a>(bytes: &'a mut [u8], places: &[usize], messages: &[Message]) -> Vec<&'a mut [u8]> {
    let (mut rest, mut start) = (bytes, 0);
    let part = |(message, &at): (&Message, _)| {
        let (_, from_there) = std::mem::take(&mut rest).split_at_mut(at - start);
        let (part, behind) = from_there.split_at_mut(message.input.len());
        (rest, start) = (behind, at + part.len());
        part
    };
    messages.iter().zip(places).map(part).collect()
}

/// What is wrong with all of a batch is an error before anything is written.
pub(crate) fn refusals(case: &Case) -> Outcome {
    let device = (case.open)()?;
    batch_families().try_for_each(|family| refusals_of(&device, family))
}

fn refusals_of(device: &Device, family: &BatchFamily) -> Outcome {
    let data = noise(256, 1);
    let mut buffer = DeviceBuffer::from_host(device, &data)?;
    let job = |input, output, length| DeviceJob {
        key: &[7; 16],
        mode: JobMode::Ctr { counter: &[1; 16] },
        input,
        output,
        length,
    };
    let prepare = |jobs: &[(usize, usize, usize)]| {
        family.prepare(device, jobs.iter().map(|&(i, o, l)| job(i, o, l)).collect())
    };
    let overlap = prepare(&[(0, 64, 17), (32, 0, 64), (16, 80, 1)]).err();
    assert!(matches!(overlap, Some(Error::Overlap { first: 0, second: 2 })), "{overlap:?}");
    assert!(matches!(prepare(&[(8, 0, 1)]).err(), Some(Error::Alignment { start: 8 })));
    assert!(matches!(prepare(&[(0, 24, 1)]).err(), Some(Error::Alignment { start: 24 })));
    assert!(matches!(prepare(&[(0, 16, usize::MAX)]).err(), Some(Error::Range { .. })));
    // An empty message is nowhere, and reading the same bytes twice is fine.
    let two = prepare(&[(0, 0, 32), (0, 64, 32), (16, 16, 0)])?;
    let mut slice = buffer.slice_mut(0..256)?;
    assert!(matches!(two.run(&mut slice), Err(Error::NotInPlace)));
    let long = prepare(&[(0, 0, 32), (240, 240, 17)])?;
    assert!(matches!(long.run(&mut slice), Err(Error::Range { end: 257, .. })));
    let input = DeviceBuffer::from_host(device, &data)?;
    for (from, to) in [(256, 240), (240, 256)] {
        let batch = prepare(&[(240, 240, 16)])?;
        let mut output = buffer.slice_mut(0..to)?;
        let result = batch.run((&input.slice(0..from)?, &mut output));
        assert!(matches!(result, Err(Error::Range { end: 256, length: 240, .. })), "{result:?}");
    }
    assert!(prepare(&[])?.run(&mut buffer.slice_mut(0..0)?)?.is_complete());
    // An IV whose length kernels do not count; nothing of it is read.
    if let Ok(bytes) = usize::try_from(1_u64 << 32) {
        let (iv, mut tag) = (vec![0; bytes], [0; 16]);
        let mode = JobMode::GcmEncrypt { iv: &iv, aad: b"", tag: &mut tag };
        let batch = family.prepare(device, vec![DeviceJob { mode, ..job(0, 0, 16) }])?;
        assert!(!batch.run(&mut buffer.slice_mut(0..256)?)?.is_complete());
    }
    compare(&buffer, &data, "after refusals")
}

/// The Debug texts of batches, and of modes on a device, are the same under two keys.
pub(crate) fn secrets(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let shown = |key: &[u8; 16]| {
        let job = DeviceJob { key, mode: JobMode::EcbEncrypt, input: 0, output: 0, length: 16 };
        let batch = aes::cuda::BATCHES.prepare(&device, vec![job])?;
        let gcm = aes::cuda::TABLE_SHARED.gcm_engine(&device, key)?;
        let xts = aes::cuda::TABLE_SHARED.xts_engine(&device, &[*key, [7; 16]].concat())?;
        Ok::<_, Error>(format!("{batch:?} {batch:#?} {gcm:?} {gcm:#?} {xts:?} {xts:#?}"))
    };
    let [first, second] = [shown(&[0x53; 16])?, shown(&[0xa1; 16])?];
    assert_eq!(first, second);
    Ok(())
}

/// The vectors of GCM, all of a cipher's in one batch.
pub(crate) fn vectors(case: &Case) -> Outcome {
    let device = (case.open)()?;
    for family in batch_families() {
        let name = family.cipher().name;
        vectors_of(&device, family, &gcm::vectors_of(name, case, 300)?)?;
    }
    Ok(())
}

fn vectors_of(device: &Device, family: &BatchFamily, all: &[Vector]) -> Outcome {
    for decrypts in [true, false] {
        let is_run = |vector: &&Vector| decrypts || vector.outcome != Expected::Rejection;
        let chosen: Vec<_> = all.iter().filter(is_run).collect();
        let mut texts: Vec<_> = chosen.iter().map(|v| text(v, !decrypts)).collect();
        let mut tags: Vec<_> = chosen.iter().map(|v| v.tag.clone().unwrap_or_default()).collect();
        let jobs = chosen.iter().zip(&mut texts).zip(&mut tags).map(|((vector, data), tag)| {
            let iv = vector.iv.as_deref().unwrap_or_default();
            let aad = vector.aad.as_deref().unwrap_or_default();
            let mode = if decrypts {
                JobMode::GcmDecrypt { iv, aad, tag }
            } else {
                JobMode::GcmEncrypt { iv, aad, tag }
            };
            Job { key: &vector.key, mode, data: data.as_mut_slice().into() }
        });
        let mut jobs: Vec<_> = jobs.collect();
        let outcome = family.run_host_memory(device, &mut jobs)?;
        drop(jobs);
        let mut failed = outcome.failures().iter().map(|failure| failure.job).peekable();
        for (number, vector) in chosen.iter().enumerate() {
            let is_refused = failed.next_if_eq(&number).is_some();
            assert_eq!(is_refused, vector.outcome == Expected::Rejection, "{}", vector.id);
            let expected = if is_refused { vector.ct.clone() } else { text(vector, decrypts) };
            assert!(texts[number] == expected, "{}", vector.id);
            assert!(Some(&tags[number]) == vector.tag.as_ref(), "{}", vector.id);
        }
    }
    Ok(())
}

/// The plaintext of a vector, or its ciphertext.
fn text(vector: &Vector, plain: bool) -> Vec<u8> {
    if plain { vector.pt.clone().unwrap_or_default() } else { vector.ct.clone() }
}
