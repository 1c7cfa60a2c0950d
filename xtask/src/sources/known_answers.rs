//! The known answers of self-tests, as Rust: lines of `vectors/`, and what follows from them by definition.

use std::{cmp::Reverse, collections::BTreeMap, fmt::Write as _, fs};

use anyhow::{Context, Result, ensure};
use lanecrypt_reference::vectors::{Lines, Outcome, Vector, VectorFile};

use crate::{command::root, packages::title};

/// The file that is made.
const PATH: &str = "crates/lanecrypt/src/self_test/answers.rs";

/// A key of DES under which encrypting twice is no encryption: all halves of its key schedule are equal.
const WEAK_KEY: [u8; 8] = [1; 8];

/// The best lines by cipher, in the order of keys and modes.
type Answers = BTreeMap<String, BTreeMap<(usize, &'static str), Answer>>;

#[derive(Clone, Default)]
struct Answer {
    key: Vec<u8>,
    iv: Vec<u8>,
    aad: Vec<u8>,
    plaintext: Vec<u8>,
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
}

/// The file and its text.
pub(crate) fn file() -> Result<(String, String)> {
    let mut vectors: BTreeMap<String, Vec<Vector>> = BTreeMap::new();
    for entry in fs::read_dir(root().join("vectors"))? {
        let path = entry?.path();
        let is_vectors = path.extension().is_some_and(|extension| extension == "txt");
        if !is_vectors {
            continue;
        }
        let file = VectorFile::read(&path)?;
        if let Lines::Vectors(lines) = file.lines {
            vectors.entry(file.header.cipher).or_default().extend(lines);
        }
    }
    let mut answers: Answers =
        vectors.iter().map(|(cipher, lines)| (cipher.clone(), best_of_each(lines))).collect();
    let of_des = vectors.get("des").context("no vectors of DES")?;
    answers.insert("tdes-eee".to_owned(), three_encryptions(of_des)?);
    answers.values_mut().try_for_each(add_feedback)?;
    Ok((PATH.to_owned(), source(&answers)))
}

/// The line of each key length and mode that shows most: without marks, more than a block and a rest, a whole tag,
/// associated data; of these the shortest.
fn best_of_each(lines: &[Vector]) -> BTreeMap<(usize, &'static str), Answer> {
    let mut best: BTreeMap<_, &Vector> = BTreeMap::new();
    let rank = |line: &Vector| {
        let bytes = |field: &Option<Vec<u8>>| field.as_ref().map_or(0, Vec::len);
        (
            !line.notes.is_empty(),
            line.ct.len() <= 16,
            Reverse(bytes(&line.tag)),
            bytes(&line.aad) == 0,
            line.ct.len(),
            line.ct.len().is_multiple_of(16),
            line.id.clone(),
        )
    };
    for line in lines {
        let Some(mode) = mode(&line.mode) else { continue };
        if line.outcome != Outcome::Success || line.pt.is_none() {
            continue;
        }
        let place = best.entry((line.key.len(), mode)).or_insert(line);
        if rank(line) < rank(place) {
            *place = line;
        }
    }
    best.into_iter().map(|(place, line)| (place, Answer::of(line))).collect()
}

/// A mode's name in Rust.
fn mode(name: &str) -> Option<&'static str> {
    ["Ecb", "Cbc", "Ctr", "Xts", "Gcm", "Ccm"].into_iter().find(|mode| *mode == title(name))
}

impl Answer {
    fn of(line: &Vector) -> Self {
        let bytes = |field: &Option<Vec<u8>>| field.clone().unwrap_or_default();
        Self {
            key: line.key.clone(),
            iv: bytes(&line.iv),
            aad: bytes(&line.aad),
            plaintext: bytes(&line.pt),
            ciphertext: line.ct.clone(),
            tag: bytes(&line.tag),
        }
    }
}

/// Triple encryption, of which nobody has published answers: under a weak key of DES, two of the three cancel out, and
/// what is left is DES under the third. Of two keys, the first is also the third, so that both are the weak one.
fn three_encryptions(of_des: &[Vector]) -> Result<BTreeMap<(usize, &'static str), Answer>> {
    let weak = of_des.iter().find(|line| line.mode == "ecb" && line.key == WEAK_KEY);
    let weak = weak.context("no vector of DES under its weak key")?;
    let mut made = BTreeMap::new();
    for (place, mut answer) in best_of_each(of_des) {
        answer.key = [&WEAK_KEY[..], &WEAK_KEY, &answer.key].concat();
        made.insert((answer.key.len(), place.1), answer);
    }
    let mut answer = Answer::of(weak);
    answer.key = [WEAK_KEY; 2].concat();
    made.insert((answer.key.len(), "Ecb"), answer);
    Ok(made)
}

/// CFB and OFB of an answer of ECB: where blocks `p` encrypt to blocks `c`, CFB of the IV `p[0]` has the key stream
/// `c[0], c[1]` if its ciphertext begins with `p[1]`; that of OFB begins with `c[0]`.
fn add_feedback(answers: &mut BTreeMap<(usize, &'static str), Answer>) -> Result<()> {
    let of_ecb: Vec<_> = answers.iter().filter(|((_, mode), _)| *mode == "Ecb").collect();
    let of_cbc = answers.iter().find(|((_, mode), _)| *mode == "Cbc");
    let block = of_cbc.context("no answer of CBC")?.1.iv.len();
    let mut made = Vec::new();
    for (&(key_bytes, _), ecb) in of_ecb {
        ensure!(ecb.plaintext.len() >= block, "an answer of ECB without a block");
        let (first, rest) = ecb.plaintext.split_at(block);
        let second = rest.get(..block).unwrap_or_default();
        let mut ciphertext = [second, &vec![0; block][..]].concat();
        ciphertext.truncate(ecb.ciphertext.len().min(2 * block));
        let stream = ecb.ciphertext.iter();
        let plaintext = ciphertext.iter().zip(stream).map(|(c, s)| c ^ s).collect();
        let (key, iv) = (ecb.key.clone(), first.to_vec());
        let cfb = Answer { key, iv, plaintext, ciphertext, ..Answer::default() };
        let ofb = Answer {
            plaintext: vec![0; block],
            ciphertext: ecb.ciphertext[..block].to_vec(),
            ..cfb.clone()
        };
        made.extend([((key_bytes, "Cfb"), cfb), ((key_bytes, "Ofb"), ofb)]);
    }
    answers.extend(made);
    Ok(())
}

fn source(answers: &Answers) -> String {
    let mut text =
        "//! Known answers by cipher, from `vectors/`. Written by `cargo xtask codegen`.\n\n\
        use lanecrypt_core::Mode;\n\nuse super::KnownAnswer;\n\n\
        pub(super) static ANSWERS: &[(&str, &[KnownAnswer])] = &[\n"
            .to_owned();
    for (cipher, answers) in answers {
        let _ = writeln!(text, "    ({cipher:?}, &[");
        for ((_, mode), answer) in answers {
            let Answer { key, iv, aad, plaintext, ciphertext, tag } = answer;
            let fields = [
                ("key", key),
                ("iv", iv),
                ("aad", aad),
                ("plaintext", plaintext),
                ("ciphertext", ciphertext),
                ("tag", tag),
            ];
            let fields: Vec<_> = fields
                .iter()
                .map(|(name, bytes)| format!("{name}: b\"{}\"", escaped(bytes)))
                .collect();
            let _ = writeln!(
                text,
                "        KnownAnswer {{ mode: Mode::{mode}, {} }},",
                fields.join(", ")
            );
        }
        text.push_str("    ]),\n");
    }
    text.push_str("];\n");
    text
}

fn escaped(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "\\x{byte:02x}");
        text
    })
}
