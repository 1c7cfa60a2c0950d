//! GCM: whatever fails, nothing that was not verified is written.

use cipher::InOutBuf;
use lanecrypt_core::{Direction, Engine as _};

use super::{KEY, ONE_THREAD, at_every_call, at_every_call_of, cpu, watched};
use crate::{
    DeviceBuffer, Error, GcmEngine, GhashEngine, HashFamily, Limits, PinnedBuffer, Stream,
    model_device::{self, Model},
};

/// The toy cipher as the plain mode takes it.
pub(super) struct Plain;

impl lanecrypt_reference::modes::BlockCipher for Plain {
    fn block_bytes(&self) -> usize {
        16
    }

    fn encrypt_block(&self, block: &mut [u8]) {
        cpu().ecb(Direction::Encrypt, block.into()).expect("a block");
    }

    fn decrypt_block(&self, block: &mut [u8]) {
        cpu().ecb(Direction::Decrypt, block.into()).expect("a block");
    }
}

pub(super) const AAD: &[u8] = &[0x61; 133];
pub(super) const LONG_IV: &[u8] = &[0x17; 100];

/// A message of `length` bytes: plaintext, ciphertext and tag.
pub(super) fn sealed(length: usize) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let plain: Vec<u8> = (0..length).map(|i| (i * 7 + i / 256) as u8).collect();
    let mut data = plain.clone();
    let tag = lanecrypt_reference::modes::gcm_encrypt(&Plain, LONG_IV, AAD, &mut data);
    (plain, data, tag.expect("blocks of 16 bytes")[..13].to_vec())
}

pub(super) fn gcm_engine(
    model: &Model,
    hash: HashFamily,
    limit: usize,
) -> Result<GcmEngine, Error> {
    let device = model.device();
    device.limit_host_memory(ONE_THREAD);
    let engine = model_device::FAMILY.gcm_engine_with(&device, hash, &KEY)?;
    engine.limit_chunk(limit);
    Ok(engine)
}

/// The sums that lead to a hash tell of the key. Lanes keep nothing but the data that passed last.
#[test]
fn sums_do_not_stay_on_lanes() {
    for (hash, blocks, limit) in HashFamily::ALL.into_iter().flat_map(sizes) {
        let model = Model::default();
        let device = model.device();
        device.limit_host_memory(ONE_THREAD);
        let engine = GhashEngine::new(&device, hash, &[0x5a; 16]).expect("no fault");
        engine.limit_chunk(limit);
        let aad: Vec<u8> = (1..=blocks).flat_map(|i| (i as u128).to_be_bytes()).collect();
        let nothing = DeviceBuffer::zeroed(&device, 0).expect("no fault");
        engine.hash(&aad, &nothing.slice(0..0).expect("in it")).expect("no fault");
        drop((engine, nothing));
        let contents = model.contents();
        let found: Vec<u128> =
            contents.as_chunks().0.iter().map(|&block| u128::from_be_bytes(block)).collect();
        assert!(found.contains(&(blocks as u128)), "lanes are kept");
        let other = found.iter().find(|&&block| block > blocks as u128);
        assert!(other.is_none(), "{hash:?}, {blocks} blocks by {limit} bytes: {other:x?}");
    }
}

/// Blocks of a string, and bytes of its pieces: such that are hashed in every way.
fn sizes(hash: HashFamily) -> [(HashFamily, usize, usize); 2] {
    let (_, long, part) = lengths(hash)[2];
    [(hash, 60, 20 * 16), (hash, long / 16, part)]
}

/// Short and long messages, and parts of host memory that are more, less, and three or two of the
/// message: long ones by themselves.
fn lengths(hash: HashFamily) -> [(HashFamily, usize, usize); 3] {
    let (long, part) =
        if hash == HashFamily::WideMatrices { (41_000, 33_000) } else { (25_000, 9000) };
    [(hash, 309, 512), (hash, 309, 112), (hash, long, part)]
}

#[test]
fn sealing_reports() {
    for (hash, length, limit) in HashFamily::ALL.into_iter().flat_map(lengths) {
        let (plain, data, tag) = sealed(length);
        let expected = [data, tag].concat();
        let name = format!("{hash:?}, {length} bytes");
        at_every_call(&format!("encryption by {name}"), &expected, |model| {
            let engine = gcm_engine(model, hash, limit)?;
            let mut found = [&plain[..], &[0; 13]].concat();
            let (data, tag) = found.split_at_mut(length);
            engine.encrypt_host_memory(LONG_IV, AAD, data.into(), tag)?;
            Ok(found)
        });
        at_every_call(&format!("resident encryption by {name}"), &expected, |model| {
            let engine = gcm_engine(model, hash, limit)?;
            let mut found = [&plain[..], &[0; 13]].concat();
            let (data, tag) = found.split_at_mut(length);
            let mut buffer = DeviceBuffer::from_host(engine.engine().device(), data)?;
            engine.encrypt(LONG_IV, AAD, &mut buffer.slice_mut(0..length)?, tag)?;
            buffer.read(0, data)?;
            Ok(found)
        });
        at_every_call(&format!("queued encryption by {name}"), &expected, |model| {
            let engine = gcm_engine(model, hash, limit)?;
            let device = engine.engine().device();
            let stream = Stream::new(device)?;
            let mut found = [&plain[..], &[0; 13]].concat();
            let mut buffer = DeviceBuffer::from_host(device, &plain)?;
            let mut made = DeviceBuffer::zeroed(device, 13)?;
            let (mut data, mut tag) = (buffer.slice_mut(0..length)?, made.slice_mut(0..13)?);
            engine.queue_encrypt(&stream, LONG_IV, AAD, &mut data, &mut tag)?.wait()?;
            buffer.read(0, &mut found[..length])?;
            made.read(0, &mut found[length..])?;
            Ok(found)
        });
    }
}

/// Where kernels write a tag to host memory themselves, it is there when it is taken.
#[test]
fn tags_land_in_host_memory() {
    let (hash, length, limit) = lengths(HashFamily::Tables)[1];
    let (plain, data, tag) = sealed(length);
    at_every_call_of(Model::mapping, "encryption", &[&data[..], &tag].concat(), |model| {
        let engine = gcm_engine(model, hash, limit)?;
        let mut found = [&plain[..], &[0; 13]].concat();
        let (data, tag) = found.split_at_mut(length);
        engine.encrypt_host_memory(LONG_IV, AAD, data.into(), tag)?;
        Ok(found)
    });
    at_every_call_of(Model::mapping, "resident decryption", &plain, |model| {
        let engine = gcm_engine(model, hash, limit)?;
        let mut buffer = DeviceBuffer::from_host(engine.engine().device(), &data)?;
        engine.decrypt(LONG_IV, AAD, &mut buffer.slice_mut(0..length)?, &tag)?;
        let mut found = vec![0; length];
        buffer.read(0, &mut found)?;
        Ok(found)
    });
}

/// Under a right tag there is an error or the plaintext; under a wrong one there is an error, and the
/// output is as it was, whatever fails.
#[test]
fn opening_reports_and_writes_nothing_unverified() {
    const CANARY: u8 = 0xc5;
    for (hash, length, limit) in HashFamily::ALL.into_iter().flat_map(lengths) {
        let (plain, data, tag) = sealed(length);
        let mut wrong = tag.clone();
        wrong[12] ^= 0x80;
        let name = format!("{hash:?}, {length} bytes in parts of {limit}");
        at_every_call(&format!("decryption by {name}"), &plain, |model| {
            let engine = gcm_engine(model, hash, limit)?;
            let mut found = data.clone();
            engine.decrypt_host_memory(LONG_IV, AAD, found.as_mut_slice().into(), &tag)?;
            Ok(found)
        });
        let canary = vec![CANARY; length];
        at_every_call(&format!("refusal by {name}"), &canary, |model| {
            let engine = gcm_engine(model, hash, limit)?;
            let mut found = canary.clone();
            let both = InOutBuf::new(&data, &mut found).expect("equal lengths");
            let result = engine.decrypt_host_memory(LONG_IV, AAD, both, &wrong);
            refused(result, model)?;
            assert!(found == canary, "{name}: written, {model:?}");
            Ok(found)
        });
        at_every_call(&format!("resident refusal by {name}"), &canary, |model| {
            let engine = gcm_engine(model, hash, limit)?;
            let input = DeviceBuffer::from_host(engine.engine().device(), &data)?;
            let mut output = DeviceBuffer::from_host(engine.engine().device(), &canary)?;
            let (from, mut to) = (input.slice(0..length)?, output.slice_mut(0..length)?);
            refused(engine.decrypt(LONG_IV, AAD, (&from, &mut to), &wrong), model)?;
            let stream = Stream::new(engine.engine().device())?;
            let queued = engine.queue_decrypt(&stream, LONG_IV, AAD, (&from, &mut to), &wrong);
            refused(queued.map(drop), model)?;
            let mut found = vec![0; length];
            output.read(0, &mut found)?;
            Ok(found)
        });
    }
}

/// Pieces are hashed in any order, by any number of threads.
#[test]
fn pieces_pass_any_number_of_threads_and_lanes() {
    watched(|| {
        for (hash, length, limit) in HashFamily::ALL.into_iter().flat_map(lengths) {
            let (plain, data, tag) = sealed(length);
            for (threads, pinned_bytes) in [(0, 0), (1, 1 << 20), (3, 300), (8, 1 << 20)] {
                let model = Model::default();
                let engine = gcm_engine(&model, hash, limit / 4).expect("no fault");
                let device = engine.engine().device();
                device.limit_host_memory(Limits { pinned_bytes, threads });
                let what = format!("{hash:?}, {length} bytes, {threads}, {pinned_bytes}");
                let (mut found, mut made) = (plain.clone(), [0; 13]);
                let run = found.as_mut_slice().into();
                engine.encrypt_host_memory(LONG_IV, AAD, run, &mut made).expect("no fault");
                assert!(found == data && made == *tag, "{what}");
                let run = found.as_mut_slice().into();
                engine.decrypt_host_memory(LONG_IV, AAD, run, &tag).expect("no fault");
                assert!(found == plain, "{what}");
            }
        }
    });
}

/// What an error says is complete is the ciphertext, and after it nothing was touched.
#[test]
fn an_error_tells_what_is_complete() {
    let (plain, data, tag) = sealed(309);
    for is_opened in [false, true] {
        let (from, to) = if is_opened { (&data, &plain) } else { (&plain, &data) };
        at_every_call("pieces", to, |model| {
            let engine = gcm_engine(model, HashFamily::Tables, 32)?;
            let (mut found, mut made) = (from.clone(), tag.clone());
            let run = found.as_mut_slice().into();
            let result = if is_opened {
                engine.decrypt_host_memory(LONG_IV, AAD, run, &tag)
            } else {
                made.fill(0);
                engine.encrypt_host_memory(LONG_IV, AAD, run, &mut made)
            };
            let done = match &result {
                Ok(()) => found.len(),
                Err(Error::Interrupted { complete, .. }) => *complete,
                Err(_) => 0,
            };
            assert!(found[..done] == to[..done], "{done} bytes are complete");
            assert!(found[done..] == from[done..], "more than {done} bytes changed");
            let is_whole = result.is_ok() || is_opened;
            assert!(if is_whole { made == tag } else { made == [0; 13] }, "the tag");
            result?;
            Ok(found)
        });
    }
}

/// Pinned memory of ours is used as it is, by both passes of decryption as well.
#[test]
fn pinned_memory_is_not_copied() {
    let (plain, data, tag) = sealed(309);
    at_every_call("pinned", &plain, |model| {
        let engine = gcm_engine(model, HashFamily::Tables, 112)?;
        let mut found = PinnedBuffer::zeroed(engine.engine().device(), plain.len())?;
        found.copy_from_slice(&plain);
        let mut made = [0; 13];
        engine.encrypt_host_memory(LONG_IV, &[], (&mut *found).into(), &mut made)?;
        assert!(*found == *data, "wrong bytes");
        engine.decrypt_host_memory(LONG_IV, &[], (&mut *found).into(), &made)?;
        assert_eq!(
            model.pinned(),
            3,
            "only that of the IV's lane and where blocks land, beside the data"
        );
        engine.encrypt_host_memory(LONG_IV, AAD, (&mut *found).into(), &mut made)?;
        assert!(*found == *data && made == *tag, "wrong bytes or tag");
        engine.decrypt_host_memory(LONG_IV, AAD, (&mut *found).into(), &tag)?;
        Ok(found.to_vec())
    });
}

/// A wrong tag is an error; so is a fault, and nothing else.
fn refused(result: Result<(), Error>, model: &Model) -> Result<(), Error> {
    match result {
        Err(Error::Data(lanecrypt_core::Error::NotAuthentic)) => Ok(()),
        Err(error) if model.has_failed() => Err(error),
        other => panic!("a wrong tag gave {other:?}"),
    }
}

#[test]
fn hashes_need_their_device() {
    let (one, other) = (Model::default(), Model::default());
    let engine = GhashEngine::new(&one.device(), HashFamily::Tables, &KEY).expect("no fault");
    let buffer = DeviceBuffer::zeroed(&other.device(), 32).expect("no fault");
    let slice = buffer.slice(0..32).expect("in it");
    let error = engine.hash(&[], &slice).expect_err("another device").to_string();
    assert!(error.contains("the buffer is of"), "{error}");
    let text = format!("{engine:?} {:?}", gcm_engine(&one, HashFamily::Matrices, 16));
    assert!(!text.contains("key"), "{text}");

    let mut properties = one.device().properties().clone();
    let [tables, matrices, wide] = HashFamily::ALL;
    for (capability, best, others) in [
        ((7, 5), tables, &[][..]),
        ((8, 0), matrices, &[tables]),
        ((8, 9), matrices, &[tables]),
        ((9, 0), wide, &[tables, matrices]),
        ((9, 1), matrices, &[tables]),
        ((10, 0), tables, &[]),
        ((12, 0), tables, &[]),
    ] {
        properties.compute_capability = capability;
        assert_eq!(HashFamily::of(&properties), best, "{capability:?}");
        for family in HashFamily::ALL {
            let fits = family == best || others.contains(&family);
            assert_eq!(family.fits(&properties), fits, "{family:?} on {capability:?}");
        }
    }
}
