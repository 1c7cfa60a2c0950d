//! Whole blocks in the lanes of a register, and rounds of AES on them, against their definitions on
//! every instruction set.

#[macro_use]
mod every_isa;

use cipher::typenum::Unsigned;
use every_isa::noise;
use lanecrypt_reference::{gf256, sbox};
use lanecrypt_slicing::{AesBlocks, BlockBytes, BlockLanes, Body, NONE};

/// What becomes of each block of a full register.
fn each<I: BlockLanes>(isa: I, blocks: &[u8], work: impl Fn(I::Bytes) -> I::Bytes) -> Vec<u8> {
    let mut output = vec![0xee; blocks.len()];
    isa.store(work(isa.load(blocks)), &mut output);
    output
}

/// The same by a plain function of blocks.
fn plainly(blocks: &[u8], work: impl Fn(&[u8; 16]) -> [u8; 16]) -> Vec<u8> {
    blocks.as_chunks::<16>().0.iter().flat_map(work).collect()
}

/// Any number of blocks that fit, and none beyond them.
struct Memory;

impl<I: BlockLanes> Body<I> for Memory {
    type Output = ();

    fn run(self, isa: I) {
        for count in 0..=I::BLOCKS {
            let blocks = noise(16 * count, 1);
            assert_eq!(each(isa, &blocks, |register| register), blocks, "{isa:?}, {count} blocks");
            let mut all = vec![0xee; 16 * I::BLOCKS];
            isa.store(isa.load(&blocks), &mut all);
            let mut expected = blocks.clone();
            expected.resize(all.len(), 0);
            assert_eq!(all, expected, "{isa:?}: lanes beyond {count} blocks are zero");
        }
        let one = noise(16, 2);
        let mut all = vec![0; 16 * I::BLOCKS];
        isa.store(isa.broadcast(one.first_chunk().expect("16 bytes")), &mut all);
        assert_eq!(all, one.repeat(I::BLOCKS), "{isa:?}");
        for bytes in [1, 15, 17, 16 * I::BLOCKS + 16] {
            let load = || isa.load(&vec![0; bytes]);
            let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(load));
            assert!(refused.is_err(), "{isa:?} takes {bytes} bytes");
            let store = || isa.store(isa.load(&[]), &mut vec![0; bytes]);
            let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(store));
            assert!(refused.is_err(), "{isa:?} gives {bytes} bytes");
        }
    }
}

/// Sums of words, orders and sums of bytes.
struct Operations;

/// An order of bytes, some of them twice and some left out.
const ORDER: [u8; 16] = [3, 3, NONE, 0, 15, 8, 7, NONE, 1, 2, 14, 13, 0, NONE, 9, 15];
/// Sums of none, one, some and all of eight bytes.
const LOW: [u8; 8] = [0x01, 0x80, 0x00, 0xff, 0x5a, 0x13, 0x7e, 0x04];
const HIGH: [u8; 8] = [0xa5, 0x10, 0x81, 0x00, 0xfe, 0x02, 0x66, 0x55];

impl<I: BlockLanes> Body<I> for Operations {
    type Output = ();

    fn run(self, isa: I) {
        let (a, b) = (noise(16 * I::BLOCKS, 3), noise(16 * I::BLOCKS, 4));
        let word = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
        let words = a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0);
        let sums: Vec<u8> =
            words.flat_map(|(a, b)| word(a).wrapping_add(word(b)).to_le_bytes()).collect();
        assert_eq!(each(isa, &a, |a| a.add32(isa.load(&b))), sums, "{isa:?}");

        let ordered = |block: &[u8; 16]| {
            ORDER.map(|from| if from == NONE { 0 } else { block[usize::from(from)] })
        };
        let ours = each(isa, &a, I::Bytes::shuffled::<{ u128::from_le_bytes(ORDER) }>);
        assert_eq!(ours, plainly(&a, ordered), "{isa:?}");

        let sum = |eight: &[u8], of: u8| {
            eight
                .iter()
                .enumerate()
                .filter(|(i, _)| of >> i & 1 == 1)
                .fold(0, |sum, (_, b)| sum ^ b)
        };
        let mixed = |block: &[u8; 16]| {
            let (low, high) = block.split_at(8);
            let mut output = [0; 16];
            for i in 0..8 {
                output[i] = sum(low, LOW[i]);
                output[8 + i] = sum(high, HIGH[i]);
            }
            output
        };
        let ours = each(isa, &a, |a| {
            a.mixed::<{ u64::from_le_bytes(LOW) }, { u64::from_le_bytes(HIGH) }>()
        });
        assert_eq!(ours, plainly(&a, mixed), "{isa:?}");
    }
}

#[test]
fn blocks_come_and_go() {
    on_field_bytes!(Memory);
}

#[test]
fn bytes_move_inside_their_block() {
    on_field_bytes!(Operations);
}

/// Where FIPS 197's `ShiftRows` takes byte `i` from; columns are four bytes each.
fn shifted(i: usize) -> usize {
    (i + 4 * (i % 4)) % 16
}

/// FIPS 197, 5.1.1 and 5.1.2.
fn sub_and_shift(state: &[u8; 16]) -> [u8; 16] {
    std::array::from_fn(|i| sbox::AES[usize::from(state[shifted(i)])])
}

/// FIPS 197, 5.3.1 and 5.3.2.
fn sub_and_shift_back(state: &[u8; 16]) -> [u8; 16] {
    let mut output = [0; 16];
    for (i, byte) in state.iter().enumerate() {
        output[shifted(i)] = sbox::AES_INVERSE[usize::from(*byte)];
    }
    output
}

/// The columns times a circulant matrix, FIPS 197, 5.1.3 and 5.3.3.
fn mix(state: &[u8; 16], first: [u8; 4]) -> [u8; 16] {
    let product = |a, b| gf256::multiply(a, b, gf256::AES_MODULUS);
    std::array::from_fn(|i| {
        let column = &state[i / 4 * 4..][..4];
        (0..4).fold(0, |sum, j| sum ^ product(first[(4 + j - i % 4) % 4], column[j]))
    })
}

fn plus(a: &[u8; 16], key: &[u8; 16]) -> [u8; 16] {
    std::array::from_fn(|i| a[i] ^ key[i])
}

/// Rounds of AES, counters and steps of XTS, of a register of blocks.
struct Aes;

impl<I: AesBlocks> Body<I> for Aes {
    type Output = ();

    fn run(self, isa: I) {
        let (blocks, key) = (noise(16 * I::Lanes::USIZE, 5), noise(16, 6));
        let key: &[u8; 16] = key.first_chunk().expect("16 bytes");
        let check = |ours: fn(I, I::Blocks, I::Blocks) -> I::Blocks,
                     plain: &dyn Fn(&[u8; 16]) -> [u8; 16]| {
            let mut output = vec![0; blocks.len()];
            isa.store(ours(isa, isa.load(&blocks), isa.broadcast(key)), &mut output);
            assert_eq!(output, plainly(&blocks, plain), "{isa:?}");
        };
        check(|_, a, b| a ^ b, &|state| plus(state, key));
        check(I::encrypt_round, &|state| plus(&mix(&sub_and_shift(state), [2, 3, 1, 1]), key));
        check(I::encrypt_last, &|state| plus(&sub_and_shift(state), key));
        check(I::decrypt_round, &|state| {
            plus(&mix(&sub_and_shift_back(state), [14, 11, 13, 9]), key)
        });
        check(I::decrypt_last, &|state| plus(&sub_and_shift_back(state), key));
        check(|isa, masks, _| isa.times_x8(masks), &|mask| {
            let doubled = |mask: u128| (mask << 1) ^ ((mask >> 127) * 0x87);
            (0..8).fold(u128::from_le_bytes(*mask), |mask, _| doubled(mask)).to_le_bytes()
        });
    }
}

/// Counters around every wrap of 64 and of 128 bits.
struct Counters;

impl<I: AesBlocks> Body<I> for Counters {
    type Output = ();

    fn run(self, isa: I) {
        for high in [0, 7, u64::MAX] {
            for low in (0..10).chain(u64::MAX - 10..=u64::MAX) {
                let first = u128::from(high) << 64 | u128::from(low);
                let mut blocks = vec![0; 16 * I::Lanes::USIZE];
                isa.store(isa.count(first), &mut blocks);
                for (i, block) in (0..).zip(blocks.as_chunks::<16>().0) {
                    assert_eq!(
                        *block,
                        first.wrapping_add(i).to_be_bytes(),
                        "{isa:?} from {first:#x}"
                    );
                }
            }
        }
        let single = isa.single();
        let mut block = [0; 16];
        single.store(single.broadcast(&[7; 16]), &mut block);
        assert_eq!(block, [7; 16]);
        for bytes in [0, 15, 16 * I::Lanes::USIZE + 16] {
            let load = || isa.load(&vec![0; bytes]);
            let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(load));
            assert!(refused.is_err(), "{isa:?} takes {bytes} bytes");
        }
    }
}

#[test]
fn rounds_are_those_of_the_standard() {
    #[cfg(target_arch = "x86_64")]
    on_each!(Aes; lanecrypt_slicing::AesNi);
    on_field_bytes!(Aes);
}

#[test]
fn counters_count() {
    #[cfg(target_arch = "x86_64")]
    on_each!(Counters; lanecrypt_slicing::AesNi);
    on_field_bytes!(Counters);
}
