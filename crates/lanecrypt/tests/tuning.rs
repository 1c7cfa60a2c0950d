//! Tuning and `Auto`: files that are of no use, a device that is tuned, both sides of a switch.

use std::{
    fmt::{self, Write as _},
    fs,
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError},
    time::Duration,
};

use lanecrypt::{
    Auto, AutoEngine, ConstantTime, Direction, Engine, Gcm, Parallel, SerialMode,
    THREAD_PIECE_BYTES,
    aes::Aes128,
    cipher::{AlgorithmName, Block, BlockCipherDecrypt, BlockCipherEncrypt, InOutBuf, KeyInit},
    cuda::{
        Device, DeviceCipher, Experience, Family, Geometry, KeyPair, Keys, Measured, Operation,
        kernels::{Task, programs},
    },
    des::TdesEde3,
    modes::ChainedMessage,
    tuning::{self, Crossovers, Folder, Ignored, Options, Place, Switches, Tuning},
};

fn device() -> Device {
    Device::on_host()
        .expect("LANECRYPT_HOST_KERNELS names the library: `cargo xtask test` builds it")
}

/// The device's experience is the process's: who changes it does so alone.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn measured(bytes: u64, threads: u32) -> Measured {
    let geometry = Geometry { threads, blocks_per_multiprocessor: 2 };
    Measured { bytes, geometry, nanoseconds: 1000 }
}

/// Some of everything.
fn example() -> Tuning {
    let mut experience = Experience::default();
    let row = vec![measured(64, 32), measured(4096, 128)];
    experience.set_launches("aes_bitslice_ecb_encrypt", 16, row);
    experience.set_launches("aes_bitslice_ecb_encrypt", 32, vec![measured(64, 96)]);
    let piece = lanecrypt::cuda::Piece { bytes: 1 << 24, piece_bytes: 1 << 20 };
    experience.set_pieces("aes_bitslice_ctr", 24, vec![piece]);
    let mut crossovers = Crossovers::default();
    let switches = Switches::new(vec![4096, 1 << 30]).expect("they ascend");
    crossovers.set("des_bitslice_ctr", 8, switches);
    crossovers.set("aes_conflict_free_4_ctr", 16, Switches::default());
    Tuning { experience: Arc::new(experience), crossovers }
}

/// No call waits for itself, and the second time is as the first.
#[test]
#[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
fn what_is_known_is_loaded() {
    let (_alone, device) = (alone(), device());
    let first = tuning::load(&device);
    assert_eq!(device.experience(), first.experience);
    assert!(Arc::ptr_eq(&tuning::load(&device), &first));
}

#[test]
#[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
fn what_is_written_is_read_again() {
    let (device, folder) = (device(), tempfile::tempdir().expect("a folder"));
    let folder = Folder::at(folder.path().join("that/is/not/there"));
    assert_eq!(folder.read(&device), Err(Ignored::Missing));
    for tuning in [example(), Tuning::default()] {
        folder.write(&device, &tuning).expect("a folder to write to");
        assert_eq!(folder.read(&device), Ok(tuning));
    }
    let beside = folder.file(&device).parent().expect("it lies in a folder").to_owned();
    let files = fs::read_dir(beside).expect("it is there").count();
    assert_eq!(files, 1, "nothing unfinished is left");
}

#[test]
#[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
fn a_folder_that_cannot_be_is_an_error_that_names_the_file() {
    let (device, file) = (device(), tempfile::NamedTempFile::new().expect("a file"));
    let folder = Folder::at(file.path().join("below a file"));
    let error = folder.write(&device, &example()).expect_err("no folder").to_string();
    assert!(error.contains("below a file"), "{error}");
}

#[test]
#[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
fn files_that_are_of_no_use_are_ignored_for_a_reason() {
    let (device, folder) = (device(), tempfile::tempdir().expect("a folder"));
    let folder = Folder::at(folder.path());
    folder.write(&device, &example()).expect("a folder to write to");
    let (file, text) = (folder.file(&device), fs::read(folder.file(&device)).expect("it is there"));
    let text = String::from_utf8(text).expect("it is text");
    let ignored = |bytes: &[u8]| {
        fs::write(&file, bytes).expect("a file to write");
        folder.read(&device).expect_err("it is of no use")
    };
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in\n{text}");
        ignored(text.replacen(from, to, 1).as_bytes())
    };

    // Cut anywhere: either it is noticed, or nothing but whole rows is missing.
    for end in 0..text.len() {
        fs::write(&file, &text[..end]).expect("a file to write");
        match folder.read(&device) {
            Err(Ignored::Corrupt(_)) => {}
            Err(other) => panic!("{other:?} of {end} bytes"),
            Ok(tuning) => {
                let whole = example();
                let rows = |tuning: &Tuning| tuning.crossovers.iter().count();
                assert!(rows(&tuning) <= rows(&whole) && end > text.len() / 3, "{end} bytes");
            }
        }
    }
    let corrupt = |why: Ignored| assert!(matches!(why, Ignored::Corrupt(_)), "{why:?}");
    corrupt(ignored(b""));
    corrupt(ignored(b"about = 7"));
    corrupt(changed("[about]", "[about]\nunknown = 1"));
    corrupt(changed("[[launches]]", "[[lunches]]"));
    assert!(matches!(ignored(b"\xff\xfe\x00"), Ignored::Unreadable(_)), "no text");
    corrupt(ignored(&vec![b'#'; (8 << 20) + 1]));
    // Numbers that no launch has.
    for row in [
        "[64, 0, 2, 1000]",
        "[64, 33, 2, 1000]",
        "[64, 4294967264, 2, 1000]",
        "[64, 4294967296, 2, 1000]",
        "[64, -32, 2, 1000]",
        "[64, 32, 0, 1000]",
        "[64, 32, 4000000000, 1000]",
        "[64, 32, 2, 0]",
        "[64, 32, 2, 9223372036854775807]",
        "[0, 32, 2, 1000]",
        "[9223372036854775807, 32, 2, 1000]",
        "[4096, 32, 2, 1000]", // twice the same length
        "[64, 32, 2]",
        "[64, \"32\", 2, 1000]",
        "[64, 3.2e1, 2, 1000]",
    ] {
        corrupt(changed("[64, 32, 2, 1000]", row));
    }
    corrupt(changed("[16777216, 1048576]", "[16777216, 0]"));
    corrupt(changed("[4096, 1073741824]", "[1073741824, 4096]"));
    // Other devices, drivers and kernels.
    let foreign = changed("multiprocessors = 2", "multiprocessors = 132");
    assert!(matches!(&foreign, Ignored::Foreign(why) if why.contains("132")), "{foreign:?}");
    for (from, to) in [
        ("format = 1", "format = 2"),
        ("driver = 0", "driver = 13000"),
        ("lanecrypt = \"", "lanecrypt = \"9."),
        ("kernels = \"", "kernels = \"0"),
    ] {
        let stale = changed(from, to);
        assert!(matches!(stale, Ignored::Stale(_)), "{stale:?}");
    }
    // Crossovers beside another number of threads are nothing; the rest is.
    let threads = format!("cpu_threads = {}", rayon_threads(&text));
    fs::write(&file, text.replace(&threads, "cpu_threads = 12345")).expect("a file to write");
    let read = folder.read(&device).expect("the rest is of use");
    assert_eq!(read.experience, example().experience);
    assert_eq!(read.crossovers, Crossovers::default());
    // They stay, beside those of this number, whoever writes.
    for _ in 0..2 {
        folder.write(&device, &example()).expect("a folder to write to");
        assert_eq!(folder.read(&device).expect("it is whole"), example());
        let written = fs::read_to_string(&file).expect("it is there");
        assert_eq!(written.matches("cpu_threads = 12345").count(), 2, "{written}");
        assert_eq!(written.matches("[[crossovers]]").count(), 4, "{written}");
    }
}

/// The number that the file says.
fn rayon_threads(text: &str) -> &str {
    let (_, rest) = text.split_once("cpu_threads = ").expect("it says so");
    rest.lines().next().expect("a number")
}

/// Tries the kernels of one cipher, and where it is processed, then reads what is kept of it.
#[test]
#[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
fn a_device_is_tuned_and_goes_by_it() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let folder = Folder::at(folder.path());
    let device = device();
    let cipher = lanecrypt::find_cipher("hight").expect("it is in the registry");
    let options = Options {
        ciphers: vec![cipher],
        sizes: vec![64, 4096],
        time: Duration::from_micros(1),
        ..Options::default()
    };
    let (mut told, mut steps) = (Vec::new(), 0);
    let report = tuning::tune_into(&folder, &device, &options, &mut |progress| {
        steps = progress.steps;
        assert!(progress.done == told.len() && told.len() < progress.steps, "{progress:?}");
        told.push(progress.next.to_owned());
    });
    let report = report.expect("the host build does not fail");
    // Everything once, and everything that the registry's kernels do for users.
    let mut kernels: Vec<&str> = report.kernels.iter().map(|tuned| tuned.kernel).collect();
    assert!(
        kernels.contains(&"hight_bitslice_ctr") && kernels.contains(&"hight_table_ecb_encrypt"),
        "{kernels:?}"
    );
    let count = kernels.len();
    kernels.sort_unstable();
    kernels.dedup();
    assert_eq!(kernels.len(), count);
    for tuned in &report.kernels {
        let lengths: Vec<u64> = tuned.points.iter().map(|(at, _)| at.bytes).collect();
        assert_eq!(lengths, options.sizes.iter().map(|&size| size as u64).collect::<Vec<_>>());
        assert!(tuned.points.iter().all(|(at, usual)| at.nanoseconds > 0 && *usual > 0));
    }
    let crossovers: Vec<_> = report.tuning.crossovers.iter().collect();
    assert!(!crossovers.is_empty());
    assert!(crossovers.iter().all(|(kernel, ..)| kernel.starts_with("hight_")), "{crossovers:?}");
    assert_eq!((told.len(), steps), (count + crossovers.len(), told.len()));
    for step in
        ["hight_bitslice_ctr, 128-bit key", "hight_bitslice_ctr, 128-bit key from host memory"]
    {
        assert!(told.iter().any(|told| told == step), "{told:?}");
    }
    assert_eq!(device.experience(), report.tuning.experience, "the device goes by it");
    let kept = folder.read(&device).expect("it was kept");
    assert_eq!(
        (kept.experience, kept.crossovers),
        (report.tuning.experience.clone(), report.tuning.crossovers)
    );
    // Ciphers that are not measured keep what is known of them.
    folder.write(&device, &example()).expect("a folder to write to");
    let options = Options { host_memory: false, sizes: vec![64], ..options };
    tuning::tune_into(&folder, &device, &options, &mut |_| ()).expect("no failure");
    let kept = folder.read(&device).expect("it was kept");
    assert_eq!(kept.crossovers, example().crossovers);
    let names: Vec<&str> = kept.experience.launches().map(|(kernel, ..)| kernel).collect();
    assert!(names.contains(&"aes_bitslice_ecb_encrypt") && names.contains(&"hight_bitslice_ctr"));
}

/// A tuning that switches `C` to the device at some length, and back at another.
fn switching<C: DeviceCipher>(device: &Device, key_bytes: usize, at: &[u64]) -> Tuning {
    let program = C::family().program(device.properties()).expect("it fits");
    let mut tuning = Tuning::default();
    for (_, kernel) in program.kernels() {
        let switches = Switches::new(at.to_vec()).expect("they ascend");
        tuning.crossovers.set(kernel.name(), key_bytes, switches);
    }
    tuning
}

#[test]
#[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
fn both_sides_of_a_switch_give_the_same_bytes() {
    let device = device();
    let key = [0x5a; 24].into();
    let tuning = switching::<TdesEde3>(&device, 24, &[800, 2400]);
    let auto = Auto::<TdesEde3>::on(&device, TdesEde3::family(), &tuning, &key).expect("it fits");
    let cpu = TdesEde3::new(&key);
    for length in [0, 8, 792, 800, 1608, 2392, 2400, 4000] {
        let expected_place = if (800..2400).contains(&length) { Place::Gpu } else { Place::Cpu };
        assert_eq!(auto.place(Task::Ctr, length), expected_place, "{length} bytes");
        let data: Vec<u8> = (0..length).map(|i| (i * 7 + i / 251) as u8).collect();
        let both = |run: &dyn Fn(&dyn Engine, InOutBuf<'_, '_, u8>)| {
            let (mut found, mut expected) = (data.clone(), data.clone());
            run(&auto, found.as_mut_slice().into());
            run(&cpu, expected.as_mut_slice().into());
            assert!(found == expected, "{length} bytes");
        };
        let iv = [0xfe; 8];
        for direction in Direction::BOTH {
            both(&|engine, data| engine.ecb(direction, data).expect("whole blocks"));
        }
        both(&|engine, data| engine.ctr(&iv, data).expect("a block"));
        both(&|engine, data| {
            lanecrypt::modes::cbc_decrypt(engine, &iv, data).expect("whole blocks");
        });
        both(&|engine, data| {
            lanecrypt::modes::cfb_decrypt(engine, &iv, data).expect("whole blocks");
        });
        both(&|engine, data| {
            lanecrypt::modes::cbc_encrypt(engine, &iv, data).expect("whole blocks");
        });
        // RustCrypto's bulk methods.
        let mut blocks: Vec<_> =
            data.as_chunks::<8>().0.iter().map(|&block| block.into()).collect();
        let (mut expected, mut apart) = (blocks.clone(), blocks.clone());
        cpu.encrypt_blocks(&mut expected);
        auto.encrypt_blocks_b2b(&blocks, &mut apart).expect("equal lengths");
        assert!(apart == expected, "{length} bytes");
        auto.encrypt_blocks(&mut blocks);
        assert!(blocks == expected, "{length} bytes");
        cpu.decrypt_blocks(&mut expected);
        auto.decrypt_blocks(&mut blocks);
        assert!(blocks == expected, "{length} bytes");
    }
}

/// Kernels under other keys than they are given, so that it shows who ran.
static WRONG: Family = Family::new(
    &lanecrypt::aes::AES,
    "AES under round keys of zeros",
    ConstantTime::LOOKS_UP,
    &[&programs::AES_TABLE_SHARED],
    |_| {
        let keys = || {
            let mut words = vec![0; 64];
            words[60] = 10; // rounds
            Keys::new(words.into())
        };
        KeyPair { encrypt: keys(), decrypt: keys() }
    },
);

#[test]
#[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
fn every_call_runs_where_it_belongs() {
    let device = device();
    let (key, iv) = ([0x11; 16].into(), [9; 16]);
    for task in tuning::TASKS {
        // Only this task switches.
        let mut tuning = Tuning::default();
        for task in tuning::TASKS {
            let kernel = programs::AES_TABLE_SHARED.kernel(task).expect("it is there");
            tuning.crossovers.set(kernel.name(), 16, Switches::default());
        }
        let kernel = programs::AES_TABLE_SHARED.kernel(task).expect("it is there");
        let switches = Switches::new(vec![1600]).expect("one");
        tuning.crossovers.set(kernel.name(), 16, switches);
        let auto = Auto::<Aes128>::on(&device, &WRONG, &tuning, &key).expect("it fits");
        assert_eq!(auto.claim(), ConstantTime::LOOKS_UP);
        assert!(format!("{auto:?}").starts_with("Aes128 on the CPU or "), "{auto:?}");
        let cpu = Aes128::new(&key);
        for (length, is_long) in [(1584, false), (1600, true)] {
            let is_key_stream_there = auto.place(Task::Keystream, length) == Place::Gpu;
            assert_eq!(is_key_stream_there, task == Task::Ctr && is_long, "as CTR");
            let differs = |run: &dyn Fn(&dyn Engine, &mut [u8])| {
                let (mut found, mut expected) = (vec![5; length], vec![5; length]);
                run(&auto, &mut found);
                run(&cpu, &mut expected);
                found != expected
            };
            let (encrypt, decrypt) = (Direction::Encrypt, Direction::Decrypt);
            let ecb = |direction| {
                differs(&|engine, data| engine.ecb(direction, data.into()).expect("whole blocks"))
            };
            let runs = |operation| {
                differs(&|engine, data| engine.run(operation, data.into()).expect("no fault"))
            };
            let bulk = |run: &dyn Fn(bool, &mut [Block<Aes128>])| {
                let mut found = vec![[5; 16].into(); length / 16];
                let mut expected = found.clone();
                run(true, &mut found);
                run(false, &mut expected);
                found != expected
            };
            let ran_on_gpu = [
                (Task::EcbEncrypt, ecb(encrypt)),
                (Task::EcbDecrypt, ecb(decrypt)),
                (Task::XtsEncrypt, runs(Operation::Xts(encrypt, &iv))),
                (Task::XtsDecrypt, runs(Operation::Xts(decrypt, &iv))),
                (Task::Ctr, runs(Operation::Ctr(iv.into()))),
                (Task::CbcDecrypt, runs(Operation::Cbc(decrypt, &iv))),
                (Task::CfbDecrypt, runs(Operation::Cfb(decrypt, &iv))),
                (
                    Task::EcbEncrypt,
                    bulk(&|is_auto, blocks| {
                        if is_auto {
                            auto.encrypt_blocks(blocks);
                        } else {
                            cpu.encrypt_blocks(blocks);
                        }
                    }),
                ),
                (
                    Task::EcbDecrypt,
                    bulk(&|is_auto, blocks| {
                        if is_auto {
                            auto.decrypt_blocks(blocks);
                        } else {
                            cpu.decrypt_blocks(blocks);
                        }
                    }),
                ),
            ];
            for (of, is_on_gpu) in ran_on_gpu {
                assert_eq!(
                    is_on_gpu,
                    of == task && is_long,
                    "{of}, {length} bytes; {task} switches"
                );
            }
            // A chain waits for every block.
            let mut chained = vec![5; length];
            lanecrypt::modes::cbc_encrypt(&auto, &iv, chained.as_mut_slice().into())
                .expect("blocks");
            lanecrypt::modes::cbc_decrypt(&cpu, &iv, chained.as_mut_slice().into())
                .expect("blocks");
            assert!(chained == vec![5; length]);
        }
    }
}

#[test]
#[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
fn long_calls_on_the_cpu_share_its_threads() {
    let device = device();
    let auto = Auto::<Aes128>::on(
        &device,
        Aes128::family(),
        &switching::<Aes128>(&device, 16, &[]),
        &[3; 16].into(),
    );
    let auto = auto.expect("it fits");
    let length = 100 * THREAD_PIECE_BYTES + 48; // so long that threads are woken
    assert_eq!(auto.place(Task::EcbEncrypt, length), Place::Cpu);
    let input: Vec<_> = (0..length / 16).map(|i| [(i % 251) as u8; 16].into()).collect();
    let mut expected = input.clone();
    Aes128::new(&[3; 16].into()).encrypt_blocks(&mut expected);
    let mut found = vec![[0; 16].into(); input.len()];
    auto.encrypt_blocks_b2b(&input, &mut found).expect("equal lengths");
    assert!(found == expected);
    auto.decrypt_blocks(&mut found);
    assert!(found == input);
    let mut bytes = vec![9; length];
    let mut expected = bytes.clone();
    auto.ctr(&[1; 16], bytes.as_mut_slice().into()).expect("a counter");
    let cpu = Parallel::new(Aes128::new(&[3; 16].into()));
    cpu.ctr(&[1; 16], expected.as_mut_slice().into()).expect("a counter");
    assert!(bytes == expected);
}

#[test]
fn without_a_gpu_it_is_the_cpu() {
    if Device::default().is_ok() {
        return; // then it is not without one
    }
    told();
    let auto = Auto::<Aes128>::new(&[0; 16].into());
    assert!(auto.on_device().is_none());
    assert_eq!(auto.place(Task::Ctr, usize::MAX), Place::Cpu);
    assert_eq!(auto.claim(), ConstantTime::Yes);
    let mut block = [0; 16].into();
    auto.encrypt_block(&mut block);
    assert_eq!(block[..4], [0x66, 0xe9, 0x4b, 0xd4]);
    auto.decrypt_block(&mut block);
    assert_eq!(block[..], [0; 16]);
    let (blocks, mut back) = ([[1; 16].into(); 3], [[0; 16].into(); 3]);
    auto.encrypt_blocks_b2b(&blocks, &mut back).expect("as many");
    auto.decrypt_blocks_b2b(&back.clone(), &mut back).expect("as many");
    assert_eq!(back, blocks);
    assert_eq!(format!("{auto:?}"), "Aes128 on the CPU { .. }");
    assert_eq!(AlgorithmOf.to_string(), "Aes128");
    acts_as(&auto, &Aes128::new(&[0; 16].into()));
    let family = Aes128::constant_time_family();
    let engine = AutoEngine::by_family(family, &[0; 16]).expect("a good key");
    acts_as(&engine, &Aes128::new(&[0; 16].into()));
    let on_cpu = family.cipher().default_engine(&[0; 16]).expect("a good key");
    assert_eq!(format!("{engine:?}"), format!("{on_cpu:?}"));
}

/// Messages that share no chain, and whole ones with their hash, run as another engine runs them.
fn acts_as(engine: &dyn Engine, other: &dyn Engine) {
    assert_eq!(engine.chunk_bytes(), other.chunk_bytes());
    assert_eq!(engine.chains_at_once(), other.chains_at_once());
    let run = |engine: &dyn Engine| {
        let (mut registers, mut texts) = ([[1; 16], [2; 16]], [[3; 48], [4; 48]]);
        let pairs = registers.iter_mut().zip(&mut texts);
        let mut messages: Vec<_> = pairs
            .map(|(iv, text)| ChainedMessage { iv, data: text.as_mut_slice().into() })
            .collect();
        SerialMode::Cbc.run_messages(engine, &mut messages).expect("whole blocks");
        drop(messages);
        let (mut tag, mut text) = ([0; 16], [5; 100]);
        let gcm = Gcm::<_, (), ()>::of(engine).expect("blocks of 16 bytes");
        gcm.encrypt(&[6; 12], b"header", text.as_mut_slice().into(), &mut tag).expect("not long");
        (registers, texts, text, tag)
    };
    assert_eq!(run(engine), run(other));
}

/// The name that RustCrypto's modes show.
struct AlgorithmOf;

impl fmt::Display for AlgorithmOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Auto::<Aes128>::write_alg_name(f)
    }
}

/// What the log is told.
struct Told(Mutex<String>);

/// The log, from before anybody chooses: that there is no GPU is said once.
fn told() -> &'static Told {
    static TOLD: Told = Told(Mutex::new(String::new()));
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&TOLD).expect("nobody else has one");
        log::set_max_level(log::LevelFilter::Trace);
    });
    &TOLD
}

impl log::Log for Told {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &log::Record<'_>) {
        let mut text = self.0.lock().expect("nobody panics with it");
        let _ = writeln!(text, "{} {}", record.level(), record.args());
    }
    fn flush(&self) {}
}

#[test]
#[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
fn the_log_is_told_of_files_and_never_of_keys() {
    let _alone = alone();
    let told = told();
    let (device, folder) = (device(), tempfile::tempdir().expect("a folder"));
    let folder = Folder::at(folder.path());
    fs::write(folder.file(&device), "launches = ").expect("a file to write");
    let key = [0xa7; 16];
    let auto = Auto::<Aes128>::new(&key.into());
    let text = format!("{auto:?}");
    let on =
        Auto::<Aes128>::on(&device, Aes128::family(), &example(), &key.into()).expect("it fits");
    let text = format!("{text}{on:?}");
    let options = Options { sizes: vec![64], ciphers: Vec::new(), ..Options::default() };
    tuning::tune_into(&folder, &device, &options, &mut |_| ()).expect("nothing to do");
    folder.read(&device).expect("it was made anew");
    let told = told.0.lock().expect("nobody panics with it").clone();
    assert!(told.contains("WARN experience data") && told.contains("it is corrupt"), "{told}");
    if Device::default().is_err() {
        assert_eq!(told.matches("run on the CPU: no NVIDIA driver").count(), 1, "{told}");
    }
    for secret in ["a7a7", "a7, a7", "167, 167"] {
        assert!(!told.contains(secret) && !text.contains(secret), "{told}{text}");
    }
}

/// Whatever is said of a kernel, results are right.
#[test]
#[ignore = "needs the host build of the kernels: `cargo xtask test` runs it"]
fn no_experience_makes_a_result_wrong() {
    let _alone = alone();
    let device = device();
    let key = [7; 16];
    let data: Vec<u8> = (0..16 * 3000_usize).map(|i| (i * 3 + i / 256) as u8).collect();
    let mut expected = data.clone();
    Aes128::new(&key.into()).ctr(&[0; 16], expected.as_mut_slice().into()).expect("a counter");
    let family = &lanecrypt::aes::cuda::FASTEST;
    for (threads, grid, nanoseconds) in
        [(0, 0, 0), (u32::MAX, 1, 1), (33, 4_000_000_000, u64::MAX), (96, 3, 5)]
    {
        let mut experience = Experience::default();
        let engine = family.engine(&device, &key).expect("it fits");
        let programs = engine.other_programs().chain([engine.program()]);
        for (i, kernel) in programs.filter_map(|program| program.kernel(Task::Ctr)).enumerate() {
            let geometry = Geometry { threads, blocks_per_multiprocessor: grid };
            let nanoseconds = nanoseconds.saturating_sub(i as u64);
            let row = vec![Measured { bytes: 0, geometry, nanoseconds }];
            experience.set_launches(kernel.name(), 16, row);
            let piece = lanecrypt::cuda::Piece { bytes: 0, piece_bytes: u64::from(threads) };
            experience.set_pieces(kernel.name(), 16, vec![piece]);
        }
        let before = device.experience();
        device.set_experience(experience);
        let engine = family.engine(&device, &key).expect("it fits");
        device.set_experience(before);
        let mut found = data.clone();
        engine
            .run_host_memory(Operation::Ctr([0; 16].into()), found.as_mut_slice().into())
            .expect("no fault");
        assert!(found == expected, "{threads} threads, {grid} thread blocks");
    }
}
