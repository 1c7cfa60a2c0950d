//! The header of LUKS1 (on-disk format 1.2.3, section 3).

use crate::{
    Error, Header, Storage,
    bytes::Fields,
    derive::{Derivation, Pbkdf2},
    hash::Hash,
    header::{Digest, KeySlot, Payload, SECTOR, read_at},
};

const HEADER_BYTES: usize = 592;
const SLOTS: usize = 8;
/// Where the first slot is described, and bytes of a description.
const FIRST_SLOT: usize = 208;
const SLOT_BYTES: usize = 48;
/// What says that a slot is in use, or not.
const ENABLED: u32 = 0x00ac_71f3;
const DISABLED: u32 = 0x0000_dead;

pub(crate) fn read<S: Storage + ?Sized>(storage: &S) -> Result<Header, Error> {
    let mut header = [0; HEADER_BYTES];
    read_at(storage, "the header", &mut header, 0)?;
    let fields = Fields(&header);
    let cipher = format!("{}-{}", fields.text_at(8, 32)?, fields.text_at(40, 32)?);
    let hash = Hash::try_from(fields.text_at(72, 32)?)?;
    let common = Common {
        hash,
        cipher: &cipher,
        key_bytes: fields.u32_at(108) as usize,
        digest: Digest {
            derivation: Pbkdf2 {
                hash,
                iterations: fields.u32_at(164),
                salt: fields.array_at::<32>(132).to_vec(),
            },
            expected: fields.array_at::<20>(112).to_vec(),
        },
    };
    let mut slots = Vec::new();
    for at in (0..SLOTS).map(|slot| FIRST_SLOT + slot * SLOT_BYTES) {
        slots.extend(common.slot(&Fields(&header[at..at + SLOT_BYTES]))?.map(Ok));
    }
    let payload = Payload {
        offset: u64::from(fields.u32_at(104)) * u64::from(SECTOR),
        bytes: None,
        first_tweak: 0,
        sector_bytes: SECTOR,
        cipher,
    };
    let end = slots.iter().flatten().map(KeySlot::end).fold(HEADER_BYTES as u64, u64::max);
    Ok(Header { version: 1, end, payload, slots })
}

/// What is the same for all slots.
struct Common<'a> {
    hash: Hash,
    cipher: &'a str,
    key_bytes: usize,
    digest: Digest,
}

impl Common<'_> {
    fn slot(&self, fields: &Fields<'_>) -> Result<Option<KeySlot>, Error> {
        match fields.u32_at(0) {
            DISABLED => return Ok(None),
            ENABLED => {}
            other => return Err(Error::damaged(format!("a key slot's state is {other:#010x}"))),
        }
        let derivation = Derivation::Pbkdf2(Pbkdf2 {
            hash: self.hash,
            iterations: fields.u32_at(4),
            salt: fields.array_at::<32>(8).to_vec(),
        });
        Ok(Some(KeySlot {
            derivation,
            offset: u64::from(fields.u32_at(40)) * u64::from(SECTOR),
            cipher: self.cipher.to_owned(),
            cipher_key_bytes: self.key_bytes,
            stripes: fields.u32_at(44) as usize,
            hash: self.hash,
            key_bytes: self.key_bytes,
            digest: self.digest.clone(),
        }))
    }
}
