//! What of a function's arguments is public: pointers and lengths, and of keys, how many there are.
//!
//! A region runs one body. A body that it gets by a pointer is a structure of pointers, lengths, a
//! direction and a counter, all of which are public; what they point to, blocks and keys, is secret.
//! A body of two words comes in registers, so that no argument points to a body. Which of the two it is
//! was decided by the compiler; where it took a body apart into more registers, the body read through
//! a pointer would be keys or blocks, so fewer than [`FEWEST_WORDS`] words read of a body are an error.
//!
//! A body over data (`BodyOver`) comes in registers, and the next argument points to the data: blocks, or a
//! mode's counter or IV with its blocks. Of that structure, too, the words are public.
//!
//! Some words of either point to structures of the same kind, which are only read.

use anyhow::{Context, Result, ensure};

use super::{
    flow::{Analysis, Body, Entry},
    value::{BODY, Value},
};

/// A type of bodies.
struct Kind {
    /// Its name, without parameters.
    name: &'static str,
    /// Bytes of its structure at most; `None` where it comes in registers.
    bytes: Option<i64>,
    /// Words of it that point to public words, which are read alone: where data is, or what is done to it.
    public: &'static [i64],
}

/// A kind of which whatever it points to is secret.
const fn kind(name: &'static str, bytes: i64) -> Kind {
    Kind { name, bytes: Some(bytes), public: &[] }
}

/// A kind that comes in registers.
const fn in_registers(name: &'static str) -> Kind {
    Kind { name, bytes: None, public: &[] }
}

const KINDS: &[Kind] = &[
    kind("lanecrypt_slicing::batch::Ecb", 40),
    kind(CTR, 80),
    kind("lanecrypt_slicing::short::InLanes", 40),
    in_registers("lanecrypt_slicing::form::MakeKeys"),
    in_registers("lanecrypt_slicing::aes::With"),
    in_registers("lanecrypt_slicing::fastest::WithLanes"),
    in_registers("lanecrypt_slicing::ghash::MakePowers"),
    kind("lanecrypt_slicing::ghash::Absorb", 32),
    kind("lanecrypt_slicing::ghash::AbsorbFew", 32),
    kind("lanecrypt_slicing::ghash::Polyval", 56),
    kind("lanecrypt_slicing::xts_masks::AddNextMasks", 40),
    kind("lanecrypt_slicing::xts_masks::AddMasks", 32),
    // Where messages are.
    Kind { name: CHAINS, bytes: Some(72), public: &[0] },
    Kind { name: "lanecrypt_aes::chains::KeyedChains", bytes: Some(72), public: &[0] },
    // Where the data is, and what is known of the message.
    Kind { name: "lanecrypt_aes::gcm::Gcm", bytes: Some(32), public: &[0, 8] },
    // Where the data is.
    Kind { name: "lanecrypt_aes::modes::Ctr", bytes: Some(48), public: &[0] },
    Kind { name: "lanecrypt_aes::modes::ChainDecrypt", bytes: Some(40), public: &[0] },
    Kind { name: "lanecrypt_aes::modes::Xts", bytes: Some(40), public: &[0] },
];

const CTR: &str = "lanecrypt_slicing::batch::Ctr";
const CHAINS: &str = "lanecrypt_slicing::chains::InBatches";

/// What bodies are over: with them, a structure that the argument after theirs points to.
const DATA: &[Kind] = &[
    kind("inout::inout_buf::InOutBuf", 24),
    // Where the data is.
    Kind { name: "lanecrypt_core::block_pass::BlockPass", bytes: Some(64), public: &[0] },
    Kind { name: "lanecrypt_core::backend::OneByOne", bytes: Some(32), public: &[0] },
    // With the word that tells whether it was taken, and what fills both up to a counter's alignment.
    kind("lanecrypt_core::backend::ShortCtr", 80),
    kind("lanecrypt_core::backend::ShortCbcDecryption", 40),
];

/// Bodies over data, and the registers that they come in.
const OVER_DATA: &[(&str, usize)] = &[
    ("lanecrypt_aes::whole::Encrypts", 1),
    ("lanecrypt_aes::whole::Decrypts", 1),
    // For which direction, too.
    ("lanecrypt_aes::whole::Short", 2),
];

/// The compiler takes a structure apart where a function reads no more than two words of it.
const FEWEST_WORDS: usize = 3;

/// Where `Ecb`, where `Ctr` and where chains have their pointer to keys.
const KEYS_IN_ECB: i64 = 0;
const KEYS_IN_CTR: i64 = 0x38;
const KEYS_IN_CHAINS: i64 = 0x38;

/// Bytes of keys that are public, behind the keys themselves, by the rounds that read them. Whatever
/// else bodies run takes keys by pointer and length, or has always as many.
const PUBLIC: &[(&str, &[(i64, i64)])] = &[
    // How many, which the length of the key tells, and for which direction.
    ("lanecrypt_aes::sliced::BitRounds", &[(0x1e00, 0x1e08), (0x1e08, 0x1e09)]),
    ("lanecrypt_aes::whole::WholeRounds", &[(0xf0, 0xf8), (0xf8, 0xf9)]),
    // How many, which the length of the key tells.
    ("lanecrypt_camellia::sliced::ByteRounds", &[(0x740, 0x748)]),
    // How many, which the length of the key tells: one for each pass of triple DES.
    ("lanecrypt_des::sliced::BitRounds", &[(0x2600, 0x2608)]),
    // For which direction and which order of bytes.
    ("lanecrypt_hight::sliced::BitRounds", &[(0x220, 0x222)]),
    ("lanecrypt_hight::sliced::ByteRounds", &[(0x220, 0x222)]),
    // How many fours, which the length of the key tells, and for which direction.
    ("lanecrypt_lea::sliced::WordRounds", &[(0x300, 0x308), (0x308, 0x309)]),
];

/// The types that the region of this name is for: what its body is over, if that is anything, and the body.
///
/// # Errors
/// Where its name does not tell.
pub(super) fn types(name: &str) -> Result<(Option<&str>, &str)> {
    let (method, types) =
        name.split_once("::region::<").context("a region without a body: is it v0?")?;
    if !method.ends_with("::run_over") {
        return Ok((None, types));
    }
    let mut depth = 0;
    let comma = types.find(|sign| {
        depth += i32::from(sign == '<') - i32::from(sign == '>');
        depth == 0 && sign == ','
    });
    let (data, body) = types.split_at(comma.context("a region over data without a body")?);
    // What is taken from where it is, as is a mode.
    let data = data.strip_prefix("&mut ").unwrap_or(data);
    let data = data.strip_prefix("core::option::Option<").unwrap_or(data);
    Ok((Some(data), body.trim_start_matches([',', ' '])))
}

/// Whether a type has this name, whatever its parameters.
fn has_name(of_type: &str, name: &str) -> bool {
    of_type.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['<', '>']))
}

/// What the region of this name is given.
///
/// # Errors
/// Where its body, or what that is over, is not known.
pub(super) fn entry(name: &str) -> Result<Entry<'static>> {
    let (data, body) = types(name)?;
    let (structure, kinds) = data.map_or((body, KINDS), |data| (data, DATA));
    let kind = kinds.iter().find(|kind| has_name(structure, kind.name));
    let kind = kind.with_context(|| format!("{structure} is no body that is known"))?;
    let registers = if data.is_some() {
        let over = OVER_DATA.iter().find(|(name, _)| has_name(body, name));
        over.with_context(|| format!("{body} is no body over data that is known"))?.1
    } else {
        0
    };
    let mut arguments = [Value::Public; 6];
    let Some(bytes) = kind.bytes else {
        return Ok(Entry { arguments, body: None });
    };
    arguments[registers] = Value::Frame(Some(BODY));
    let public = PUBLIC.iter().find(|(rounds, _)| body.contains(&format!("<{rounds}>")));
    let public_keys = public.map_or(&[][..], |(_, ranges)| ranges);
    let keys = match kind.name {
        CTR => KEYS_IN_CTR,
        CHAINS => KEYS_IN_CHAINS,
        _ => KEYS_IN_ECB,
    };
    let public = kind.public;
    Ok(Entry { arguments, body: Some(Body { bytes, keys, public_keys, public }) })
}

/// Checks that every body that is known here is run by a region of the program: a name that changed would
/// leave a line that says nothing.
///
/// # Errors
/// Naming one that is not.
pub(super) fn require_run(regions: &[&str]) -> Result<()> {
    let kinds = KINDS.iter().chain(DATA).map(|kind| kind.name);
    for name in kinds.chain(OVER_DATA.iter().map(|(name, _)| *name)) {
        let is_run = |region: &&str| {
            types(region).is_ok_and(|(data, body)| {
                data.into_iter().chain([body]).any(|of_type| has_name(of_type, name))
            })
        };
        ensure!(regions.iter().any(is_run), "no region runs {name}");
    }
    Ok(())
}

/// Checks that what was taken for public is what a region reads.
///
/// # Errors
/// Where it cannot be.
pub(super) fn require_read(entry: &Entry<'_>, analysis: &Analysis) -> Result<()> {
    let Some(body) = entry.body else {
        return Ok(());
    };
    let words = analysis.job_reads.len();
    ensure!(words >= FEWEST_WORDS, "it reads {words} words of its body: was that taken apart?");
    for (start, _) in body.public_keys {
        ensure!(
            analysis.public_reads.contains(start),
            "nothing public is at byte {start} of its keys"
        );
    }
    Ok(())
}
