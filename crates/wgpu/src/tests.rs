//! Tests that look at what a device has: keys that go, and errors.

use wgpu::{Buffer, BufferDescriptor, BufferUsages, CommandEncoderDescriptor, MapMode};

use lanecrypt_core::{Direction, Engine as _, GcmPass, HashPowers};

use crate::{
    Device, DirectedKeys, Engine, Error, KeyPair, Limits,
    device_keys::DeviceKeys,
    ghash::{self, HashKey},
    keys::MASKS,
    mapping::Mapping,
    programs,
};

/// A device of the test's own. Where there is none, the reason is printed; where `LANECRYPT_EXPECT` names its
/// backends, that is a failure.
fn device() -> Option<Device> {
    match Device::with_limits(Limits::default()) {
        Ok(device) => Some(device),
        Err(error) => {
            let expected = std::env::var("LANECRYPT_EXPECT").unwrap_or_default();
            assert!(!expected.contains("wgpu-"), "LANECRYPT_EXPECT names it, but {error}");
            eprintln!("not tested: {error}");
            None
        }
    }
}

/// What a buffer holds.
fn read(device: &Device, buffer: &Buffer) -> Vec<u8> {
    let back = device.wgpu().create_buffer(&BufferDescriptor {
        label: None,
        size: buffer.size(),
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.wgpu().create_command_encoder(&CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &back, 0, buffer.size());
    let submission = device.queue().submit([encoder.finish()]);
    let mapping = Mapping::of(device, &back, back.size(), MapMode::Read).expect("it can be mapped");
    device.wait(submission).expect("the device answers");
    mapping.complete(device).expect("it is mapped");
    back.get_mapped_range(..).expect("it is mapped").to_vec()
}

/// An engine under keys of zeros.
fn engine(device: &Device, whole: &'static str) -> Engine {
    let pair = KeyPair::new(|_| DirectedKeys::new(whole, []));
    Engine::new(device, &programs::SEED, &pair).expect("there is room for keys")
}

fn run(engine: &Engine) -> Result<(), lanecrypt_core::Error> {
    let mut data = [0; 48];
    lanecrypt_core::Engine::ctr(engine, &[0; 16], data.as_mut_slice().into())
}

#[test]
fn keys_are_where_a_kernel_looks_and_then_zero() {
    let Some(device) = device() else { return };
    let [ones, zeros] = [[u32::MAX, 0, u32::MAX], [0, u32::MAX, 0]];
    let pair = KeyPair {
        encrypt: DirectedKeys::new("first", ones),
        decrypt: DirectedKeys::new("second", zeros),
    };
    let keys = DeviceKeys::new(&device, &pair).expect("there is room");
    assert_eq!([keys.whole(0), keys.whole(1)], ["first", "second"]);
    let buffer = keys.binding(0).buffer.clone();
    let bytes = read(&device, &buffer);
    let words: Vec<u32> =
        bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    assert_eq!((&words[..3], &words[MASKS..MASKS + 3]), (&ones[..], &zeros[..]));
    drop(keys);
    assert!(read(&device, &buffer).iter().all(|&byte| byte == 0));
}

/// Runs a test with the powers of a hash key, where this CPU makes such ones.
fn with_powers(test: impl FnOnce(&HashPowers)) {
    match lanecrypt_slicing::HashKey::new(&[0x9d; 16]) {
        Some(key) => key.with_powers(test),
        None => eprintln!("not tested: this CPU multiplies no polynomials"),
    }
}

#[test]
fn hash_keys_are_on_the_device_and_then_zero() {
    let Some(device) = device() else { return };
    with_powers(|powers| {
        let key = HashKey::new(&device, powers).expect("there is room");
        let mut other = *powers;
        other[31][15] ^= 1;
        assert!(key.is_of(powers) && !key.is_of(&other));
        for launch in ghash::launches(1 << 30, 0, u32::MAX) {
            let matrix = key.binding(&launch);
            let (at, size) = (matrix.offset as usize, matrix.size.map_or(0, u64::from) as usize);
            let rows = &read(&device, matrix.buffer)[at..][..size];
            assert!(rows.as_chunks::<16>().0.iter().all(|row| *row != [0; 16]), "{launch:?}");
        }
        let launch = ghash::launches(1, 0, 1).next().expect("there is one at least");
        let buffer = key.binding(&launch).buffer.clone();
        drop(key);
        assert!(read(&device, &buffer).iter().all(|&byte| byte == 0));
    });
}

#[test]
fn sums_hashes_and_masks_of_tags_are_cleared() {
    const BYTES: usize = 100 * 16;
    let Some(device) = device() else { return };
    with_powers(|powers| {
        for direction in Direction::BOTH {
            let engine = engine(&device, "of_16_rounds");
            let (mut data, mut tag, counter) = (vec![0x5a; BYTES], [0; 16], [7; 16]);
            let pass = GcmPass { direction, counter, powers, hash: &mut tag, whole: Some(b"") };
            let is_done = engine.gcm(pass, data.as_mut_slice().into()).expect("it runs");
            assert!(is_done && tag != [0; 16]);
            // One piece of memory had the mask, which is gone, and one the message.
            let slots = engine.into_slots();
            assert_eq!(slots.len(), 2);
            let (mut with_data, mut behind) = (0, 0);
            for slot in &slots {
                let [on_device, read_back] = slot.contents(&device, read);
                let (piece, sums) = on_device.split_at(slot.bytes() as usize);
                assert!(!sums.is_empty() && sums.iter().all(|&byte| byte == 0), "sums");
                let (back, hash) = read_back.split_at(BYTES);
                let messages = [&piece[..BYTES], back].map(|bytes| bytes == data);
                assert_eq!(messages[0], messages[1]);
                with_data += usize::from(messages[0]);
                let others = if messages[0] { &[][..] } else { &[piece, back].concat() };
                assert!(others.iter().chain(hash).all(|&byte| byte == 0), "a mask or a hash");
                behind += hash.len();
            }
            assert!(with_data == 1 && behind >= 32);
        }
    });
}

#[test]
fn a_kernel_that_is_not_there_is_an_error() {
    let Some(device) = device() else { return };
    let error = run(&engine(&device, "of_no_rounds")).expect_err("there is no such kernel");
    assert!(error.to_string().contains("making a kernel"), "{error}");
    run(&engine(&device, "of_16_rounds")).expect("the device works on");
}

#[test]
fn too_little_memory_is_an_error() {
    let Some(device) = device() else { return };
    let bytes = device.wgpu().limits().max_buffer_size;
    // More than the limit is refused; as much as that may be more than there is.
    let made = device.guarded("memory for data", || {
        device.wgpu().create_buffer(&BufferDescriptor {
            label: None,
            size: bytes.saturating_add(16) & !15,
            usage: BufferUsages::STORAGE,
            mapped_at_creation: false,
        })
    });
    let error = made.expect_err("the limit is passed");
    assert!(matches!(error, Error::Refused { .. } | Error::OutOfMemory { .. }), "{error}");
}

#[test]
fn a_lost_device_is_an_error_and_stays_one() {
    let Some(device) = device() else { return };
    let engine = engine(&device, "of_16_rounds");
    run(&engine).expect("the device works");
    device.lose();
    for _ in 0..2 {
        let error = run(&engine).expect_err("there is no device any more");
        assert!(matches!(error, lanecrypt_core::Error::Device(_)), "{error:?}");
    }
}

#[test]
fn keys_are_in_no_debug_text() {
    let Some(device) = device() else { return };
    let [first, second] = [0, u32::MAX].map(|mask| {
        let pair = KeyPair::new(|_| DirectedKeys::new("of_16_rounds", [mask; 1024]));
        let engine = Engine::new(&device, &programs::SEED, &pair).expect("there is room");
        format!("{pair:?} {engine:?} {engine:#?}")
    });
    assert_eq!(first, second);
    assert!(first.contains("seed") && first.contains("of_16_rounds"), "{first}");
}
