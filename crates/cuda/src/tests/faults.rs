//! What is left when the device fails: an error or the right bytes, whichever driver call it is.

mod askew;
mod batch;
mod fleet;
mod gcm;
mod large;
mod pipeline;
mod refused;
mod sealed;
mod streams;

use std::{sync::mpsc, thread, time::Duration};

use cipher::{Array, Block, BlockCipherDecrypt, BlockCipherEncrypt, InOutBuf, KeyInit};
use lanecrypt_core::{Counter, Ctr, Direction, Engine as _, modes};

use crate::{
    DataUnits, DeviceBuffer, Error, Geometry, KeyPair, Limits, OnDevice, Operation, XtsEngine,
    model_device::{self, Fault, Meanwhile, Model, ToyCipher},
};

const KEY: [u8; 16] = *b"a key for a toy.";
const IV: [u8; 16] = [0xfe; 16];
/// Its last four bytes wrap in the second chunk.
const WRAPS: [u8; 16] = [0xab, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0xff, 0xff, 0xff, 0xff, 0xf7];
/// Three chunks of the limit below and some blocks, and not a multiple of a bounced piece.
const BLOCKS: usize = 20;
const CHUNK: usize = 6 * 16;

/// So that the same calls are made every time.
const ONE_THREAD: Limits = Limits { pinned_bytes: 256 << 20, threads: 1 };

/// Fails a test whose threads wait for each other, which would hang otherwise.
pub(crate) fn watched(test: impl FnOnce() + Send + 'static) {
    let (sender, ended) = mpsc::channel();
    let test = thread::spawn(move || {
        test();
        sender.send(()).ok();
    });
    let waited = ended.recv_timeout(Duration::from_secs(60));
    assert_ne!(waited, Err(mpsc::RecvTimeoutError::Timeout), "it hangs");
    test.join().expect("the test's own failure");
}

type AnyError = Box<dyn std::error::Error>;

/// Bytes that differ everywhere.
fn plaintext() -> Vec<u8> {
    (0..16 * BLOCKS).map(|i| (i * 7 + i / 256) as u8).collect()
}

fn cpu() -> lanecrypt_core::CpuEngine<ToyCipher> {
    lanecrypt_core::CpuEngine::new(ToyCipher::new(&KEY.into()))
}

/// The model's cipher, with chunks so small that data passes in several, on one thread: of several, one may
/// fail when the others have done all there is to do.
fn on_device(model: &Model) -> Result<OnDevice<ToyCipher>, Error> {
    let cipher = OnDevice::new(&model.device(), &KEY.into())?;
    cipher.engine().limit_chunk(CHUNK);
    cipher.engine().device().limit_host_memory(ONE_THREAD);
    Ok(cipher)
}

/// Runs `work` with a fault at the first driver call, at the second, and so on, until it gets by
/// without; both a fault that passes and one that stays. `work` returns what it made of the
/// plaintext, which is compared; errors are fine, and tell whether the device is lost.
fn at_every_call(name: &str, expected: &[u8], work: impl Fn(&Model) -> Result<Vec<u8>, AnyError>) {
    at_every_call_of(Model::failing, name, expected, work);
}

/// The same on a model of one's choice.
fn at_every_call_of(
    make: fn(Fault) -> Model,
    name: &str,
    expected: &[u8],
    work: impl Fn(&Model) -> Result<Vec<u8>, AnyError>,
) {
    for fault in [Fault::At, Fault::From] {
        for call in 0.. {
            let model = make(fault(call));
            let result = work(&model);
            let has_failed = model.has_failed();
            assert!(has_failed || result.is_ok(), "{name}: it is an error even without a fault");
            match result {
                Ok(bytes) => assert!(bytes == expected, "{name}: wrong bytes, {model:?}"),
                Err(error) => {
                    let is_lost = is_device_lost(&*error);
                    assert_eq!(is_lost, fault(0) == Fault::From(0), "{name}: {model:?}, {error}");
                }
            }
            if !has_failed {
                assert!(call > 2, "{name}: hardly a driver call was made");
                assert_eq!(model.left_behind(), (0, 0), "{name}: freed without being cleared");
                break;
            }
        }
    }
}

/// Whether an error of ours or of core's says so.
fn is_device_lost(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(lanecrypt_core::Error::Device(cause)) = error.downcast_ref() {
        return is_device_lost(&**cause);
    }
    error.downcast_ref::<Error>().is_some_and(Error::is_device_lost)
}

/// As [`at_every_call`], for what cannot return an error once it is keyed.
fn falls_back(
    name: &str,
    direction: Direction,
    work: impl Fn(&OnDevice<ToyCipher>, &mut [Block<ToyCipher>]),
) {
    let mut expected = plaintext();
    cpu().ecb(direction, expected.as_mut_slice().into()).expect("whole blocks");
    at_every_call(name, &expected, |model| {
        let cipher = on_device(model)?;
        let mut data = plaintext();
        let (blocks, _) = Array::slice_as_chunks_mut(&mut data);
        work(&cipher, blocks);
        assert_eq!(cipher.fallbacks(), u64::from(model.has_failed()), "{name}: {model:?}");
        Ok(data)
    });
}

#[test]
fn bulk_methods_fall_back_without_running_anything_twice() {
    use Direction::{Decrypt, Encrypt};
    falls_back("encrypt_blocks", Encrypt, OnDevice::encrypt_blocks);
    falls_back("decrypt_blocks", Decrypt, OnDevice::decrypt_blocks);
    falls_back("encrypt_blocks_inout", Encrypt, |cipher, blocks| {
        cipher.encrypt_blocks_inout(blocks.into());
    });
    falls_back("decrypt_blocks_inout", Decrypt, |cipher, blocks| {
        cipher.decrypt_blocks_inout(blocks.into());
    });
    falls_back("encrypt_blocks_b2b", Encrypt, |cipher, blocks| {
        let input = blocks.to_vec();
        cipher.encrypt_blocks_b2b(&input, blocks).expect("equal lengths");
    });
    falls_back("decrypt_blocks_b2b", Decrypt, |cipher, blocks| {
        let input = blocks.to_vec();
        cipher.decrypt_blocks_b2b(&input, blocks).expect("equal lengths");
    });
}

#[test]
fn try_run_reports_instead() {
    for direction in Direction::BOTH {
        let mut expected = plaintext();
        cpu().ecb(direction, expected.as_mut_slice().into()).expect("whole blocks");
        at_every_call("try_run", &expected, |model| {
            let cipher = on_device(model)?;
            let mut data = plaintext();
            let (blocks, _) = Array::slice_as_chunks_mut(&mut data);
            cipher.try_run(direction, blocks.into())?;
            assert_eq!(cipher.fallbacks(), 0);
            Ok(data)
        });
    }
}

/// What an engine makes of the plaintext, in place and between buffers.
fn reports(
    name: &str,
    run: impl Fn(&dyn lanecrypt_core::Engine, InOutBuf<'_, '_, u8>) -> Result<(), lanecrypt_core::Error>,
) {
    let mut expected = plaintext();
    run(&cpu(), expected.as_mut_slice().into()).expect("the CPU does not fail");
    at_every_call(name, &expected, |model| {
        let mut data = plaintext();
        run(on_device(model)?.engine(), data.as_mut_slice().into())?;
        Ok(data)
    });
    at_every_call(name, &expected, |model| {
        let (input, mut output) = (plaintext(), vec![0; 16 * BLOCKS]);
        let both = InOutBuf::new(&input, &mut output).expect("equal lengths");
        run(on_device(model)?.engine(), both)?;
        Ok(output)
    });
}

#[test]
fn engines_and_modes_report() {
    for direction in Direction::BOTH {
        reports("ecb", |engine, data| engine.ecb(direction, data));
        reports("xts", |engine, data| modes::xts(engine, &cpu(), &IV, direction, data));
    }
    reports("ctr", |engine, data| engine.ctr(&IV, data));
    reports("Ctr from inside a block", |engine, data| {
        let mut stream = Ctr::new(engine, &IV)?;
        stream.try_seek_to(5)?;
        stream.try_apply(data)
    });
    reports("cbc_decrypt", |engine, data| modes::cbc_decrypt(engine, &IV, data));
}

/// What a launch could do one block of runs on the CPU.
#[test]
fn serial_operations_are_not_launched() {
    for operation in [
        Operation::Cbc(Direction::Encrypt, &IV),
        Operation::Cfb(Direction::Encrypt, &IV),
        Operation::Ofb(&IV),
    ] {
        let model = Model::default();
        let (mut expected, mut found) = (plaintext(), plaintext());
        cpu().run(operation, expected.as_mut_slice().into()).expect("the CPU does not fail");
        let cipher = on_device(&model).expect("no fault");
        let engine: &dyn lanecrypt_core::Engine = cipher.engine();
        engine.run(operation, found.as_mut_slice().into()).expect("no fault");
        assert!(found == expected && model.launches() == 0, "{operation:?}: {model:?}");
    }
}

/// Every operation that kernels run.
fn operations() -> [Operation<'static>; 8] {
    [
        Operation::Ecb(Direction::Encrypt),
        Operation::Ecb(Direction::Decrypt),
        Operation::Ctr(IV.into()),
        Operation::Ctr32(WRAPS.into()),
        Operation::Cbc(Direction::Decrypt, &IV),
        Operation::Cfb(Direction::Decrypt, &IV),
        Operation::Xts(Direction::Encrypt, &IV),
        Operation::Xts(Direction::Decrypt, &IV),
    ]
}

/// What an operation makes of `data`, a block at a time.
fn on_the_cpu(operation: Operation<'_>, data: &[u8]) -> Vec<u8> {
    let cpu = cpu();
    let run = |direction, block: &[u8]| {
        let mut block = block.to_vec();
        cpu.ecb(direction, block.as_mut_slice().into()).expect("whole blocks");
        block
    };
    let xor = |left: &[u8], right: Vec<u8>| left.iter().zip(right).map(|(a, b)| a ^ b).collect();
    let previous = |iv: &[u8], i: usize| match i {
        0 => iv.to_vec(),
        _ => data[16 * (i - 1)..16 * i].to_vec(),
    };
    let counter = |first: Counter, add: u128, modulus: u128| {
        let first = first.value();
        (first - first % modulus + (first % modulus + add) % modulus).to_be_bytes()
    };
    let block = |(i, block): (usize, &[u8])| -> Vec<u8> {
        match operation {
            Operation::Ecb(direction) => run(direction, block),
            Operation::Ctr(first) => {
                xor(block, run(Direction::Encrypt, &counter(first, i as u128, u128::MAX)))
            }
            Operation::Ctr32(first) => {
                xor(block, run(Direction::Encrypt, &counter(first, i as u128, 1 << 32)))
            }
            Operation::Cbc(_, iv) => xor(&run(Direction::Decrypt, block), previous(iv, i)),
            Operation::Cfb(_, iv) => xor(block, run(Direction::Encrypt, &previous(iv, i))),
            Operation::Xts(direction, mask) => {
                let mask = modes::times_power_of_x(mask, i as u64);
                let masked: Vec<u8> = xor(block, mask.to_vec());
                xor(&run(direction, &masked), mask.to_vec())
            }
            Operation::Ctr32Le(_) | Operation::Ofb(_) => unreachable!("no kernel runs it"),
        }
    };
    data.chunks(16).enumerate().flat_map(block).collect()
}

/// Many warps have a range, and in place each needs what the one before it overwrites.
#[test]
fn chains_in_place_need_nothing_that_is_overwritten() {
    let data: Vec<u8> = (0..16 * 700_usize).map(|i| (i * 7 + i / 256) as u8).collect();
    for operation in
        [Operation::Cbc(Direction::Decrypt, &IV), Operation::Cfb(Direction::Decrypt, &IV)]
    {
        let expected = on_the_cpu(operation, &data);
        let small = Some(Geometry { threads: 32, blocks_per_multiprocessor: 1 });
        for (limit, geometry) in [(usize::MAX, None), (200 * 16, small), (usize::MAX, small)] {
            let model = Model::default();
            let cipher = on_device(&model).expect("no fault");
            cipher.engine().limit_chunk(limit);
            cipher.engine().launch_as(geometry);
            let mut found = data.clone();
            let run = cipher.engine().run_host_memory(operation, found.as_mut_slice().into());
            run.expect("no fault");
            assert!(found == expected, "{operation:?} in parts of {limit}, {geometry:?}");
        }
        at_every_call("a chain in place", &expected, |model| {
            let cipher = on_device(model)?;
            let mut buffer = DeviceBuffer::from_host(cipher.engine().device(), &data)?;
            cipher.engine().run(operation, &mut buffer.slice_mut(0..data.len())?)?;
            let mut found = vec![0; data.len()];
            buffer.read(0, &mut found)?;
            Ok(found)
        });
    }
}

#[test]
fn operations_over_host_memory_report() {
    for operation in operations() {
        let expected = on_the_cpu(operation, &plaintext());
        at_every_call("run_host_memory", &expected, |model| {
            let mut data = plaintext();
            on_device(model)?.engine().run_host_memory(operation, data.as_mut_slice().into())?;
            Ok(data)
        });
    }
}

/// What XTS makes of `data`, unit by unit; the key of the tweaks is the other's in reverse.
fn xts_on_the_cpu(direction: Direction, units: DataUnits, data: &[u8]) -> Vec<u8> {
    let mut tweak_key = KEY;
    tweak_key.reverse();
    let tweak_cpu = lanecrypt_core::CpuEngine::new(ToyCipher::new(&tweak_key.into()));
    let mut data = data.to_vec();
    for (i, unit) in data.chunks_mut(units.bytes).enumerate() {
        let tweak = units.first.wrapping_add(i as u128).to_le_bytes();
        modes::xts(&cpu(), &tweak_cpu, &tweak, direction, unit.into()).expect("a block at least");
    }
    data
}

fn xts_engine(model: &Model) -> Result<XtsEngine, Error> {
    let mut keys = [KEY, KEY].concat();
    keys[16..].reverse();
    let device = model.device();
    device.limit_host_memory(ONE_THREAD);
    model_device::FAMILY.xts_engine(&device, &keys)
}

/// Units with and without stealing, shorter and longer than a chunk, the last one shorter.
const UNITS: [(usize, usize); 9] = [
    (16, 80),
    (17, 101),
    (31, 16),
    (32, 112),
    (48, 400),
    (50, 168),
    (160, 200),
    (333, 333),
    (512, 3000),
];

#[test]
fn data_units_report() {
    let first = u128::from(u64::MAX) - 1;
    for (bytes, length) in UNITS {
        let data: Vec<u8> = (0..length).map(|i| (i * 7 + i / 256) as u8).collect();
        for direction in Direction::BOTH {
            let units = DataUnits { bytes, first };
            let expected = xts_on_the_cpu(direction, units, &data);
            let name = format!("{direction} of {length} bytes in units of {bytes}");
            at_every_call(&format!("{name}, in place"), &expected, |model| {
                let engine = xts_engine(model)?;
                let mut buffer = DeviceBuffer::from_host(&model_device(&engine), &data)?;
                engine.run(direction, units, &mut buffer.slice_mut(0..length)?)?;
                let mut found = vec![0; length];
                buffer.read(0, &mut found)?;
                Ok(found)
            });
            at_every_call(&format!("{name}, host memory"), &expected, |model| {
                let engine = xts_engine(model)?;
                engine.limit_chunk(CHUNK);
                let mut found = data.clone();
                engine.run_host_memory(direction, units, found.as_mut_slice().into())?;
                Ok(found)
            });
        }
    }
}

fn model_device(engine: &XtsEngine) -> crate::Device {
    engine.data_engine().device().clone()
}

/// Groups of a few units, and many warps in a long one.
#[test]
fn data_units_are_cut_anyhow() {
    let data: Vec<u8> = (0..16 * 700 + 5_usize).map(|i| (i * 7 + i / 256) as u8).collect();
    for bytes in [16, 40, 512, 520, 4096, 16 * 700 + 5] {
        let rest = data.len() % bytes;
        let data = &data[..data.len() - if rest < 16 { rest } else { 0 }];
        let units = DataUnits { bytes, first: 3 };
        let expected = xts_on_the_cpu(Direction::Encrypt, units, data);
        for limit in [0, 1000, 16 * 1024, usize::MAX] {
            let model = Model::default();
            let engine = xts_engine(&model).expect("no fault");
            engine.limit_chunk(limit);
            let input = DeviceBuffer::from_host(&model_device(&engine), data).expect("no fault");
            let mut output =
                DeviceBuffer::from_host(&model_device(&engine), data).expect("no fault");
            let (from, mut to) = (
                input.slice(0..data.len()).expect("in it"),
                output.slice_mut(0..data.len()).expect("in it"),
            );
            engine.run(Direction::Encrypt, units, (&from, &mut to)).expect("no fault");
            let mut found = vec![0; data.len()];
            output.read(0, &mut found).expect("no fault");
            assert!(found == expected, "units of {bytes}, limit {limit}");
        }
    }
}

#[test]
fn data_units_that_are_none_are_refused() {
    let model = Model::default();
    let engine = xts_engine(&model).expect("no fault");
    let run = |bytes, length: usize| {
        let units = DataUnits { bytes, first: 0 };
        let mut data = vec![0; length];
        engine.run_host_memory(Direction::Encrypt, units, data.as_mut_slice().into())
    };
    for (bytes, length, named) in [(0, 32, "0"), (15, 32, "15"), (32, 47, "15"), (100, 7, "7")] {
        let text = run(bytes, length).expect_err("no unit").to_string();
        assert!(text.contains(&format!("unit of {named} bytes")), "{text}");
    }
    assert!(run(32, 0).is_ok() && run(32, 48).is_ok());
    for length in [0, 16, 30, 31, 33, 64] {
        let keys = vec![1; length];
        let keyed = model_device::FAMILY.xts_engine(&model.device(), &keys);
        assert!(keyed.is_err(), "{length} bytes are no two keys");
    }
}

#[test]
fn resident_runs_report() {
    for operation in operations() {
        let is_ctr = matches!(operation, Operation::Ctr(_) | Operation::Ctr32(_));
        // CTR ends inside a block.
        let length = 16 * BLOCKS - if is_ctr { 3 } else { 0 };
        let expected = on_the_cpu(operation, &plaintext()[..length]);
        at_every_call("run_in_place", &expected, |model| {
            let mut data = plaintext()[..length].to_vec();
            let cipher = on_device(model)?;
            let mut buffer = DeviceBuffer::from_host(cipher.engine().device(), &data)?;
            cipher.engine().run(operation, &mut buffer.slice_mut(0..length)?)?;
            buffer.read(0, &mut data)?;
            Ok(data)
        });
        at_every_call("run and time", &expected, |model| {
            let cipher = on_device(model)?;
            let (engine, device) = (cipher.engine(), cipher.engine().device());
            let input = DeviceBuffer::from_host(device, &plaintext()[..length])?;
            let mut output = DeviceBuffer::zeroed(device, length)?;
            let (whole, mut target) = (input.slice(0..length)?, output.slice_mut(0..length)?);
            engine.run(operation, (&whole, &mut target))?;
            engine.time(operation, (&whole, &mut target))?;
            let mut data = vec![0; length];
            output.read(0, &mut data)?;
            Ok(data)
        });
    }
}

#[test]
fn chunks_of_ctr_go_on_where_the_last_one_ended() {
    let model = Model::default();
    let mut expected = plaintext();
    cpu().ctr(&IV, expected[..309].as_mut().into()).expect("the CPU does not fail");
    for limit in [0, 1, 16, 17, 96, 304, 305, 320, usize::MAX] {
        let cipher = on_device(&model).expect("no fault");
        cipher.engine().limit_chunk(limit);
        let mut data = plaintext();
        cipher.engine().ctr(&IV, data[..309].as_mut().into()).expect("no fault");
        assert!(data == expected, "chunks of {limit} bytes");
    }
}

#[test]
fn the_key_stream_is_launched_as_it_was_checked() {
    let model = Model::default();
    let device = model.device();
    let engine = model_device::WITH_KEYSTREAM.engine(&device, &KEY).expect("no fault");
    let engine = std::sync::Arc::new(engine);
    // While it is timed, another thread lifts the limit to which the output was measured.
    let other = std::sync::Arc::downgrade(&engine);
    let lift: Meanwhile = Box::new(move || {
        other.upgrade().expect("the engine is in use").launch_as(None);
    });
    model.do_while_timing(lift);
    engine.launch_as(Some(Geometry { threads: 32, blocks_per_multiprocessor: 1 }));
    let (threads, room) = (64, 16 * 1024);
    let mut output = DeviceBuffer::zeroed(&device, room).expect("no fault");
    let mut slice = output.slice_mut(0..16 * threads).expect("in the buffer");
    let time =
        engine.time_keystream(IV.into(), 1 << 20, &mut slice).expect("a block for every thread");
    assert!(time.is_some());
    let mut bytes = vec![0; room];
    output.read(0, &mut bytes).expect("no fault");
    assert!(bytes[..16 * threads].iter().all(|&byte| byte == 0x77), "every thread wrote");
    assert!(bytes[16 * threads..].iter().all(|&byte| byte == 0), "wrote behind its output");

    // With the limit lifted there are more threads than blocks in the output.
    let mut slice = output.slice_mut(0..16 * threads).expect("in the buffer");
    let error = engine.time_keystream(IV.into(), 1 << 20, &mut slice).expect_err("too short");
    let needed = (16 * 2 * 256).to_string(); // two thread blocks of as many threads as it can have
    assert!(error.to_string().contains("1024") && error.to_string().contains(&needed), "{error}");
    assert!(engine.time_keystream(IV.into(), 0, &mut slice).is_ok(), "no block, no thread");
}

#[test]
fn a_program_that_fits_is_chosen() {
    let mut properties = Model::default().device().properties().clone();
    let chosen = |bytes: u32, properties: &mut crate::Properties| {
        properties.shared_bytes_per_block = bytes;
        model_device::FAMILY.program(properties).map(|program| program.module().name)
    };
    // Decryption needs more than encryption does, so a device with room for that alone has none.
    let all = (5 * 32) << 10;
    assert_eq!(chosen(all, &mut properties), Ok("aes_conflict_free_4"));
    assert_eq!(chosen(all - 1, &mut properties), Ok("aes_table"));
    assert_eq!(chosen(4352, &mut properties), Ok("aes_table"));
    let reason = chosen(4351, &mut properties).expect_err("nothing fits").to_string();
    assert!(reason.contains("4351") && reason.contains("4352") && reason.contains("model"));

    let here = || Ok(Model::default().device());
    assert_eq!(model_device::FAMILY.available(here), Ok(()));
    let reason = model_device::TOO_LARGE.available(here).expect_err("nothing fits").to_string();
    assert!(reason.contains("65536") && reason.contains(&all.to_string()), "{reason}");
    let nowhere = || Err(Error::NoSuchDevice { given: 3, count: 1 });
    let reason = model_device::FAMILY.available(nowhere).expect_err("no device").to_string();
    assert!(reason.contains("there is no CUDA device 3"), "{reason}");
}

#[test]
fn families_put_together_wrongly_are_refused() {
    use lanecrypt_core::{CipherDescription, ConstantTime};
    use lanecrypt_kernels::{Program, programs};

    static SMALL_BLOCKS: CipherDescription = CipherDescription {
        name: "toy",
        standard: "none",
        block_bytes: 8,
        key_bytes: &[16],
        backends: &[],
        kernels: None,
    };
    static AES: &[&Program] = &[&programs::AES_TABLE_SHARED];
    static DES: &[&Program] = &[&programs::DES_TABLE_SHARED];
    type Expand = fn(&[u8]) -> KeyPair;
    let refused = |cipher, programs: &'static [&'static Program], keys: Expand| {
        let family = crate::Family::new(cipher, "", ConstantTime::Yes, programs, keys);
        let error = family.engine(&Model::default().device(), &KEY).expect_err("does not fit");
        assert!(matches!(error, Error::Mismatch { .. }), "{error}");
        error.to_string()
    };
    let right = model_device::toy_keys::<64, 60, 10>;
    let text = refused(&SMALL_BLOCKS, AES, right);
    assert!(text.contains("blocks of 8") && text.contains("16"), "{text}");
    let toy = model_device::FAMILY.cipher();
    let text = refused(toy, AES, model_device::toy_keys::<60, 59, 10>);
    assert!(text.contains("60 key words for encryption") && text.contains("64"), "{text}");
    // Words of the right number, among them a number of rounds that the kernel would trust.
    refused(toy, AES, model_device::toy_keys::<64, 60, 1000>);
    refused(toy, AES, |key| KeyPair {
        decrypt: model_device::toy_keys::<64, 60, 1000>(key).decrypt,
        ..model_device::toy_keys::<64, 60, 10>(key)
    });
    refused(toy, DES, right);
}
