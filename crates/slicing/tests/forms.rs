//! A toy cipher through `Form`, `Sliced` and `Fastest`, on every instruction set: every number of
//! blocks, several batches side by side, in place and out of place.

#[macro_use]
mod every_isa;

use std::fmt::Debug;

use cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, InOutBuf, KeyInit,
    consts::{U16, U64},
    typenum::Unsigned,
};
use every_isa::{few_cases, noise};
use lanecrypt_core::{AnyCpu, Cipher, Counter, Direction, Engine, Implementation, Secret};
use lanecrypt_slicing::{
    BitLanes, BitState, Body, ByteLanes, ByteState, Bytes, Choices, Core, Fastest, Form, Isa,
    Portable, Rounds, RunsOn, Schedule, Sliced, SplatBytes, spread,
};
use proptest::{collection::vec, prelude::*};

const KEY: [u8; 16] = *b"a key of a toy's";

/// What becomes of byte `j`, before bytes change places.
fn toy_byte<B: Bytes>(byte: B, key: B) -> B {
    byte.xor(key).rotate_left::<3>().add(key)
}

fn toy_byte_back<B: Bytes>(byte: B, key: B) -> B {
    byte.subtract(key).rotate_left::<5>().xor(key)
}

/// The toy cipher on rows of bytes, one after the other or 64 side by side.
fn toy<B: Bytes>(rows: &mut [B], key: impl Fn(usize) -> B, direction: Direction) {
    match direction {
        Direction::Encrypt => {
            for (j, row) in rows.iter_mut().enumerate() {
                *row = toy_byte(*row, key(j));
            }
            rows.rotate_right(1);
        }
        Direction::Decrypt => {
            rows.rotate_left(1);
            for (j, row) in rows.iter_mut().enumerate() {
                *row = toy_byte_back(*row, key(j));
            }
        }
    }
}

/// What is expected of every block.
fn plainly(direction: Direction, blocks: &mut [u8]) {
    for block in blocks.chunks_exact_mut(16) {
        toy(block, |j| KEY[j], direction);
    }
}

#[derive(Clone)]
struct Kept(Secret<[u8; 16]>);

impl Schedule for Kept {
    type BlockSize = U16;
    type KeySize = U16;
    const NAME: &'static str = "Toy";

    fn new(key: &Array<u8, U16>) -> Self {
        Self(Secret::new(key.0))
    }
}

/// The key and the direction, as every form here wants them.
struct Keys(Secret<[u8; 16]>, Direction);

impl Keys {
    fn of(schedule: &Kept, direction: Direction) -> Self {
        Self(schedule.0.clone(), direction)
    }
}

struct ByBytes;
struct ByBits;

impl Core for ByBytes {
    type BlockSize = U16;
    type Keys = Keys;
}

impl Form for ByBytes {
    type Schedule = Kept;
    type Core = Self;
    type Keys = Keys;

    fn keys(schedule: &Kept, direction: Direction) -> Keys {
        Keys::of(schedule, direction)
    }

    fn view(keys: &Keys) -> &Keys {
        keys
    }
}

impl Core for ByBits {
    type BlockSize = U16;
    type Keys = Keys;
}

impl Form for ByBits {
    type Schedule = Kept;
    type Core = Self;
    type Keys = Keys;

    fn keys(schedule: &Kept, direction: Direction) -> Keys {
        Keys::of(schedule, direction)
    }

    fn view(keys: &Keys) -> &Keys {
        keys
    }
}

impl<I: ByteLanes> RunsOn<I> for ByBytes {}
impl<I: BitLanes> RunsOn<I> for ByBits {}

impl<I: ByteLanes> Rounds<I> for ByBytes {
    type State = ByteState<I::Bytes, 16>;
    const GROUPS: usize = 8;

    fn run<const G: usize>(keys: &Keys, isa: I, states: &mut [Self::State; G]) {
        for state in states {
            toy(&mut state.0, |j| isa.splat(spread(keys.0[j])), keys.1);
        }
    }
}

impl<I: BitLanes> Rounds<I> for ByBits {
    type State = BitState<I::Word, 128>;
    const GROUPS: usize = 2;

    fn run<const G: usize>(keys: &Keys, isa: I, states: &mut [Self::State; G]) {
        for state in states {
            let rows = state.0.as_chunks_mut::<8>().0;
            toy(rows, |j| lanecrypt_slicing::InPlanes(isa).splat(spread(keys.0[j])), keys.1);
        }
    }
}

/// Counters that carry out of 64 bits, and wrap.
const COUNTERS: [[u8; 16]; 3] =
    [[7; 16], [0xff; 16], [1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf3]];

/// Numbers of blocks around a batch, and around several side by side.
fn counts(lanes: usize) -> impl Iterator<Item = usize> {
    let around = |n: usize| [n - 1, n, n + 1];
    let most = if cfg!(miri) { 2 } else { 20 };
    let all = [0].into_iter().chain((1..=most).flat_map(move |n| around(n * lanes)));
    all.filter(|count| *count < 4000)
}

/// The work in place and out of place; both must give what is expected.
fn both_ways(what: &str, data: &[u8], expected: &[u8], work: impl Fn(InOutBuf<'_, '_, u8>)) {
    let mut in_place = data.to_vec();
    work(in_place.as_mut_slice().into());
    assert!(in_place == expected, "{what}, in place");
    let mut output = vec![0xee; data.len()];
    work(InOutBuf::new(data, &mut output).expect("equal lengths"));
    assert!(output == expected, "{what}, out of place");
}

/// ECB both ways and CTR of an implementation, over a number of blocks and some bytes.
fn is_the_toy<I: Implementation<BlockSize = U16, KeySize = U16> + 'static>(
    token: I::Token,
    name: &str,
) {
    let cipher = Cipher::<I>::with_token(token, &KEY.into());
    for count in counts(I::Lanes::USIZE) {
        let data = noise(16 * count + 5, count as u64);
        let whole = &data[..16 * count];
        for direction in Direction::BOTH {
            let mut expected = whole.to_vec();
            plainly(direction, &mut expected);
            let what = format!("{name}: {direction} of {count} blocks");
            both_ways(&what, whole, &expected, |data| cipher.ecb(direction, data).expect("ECB"));
        }
        for counter in COUNTERS {
            let mut expected = vec![0; 16 * (count + 1)];
            Counter::from_block(&counter).expect("16 bytes").fill(&mut expected);
            plainly(Direction::Encrypt, &mut expected);
            expected.iter_mut().zip(&data).for_each(|(mask, byte)| *mask ^= byte);
            let what = format!("{name}: CTR of {count} blocks");
            let expected = &expected[..data.len()];
            both_ways(&what, &data, expected, |data| cipher.ctr(&counter, data).expect("CTR"));
        }
    }
}

struct Check<F>(std::marker::PhantomData<F>);

impl<F: RunsOn<I> + Form<Schedule = Kept>, I: Isa> Body<I> for Check<F> {
    type Output = ();

    fn run(self, isa: I) {
        is_the_toy::<Sliced<F, I>>(isa, &format!("{isa:?}"));
    }
}

#[test]
fn sliced_by_bytes() {
    on_byte_lanes!(Check::<ByBytes>(std::marker::PhantomData));
}

#[test]
fn sliced_by_bits() {
    on_bit_lanes!(Check::<ByBits>(std::marker::PhantomData));
}

/// The toy on every CPU.
struct CpuForms;

impl Choices for CpuForms {
    type Schedule = Kept;
    type Lanes = U64;
    type Fast = ByBytes;
    type Plain = ByBits;
}

lanecrypt_slicing::compiled_here!(fast: ByBytes, plain: ByBits);

#[test]
fn on_the_best_instruction_set() {
    is_the_toy::<Fastest<CpuForms>>((), "Fastest");
}

/// RustCrypto's provided methods, which cut into batches of `Lanes`, do the same.
fn through_backends<C>(cipher: &C, data: &[[u8; 16]])
where
    C: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt,
{
    let plain: Vec<Array<u8, U16>> = data.iter().map(|block| (*block).into()).collect();
    let mut expected = data.to_vec();
    plainly(Direction::Encrypt, expected.as_flattened_mut());
    let mut blocks = plain.clone();
    cipher.encrypt_blocks_b2b(&plain, &mut blocks).expect("equal lengths");
    assert!(blocks.iter().zip(&expected).all(|(a, b)| a.0 == *b));
    for block in &mut blocks {
        cipher.decrypt_block(block);
    }
    assert!(blocks == plain);
}

/// The most blocks that the property below tries: Miri takes seconds for each.
const MOST_BLOCKS: usize = if cfg!(miri) { 10 } else { 200 };

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn as_rustcryptos_modes_call_it(data in vec(any::<[u8; 16]>(), 0..MOST_BLOCKS)) {
        through_backends(&Cipher::<Fastest<CpuForms>>::new(&KEY.into()), &data);
        through_backends(&Cipher::<Sliced<ByBytes, Portable<u64>>>::new(&KEY.into()), &data);
        through_backends(&Cipher::<Sliced<ByBits, Portable<u32>>>::new(&KEY.into()), &data);
    }
}

#[test]
fn nothing_shows_a_key() {
    fn shown(value: &dyn Debug) -> String {
        format!("{value:?}")
    }
    let sliced = Sliced::<ByBytes, Portable<u64>>::new(AnyCpu::get(), &KEY.into());
    assert_eq!(shown(&sliced), "Sliced { .. }");
    let fastest = Fastest::<CpuForms>::new((), &KEY.into());
    assert_eq!(shown(&fastest), "Fastest { .. }");
    assert_eq!(shown(&fastest.batch_keys(Direction::Encrypt)), "FastestKeys { .. }");
    assert_eq!(shown(&Cipher::from(fastest)), "Toy { ... }");
}
