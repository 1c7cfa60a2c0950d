//! Algorithm functional tests of modes without a tag: one text each.

use lanecrypt::Mode;
use serde_json::{Map, Value};

use super::{
    algorithm::{Context, Kind, direction, exactly, hex},
    error::AcvpError,
    fields::Fields,
};
use crate::kat::keyed::{Beside, Keyed};

pub(super) fn answer(
    Context { algorithm, target }: Context<'_>,
    group: Fields<'_>,
    test: Fields<'_>,
) -> Result<Map<String, Value>, AcvpError> {
    let Kind::Blocks(mode) = algorithm.kind else {
        return Err(group.refused("testType", "that of a mode without a tag"));
    };
    let (direction, from, to) = direction(group)?;
    let key = algorithm.key(group, test)?;
    let iv = match mode {
        Mode::Ecb => Vec::new(),
        Mode::Xts => tweak(group, test)?,
        _ => exactly(test, "iv", target.cipher.block_bytes)?,
    };
    let mut data = test.bytes(from)?;
    let last_bits = check_length(mode, group, test, from, data.len())?;
    let unit = match mode {
        Mode::Xts if test.has("dataUnitLen") => Some(test.bits_as_bytes("dataUnitLen")? as u64),
        _ => None,
    };
    let mut run = || {
        let beside = Beside { iv: &iv, ..Beside::default() };
        Keyed::new(target.backend, mode, &key, beside)?.apply_units(direction, unit, &mut data)
    };
    run().map_err(|error| AcvpError::Engine { place: test.place, error })?;
    if let (Some(bits), Some(last)) = (last_bits, data.last_mut()) {
        *last &= 0xff << (8 - bits);
    }
    Ok(Map::from_iter([(to.to_owned(), hex(&data))]))
}

/// Checks the length of a text where the prompt says it, in bits; and how many of the last byte's bits count, where these
/// are not all of them.
fn check_length(
    mode: Mode,
    group: Fields<'_>,
    test: Fields<'_>,
    field: &'static str,
    bytes: usize,
) -> Result<Option<u32>, AcvpError> {
    let Some(said_by) = [test, group].into_iter().find(|fields| fields.has("payloadLen")) else {
        return Ok(None);
    };
    let bits = said_by.number("payloadLen")?;
    if bits.div_ceil(8) != bytes as u64 {
        return Err(test.refused(field, format!("hex of {bits} bits")));
    }
    match (bits % 8, mode) {
        (0, _) => Ok(None),
        (rest, Mode::Ctr) => Ok(Some(rest as u32)),
        _ => Err(said_by.refused("payloadLen", "a multiple of 8 in this mode")),
    }
}

/// The tweak of a data unit, which a prompt has as bytes or as a number.
fn tweak(group: Fields<'_>, test: Fields<'_>) -> Result<Vec<u8>, AcvpError> {
    match group.text("tweakMode")? {
        "hex" => exactly(test, "tweakValue", 16),
        "number" => Ok(u128::from(test.number("sequenceNumber")?).to_le_bytes().to_vec()),
        _ => Err(group.refused("tweakMode", "hex or number")),
    }
}
