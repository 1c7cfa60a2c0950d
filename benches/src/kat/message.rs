//! A long message: a generated plaintext, encrypted in place and decrypted back.

use lanecrypt::{Direction, Mode, registry::Backend};
use lanecrypt_reference::vectors::{BigMessage, PlaintextStream};
use sha2::{Digest, Sha256};

use super::{
    budget,
    difference::{Difference, first_difference},
    keyed::{Beside, Keyed},
};

/// Bytes of plaintext that are generated again at a time.
const PIECE: usize = 64 << 10;

/// What differs: the ciphertext's digest, or the first byte that does not come back.
pub(super) fn check(message: &BigMessage, mode: Mode, backend: &Backend) -> Vec<Difference> {
    let _share = budget::take(message.len);
    check_in_memory(message, mode, backend).err().into_iter().collect()
}

fn check_in_memory(message: &BigMessage, mode: Mode, backend: &Backend) -> Result<(), Difference> {
    let failed = |direction, what| Err(Difference::new(direction, what));
    let mut data = match plaintext(message) {
        Ok(data) => data,
        Err(what) => return failed(None, what),
    };
    let [iv, tag] = [&message.iv, &message.tag].map(|field| field.as_deref().unwrap_or_default());
    let keyed = match Keyed::new(backend, mode, &message.key, Beside { iv, tag, aad: &[] }) {
        Ok(keyed) => keyed,
        Err(error) => return failed(None, format!("cannot be keyed: {error}")),
    };
    let run = |direction, data: &mut [u8]| {
        let result = keyed.apply_units(direction, message.unit, data);
        result.or_else(|error| failed(Some(direction), error.to_string()))
    };
    run(Direction::Encrypt, &mut data)?;
    let digest = Sha256::digest(&data);
    if digest[..] != message.sha256 {
        let [expected, found] = [&message.sha256, &digest[..]].map(|d| hex::encode(&d[..16]));
        let what = format!("SHA-256 differs; expected {expected}… found {found}…");
        return failed(Some(Direction::Encrypt), what);
    }
    run(Direction::Decrypt, &mut data)?;
    match compare(message.seed, &data) {
        Some(what) => failed(Some(Direction::Decrypt), what),
        None => Ok(()),
    }
}

/// The message's plaintext; a machine that has too little memory is no reason to abort.
fn plaintext(message: &BigMessage) -> Result<Vec<u8>, String> {
    let length = usize::try_from(message.len).ok();
    let data = length.and_then(|length| PlaintextStream::new(message.seed).read(length).ok());
    data.ok_or_else(|| format!("no memory for a message of {} bytes", message.len))
}

/// Compares `data` with the stream of `seed`, generated a second time in small pieces.
fn compare(seed: u64, data: &[u8]) -> Option<String> {
    let mut stream = PlaintextStream::new(seed);
    let mut expected = vec![0; PIECE.min(data.len())];
    data.chunks(PIECE).find_map(|piece| {
        let offset = stream.position();
        let expected = &mut expected[..piece.len()];
        stream.fill(expected);
        first_difference(expected, piece, offset)
    })
}
