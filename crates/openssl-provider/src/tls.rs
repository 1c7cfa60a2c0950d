//! Records of TLS in CBC (RFC 5246, 6.2.3.2): padding and MAC are taken off in constant time.

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater};

use crate::Reason;

/// The largest MAC in bytes: SHA-512's.
pub(crate) const MAX_MAC: usize = 64;
/// The longest padding in bytes, with the byte that counts it.
const MAX_PADDING: usize = 256;

/// A version of TLS or DTLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// TLS 1.0, where the IV is the last block of the record before.
    ChainedIv,
    /// TLS 1.1 and 1.2, and DTLS, where a record begins with its IV.
    ExplicitIv,
}

impl Version {
    /// The version by its number on the wire; `None` of 0, which is no TLS.
    pub(crate) fn new(number: usize) -> Result<Option<Self>, Reason> {
        Ok(Some(match number {
            0 => return Ok(None),
            0x0301 => Self::ChainedIv,
            0x0302 | 0x0303 | 0xfeff | 0xfefd | 0x0100 => Self::ExplicitIv,
            _ => return Err(Reason::GetParameter),
        }))
    }

    pub(crate) fn has_explicit_iv(self) -> bool {
        self == Self::ExplicitIv
    }
}

/// The length of a decrypted record's payload, without MAC and padding; its MAC fills `mac`.
///
/// Where the padding is wrong, the record counts as one without any and its MAC is random, so that it is
/// refused later as if the MAC were wrong, in the same time. Without a MAC, where it was checked before,
/// wrong padding is an error.
pub(crate) fn open(record: &[u8], mac: &mut [u8]) -> Result<usize, Reason> {
    let overhead = mac.len() + 1;
    if record.len() < overhead {
        return Err(Reason::Operation);
    }
    let (is_good, padding) = padding(record, overhead);
    let end = record.len() as u64 - u64::conditional_select(&0, &padding, is_good);
    if mac.is_empty() {
        return if bool::from(is_good) { Ok(end as usize) } else { Err(Reason::Operation) };
    }
    let mut random = [0; MAX_MAC];
    getrandom::fill(&mut random).map_err(|_| Reason::Operation)?;
    let start = end as usize - mac.len();
    copy_mac(record, start, mac);
    for (byte, random) in mac.iter_mut().zip(random) {
        *byte = u8::conditional_select(&random, byte, is_good);
    }
    Ok(start)
}

/// Whether the padding is right, and its length with the byte that counts it.
fn padding(record: &[u8], overhead: usize) -> (Choice, u64) {
    let count = record[record.len() - 1];
    let needed = overhead as u64 + u64::from(count);
    let mut is_good = !needed.ct_gt(&(record.len() as u64));
    for (from_end, byte) in (0..=u8::MAX).zip(record.iter().rev()) {
        let is_padding = !from_end.ct_gt(&count);
        is_good &= !is_padding | byte.ct_eq(&count);
    }
    (is_good, u64::from(count) + 1)
}

/// Copies the MAC from `start` on, a secret, reading every place where it could start.
fn copy_mac(record: &[u8], start: usize, mac: &mut [u8]) {
    mac.fill(0);
    let last = record.len() - mac.len();
    for candidate in last.saturating_sub(MAX_PADDING)..=last {
        let is_it = (candidate as u64).ct_eq(&(start as u64));
        let mask = is_it.unwrap_u8().wrapping_neg();
        for (byte, &read) in mac.iter_mut().zip(&record[candidate..]) {
            *byte |= read & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(payload: usize, padding: u8) -> Vec<u8> {
        let mut record: Vec<u8> = (0..payload + 20).map(|i| i as u8 ^ 0x5a).collect();
        record.extend(vec![padding; usize::from(padding) + 1]);
        record
    }

    #[test]
    fn padding_and_mac_come_off() {
        for (payload, padding) in [(0, 0), (1, 11), (100, 255), (1000, 7), (300, 0)] {
            let record = record(payload, padding);
            let mut mac = [0; 20];
            assert_eq!(open(&record, &mut mac), Ok(payload));
            assert_eq!(mac, record[payload..payload + 20]);
        }
    }

    #[test]
    fn wrong_padding_gives_a_random_mac() {
        for wrong in [0, 5, 11] {
            let mut record = record(64, 11);
            let at = record.len() - 12 + wrong;
            record[at] ^= 0x80;
            let (mut mac, mut again) = ([0; 20], [0; 20]);
            assert_eq!(open(&record, &mut mac), Ok(record.len() - 20));
            assert_eq!(open(&record, &mut again), Ok(record.len() - 20));
            assert_ne!(mac, again);
        }
        let mut short = vec![30; 30];
        short[29] = 29;
        assert_eq!(open(&short, &mut [0; 20]), Ok(10), "more padding than there is room for");
    }

    #[test]
    fn without_a_mac_wrong_padding_is_an_error() {
        assert_eq!(open(&[1, 2, 3, 1, 1], &mut []), Ok(3));
        assert_eq!(open(&[1, 2, 3, 0, 1], &mut []), Err(Reason::Operation));
        assert_eq!(open(&[], &mut []), Err(Reason::Operation));
        assert_eq!(open(&[0; 20], &mut [0; 20]), Err(Reason::Operation));
    }

    #[test]
    fn versions_are_known() {
        assert_eq!(Version::new(0), Ok(None));
        assert_eq!(Version::new(0x0301), Ok(Some(Version::ChainedIv)));
        assert_eq!(Version::new(0x0303), Ok(Some(Version::ExplicitIv)));
        assert_eq!(Version::new(0x0300), Err(Reason::GetParameter), "SSL 3");
    }
}
