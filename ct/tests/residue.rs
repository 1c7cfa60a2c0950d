//! Nothing of a key is left on the stack once a cipher was made and dropped: the stack is painted,
//! the work is done under two keys, twice each, and what lies there afterwards is the same.
//!
//! What the compiler moves without optimising stays where it was: this package and all that the keys pass are
//! compiled as users' builds are (profiles in the workspace's Cargo.toml).
//!
//! A program can read its own stack without unsafe code where the kernel shows it as a file. Under
//! other kernels there is nothing to test.
#![cfg(target_os = "linux")]

use std::{fs::File, hint::black_box, os::unix::fs::FileExt, ptr, thread};

use lanecrypt::{
    CIPHERS, Gcm, GcmSiv, GhashKey, aes,
    aes_gcm_siv::SivCipher,
    aria, camellia,
    cipher::{
        Array, KeyInit,
        array::ArraySize,
        consts::{U16, U32},
    },
    des, hight,
    registry::{Backend, Platform},
};
use lanecrypt_reference::vectors::PlaintextStream;

/// Bytes of stack that are looked at, more than the work uses.
const SCANNED: usize = 64 << 10;
/// Bytes between what is looked at and the frames that look.
const APART: usize = 4 << 10;

/// Reads what `work` leaves below this function's frame.
#[inline(never)]
fn residue(work: &dyn Fn(), left: &mut [u8]) {
    let here = 0_u8;
    let end = ptr::from_ref(black_box(&here)).addr() - APART;
    zeroize::zeroize_stack::<{ SCANNED + 4 * APART }>();
    far_below(work);
    let memory = File::open("/proc/self/mem").expect("Linux shows a process its memory");
    memory.read_exact_at(left, (end - SCANNED) as u64).expect("the stack is mapped");
}

/// Runs `work` so far down that reading the stack afterwards does not overwrite what it left.
#[inline(never)]
fn far_below(work: &dyn Fn()) {
    let distance = [0_u8; 2 * APART];
    black_box(&distance);
    work();
    black_box(&distance);
}

/// Bytes on the stack that depend on the key that `work` ran under.
fn bytes_left<Size: ArraySize>(work: fn(&Array<u8, Size>)) -> usize {
    bytes_left_under(Size::USIZE, move |key| work(key.try_into().expect("a key of this length")))
}

/// Bytes on the stack that depend on the key of `length` bytes that `work` ran under.
fn bytes_left_under(length: usize, work: impl Fn(&[u8]) + Send + 'static) -> usize {
    let scan = move || {
        let mut key = vec![0; length];
        let mut runs = [(); 5].map(|()| vec![0; SCANNED]);
        for (left, number) in runs.iter_mut().zip([0, 1, 1, 2, 2]) {
            PlaintextStream::new(number).fill(&mut key);
            residue(&|| work(&key), left);
        }
        let [_warm_up, first, first_again, second, second_again] = runs;
        // Addresses of the heap lie there too, and differ from run to run under the same key.
        let depends_on_key = |&at: &usize| {
            first[at] == first_again[at]
                && second[at] == second_again[at]
                && first[at] != second[at]
        };
        (0..SCANNED).filter(depends_on_key).count()
    };
    // A thread has a stack that is mapped down to its end.
    let thread = thread::Builder::new().stack_size(1 << 20).spawn(scan).expect("a thread");
    thread.join().expect("the scan")
}

#[inline(never)]
fn make_and_drop<C: KeyInit>(key: &Array<u8, C::KeySize>) {
    black_box(&C::new(key));
}

#[test]
fn the_scan_finds_what_is_left() {
    #[inline(never)]
    fn leaves_a_copy(key: &Array<u8, U16>) {
        black_box(*key);
    }
    assert!(bytes_left(leaves_a_copy) >= 16);
}

/// Fails if one of these cipher types leaves something.
macro_rules! leaves_nothing {
    ($($cipher:ty),* $(,)?) => {$(
        let left = bytes_left(make_and_drop::<$cipher>);
        assert_eq!(left, 0, "bytes that {} leaves", stringify!($cipher));
    )*};
}

#[test]
fn types_leave_nothing() {
    leaves_nothing!(aes::Aes128, aes::Aes192, aes::Aes256);
    leaves_nothing!(aes::Aes128Enc, aes::Aes192Enc, aes::Aes256Enc);
    leaves_nothing!(aes::Aes128Dec, aes::Aes192Dec, aes::Aes256Dec);
    leaves_nothing!(aria::Aria128, aria::Aria192, aria::Aria256);
    leaves_nothing!(camellia::Camellia128, camellia::Camellia192, camellia::Camellia256);
    leaves_nothing!(des::Des, des::TdesEde2, des::TdesEde3, des::TdesEee2, des::TdesEee3);
    leaves_nothing!(hight::Hight, hight::HightKisa);
    leaves_nothing!(lanecrypt::lea::Lea128, lanecrypt::lea::Lea192, lanecrypt::lea::Lea256);
    leaves_nothing!(lanecrypt::seed::Seed128);
    leaves_nothing!(lanecrypt::sm4::Sm4);
}

/// Keys of GCM: the cipher's, and the powers of the hash key that is made with it.
#[test]
fn modes_leave_nothing() {
    #[inline(never)]
    fn hash_key(key: &Array<u8, U16>) {
        black_box(&GhashKey::new(key));
    }

    assert_eq!(bytes_left(hash_key), 0, "bytes that GhashKey leaves");
    leaves_nothing!(Gcm<aes::Aes128>, Gcm<aes::Aes192>, Gcm<aes::Aes256>);
    leaves_nothing!(Gcm<aria::Aria256>, Gcm<camellia::Camellia128>, Gcm<lanecrypt::seed::Seed128>);
}

/// The powers of a hash key: a short string makes some, a long one all.
#[test]
fn powers_leave_nothing() {
    #[inline(never)]
    fn hash<const BYTES: usize>(key: &Array<u8, U16>) {
        let key = GhashKey::new(key);
        let mut hash = key.start();
        key.add(&mut hash, &[7; BYTES]);
        black_box(&hash);
    }

    let left = [bytes_left(hash::<16>), bytes_left(hash::<100>), bytes_left(hash::<1000>)];
    assert_eq!(left, [0; 3], "bytes that a block leaves, a few and many");
}

/// The keys that GCM-SIV derives for a message. It is refused, so that no result depends on the key.
#[test]
fn messages_leave_nothing() {
    #[inline(never)]
    fn refuse<C: SivCipher>(key: &Array<u8, C::KeySize>) {
        let siv = GcmSiv::<C>::new(key);
        let mut data = [7; 100];
        let refused = siv.decrypt(&[1; 12], b"", data.as_mut_slice().into(), &[0; 16]);
        assert!(refused.is_err());
    }

    assert_eq!(bytes_left(refuse::<aes::Aes128>), 0);
    assert_eq!(bytes_left(refuse::<aes::Aes256>), 0);
}

#[test]
fn conversions_leave_nothing() {
    #[inline(never)]
    fn convert(key: &Array<u8, U32>) {
        let encrypts = aes::Aes256Enc::new(key);
        black_box(&aes::Aes256Dec::from(&encrypts));
        black_box(&aes::Aes256::from(&encrypts));
    }
    assert_eq!(bytes_left(convert), 0);
}

/// Every backend of the CPU as the registry makes it, under its longest key.
#[test]
fn backends_leave_nothing() {
    let on_cpu =
        |backend: &&Backend| backend.platform == Platform::Cpu && (backend.available)().is_ok();
    for cipher in CIPHERS {
        let length = cipher.key_bytes.iter().copied().max().unwrap_or(0);
        for backend in cipher.backends.iter().filter(on_cpu) {
            let left = bytes_left_under(length, move |key| {
                black_box((backend.create)(key).expect("a key of the right length"));
            });
            assert_eq!(left, 0, "bytes that {}/{} leaves", cipher.name, backend.id);
        }
    }
}
