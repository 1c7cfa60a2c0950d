//! NIST's ACVP in JSON: reads a prompt, and answers it with the chosen backends.
//!
//! A prompt is what an ACVP server, or its public samples, ask (draft-celi-acvp-symmetric): groups of tests of one
//! algorithm, with keys and texts in hex. The response has the results in the same order. Where several backends are
//! chosen, each of them answers, and they must agree.
//!
//! ```
//! use lanecrypt_benches::kat::{Names, Targets, acvp};
//!
//! let prompt = r#"{ "vsId": 1, "algorithm": "ACVP-AES-ECB", "revision": "1.0", "testGroups": [
//!     { "tgId": 1, "testType": "AFT", "direction": "encrypt", "keyLen": 128, "tests": [
//!         { "tcId": 1, "key": "00000000000000000000000000000000", "pt": "00000000000000000000000000000000" } ] } ] }"#;
//! let targets = Targets::new(lanecrypt::CIPHERS, &Names::default())?;
//! let response = acvp::answer(prompt, &targets)?;
//! assert_eq!(response["testGroups"][0]["tests"][0]["ct"], "66E94BD4EF8A2C3B884CFA59CA342B2E");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aead;
mod algorithm;
mod cmac;
mod drbg;
mod error;
mod fields;
mod functional;
mod monte_carlo;

use std::{fs, path::Path};

use serde_json::{Map, Value, json};

use self::{
    algorithm::{Algorithm, Context, Kind},
    fields::{Fields, objects},
};
use super::targets::{Target, Targets};

pub use error::{AcvpError, Place};

/// Answers the prompt in a file, as text.
///
/// # Errors
/// [`AcvpError`].
pub fn answer_file(path: &Path, targets: &Targets) -> Result<String, AcvpError> {
    let prompt = fs::read_to_string(path).map_err(AcvpError::Read)?;
    Ok(format!("{:#}\n", answer(&prompt, targets)?))
}

/// Answers a prompt with each of the chosen backends of its cipher, and with the fastest one where all are chosen.
///
/// # Errors
/// [`AcvpError`], which names the group and the test.
pub fn answer(prompt: &str, targets: &Targets) -> Result<Value, AcvpError> {
    let prompt: Value = serde_json::from_str(prompt).map_err(AcvpError::Json)?;
    // A server sends an array: the version of the protocol, and the vector set.
    match &prompt {
        Value::Array(parts) => match &parts[..] {
            [version @ Value::Object(_), Value::Object(set)] => {
                Ok(json!([version, answer_set(set, targets)?]))
            }
            _ => Err(AcvpError::Shape),
        },
        Value::Object(set) => answer_set(set, targets),
        _ => Err(AcvpError::Shape),
    }
}

fn answer_set(set: &Map<String, Value>, targets: &Targets) -> Result<Value, AcvpError> {
    let head = Fields::new(set, Place::default());
    let algorithm = Algorithm::named(head.text("algorithm")?)?;
    let mut answered: Option<(String, Value)> = None;
    for target in chosen(algorithm, targets)? {
        let groups = answer_groups(Context { algorithm, target }, head)?;
        match &answered {
            Some((first, others)) if *others != groups => {
                let [first, second] = [first.clone(), target.name()];
                return Err(AcvpError::Disagreement { first, second });
            }
            Some(_) => {}
            None => answered = Some((target.name(), groups)),
        }
    }
    let (_, groups) = answered.ok_or_else(|| AcvpError::NoBackend(algorithm.cipher))?;
    // The rest of the head comes back as it is.
    let mut response = set.clone();
    response.insert("testGroups".to_owned(), groups);
    Ok(Value::Object(response))
}

/// The backends that answer.
fn chosen<'a>(algorithm: &Algorithm, targets: &'a Targets) -> Result<Vec<&'a Target>, AcvpError> {
    let of_cipher: Vec<_> = targets.of(algorithm.cipher).collect();
    let default = of_cipher.iter().find(|target| target.backend.id == "default");
    let all = of_cipher.len() == of_cipher.first().map_or(0, |target| target.cipher.backends.len());
    let chosen = match default {
        Some(default) if all => vec![*default],
        _ => of_cipher,
    };
    match chosen.iter().find_map(|target| Some((target, target.unavailable.clone()?))) {
        Some((target, reason)) => Err(AcvpError::Unavailable { backend: target.name(), reason }),
        None => Ok(chosen),
    }
}

fn answer_groups(context: Context<'_>, head: Fields<'_>) -> Result<Value, AcvpError> {
    let answer_group = |group: &Map<String, Value>| {
        let group = Fields::new(group, Place::default()).numbered_group()?;
        let tests = objects(group, "tests")?.into_iter().map(|test| {
            let test = Fields::new(test, group.place).numbered_test()?;
            let mut answer = answer_test(context, group, test)?;
            answer.insert("tcId".to_owned(), test.number("tcId")?.into());
            Ok(Value::Object(answer))
        });
        let tests: Vec<Value> = tests.collect::<Result<_, AcvpError>>()?;
        Ok(json!({ "tgId": group.number("tgId")?, "tests": tests }))
    };
    objects(head, "testGroups")?.into_iter().map(answer_group).collect()
}

/// The results of one test.
fn answer_test(
    context: Context<'_>,
    group: Fields<'_>,
    test: Fields<'_>,
) -> Result<Map<String, Value>, AcvpError> {
    match (group.text("testType")?, context.algorithm.kind) {
        ("AFT", Kind::Sealed(_) | Kind::GcmSiv | Kind::Gmac) => aead::answer(context, group, test),
        ("AFT", Kind::Cmac) => cmac::answer(context, group, test),
        ("AFT", Kind::CtrDrbg) => drbg::answer(context, group, test),
        // `CTR` has counters of the server's choice: what is looked at there is what comes out.
        ("AFT", _) | ("CTR", Kind::Blocks(lanecrypt::Mode::Ctr)) => {
            functional::answer(context, group, test)
        }
        ("MCT", Kind::Blocks(mode)) if monte_carlo::is_defined(mode) => {
            monte_carlo::answer(context, mode, group, test)
        }
        ("MCT", _) => Err(group.refused("testType", "AFT for this algorithm")),
        _ => Err(group.refused("testType", "AFT or MCT")),
    }
}
