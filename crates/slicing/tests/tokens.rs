//! What safe code must not do without a token: the instructions of the set may be missing.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::uint8x16_t;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m128i, __m256i, __m512i};
use std::marker::PhantomData;

use lanecrypt_slicing::B128;
#[cfg(target_arch = "aarch64")]
use lanecrypt_slicing::Neon;
#[cfg(target_arch = "x86_64")]
use lanecrypt_slicing::{Avx2, B256, B512, Sse2, Xmm, Ymm};

/// Whether `T` is made of an `R`, which the inherent constant says where it is there.
struct Made<T, R>(PhantomData<(T, R)>);

trait NotMade {
    const IS_MADE: bool = false;
}

impl<T> NotMade for T {}

impl<T: From<R>, R> Made<T, R> {
    const IS_MADE: bool = true;
}

/// Crates such as `zerocopy` make a register in safe code, of zeros, on any CPU.
#[test]
fn no_register_becomes_a_value() {
    const { assert!(Made::<u64, u32>::IS_MADE, "the test tells") };
    #[cfg(target_arch = "x86_64")]
    {
        const { assert!(!Made::<B128<Sse2>, __m128i>::IS_MADE) };
        const { assert!(!Made::<B256<Avx2>, __m256i>::IS_MADE) };
        const { assert!(!Made::<B512, __m512i>::IS_MADE) };
        const { assert!(!Made::<Xmm, __m128i>::IS_MADE) };
        const { assert!(!Made::<Ymm, __m256i>::IS_MADE) };
    }
    #[cfg(target_arch = "aarch64")]
    const {
        assert!(!Made::<B128<Neon>, uint8x16_t>::IS_MADE)
    };
}

/// What a value holds may be of a key.
#[test]
#[cfg(target_arch = "x86_64")]
fn no_value_is_printed() {
    use lanecrypt_slicing::{Avx512, BitLanes, Body};

    struct Print;
    impl<I: BitLanes> Body<I> for Print {
        type Output = String;

        fn run(self, isa: I) -> String {
            format!("{:?}", isa.splat(0x1234_5678))
        }
    }
    fn printed<I: BitLanes>() -> Option<String> {
        I::detect().ok().map(|isa| isa.run(Print))
    }
    let texts = [printed::<Sse2>(), printed::<Avx2>(), printed::<Avx512>()];
    for text in texts.into_iter().flatten() {
        assert_eq!(text, "Register { .. }");
    }
}
