//! Sealed files that somebody changed: all of the plaintext comes out, or none of what was changed.

use std::{io, sync::LazyLock};

use arbitrary::{Arbitrary, Unstructured};
use lanecrypt_tink::{
    Cpu, Identity, Keyset, Options, Sealed, Source, Template, Version, open_stream, seal_stream,
};

/// One more than the longest plaintext: three segments of 4 KiB and a part.
const LONGEST: usize = 14_000;

/// Keysets of each kind, drawn once: what they seal differs from run to run, and what is asserted does not.
static KEYSETS: LazyLock<Vec<Keyset>> = LazyLock::new(|| {
    let templates = [Template::Aes128GcmHkdf4Kb, Template::Aes256CtrHmacSha2564Kb];
    templates
        .map(|template| Keyset::generate(template.parameters()).expect("random numbers"))
        .into()
});

/// A change of a sealed file.
#[derive(Arbitrary, Debug)]
enum Change {
    Flip {
        at: u16,
        bits: u8,
    },
    CutTo(u16),
    Append(u8),
    /// A range of this many bytes takes another one's place.
    Copy {
        from: u16,
        to: u16,
        bytes: u16,
    },
}

/// Memory as a source.
struct Memory(Vec<u8>);

impl Source for Memory {
    fn identity(&self) -> io::Result<Identity> {
        Ok(Identity { size: self.0.len() as u64, version: Version::Object("1".to_owned()) })
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset as usize + buffer.len();
        let range = self.0.get(offset as usize..end);
        buffer.copy_from_slice(range.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// What is unchanged opens to its plaintext; what was changed is refused whole by the stream's end, and what came before
/// is a beginning of the plaintext. Any range that is given out is the plaintext's.
///
/// # Panics
/// Where that does not hold.
pub fn sealed(input: &[u8]) {
    let _ = run(&mut Unstructured::new(input));
}

fn run(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let keyset = input.choose(&KEYSETS)?;
    let length = usize::from(input.arbitrary::<u16>()?) % LONGEST;
    let plaintext: Vec<u8> = (0..length).map(|i| (i * 31 / 7) as u8).collect();
    let runner = Cpu::new(1);
    let options = Options { associated_data: b"fuzz", runner: &runner, ..Options::default() };
    let mut original = Vec::new();
    seal_stream(keyset, &plaintext[..], &mut original, options).expect("memory takes all");
    let mut changed = original.clone();
    let edits: Vec<Change> = input.arbitrary()?;
    edits.iter().take(8).for_each(|change| change.apply(&mut changed));
    let is_changed = changed != original;

    let mut opened = Vec::new();
    let streamed = open_stream(keyset, &changed[..], &mut opened, options);
    assert_eq!(streamed.is_err(), is_changed, "{streamed:?} of {edits:?}");
    assert!(plaintext.starts_with(&opened), "plaintext that was never sealed");
    assert!(is_changed || opened == plaintext);

    let Ok(sealed) = Sealed::open(Memory(changed), keyset, b"fuzz") else {
        assert!(is_changed, "it was not changed");
        return Ok(());
    };
    assert_eq!(sealed.plaintext_bytes(), length as u64, "another length than was sealed");
    let start = usize::from(input.arbitrary::<u16>()?) % (length + 1);
    let mut range = vec![0; (length - start).min(5000)];
    match sealed.read_exact_at(&mut range, start as u64) {
        Ok(()) => assert_eq!(range, plaintext[start..][..range.len()]),
        Err(_) => assert!(is_changed, "it was not changed"),
    }
    Ok(())
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len().max(1);
        match *self {
            Self::Flip { at, bits } => {
                bytes.get_mut(usize::from(at) % length).into_iter().for_each(|byte| *byte ^= bits);
            }
            Self::CutTo(to) => bytes.truncate(usize::from(to) % length),
            Self::Append(count) => bytes.extend((0..count).map(|i| i.wrapping_mul(7))),
            Self::Copy { from, to, bytes: count } => {
                let (from, to) = (usize::from(from) % length, usize::from(to) % length);
                let count = usize::from(count).min(bytes.len() - from.max(to).min(bytes.len()));
                bytes.copy_within(from..from + count, to);
            }
        }
    }
}
