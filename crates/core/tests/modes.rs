//! The modes and the stream over an engine against RustCrypto's own, and what they refuse.

use cbc::cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InOutBuf,
    KeyInit, KeyIvInit, StreamCipher, StreamCipherSeek, block_padding::NoPadding, consts::U16,
};
use lanecrypt_core::{
    Cipher, ConstantTime, Counter, CpuEngine, Ctr, Direction, Engine, Error, OneBlock, Operation,
    modes,
};
use proptest::{collection::vec, prelude::*};

/// An engine that pretends to prefer this number of bytes of scratch memory.
#[derive(Debug)]
struct Chunked<C>(usize, CpuEngine<C>);

impl<C> Engine for Chunked<C>
where
    CpuEngine<C>: Engine,
    C: std::fmt::Debug + 'static,
{
    fn block_bytes(&self) -> usize {
        self.1.block_bytes()
    }
    fn chunk_bytes(&self) -> usize {
        self.0
    }
    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let Operation::Ecb(direction) = operation else {
            return modes::by_ecb(self, operation, data);
        };
        self.1.ecb(direction, data)
    }
}

fn engine(key: [u8; 16]) -> CpuEngine<aes::Aes128> {
    CpuEngine::new(aes::Aes128::new(&key.into()))
}

/// AES-128 by an engine, by one that likes other pieces, and by our own `Cipher`.
fn engines(key: [u8; 16]) -> [Box<dyn Engine>; 3] {
    let ours = Cipher::<BlockByBlock>::new(&key.into());
    [Box::new(engine(key)), Box::new(Chunked(5000, engine(key))), Box::new(ours)]
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

/// An engine that notes the most bytes it was given at once.
#[derive(Debug)]
struct Largest {
    chunk_bytes: usize,
    seen: std::sync::atomic::AtomicUsize,
}

impl Engine for Largest {
    fn block_bytes(&self) -> usize {
        16
    }
    fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }
    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        if !matches!(operation, Operation::Ecb(_)) {
            return modes::by_ecb(self, operation, data);
        }
        self.seen.fetch_max(data.len(), std::sync::atomic::Ordering::Relaxed);
        Ok(())
    }
}

/// Long enough for three pieces of the stack's scratch memory and a part.
fn message() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..3 * modes::STACK_CHUNK + 100)
}

/// Runs `work` in place and out of place; both must give the same.
fn both_ways(data: &[u8], work: impl Fn(InOutBuf<'_, '_, u8>)) -> Vec<u8> {
    let mut in_place = data.to_vec();
    work(in_place.as_mut_slice().into());
    let mut output = vec![0xee; data.len()];
    work(InOutBuf::new(data, &mut output).expect("equal lengths"));
    assert_eq!(in_place, output);
    output
}

/// A mode over any engine.
type Run = fn(&dyn Engine, &[u8], InOutBuf<'_, '_, u8>) -> Result<(), Error>;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn ctr_is_rustcryptos(key: [u8; 16], iv: [u8; 16], data in message()) {
        let mut expected = data.clone();
        ctr::Ctr128BE::<aes::Aes128>::new(&key.into(), &iv.into()).apply_keystream(&mut expected);
        let plain = both_ways(&data, |data| engine(key).ctr(&iv, data).expect("CTR"));
        prop_assert_eq!(&plain, &expected);
        let chunked = Chunked(1 << 13, engine(key));
        let large = both_ways(&data, |data| chunked.ctr(&iv, data).expect("CTR"));
        prop_assert_eq!(&large, &expected);
    }

    #[test]
    fn cbc_is_rustcryptos(key: [u8; 16], iv: [u8; 16], data in message()) {
        let data = &data[..data.len() / 16 * 16];
        let engine = engine(key);
        let expected = cbc::Encryptor::<aes::Aes128>::new(&key.into(), &iv.into())
            .encrypt_padded_vec::<NoPadding>(data);
        let ours = both_ways(data, |data| modes::cbc_encrypt(&engine, &iv, data).expect("CBC"));
        prop_assert_eq!(&ours, &expected);
        let back = both_ways(&ours, |data| modes::cbc_decrypt(&engine, &iv, data).expect("CBC"));
        prop_assert_eq!(&back, data);
        let theirs = cbc::Decryptor::<aes::Aes128>::new(&key.into(), &iv.into())
            .decrypt_padded_vec::<NoPadding>(&ours).expect("whole blocks");
        prop_assert_eq!(&theirs, data);
    }

    #[test]
    fn cfb_is_rustcryptos(key: [u8; 16], iv: [u8; 16], data in message()) {
        let (ciphers, key) = (engines(key), key.into());
        let mut expected = data.clone();
        cfb_mode::Encryptor::<aes::Aes128>::new(&key, &iv.into()).encrypt(&mut expected);
        for engine in &ciphers {
            let ours = both_ways(&data, |data| modes::cfb_encrypt(engine, &iv, data).expect("CFB"));
            prop_assert_eq!(&ours, &expected);
            let back = both_ways(&ours, |data| modes::cfb_decrypt(engine, &iv, data).expect("CFB"));
            prop_assert_eq!(&back, &data);
        }
    }

    #[test]
    fn ofb_is_rustcryptos(key: [u8; 16], iv: [u8; 16], data in message()) {
        let mut expected = data.clone();
        ofb::Ofb::<aes::Aes128>::new(&key.into(), &iv.into()).apply_keystream(&mut expected);
        for engine in &engines(key) {
            let ours = both_ways(&data, |data| modes::ofb(engine, &iv, data).expect("OFB"));
            prop_assert_eq!(&ours, &expected);
        }
    }

    /// `before` blocks before the low 32 bits wrap.
    #[test]
    fn ctr32_is_rustcryptos(
        key: [u8; 16], mut iv: [u8; 16], before in 0..600_u32, data in message(),
    ) {
        iv[12..].copy_from_slice(&before.wrapping_neg().to_be_bytes());
        let mut expected = data.clone();
        ctr::Ctr32BE::<aes::Aes128>::new(&key.into(), &iv.into()).apply_keystream(&mut expected);
        for engine in &engines(key) {
            let ours = both_ways(&data, |data| modes::ctr32(engine, &iv, data).expect("CTR"));
            prop_assert_eq!(&ours, &expected);
        }
    }

    /// Units are what one call each makes of them, round where the number takes up a word more.
    #[test]
    fn xts_units_are_single_units(
        keys: [[u8; 16]; 2], back in 0..200_u128, high: u64, step in prop_oneof![Just(1), 2..9_u128, any::<u128>()],
        unit in prop_oneof![16..700_usize, (1..80_usize).prop_map(|blocks| 16 * blocks)], data in message(),
        last in 16..700_usize,
    ) {
        let [engine, tweaks] = keys.map(engine);
        let first = (u128::from(high) << 64 | u128::from(u64::MAX)).wrapping_sub(back);
        let whole = data.len() / unit * unit;
        let data = &data[..whole + if whole + last.min(unit) <= data.len() { last.min(unit) } else { 0 }];
        for direction in Direction::BOTH {
            let ours = both_ways(data, |data| {
                let numbers = modes::UnitNumbers { first, step };
                modes::xts_units(&engine, &tweaks, numbers, unit, direction, data).expect("XTS");
            });
            let mut expected = data.to_vec();
            for (i, unit) in expected.chunks_mut(unit).enumerate() {
                let tweak = first.wrapping_add(step.wrapping_mul(i as u128)).to_le_bytes();
                modes::xts(&engine, &tweaks, &tweak, direction, unit.into()).expect("XTS");
            }
            prop_assert_eq!(ours, expected);
        }
    }

    #[test]
    fn xts_is_rustcryptos(
        keys: [[u8; 16]; 2], tweak: [u8; 16],
        data in vec(any::<u8>(), 16..2 * modes::STACK_CHUNK + 100),
    ) {
        let [data_key, tweak_key] = keys;
        let theirs = xts_mode::Xts128::new(
            aes::Aes128::new(&data_key.into()),
            aes::Aes128::new(&tweak_key.into()),
        );
        let mut expected = data.clone();
        theirs.encrypt_sector(&mut expected, tweak.into());
        let (engine, tweaks) = (engine(data_key), engine(tweak_key));
        let run = |direction, input: &[u8]| both_ways(input, |data| {
            modes::xts(&engine, &tweaks, &tweak, direction, data).expect("XTS");
        });
        let ours = run(Direction::Encrypt, &data);
        prop_assert_eq!(&ours, &expected);
        prop_assert_eq!(run(Direction::Decrypt, &ours), data);
    }

    /// Any sequence of seeks and pieces gives the bytes of one pass.
    #[test]
    fn stream_pieces_and_seeks(
        key: [u8; 16], iv: [u8; 16], steps in vec((0_u64..5000, 0_usize..300), 1..20),
    ) {
        let mut whole = vec![0; 5300];
        engine(key).ctr(&iv, whole.as_mut_slice().into()).expect("CTR");
        let mut stream = Ctr::new(engine(key), &iv).expect("an IV of one block");
        for (position, length) in steps {
            stream.seek(position);
            let start = usize::try_from(position).expect("small");
            let mut piece = vec![0; length];
            stream.write_keystream(&mut piece);
            prop_assert_eq!(&piece, &whole[start..start + length]);
            prop_assert_eq!(stream.position(), u128::from(position) + length as u128);
            prop_assert_eq!(stream.current_pos::<u64>(), position + length as u64);
        }
    }

    /// Whatever an engine says about scratch memory, multiple of a block or not.
    #[test]
    fn chunks_of_any_size(
        chunk in 0..3 * modes::STACK_CHUNK, iv: [u8; 16],
        data in vec(any::<u8>(), 16..4 * modes::STACK_CHUNK),
    ) {
        let (plain, chunked) = (engine([5; 16]), Chunked(chunk, engine([5; 16])));
        let whole = &data[..data.len() / 16 * 16];
        for direction in Direction::BOTH {
            let xts = |engine: &dyn Engine| both_ways(&data, |data| {
                modes::xts(engine, &plain, &iv, direction, data).expect("XTS");
            });
            prop_assert_eq!(xts(&chunked), xts(&plain));
        }
        let runs: [Run; 3] = [
            |engine, iv, data| engine.ctr(iv, data),
            |engine, iv, data| modes::cbc_encrypt(engine, iv, data),
            |engine, iv, data| modes::cbc_decrypt(engine, iv, data),
        ];
        for run in runs {
            let all = |engine: &dyn Engine| {
                both_ways(whole, |data| run(engine, &iv, data).expect("whole blocks"))
            };
            prop_assert_eq!(all(&chunked), all(&plain));
        }
        let (small, chunked) = (
            CpuEngine::new(des::Des::new(&[3; 8].into())),
            Chunked(chunk, CpuEngine::new(des::Des::new(&[3; 8].into()))),
        );
        let ctr = |engine: &dyn Engine| both_ways(&data, |data| {
            engine.ctr(&iv[..8], data).expect("CTR");
        });
        prop_assert_eq!(ctr(&chunked), ctr(&small));
    }

    #[test]
    fn counters_add_like_integers(start: u128, blocks: u128) {
        let long = Counter::from_block(&start.to_be_bytes()).expect("16 bytes").plus(blocks);
        prop_assert_eq!(long.value(), start.wrapping_add(blocks));
        let half = start as u64;
        let short = Counter::from_block(&half.to_be_bytes()).expect("8 bytes").plus(blocks);
        prop_assert_eq!(short.value(), u128::from(half.wrapping_add(blocks as u64)));
    }
}

/// Engines get as much at once as they like, whole blocks of it, and no more; from the stack where
/// they like less than it has.
#[test]
fn pieces_are_as_large_as_the_engine_likes() {
    let stack = modes::STACK_CHUNK;
    let likes = [(0, stack), (1000, stack), (stack, stack), (stack + 15, stack), (9999, 9984)];
    #[cfg(not(feature = "alloc"))]
    let likes = likes.map(|(chunk, _)| (chunk, stack));
    for (chunk_bytes, expected) in likes {
        let engine = Largest { chunk_bytes, seen: 0.into() };
        let mut data = vec![0; 20_000];
        engine.ctr(&[0; 16], data.as_mut_slice().into()).expect("CTR");
        assert_eq!(engine.seen.into_inner(), expected, "an engine that likes {chunk_bytes}");
    }
}

#[test]
fn counter_blocks_wrap() {
    let mut blocks = [0; 48];
    let last = Counter::from_block(&[0xff; 16]).expect("16 bytes");
    last.fill(&mut blocks);
    assert_eq!(blocks[..16], [0xff; 16]);
    assert_eq!(blocks[16..47], [0; 31]);
    assert_eq!(blocks[47], 1);
    let mut blocks = [0; 16];
    Counter::from_block(&[0xff; 8]).expect("8 bytes").fill(&mut blocks);
    assert_eq!(blocks[..8], [0xff; 8]);
    assert_eq!(blocks[8..], [0; 8]);
    for length in [0, 1, 7, 9, 15, 17, 32] {
        assert_eq!(Counter::from_block(&vec![0; length]), None);
    }
}

/// An error's text names what was given and what is accepted.
fn refused(result: Result<(), Error>, parts: &[&str]) {
    let text = result.expect_err("bad input was accepted").to_string();
    for part in parts {
        assert!(text.contains(part), "{text:?} does not name {part:?}");
    }
}

#[test]
fn bad_input_is_named() {
    let engine = engine([1; 16]);
    let mut data = [7; 40];
    let iv = [0; 16];
    refused(engine.ecb(Direction::Encrypt, data.as_mut_slice().into()), &["ECB", "40", "16"]);
    refused(modes::cbc_encrypt(&engine, &iv, data.as_mut_slice().into()), &["CBC", "40", "16"]);
    refused(modes::cbc_decrypt(&engine, &iv, data.as_mut_slice().into()), &["CBC", "40", "16"]);
    let iv = [0; 12];
    refused(engine.ctr(&iv, data.as_mut_slice().into()), &["CTR", "12", "16"]);
    refused(modes::ctr32(&engine, &iv, data.as_mut_slice().into()), &["CTR", "12", "16"]);
    refused(modes::cfb_encrypt(&engine, &iv, data.as_mut_slice().into()), &["CFB", "12", "16"]);
    refused(modes::cfb_decrypt(&engine, &iv, data.as_mut_slice().into()), &["CFB", "12", "16"]);
    refused(modes::ofb(&engine, &iv, data.as_mut_slice().into()), &["OFB", "12", "16"]);
    refused(modes::cbc_decrypt(&engine, &iv, data[..32].as_mut().into()), &["CBC", "12", "16"]);
    let xts = |tweak: &[u8], data: &mut [u8]| {
        modes::xts(&engine, &engine, tweak, Direction::Decrypt, data.into())
    };
    refused(xts(&[0; 8], &mut [0; 16]), &["XTS", "8", "16"]);
    refused(xts(&[0; 16], &mut [0; 15]), &["15", "16"]);
    let units = |unit, data: &mut [u8]| {
        modes::xts_units(&engine, &engine, 0, unit, Direction::Encrypt, data.into())
    };
    refused(units(15, &mut [0; 30]), &["15", "16"]);
    refused(units(0, &mut [0; 32]), &["0 bytes", "16"]);
    refused(units(20, data.as_mut_slice().split_at_mut(35).0), &["15", "16"]);
    let small = CpuEngine::new(des::Des::new(&[1; 8].into()));
    let mut unit = [7; 16];
    for (data_engine, tweak_engine) in
        [(&small as &dyn Engine, &engine as &dyn Engine), (&engine, &small)]
    {
        let unit = unit.as_mut_slice().into();
        let result = modes::xts(data_engine, tweak_engine, &[0; 16], Direction::Encrypt, unit);
        refused(result, &["XTS", "8 bytes", "16"]);
    }
    assert_eq!(unit, [7; 16], "a refused data unit is left as it was");
    assert_eq!(data, [7; 40], "refused data is left as it was");
}

#[test]
fn wrong_states_of_chains_are_named() {
    use lanecrypt_core::ChainedMode::{Cbc, Cfb, Ofb};

    let (engine, mut data) = (engine([1; 16]), [7; 40]);
    let all = [Cfb(Direction::Encrypt), Cfb(Direction::Decrypt), Ofb, Cbc(Direction::Encrypt)];
    for mode in all {
        let mut run = |register: usize, mut used: usize, bytes: usize| {
            let data = data[..bytes].as_mut().into();
            mode.run_bytes(&engine, &mut vec![0; register], &mut used, data)
        };
        for bytes in [0, 32] {
            for used in [16, 17, usize::MAX] {
                refused(run(16, used, bytes), &[&used.to_string(), "16 bytes"]);
            }
            for register in [0, 15, 17] {
                refused(run(register, 5, bytes), &[&format!("{register} bytes"), "takes 16"]);
            }
        }
    }
    let mut run = |used: usize, bytes: usize| {
        let data = data[..bytes].as_mut().into();
        Cbc(Direction::Decrypt).run_bytes(&engine, &mut [0; 16], &mut { used }, data)
    };
    refused(run(5, 32), &["CBC", "5 bytes", "16"]);
    refused(run(0, 33), &["CBC", "33 bytes", "16"]);
    assert_eq!(data, [7; 40], "refused data is left as it was");
}

#[test]
#[should_panic(expected = "9 bytes after 8 of a block of 16")]
fn registers_have_no_more_than_a_block() {
    let (mut data, mut register) = ([0; 9], [0; 16]);
    let data = data.as_mut_slice().into();
    lanecrypt_core::ChainedMode::Ofb.use_register(&mut register, &mut 8, data);
}

#[test]
#[should_panic(expected = "0 bytes after 0 of a block of 0")]
fn empty_registers_are_refused() {
    lanecrypt_core::ChainedMode::Ofb.use_register(&mut [], &mut 0, (&mut [][..]).into());
}

/// A stream at a position, and the key stream there from its definition: one block after another.
fn at_the_end<C>(cipher: C, iv: &[u8], position: u128, bytes: usize) -> (Ctr<CpuEngine<C>>, Vec<u8>)
where
    C: Clone,
    CpuEngine<C>: Engine,
{
    let block = iv.len();
    let engine = CpuEngine::new(cipher);
    let mut blocks = vec![0; bytes.next_multiple_of(block) + block];
    for (i, bytes) in blocks.chunks_exact_mut(block).enumerate() {
        let number = position / block as u128 + i as u128;
        let mut value = [0; 16];
        value[16 - block..].copy_from_slice(iv);
        let sum = u128::from_be_bytes(value).wrapping_add(number).to_be_bytes();
        bytes.copy_from_slice(&sum[16 - block..]);
    }
    engine.ecb(Direction::Encrypt, blocks.as_mut_slice().into()).expect("whole blocks");
    let skipped = (position % block as u128) as usize;
    let mut stream = Ctr::new(engine, iv).expect("an IV of one block");
    stream.try_seek_to(position).expect("inside the key stream");
    (stream, blocks[skipped..skipped + bytes].to_vec())
}

#[test]
fn the_key_stream_of_small_blocks_is_whole_and_ends() {
    let length = 1_u128 << 67; // 2^64 blocks of 8 bytes
    let des = des::Des::new(&[0x5a; 8].into());
    for bytes in [1, 7, 8, 9, 30] {
        let iv = [0xf3; 8];
        let (mut stream, expected) = at_the_end(des.clone(), &iv, length - bytes as u128, bytes);
        assert_eq!(stream.length(), length);
        let mut data = vec![0; bytes];
        stream.try_apply(data.as_mut_slice().into()).expect("up to the last byte");
        assert_eq!(data, expected, "the last {bytes} bytes");
        assert_eq!(stream.position(), length);
        refused(stream.try_apply(data[..1].as_mut().into()), &[&length.to_string()]);
        assert_eq!(data, expected, "nothing is written past the end");
        assert!(stream.try_apply(data[..0].as_mut().into()).is_ok(), "nothing is nothing");
    }
    let mut stream = Ctr::new(CpuEngine::new(des), &[0; 8]).expect("an IV of one block");
    stream.try_seek_to(length).expect("the end itself");
    refused(stream.try_seek_to(length + 1), &[&(length + 1).to_string(), &length.to_string()]);
    assert_eq!(stream.position(), length);
}

#[test]
fn the_key_stream_of_large_blocks_ends_where_positions_do() {
    let aes = aes::Aes128::new(&[1; 16].into());
    let (mut stream, expected) = at_the_end(aes, &[0xff; 16], u128::MAX - 8, 8);
    let mut data = [0; 9];
    refused(stream.try_apply(data.as_mut_slice().into()), &[&u128::MAX.to_string()]);
    assert_eq!(data, [0; 9], "nothing is written past the end");
    assert_eq!(stream.position(), u128::MAX - 8);
    assert!(stream.try_apply_keystream(&mut data).is_err());
    assert!(stream.try_apply_keystream(&mut data[..8]).is_ok());
    assert_eq!(data[..8], expected);
    assert_eq!(stream.position(), stream.length());
    assert!(Ctr::new(engine([1; 16]), &[0; 15]).is_err());
}

#[test]
fn every_position_of_a_number_type_can_be_told() {
    let mut stream = Ctr::new(engine([1; 16]), &[0; 16]).expect("an IV of one block");
    for back in 0..40 {
        let position = u64::MAX - back;
        stream.seek(position);
        assert_eq!(stream.position(), u128::from(position));
        assert_eq!(stream.current_pos::<u64>(), position);
        assert_eq!(stream.current_pos::<u128>(), u128::from(position));
        assert!(stream.try_current_pos::<u32>().is_err(), "does not fit");
        stream.seek(u128::MAX - u128::from(back));
        assert_eq!(stream.current_pos::<u128>(), u128::MAX - u128::from(back));
    }
}
