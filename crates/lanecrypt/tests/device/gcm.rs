//! GHASH and GCM on a device, against the plain mode and the vectors.

use std::{ops::Range, path::Path};

use lanecrypt::{
    CIPHERS, Gcm, aes,
    cipher::{InOutBuf, KeyInit},
    cuda::{
        CipherKernels, Device, DeviceBuffer, Error, Family, GcmEngine, GhashEngine, HashFamily,
        Stream,
    },
    des,
    registry::CipherDescription,
};
use lanecrypt_reference::{
    modes::{gcm_encrypt, ghash},
    vectors::{Lines, Outcome as Expected, Vector, VectorFile},
};
use libtest_mimic::Failed;

use crate::{
    Case, Platform,
    common::{EngineBlocks, Outcome, noise},
    compare, widest_on_the_cpu,
};

/// A family of every cipher with blocks of 16 bytes, one that is emulated quickly where there is a choice; and one that
/// encrypts in one launch.
fn families() -> impl Iterator<Item = &'static Family> {
    let of_ciphers =
        CIPHERS.iter().filter(|cipher| cipher.block_bytes == 16).filter_map(|cipher| {
            let shared = cipher.backend("cuda-table-shared").and_then(Family::of);
            shared.or_else(|| Some(CipherKernels::of(cipher)?.constant_time))
        });
    of_ciphers.chain([&aes::cuda::CONFLICT_FREE])
}

/// Bytes of IV, associated data, data and tag.
const MESSAGES: [(usize, usize, usize, usize); 14] = [
    (12, 0, 0, 16),
    (12, 20, 60, 12),
    (12, 64, 64, 16),
    (65, 65, 64, 16),
    (1, 1, 1, 4),
    (16, 16, 16, 8),
    (60, 1000, 17, 13),
    (12, 0, 15, 16),
    (12, 80, 33, 5),
    (12, 79, 1000, 15),
    (13, 2000, 16 * 100 + 7, 16),
    (12, 16, 16 * 512, 16),
    (12, 3, 16 * 1537 - 1, 14),
    (128, 16 * 600 + 9, 16 * 3200 + 9, 16),
];

/// The hash families that the case's device can run.
pub(crate) fn hash_families(device: &Device) -> Vec<HashFamily> {
    HashFamily::ALL.into_iter().filter(|family| family.fits(device.properties())).collect()
}

/// The hash of strings of lengths around every boundary, under random and special keys.
pub(crate) fn hashes(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let mut random = [0; 16];
    random.copy_from_slice(&noise(16, 5));
    let keys = [u128::from_be_bytes(random), 0, 1, 1 << 127, u128::MAX];
    for family in hash_families(&device) {
        for (i, key) in keys.into_iter().enumerate() {
            let engine = GhashEngine::new(&device, family, &key.to_be_bytes())?;
            let all = lengths(engine.long_blocks());
            // All of them under the first key, a few under the others.
            for length in all.iter().copied().step_by(if i == 0 { 1 } else { 7 }) {
                hash_of(&device, &engine, key, (i * 5, length))?;
            }
            hash_of(&device, &engine, key, (1000, 1000))?;
            engine.limit_chunk(48);
            hash_of(&device, &engine, key, (1000, 3))?;
        }
        let long = GhashEngine::new(&device, family, &random)?.long_blocks();
        let longest = MESSAGES.map(|(_, _, bytes, _)| bytes / 16).into_iter().max();
        if case.platform == Platform::CudaOnHost && longest < Some(long) {
            return Err(format!("{family:?}: no message here is a long one").into());
        }
    }
    Ok(())
}

/// Bytes around blocks, warps, thread blocks, and what a grid takes at once and in several passes.
fn lengths(long: usize) -> Vec<usize> {
    let few = [0, 1, 15, 16, 17, 31, 64, 79, 80, 81, 95, 96];
    let blocks = [31, 32, 33, 127, 128, 251, 252, 253, 255, 256, 257, 511, 512, 513];
    let grids = [long - 1, long, long + 1, long + 128, long + 255, long + 256, long + 257];
    // The last one is three units and more for every warpgroup, where a multiprocessor has four.
    let more = [2 * long - 1, 2 * long, 2 * long + 1, 3 * long + 5, 5 * long + 300, 14 * long + 77];
    let blocks = blocks.into_iter().chain(grids).chain(more);
    few.into_iter().chain(blocks.flat_map(|count| [16 * count, 16 * count + count % 16])).collect()
}

fn hash_of(
    device: &Device,
    engine: &GhashEngine,
    key: u128,
    (aad, length): (usize, usize),
) -> Outcome {
    let (start, after) = (32, 40);
    let aad = noise(aad, 3);
    // What is around the data is not zero, and not to be hashed.
    let data = noise(start + length + after, length as u64);
    let range = start..start + length;
    let buffer = DeviceBuffer::from_host(device, &data)?;
    let found = engine.hash(&aad, &buffer.slice(range.clone())?)?;
    if u128::from_be_bytes(found) == ghash(key, &aad, &data[range]) {
        return Ok(());
    }
    let family = engine.family();
    Err(format!("{family:?}, key {key:x}: {} and {length} bytes", aad.len()).into())
}

/// The fastest CPU engine, as the plain modes take it.
fn on_cpu(cipher: &CipherDescription, key: &[u8]) -> Result<EngineBlocks, Failed> {
    let create = widest_on_the_cpu(cipher)?.create;
    create(key).map(EngineBlocks).map_err(|error| error.to_string().into())
}

/// A message, and what the plain mode makes of it.
struct Message {
    iv: Vec<u8>,
    aad: Vec<u8>,
    plain: Vec<u8>,
    sealed: Vec<u8>,
    tag: Vec<u8>,
}

impl Message {
    fn new(
        cipher: &EngineBlocks,
        (iv, aad, length, tag): (usize, usize, usize, usize),
    ) -> Result<Self, Failed> {
        let (iv, aad, plain) = (noise(iv, 1), noise(aad, 2), noise(length, 3));
        let mut sealed = plain.clone();
        let whole = gcm_encrypt(cipher, &iv, &aad, &mut sealed)?;
        Ok(Self { iv, aad, plain, sealed, tag: whole[..tag].to_vec() })
    }
}

/// Every cipher, key size and hash, in every way to pass a message.
pub(crate) fn messages(case: &Case) -> Outcome {
    let device = (case.open)()?;
    for family in families() {
        let name = family.cipher().name;
        for &key_bytes in family.cipher().key_bytes {
            let key = noise(key_bytes, 77);
            let cipher = on_cpu(family.cipher(), &key)?;
            for (i, hash) in hash_families(&device).into_iter().enumerate() {
                // All of them under the shortest key, short ones under the others. On the host build, which is slow, long
                // ones of one family with every hash, and of others with one but for the two longest, whose hash is the
                // same; longer keys, of which no hash knows, with one hash.
                let on_host = case.platform == Platform::CudaOnHost;
                let has_all = !on_host || std::ptr::eq(family, &raw const aes::cuda::TABLE_SHARED);
                let count = match (key_bytes, i) {
                    (17.., 1..) if on_host => continue,
                    (17.., _) => 7,
                    _ if has_all => MESSAGES.len(),
                    (_, 0) => MESSAGES.len() - 2,
                    _ => 7,
                };
                let engine = family.gcm_engine_with(&device, hash, &key)?;
                for &lengths in &MESSAGES[..count] {
                    let summary = family.summary();
                    let what = format!(
                        "{name}, {summary}, key of {key_bytes} bytes, {hash:?}, {lengths:?}"
                    );
                    let message = Message::new(&cipher, lengths)?;
                    resident(&device, &engine, &message, &what)?;
                    in_host_memory(&engine, &message, &what)?;
                }
            }
        }
    }
    Ok(())
}

/// On the device, apart and in place; the bytes around the data stay.
fn resident(device: &Device, engine: &GcmEngine, message: &Message, what: &str) -> Outcome {
    let Message { iv, aad, plain, sealed, tag } = message;
    let framed = |data: &[u8]| [&noise(32, 8), data, &noise(24, 9)].concat();
    let range = 32..32 + plain.len();
    let (plain, sealed) = (framed(plain), framed(sealed));
    let blank = framed(&noise(range.len(), 10));

    let input = DeviceBuffer::from_host(device, &plain)?;
    let mut output = DeviceBuffer::from_host(device, &blank)?;
    let mut found = vec![0; tag.len()];
    let mut to = output.slice_mut(range.clone())?;
    engine.encrypt(iv, aad, (&input.slice(range.clone())?, &mut to), &mut found)?;
    compare(&output, &sealed, &format!("{what}, encryption"))?;
    compare(&input, &plain, &format!("{what}, the input of encryption"))?;
    assert_eq!(&found, tag, "{what}");

    let input = output;
    let mut output = DeviceBuffer::from_host(device, &blank)?;
    let mut to = output.slice_mut(range.clone())?;
    engine.decrypt(iv, aad, (&input.slice(range.clone())?, &mut to), tag)?;
    compare(&output, &plain, &format!("{what}, decryption"))?;

    let mut data = output;
    found.fill(0);
    engine.encrypt(iv, aad, &mut data.slice_mut(range.clone())?, &mut found)?;
    compare(&data, &sealed, &format!("{what}, encryption in place"))?;
    assert_eq!(&found, tag, "{what}, in place");
    engine.decrypt(iv, aad, &mut data.slice_mut(range.clone())?, tag)?;
    compare(&data, &plain, &format!("{what}, decryption in place"))?;
    queued(device, engine, message, (&mut data, range), what)
}

/// On a stream in place, the tag to the middle of memory that stays as it is around it.
fn queued(
    device: &Device,
    engine: &GcmEngine,
    Message { iv, aad, sealed, tag, plain }: &Message,
    (data, range): (&mut DeviceBuffer, Range<usize>),
    what: &str,
) -> Outcome {
    let stream = Stream::new(device)?;
    let mut tags = DeviceBuffer::from_host(device, &[0x5a; 40])?;
    let mut at = tags.slice_mut(9..9 + tag.len())?;
    let mut slice = data.slice_mut(range.clone())?;
    engine.queue_encrypt(&stream, iv, aad, &mut slice, &mut at)?.wait()?;
    let made = [&[0x5a; 9], &tag[..], &vec![0x5a; 31 - tag.len()]].concat();
    compare(&tags, &made, &format!("{what}, the tag on a stream"))?;
    let mut found = vec![0; range.len()];
    data.read(range.start, &mut found)?;
    assert!(found == *sealed, "{what}, encryption on a stream");
    let mut slice = data.slice_mut(range.clone())?;
    engine.queue_decrypt(&stream, iv, aad, &mut slice, tag)?.wait()?;
    data.read(range.start, &mut found)?;
    assert!(found == *plain, "{what}, decryption on a stream");
    Ok(())
}

/// In host memory, at once and in parts, apart and in place.
fn in_host_memory(engine: &GcmEngine, message: &Message, what: &str) -> Outcome {
    let Message { iv, aad, plain, sealed, tag } = message;
    for limit in [plain.len().max(16), plain.len() / 3 + 16] {
        engine.limit_chunk(limit);
        let what = format!("{what}, parts of {limit}");
        let (mut output, mut found) = (vec![0; plain.len()], vec![0; tag.len()]);
        let both = InOutBuf::new(plain, &mut output).expect("equal lengths");
        engine.encrypt_host_memory(iv, aad, both, &mut found)?;
        assert!(output == *sealed && found == *tag, "{what}, encryption");
        engine.decrypt_host_memory(iv, aad, output.as_mut_slice().into(), tag)?;
        assert!(output == *plain, "{what}, decryption in place");
        found.fill(0);
        engine.encrypt_host_memory(iv, aad, output.as_mut_slice().into(), &mut found)?;
        assert!(output == *sealed && found == *tag, "{what}, encryption in place");
        output.fill(0);
        let both = InOutBuf::new(sealed, &mut output).expect("equal lengths");
        engine.decrypt_host_memory(iv, aad, both, tag)?;
        assert!(output == *plain, "{what}, decryption");
    }
    Ok(())
}

/// A message over 4 GiB, whose counter passes 2^28 blocks; the CPU's own GCM says what comes out.
pub(crate) fn large_message(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let length = case.large_bytes + 5;
    let (key, iv, aad) = (noise(32, 1), noise(12, 2), noise(33, 3));
    let plain = noise(length, 4);
    let mut sealed = plain.clone();
    let mut tag = [0; 16];
    let on_cpu = Gcm::<_, (), ()>::of(aes::Aes256::new_from_slice(&key).expect("32 bytes"))?;
    on_cpu.encrypt(&iv, &aad, sealed.as_mut_slice().into(), &mut tag)?;
    let mut data = DeviceBuffer::from_host(&device, &plain)?;
    for hash in hash_families(&device) {
        let engine = aes::cuda::TABLE_SHARED.gcm_engine_with(&device, hash, &key)?;
        let mut found = [0; 16];
        engine.encrypt(&iv, &aad, &mut data.slice_mut(0..length)?, &mut found)?;
        assert_eq!(found, tag, "{hash:?}");
        compare(&data, &sealed, &format!("{hash:?}, encryption"))?;
        engine.decrypt(&iv, &aad, &mut data.slice_mut(0..length)?, &tag)?;
        compare(&data, &plain, &format!("{hash:?}, decryption"))?;
    }
    Ok(())
}

/// Whatever is wrong, the output is as it was.
pub(crate) fn refusals(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let key = noise(16, 77);
    let cipher = on_cpu(&aes::AES, &key)?;
    let message = Message::new(&cipher, (12, 20, 5000, 16))?;
    for hash in hash_families(&device) {
        let engine = aes::cuda::TABLE_SHARED.gcm_engine_with(&device, hash, &key)?;
        let claim = lanecrypt::ConstantTime::LOOKS_UP;
        assert_eq!(engine.constant_time(), claim, "the cipher's, whatever the hash's is");
        for change in 0..4 {
            let Message { mut iv, mut aad, mut sealed, mut tag, .. } =
                Message::new(&cipher, (12, 20, 5000, 16))?;
            // Every byte of a tag is compared, and every bit of it.
            let bytes = if change == 3 { 0..16 } else { 0..1 };
            for i in bytes {
                let changed = [&mut iv, &mut aad, &mut sealed, &mut tag][change].as_mut_slice();
                changed[i] ^= 1 << (i % 8);
                let what = format!("{hash:?}, change {change} of byte {i}");
                stays(&device, &engine, (&iv, &aad, &sealed, &tag), &what, |error| {
                    matches!(error, lanecrypt::Error::NotAuthentic)
                })?;
                let changed = [&mut iv, &mut aad, &mut sealed, &mut tag][change].as_mut_slice();
                changed[i] ^= 1 << (i % 8);
            }
        }
        let Message { iv, aad, sealed, tag, .. } = &message;
        let is_length = |error: &_| matches!(error, lanecrypt::Error::TagLength { given: 3, .. });
        stays(&device, &engine, (iv, aad, sealed, &tag[..3]), "3 bytes", is_length)?;
        let is_length = |error: &_| matches!(error, lanecrypt::Error::TagLength { given: 17, .. });
        stays(&device, &engine, (iv, aad, sealed, &[0; 17]), "17 bytes", is_length)?;
        let is_empty = |error: &_| matches!(error, lanecrypt::Error::EmptyIv);
        stays(&device, &engine, (&[], aad, sealed, tag), "no IV", is_empty)?;
        let error = des::cuda::tdes::BITSLICE.gcm_engine_with(&device, hash, &key).map(drop);
        let Err(Error::Data(lanecrypt::Error::BlockLength { given: 8, .. })) = error else {
            return Err("GCM of blocks of 8 bytes".into());
        };
    }
    Ok(())
}

/// Decryption in every way gives an error that `is_right`, and leaves its output.
fn stays(
    device: &Device,
    engine: &GcmEngine,
    (iv, aad, sealed, tag): (&[u8], &[u8], &[u8], &[u8]),
    what: &str,
    is_right: impl Fn(&lanecrypt::Error) -> bool,
) -> Outcome {
    let check = |result: Result<(), Error>| match result {
        Err(Error::Data(error)) if is_right(&error) => Ok(()),
        other => Err(Failed::from(format!("{what}: {other:?}"))),
    };
    let range = 0..sealed.len();
    let blank = noise(sealed.len(), 10);
    let input = DeviceBuffer::from_host(device, sealed)?;
    let mut output = DeviceBuffer::from_host(device, &blank)?;
    let (from, mut to) = (input.slice(range.clone())?, output.slice_mut(range.clone())?);
    check(engine.decrypt(iv, aad, (&from, &mut to), tag))?;
    compare(&output, &blank, what)?;
    let mut data = input;
    check(engine.decrypt(iv, aad, &mut data.slice_mut(range.clone())?, tag))?;
    compare(&data, sealed, what)?;
    let stream = Stream::new(device)?;
    let mut slice = data.slice_mut(range)?;
    check(engine.queue_decrypt(&stream, iv, aad, &mut slice, tag).map(drop))?;
    compare(&data, sealed, what)?;
    for limit in [sealed.len(), sealed.len() / 3] {
        engine.limit_chunk(limit);
        let mut output = blank.clone();
        let both = InOutBuf::new(sealed, &mut output).expect("equal lengths");
        check(engine.decrypt_host_memory(iv, aad, both, tag))?;
        assert!(output == blank, "{what}, parts of {limit}");
        let mut data = sealed.to_vec();
        check(engine.decrypt_host_memory(iv, aad, data.as_mut_slice().into(), tag))?;
        assert!(data == sealed, "{what}, parts of {limit}, in place");
    }
    Ok(())
}

/// The vectors of every cipher; on the host build, which emulates, some of them.
pub(crate) fn vectors(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let mut hashes = hash_families(&device).into_iter().cycle();
    for family in families() {
        let name = family.cipher().name;
        for vector in vectors_of(name, case, 120)? {
            let hash = hashes.next().ok_or("no hash")?;
            vector_of(&device, family, hash, &vector)
                .map_err(|why| format!("{}: {}", vector.id, why.message().unwrap_or("")))?;
        }
    }
    Ok(())
}

/// A cipher's vectors of GCM, good ones and bad ones: all, or some `most` of them for kernels on the
/// host.
pub(crate) fn vectors_of(cipher: &str, case: &Case, most: usize) -> Result<Vec<Vector>, Failed> {
    let in_tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    // Where the tests were built elsewhere, a bundle has them in the working directory.
    let folder = if in_tree.exists() { in_tree } else { "vectors".into() };
    let mut vectors = Vec::new();
    for kind in ["gcm", "gcm_reject"] {
        let file = VectorFile::read(folder.join(format!("{cipher}_{kind}.txt")))?;
        let Lines::Vectors(lines) = file.lines else { return Err("no vectors".into()) };
        let on_host = case.platform == Platform::CudaOnHost;
        let step = if on_host { lines.len() / (most / 2) + 1 } else { 1 };
        vectors.extend(lines.into_iter().step_by(step));
    }
    Ok(vectors)
}

fn vector_of(device: &Device, family: &Family, hash: HashFamily, vector: &Vector) -> Outcome {
    let engine = family.gcm_engine_with(device, hash, &vector.key)?;
    let (Some(iv), Some(aad), Some(tag)) = (&vector.iv, &vector.aad, &vector.tag) else {
        return Err("no GCM vector".into());
    };
    let mut data = vector.ct.clone();
    let result = engine.decrypt_host_memory(iv, aad, data.as_mut_slice().into(), tag);
    if vector.outcome == Expected::Rejection {
        let is_refused = matches!(result, Err(Error::Data(_)));
        return if is_refused && data == vector.ct { Ok(()) } else { Err("accepted".into()) };
    }
    result?;
    let plain = vector.pt.as_ref().ok_or("no plaintext")?;
    assert_eq!(&data, plain, "decryption");
    let mut found = vec![0; tag.len()];
    engine.encrypt_host_memory(iv, aad, data.as_mut_slice().into(), &mut found)?;
    assert_eq!((&data, &found), (&vector.ct, tag), "encryption");
    found.fill(0);
    let mut resident = DeviceBuffer::from_host(device, plain)?;
    engine.encrypt(iv, aad, &mut resident.slice_mut(0..plain.len())?, &mut found)?;
    assert_eq!(&found, tag, "encryption on the device");
    compare(&resident, &vector.ct, "encryption on the device")
}
