//! Which key of a keyset opens sealed data.

use crate::{Error, Header, Keyset, SegmentCipher, Status, StreamingKey, parameters::PREFIX_BYTES};

/// Bytes from the beginning on that the choice may need: the longest first segment of any key, and one
/// that tells whether it is the last.
pub(crate) fn needed_bytes(keyset: &Keyset) -> usize {
    let keys = keyset.keys().chain(keyset.disabled_keys());
    let segments = keys.map(|(_, key)| key.parameters().segment_bytes() as usize + 1);
    segments.max().unwrap_or(0)
}

/// The cipher of the first enabled key that opens the first segment. `beginning` has
/// [`needed_bytes`] of the sealed data, or all where there are fewer.
///
/// A sealed file does not say which key it wants, but for the size. So an error says which keys were tried, and
/// whether a disabled one would have opened it.
pub(crate) fn choose(
    keyset: &Keyset,
    associated_data: &[u8],
    beginning: &[u8],
) -> Result<SegmentCipher, Error> {
    for (_, key) in keyset.keys() {
        if let Some(cipher) = opened_by(&key, associated_data, beginning)? {
            return Ok(cipher);
        }
    }
    for (id, key) in keyset.disabled_keys() {
        if opened_by(&key, associated_data, beginning)?.is_some() {
            return Err(Error::KeyDisabled { id });
        }
    }
    let fits = |key: &StreamingKey| Header::parse(key.parameters(), beginning).is_some();
    let tried = keyset.keys().filter(|(_, key)| fits(key)).map(|(id, _)| id).collect();
    let destroyed = keyset.entries().filter(|key| key.status == Status::Destroyed);
    let destroyed = destroyed.map(|key| key.id).collect();
    Err(Error::NoKeyOpens { tried, key_bits: key_bits(beginning), destroyed })
}

/// Bits of the AES keys that sealed what begins so: the first byte is the header's length, in which the salt is as
/// long as these keys.
fn key_bits(beginning: &[u8]) -> Option<u16> {
    let salt = usize::from(*beginning.first()?).checked_sub(1 + PREFIX_BYTES)?;
    [16, 32].contains(&salt).then_some(8 * salt as u16)
}

fn opened_by(
    key: &StreamingKey,
    associated_data: &[u8],
    beginning: &[u8],
) -> Result<Option<SegmentCipher>, Error> {
    let Some(header) = Header::parse(key.parameters(), beginning) else { return Ok(None) };
    let cipher = SegmentCipher::new(key, header, associated_data)?;
    let layout = cipher.layout();
    let is_last = beginning.len() as u64 <= layout.segment_bytes();
    let end = beginning.len().min(layout.segment_bytes() as usize);
    let segment = &beginning[layout.header_bytes() as usize..end];
    let Some(text) = segment.len().checked_sub(layout.tag_bytes() as usize) else {
        return Ok(None);
    };
    let (text, tag) = segment.split_at(text);
    let mut text = zeroize::Zeroizing::new(text.to_vec());
    match cipher.open_segment(0, is_last, &mut text, tag) {
        Ok(()) => Ok(Some(cipher)),
        Err(error) if error.is_not_authentic() => Ok(None),
        Err(error) => Err(error),
    }
}
