//! What buffers and engines refuse, and how much they ask of a device.

use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use lanecrypt_core::{CipherDescription, ConstantTime, CpuEngine, Direction, Engine as _};
use lanecrypt_kernels::{Task, programs};

use crate::{
    Device, DeviceBuffer, Engine, Error, Family, OnDevice, Operation,
    model_device::{CONSTANT_TIME, FAMILY, Fault, Model, ToyCipher, toy_keys},
};

const KEY: [u8; 16] = *b"a key for a toy.";
const IV: [u8; 16] = [0x80; 16];

/// The toy without an implementation for the CPU.
static ALONE: CipherDescription = CipherDescription {
    name: "toy for devices",
    standard: "none",
    block_bytes: 16,
    key_bytes: &[16],
    backends: &[],
    kernels: None,
};
static WITHOUT_CPU: Family = Family::new(
    &ALONE,
    "toy cipher",
    ConstantTime::Yes,
    &[&programs::AES_TABLE_SHARED],
    toy_keys::<64, 60, 10>,
);

fn engine(device: &Device) -> Engine {
    FAMILY.engine(device, &KEY).expect("no fault")
}

/// The text of an error.
fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.expect_err("bad input was accepted").to_string()
}

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 11 + i / 256) as u8).collect()
}

#[test]
fn buffers_hold_what_is_written_and_nothing_outside() {
    let device = Model::default().device();
    let mut buffer = DeviceBuffer::from_host(&device, &bytes(100)).expect("no fault");
    assert_eq!((buffer.len(), buffer.is_empty()), (100, false));
    assert_eq!(format!("{buffer:?}"), "DeviceBuffer { length: 100, .. }");
    assert!(DeviceBuffer::zeroed(&device, 0).expect("no fault").is_empty());

    buffer.write(90, &[0xaa; 10]).expect("up to its end");
    let mut found = [0; 12];
    buffer.read(88, &mut found).expect("up to its end");
    assert_eq!(found[..2], bytes(100)[88..90]);
    assert_eq!(found[2..], [0xaa; 10]);

    assert!(refused(buffer.write(91, &[0; 10])).contains("91..101 of a device buffer of 100"));
    assert!(refused(buffer.read(101, &mut [])).contains("101..101"));
    assert!(refused(buffer.read(usize::MAX, &mut [0; 2])).contains("100"));
    assert!(buffer.slice(16..100).is_ok() && buffer.slice_mut(97..97).is_ok());
    for range in [8..101, 0..101, 112..112] {
        assert!(refused(buffer.slice(range.clone())).contains("of a device buffer of 100"));
        assert!(refused(buffer.slice_mut(range)).contains("of a device buffer of 100"));
    }
    #[allow(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let backwards = buffer.slice(32..16);
    assert!(refused(backwards).contains("32..16"));
}

#[test]
fn parts_come_in_one_copy() {
    let device = Model::roomy(Fault::None).device();
    let text = bytes(5000);
    let buffer = DeviceBuffer::from_host(&device, &text).expect("no fault");
    let slice = buffer.slice(3..5000).expect("inside");
    let even: Vec<_> = (0..40).map(|i| (i * 100, 37)).collect();
    for places in [
        vec![],
        vec![(7, 12)],
        even,
        vec![(4000, 997), (0, 1), (1, 2), (3, 0), (100, 50), (4997, 0)],
    ] {
        let mut found: Vec<_> = places.iter().map(|&(_, length)| vec![0xee; length]).collect();
        let starts = places.iter().map(|&(start, _)| start);
        let mut parts: Vec<_> = starts.zip(found.iter_mut().map(|part| &mut part[..])).collect();
        slice.read_parts(&mut parts).expect("inside");
        for ((start, length), found) in places.into_iter().zip(found) {
            assert_eq!(found, text[3 + start..3 + start + length]);
        }
    }
    let (mut one, mut other) = ([0; 10], [0; 10]);
    assert!(refused(slice.read_parts(&mut [(0, &mut one), (4988, &mut other)])).contains("4988"));
}

#[test]
fn a_slice_is_split() {
    let device = Model::default().device();
    let mut buffer = DeviceBuffer::from_host(&device, &bytes(50)).expect("no fault");
    let (mut first, rest) =
        buffer.slice_mut(0..50).expect("all of it").split_at(20).expect("inside");
    let (middle, mut last) = rest.split_at(30).expect("up to its end");
    assert!(refused(last.write(0, &[1])).contains("0..1"));
    assert_eq!((first.as_slice().len(), middle.as_slice().len()), (20, 30));
    first.clear().expect("no fault");
    assert!(refused(first.split_at(21)).contains("of a device buffer of 20"));
    let mut found = [0; 50];
    buffer.read(0, &mut found).expect("all of it");
    assert!(found[..20] == [0; 20] && found[20..] == bytes(50)[20..]);
}

#[test]
fn a_slice_is_its_part_of_the_buffer() {
    let device = Model::default().device();
    let engine = engine(&device);
    for (start, length) in [(0, 64), (48, 64), (48, 5), (16, 21), (112, 0)] {
        let mut expected = bytes(128);
        let part = &mut expected[start..start + length];
        let cpu = CpuEngine::new(ToyCipher::new(&KEY.into()));
        cpu.ctr(&IV, part.into()).expect("the CPU does not fail");
        let mut buffer = DeviceBuffer::from_host(&device, &bytes(128)).expect("no fault");
        let mut slice = buffer.slice_mut(start..start + length).expect("in the buffer");
        engine.run(Operation::Ctr(IV.into()), &mut slice).expect("no fault");
        let mut found = vec![0; 128];
        buffer.read(0, &mut found).expect("no fault");
        assert!(found == expected, "{length} bytes from {start}");
    }
}

#[test]
fn buffers_of_another_device_are_refused() {
    let (ours, theirs) = (Model::default().device(), Model::default().device());
    let engine = engine(&ours);
    let ecb = Operation::Ecb(Direction::Encrypt);
    let here = DeviceBuffer::zeroed(&ours, 32).expect("no fault");
    let mut here_too = DeviceBuffer::zeroed(&ours, 32).expect("no fault");
    let mut there = DeviceBuffer::zeroed(&theirs, 32).expect("no fault");
    let says = |text: String| assert!(text.contains("the engine runs on"), "{text}");
    says(refused(engine.run(ecb, &mut there.slice_mut(0..32).expect("in it"))));
    let input = here.slice(0..32).expect("in it");
    says(refused(engine.run(ecb, (&input, &mut there.slice_mut(0..32).expect("in it")))));
    let input = there.slice(0..32).expect("in it");
    says(refused(engine.run(ecb, (&input, &mut here_too.slice_mut(0..32).expect("in it")))));
    // A clone of a device is the same one.
    let clone = ours.clone();
    let mut there = DeviceBuffer::zeroed(&clone, 32).expect("no fault");
    engine.run(ecb, &mut there.slice_mut(0..32).expect("in it")).expect("no fault");
}

#[test]
fn lengths_and_counters_that_do_not_fit_are_refused() {
    let device = Model::default().device();
    let engine = engine(&device);
    let mut buffer = DeviceBuffer::zeroed(&device, 64).expect("no fault");
    let ecb = Operation::Ecb(Direction::Decrypt);
    let mut run = |operation, length| {
        refused(engine.run(operation, &mut buffer.slice_mut(0..length).expect("in it")))
    };
    assert!(run(ecb, 40).contains("ECB over 40 bytes"));
    assert!(run(Operation::Ctr([7; 8].into()), 40).contains("CTR IV of 8 bytes"));
    let input = DeviceBuffer::zeroed(&device, 32).expect("no fault");
    let input = input.slice(0..32).expect("in it");
    let text = refused(engine.run(ecb, (&input, &mut buffer.slice_mut(0..64).expect("in it"))));
    assert!(text.contains("64") && text.contains("32"), "{text}");
}

#[test]
fn host_memory_passes_in_chunks_of_the_limit() {
    for (limit, chunk, launches) in [(64, 64, 4), (79, 64, 4), (96, 96, 3), (0, 16, 13)] {
        let model = Model::default();
        let engine = engine(&model.device());
        engine.limit_chunk(limit);
        let mut data = bytes(13 * 16);
        engine.ecb(Direction::Encrypt, data.as_mut_slice().into()).expect("no fault");
        assert_eq!((model.largest_write(), model.launches()), (chunk, launches), "limit {limit}");
    }
    // Without a limit, all of it.
    let model = Model::default();
    let mut data = bytes(13 * 16);
    engine(&model.device()).ecb(Direction::Encrypt, data.as_mut_slice().into()).expect("no fault");
    assert_eq!((model.largest_write(), model.launches()), (13 * 16, 1));
}

#[test]
fn a_part_of_a_block_is_one_launch() {
    for (length, launches) in [(64, 1), (65, 2), (5, 1), (0, 0)] {
        let run = run_ctr(&FAMILY, length);
        assert_eq!(run.launches, launches, "{length} bytes");
        assert_eq!(run.kernels, launches, "{length} bytes");
    }
}

/// What must be so for a cipher that has no CPU's implementation: copied there, run, and copied back.
#[test]
fn without_a_cpu_s_cipher_a_part_of_a_block_passes_a_block_of_its_own() {
    for (length, launches, kernels) in [(64, 1, 1), (65, 4, 2), (5, 3, 2), (0, 0, 0)] {
        let run = run_ctr(&WITHOUT_CPU, length);
        assert_eq!((run.launches, run.kernels), (launches, kernels), "{length} bytes");
        assert_eq!(run.output, run_ctr(&FAMILY, length).output, "{length} bytes");
    }
}

#[test]
fn gcm_needs_a_cpu_s_cipher() {
    let error = refused(WITHOUT_CPU.gcm_engine(&Model::default().device(), &KEY));
    assert!(error.contains("toy for devices") && error.contains("CPU"), "{error}");
}

/// What CTR over some bytes of the device took, and made.
struct Run {
    launches: usize,
    kernels: usize,
    output: Vec<u8>,
}

fn run_ctr(family: &Family, length: usize) -> Run {
    let model = Model::default();
    let device = model.device();
    let mut buffer = DeviceBuffer::zeroed(&device, 80).expect("no fault");
    let mut slice = buffer.slice_mut(0..length).expect("in it");
    let engine = family.engine(&device, &KEY).expect("no fault");
    engine.run(Operation::Ctr(IV.into()), &mut slice).expect("no fault");
    let (launches, kernels) = (model.launches(), model.loads());
    assert_eq!(model.largest_write(), 0, "nothing comes from the host");
    let mut output = vec![0; 80];
    buffer.read(0, &mut output).expect("no fault");
    assert!(output[length..].iter().all(|&byte| byte == 0), "behind {length} bytes");
    Run { launches, kernels, output }
}

#[test]
fn single_blocks_run_on_the_cpu() {
    let model = Model::failing(Fault::From(0));
    let ours = OnDevice::<ToyCipher>::new(&model.device(), &KEY.into()).expect("no driver call");
    let theirs = ToyCipher::new(&KEY.into());
    let mut block = [0x3c; 16].into();
    let mut expected = block;
    ours.encrypt_block(&mut block);
    theirs.encrypt_block(&mut expected);
    assert_eq!(block, expected);
    ours.decrypt_block(&mut block);
    assert_eq!(block, [0x3c; 16]);
    ours.encrypt_blocks(std::slice::from_mut(&mut block));
    assert_eq!(block, expected);
    ours.decrypt_blocks(std::slice::from_mut(&mut block));
    ours.decrypt_blocks(&mut []);
    assert_eq!(block, [0x3c; 16]);
    assert_eq!((ours.fallbacks(), model.launches()), (0, 0));
    assert_eq!(format!("{ours:?}"), "Toy on model { .. }");
}

#[test]
fn kernels_are_chosen_by_their_claim_or_by_name() {
    static OF_AES: CipherDescription = CipherDescription { name: "aes", ..*FAMILY.cipher() };
    static FOREIGN: Family =
        Family::new(&OF_AES, "", ConstantTime::Yes, FAMILY.programs(), toy_keys::<64, 60, 10>);
    let (model, key) = (Model::default(), KEY.into());
    let device = model.device();
    let fastest = OnDevice::<ToyCipher>::new(&device, &key).expect("no fault");
    assert!(matches!(fastest.claim(), ConstantTime::No(_)));
    let safe = OnDevice::<ToyCipher>::constant_time(&device, &key).expect("no fault");
    assert_eq!(safe.claim(), ConstantTime::Yes);
    let chosen = OnDevice::<ToyCipher>::of_family(&CONSTANT_TIME, &device, &key).expect("no fault");
    for cipher in [fastest, safe, chosen] {
        let mut blocks = [[7; 16].into(); 3];
        cipher.encrypt_blocks(&mut blocks);
        let mut expected = [[7; 16].into(); 3];
        ToyCipher::new(&key).encrypt_blocks(&mut expected);
        assert_eq!((blocks, cipher.fallbacks()), (expected, 0));
    }
    assert_eq!(model.launches(), 3);
    let text = refused(OnDevice::<ToyCipher>::of_family(&FOREIGN, &device, &key));
    assert_eq!(text, "kernels of aes, not of toy");
}

#[test]
fn the_device_is_asked_and_its_answers_are_passed_on() {
    let device = Model::default().device();
    assert_eq!(format!("{device:?}"), "Device { name: \"model\", .. }");
    assert_eq!(device.free_bytes().expect("no fault"), Model::FREE_BYTES);
    let engine = engine(&device);
    let kernel = engine.program().kernel(Task::Ctr).expect("every program has it");
    assert_eq!(engine.resources(kernel).expect("no fault"), Some(Model::RESOURCES));
    let (input, mut output) = (
        DeviceBuffer::zeroed(&device, 32).expect("no fault"),
        DeviceBuffer::zeroed(&device, 32).expect("no fault"),
    );
    let (whole, mut target) =
        (input.slice(0..32).expect("in it"), output.slice_mut(0..32).expect("in it"));
    let time = engine.time(Operation::Ctr(IV.into()), (&whole, &mut target)).expect("no fault");
    assert_eq!(time, Model::TIME);
    assert!(engine.chunk_bytes() >= 1 << 20, "modes hand it pieces that are worth a launch");
    let text = format!("{engine:?}");
    assert!(text.contains("model") && text.contains("aes_table"), "{text}");
}
