//! The generated Rust as it stands in the cipher crates: both forms of every circuit, run on every
//! input.

use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use lanecrypt_reference::{des, sbox};
use lanecrypt_slicing::Word;

#[rustfmt::skip]
#[path = "../../aes/src/sbox.rs"]
mod aes;
#[rustfmt::skip]
#[path = "../../aria/src/sbox.rs"]
mod aria;
#[rustfmt::skip]
#[path = "../../camellia/src/sbox.rs"]
mod camellia;
#[rustfmt::skip]
#[path = "../../des/src/sbox.rs"]
mod des_boxes;
#[rustfmt::skip]
#[path = "../../seed/src/sbox.rs"]
mod seed;

/// A word that can only look up: a gate in the form that it takes is a fault.
#[derive(Clone, Copy, Debug)]
struct LookUps(u64);

macro_rules! no_gates {
    (in place $($binary:ident $function:ident)*) => {$(
        impl $binary for LookUps {
            fn $function(&mut self, _: Self) {
                panic!(stringify!($function));
            }
        }
    )*};
    ($($binary:ident $function:ident)*) => {$(
        impl $binary for LookUps {
            type Output = Self;
            fn $function(self, _: Self) -> Self {
                panic!(stringify!($function));
            }
        }
    )*};
}
no_gates!(BitAnd bitand BitOr bitor BitXor bitxor);
no_gates!(in place BitAndAssign bitand_assign BitOrAssign bitor_assign BitXorAssign bitxor_assign);

impl Not for LookUps {
    type Output = Self;
    fn not(self) -> Self {
        panic!("not");
    }
}

impl Word for LookUps {
    const LANES: usize = 64;
    type Lanes = <u64 as Word>::Lanes;
    const TERNARY: bool = true;

    fn splat(bit: bool) -> Self {
        Self(u64::splat(bit))
    }

    /// The inputs for which the table has a one, each as the lanes where it occurs.
    fn lut3<const TABLE: i32>(a: Self, b: Self, c: Self) -> Self {
        let of = |word: Self, bit: u32| if bit == 1 { word.0 } else { !word.0 };
        let ones = (0..8_u32).filter(|input| TABLE >> input & 1 == 1);
        let lanes = |input: u32| of(a, input >> 2) & of(b, input >> 1 & 1) & of(c, input & 1);
        Self(ones.fold(0, |sum, input| sum | lanes(input)))
    }

    fn from_le_bytes(bytes: &[u8]) -> Self {
        Self(Word::from_le_bytes(bytes))
    }

    fn to_le_bytes(self, bytes: &mut [u8]) {
        Word::to_le_bytes(self.0, bytes);
    }

    fn exchange(low: &mut Self, high: &mut Self, distance: usize) {
        u64::exchange(&mut low.0, &mut high.0, distance);
    }
}

/// Runs a circuit on every input, 64 at a time, and compares with its table.
fn check<W: Word, const I: usize, const O: usize>(
    name: &str,
    circuit: impl Fn([W; I]) -> [W; O],
    table: &[u8],
) {
    for (first, expected) in (0..).step_by(64).zip(table.chunks(64)) {
        let plane = |bit: usize| {
            (0..64).fold(0_u64, |plane, lane| plane | ((first + lane) as u64 >> bit & 1) << lane)
        };
        let outputs =
            circuit(core::array::from_fn(|bit| W::from_le_bytes(&plane(bit).to_le_bytes())));
        let planes = outputs.map(|word| {
            let mut bytes = [0; 8];
            word.to_le_bytes(&mut bytes);
            u64::from_le_bytes(bytes)
        });
        for (lane, &expected) in expected.iter().enumerate() {
            let output = (0..O).fold(0, |sum, bit| sum | (planes[bit] >> lane & 1) << bit);
            assert_eq!(output, u64::from(expected), "{name} of {}", first + lane);
        }
    }
}

macro_rules! check_all {
    ($($module:ident::$function:ident is $table:expr;)*) => {$(
        check::<u64, _, _>(stringify!($module::$function, gates), $module::$function, &$table);
        check::<LookUps, _, _>(stringify!($module::$function, lookups), $module::$function, &$table);
    )*};
}

#[test]
fn both_forms_of_every_sbox_are_its_table() {
    check_all! {
        aes::sbox is sbox::AES;
        aes::inv_sbox is sbox::AES_INVERSE;
        aria::sbox1 is sbox::AES;
        aria::inv_sbox1 is sbox::AES_INVERSE;
        aria::sbox2 is sbox::ARIA_S2;
        aria::inv_sbox2 is sbox::ARIA_S2_INVERSE;
        camellia::sbox is sbox::CAMELLIA[0];
        seed::sbox0 is sbox::SEED[0];
        seed::sbox1 is sbox::SEED[1];
        des_boxes::sbox1 is des::SBOXES[0];
        des_boxes::sbox2 is des::SBOXES[1];
        des_boxes::sbox3 is des::SBOXES[2];
        des_boxes::sbox4 is des::SBOXES[3];
        des_boxes::sbox5 is des::SBOXES[4];
        des_boxes::sbox6 is des::SBOXES[5];
        des_boxes::sbox7 is des::SBOXES[6];
        des_boxes::sbox8 is des::SBOXES[7];
    }
}
