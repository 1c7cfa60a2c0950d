//! A GPU as a runner of segments, against the CPU.

use std::fs;

use lanecrypt::cuda::Device;
use lanecrypt_tink::{
    Cpu, Cuda, Error, Header, Options, Segment, SegmentCipher, SegmentRunner, StreamingKey,
    open_file, seal_file,
};

use super::{Case, DATA, Tried, hmac, options, require, small, text};

/// Segments and their tags, from [`FIRST`] on; the last one ends the file.
type Segments = Vec<(Vec<u8>, Vec<u8>)>;

const FIRST: u32 = 5;

/// What runners take.
fn batch(segments: &mut Segments) -> Vec<Segment<'_>> {
    let last = FIRST + segments.len() as u32 - 1;
    let numbered = (FIRST..).zip(segments);
    numbered
        .map(|(number, (text, tag))| Segment { number, is_last: number == last, text, tag })
        .collect()
}

/// As a runner, the device seals and opens what the CPU does, and names the first segment that was changed.
pub(crate) fn of_segments(device: &Device) -> Tried {
    let (cuda, cpu) = (Cuda::new(device)?, Cpu::default());
    require(cuda.batch_bytes() > 4 * cpu.batch_bytes(), "a device takes many segments at once")?;
    for parameters in [small()?, hmac()?] {
        let key = StreamingKey::generate(parameters)?;
        let cipher = SegmentCipher::new(&key, Header::random(&parameters)?, DATA)?;
        let layout = cipher.layout();
        let full = layout.segment_bytes() - layout.tag_bytes();
        let segment = |bytes| (text(bytes), vec![0; layout.tag_bytes() as usize]);
        let plain: Segments = [full, full, full, full, 7].map(segment).into();
        let (mut sealed, mut expected) = (plain.clone(), plain.clone());
        cuda.seal_batch(&cipher, &mut batch(&mut sealed))?;
        cpu.seal_batch(&cipher, &mut batch(&mut expected))?;
        require(sealed == expected, "sealed")?;
        for changed in 0..sealed.len() {
            let mut opened = sealed.clone();
            opened[changed].0[0] ^= 1;
            opened[4].1[0] ^= 1;
            let error = cuda.open_batch(&cipher, &mut batch(&mut opened)).err();
            let named = u64::from(FIRST) + changed as u64;
            let is_it = matches!(error, Some(Error::NotAuthentic { segment }) if segment == named);
            require(is_it, format!("segment {named}: {error:?}"))?;
            let is_opened = opened[changed].0[1..] == plain[changed].0[1..];
            require(!is_opened, format!("segment {named} is given out"))?;
        }
        let mut short = sealed.clone();
        short[2].0.pop();
        for refused in [
            cuda.seal_batch(&cipher, &mut batch(&mut short)),
            cuda.open_batch(&cipher, &mut batch(&mut short)),
        ] {
            let is_it = matches!(refused, Err(Error::SegmentLength { segment: 7, .. }));
            require(is_it, format!("a short segment: {refused:?}"))?;
        }
        cuda.open_batch(&cipher, &mut batch(&mut sealed))?;
        let texts =
            |segments: Segments| segments.into_iter().map(|(text, _)| text).collect::<Vec<_>>();
        require(texts(sealed) == texts(plain), "opened")?;
        files_by_a_runner(&cuda, &Case::new(parameters, 3000)?)?;
    }
    Ok(())
}

/// The runner opens what the CPU sealed, and the CPU what the runner did.
fn files_by_a_runner(cuda: &Cuda, case: &Case) -> Tried {
    let by_runner = Options { runner: cuda, ..options() };
    let [plain, sealed, opened] = ["plain", "sealed", "opened"].map(|name| case.path(name));
    open_file(&case.keyset, &sealed, &opened, by_runner)?;
    require(fs::read(&opened)? == case.text, "a file is opened")?;
    seal_file(&case.keyset, &plain, &sealed, by_runner)?;
    open_file(&case.keyset, &sealed, &opened, options())?;
    require(fs::read(&opened)? == case.text, "a file is sealed")
}
