//! Requests of any place and length, from many threads, against a model.

mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use lanecrypt_luks::{Disk, Error};
use rayon::{ThreadPoolBuilder, prelude::*};
use support::{AES, Kind, LIMITS, Memory, PASSPHRASE, PAYLOAD, Random};

/// Several pieces, so that requests run on several threads, and an odd sector.
const LONG: usize = (5 << 18) + 4096;

fn open(kind: Kind, plain: &[u8]) -> Disk<Memory> {
    Disk::open(Memory::new(kind.luks2(plain)), PASSPHRASE, &LIMITS).expect("it opens")
}

fn ciphertext(disk: &Disk<Memory>) -> Vec<u8> {
    disk.storage().copy().split_off(PAYLOAD)
}

#[test]
fn any_place_and_length() {
    for sector in [512, 4096] {
        let kind = Kind { sector, ..AES };
        let mut random = Random(sector as u64);
        let mut model = random.bytes(LONG);
        let disk = open(kind, &model);
        let ends = [0, 1, sector - 1, sector, sector + 1, 3 * sector, 3 * sector + 5];
        for from in ends {
            for bytes in ends.into_iter().chain([LONG / 2, LONG - from]) {
                let data = random.bytes(bytes);
                disk.write_at(&data, from as u64).expect("it writes");
                model[from..from + bytes].copy_from_slice(&data);
                let mut read = vec![0; bytes];
                disk.read_at(&mut read, from as u64).expect("it reads");
                assert!(read == data, "{bytes} bytes from {from}");
            }
        }
        assert!(ciphertext(&disk) == kind.encrypted(&model), "sectors of {sector}");
    }
}

#[test]
fn a_write_changes_its_sectors_only() {
    let disk = open(AES, &[7; 16 * 512]);
    let before = ciphertext(&disk);
    disk.write_at(&[1; 1000], 1000).expect("it writes");
    let after = ciphertext(&disk);
    let changed: Vec<_> = (0..16)
        .filter(|sector| before[sector * 512..][..512] != after[sector * 512..][..512])
        .collect();
    assert_eq!(changed, [1, 2, 3]);
    // Nor does a read change anything.
    disk.read_at(&mut [0; 1000], 999).expect("it reads");
    assert!(ciphertext(&disk) == after);
}

/// Each thread owns every eighth run of a few bytes, so that all share all sectors.
#[test]
fn writers_of_the_same_sectors_lose_nothing() {
    const THREADS: usize = 8;
    const RUN: usize = 23;
    let kind = Kind { sector: 1024, ..AES };
    let disk = open(kind, &[0; 8 * 1024]);
    thread::scope(|scope| {
        for own in 0..THREADS {
            let disk = &disk;
            scope.spawn(move || {
                let mut random = Random(own as u64);
                let mut model = vec![[0; RUN]; 8 * 1024 / RUN / THREADS];
                for _ in 0..400 {
                    let i = random.below(model.len());
                    let at = ((i * THREADS + own) * RUN) as u64;
                    let mut read = [1; RUN];
                    disk.read_at(&mut read, at).expect("it reads");
                    assert_eq!(read, model[i], "what thread {own} wrote at {at}");
                    model[i].fill(random.below(256) as u8);
                    disk.write_at(&model[i], at).expect("it writes");
                }
            });
        }
    });
}

/// Writers of whole sectors and of parts of them at once: every sector is one of theirs.
#[test]
fn writers_of_whole_sectors_are_not_torn() {
    let disk = open(AES, &[0; 8 * 512]);
    thread::scope(|scope| {
        for own in 1..=4_u8 {
            let disk = &disk;
            scope.spawn(move || {
                let mut random = Random(own.into());
                for _ in 0..300 {
                    let sectors = 1 + random.below(3);
                    let at = random.below(6) * 512;
                    disk.write_at(&vec![own; sectors * 512], at as u64).expect("it writes");
                    let mut read = [0; 512];
                    disk.read_at(&mut read, at as u64).expect("it reads");
                    assert!(read.iter().all(|&byte| byte == read[0] && byte > 0), "{read:?}");
                }
            });
        }
    });
}

#[test]
fn requests_beyond_the_end_change_nothing() {
    let disk = open(AES, &[7; 2048]);
    let before = ciphertext(&disk);
    for (offset, bytes) in [(0, 2049), (2047, 2), (2048, 1), (u64::MAX, 1), (u64::MAX, 4096)] {
        let error = disk.write_at(&vec![1; bytes], offset).expect_err("beyond the end");
        assert!(matches!(error, Error::OutOfBounds { disk: 2048, .. }), "{error}");
        let error = disk.read_at(&mut vec![1; bytes], offset).expect_err("beyond the end");
        assert!(matches!(error, Error::OutOfBounds { .. }), "{error}");
    }
    disk.write_at(&[], 2048).expect("nothing to write");
    assert!(ciphertext(&disk) == before);
}

#[test]
fn errors_of_the_storage_are_told_with_their_number() {
    let disk = open(AES, &vec![7; LONG]);
    disk.storage().is_broken.store(true, Ordering::SeqCst);
    for bytes in [1, 512, LONG] {
        let failed =
            [disk.write_at(&vec![1; bytes], 0), disk.read_at(&mut vec![0; bytes], 0), disk.sync()];
        for result in failed {
            assert_eq!(result.expect_err("the storage fails").raw_os_error(), Some(28));
        }
    }
    // It goes on when the storage does.
    disk.storage().is_broken.store(false, Ordering::SeqCst);
    disk.write_at(&vec![1; LONG], 0).expect("it writes");
    disk.sync().expect("it syncs");
}

/// Long requests for the same sectors, of rayon's workers and of other threads: a worker that waits for
/// one request's pieces must not begin another request that waits for the first.
#[test]
fn workers_of_rayon_do_not_wait_for_themselves() {
    const REQUEST: usize = 1 << 20;
    let (done, is_done) = mpsc::channel();
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    thread::spawn(move || {
        let disk = open(AES, &vec![0; 3 * REQUEST]);
        let request = |i: usize| {
            let data = vec![i as u8; REQUEST];
            disk.write_at(&data, (i % 3 * REQUEST / 2) as u64).expect("it writes");
            count.fetch_add(1, Ordering::SeqCst);
        };
        let pool = ThreadPoolBuilder::new().num_threads(8).build().expect("threads");
        for _ in 0..4 {
            pool.install(|| (0..64).into_par_iter().for_each(request));
            thread::scope(|scope| {
                scope.spawn(|| (0..64).into_par_iter().for_each(request));
                scope.spawn(|| (0..64).for_each(request));
            });
        }
        done.send(()).expect("somebody waits");
    });
    // Slow machines are given the time that they take.
    let mut before = None;
    while let Err(error) = is_done.recv_timeout(Duration::from_secs(60)) {
        assert_eq!(error, RecvTimeoutError::Timeout, "a request failed");
        let now = Some(written.load(Ordering::SeqCst));
        assert_ne!(now, before, "requests wait for each other");
        before = now;
    }
}
