//! The engine of GPUs that CUDA does not reach: vectors of every cipher and key size, data of several pieces and
//! launches, and what a limit of the device changes.
//!
//! What backends do at the ends of their batches is in `conformance`.

#[path = "common/engine_blocks.rs"]
mod engine_blocks;
#[path = "wgpu/gcm.rs"]
mod gcm;

use lanecrypt::{
    CIPHERS, Direction, Engine,
    cipher::InOutBuf,
    registry::{CipherDescription, EXPECT},
    wgpu::{Device, Family, LANES, Limits},
};
use lanecrypt_reference::vectors::{Lines, PlaintextStream, VectorFile};

/// Where the vectors are.
const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors");

/// A device that takes this at most. Where there is none, the reason is printed; where `LANECRYPT_EXPECT` names its
/// backends, that is a failure.
fn device(limits: Limits) -> Option<Device> {
    match Device::with_limits(limits) {
        Ok(device) => Some(device),
        Err(error) => {
            let expected = std::env::var(EXPECT).unwrap_or_default();
            assert!(!expected.contains("wgpu-"), "{EXPECT} names it, but {error}");
            eprintln!("not tested: {error}");
            None
        }
    }
}

/// Ciphers with kernels there: all but LEA, which has no bit-sliced form.
fn ciphers() -> impl Iterator<Item = &'static CipherDescription> {
    CIPHERS.iter().copied().filter(|cipher| cipher.name != "lea")
}

fn family(cipher: &CipherDescription) -> &'static Family {
    let row = cipher.backend("wgpu-bitslice").expect("the cipher has the row");
    Family::of(row).expect("the row has a family")
}

fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut data = vec![0; length];
    PlaintextStream::new(seed).fill(&mut data);
    data
}

#[test]
fn vectors() {
    let Some(device) = device(Limits::default()) else { return };
    for cipher in ciphers() {
        // Where there are none, `conformance` has the reference alone.
        let path = format!("{VECTORS}/{}_ecb.txt", cipher.name);
        let Ok(file) = VectorFile::read(path) else {
            assert_eq!(cipher.name, "tdes-eee", "it has no vectors");
            continue;
        };
        let Lines::Vectors(vectors) = file.lines else { panic!("they are vectors") };
        for &key_bytes in cipher.key_bytes {
            let of_size = vectors.iter().filter(|line| line.key.len() == key_bytes);
            // Many keys have one block each; every eighth of them, and the longest messages.
            let mut chosen: Vec<_> =
                of_size.clone().step_by(1 + of_size.clone().count() / 40).collect();
            chosen.extend(of_size.max_by_key(|line| line.ct.len()));
            assert!(!chosen.is_empty(), "{} has vectors of {key_bytes}-byte keys", cipher.name);
            for line in chosen {
                let engine = family(cipher).engine(&device, &line.key).expect("it can be keyed");
                let plaintext = line.pt.as_ref().expect("vectors in ECB have plaintexts");
                for (direction, from, to) in [
                    (Direction::Encrypt, plaintext, &line.ct),
                    (Direction::Decrypt, &line.ct, plaintext),
                ] {
                    let mut data = from.clone();
                    engine.ecb(direction, data.as_mut_slice().into()).expect("it runs");
                    assert_eq!(data, *to, "{} {}, {direction}", cipher.name, line.id);
                }
            }
        }
    }
}

/// ECB both ways and CTR, in place and out of place, compared with the reference's table-driven or bit-sliced sister.
fn compare(cipher: &'static CipherDescription, device: &Device, blocks: usize, tail: usize) {
    let block = cipher.block_bytes;
    let key = noise(cipher.key_bytes[0], 1);
    let engine = family(cipher).engine(device, &key).expect("it can be keyed");
    let on_cpu = cipher.backend("default").expect("every cipher has it");
    let on_cpu = (on_cpu.create)(&key).expect("it can be keyed");
    let check = |what: &str, length: usize, run: &dyn Fn(&dyn Engine, InOutBuf<'_, '_, u8>)| {
        let input = noise(length, 2);
        let mut expected = input.clone();
        run(&*on_cpu, expected.as_mut_slice().into());
        let mut in_place = input.clone();
        run(&engine, in_place.as_mut_slice().into());
        let mut apart = vec![0; length];
        run(&engine, InOutBuf::new(&input, &mut apart).expect("they are equally long"));
        let name = cipher.name;
        assert!(in_place == expected, "{name}, {what} of {length} bytes in place");
        assert!(apart == expected, "{name}, {what} of {length} bytes out of place");
    };
    for direction in Direction::BOTH {
        check(&direction.to_string(), blocks * block, &|engine, data| {
            engine.ecb(direction, data).expect("it runs");
        });
    }
    // The counter carries out of 32 bits and of 64 some way into the data.
    let mut counter = vec![0xff; block];
    counter[block - 2..].fill(0xf7);
    check("CTR", blocks * block + tail, &|engine, data| {
        engine.ctr(&counter, data).expect("it runs");
    });
}

#[test]
fn data_of_more_workgroups_than_a_launch_has() {
    let Some(device) = device(Limits { groups: 2, ..Limits::default() }) else { return };
    assert_eq!(device.limits().groups, 2);
    for name in ["camellia", "hight"] {
        let cipher = lanecrypt::find_cipher(name).expect("it is there");
        compare(cipher, &device, 3 * 4 * LANES + 7, 5);
    }
}

#[test]
fn data_of_several_small_pieces() {
    let Some(device) = device(Limits { piece_bytes: 1000, ..Limits::default() }) else { return };
    for name in ["seed", "des"] {
        let cipher = lanecrypt::find_cipher(name).expect("it is there");
        for (blocks, tail) in [(0, 0), (0, 1), (62, 3), (63, 0), (300, 7)] {
            compare(cipher, &device, blocks, tail);
        }
    }
}

#[test]
fn several_threads_share_an_engine() {
    let Some(device) = device(Limits { piece_bytes: 1 << 16, ..Limits::default() }) else { return };
    let cipher = lanecrypt::find_cipher("camellia").expect("it is there");
    let engine = family(cipher).engine(&device, &[7; 16]).expect("it can be keyed");
    let on_cpu = lanecrypt::engine("camellia", "default", &[7; 16]).expect("it can be keyed");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (engine, on_cpu) = (&engine, &on_cpu);
            scope.spawn(move || {
                let mut data = noise(200_001 + 31 * thread, thread as u64);
                let mut expected = data.clone();
                engine.ctr(&[thread as u8; 16], data.as_mut_slice().into()).expect("it runs");
                on_cpu.ctr(&[thread as u8; 16], expected.as_mut_slice().into()).expect("it runs");
                assert!(data == expected, "thread {thread}");
            });
        }
    });
}

#[test]
fn a_launch_is_timed() {
    let Some(device) = device(Limits::default()) else { return };
    let cipher = lanecrypt::find_cipher("hight").expect("it is there");
    let engine = family(cipher).engine(&device, &[7; 16]).expect("it can be keyed");
    let ecb = lanecrypt::Operation::Ecb(Direction::Encrypt);
    let (time, bytes) = engine.time(ecb, 100_003, 2).expect("it runs");
    assert!(time.as_nanos() > 0 && bytes == 100_000);
    assert!(engine.time(lanecrypt::Operation::Ofb(&[0; 8]), 8, 1).is_err());
    assert!(engine.time(ecb, 7, 1).is_err(), "less than a block");
    assert!(engine.time_gcm(100_003, 1).is_err(), "blocks of 8 bytes");
    let cipher = lanecrypt::find_cipher("seed").expect("it is there");
    let engine = family(cipher).engine(&device, &[7; 16]).expect("it can be keyed");
    let has_hash = lanecrypt_slicing::HashKey::new(&[1; 16]).is_some();
    match engine.time_gcm(100_003, 2) {
        Ok((time, bytes)) => assert!(has_hash && time.as_nanos() > 0 && bytes == 100_000),
        Err(error) => assert!(!has_hash, "{error}"),
    }
}
