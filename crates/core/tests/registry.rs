//! The table of a cipher's implementations: its rows, its parts together, keys, names.

mod toys;

use lanecrypt_core::{
    Backend, CipherDescription, ConstantTime, Direction, Platform, Unavailable, all_backends,
    cpu_backends,
};
use toys::{Lacking, Long, Shifted, Short};

/// A cipher of two key sizes, and one that this machine never runs.
static TOY: CipherDescription = CipherDescription {
    name: "toy",
    standard: "none",
    block_bytes: 8,
    key_bytes: &[1, 2],
    backends: ALL,
    kernels: None,
};

const BY_BLOCKS: &[Backend] = cpu_backends!(TOY, [Short, Long];
    "shifted", "every byte plus the first of the key" => |K| Shifted<K>;
    "lacking", "the same, on a CPU that nobody has" => |K| Lacking<K>;
);
const OF_ONE_KEY: &[Backend] = cpu_backends!(TOY;
    "short", "keys of one byte alone" => Shifted<Short>;
    #[cfg(any())]
    "absent", "left out by its attribute" => NoSuchType;
);
const MADE_UP: &[Backend] = &[Backend {
    id: "made-up",
    platform: Platform::Cuda,
    lanes: 1,
    constant_time: ConstantTime::Yes,
    summary: "none",
    available: || Err(Unavailable::because("it is made up")),
    create: |_| Err(Unavailable::because("it is made up").into()),
    family: None,
}];
const ALL: &[Backend] = all_backends!(BY_BLOCKS, &[], OF_ONE_KEY, MADE_UP);

#[test]
fn lists_are_joined_in_order() {
    let ids: Vec<_> = TOY.backends.iter().map(|backend| backend.id).collect();
    assert_eq!(ids, ["shifted", "lacking", "short", "made-up"]);
    assert_eq!(format!("{:?}", ALL[0]), "Backend { id: \"shifted\", .. }");
    assert_eq!(ALL[3].platform, Platform::Cuda);
}

static OTHER: CipherDescription = CipherDescription {
    backends: cpu_backends!(OTHER; "default", "keys of one byte alone" => Shifted<Short>;),
    key_bytes: &[1],
    ..TOY
};

#[test]
fn default_engines_are_of_the_backend_of_that_name() {
    let error = TOY.default_engine(&[1]).expect_err("it has none").to_string();
    assert_eq!(error, "toy has no default backend");
    assert_eq!(OTHER.default_engine(&[1]).expect("a good key").block_bytes(), 8);
    let error = OTHER.default_engine(&[1, 2]).expect_err("a long key").to_string();
    assert!(error.starts_with("toy key of 2 bytes"), "{error}");
}

#[test]
fn rows_say_what_implementations_know() {
    let [shifted, lacking, ..] = TOY.backends else { unreachable!("there are four") };
    assert_eq!((shifted.platform, shifted.lanes), (Platform::Cpu, 4));
    assert_eq!(shifted.constant_time, ConstantTime::No("it is a toy"));
    assert_eq!(shifted.summary, "every byte plus the first of the key");
    assert!((shifted.available)().is_ok());
    let missing = (lacking.available)().expect_err("nobody has it");
    assert!(missing.is_of_the_cpu(), "{missing}");
    let error = (lacking.create)(&[1]).expect_err("nobody has it");
    assert_eq!(error.to_string(), missing.to_string());
}

#[test]
fn every_key_size_has_its_engine() {
    for key in [&[5][..], &[6, 1]] {
        let engine = (TOY.backends[0].create)(key).expect("a key that the cipher takes");
        let mut data = [9; 16];
        engine.ecb(Direction::Encrypt, data.as_mut_slice().into()).expect("whole blocks");
        assert_eq!(data, [9 + key[0]; 16]);
        assert_eq!(engine.block_bytes(), 8);
    }
}

#[test]
fn keys_of_other_lengths_are_refused() {
    assert!(TOY.check_key(&[0; 1]).is_ok() && TOY.check_key(&[0; 2]).is_ok());
    for length in [0, 3, 24] {
        let key = vec![0; length];
        let expected = format!("toy key of {length} bytes; accepted are [1, 2] bytes");
        assert_eq!(TOY.check_key(&key).expect_err("not accepted").to_string(), expected);
        for backend in &TOY.backends[..3] {
            let error = (backend.create)(&key).expect_err("not accepted");
            assert_eq!(error.to_string(), expected, "{backend:?}");
        }
    }
    // The cipher takes it, but no implementation of the row does.
    let error = (TOY.backends[2].create)(&[0; 2]).expect_err("no type takes it").to_string();
    assert_eq!(error, "toy key of 2 bytes; accepted are [1, 2] bytes");
}

#[test]
fn platforms_and_claims_have_names() {
    let platforms = [Platform::Cpu, Platform::Cuda, Platform::CudaOnHost, Platform::Wgpu];
    let names = ["CPU", "CUDA", "CUDA kernels on the CPU", "wgpu"];
    assert_eq!(platforms.map(|platform| platform.to_string()), names);
    assert_eq!(platforms.map(Platform::is_gpu), [false, true, false, true]);
    assert_eq!(ConstantTime::Yes.to_string(), "yes");
    assert_eq!(ConstantTime::No("it looks up").to_string(), "no: it looks up");
}
