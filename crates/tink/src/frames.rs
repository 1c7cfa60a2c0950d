//! Frames: short messages sealed one by one under one key, many in a call, such as the blocks of a cache of keys and
//! values.
//!
//! A frame is a message of [XAES-256-GCM](https://c2sp.org/XAES-256-GCM) behind eight bytes that say what it is. All
//! numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 0 to 4 | `LCF1` |
//! | 4 to 8 | L, bytes of the plaintext, below 2^32 |
//! | 8 to 28 | random, the same for all frames of a call |
//! | 28 to 32 | the number of the frame in its call, from 0 |
//! | 32 to 32 + L | the ciphertext |
//! | 32 + L to 48 + L | the tag |
//!
//! Bytes 8 to 32 are the nonce: the first 12 of them choose the key of AES-256-GCM that is derived from the frames' key,
//! the last 12 are its IV. So no nonce comes twice: after 2^64 calls the chance that a random part came again is one in
//! 2^33. What is authenticated besides is the caller's, byte by byte, and not in the frame.
//! Frames of a call lie one behind the other, and each of them is opened without the others.
//!
//! A frame does not say where it belongs: whoever swaps two of them is noticed only where their associated data
//! differs. Give each the name of its block.

use lanecrypt::{Direction, Engine, Gcm, aes::AES};
use zeroize::Zeroizing;

use crate::{Error, random};

/// Bytes that a frame has besides its plaintext.
pub const OVERHEAD: usize = HEADER + TAG;

/// Bytes before the ciphertext.
pub(crate) const HEADER: usize = 32;
/// Bytes behind it.
pub(crate) const TAG: usize = 16;
/// What a frame starts with.
const MAGIC: [u8; 4] = *b"LCF1";
/// Bytes of the key.
const KEY: usize = 32;
/// Bytes of the nonce that choose a derived key.
pub(crate) const PREFIX: usize = 12;
/// Bytes of the nonce that are random.
const RANDOM: usize = 20;

/// A key of AES-256-GCM, of one prefix; where it lies, it stays, so that no copy of it is left elsewhere.
pub(crate) type DerivedKey = Zeroizing<Vec<u8>>;

/// The key of frames, 32 bytes, from which those of single calls are derived; cleared when it is dropped.
pub struct FrameKey {
    aes: Box<dyn Engine>,
    /// CMAC's first subkey.
    subkey: Zeroizing<[u8; 16]>,
}

impl FrameKey {
    /// With these 32 bytes, which are random.
    ///
    /// # Errors
    /// [`Error::Parameter`] for another number of bytes; [`Error::Engine`] where this build has no AES.
    pub fn new(key: &[u8]) -> Result<Self, Error> {
        if key.len() != KEY {
            let given = key.len() as u64;
            return Err(Error::Parameter {
                what: "bytes of a key of frames",
                given,
                accepted: "32",
            });
        }
        let aes = cipher(key)?;
        let mut subkey = Zeroizing::new([0; 16]);
        aes.ecb(Direction::Encrypt, subkey.as_mut_slice().into())?;
        let doubled = u128::from_be_bytes(*subkey);
        let carried = 0x87 * (doubled >> 127);
        *subkey = ((doubled << 1) ^ carried).to_be_bytes();
        Ok(Self { aes, subkey })
    }

    /// The key of AES-256-GCM of all nonces that begin with `prefix`.
    pub(crate) fn derived(&self, prefix: &[u8; PREFIX]) -> Result<DerivedKey, Error> {
        let mut key = Zeroizing::new(vec![0; KEY]);
        for (number, block) in (1..).zip(key.as_chunks_mut::<16>().0) {
            block[..4].copy_from_slice(&[0, number, b'X', 0]);
            block[4..].copy_from_slice(prefix);
            block.iter_mut().zip(&*self.subkey).for_each(|(byte, other)| *byte ^= other);
        }
        self.aes.ecb(Direction::Encrypt, key.as_mut_slice().into())?;
        Ok(key)
    }

    /// Seals one message on this CPU.
    ///
    /// # Errors
    /// [`Error::TooLong`] from 4 GiB on; [`Error::Random`].
    pub fn seal(&self, plaintext: &[u8], associated_data: &[u8]) -> Result<Vec<u8>, Error> {
        let header = Nonces::random()?.header(0, plaintext.len())?;
        let mut frame = Vec::with_capacity(plaintext.len() + OVERHEAD);
        frame.extend_from_slice(&header.0);
        frame.extend_from_slice(plaintext);
        frame.resize(plaintext.len() + OVERHEAD, 0);
        let (text, tag) = frame[HEADER..].split_at_mut(plaintext.len());
        let gcm = Gcm::<_>::of(cipher(&self.derived(&header.prefix())?)?)?;
        gcm.encrypt(&header.iv(), associated_data, text.into(), tag)?;
        Ok(frame)
    }

    /// Opens one frame on this CPU.
    ///
    /// # Errors
    /// [`Error::FramesNotAuthentic`], also for what is no frame.
    pub fn open(&self, frame: &[u8], associated_data: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let wrong = || Error::FramesNotAuthentic { frames: vec![0] };
        let (header, text) = parse(frame)
            .filter(|(_, text)| text.len() == frame.len() - HEADER)
            .ok_or_else(wrong)?;
        let (text, tag) = text.split_at(text.len() - TAG);
        let mut text = Zeroizing::new(text.to_vec());
        let gcm = Gcm::<_>::of(cipher(&self.derived(&header.prefix())?)?)?;
        let opened = gcm.decrypt(&header.iv(), associated_data, text.as_mut_slice().into(), tag);
        opened.map_err(|error| match error {
            lanecrypt::Error::NotAuthentic => wrong(),
            error => error.into(),
        })?;
        Ok(text)
    }
}

impl std::fmt::Debug for FrameKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FrameKey").finish_non_exhaustive()
    }
}

/// The default of AES under a key.
fn cipher(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
    Ok(AES.default_engine(key)?)
}

/// Bytes of frames of plaintexts of these lengths.
#[must_use]
pub fn sealed_bytes(lengths: impl IntoIterator<Item = usize>) -> usize {
    lengths.into_iter().fold(0, |all, length| all.saturating_add(length).saturating_add(OVERHEAD))
}

/// Frames that lie one behind the other. That they are authentic is not known by then.
///
/// # Errors
/// [`Error::Malformed`] where one of them does not begin as a frame does, or not all of it is there.
pub fn split(mut bytes: &[u8]) -> Result<Vec<&[u8]>, Error> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let what = "a frame does not begin or end where it should";
        let (_, text) = parse(bytes).ok_or(Error::Malformed { what })?;
        let (frame, rest) = bytes.split_at(HEADER + text.len());
        frames.push(frame);
        bytes = rest;
    }
    Ok(frames)
}

/// The header of the frame that `bytes` begin with, and its ciphertext with its tag.
pub(crate) fn parse(bytes: &[u8]) -> Option<(FrameHeader, &[u8])> {
    let (header, rest) = bytes.split_first_chunk::<HEADER>()?;
    let (magic, length) = (header[..4] == MAGIC, header[4..8].first_chunk::<4>()?);
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?.checked_add(TAG)?;
    magic.then_some((FrameHeader(*header), rest.get(..length)?))
}

/// What comes before a ciphertext.
#[derive(Clone, Copy)]
pub(crate) struct FrameHeader(pub(crate) [u8; HEADER]);

impl FrameHeader {
    pub(crate) fn prefix(&self) -> [u8; PREFIX] {
        std::array::from_fn(|i| self.0[8 + i])
    }

    pub(crate) fn iv(&self) -> [u8; 12] {
        std::array::from_fn(|i| self.0[8 + PREFIX + i])
    }
}

/// The nonces of a call.
pub(crate) struct Nonces([u8; RANDOM]);

impl Nonces {
    pub(crate) fn random() -> Result<Self, Error> {
        let mut drawn = [0; RANDOM];
        drawn.copy_from_slice(&random::bytes(RANDOM)?);
        Ok(Self(drawn))
    }

    /// The header of the frame of this number.
    pub(crate) fn header(&self, number: u32, plaintext_bytes: usize) -> Result<FrameHeader, Error> {
        let most = u32::MAX.into();
        let too_long = |_| Error::TooLong { given: plaintext_bytes as u64, most };
        let length = u32::try_from(plaintext_bytes).map_err(too_long)?;
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&MAGIC);
        header[4..8].copy_from_slice(&length.to_le_bytes());
        header[8..8 + RANDOM].copy_from_slice(&self.0);
        header[8 + RANDOM..].copy_from_slice(&number.to_le_bytes());
        Ok(FrameHeader(header))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two vectors of the specification, as it has them, behind a header of ours.
    #[test]
    fn what_the_specification_has() {
        let nonce = b"ABCDEFGHIJKLMNOPQRSTUVWX";
        let text = b"XAES-256-GCM";
        for (key, aad, expected) in [
            (1, &b""[..], "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
            (
                3,
                b"c2sp.org/XAES-256-GCM",
                "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d",
            ),
        ] {
            let sealed: Vec<u8> = (0..expected.len() / 2)
                .map(|i| u8::from_str_radix(&expected[2 * i..2 * i + 2], 16).unwrap())
                .collect();
            let header = [&MAGIC[..], &12_u32.to_le_bytes(), nonce].concat();
            let key = FrameKey::new(&[key; 32]).unwrap();
            assert_eq!(*key.open(&[header, sealed].concat(), aad).unwrap(), text);
        }
    }

    #[test]
    fn a_frame_opens_as_it_is_and_not_otherwise() {
        let key = FrameKey::new(&[7; 32]).unwrap();
        for length in [0, 1, 15, 16, 17, 1000] {
            let text = vec![length as u8; length];
            let frame = key.seal(&text, b"block 7").unwrap();
            assert_eq!(frame.len(), sealed_bytes([length]));
            assert_eq!(*key.open(&frame, b"block 7").unwrap(), text);
            let refused = |frame: &[u8], aad| {
                let error = key.open(frame, aad).unwrap_err();
                assert!(error.is_not_authentic(), "{error}");
            };
            refused(&frame, b"block 8");
            refused(&frame[..frame.len() - 1], b"block 7");
            refused(&[&frame[..], &[0]].concat(), b"block 7");
            for bit in 0..8 * frame.len() {
                let mut changed = frame.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                refused(&changed, b"block 7");
            }
            let other = FrameKey::new(&[8; 32]).unwrap();
            assert!(other.open(&frame, b"block 7").unwrap_err().is_not_authentic());
        }
        for bytes in [0, 16, 31, 33] {
            let refused = FrameKey::new(&vec![0; bytes]).unwrap_err();
            assert!(matches!(refused, Error::Parameter { given, .. } if given == bytes as u64));
        }
    }

    #[test]
    fn frames_are_found_by_their_lengths() {
        let key = FrameKey::new(&[7; 32]).unwrap();
        let frames: Vec<_> =
            [5, 0, 64].iter().map(|&length| key.seal(&vec![1; length], b"").unwrap()).collect();
        let all = frames.concat();
        assert_eq!(all.len(), sealed_bytes([5, 0, 64]));
        assert_eq!(split(&all).unwrap(), frames);
        assert!(split(&[]).unwrap().is_empty());
        for end in 1..all.len() {
            assert_eq!(split(&all[..end]).is_ok(), [53, 101].contains(&end), "{end}");
        }
        let mut changed = all;
        changed[53] ^= 1;
        assert!(matches!(split(&changed), Err(Error::Malformed { .. })));
    }

    #[test]
    fn nonces_of_a_call_differ() {
        let nonces = Nonces::random().unwrap();
        let [one, other] = [0, 1].map(|number| nonces.header(number, 9).unwrap());
        assert!(one.prefix() == other.prefix() && one.iv() != other.iv());
        assert_ne!(Nonces::random().unwrap().0, nonces.0);
        assert_eq!(one.0[..8], *b"LCF1\x09\0\0\0");
    }

    #[cfg(target_pointer_width = "64")] // others have no such lengths
    #[test]
    fn frames_of_more_than_32_bits_are_refused() {
        let long = Nonces::random().unwrap().header(0, 1 << 32);
        assert!(matches!(long, Err(Error::TooLong { most: 0xffff_ffff, .. })));
    }
}
