//! What tokens and register types of every architecture are made by.

/// Calls intrinsics that touch registers alone.
///
/// Every value of a SIMD type of ours was made with the token of an instruction set that has the
/// intrinsic, and a token exists only where the CPU has the instructions.
macro_rules! registers {
    ($($intrinsics:tt)*) => {
        // SAFETY: the CPU has the instructions, as the value or the token at hand proves; no memory
        // is touched.
        unsafe { $($intrinsics)* }
    };
}
pub(crate) use registers;

/// A token, made where `$has` says so, and the one function that is compiled with its instructions.
macro_rules! isa {
    ($(#[$doc:meta])* $name:ident, $features:literal, $missing:literal, |$found:pat_param| $has:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        impl $name {
            /// The token, if a CPU with these features has the instructions.
            #[inline]
            pub(crate) fn detect_in(found: $crate::isa::Found) -> Option<Self> {
                let $found = found;
                let has: bool = $has;
                has.then_some(Self(()))
            }
        }

        impl $crate::Isa for $name {
            #[inline]
            fn detect() -> Result<Self, lanecrypt_core::Unavailable> {
                let missing = lanecrypt_core::Unavailable::of_the_cpu($missing);
                Self::detect_in($crate::isa::Found::get()).ok_or(missing)
            }

            #[inline]
            fn run<B: $crate::Body<Self>>(self, body: B) -> B::Output {
                #[target_feature(enable = $features)]
                fn region<B: $crate::Body<$name>>(isa: $name, body: B) -> B::Output {
                    body.run(isa)
                }
                // SAFETY: the token proves that the CPU has the instructions.
                unsafe { region(self, body) }
            }

            #[inline(always)]
            fn run_over<D, B: $crate::BodyOver<Self, D>>(self, body: B, data: D) {
                #[target_feature(enable = $features)]
                fn region<D, B: $crate::BodyOver<$name, D>>(isa: $name, body: B, data: D) {
                    body.run_over(isa, data);
                }
                // SAFETY: the token proves that the CPU has the instructions.
                unsafe { region(self, body, data) }
            }
        }
    };
}
pub(crate) use isa;

/// The operators of [`Word`](crate::Word) for a register type, and a Debug text without what it holds.
macro_rules! word_operators {
    ([$($generics:tt)*] $type:ty, $xor:ident, $and:ident, $or:ident, $ones:expr) => {
        word_operators!(@ [$($generics)*] $type, BitXor bitxor BitXorAssign bitxor_assign $xor);
        word_operators!(@ [$($generics)*] $type, BitAnd bitand BitAndAssign bitand_assign $and);
        word_operators!(@ [$($generics)*] $type, BitOr bitor BitOrAssign bitor_assign $or);

        impl<$($generics)*> core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("Register { .. }")
            }
        }

        impl<$($generics)*> core::ops::Not for $type {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                Self::of(registers!($xor(self.0, $ones)))
            }
        }
    };
    (@ [$($generics:tt)*] $type:ty, $op:ident $method:ident $assign:ident $by:ident $call:ident) => {
        impl<$($generics)*> core::ops::$op for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self::of(registers!($call(self.0, other.0)))
            }
        }
        impl<$($generics)*> core::ops::$assign for $type {
            #[inline(always)]
            fn $by(&mut self, other: Self) {
                *self = core::ops::$op::$method(*self, other);
            }
        }
    };
}
pub(crate) use word_operators;
