//! Messages of all modes, lengths and keys in one batch, good and bad, and what the plain modes of
//! `lanecrypt_reference` make of them one by one.

use lanecrypt::{
    Error,
    batch::{Job, JobData, JobMode, Outcome},
    registry::CipherDescription,
};
use lanecrypt_reference::{modes, vectors::PlaintextStream};

use crate::EngineBlocks;

/// The modes of [`JobMode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    EcbEncrypt,
    EcbDecrypt,
    Ctr,
    Ctr32,
    CbcEncrypt,
    CbcDecrypt,
    GcmEncrypt,
    GcmDecrypt,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::EcbEncrypt,
        Self::EcbDecrypt,
        Self::Ctr,
        Self::Ctr32,
        Self::CbcEncrypt,
        Self::CbcDecrypt,
        Self::GcmEncrypt,
        Self::GcmDecrypt,
    ];

    fn takes_any_length(self) -> bool {
        matches!(self, Self::Ctr | Self::Ctr32 | Self::GcmEncrypt | Self::GcmDecrypt)
    }
}

/// Random numbers (splitmix64), the same in every run.
pub(crate) struct Numbers(PlaintextStream);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(PlaintextStream::new(seed))
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut data = vec![0; length];
        self.0.fill(&mut data);
        data
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        (u64::from_le_bytes(bytes) % end as u64) as usize
    }
}

/// Why a job must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    Key,
    Iv,
    Length,
    Tag,
    TagLength,
}

/// A message, and what is to come out.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) kind: Kind,
    pub(crate) key: Vec<u8>,
    pub(crate) iv: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    pub(crate) tag: Vec<u8>,
    pub(crate) input: Vec<u8>,
    pub(crate) output: Vec<u8>,
    /// What encryption fills the tag with.
    pub(crate) sealed_tag: Vec<u8>,
    pub(crate) bad: Option<Bad>,
}

impl Message {
    /// A good message of about `length` bytes.
    pub(crate) fn new(
        cipher: &'static CipherDescription,
        kind: Kind,
        length: usize,
        numbers: &mut Numbers,
    ) -> Self {
        let key_bytes = cipher.key_bytes[numbers.below(cipher.key_bytes.len())];
        let key = numbers.bytes(key_bytes);
        Self::under(key, cipher, kind, length, numbers)
    }

    /// [`new`](Self::new) under this key.
    pub(crate) fn under(
        key: Vec<u8>,
        cipher: &'static CipherDescription,
        kind: Kind,
        length: usize,
        numbers: &mut Numbers,
    ) -> Self {
        let block = cipher.block_bytes;
        let length = if kind.takes_any_length() { length } else { length / block * block };
        let is_gcm = matches!(kind, Kind::GcmEncrypt | Kind::GcmDecrypt);
        let iv_bytes = match numbers.below(6) {
            0 if is_gcm => 1 + numbers.below(70),
            _ if is_gcm => 12,
            _ => block,
        };
        let mut iv = numbers.bytes(iv_bytes);
        if !is_gcm && numbers.below(3) == 0 {
            // Counters that carry far, or wrap.
            let from = iv_bytes - [3, 4, 7][numbers.below(3)];
            iv[from..].fill(0xff);
        }
        let aad_bytes = [0, 0, 5, 13, 16, 20, 100][numbers.below(7)];
        let aad = numbers.bytes(if is_gcm { aad_bytes } else { 0 });
        let tag_bytes = if is_gcm { [16, 16, 16, 12, 13, 4, 8][numbers.below(7)] } else { 0 };
        let input = numbers.bytes(length);
        let mut message = Self {
            kind,
            key,
            iv,
            aad,
            tag: vec![0; tag_bytes],
            output: input.clone(),
            input,
            sealed_tag: Vec::new(),
            bad: None,
        };
        message.expect(&on_cpu(cipher, &message.key));
        message
    }

    /// Fills in what the plain modes make of it.
    fn expect(&mut self, cipher: &EngineBlocks) {
        let Self { kind, iv, aad, input, output, .. } = self;
        let made = match kind {
            Kind::EcbEncrypt => modes::ecb_encrypt(cipher, output),
            Kind::EcbDecrypt => modes::ecb_decrypt(cipher, output),
            Kind::Ctr => modes::ctr(cipher, iv, output),
            Kind::Ctr32 => modes::ctr32(cipher, iv, output),
            Kind::CbcEncrypt => modes::cbc_encrypt(cipher, iv, output),
            Kind::CbcDecrypt => modes::cbc_decrypt(cipher, iv, output),
            Kind::GcmEncrypt | Kind::GcmDecrypt => {
                let tag = modes::gcm_encrypt(cipher, iv, aad, output).expect("a good message");
                self.tag = tag[..self.tag.len()].to_vec();
                Ok(())
            }
        };
        made.expect("a good message");
        match kind {
            // The tag is that of what comes out, so the other way round it goes in.
            Kind::GcmDecrypt => std::mem::swap(input, output),
            Kind::GcmEncrypt => {
                self.sealed_tag = std::mem::take(&mut self.tag);
                self.tag = vec![0; self.sealed_tag.len()];
            }
            _ => {}
        }
    }

    /// Makes it one that must fail, in a way that there is for its mode.
    pub(crate) fn spoiled(mut self, numbers: &mut Numbers) -> Self {
        let is_gcm = matches!(self.kind, Kind::GcmEncrypt | Kind::GcmDecrypt);
        let bad = match (self.kind, numbers.below(4)) {
            (Kind::GcmDecrypt, 0 | 1) => Bad::Tag,
            (_, 2) if is_gcm => Bad::TagLength,
            (kind, 3) if !kind.takes_any_length() => Bad::Length,
            (Kind::EcbEncrypt | Kind::EcbDecrypt, _) | (_, 1) => Bad::Key,
            _ => Bad::Iv,
        };
        match bad {
            Bad::Key => self.key.push(0),
            Bad::Iv if is_gcm => self.iv.clear(),
            Bad::Iv => self.iv.push(0),
            Bad::Length => self.input.push(0),
            Bad::Tag => {
                let at = numbers.below(self.tag.len());
                self.tag[at] ^= 1 << numbers.below(8);
            }
            Bad::TagLength => self.tag.truncate(3),
        }
        self.output.clone_from(&self.input);
        self.sealed_tag.clone_from(&self.tag);
        self.bad = Some(bad);
        self
    }

    /// Key and mode of the job, its tag among it.
    pub(crate) fn mode(&mut self) -> (&[u8], JobMode<'_>) {
        let Self { kind, key, iv, aad, tag, .. } = self;
        let mode = match kind {
            Kind::EcbEncrypt => JobMode::EcbEncrypt,
            Kind::EcbDecrypt => JobMode::EcbDecrypt,
            Kind::Ctr => JobMode::Ctr { counter: iv },
            Kind::Ctr32 => JobMode::Ctr32 { counter: iv },
            Kind::CbcEncrypt => JobMode::CbcEncrypt { iv },
            Kind::CbcDecrypt => JobMode::CbcDecrypt { iv },
            Kind::GcmEncrypt => JobMode::GcmEncrypt { iv, aad, tag },
            Kind::GcmDecrypt => JobMode::GcmDecrypt { iv, aad, tag },
        };
        (key, mode)
    }
}

/// Messages of all modes that the cipher has, of lengths below `most` and around boundaries; where
/// `every` is not zero, the last of each `every` messages is a bad one.
pub(crate) fn messages(
    cipher: &'static CipherDescription,
    count: usize,
    most: usize,
    every: usize,
    seed: u64,
) -> Vec<Message> {
    let mut numbers = Numbers::new(seed);
    let modes = if cipher.block_bytes == 16 { Kind::ALL.len() } else { 6 };
    let message = |number: usize| {
        let length = match numbers.below(4) {
            0 => [0, 1, 15, 16, 17, 31, 32, 127, 128, 129, 1023, 1024, 2048][numbers.below(13)],
            1 => numbers.below(most),
            _ => numbers.below(400),
        };
        let kind = Kind::ALL[numbers.below(modes)];
        let message = Message::new(cipher, kind, length.min(most), &mut numbers);
        let is_bad = every > 0 && number % every == every - 1;
        if is_bad { message.spoiled(&mut numbers) } else { message }
    };
    (0..count).map(message).collect()
}

/// Runs messages by a call over jobs, apart and then in place, and checks all that it wrote.
pub(crate) fn run_apart_and_in_place<E>(
    messages: &[Message],
    what: &str,
    mut run: impl FnMut(&mut [Job<'_>]) -> Result<Outcome, E>,
) -> Result<(), E> {
    let mut tried = messages.to_vec();
    let mut outputs: Vec<_> = messages.iter().map(|m| vec![0xa5; m.input.len()]).collect();
    let data = messages
        .iter()
        .zip(&mut outputs)
        .map(|(message, output)| JobData::new(&message.input, output).expect("equal lengths"));
    let outcome = run(&mut jobs(&mut tried, data))?;
    check(&tried, &outcome, &format!("{what}, apart"));
    for (number, (message, output)) in messages.iter().zip(&outputs).enumerate() {
        let is_untouched = output.iter().all(|&byte| byte == 0xa5);
        let is_right = match message.bad {
            None => *output == message.output,
            // A CPU encrypts the plaintext again.
            Some(Bad::Tag) => is_untouched || *output == message.input,
            Some(_) => is_untouched,
        };
        assert!(is_right, "{what}, apart: job {number}, {:?}", message.kind);
    }

    let mut tried = messages.to_vec();
    let mut texts: Vec<_> = messages.iter().map(|message| message.input.clone()).collect();
    let outcome = run(&mut jobs(&mut tried, texts.iter_mut().map(|t| t.as_mut_slice().into())))?;
    check(&tried, &outcome, &format!("{what}, in place"));
    for (number, (message, text)) in messages.iter().zip(&texts).enumerate() {
        assert!(*text == message.output, "{what}, in place: job {number}, {:?}", message.kind);
    }
    Ok(())
}

/// Jobs of messages, each with its text.
pub(crate) fn jobs<'a>(
    messages: &'a mut [Message],
    data: impl Iterator<Item = JobData<'a>>,
) -> Vec<Job<'a>> {
    let job = |(message, data): (&'a mut Message, _)| {
        let (key, mode) = message.mode();
        Job { key, mode, data }
    };
    messages.iter_mut().zip(data).map(job).collect()
}

/// Checks tags, and that the outcome names the bad messages and no others, for what is wrong.
pub(crate) fn check(messages: &[Message], outcome: &Outcome, what: &str) {
    let mut failures = outcome.failures().iter();
    for (number, message) in messages.iter().enumerate() {
        let what =
            format!("{what}: job {number}, {:?} of {} bytes", message.kind, message.input.len());
        if message.kind == Kind::GcmEncrypt {
            assert!(message.tag == message.sealed_tag, "{what}: the tag");
        }
        let Some(bad) = message.bad else { continue };
        let failure = failures.next().unwrap_or_else(|| panic!("{what}: {bad:?} is accepted"));
        assert_eq!(failure.job, number, "{what}: {failure}");
        let is_right = match failure.error {
            Error::KeyLength { .. } => bad == Bad::Key,
            Error::IvLength { .. } | Error::EmptyIv => bad == Bad::Iv,
            Error::NotWholeBlocks { .. } => bad == Bad::Length,
            Error::TagLength { given: 3, .. } => bad == Bad::TagLength,
            Error::NotAuthentic => bad == Bad::Tag,
            _ => false,
        };
        assert!(is_right, "{what}: {bad:?} gives {failure}");
    }
    assert!(failures.next().is_none(), "{what}: {outcome}");
}

/// The cipher's default, as the plain modes take it.
fn on_cpu(cipher: &CipherDescription, key: &[u8]) -> EngineBlocks {
    EngineBlocks((cipher.backend("default").expect("it is there").create)(key).expect("a good key"))
}
