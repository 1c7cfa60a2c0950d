//! Which key of a keyset opens sealed data.

use crate::{Error, Header, Key, Keyset, Status, Stream, parameters::PREFIX_BYTES};

/// Bytes from the beginning on that the choice may need: the longest first segment of any key, and one
/// that tells whether it is the last.
pub(crate) fn needed_bytes(keyset: &Keyset) -> usize {
    let keys = keyset.keys().chain(keyset.disabled_keys());
    let segments = keys.map(|(_, key)| key.parameters().segment_bytes() as usize + 1);
    segments.max().unwrap_or(0)
}

/// The stream of the first enabled key that opens the first segment. `beginning` has
/// [`needed_bytes`] of the sealed data, or all where there are fewer.
///
/// A sealed file does not say which key it wants, but for the size. So an error says which keys were tried, and
/// whether a disabled one would have opened it.
pub(crate) fn choose(
    keyset: &Keyset,
    associated_data: &[u8],
    beginning: &[u8],
) -> Result<Stream, Error> {
    for (_, key) in keyset.keys() {
        if let Some(stream) = opened_by(&key, associated_data, beginning)? {
            return Ok(stream);
        }
    }
    for (id, key) in keyset.disabled_keys() {
        if opened_by(&key, associated_data, beginning)?.is_some() {
            return Err(Error::KeyDisabled { id });
        }
    }
    let fits = |key: &Key| Header::parse(key.parameters(), beginning).is_some();
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

fn opened_by(key: &Key, associated_data: &[u8], beginning: &[u8]) -> Result<Option<Stream>, Error> {
    let Some(header) = Header::parse(key.parameters(), beginning) else { return Ok(None) };
    let stream = Stream::new(key, header, associated_data)?;
    let geometry = stream.geometry();
    let is_last = beginning.len() as u64 <= geometry.segment_bytes();
    let end = beginning.len().min(geometry.segment_bytes() as usize);
    let segment = &beginning[geometry.header_bytes() as usize..end];
    let Some(text) = segment.len().checked_sub(geometry.tag_bytes() as usize) else {
        return Ok(None);
    };
    let (text, tag) = segment.split_at(text);
    let mut text = zeroize::Zeroizing::new(text.to_vec());
    match stream.open_segment(0, is_last, &mut text, tag) {
        Ok(()) => Ok(Some(stream)),
        Err(error) if error.is_not_authentic() => Ok(None),
        Err(error) => Err(error),
    }
}
