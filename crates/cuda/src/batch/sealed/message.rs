//! A message that lies sealed outside of a device, and what it takes of a lane.

use std::{fmt, ops::Range};

use lanecrypt_core::{Direction, batch::JobMode};

use crate::batch::{memory::Layout, words::BLOCK};

/// Bytes of a tag.
pub(super) const TAG: usize = 16;

/// How a [`SealedMessage`] is sealed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sealing {
    /// By GCM, with a tag of 16 bytes behind the ciphertext.
    #[default]
    Gcm,
    /// By CTR, without a tag: what was changed is not noticed. The first counter block is the IV, and a 1 in 32
    /// bits.
    Ctr,
}

impl Sealing {
    /// Bytes of the tag.
    pub(super) fn tag_bytes(self) -> usize {
        match self {
            Self::Gcm => TAG,
            Self::Ctr => 0,
        }
    }
}

/// A message that lies sealed outside of a device, and plain on it.
#[derive(Clone)]
pub struct SealedMessage<'a> {
    /// Its key, of any length that the cipher takes; it may differ from message to message.
    pub key: &'a [u8],
    /// How it is sealed.
    pub sealing: Sealing,
    /// Its IV.
    pub iv: [u8; 12],
    /// Associated data of GCM.
    pub aad: &'a [u8],
    /// Bytes that come right before the message where it goes to: before its plaintext on the device, where all of
    /// it is opened, and before its ciphertext outside, where it is sealed.
    pub lead: &'a [u8],
    /// Bytes of its plaintext.
    pub length: usize,
    /// Where the ciphertext starts outside.
    pub sealed_at: u64,
    /// Which bytes of its plaintext lie on the device: all of them, unless it is opened.
    pub part: Range<usize>,
    /// Where these start in the slice on the device, or in the message's own region; at any multiple.
    pub plain_at: usize,
}

impl SealedMessage<'_> {
    /// Bytes of a lane that its text and its tag take.
    pub(super) fn room(&self) -> usize {
        (self.length + TAG).next_multiple_of(BLOCK)
    }

    /// At least the bytes of a lane that all of it takes.
    pub(super) fn lane_bytes(&self) -> usize {
        let mode = JobMode::GcmDecrypt { iv: &self.iv, aad: self.aad, tag: &[0; TAG] };
        let lead = self.lead.len().next_multiple_of(BLOCK);
        self.room().saturating_add(lead).saturating_add(Layout::most_of_job(&mode, self.length))
    }

    /// Where text starts on a lane behind another, whose text ends at `text_end`, and whose room ends at `end`. A
    /// lead stands between the two: where they are opened, in the place of the tag, which was read by then.
    pub(super) fn start(&self, direction: Direction, text_end: usize, end: usize) -> usize {
        let before = match (self.lead.len(), direction) {
            (0, _) => return end,
            (lead, Direction::Decrypt) => text_end + lead,
            (lead, Direction::Encrypt) if end == 0 => lead,
            (lead, Direction::Encrypt) => text_end + TAG + lead,
        };
        before.next_multiple_of(BLOCK)
    }

    /// The first counter block of CTR.
    pub(super) fn counter(&self) -> [u8; BLOCK] {
        let mut counter = [0; BLOCK];
        counter[..self.iv.len()].copy_from_slice(&self.iv);
        counter[BLOCK - 1] = 1;
        counter
    }
}

/// Tells the places, never the key.
impl fmt::Debug for SealedMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sealing, length, sealed_at, part, plain_at, .. } = self;
        f.debug_struct("SealedMessage")
            .field("sealing", sealing)
            .field("length", length)
            .field("sealed_at", sealed_at)
            .field("part", part)
            .field("plain_at", plain_at)
            .finish_non_exhaustive()
    }
}
