//! `cargo bench`: every backend of every cipher that this CPU runs, by criterion, to compare a change with what was
//! before it.
//!
//! ```text
//! cargo bench -p lanecrypt-benches -- camellia/ctr                       all whose names have this in them
//! cargo bench -p lanecrypt-benches -- camellia --save-baseline before    and after the change: --baseline before
//! ```
//!
//! Reports and records are `bench-all`'s, which measures devices, RustCrypto's crates and a user's build too.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lanecrypt::{
    CIPHERS, ChainedMessage, Counter, Direction, Engine, Operation, SerialMode,
    registry::{Backend, CipherDescription, Platform},
};

/// Bytes of data: a block or two, a packet, a page, and more than the first cache holds.
const LENGTHS: [usize; 4] = [16, PACKET, 4 << 10, 1 << 20];
/// Bytes of a packet.
const PACKET: usize = 1504;
/// Packets that are encrypted in CBC side by side.
const SIDE_BY_SIDE: [usize; 5] = [1, 8, 16, 64, 256];

fn registry(criterion: &mut Criterion) {
    for cipher in CIPHERS {
        let on_this_cpu =
            |backend: &&Backend| backend.platform == Platform::Cpu && (backend.available)().is_ok();
        for backend in cipher.backends.iter().filter(on_this_cpu) {
            measure(criterion, cipher, backend);
            measure_chains(criterion, cipher, backend);
        }
    }
}

/// Measures a backend under a key of the shortest length.
fn measure(criterion: &mut Criterion, cipher: &CipherDescription, backend: &Backend) {
    let key: Vec<u8> = (1..=cipher.key_bytes[0] as u8).collect();
    let engine = (backend.create)(&key).expect("the cipher takes keys of this length");
    let iv = vec![0; cipher.block_bytes];
    let counter = Counter::from_block(&iv).expect("an IV is a block");
    let operations = [
        ("ecb", Operation::Ecb(Direction::Encrypt)),
        ("ecb-decrypt", Operation::Ecb(Direction::Decrypt)),
        ("ctr", Operation::Ctr(counter)),
        ("cbc-decrypt", Operation::Cbc(Direction::Decrypt, &iv)),
    ];
    for (name, operation) in operations {
        let mut group = criterion.benchmark_group(format!("{}/{name}", cipher.name));
        for bytes in LENGTHS {
            let mut data = vec![0; bytes];
            group.throughput(Throughput::Bytes(bytes as u64));
            group.bench_function(BenchmarkId::new(backend.id, bytes), |bencher| {
                bencher.iter(|| {
                    let data = black_box(data.as_mut_slice());
                    engine.run(operation, data.into()).expect("whole blocks");
                });
            });
        }
        group.finish();
    }
}

/// Measures CBC encryption of packets side by side.
fn measure_chains(criterion: &mut Criterion, cipher: &CipherDescription, backend: &Backend) {
    let key: Vec<u8> = (1..=cipher.key_bytes[0] as u8).collect();
    let engine = (backend.create)(&key).expect("the cipher takes keys of this length");
    let mut group = criterion.benchmark_group(format!("{}/cbc-packets", cipher.name));
    for count in SIDE_BY_SIDE {
        let mut packets = vec![[0; PACKET]; count];
        let mut ivs = vec![vec![0; cipher.block_bytes]; count];
        group.throughput(Throughput::Bytes((count * PACKET) as u64));
        group.bench_function(BenchmarkId::new(backend.id, count), |bencher| {
            bencher.iter(|| {
                let messages = ivs.iter_mut().zip(&mut packets);
                let mut messages: Vec<_> = messages
                    .map(|(iv, packet)| ChainedMessage { iv, data: packet.as_mut_slice().into() })
                    .collect();
                let messages = black_box(messages.as_mut_slice());
                SerialMode::Cbc.run_messages(&*engine, messages).expect("whole blocks");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, registry);
criterion_main!(benches);
