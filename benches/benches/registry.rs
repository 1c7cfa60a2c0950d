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
    CIPHERS, Counter, Direction, Engine, Operation,
    registry::{Backend, CipherDescription, Platform},
};

/// Bytes of data: a block or two, a packet, a page, and more than the first cache holds.
const LENGTHS: [usize; 4] = [16, 1504, 4 << 10, 1 << 20];

fn registry(criterion: &mut Criterion) {
    for cipher in CIPHERS {
        let on_this_cpu =
            |backend: &&Backend| backend.platform == Platform::Cpu && (backend.available)().is_ok();
        for backend in cipher.backends.iter().filter(on_this_cpu) {
            measure(criterion, cipher, backend);
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

criterion_group!(benches, registry);
criterion_main!(benches);
