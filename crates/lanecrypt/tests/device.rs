//! What only a device does: data that stays on it, buffers above 4 GiB, RustCrypto's bulk methods,
//! several threads on one engine. On the GPU, and small on the host build of the kernels.
//!
//! Options are those of libtest; `device cuda` runs the trials on the GPU, `device host` the
//! others. A device that cannot run is ignored with its reason on standard error, or fails where
//! `LANECRYPT_EXPECT` names one of its backends.

mod common;

use std::{fmt::Display, process::ExitCode};

use common::{Outcome, Property, noise};
use lanecrypt::{
    Direction, Engine as _,
    aes::{
        self,
        cipher::{self, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit},
        cuda::{FAMILIES, Family},
    },
    cuda::{Device, DeviceBuffer, Error, Operation},
};
use libtest_mimic::{Arguments, Failed, Trial};
use sha2::{Digest, Sha256};

/// Which device, and how large the large buffers are.
struct Case {
    open: fn() -> Result<Device, Error>,
    large_bytes: usize,
}

const GIB: usize = 1 << 30;
const KEY: [u8; 32] = [0x3c; 32];
/// Carries out of 64 bits within the first 100 blocks.
const COUNTER: [u8; 16] = {
    let mut counter = [0xff; 16];
    counter[0] = 1;
    counter[15] = 0x9c;
    counter
};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let expected = common::expected_ids();
    let mut trials = vec![Trial::test("cuda::no_such_device_is_named", no_such_device)];
    let devices: [(&str, Case); 2] = [
        ("cuda", Case { open: Device::default, large_bytes: 6 * GIB + 16 }),
        ("host", Case { open: Device::on_host, large_bytes: (1 << 20) + 16 }),
    ];
    for (name, case) in devices {
        let is_expected = expected.iter().any(|id| id.starts_with(name));
        trials.extend(device_trials(name, case, is_expected));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn device_trials(name: &str, case: Case, is_expected: bool) -> Vec<Trial> {
    let properties: [(&str, Property<Case>); 7] = [
        ("ranges_and_canaries", ranges_and_canaries),
        ("partial_blocks_on_the_device", partial_blocks_on_the_device),
        ("refuses_bad_ranges_and_lengths", refuses_bad_ranges_and_lengths),
        ("bulk_methods", bulk_methods),
        ("threads_share_an_engine", threads_share_an_engine),
        ("large_resident_buffers", large_resident_buffers),
        ("large_host_buffers", large_host_buffers),
    ];
    let reason = (case.open)().err();
    let reason = reason.as_ref().map(|reason| reason as &dyn Display);
    common::trials(name, reason, is_expected, case, &properties)
}

/// The same operation by the default CPU cipher.
fn on_the_cpu(operation: Operation<'_>, data: &mut [u8]) -> Outcome {
    let engine = aes::CpuEngine::new(aes::Aes256::new(&KEY.into()));
    let result = match operation {
        Operation::Ecb(direction) => engine.ecb(direction, data.into()),
        Operation::Ctr(counter) => engine.ctr(counter, data.into()),
    };
    result.map_err(|error| error.to_string().into())
}

fn operations() -> [Operation<'static>; 3] {
    [
        Operation::Ecb(Direction::Encrypt),
        Operation::Ecb(Direction::Decrypt),
        Operation::Ctr(&COUNTER),
    ]
}

fn no_such_device() -> Outcome {
    match Device::number(1000) {
        Err(Error::Unavailable(_)) => Ok(()), // no device at all
        Err(error @ Error::NoSuchDevice { .. }) if error.to_string().contains("1000") => Ok(()),
        other => Err(format!("device 1000 gave {other:?}").into()),
    }
}

/// Parts of buffers, from one to another and in place; the bytes around them stay.
fn ranges_and_canaries(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let (start, length, after) = (48, 16 * 1025, 64);
    let data = noise(start + length + after, 1);
    for family in FAMILIES {
        let engine = family.engine(&device, &KEY)?;
        for operation in operations() {
            let mut expected = data.clone();
            on_the_cpu(operation, &mut expected[start..start + length])?;
            let range = start..start + length;
            let what = format!("{} {operation:?}", family.name);

            let mut buffer = DeviceBuffer::from_host(&device, &data)?;
            engine.run_in_place(operation, &mut buffer.slice_mut(range.clone())?)?;
            compare(&buffer, &expected, &format!("{what}, in place"))?;

            let input = DeviceBuffer::from_host(&device, &data)?;
            let mut output = DeviceBuffer::from_host(&device, &data)?;
            engine.run(operation, &input.slice(range.clone())?, &mut output.slice_mut(range)?)?;
            compare(&output, &expected, &format!("{what}, out of place"))?;
            compare(&input, &data, &format!("{what}, its input"))?;
        }
    }
    Ok(())
}

fn compare(buffer: &DeviceBuffer, expected: &[u8], what: &str) -> Outcome {
    let mut found = vec![0; buffer.len()];
    buffer.read(0, &mut found)?;
    match found.iter().zip(expected).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => Err(format!("{what}: byte {at} of {} is wrong", expected.len()).into()),
    }
}

/// CTR that ends inside a block touches nothing after its last byte.
fn partial_blocks_on_the_device(case: &Case) -> Outcome {
    let device = (case.open)()?;
    for family in FAMILIES {
        let engine = family.engine(&device, &KEY)?;
        for length in [0, 1, 15, 17, 1000, 16 * 1024 + 5] {
            let data = noise(length + 32, length as u64);
            let mut expected = data.clone();
            on_the_cpu(Operation::Ctr(&COUNTER), &mut expected[..length])?;
            let mut buffer = DeviceBuffer::from_host(&device, &data)?;
            engine.run_in_place(Operation::Ctr(&COUNTER), &mut buffer.slice_mut(0..length)?)?;
            compare(&buffer, &expected, &format!("{} over {length} bytes", family.name))?;
        }
    }
    Ok(())
}

fn refuses_bad_ranges_and_lengths(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let mut buffer = DeviceBuffer::zeroed(&device, 100)?;
    let refused = |text: String, parts: &[&str]| match parts.iter().find(|p| !text.contains(**p)) {
        None => Ok(()),
        Some(part) => Err(Failed::from(format!("{text:?} does not name {part:?}"))),
    };
    let error = |result: Result<(), Error>| match result {
        Ok(()) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    };
    refused(error(buffer.slice(8..24).map(drop)), &["8..24", "16"])?;
    refused(error(buffer.slice(96..112).map(drop)), &["96..112", "100"])?;
    refused(error(buffer.read(90, &mut [0; 20])), &["90..110", "100"])?;
    refused(error(buffer.write(usize::MAX, &[0; 2])), &["100"])?;
    let engine = FAMILIES[0].engine(&device, &KEY)?;
    let ecb = Operation::Ecb(Direction::Encrypt);
    refused(error(engine.run_in_place(ecb, &mut buffer.slice_mut(0..100)?)), &["ECB", "100"])?;
    let other = DeviceBuffer::zeroed(&device, 64)?;
    let result = engine.run(ecb, &other.slice(0..64)?, &mut buffer.slice_mut(0..32)?);
    refused(error(result), &["64", "32"])?;
    let result = engine.run_in_place(Operation::Ctr(&[0; 8]), &mut buffer.slice_mut(0..32)?);
    refused(error(result), &["CTR", "8", "16"])?;
    let keyed = FAMILIES[0].engine(&device, &[0; 20]).map(drop);
    refused(error(keyed), &["20", "[16, 24, 32]"])
}

/// All six bulk methods of the RustCrypto type, against the CPU's.
fn bulk_methods(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let ours = aes::cuda::Aes192::new(&device, &[0x3c; 24].into())?;
    let theirs = aes::Aes192::new(&[0x3c; 24].into());
    for count in [0_usize, 1, 1000, 5001] {
        let plain: Vec<cipher::Block<aes::Aes192>> =
            noise(16 * count, 3).chunks(16).map(|b| b.try_into().expect("16 bytes")).collect();
        let mut expected = plain.clone();
        theirs.encrypt_blocks(&mut expected);

        let mut blocks = plain.clone();
        ours.encrypt_blocks(&mut blocks);
        assert!(blocks == expected, "encrypt_blocks of {count}");
        ours.decrypt_blocks(&mut blocks);
        assert!(blocks == plain, "decrypt_blocks of {count}");
        ours.encrypt_blocks_inout(blocks.as_mut_slice().into());
        assert!(blocks == expected, "encrypt_blocks_inout of {count}");
        ours.decrypt_blocks_inout(blocks.as_mut_slice().into());
        assert!(blocks == plain, "decrypt_blocks_inout of {count}");
        let mut output = plain.clone();
        ours.encrypt_blocks_b2b(&plain, &mut output).expect("equal lengths");
        assert!(output == expected, "encrypt_blocks_b2b of {count}");
        ours.decrypt_blocks_b2b(&expected, &mut blocks).expect("equal lengths");
        assert!(blocks == plain, "decrypt_blocks_b2b of {count}");
        assert!(ours.encrypt_blocks_b2b(&plain, &mut vec![[0; 16].into(); count + 1]).is_err());
    }
    assert_eq!(ours.fallbacks(), 0, "everything ran on the device");
    assert!(!format!("{ours:?}").contains("60"), "Debug hides the key");
    Ok(())
}

fn threads_share_an_engine(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let engine = aes::cuda::CONFLICT_FREE.engine(&device, &KEY)?;
    std::thread::scope(|scope| {
        let run = |seed| {
            let engine = &engine;
            scope.spawn(move || {
                let mut data = noise(100_003, seed);
                let mut expected = data.clone();
                on_the_cpu(Operation::Ctr(&COUNTER), &mut expected)?;
                for _ in 0..4 {
                    let mut copy = data.clone();
                    let result = engine.ctr(&COUNTER, copy.as_mut_slice().into());
                    result.map_err(|error| Failed::from(error.to_string()))?;
                    if copy != expected {
                        return Err(Failed::from("threads disturb each other"));
                    }
                }
                data.clear();
                Ok(())
            })
        };
        let threads: Vec<_> = (0..4).map(run).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
}

/// The digest of `length` bytes of reproducible data after `operation` on the CPU, a part at a
/// time.
fn digest_by_the_cpu(length: usize, counter: Option<[u8; 16]>) -> Result<Vec<u8>, Failed> {
    let engine = aes::CpuEngine::new(aes::Aes256::new(&KEY.into()));
    let mut digest = Sha256::new();
    for_each_part(length, |offset, part| {
        let result = match counter {
            None => engine.ecb(Direction::Encrypt, part.into()),
            Some(counter) => {
                let first = u128::from_be_bytes(counter).wrapping_add(offset as u128 / 16);
                engine.ctr(&first.to_be_bytes(), part.into())
            }
        };
        digest.update(&*part);
        result.map_err(|error| Failed::from(error.to_string()))
    })?;
    Ok(digest.finalize().to_vec())
}

/// Fills parts of the reproducible data and hands them to `work`.
fn for_each_part(
    length: usize,
    mut work: impl FnMut(usize, &mut [u8]) -> Result<(), Failed>,
) -> Outcome {
    const PART: usize = 256 << 20;
    let mut part = vec![0; PART.min(length)];
    for offset in (0..length).step_by(PART) {
        let part = &mut part[..PART.min(length - offset)];
        paint(offset, part);
        work(offset, part)?;
    }
    Ok(())
}

/// Data that differs in every block: its number, multiplied by an odd constant.
fn paint(offset: usize, part: &mut [u8]) {
    for (i, word) in part.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let number = (offset / 8 + i) as u64;
        *word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    }
}

/// Above 4 GiB: no 32-bit index anywhere. Ciphertext compared with the CPU's by digest.
fn large_resident_buffers(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let length = case.large_bytes;
    let mut buffer = DeviceBuffer::zeroed(&device, length)?;
    for counter in [None, Some(COUNTER)] {
        let expected = digest_by_the_cpu(length, counter)?;
        for family in FAMILIES.iter().filter(|family| counter.is_none() || tests_ctr(family)) {
            for_each_part(length, |offset, part| Ok(buffer.write(offset, part)?))?;
            let engine = family.engine(&device, &KEY)?;
            let operation = match &counter {
                None => Operation::Ecb(Direction::Encrypt),
                Some(counter) => Operation::Ctr(counter),
            };
            engine.run_in_place(operation, &mut buffer.slice_mut(0..length)?)?;
            let mut digest = Sha256::new();
            for_each_part(length, |offset, part| {
                buffer.read(offset, part)?;
                digest.update(&*part);
                Ok(())
            })?;
            if digest.finalize().as_slice() != expected {
                return Err(format!("{} over {length} bytes, {operation:?}", family.name).into());
            }
        }
    }
    Ok(())
}

/// Families whose CTR kernel indexes its own way.
fn tests_ctr(family: &Family) -> bool {
    ["table-conflict-free", "bitslice"].contains(&family.name)
}

/// Host memory of the same size through `encrypt_blocks` and back.
fn large_host_buffers(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let cipher = aes::cuda::Aes256::new(&device, &KEY.into())?;
    let length = case.large_bytes;
    let mut blocks: Vec<cipher::Block<aes::Aes256>> = vec![[0; 16].into(); length / 16];
    let bytes = cipher::Array::slice_as_flattened_mut(&mut blocks);
    paint(0, bytes);
    cipher.encrypt_blocks(&mut blocks);
    let bytes = cipher::Array::slice_as_flattened(&blocks);
    if Sha256::digest(bytes).as_slice() != digest_by_the_cpu(length, None)? {
        return Err(format!("encrypt_blocks over {length} bytes").into());
    }
    cipher.decrypt_blocks(&mut blocks);
    let bytes = cipher::Array::slice_as_flattened(&blocks);
    for_each_part(length, |offset, part| {
        if bytes[offset..][..part.len()] == *part {
            return Ok(());
        }
        Err(format!("decrypt_blocks over {length} bytes, after byte {offset}").into())
    })?;
    if cipher.fallbacks() == 0 { Ok(()) } else { Err("the device failed".into()) }
}
