//! The generated Rust as it stands in the cipher crates: both forms of every circuit, run on every
//! input, and of every linear layer.

use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use lanecrypt_circuit::LAYERS;
use lanecrypt_reference::{des, plaintext::PlaintextStream, sbox};
use lanecrypt_slicing::Word;

#[rustfmt::skip]
#[path = "../../aes/src/sbox.rs"]
mod aes;
#[rustfmt::skip]
#[path = "../../aria/src/sbox.rs"]
mod aria;
#[rustfmt::skip]
#[path = "../../aria/src/linear.rs"]
mod aria_linear;
#[rustfmt::skip]
#[path = "../../camellia/src/sbox.rs"]
mod camellia;
#[rustfmt::skip]
#[path = "../../camellia/src/linear.rs"]
mod camellia_linear;
#[rustfmt::skip]
#[path = "../../des/src/sbox.rs"]
mod des_boxes;
#[rustfmt::skip]
#[path = "../../seed/src/sbox.rs"]
mod seed;
#[rustfmt::skip]
#[path = "../../sm4/src/sbox.rs"]
mod sm4;

/// A word that can only look up, and add if `ADDS`: another gate in the form that it takes is a fault.
#[derive(Clone, Copy, Debug)]
struct LookUps<const ADDS: bool>(u64);

macro_rules! no_gates {
    (in place $($binary:ident $function:ident)*) => {$(
        impl<const ADDS: bool> $binary for LookUps<ADDS> {
            fn $function(&mut self, _: Self) {
                panic!(stringify!($function));
            }
        }
    )*};
    ($($binary:ident $function:ident)*) => {$(
        impl<const ADDS: bool> $binary for LookUps<ADDS> {
            type Output = Self;
            fn $function(self, _: Self) -> Self {
                panic!(stringify!($function));
            }
        }
    )*};
}
no_gates!(BitAnd bitand BitOr bitor);
no_gates!(in place BitAndAssign bitand_assign BitOrAssign bitor_assign BitXorAssign bitxor_assign);

impl<const ADDS: bool> BitXor for LookUps<ADDS> {
    type Output = Self;
    fn bitxor(self, other: Self) -> Self {
        assert!(ADDS, "bitxor");
        Self(self.0 ^ other.0)
    }
}

impl<const ADDS: bool> Not for LookUps<ADDS> {
    type Output = Self;
    fn not(self) -> Self {
        panic!("not");
    }
}

impl<const ADDS: bool> Word for LookUps<ADDS> {
    const TERNARY: bool = true;

    /// The inputs for which the table has a one, each as the lanes where it occurs.
    fn lut3<const TABLE: i32>(a: Self, b: Self, c: Self) -> Self {
        let of = |word: Self, bit: u32| if bit == 1 { word.0 } else { !word.0 };
        let ones = (0..8_u32).filter(|input| TABLE >> input & 1 == 1);
        let lanes = |input: u32| of(a, input >> 2) & of(b, input >> 1 & 1) & of(c, input & 1);
        Self(ones.fold(0, |sum, input| sum | lanes(input)))
    }
}

/// A word of 64 lanes that can be made here.
trait Plane: Word + From<u64> + Into<u64> {}
impl<W: Word + From<u64> + Into<u64>> Plane for W {}

impl<const ADDS: bool> From<u64> for LookUps<ADDS> {
    fn from(plane: u64) -> Self {
        Self(plane)
    }
}

impl<const ADDS: bool> From<LookUps<ADDS>> for u64 {
    fn from(word: LookUps<ADDS>) -> Self {
        word.0
    }
}

/// Runs a circuit on every input, 64 at a time, and compares with its table.
fn check<W: Plane, const I: usize, const O: usize>(
    name: &str,
    circuit: impl Fn([W; I]) -> [W; O],
    table: &[u8],
) {
    for (first, expected) in (0..).step_by(64).zip(table.chunks(64)) {
        let plane = |bit: usize| {
            (0..64).fold(0_u64, |plane, lane| plane | ((first + lane) as u64 >> bit & 1) << lane)
        };
        let planes: [u64; O] =
            circuit(core::array::from_fn(|bit| W::from(plane(bit)))).map(Into::into);
        for (lane, &expected) in expected.iter().enumerate() {
            let output = (0..O).fold(0, |sum, bit| sum | (planes[bit] >> lane & 1) << bit);
            assert_eq!(output, u64::from(expected), "{name} of {}", first + lane);
        }
    }
}

macro_rules! check_all {
    ($($module:ident::$function:ident is $table:expr;)*) => {$(
        check::<u64, _, _>(stringify!($module::$function, gates), $module::$function, &$table);
        check::<LookUps<false>, _, _>(stringify!($module::$function, lookups), $module::$function, &$table);
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
        sm4::sbox is sbox::SM4;
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

/// Runs a linear layer on words that are noise, and compares with the sums of its rows.
fn check_layer<W: Plane, const N: usize>(name: &str, circuit: impl Fn([W; N]) -> [W; N]) {
    let layer = LAYERS.iter().find(|layer| layer.name == name).expect("it is in the list");
    for seed in 0..100 {
        let mut bytes = vec![0; 8 * N];
        PlaintextStream::new(seed).fill(&mut bytes);
        let planes: [u64; N] = core::array::from_fn(|i| u64::from_le_bytes(bytes.as_chunks().0[i]));
        let found: [u64; N] = circuit(planes.map(W::from)).map(Into::into);
        let sum = |row: u32| (0..N).filter(|i| row >> i & 1 == 1).fold(0, |sum, i| sum ^ planes[i]);
        let expected: Vec<u64> = (layer.rows)().into_iter().map(sum).collect();
        assert_eq!(found.as_slice(), expected, "{name}");
    }
}

#[test]
fn both_forms_of_every_linear_layer_are_its_rows() {
    check_layer::<u64, _>("aria_a", aria_linear::diffuse);
    check_layer::<LookUps<false>, _>("aria_a", aria_linear::diffuse);
    check_layer::<u64, _>("camellia_p", camellia_linear::p);
    check_layer::<LookUps<true>, _>("camellia_p", camellia_linear::p);
}
