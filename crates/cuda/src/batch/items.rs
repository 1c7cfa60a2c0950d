//! How the messages of a batch are cut into items, and which kernel takes which.

use lanecrypt_core::batch::JobMode;
use lanecrypt_kernels::batch::NARROW_BLOCKS;

use super::words::{BLOCK, Item, WHOLE, is_hashed};

/// Counters that differ in their last byte alone.
const RUN: u32 = 256;
/// The fewest blocks of an item that a warp encrypts, two in each lane: what they have in common is worth its price.
const LEAST_PIECE: u32 = 64;
/// The most blocks of a message that a thread hashes by itself, where a warp could do it.
const SHORT_BLOCKS: u32 = 128;
/// Items that every warp, or thread, should have at least, so that the last ones end at about the same time.
const TURNS: u64 = 8;
/// Blocks that a warp takes at once. A rest of fewer goes with the item before it: as one by itself it would keep a warp
/// as long as these.
const WARP: u32 = 32;

/// How messages are cut, in blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts {
    /// Of an item that is encrypted or decrypted, a power of two.
    pub(super) piece: u32,
    /// Messages of fewer blocks are encrypted by a few lanes.
    pub(super) narrow: u32,
    /// Of an item that is hashed, a power of two.
    pub(super) hashed: u32,
    /// Messages of more blocks are hashed in items of their own.
    pub(super) short: u32,
    /// Whether pieces are hashed by matrices, not by look-ups; their kernel ends the hash of a message
    /// that is one piece.
    pub(super) by_matrices: bool,
}

impl Cuts {
    /// For this number of messages of `blocks` blocks together, on a device of which `crypt_warps` warps encrypt at once,
    /// and `hashers` warps or threads hash.
    pub(super) fn of(
        messages: u64,
        blocks: u64,
        crypt_warps: u64,
        by_matrices: bool,
        hashers: u64,
    ) -> Self {
        let share = |of: u64, least: u32, most: u32| {
            let blocks = (blocks / of.max(1)).clamp(u64::from(least), u64::from(most));
            1 << blocks.ilog2()
        };
        // Fewer turns of items that are encrypted, since each needs its round keys. Runs of counters that differ in one
        // byte are cut where else some warps had nothing to do.
        let piece = share(crypt_warps, LEAST_PIECE, RUN)
            .max(share(3 * crypt_warps, LEAST_PIECE, 1024))
            .max(share(12 * crypt_warps, LEAST_PIECE, 4096));
        // Warps are through sooner than a few lanes if each has a message at once, or two that fill its lanes; then one
        // launch takes all. Of more, a few lanes are faster, up to where bit-sliced warps begin if all have enough.
        let turns = if blocks < messages * u64::from(WARP) { 1 } else { 2 };
        let narrow = NARROW_BLOCKS as u32
            * match piece {
                _ if messages <= turns * crypt_warps => 0,
                ..RUN => 1,
                _ => 2,
            };
        let (hashed, short) = if by_matrices {
            (share(TURNS * hashers, 1024, 1 << 16), SHORT_BLOCKS)
        } else {
            let hashed = share(TURNS * hashers, SHORT_BLOCKS, 4096);
            (hashed, hashed)
        };
        Self { piece, narrow, hashed, short, by_matrices }
    }
}

/// The items of a batch, by the kernels that take them.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// Of a warp: ECB encryption and CTR.
    pub(super) wide: Vec<Item>,
    /// The same, half as long or shorter, which come last: a warp that is done before the others does not begin with a
    /// long one.
    pub(super) rests: Vec<Item>,
    /// The same of a few lanes.
    pub(super) narrow: Vec<Item>,
    /// ECB and CBC decryption.
    pub(super) decrypted: Vec<Item>,
    /// CBC encryption, a message each.
    pub(super) chained: Vec<Item>,
    /// Hashes of ciphertexts to decrypt, and of those that come out.
    pub(super) verified: Hashes,
    pub(super) sealed: Hashes,
    /// Places for what is left of items.
    pub(super) places: u32,
    /// Messages that are hashed by matrices.
    pub(super) sequences: u32,
    /// Whether sessions are read before items are encrypted, or some message has none of these.
    pub(super) opens_first: bool,
}

/// Items that are hashed.
#[derive(Debug, Default)]
pub(super) struct Hashes {
    /// Whole messages.
    pub(super) short: Vec<Item>,
    /// Pieces of messages.
    pub(super) pieces: Vec<Item>,
    /// The messages whose hash does not end with a piece: `blocks` is the number of pieces.
    pub(super) long: Vec<Item>,
}

impl Items {
    /// An upper bound on the items and places of a message of `length` bytes, by cuts of [`Cuts::of`].
    pub(super) fn most(length: usize) -> [usize; 2] {
        let blocks = length.div_ceil(BLOCK);
        let crypted = blocks / LEAST_PIECE as usize;
        let hashed = blocks / SHORT_BLOCKS as usize;
        // A piece of each kind may be cut once more; a message that is no short one is an item by itself, too.
        if Self::is_short(length) {
            [crypted + 3, crypted + 1]
        } else {
            [crypted + 2 + hashed + 2, hashed.max(crypted) + 1]
        }
    }

    /// Whether a message is hashed at once, whatever suits the device.
    pub(super) fn is_short(length: usize) -> bool {
        length.div_ceil(BLOCK) <= SHORT_BLOCKS as usize
    }

    /// Adds the items of a message of `length` bytes; its number among those that are hashed by matrices, if it is one.
    pub(super) fn push(
        &mut self,
        job: u32,
        mode: &JobMode<'_>,
        length: usize,
        cuts: Cuts,
    ) -> Option<u32> {
        let blocks = length.div_ceil(BLOCK) as u32;
        let whole = Item { job, blocks, first: 0, place: 0 };
        self.opens_first |= match mode {
            JobMode::EcbEncrypt | JobMode::Ctr { .. } | JobMode::Ctr32 { .. } => blocks == 0,
            JobMode::GcmEncrypt { iv, .. } => blocks == 0 || is_hashed(iv),
            _ => true,
        };
        match mode {
            JobMode::EcbDecrypt | JobMode::CbcDecrypt { .. } => {
                for (first, blocks) in pieces(blocks, cuts.piece, cuts.piece, WARP - 1) {
                    let place = self.next_place();
                    self.decrypted.push(Item { job, blocks, first, place });
                }
            }
            JobMode::CbcEncrypt { .. } if blocks > 0 => self.chained.push(whole),
            JobMode::CbcEncrypt { .. } => {}
            _ if blocks == 0 => {}
            _ if blocks < cuts.narrow => self.narrow.push(whole),
            _ => {
                let first = cuts.piece - first_byte(mode) % cuts.piece.min(RUN);
                for (first, blocks) in pieces(blocks, first, cuts.piece, WARP - 1) {
                    let is_rest = blocks <= cuts.piece / 2;
                    let list = if is_rest { &mut self.rests } else { &mut self.wide };
                    list.push(Item { job, blocks, first, place: 0 });
                }
            }
        }
        match mode {
            JobMode::GcmEncrypt { .. } => self.push_hash(whole, cuts, true),
            JobMode::GcmDecrypt { .. } => self.push_hash(whole, cuts, false),
            _ => None,
        }
    }

    fn push_hash(&mut self, whole: Item, cuts: Cuts, is_sealed: bool) -> Option<u32> {
        let hashes = if is_sealed { &mut self.sealed } else { &mut self.verified };
        if whole.blocks <= cuts.short {
            hashes.short.push(Item { place: WHOLE, ..whole });
            return None;
        }
        let sequences = cuts.by_matrices.then_some(self.sequences);
        self.sequences += u32::from(cuts.by_matrices);
        // The first piece is the shorter one, so that all others weigh the same.
        let first = (whole.blocks - 1) % cuts.hashed + 1;
        if cuts.by_matrices && whole.blocks <= cuts.hashed {
            hashes.pieces.push(Item { place: WHOLE, ..whole });
            return sequences;
        }
        let place = self.places;
        for (first, blocks) in pieces(whole.blocks, first, cuts.hashed, 0) {
            hashes.pieces.push(Item { blocks, first, place: self.places, ..whole });
            self.places += 1;
        }
        hashes.long.push(Item { blocks: self.places - place, place, ..whole });
        sequences
    }

    /// All lists, in the order in which they lie in memory. One kernel takes wide items and rests, one behind the
    /// other.
    pub(super) fn lists(&self) -> [&[Item]; 11] {
        let Self { wide, rests, narrow, decrypted, chained, verified, sealed, .. } = self;
        [
            wide,
            rests,
            narrow,
            decrypted,
            chained,
            &verified.short,
            &sealed.short,
            &verified.pieces,
            &sealed.pieces,
            &verified.long,
            &sealed.long,
        ]
    }

    fn next_place(&mut self) -> u32 {
        self.places += 1;
        self.places - 1
    }

    /// Puts long items first, where neighbours in a warp wait for each other.
    pub(super) fn sort(&mut self) {
        let lists = [
            &mut self.narrow,
            &mut self.chained,
            &mut self.verified.short,
            &mut self.sealed.short,
            &mut self.verified.pieces,
            &mut self.sealed.pieces,
        ];
        for list in lists {
            list.sort_by_key(|item| std::cmp::Reverse(item.blocks));
        }
    }
}

/// The last byte of a message's first counter, where the host knows it.
fn first_byte(mode: &JobMode<'_>) -> u32 {
    match mode {
        JobMode::Ctr { counter } | JobMode::Ctr32 { counter } => {
            counter.last().copied().unwrap_or(0).into()
        }
        JobMode::GcmEncrypt { iv, .. } | JobMode::GcmDecrypt { iv, .. } if !is_hashed(iv) => 2,
        _ => 0,
    }
}

/// First block and number of blocks of each piece: `first` blocks, then `others` as long as enough are
/// left, the last piece up to `rest` more.
fn pieces(blocks: u32, first: u32, others: u32, rest: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut start = 0;
    let mut length = first;
    std::iter::from_fn(move || {
        let left = blocks - start;
        let piece = (start, if left <= length + rest { left } else { length });
        start += piece.1;
        length = others;
        (piece.1 > 0).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUTS: Cuts = Cuts { piece: 256, narrow: 64, hashed: 1024, short: 128, by_matrices: true };

    #[test]
    fn pieces_are_all_of_a_message() {
        let cut = |blocks, rest| pieces(blocks, 254, 256, rest).collect::<Vec<_>>();
        assert_eq!(cut(0, 31), []);
        assert_eq!(cut(254, 0), [(0, 254)]);
        assert_eq!(cut(600, 31), [(0, 254), (254, 256), (510, 90)]);
        assert_eq!(cut(512, 0), [(0, 254), (254, 256), (510, 2)]);
        assert_eq!(cut(541, 31), [(0, 254), (254, 287)]);
        assert_eq!(cut(542, 31), [(0, 254), (254, 256), (510, 32)]);
        assert_eq!(cut(285, 31), [(0, 285)]);
    }

    #[test]
    fn counters_of_an_item_begin_where_their_last_byte_does() {
        let mut items = Items::default();
        let mut tag = [0; 16];
        let mode = JobMode::GcmEncrypt { iv: &[0; 12], aad: &[], tag: &mut tag };
        items.push(7, &mode, 16 * 2500 - 3, CUTS);
        let starts: Vec<_> = items.wide.iter().map(|item| item.first).collect();
        assert_eq!(starts[..3], [0, 254, 510]);
        let pieces: Vec<_> = items.sealed.pieces.iter().map(|i| (i.first, i.blocks)).collect();
        assert_eq!(pieces, [(0, 452), (452, 1024), (1476, 1024)]);
        assert_eq!(items.sealed.long, [Item { job: 7, blocks: 3, first: 0, place: 0 }]);
        assert_eq!((items.places, items.sequences), (3, 1));
    }

    #[test]
    fn only_what_is_encrypted_needs_no_session_before() {
        let iv = [7; 16];
        let opens_first = |modes: &[(JobMode<'_>, usize)]| {
            let mut items = Items::default();
            for (mode, length) in modes {
                items.push(0, mode, *length, CUTS);
            }
            items.opens_first
        };
        let (mut tag, mut other) = ([0; 16], [0; 16]);
        let ctr = || JobMode::Ctr { counter: &iv };
        let gcm = JobMode::GcmEncrypt { iv: &iv[..12], aad: &iv, tag: &mut tag };
        assert!(!opens_first(&[(JobMode::EcbEncrypt, 16), (ctr(), 1), (gcm, 5000)]));
        let hashed = JobMode::GcmEncrypt { iv: &iv, aad: &[], tag: &mut other };
        assert!(opens_first(&[(ctr(), 1), (hashed, 16)]), "its first counter is a hash");
        let mut tag = [0; 16];
        let empty = JobMode::GcmEncrypt { iv: &iv[..12], aad: &[], tag: &mut tag };
        assert!(opens_first(&[(empty, 0), (ctr(), 1)]), "no item of its own");
        for mode in [
            JobMode::EcbDecrypt,
            JobMode::CbcEncrypt { iv: &iv },
            JobMode::CbcDecrypt { iv: &iv },
            JobMode::GcmDecrypt { iv: &iv[..12], aad: &[], tag: &iv },
        ] {
            assert!(opens_first(&[(ctr(), 1), (mode, 16)]));
        }
    }

    #[test]
    fn no_message_has_more_items_than_there_is_room_for() {
        let iv = [0xff; 16];
        let totals = [(1, true), (1, false), (1 << 20, true), (1 << 30, false)];
        for ((total, by_matrices), messages) in
            totals.into_iter().flat_map(|total| [(total, 1), (total, 1 << 20)])
        {
            let cuts = Cuts::of(messages, total, 132 * 24, by_matrices, 132 * 12);
            for blocks in (0..3000).chain([1 << 16, (1 << 20) + 1]) {
                let mut tag = [0; 16];
                let modes = [
                    JobMode::EcbEncrypt,
                    JobMode::Ctr { counter: &iv },
                    JobMode::CbcEncrypt { iv: &iv },
                    JobMode::CbcDecrypt { iv: &iv },
                    JobMode::GcmDecrypt { iv: &iv[..12], aad: &[], tag: &iv },
                    JobMode::GcmEncrypt { iv: &iv, aad: &[], tag: &mut tag },
                ];
                for mode in modes {
                    let mut items = Items::default();
                    items.push(0, &mode, BLOCK * blocks, cuts);
                    let count: usize = items.lists().iter().map(|list| list.len()).sum();
                    let [most, most_places] = Items::most(BLOCK * blocks);
                    let places = items.places as usize;
                    assert!(count <= most && places <= most_places, "{mode:?}, {blocks}, {cuts:?}");
                }
            }
        }
    }

    #[test]
    fn cuts_suit_the_device() {
        let cuts = Cuts::of(4096, 4096 << 16, 132 * 24, true, 132 * 12);
        assert_eq!((cuts.piece, cuts.hashed), (4096, 1 << 14));
        let cuts = Cuts::of(10_000, 10_000 << 10, 132 * 24, true, 132 * 12);
        assert_eq!((cuts.piece, cuts.hashed, cuts.short), (1024, 1024, 128));
        let narrow = |messages, blocks| {
            Cuts::of(messages, messages * blocks, 132 * 24, true, 132 * 12).narrow
        };
        assert_eq!([narrow(3_000, 16), narrow(4_000, 16), narrow(10_000, 94)], [0, 64, 128]);
        assert_eq!([narrow(6_000, 32), narrow(6_000, 31), narrow(6_400, 32)], [0, 64, 64]);
        let piece = |blocks| Cuts::of(1_000, blocks, 132 * 24, true, 132 * 12).piece;
        assert_eq!((piece(1_000 << 10), piece(4_000 * 9_375)), (256, 1024));
        let cuts = Cuts::of(1, 1, 132 * 24, false, 132 * 768);
        assert_eq!((cuts.piece, cuts.hashed, cuts.short), (64, 128, 128));
    }
}
