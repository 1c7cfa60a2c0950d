//! Device memory that was freed and is kept for the next allocation of its length: the driver's own freeing waits for
//! all that runs on the device, so that threads which key engines side by side would wait for each other.

use std::collections::HashMap;

/// Bytes of the largest allocation that is kept: keys of GHASH, and what modes need beside the data.
const LARGEST: usize = 1 << 20;
/// Bytes that are kept at most.
const MOST: usize = 32 << 20;

/// Freed allocations, by their lengths in bytes.
#[derive(Debug, Default)]
pub(super) struct Spare {
    freed: HashMap<usize, Vec<u64>>,
    bytes: usize,
    /// The lengths of those in use that come back, by their addresses.
    in_use: HashMap<u64, usize>,
}

impl Spare {
    /// One of `bytes` bytes, with whatever it holds.
    pub(super) fn take(&mut self, bytes: usize) -> Option<u64> {
        let address = self.freed.get_mut(&bytes)?.pop()?;
        self.bytes -= bytes;
        self.in_use.insert(address, bytes);
        Some(address)
    }

    /// Notes an allocation that the driver made.
    pub(super) fn note(&mut self, address: u64, bytes: usize) {
        if bytes <= LARGEST {
            self.in_use.insert(address, bytes);
        }
    }

    /// Keeps an allocation, and returns whether it did: the driver frees others.
    pub(super) fn keep(&mut self, address: u64) -> bool {
        let Some(bytes) = self.in_use.remove(&address) else { return false };
        let has_room = self.bytes + bytes <= MOST;
        if has_room {
            self.freed.entry(bytes).or_default().push(address);
            self.bytes += bytes;
        }
        has_room
    }

    /// All that are kept, for the driver to free.
    pub(super) fn take_all(&mut self) -> Vec<u64> {
        self.bytes = 0;
        self.freed.drain().flat_map(|(_, addresses)| addresses).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_freed_comes_back_by_its_length() {
        let mut spare = Spare::default();
        assert_eq!(spare.take(64), None);
        spare.note(0x1000, 64);
        spare.note(0x2000, 96);
        assert!(spare.keep(0x1000) && spare.keep(0x2000));
        assert!(!spare.keep(0x1000), "it was freed already");
        assert_eq!(
            [spare.take(64), spare.take(64), spare.take(96)],
            [Some(0x1000), None, Some(0x2000)]
        );
        assert!(spare.keep(0x2000));
        assert_eq!(spare.take_all(), [0x2000]);
        assert_eq!(spare.take(96), None);
    }

    #[test]
    fn little_is_kept() {
        let mut spare = Spare::default();
        spare.note(1, LARGEST + 1);
        assert!(!spare.keep(1), "it is large");
        let fit = MOST / LARGEST;
        let kept = (1..=fit as u64 + 1).filter(|&address| {
            spare.note(address, LARGEST);
            spare.keep(address)
        });
        assert_eq!(kept.count(), fit);
    }
}
