//! What only a device does: data that stays on it, buffers above 4 GiB, RustCrypto's bulk methods,
//! several threads on one engine. All ciphers and kernels, on the GPU, and small on the host build
//! of the kernels.
//!
//! Options are those of libtest; `device cuda` runs the trials on the GPU, `device host` the
//! others. A device that cannot run is ignored with its reason on standard error, or fails where
//! `LANECRYPT_EXPECT` names one of its backends.

#[path = "device/basis.rs"]
mod basis;
#[path = "device/batches.rs"]
mod batches;
mod common;
#[path = "device/counters.rs"]
mod counters;
#[path = "device/fleet.rs"]
mod fleet;
#[path = "device/gcm.rs"]
mod gcm;
#[path = "device/geometries.rs"]
mod geometries;
#[path = "device/large.rs"]
mod large;
mod mix;
#[path = "device/random.rs"]
mod random;
#[path = "device/streams.rs"]
mod streams;
#[path = "device/units.rs"]
mod units;

use std::{collections::HashSet, fmt::Display, process::ExitCode};

use common::{EngineBlocks, Outcome, Property, noise};
use lanecrypt::{
    CIPHERS, ConstantTime, Counter, Direction, Engine as _, aes, aria, camellia,
    cipher::{Array, Block, BlockCipherDecrypt, BlockCipherEncrypt, Key, KeyInit},
    cuda::{
        Device, DeviceBuffer, DeviceCipher, Engine, Error, GhashEngine, HashFamily, OnDevice,
        Operation, PinnedBuffer, task_of,
    },
    des, hight,
    modes::times_power_of_x,
    registry::{Backend, CipherDescription, Platform},
};
use libtest_mimic::{Arguments, Failed, Trial};

/// Which device, all that there are of the kind, and how large the large buffers are.
struct Case {
    open: fn() -> Result<Device, Error>,
    open_all: fn() -> Result<Vec<Device>, Error>,
    platform: Platform,
    large_bytes: usize,
}

const GIB: usize = 1 << 30;
/// Longer than any cipher's.
const KEY: [u8; 32] = {
    let mut key = [0; 32];
    let mut i = 0;
    while i < 32 {
        key[i] = 0x3c ^ (i as u8).wrapping_mul(0x1b);
        i += 1;
    }
    key
};
/// Carries out of 64 bits within the first 100 blocks; its end wraps an 8-byte counter.
const COUNTER: [u8; 16] = {
    let mut counter = [0xff; 16];
    counter[0] = 1;
    counter[15] = 0x9c;
    counter
};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let expected = common::expected();
    let mut trials = vec![Trial::test("cuda::no_such_device_is_named", no_such_device)];
    let cases = [
        (
            "cuda",
            Case {
                open: Device::default,
                open_all: Device::all,
                platform: Platform::Cuda,
                large_bytes: 6 * GIB + 16,
            },
        ),
        #[cfg(feature = "host-kernels")]
        (
            "host",
            Case {
                open: Device::on_host,
                open_all: || Ok(vec![Device::on_host()?, Device::another_on_host()?]),
                platform: Platform::CudaOnHost,
                large_bytes: (1 << 18) + 16,
            },
        ),
    ];
    for (name, case) in cases {
        let is_of_case = |backend: &&Backend| backend.platform == case.platform;
        let is_expected = CIPHERS.iter().any(|cipher| {
            let mut backends = cipher.backends.iter().filter(is_of_case);
            backends.any(|backend| expected.contains(cipher, backend))
        });
        trials.extend(device_trials(name, case, is_expected));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What cudarc has no memory for on the host build.
#[cfg(feature = "cudarc-interop")]
const OF_CUDARC: &[(&str, Property<Case>)] = &[("memory_of_cudarc", streams::memory_of_cudarc)];
#[cfg(not(feature = "cudarc-interop"))]
const OF_CUDARC: &[(&str, Property<Case>)] = &[];

fn device_trials(name: &str, case: Case, is_expected: bool) -> Vec<Trial> {
    let mut properties: Vec<(&str, Property<Case>)> = vec![
        ("ranges_and_canaries", ranges_and_canaries),
        ("partial_blocks_on_the_device", partial_blocks_on_the_device),
        ("launches_of_any_geometry", geometries::operations),
        ("data_units_of_any_geometry", geometries::data_units),
        ("rounds_that_counters_share", counters::shared_rounds),
        ("refuses_bad_ranges_and_lengths", refuses_bad_ranges_and_lengths),
        ("data_units", units::data_units),
        ("masks_of_the_basis", basis::masks),
        ("products_of_the_basis", basis::products),
        ("ghash", gcm::hashes),
        ("gcm", gcm::messages),
        ("gcm_refuses", gcm::refusals),
        ("gcm_vectors", gcm::vectors),
        ("batches", batches::mixed),
        ("batches_at_boundaries", batches::boundaries),
        ("batches_in_host_memory", batches::host_memory),
        ("batches_in_pinned_memory", batches::pinned_memory),
        ("batches_refuse", batches::refusals),
        ("batches_and_modes_show_no_key", batches::secrets),
        ("batch_vectors", batches::vectors),
        ("random_numbers", random::numbers),
        ("random_bytes_of_runs", random::bytes_of_runs),
        ("many_random_numbers", random::many),
        ("bulk_methods", bulk_methods),
        ("fleet_ranges", fleet::ranges),
        ("fleet_data_units", fleet::data_units),
        ("fleet_parts", fleet::parts),
        ("fleet_batches", fleet::batches),
        ("chunks_of_host_memory", chunks_of_host_memory),
        ("threads_share_an_engine", threads_share_an_engine),
        ("streams_run_beside_each_other", streams::streams_run_beside_each_other),
        ("threads_queue_data_units", streams::threads_queue_data_units),
        ("streams_dropped_early", streams::streams_dropped_early),
        ("large_resident_buffers", large_resident_buffers),
        ("large_host_buffers", large::host_buffers),
        ("large_gcm", gcm::large_message),
        ("large_fleet", fleet::large),
    ];
    if case.platform == Platform::Cuda {
        properties.extend(OF_CUDARC);
    }
    let reason = (case.open)().err();
    let reason = reason.as_ref().map(|reason| reason as &dyn Display);
    common::trials(name, reason, is_expected, case, &properties)
}

/// A cipher's kernels under test: one of its backends, keyed.
struct Target {
    cipher: &'static CipherDescription,
    backend: &'static Backend,
    engine: Engine,
}

impl Target {
    fn name(&self) -> String {
        format!("{}/{}", self.cipher.name, self.backend.id)
    }

    /// Every operation that kernels run; XTS as one unit.
    fn operations(&self) -> Vec<Operation<'static>> {
        let block = counter(self.cipher);
        let counter = Counter::from_block(block).expect("a block");
        let mut operations = vec![
            Operation::Ecb(Direction::Encrypt),
            Operation::Ecb(Direction::Decrypt),
            Operation::Ctr(counter),
            Operation::Ctr32(counter),
            Operation::Cbc(Direction::Decrypt, block),
            Operation::Cfb(Direction::Decrypt, block),
        ];
        if self.cipher.block_bytes == COUNTER.len() {
            operations.extend(Direction::BOTH.map(|direction| Operation::Xts(direction, &COUNTER)));
        }
        operations
    }
}

fn counter(cipher: &CipherDescription) -> &'static [u8] {
    &COUNTER[16 - cipher.block_bytes..]
}

/// The longest key that the cipher takes.
fn key(cipher: &CipherDescription) -> &'static [u8] {
    &KEY[..cipher.key_bytes.iter().copied().max().unwrap_or(0)]
}

/// Every backend of every cipher on the case's device.
fn targets(case: &Case) -> Result<Vec<Target>, Failed> {
    let pairs = CIPHERS.iter().flat_map(|&cipher| cipher.backends.iter().map(move |b| (cipher, b)));
    let of_platform = pairs.filter(|(_, backend)| backend.platform == case.platform);
    let target = |(cipher, backend): (&'static CipherDescription, &'static Backend)| {
        let engine = Engine::of(backend, key(cipher));
        let engine = engine.map_err(|error| format!("{}/{}: {error}", cipher.name, backend.id))?;
        Ok(Target { cipher, backend, engine: engine.ok_or("a row of a device has a family")? })
    };
    of_platform.map(target).collect()
}

/// The fastest constant-time CPU engine of a cipher.
fn on_the_cpu(cipher: &CipherDescription) -> Result<Box<dyn lanecrypt::Engine>, Failed> {
    let create = widest_on_the_cpu(cipher)?.create;
    create(key(cipher)).map_err(|error| error.to_string().into())
}

/// The backend of that engine.
fn widest_on_the_cpu(cipher: &CipherDescription) -> Result<&'static Backend, Failed> {
    let suits = |backend: &&Backend| {
        backend.platform == Platform::Cpu
            && backend.constant_time == ConstantTime::Yes
            && (backend.available)().is_ok()
    };
    let widest = cipher.backends.iter().filter(suits).max_by_key(|backend| backend.lanes);
    widest.ok_or_else(|| "every cipher has a constant-time CPU backend".into())
}

/// What `operation` makes of `data`, by the CPU, on all its cores.
fn expect(cipher: &CipherDescription, operation: Operation<'_>, data: &mut [u8]) -> Outcome {
    let engine = on_the_cpu(cipher)?;
    let block = cipher.block_bytes;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = data.len().div_ceil(threads).next_multiple_of(block).max(block);
    // The block before each part, which another thread may overwrite.
    let before: Vec<Vec<u8>> = (0..data.len().div_ceil(part))
        .map(|i| data[(i * part).saturating_sub(block)..][..block.min(data.len())].to_vec())
        .collect();
    let run = |(i, part_data): (usize, &mut [u8])| {
        let first = i * part / block;
        let previous = |iv: &[u8]| if i == 0 { iv.to_vec() } else { before[i].clone() };
        match operation {
            Operation::Ecb(direction) => engine.ecb(direction, part_data.into()),
            Operation::Ctr(counter) => {
                engine.run(Operation::Ctr(counter.plus(first as u128)), part_data.into())
            }
            Operation::Ctr32(counter) => {
                let mut block = vec![0; block];
                counter.fill(&mut block);
                let mut counters = counters_of_32_bits(&block, first, part_data.len());
                engine.ecb(Direction::Encrypt, counters.as_mut_slice().into())?;
                xor(part_data, &counters);
                Ok(())
            }
            Operation::Cbc(_, iv) => {
                let ciphertext = [&previous(iv), &*part_data].concat();
                engine.ecb(Direction::Decrypt, (&mut *part_data).into())?;
                xor(part_data, &ciphertext);
                Ok(())
            }
            Operation::Cfb(_, iv) => {
                let mut ciphertext = [&previous(iv), &*part_data].concat();
                engine.ecb(Direction::Encrypt, ciphertext.as_mut_slice().into())?;
                xor(part_data, &ciphertext);
                Ok(())
            }
            Operation::Xts(direction, mask) => {
                let mask = times_power_of_x(mask, first as u64);
                engine.run(Operation::Xts(direction, &mask), part_data.into())
            }
            Operation::Ctr32Le(_) | Operation::Ofb(_) => unreachable!("no kernel runs it"),
        }
    };
    let run = &run;
    std::thread::scope(|scope| {
        let parts = data.chunks_mut(part).enumerate();
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || run(part))).collect();
        let results = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        results.collect::<Result<Vec<()>, _>>().map(drop).map_err(|error| error.to_string().into())
    })
}

/// The counter blocks from number `first` after `counter` on, which wraps in its last four bytes: as
/// many as `length` bytes need.
fn counters_of_32_bits(counter: &[u8], first: usize, length: usize) -> Vec<u8> {
    let (front, low) = counter.split_at(counter.len() - 4);
    let low = u32::from_be_bytes(low.try_into().expect("four bytes"));
    let block = |i: usize| [front, &low.wrapping_add((first + i) as u32).to_be_bytes()].concat();
    (0..length.div_ceil(counter.len())).flat_map(block).collect()
}

/// XORs the first bytes of `mask` over `data`.
fn xor(data: &mut [u8], mask: &[u8]) {
    data.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
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
    let after = 64;
    for target in targets(case)? {
        let engine = &target.engine;
        // What a warp or a thread block takes at once, and a block less and more.
        let lanes = target.backend.lanes;
        // And so much that every warp has a range of several runs.
        let counts = [lanes - 1, lanes, lanes + 1, 1025, 9 * lanes + 7];
        for (operation, count) in
            target.operations().into_iter().flat_map(|o| counts.map(|c| (o, c)))
        {
            let length = count * target.cipher.block_bytes;
            let start = if count == lanes { 41 } else { 48 }; // anywhere, and where kernels can read
            let data = noise(start + length + after, count as u64);
            let mut expected = data.clone();
            expect(target.cipher, operation, &mut expected[start..start + length])?;
            let range = start..start + length;
            let what = format!("{} {operation:?} of {count} blocks", target.name());

            let mut buffer = DeviceBuffer::from_host(&device, &data)?;
            engine.run(operation, &mut buffer.slice_mut(range.clone())?)?;
            compare(&buffer, &expected, &format!("{what}, in place"))?;

            let input = DeviceBuffer::from_host(&device, &data)?;
            let mut output = DeviceBuffer::from_host(&device, &data)?;
            engine.run(operation, (&input.slice(range.clone())?, &mut output.slice_mut(range)?))?;
            compare(&output, &expected, &format!("{what}, out of place"))?;
            compare(&input, &data, &format!("{what}, its input"))?;
        }
    }
    Ok(())
}

fn compare(buffer: &DeviceBuffer, expected: &[u8], what: &str) -> Outcome {
    const PART: usize = 256 << 20;
    let mut found = vec![0; PART.min(buffer.len())];
    for (i, expected) in expected.chunks(PART).enumerate() {
        let found = &mut found[..expected.len()];
        buffer.read(i * PART, found)?;
        if found != expected {
            let at = found.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(0);
            return Err(format!("{what}: byte {} is wrong", i * PART + at).into());
        }
    }
    Ok(())
}

/// CTR that ends inside a block touches nothing after its last byte.
fn partial_blocks_on_the_device(case: &Case) -> Outcome {
    let device = (case.open)()?;
    for target in targets(case)? {
        let counter = counter(target.cipher);
        let lengths = [0, 1, 7, 15, 17, 1000, 16 * 1024 + 5];
        let counter = Counter::from_block(counter).ok_or("a block")?;
        let operations = [Operation::Ctr(counter), Operation::Ctr32(counter)];
        for (operation, length) in operations.into_iter().flat_map(|o| lengths.map(|l| (o, l))) {
            let data = noise(length + 32, length as u64);
            let mut expected = data.clone();
            expect(target.cipher, operation, &mut expected[..length])?;
            let mut buffer = DeviceBuffer::from_host(&device, &data)?;
            target.engine.run(operation, &mut buffer.slice_mut(0..length)?)?;
            compare(&buffer, &expected, &format!("{} over {length} bytes", target.name()))?;
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
    refused(error(buffer.slice(8..101).map(drop)), &["8..101", "100"])?;
    refused(error(buffer.slice(96..112).map(drop)), &["96..112", "100"])?;
    refused(error(buffer.read(90, &mut [0; 20])), &["90..110", "100"])?;
    refused(error(buffer.write(usize::MAX, &[0; 2])), &["100"])?;
    let engine = aes::cuda::TABLE_SHARED.engine(&device, &KEY)?;
    let ecb = Operation::Ecb(Direction::Encrypt);
    refused(error(engine.run(ecb, &mut buffer.slice_mut(0..100)?)), &["ECB", "100"])?;
    let other = DeviceBuffer::zeroed(&device, 64)?;
    let result = engine.run(ecb, (&other.slice(0..64)?, &mut buffer.slice_mut(0..32)?));
    refused(error(result), &["64", "32"])?;
    let result = engine.run(Operation::Ctr([0; 8].into()), &mut buffer.slice_mut(0..32)?);
    refused(error(result), &["CTR", "8", "16"])?;
    let keyed = aes::cuda::TABLE_SHARED.engine(&device, &[0; 20]).map(drop);
    refused(error(keyed), &["20", "[16, 24, 32]"])?;
    let keyed = des::cuda::tdes::BITSLICE.engine(&device, &[0; 8]).map(drop);
    refused(error(keyed), &["8", "[16, 24]"])
}

/// All six bulk methods of every RustCrypto type, against the CPU's.
fn bulk_methods(case: &Case) -> Outcome {
    const TYPES: &[fn(&Device) -> Outcome] = &[
        bulk_methods_of::<aes::Aes128>,
        bulk_methods_of::<aes::Aes192>,
        bulk_methods_of::<aes::Aes256>,
        bulk_methods_of::<aria::Aria128>,
        bulk_methods_of::<aria::Aria192>,
        bulk_methods_of::<aria::Aria256>,
        bulk_methods_of::<camellia::Camellia128>,
        bulk_methods_of::<camellia::Camellia192>,
        bulk_methods_of::<camellia::Camellia256>,
        bulk_methods_of::<des::Des>,
        bulk_methods_of::<des::TdesEde2>,
        bulk_methods_of::<des::TdesEde3>,
        bulk_methods_of::<des::TdesEee2>,
        bulk_methods_of::<des::TdesEee3>,
        bulk_methods_of::<hight::Hight>,
        bulk_methods_of::<hight::HightKisa>,
        bulk_methods_of::<lanecrypt::lea::Lea128>,
        bulk_methods_of::<lanecrypt::lea::Lea192>,
        bulk_methods_of::<lanecrypt::lea::Lea256>,
        bulk_methods_of::<lanecrypt::seed::Seed128>,
        bulk_methods_of::<lanecrypt::sm4::Sm4>,
    ];
    let all: usize = CIPHERS.iter().map(|cipher| cipher.key_bytes.len()).sum();
    assert_eq!(TYPES.len(), all, "a type for every cipher and key size");
    let device = (case.open)()?;
    TYPES.iter().try_for_each(|check| check(&device))
}

/// A cipher's key, from the start of [`KEY`].
fn key_of<C: KeyInit>() -> Key<C> {
    Array::from_fn(|i| KEY[i])
}

fn bulk_methods_of<C: DeviceCipher>(device: &Device) -> Outcome {
    let ours = OnDevice::<C>::new(device, &key_of::<C>())?;
    let theirs = C::new(&key_of::<C>());
    for count in [0_usize, 1, 1000, 5001] {
        let mut plain: Vec<Block<C>> = vec![Array::default(); count];
        let bytes = Array::slice_as_flattened_mut(&mut plain);
        bytes.copy_from_slice(&noise(bytes.len(), 3));
        let mut expected = plain.clone();
        theirs.encrypt_blocks(&mut expected);

        let mut blocks = plain.clone();
        ours.encrypt_blocks(&mut blocks);
        assert!(blocks == expected, "{ours:?}: encrypt_blocks of {count}");
        ours.decrypt_blocks(&mut blocks);
        assert!(blocks == plain, "{ours:?}: decrypt_blocks of {count}");
        ours.encrypt_blocks_inout(blocks.as_mut_slice().into());
        assert!(blocks == expected, "{ours:?}: encrypt_blocks_inout of {count}");
        ours.decrypt_blocks_inout(blocks.as_mut_slice().into());
        assert!(blocks == plain, "{ours:?}: decrypt_blocks_inout of {count}");
        let mut output = plain.clone();
        ours.encrypt_blocks_b2b(&plain, &mut output).expect("equal lengths");
        assert!(output == expected, "{ours:?}: encrypt_blocks_b2b of {count}");
        ours.decrypt_blocks_b2b(&expected, &mut blocks).expect("equal lengths");
        assert!(blocks == plain, "{ours:?}: decrypt_blocks_b2b of {count}");
        let mut longer = vec![Array::default(); count + 1];
        assert!(ours.encrypt_blocks_b2b(&plain, &mut longer).is_err());
    }
    assert_eq!(ours.fallbacks(), 0, "everything ran on the device");
    let other = OnDevice::<C>::new(device, &Array::default())?;
    assert_eq!(format!("{ours:?}"), format!("{other:?}"), "shows nothing of the key");
    assert_eq!(format!("{:#?}", ours.engine()), format!("{:#?}", other.engine()));
    Ok(())
}

/// Host memory that passes the device in several parts: CTR counts on from one to the next, and the
/// last one ends inside a block.
fn chunks_of_host_memory(case: &Case) -> Outcome {
    (case.open)()?;
    for target in targets(case)? {
        let engine = &target.engine;
        let chunk = (target.backend.lanes + 3) * target.cipher.block_bytes;
        engine.limit_chunk(chunk);
        for operation in target.operations() {
            let is_ctr = matches!(operation, Operation::Ctr(_) | Operation::Ctr32(_));
            let tail = if is_ctr { 5 } else { 0 };
            let mut data = noise(3 * chunk + target.cipher.block_bytes + tail, 21);
            let mut expected = data.clone();
            expect(target.cipher, operation, &mut expected)?;
            engine.run_host_memory(operation, data.as_mut_slice().into())?;
            if data != expected {
                return Err(format!("{} {operation:?} in parts", target.name()).into());
            }
        }
    }
    Ok(())
}

fn threads_share_an_engine(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let engine = aes::cuda::CONFLICT_FREE.engine(&device, &KEY)?;
    std::thread::scope(|scope| {
        let run = |seed| {
            let engine = &engine;
            scope.spawn(move || {
                let data = noise(100_003, seed);
                let mut expected = data.clone();
                expect(&aes::AES, Operation::Ctr(COUNTER.into()), &mut expected)?;
                for _ in 0..4 {
                    let mut copy = data.clone();
                    let result = engine.ctr(&COUNTER, copy.as_mut_slice().into());
                    result.map_err(|error| Failed::from(error.to_string()))?;
                    if copy != expected {
                        return Err(Failed::from("threads disturb each other"));
                    }
                }
                Ok(())
            })
        };
        let threads: Vec<_> = (0..4).map(run).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
}

/// Data that differs in every block: its number, multiplied by an odd constant.
fn paint(data: &mut [u8]) {
    for (number, word) in (0_u64..).zip(data.as_chunks_mut::<8>().0) {
        *word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    }
}

/// Above 4 GiB: no 32-bit index anywhere. Every kernel once for an operation. On a GPU what comes out is hashed there,
/// under a random key, and what the CPU made of it too: bringing all of it back takes seconds.
fn large_resident_buffers(case: &Case) -> Outcome {
    let device = (case.open)()?;
    let length = case.large_bytes;
    let mut data = vec![0; length];
    paint(&mut data);
    let input = DeviceBuffer::from_host(&device, &data)?;
    let mut output = DeviceBuffer::zeroed(&device, length)?;
    let mut expected_there = DeviceBuffer::zeroed(&device, length)?;
    let hash = GhashEngine::new(&device, HashFamily::of(device.properties()), &[0x5c; 16])?;
    let digest = |buffer: &DeviceBuffer| {
        if case.platform == Platform::Cuda {
            return hash.hash(&[], &buffer.slice(0..length)?).map(Vec::from);
        }
        let mut bytes = vec![0; length];
        buffer.read(0, &mut bytes).map(|()| bytes)
    };
    let mut expected = PinnedBuffer::zeroed(&device, length)?; // which is copied to the device fastest
    let targets = targets(case)?;
    for i in 0..targets.first().map_or(0, |target| target.operations().len()) {
        let mut ran = HashSet::new();
        for cipher in CIPHERS {
            let is_new = |target: &&Target| {
                let task = target.operations().get(i).copied().and_then(task_of);
                let kernel = task.and_then(|task| target.engine.program().kernel(task));
                target.cipher.name == cipher.name && kernel.is_some_and(|k| ran.insert(k.name()))
            };
            let targets: Vec<&Target> = targets.iter().filter(is_new).collect();
            let Some(operation) = targets.first().map(|target| target.operations()[i]) else {
                continue;
            };
            expected.copy_from_slice(&data);
            expect(cipher, operation, &mut expected)?;
            expected_there.write(0, &expected)?;
            let expected_digest = digest(&expected_there)?;
            for target in targets {
                let mut whole = output.slice_mut(0..length)?;
                target.engine.run(operation, (&input.slice(0..length)?, &mut whole))?;
                if digest(&output)? != expected_digest {
                    // Where, and that it was not the hash.
                    compare(&output, &expected, &format!("{} {operation:?}", target.name()))?;
                    return Err(format!("{}: a wrong digest", target.name()).into());
                }
            }
        }
    }
    Ok(())
}
