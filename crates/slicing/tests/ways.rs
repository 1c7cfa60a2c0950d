//! What an engine says of how it runs a call is what it does.

#[macro_use]
mod every_isa;

use std::cell::Cell;

use cipher::{
    Array, InOutBuf,
    consts::{U16, U64},
    typenum::Unsigned,
};
use lanecrypt_core::{Cipher, Direction, Dispatch, Engine, Implementation};
use lanecrypt_slicing::{
    BitLanes, BitState, Body, Choices, Core, Fastest, Form, OnBitLanes, Rest, Rounds, RunsOn,
    Schedule, Sliced, State,
};

thread_local! {
    /// What the last call ran first.
    static RAN: Cell<Option<Dispatch>> = const { Cell::new(None) };
}

fn note(way: Dispatch) {
    if RAN.get().is_none() {
        RAN.set(Some(way));
    }
}

/// A cipher that does nothing but say how.
#[derive(Clone)]
struct Nothing;

impl Schedule for Nothing {
    type BlockSize = U16;
    type KeySize = U16;
    const NAME: &'static str = "Nothing";

    fn new(_: &Array<u8, U16>) -> Self {
        Self
    }
}

/// The blocks that are few, and how many of them are run at once.
const FEW: usize = 5;
const AT_ONCE: usize = 2;

impl Core for Nothing {
    type BlockSize = U16;
    type Keys = ();
}

impl Form for Nothing {
    type Schedule = Self;
    type Core = Self;
    type Keys = ();

    fn keys(_: &Self, _: Direction) {}

    fn view(keys: &()) -> &() {
        keys
    }
}

struct Padded<R>(R);

impl<R: Rest<Nothing>> OnBitLanes for Padded<R> {
    fn run<I: BitLanes>(self, isa: I) {
        self.0.pad(isa);
    }
}

impl<I: BitLanes> Rounds<I> for Nothing {
    type State = BitState<I::Word, 128>;

    fn run<const G: usize>((): &(), _: I, _: &mut [Self::State; G]) {
        note(Dispatch::Batches(<Self::State as State<I>>::Lanes::USIZE));
    }

    fn rest(isa: I, blocks: usize, rest: impl Rest<Self>) {
        isa.suited(blocks, Padded(rest));
    }
}

impl<I: BitLanes> RunsOn<I> for Nothing {
    fn short_at_once(blocks: usize) -> Option<usize> {
        (blocks <= FEW).then_some(AT_ONCE)
    }

    fn run_short(_: &Self, _: I, _: Direction, blocks: InOutBuf<'_, '_, Array<u8, U16>>) {
        assert!(blocks.len() <= FEW, "these are not few");
        note(Dispatch::Short(AT_ONCE));
    }
}

impl Choices for Nothing {
    type Schedule = Self;
    type Lanes = U64;
    type Fast = Self;
    type Plain = Self;
}

lanecrypt_slicing::compiled_here!(fast: Nothing, plain: Nothing);

/// Numbers of blocks, run.
fn says_what_it_does<I>(token: I::Token, name: &str)
where
    I: Implementation<BlockSize = U16, KeySize = U16> + 'static,
{
    let cipher = Cipher::<I>::with_token(token, &[0; 16].into());
    for blocks in (1..600).step_by(every_isa::STEP) {
        RAN.set(None);
        cipher.ecb(Direction::Encrypt, vec![0; 16 * blocks][..].as_mut().into()).expect("blocks");
        assert_eq!(cipher.dispatch(blocks), RAN.get(), "{name}: {blocks} blocks");
    }
    assert_eq!(cipher.dispatch(FEW), Some(Dispatch::Short(AT_ONCE)), "{name}");
    assert_ne!(cipher.dispatch(FEW + 1), cipher.dispatch(FEW), "{name}");
}

struct Check;

impl<I: BitLanes> Body<I> for Check {
    type Output = ();

    fn run(self, isa: I) {
        says_what_it_does::<Sliced<Nothing, I>>(isa, &format!("{isa:?}"));
    }
}

#[test]
fn on_every_instruction_set() {
    on_bit_lanes!(Check);
}

#[test]
fn on_the_best_instruction_set() {
    says_what_it_does::<Fastest<Nothing>>((), "Fastest");
}

/// Through a pointer it says the same.
#[test]
fn a_box_says_what_its_engine_says() {
    let cipher = Cipher::from(Fastest::<Nothing>::of(Nothing));
    let boxed: Box<dyn Engine> = Box::new(cipher);
    assert_eq!(boxed.dispatch(1), Some(Dispatch::Short(AT_ONCE)));
}
