//! The two binary headers of LUKS2 (on-disk format 1.1.4, section 2): which of them holds.

use sha2::{Digest, Sha256};

use crate::{
    Error, Header, Storage,
    bytes::Fields,
    header::{MAGIC, read_at},
    metadata,
};

/// What the second header begins with.
const SECOND_MAGIC: [u8; 6] = *b"SKUL\xba\xbe";
const BINARY_BYTES: usize = 4096;
/// Lengths that a header may have with its metadata; so also where a second header may begin.
const LENGTHS: [u64; 9] =
    [0x4000, 0x8000, 0x1_0000, 0x2_0000, 0x4_0000, 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000];
/// Where the checksum is, and bytes of its field.
const CHECKSUM: usize = 448;
const CHECKSUM_BYTES: usize = 64;

/// One of the two, whose checksum is right.
struct Copy {
    bytes: u64,
    sequence: u64,
    metadata: Vec<u8>,
}

/// The newer of the two headers; the other one where one is damaged.
pub(crate) fn read<S: Storage + ?Sized>(storage: &S) -> Result<Header, Error> {
    let first = copy(storage, 0, MAGIC);
    let second = match &first {
        Ok(first) => copy(storage, first.bytes, SECOND_MAGIC),
        // It says nowhere where the second one is.
        Err(_) => LENGTHS
            .iter()
            .map(|&offset| copy(storage, offset, SECOND_MAGIC))
            .find(Result::is_ok)
            .unwrap_or(Err(Error::NotLuks)),
    };
    let newest = match (first, second) {
        (Ok(first), Ok(second)) if second.sequence > first.sequence => second,
        (Ok(first), _) => first,
        (Err(_), Ok(second)) => second,
        (Err(error), Err(_)) => return Err(error),
    };
    metadata::parse(&newest.metadata, 2 * newest.bytes)
}

fn copy<S: Storage + ?Sized>(storage: &S, offset: u64, magic: [u8; 6]) -> Result<Copy, Error> {
    let mut binary = [0; BINARY_BYTES];
    read_at(storage, "the header", &mut binary, offset)?;
    let fields = Fields(&binary);
    if fields.array_at(0) != magic {
        return Err(Error::NotLuks);
    }
    if fields.u16_at(6) != 2 {
        return Err(Error::Version(fields.u16_at(6)));
    }
    let (bytes, found) = (fields.u64_at(8), fields.u64_at(256));
    if !LENGTHS.contains(&bytes) {
        return Err(Error::damaged(format!("it has {bytes} bytes")));
    }
    if found != offset {
        return Err(Error::damaged(format!("it says that it is at byte {found}, not {offset}")));
    }
    let algorithm = fields.text_at(72, 32)?;
    if algorithm != "sha256" {
        let what = "checksum of the header";
        return Err(Error::Unsupported { what, given: algorithm, supported: "sha256" });
    }
    let mut metadata = vec![0; bytes as usize - BINARY_BYTES];
    read_at(storage, "the metadata", &mut metadata, offset + BINARY_BYTES as u64)?;
    let expected: [u8; 32] = fields.array_at(CHECKSUM);
    let sequence = fields.u64_at(16);
    binary[CHECKSUM..CHECKSUM + CHECKSUM_BYTES].fill(0);
    let digest = Sha256::new().chain_update(binary).chain_update(&metadata).finalize();
    if digest[..] != expected {
        return Err(Error::damaged("its checksum is wrong"));
    }
    Ok(Copy { bytes, sequence, metadata })
}
