//! Where segments lie in plaintext and ciphertext.

use std::ops::Range;

use crate::Error;

/// Most segments of sealed data: their numbers have 32 bits.
const MOST_SEGMENTS: u64 = 1 << 32;

/// The grid of sealed data.
///
/// In ciphertext every segment begins at a multiple of the segment size; the first gives room to the
/// header. What a segment has besides plaintext is its tag. The last segment may be shorter, and is
/// empty only where the whole plaintext is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLayout {
    segment: u64,
    header: u64,
    tag: u64,
}

impl SegmentLayout {
    /// `segment` is larger than header and tag together, as [`Parameters`](crate::Parameters) check.
    pub(crate) fn new(segment: u32, header: usize, tag: usize) -> Self {
        Self { segment: u64::from(segment), header: header as u64, tag: tag as u64 }
    }

    /// Bytes of the header before the first segment.
    #[must_use]
    pub fn header_bytes(&self) -> u64 {
        self.header
    }

    /// Bytes of the tag after each segment.
    #[must_use]
    pub fn tag_bytes(&self) -> u64 {
        self.tag
    }

    /// Bytes of ciphertext of a full segment with its tag, also those of the first with the header.
    #[must_use]
    pub fn segment_bytes(&self) -> u64 {
        self.segment
    }

    /// Bytes of plaintext of a full segment; the first has fewer by the header.
    fn text(&self) -> u64 {
        self.segment - self.tag
    }

    /// Most bytes of plaintext.
    #[must_use]
    pub fn most_plaintext(&self) -> u64 {
        MOST_SEGMENTS * self.text() - self.header
    }

    /// Number of segments for `plaintext_bytes` bytes of plaintext; at least one.
    ///
    /// # Errors
    /// [`Error::TooLong`] where there would be more than 2^32.
    pub fn segments(&self, plaintext_bytes: u64) -> Result<u64, Error> {
        let most = self.most_plaintext();
        if plaintext_bytes > most {
            return Err(Error::TooLong { given: plaintext_bytes, most });
        }
        Ok((plaintext_bytes + self.header).div_ceil(self.text()))
    }

    /// Bytes of sealed data, with header and tags, for `plaintext_bytes` bytes of plaintext.
    ///
    /// # Errors
    /// As [`segments`](Self::segments).
    pub fn ciphertext_bytes(&self, plaintext_bytes: u64) -> Result<u64, Error> {
        let segments = self.segments(plaintext_bytes)?;
        Ok(plaintext_bytes + self.header + segments * self.tag)
    }

    /// Bytes of plaintext in `ciphertext_bytes` bytes of sealed data.
    ///
    /// # Errors
    /// [`Error::Truncated`] if no plaintext has sealed data of this length.
    pub fn plaintext_bytes(&self, ciphertext_bytes: u64) -> Result<u64, Error> {
        let segments = ciphertext_bytes.div_ceil(self.segment);
        let others = segments.saturating_mul(self.tag).saturating_add(self.header);
        ciphertext_bytes
            .checked_sub(others)
            .filter(|&plaintext| self.segments(plaintext).is_ok_and(|needed| needed == segments))
            .ok_or(Error::Truncated { given: ciphertext_bytes })
    }

    /// Where the plaintext of a full segment lies in the plaintext. A segment that no data has may begin and end at the
    /// last number there is.
    #[must_use]
    pub fn plaintext_of(&self, segment: u64) -> Range<u64> {
        let before =
            |segments: u64| segments.saturating_mul(self.text()).saturating_sub(self.header);
        before(segment)..before(segment.saturating_add(1))
    }

    /// Where a full segment and its tag lie in sealed data; the first comes after the header. A segment that no data has
    /// may begin and end at the last number there is.
    #[must_use]
    pub fn ciphertext_of(&self, segment: u64) -> Range<u64> {
        let before = |segments: u64| segments.saturating_mul(self.segment);
        before(segment).max(self.header)..before(segment.saturating_add(1))
    }

    /// The segment that has this byte of plaintext; for a byte that no data has, one that no data has.
    #[must_use]
    pub fn segment_at(&self, plaintext_offset: u64) -> u64 {
        plaintext_offset.saturating_add(self.header) / self.text()
    }

    /// The segments that have a range of plaintext; none for an empty one.
    #[must_use]
    pub fn segments_of(&self, plaintext: Range<u64>) -> Range<u64> {
        if plaintext.is_empty() {
            return 0..0;
        }
        self.segment_at(plaintext.start)..self.segment_at(plaintext.end - 1) + 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MEBI: SegmentLayout = SegmentLayout { segment: 1 << 20, header: 40, tag: 16 };

    #[test]
    fn boundaries_of_the_default() {
        assert_eq!(MEBI.plaintext_of(0), 0..1_048_520);
        assert_eq!(MEBI.plaintext_of(1), 1_048_520..1_048_520 + 1_048_560);
        assert_eq!(MEBI.ciphertext_of(0), 40..1 << 20);
        assert_eq!(MEBI.ciphertext_of(5000), 5000 << 20..5001 << 20);
        let segments = [0, 1, 1_048_520, 1_048_521].map(|bytes| MEBI.segments(bytes).unwrap());
        assert_eq!(segments, [1, 1, 1, 2]);
        assert_eq!(MEBI.ciphertext_bytes(0).unwrap(), 56);
        assert_eq!(MEBI.segments_of(1_048_519..1_048_521), 0..2);
        assert_eq!(MEBI.segments_of(7..7), 0..0);
    }

    #[test]
    fn lengths_that_nothing_has() {
        // Shorter than header and tag; a last segment without a tag, or with nothing but one.
        for given in [0, 40, 55, (1 << 20) + 1, (1 << 20) + 16, (3 << 20) + 15] {
            let error = MEBI.plaintext_bytes(given).expect_err("there is no such length");
            assert!(matches!(error, Error::Truncated { given: named } if named == given));
        }
        let most = MEBI.most_plaintext();
        assert_eq!(MEBI.ciphertext_bytes(most).unwrap(), 1 << 52);
        assert_eq!(MEBI.plaintext_bytes(1 << 52).unwrap(), most);
        assert!(matches!(MEBI.segments(most + 1), Err(Error::TooLong { .. })));
        assert!(matches!(MEBI.plaintext_bytes((1 << 52) + 17), Err(Error::Truncated { .. })));
        assert!(MEBI.plaintext_bytes(u64::MAX).is_err() && MEBI.segments(u64::MAX).is_err());
        assert!(matches!(MEBI.ciphertext_bytes(u64::MAX), Err(Error::TooLong { .. })));
    }

    #[test]
    fn segments_that_no_data_has() {
        // A segment has a byte of plaintext more than the header, and those of two bytes give the largest numbers.
        let small = SegmentLayout { segment: 3, header: 1, tag: 1 };
        for layout in [MEBI, small] {
            for segment in [u64::MAX / 3, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
                let ranges = [layout.plaintext_of(segment), layout.ciphertext_of(segment)];
                assert!(
                    ranges.iter().all(|range| range.start <= range.end),
                    "{segment}: {ranges:?}"
                );
            }
            assert_eq!(layout.ciphertext_of(u64::MAX), u64::MAX..u64::MAX);
            let last = layout.segment_at(u64::MAX);
            assert!(last >= 1 << 32 && layout.segment_at(u64::MAX - layout.header) == last);
            assert_eq!(layout.segments_of(u64::MAX - 1..u64::MAX), last..last + 1);
        }
    }

    proptest! {
        /// Counted byte by byte, a segment after the other.
        #[test]
        fn what_walking_gives(header in 1_u64..30, tag in 1_u64..20, more in 1_u64..40, bytes in 0_u64..900) {
            let layout = SegmentLayout { segment: header + tag + more, header, tag };
            let (mut plaintext, mut ciphertext, mut segment) = (0, header, 0);
            loop {
                let room = layout.segment - ciphertext % layout.segment - tag;
                let has = room.min(bytes - plaintext);
                prop_assert_eq!(layout.plaintext_of(segment), plaintext..plaintext + room);
                prop_assert_eq!(layout.ciphertext_of(segment).start, ciphertext);
                for offset in plaintext..plaintext + has {
                    prop_assert_eq!(layout.segment_at(offset), segment);
                }
                plaintext += has;
                ciphertext += has + tag;
                segment += 1;
                if plaintext == bytes {
                    break;
                }
            }
            prop_assert_eq!(layout.segments(bytes).unwrap(), segment);
            prop_assert_eq!(layout.ciphertext_bytes(bytes).unwrap(), ciphertext);
            prop_assert_eq!(layout.plaintext_bytes(ciphertext).unwrap(), bytes);
        }
    }
}
