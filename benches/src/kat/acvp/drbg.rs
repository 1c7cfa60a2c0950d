//! Tests of `CTR_DRBG`: a generator is seeded, may be reseeded, and answers twice; what it answers last is looked at.

use lanecrypt::{
    Engine,
    aes::{Aes128, Aes192, Aes256},
    cipher::{BlockSizeUser, KeyInit, consts::U16},
    ctr_drbg::{CtrDrbg, MAX_REQUEST_BYTES},
};
use serde_json::{Map, Value};

use super::{
    algorithm::{Context, exactly, hex},
    error::AcvpError,
    fields::{Fields, objects},
};

pub(super) fn answer(
    context: Context<'_>,
    group: Fields<'_>,
    test: Fields<'_>,
) -> Result<Map<String, Value>, AcvpError> {
    context.wants_type()?;
    let answered = match group.text("mode")? {
        "AES-128" => answered::<Aes128>(group, test)?,
        "AES-192" => answered::<Aes192>(group, test)?,
        "AES-256" => answered::<Aes256>(group, test)?,
        _ => return Err(group.refused("mode", "AES-128, AES-192 or AES-256")),
    };
    Ok(Map::from_iter([("returnedBits".to_owned(), hex(&answered))]))
}

/// AES with keys of one length.
trait AesType: Engine + KeyInit + BlockSizeUser<BlockSize = U16> {}
impl<C: Engine + KeyInit + BlockSizeUser<BlockSize = U16>> AesType for C {}

/// The last answer of a generator.
fn answered<C: AesType>(group: Fields<'_>, test: Fields<'_>) -> Result<Vec<u8>, AcvpError> {
    let mut generator = seeded::<C>(group, test)?;
    let is_fresh = group.flag("predResistance")?;
    let bytes = group.bits_as_bytes("returnedBitsLen")?;
    if bytes > MAX_REQUEST_BYTES {
        return Err(group.refused("returnedBitsLen", format!("0 to {}", 8 * MAX_REQUEST_BYTES)));
    }
    let failed = |error| AcvpError::Generator { place: test.place, error };
    let mut answer = None;
    for step in objects(test, "otherInput")? {
        let step = Fields::new(step, test.place);
        let mut additional = input(group, step, "additionalInput", "additionalInputLen")?;
        let answers = match step.text("intendedUse")? {
            "generate" => true,
            "reSeed" => false,
            _ => return Err(step.refused("intendedUse", "generate or reSeed")),
        };
        if is_fresh || !answers {
            let entropy = input(group, step, "entropyInput", "entropyInputLen")?;
            generator.reseed(&entropy, &additional).map_err(failed)?;
            // It is in the seed, and goes into the answer no more (SP 800-90A, 9.3.1).
            additional.clear();
        }
        if answers {
            let mut output = vec![0; bytes];
            generator.generate(&mut output, &additional).map_err(failed)?;
            answer = Some(output);
        }
    }
    answer.ok_or_else(|| test.refused("otherInput", "generate at least once"))
}

fn seeded<C: AesType>(group: Fields<'_>, test: Fields<'_>) -> Result<CtrDrbg<C>, AcvpError> {
    let entropy = input(group, test, "entropyInput", "entropyInputLen")?;
    let personalization = input(group, test, "persoString", "persoStringLen")?;
    // Without the derivation function a nonce is not used, though a prompt has one.
    let seeded = if group.flag("derFunc")? {
        CtrDrbg::new(&entropy, &input(group, test, "nonce", "nonceLen")?, &personalization)
    } else {
        CtrDrbg::with_full_entropy(&entropy, &personalization)
    };
    seeded.map_err(|error| AcvpError::Generator { place: test.place, error })
}

/// Bytes of a field, which is as long as the group says.
fn input(
    group: Fields<'_>,
    fields: Fields<'_>,
    field: &'static str,
    bits: &'static str,
) -> Result<Vec<u8>, AcvpError> {
    exactly(fields, field, group.bits_as_bytes(bits)?)
}
