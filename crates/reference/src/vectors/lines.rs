//! The three kinds of lines, and how each is made from its fields.

use super::{
    Expectation, Header,
    error::{Problem, excerpt},
    fields::{Fields, invalid},
};
use std::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// Which way the cipher runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From plaintext to ciphertext: `dir=e`.
    Encrypt,
    /// From ciphertext to plaintext: `dir=d`.
    Decrypt,
}

/// What must come of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Both directions succeed and give the other text.
    Success,
    /// Decryption fails and gives out no plaintext.
    Rejection,
}

/// One line of a vector file: a plaintext and its ciphertext, true in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// The vector's name, unique in its file.
    pub id: String,
    /// The mode as the file writes it: the line's own, or else the header's.
    pub mode: String,
    /// What must come of it.
    pub outcome: Outcome,
    /// The cipher key; for `xts` the data key and then the tweak key.
    pub key: Vec<u8>,
    /// The IV, first counter block or tweak; `None` in `ecb`.
    pub iv: Option<Vec<u8>>,
    /// The associated data of an authenticated mode.
    pub aad: Option<Vec<u8>>,
    /// The tag of an authenticated mode.
    pub tag: Option<Vec<u8>>,
    /// The plaintext; `None` when decryption must fail.
    pub pt: Option<Vec<u8>>,
    /// The ciphertext, without the tag.
    pub ct: Vec<u8>,
    /// The direction that the source published, if the file says so.
    pub direction: Option<Direction>,
    /// The marks of the line, such as `weak` or `wrap2e64`.
    pub notes: Vec<String>,
    /// The line in the file, counted from 1.
    pub line: usize,
}

/// One line of a Monte Carlo file: one step of a chain. Each line stands alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonteCarlo {
    /// The line's name, unique in its file.
    pub id: String,
    /// The mode as the file writes it.
    pub mode: String,
    /// Which operation is repeated.
    pub direction: Direction,
    /// How many operations the step has: 1 or more.
    pub inner: u32,
    /// The step's number in its chain, from 0.
    pub step: u32,
    /// The cipher key of this step.
    pub key: Vec<u8>,
    /// The IV of this step; `None` in `ecb`.
    pub iv: Option<Vec<u8>>,
    /// The first input block: `in`.
    pub input: Vec<u8>,
    /// The last output block: `out`.
    pub output: Vec<u8>,
    /// The output block before the last: `prev`.
    pub previous: Vec<u8>,
    /// The line in the file, counted from 1.
    pub line: usize,
}

/// One line of a file of long messages: the plaintext is generated, the result is a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigMessage {
    /// The message's name, unique in its file.
    pub id: String,
    /// The mode as the file writes it.
    pub mode: String,
    /// `xts`: the length of a data unit in bytes, 1 or more; `None` if the message is one unit.
    pub unit: Option<u64>,
    /// The cipher key; for `xts` the data key and then the tweak key.
    pub key: Vec<u8>,
    /// The IV, first counter block or first tweak; `None` in `ecb`.
    pub iv: Option<Vec<u8>>,
    /// The seed of the plaintext: see [`PlaintextStream`](crate::plaintext::PlaintextStream).
    pub seed: u64,
    /// The length of the plaintext and of the ciphertext in bytes.
    pub len: u64,
    /// The SHA-256 digest of the ciphertext without the tag.
    pub sha256: [u8; 32],
    /// The tag of an authenticated mode.
    pub tag: Option<Vec<u8>>,
    /// The marks of the line.
    pub notes: Vec<String>,
    /// The line in the file, counted from 1.
    pub line: usize,
}

/// A kind of line.
pub(super) trait Line: Sized {
    /// The names of the fields that such a line can have.
    const FIELDS: &'static [&'static str];

    fn from_fields(fields: &Fields<'_>, header: &Header, line: usize) -> Result<Self, Problem>;

    fn id(&self) -> &str;
}

impl Line for Vector {
    const FIELDS: &'static [&'static str] =
        &["id", "mode", "expect", "key", "iv", "aad", "tag", "pt", "ct", "dir", "note"];

    fn from_fields(fields: &Fields<'_>, header: &Header, line: usize) -> Result<Self, Problem> {
        let mode = match header.mode.as_deref() {
            Some(mode) if fields.optional("mode").is_none() => mode.to_string(),
            _ => fields.lower_case_name("mode")?.to_string(),
        };
        check_mode_fields(fields, &mode, &["iv", "aad", "tag"])?;
        let outcome = outcome(fields, header)?;
        let pt = match outcome {
            Outcome::Success => Some(fields.bytes("pt")?),
            Outcome::Rejection => None,
        };
        let ct = fields.bytes("ct")?;
        if let Some(pt) = &pt
            && fields_of_mode(&mode).is_some()
        {
            check_lengths(("ct", &ct), ("pt", pt))?;
        }
        Ok(Self {
            id: fields.name("id")?.to_string(),
            mode,
            outcome,
            key: key(fields)?,
            iv: fields.optional_bytes("iv")?,
            aad: fields.optional_bytes("aad")?,
            tag: fields.optional_bytes("tag")?,
            pt,
            ct,
            direction: fields.optional("dir").map(direction).transpose()?,
            notes: fields.notes(),
            line,
        })
    }

    fn id(&self) -> &str {
        &self.id
    }
}

impl Line for MonteCarlo {
    const FIELDS: &'static [&'static str] =
        &["id", "mode", "dir", "inner", "step", "key", "iv", "in", "out", "prev"];

    fn from_fields(fields: &Fields<'_>, _: &Header, line: usize) -> Result<Self, Problem> {
        let chain = Self {
            id: fields.name("id")?.to_string(),
            mode: fields.lower_case_name("mode")?.to_string(),
            direction: direction(fields.required("dir")?)?,
            inner: fields.number("inner")?,
            step: fields.number("step")?,
            key: key(fields)?,
            iv: fields.optional_bytes("iv")?,
            input: fields.bytes("in")?,
            output: fields.bytes("out")?,
            previous: fields.bytes("prev")?,
            line,
        };
        check_mode_fields(fields, &chain.mode, &["iv"])?;
        if chain.inner == 0 {
            return Err(invalid("inner", "0", "1 or more"));
        }
        let input = ("in", &chain.input[..]);
        check_lengths(("out", &chain.output), input)?;
        check_lengths(("prev", &chain.previous), input)?;
        if let Some(iv) = &chain.iv
            && fields_of_mode(&chain.mode).is_some()
        {
            check_lengths(("iv", iv), input)?;
        }
        Ok(chain)
    }

    fn id(&self) -> &str {
        &self.id
    }
}

impl Line for BigMessage {
    const FIELDS: &'static [&'static str] =
        &["id", "mode", "unit", "key", "iv", "seed", "len", "sha256", "tag", "note"];

    fn from_fields(fields: &Fields<'_>, _: &Header, line: usize) -> Result<Self, Problem> {
        let mode = fields.lower_case_name("mode")?.to_string();
        check_mode_fields(fields, &mode, &["iv", "tag"])?;
        let unit = match fields.optional("unit") {
            Some("0") => return Err(invalid("unit", "0", "1 or more")),
            Some(_) if mode != "xts" && fields_of_mode(&mode).is_some() => {
                return Err(unexpected("unit", &format!("mode {mode}")));
            }
            Some(_) => Some(fields.number("unit")?),
            None => None,
        };
        Ok(Self {
            id: fields.name("id")?.to_string(),
            mode,
            unit,
            key: key(fields)?,
            iv: fields.optional_bytes("iv")?,
            seed: u64::from_be_bytes(fields.array("seed", "16 hex digits")?),
            len: fields.number("len")?,
            sha256: fields.array("sha256", "64 hex digits")?,
            tag: fields.optional_bytes("tag")?,
            notes: fields.notes(),
            line,
        })
    }

    fn id(&self) -> &str {
        &self.id
    }
}

/// Which of `iv`, `aad` and `tag` a mode has; `None` for a mode that this reader does not know.
fn fields_of_mode(mode: &str) -> Option<&'static [&'static str]> {
    match mode {
        "ecb" => Some(&[]),
        "cbc" | "ctr" | "xts" => Some(&["iv"]),
        "gcm" | "ccm" => Some(&["iv", "aad", "tag"]),
        _ => None,
    }
}

/// Checks that, of the fields `candidates`, a line of a known mode has those of the mode and no
/// other. Lines of unknown modes are left to callers who know the mode.
fn check_mode_fields(
    fields: &Fields<'_>,
    mode: &str,
    candidates: &[&'static str],
) -> Result<(), Problem> {
    let Some(needed) = fields_of_mode(mode) else {
        return Ok(());
    };
    for &field in candidates {
        match (needed.contains(&field), fields.optional(field)) {
            (true, None) => return Err(Problem::MissingField { field }),
            (false, Some(_)) => return Err(unexpected(field, &format!("mode {mode}"))),
            _ => {}
        }
    }
    Ok(())
}

/// What must come of a vector: the header says it, or leaves it to each line. There `expect=ok` or
/// `expect=reject` says it, and without that field the absence of the plaintext.
fn outcome(fields: &Fields<'_>, header: &Header) -> Result<Outcome, Problem> {
    let on_line = fields.optional("expect");
    let outcome = match (header.expectation, on_line) {
        (Some(Expectation::Every(outcome)), None) => outcome,
        (Some(Expectation::Every(_)), Some(_)) => {
            return Err(unexpected("expect", "a file without expect=per-line"));
        }
        (_, Some("ok")) => Outcome::Success,
        (_, Some("reject")) => Outcome::Rejection,
        (_, Some(given)) => return Err(invalid("expect", given, "ok or reject")),
        (_, None) if fields.optional("pt").is_none() => Outcome::Rejection,
        (_, None) => Outcome::Success,
    };
    if outcome == Outcome::Rejection && fields.optional("pt").is_some() {
        return Err(unexpected("pt", "a vector that must be rejected"));
    }
    Ok(outcome)
}

fn key(fields: &Fields<'_>) -> Result<Vec<u8>, Problem> {
    fields.name("key")?;
    fields.bytes("key")
}

fn direction(given: &str) -> Result<Direction, Problem> {
    match given {
        "e" => Ok(Direction::Encrypt),
        "d" => Ok(Direction::Decrypt),
        _ => Err(invalid("dir", given, "e or d")),
    }
}

fn check_lengths(
    (field, bytes): (&'static str, &[u8]),
    (other, other_bytes): (&'static str, &[u8]),
) -> Result<(), Problem> {
    let (given, accepted) = (bytes.len(), other_bytes.len());
    if given == accepted { Ok(()) } else { Err(Problem::Lengths { field, given, other, accepted }) }
}

fn unexpected(field: &'static str, context: &str) -> Problem {
    Problem::UnexpectedField { field, context: excerpt(context) }
}
