//! Messages side by side against one after another, what they refuse, and how few calls of an engine they take.

use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use cbc::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, InOutBuf, KeyInit, consts::U16};
use lanecrypt_core::{
    Chains, Cipher, ConstantTime, CpuEngine, Direction, Engine, Error, MessagesError, OneBlock,
    Operation, SerialMode,
    modes::{self, AbsorbedMessage, ChainedMessage, MOST_CHAINS},
};
use proptest::{collection::vec, prelude::*};

const MODES: [SerialMode; 3] = [SerialMode::Cbc, SerialMode::Cfb, SerialMode::Ofb];
const COUNTS: [usize; 10] = [0, 1, 2, 7, 8, 9, 63, 64, 65, 200];

/// An engine that counts its calls, and fails from a certain one on.
#[derive(Debug)]
struct Counts {
    engine: CpuEngine<aes::Aes128>,
    at_once: usize,
    calls: AtomicUsize,
    fails_after: usize,
}

impl Counts {
    fn of(at_once: usize) -> Self {
        let engine = CpuEngine::new(aes::Aes128::new(&[3; 16].into()));
        Self { engine, at_once, calls: 0.into(), fails_after: usize::MAX }
    }
}

impl Engine for Counts {
    fn block_bytes(&self) -> usize {
        16
    }
    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        if self.calls.fetch_add(1, Relaxed) >= self.fails_after {
            return Err(Error::EmptyIv);
        }
        self.engine.run(operation, data)
    }
    fn chains_at_once(&self) -> usize {
        self.at_once
    }
}

/// Different bytes in each message.
fn noise(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| (((i + 7 * seed) * (i + 3)) >> 3) as u8 ^ seed as u8).collect()
}

/// One message after another: the outputs and what each goes on with.
fn one_after_another(
    engine: &dyn Engine,
    mode: SerialMode,
    texts: &[Vec<u8>],
) -> (Vec<Vec<u8>>, Vec<Option<Vec<u8>>>) {
    let block = engine.block_bytes();
    let run = |(number, text): (usize, &Vec<u8>)| {
        let (iv, mut output) = (noise(block, number), text.clone());
        let data = output.as_mut_slice().into();
        match mode {
            SerialMode::Cbc => modes::cbc_encrypt(engine, &iv, data),
            SerialMode::Cfb => modes::cfb_encrypt(engine, &iv, data),
            SerialMode::Ofb => modes::ofb(engine, &iv, data),
        }
        .expect("good lengths");
        let last = output.rchunks_exact(block).next().map_or(iv, |last| match mode {
            SerialMode::Ofb => {
                last.iter().zip(&text[text.len() - block..]).map(|(a, b)| a ^ b).collect()
            }
            _ => last.to_vec(),
        });
        let is_whole = text.len().is_multiple_of(block);
        (output, is_whole.then_some(last))
    };
    texts.iter().enumerate().map(run).unzip()
}

/// Runs messages in place and out of place, and compares.
fn agree(engine: &dyn Engine, mode: SerialMode, lengths: &[usize]) {
    let block = engine.block_bytes();
    let texts: Vec<_> =
        lengths.iter().zip(100..).map(|(&length, seed)| noise(length, seed)).collect();
    let (expected, goes_on) = one_after_another(engine, mode, &texts);
    let ivs: Vec<_> = (0..texts.len()).map(|number| noise(block, number)).collect();
    let check = |ivs: &[Vec<u8>], outputs: &[Vec<u8>], how: &str| {
        assert!(outputs == expected, "{mode:?} over {lengths:?}, {how}");
        for (number, (iv, goes_on)) in ivs.iter().zip(&goes_on).enumerate() {
            let is_right = goes_on.as_ref().is_none_or(|register| register == iv);
            assert!(is_right, "{mode:?} over {lengths:?}, {how}: register {number}");
        }
    };

    let (mut registers, mut outputs) = (ivs.clone(), texts.clone());
    let mut messages: Vec<_> = registers
        .iter_mut()
        .zip(&mut outputs)
        .map(|(iv, text)| ChainedMessage { iv, data: text.as_mut_slice().into() })
        .collect();
    mode.run_messages(engine, &mut messages).expect("good lengths");
    check(&registers, &outputs, "in place");

    let (mut registers, mut outputs) = (ivs.clone(), texts.clone());
    for output in &mut outputs {
        output.fill(0xa5);
    }
    let mut messages: Vec<_> = registers
        .iter_mut()
        .zip(texts.iter().zip(&mut outputs))
        .map(|(iv, (input, output))| ChainedMessage {
            iv,
            data: InOutBuf::new(input, output).expect("equally long"),
        })
        .collect();
    mode.run_messages(engine, &mut messages).expect("good lengths");
    check(&registers, &outputs, "out of place");
}

/// AES-128 as an implementation of ours.
#[derive(Clone)]
struct BlockByBlock(aes::Aes128);

impl OneBlock for BlockByBlock {
    type BlockSize = U16;
    type KeySize = U16;

    const NAME: &'static str = "AES, block by block";
    const CONSTANT_TIME: ConstantTime = ConstantTime::Yes;

    fn new(key: &Array<u8, U16>) -> Self {
        Self(aes::Aes128::new(key))
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U16>) {
        match direction {
            Direction::Encrypt => self.0.encrypt_block(block),
            Direction::Decrypt => self.0.decrypt_block(block),
        }
    }
}

fn engines() -> [Box<dyn Engine>; 5] {
    [
        Box::new(Cipher::<BlockByBlock>::new(&[4; 16].into())),
        Box::new(CpuEngine::new(aes::Aes128::new(&[1; 16].into()))),
        Box::new(CpuEngine::new(des::TdesEde3::new(&[2; 24].into()))),
        Box::new(Counts::of(1)),
        Box::new(Counts::of(5)),
    ]
}

#[test]
fn every_number_of_messages() {
    for engine in engines() {
        let block = engine.block_bytes();
        for (mode, count) in MODES.into_iter().flat_map(|mode| COUNTS.map(|count| (mode, count))) {
            agree(&*engine, mode, &vec![3 * block; count]);
            let ragged: Vec<_> = (0..count).map(|number| number * 5 % 13 * block).collect();
            agree(&*engine, mode, &ragged);
            if mode != SerialMode::Cbc {
                let parts: Vec<_> = (0..count).map(|number| number * 29 % 131).collect();
                agree(&*engine, mode, &parts);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_lengths(lengths in vec(prop_oneof![0..40_usize, 0..2000_usize], 0..300)) {
        for engine in engines() {
            let block = engine.block_bytes();
            let whole: Vec<_> = lengths.iter().map(|length| length / block * block).collect();
            agree(&*engine, SerialMode::Cbc, &whole);
            agree(&*engine, SerialMode::Cfb, &lengths);
            agree(&*engine, SerialMode::Ofb, &lengths);
        }
    }
}

/// A few long messages among many short ones do not make these wait: whatever their order, an engine has about as
/// many calls as the longest message has blocks.
#[test]
fn long_messages_run_beside_each_other() {
    let blocks = |number: usize| if number.is_multiple_of(32) { 200 } else { 1 + number % 6 };
    let lengths: Vec<_> = (0..320).map(|number| 16 * blocks(number)).collect();
    for (at_once, most) in [(MOST_CHAINS, 230), (32, 280), (1000, 230)] {
        let engine = Counts::of(at_once);
        agree(&engine, SerialMode::Cbc, &lengths);
        engine.calls.store(0, Relaxed);
        let mut texts: Vec<_> = lengths.iter().map(|&length| vec![0; length]).collect();
        let mut ivs = vec![[0; 16]; lengths.len()];
        let messages = texts.iter_mut().zip(&mut ivs);
        let mut messages: Vec<_> = messages
            .map(|(text, iv)| ChainedMessage { iv, data: text.as_mut_slice().into() })
            .collect();
        SerialMode::Cbc.run_messages(&engine, &mut messages).expect("whole blocks");
        let calls = engine.calls.into_inner();
        assert!((200..=most).contains(&calls), "{calls} calls, {at_once} at once");
    }
}

#[test]
fn what_is_absorbed_leaves_its_last_block() {
    for at_once in [16, MOST_CHAINS] {
        let engine = Counts::of(at_once);
        let texts: Vec<_> = (0..300).map(|number| noise(number * 7 % 41 * 16, number)).collect();
        let mut registers = vec![[9; 16]; texts.len()];
        let messages = texts.iter().zip(&mut registers);
        let mut messages: Vec<_> =
            messages.map(|(data, register)| AbsorbedMessage { register, data }).collect();
        SerialMode::Cbc.run_messages(&engine, &mut messages).expect("whole blocks");
        for (text, register) in texts.iter().zip(registers) {
            let mut output = text.clone();
            modes::cbc_encrypt(&engine, &[9; 16], output.as_mut_slice().into()).expect("whole");
            let last = output.rchunks_exact(16).next().unwrap_or(&[9; 16]);
            assert_eq!(last, register);
        }
    }
}

/// Runs messages of these lengths, of which one has a bad one, and checks that it is named and that nothing is
/// written.
fn refused(mode: SerialMode, lengths: [usize; 3], ivs: [usize; 3]) -> (usize, Error) {
    let engine = Counts::of(8);
    let mut texts = lengths.map(|length| vec![7; length]);
    let mut registers = ivs.map(|length| vec![8; length]);
    let messages = texts.iter_mut().zip(&mut registers);
    let mut messages: Vec<_> = messages
        .map(|(text, iv)| ChainedMessage { iv, data: text.as_mut_slice().into() })
        .collect();
    let result = mode.run_messages(&engine, &mut messages);
    assert!(texts.iter().flatten().all(|&byte| byte == 7), "a text is written");
    assert!(registers.iter().flatten().all(|&byte| byte == 8), "a register is written");
    let Err(MessagesError::Message { number, error }) = result else {
        panic!("{mode:?} over {lengths:?} with IVs of {ivs:?} bytes: {result:?}");
    };
    (number, error)
}

#[test]
fn bad_messages_are_named() {
    let not_whole = refused(SerialMode::Cbc, [32, 16, 31], [16; 3]);
    assert!(matches!(not_whole, (2, Error::NotWholeBlocks { given: 31, block: 16, .. })));
    for mode in MODES {
        let iv = refused(mode, [16; 3], [16, 15, 16]);
        assert!(matches!(iv, (1, Error::IvLength { given: 15, accepted: 16, .. })), "{iv:?}");
    }
    let text = MessagesError::Message { number: 7, error: Error::EmptyIv }.to_string();
    assert!(text.starts_with("message 7: GCM IV of 0 bytes"), "{text}");
}

#[test]
fn an_engine_that_fails_is_reported() {
    for fails_after in [0, 1, 5] {
        let engine = Counts { fails_after, ..Counts::of(4) };
        let (mut texts, mut ivs) = ([[0; 160]; 2], [[0; 16]; 2]);
        let messages = texts.iter_mut().zip(&mut ivs);
        let mut messages: Vec<_> = messages
            .map(|(text, iv)| ChainedMessage { iv, data: text.as_mut_slice().into() })
            .collect();
        let result = SerialMode::Ofb.run_messages(&engine, &mut messages);
        assert!(matches!(result, Err(MessagesError::Engine(Error::EmptyIv))), "{result:?}");
    }
}

/// What an engine is given at once: a register for each text, and whole blocks of all texts.
#[test]
fn bad_chains_are_refused() {
    let ours = Cipher::<BlockByBlock>::new(&[3; 16].into());
    for engine in [&Counts::of(4) as &dyn Engine, &ours] {
        let run = |registers: usize, bytes: Range<usize>| {
            let mut texts = [[7; 48], [7; 48]];
            let result = {
                let [a, b] = &mut texts;
                let mut texts = [a.as_mut_slice().into(), b[..32].as_mut().into()];
                let (mut registers, mode) = (vec![1; registers], SerialMode::Cbc);
                let (texts, registers) = (&mut texts, &mut registers);
                engine.run_chains(Chains { texts, registers, bytes, mode })
            };
            (result, texts)
        };
        let refused = |registers, bytes| {
            let (result, texts) = run(registers, bytes);
            assert!(texts == [[7; 48]; 2], "a text is written");
            result.expect_err("a bad length is accepted")
        };
        assert!(matches!(refused(31, 0..16), Error::IvLength { given: 31, accepted: 32, .. }));
        assert!(matches!(refused(32, 0..31), Error::NotWholeBlocks { given: 31, .. }));
        assert!(matches!(refused(32, 0..48), Error::OutputLength { input: 48, output: 32 }));
        let (result, texts) = run(32, 16..32);
        result.expect("a block of both");
        for text in texts {
            assert!(text[..16] == [7; 16] && text[16..32] != [7; 16] && text[32..] == [7; 16]);
        }
        let (texts, registers) = (&mut [], &mut []);
        let none = Chains { texts, registers, bytes: 0..16, mode: SerialMode::Cfb };
        engine.run_chains(none).expect("no message");
        let (result, texts) = run(32, 16..16);
        result.expect("no blocks");
        assert!(texts == [[7; 48]; 2]);
    }
}
