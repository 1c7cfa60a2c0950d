//! What becomes of an implementation: a type with RustCrypto's traits, and an engine whose modes are
//! those of any engine.

mod toys;

use std::fmt::Debug;

use cipher::{
    Array, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOutBuf, KeyInit, ParBlocksSizeUser,
    consts::{U1, U3, U8, U16, U32},
    typenum::Unsigned,
};
use lanecrypt_core::{
    Cipher, ConstantTime, CpuEngine, Direction, Engine, Error, Implementation, backend::Packet,
    modes,
};
use proptest::{collection::vec, prelude::*};
use toys::{Alone, InBatches, Long, Shifted, counted};

type Toy = Cipher<Shifted<Long>>;

fn toy() -> Toy {
    Toy::new(&[3, 0].into())
}

/// Full batches and what is left over go down in one piece; fewer than a batch go to `few`, for
/// which no batch keys are made.
#[test]
fn many_blocks_are_a_call() {
    let cipher = toy();
    let _ = counted();
    for (blocks, expected) in
        [(0, ([0, 0], 0)), (3, ([0, 3], 0)), (4, ([4, 0], 1)), (11, ([11, 0], 1))]
    {
        let mut data = vec![Array::<u8, U8>::from([1; 8]); blocks];
        cipher.encrypt_blocks(&mut data);
        assert_eq!(counted(), expected, "{blocks} blocks encrypted");
        assert!(data.iter().all(|block| block.0 == [4; 8]));
        cipher.decrypt_blocks_inout(data.as_mut_slice().into());
        assert_eq!(counted(), expected, "{blocks} blocks decrypted");
        assert!(data.iter().all(|block| block.0 == [1; 8]));
        let bytes = Array::slice_as_flattened_mut(&mut data);
        cipher.ecb(Direction::Encrypt, bytes.into()).expect("whole blocks");
        assert_eq!(counted(), expected, "{blocks} blocks of an engine");
    }
}

/// RustCrypto's provided method cuts into batches; the keys for them are made once.
#[test]
fn batch_keys_are_made_once_a_call() {
    let (cipher, plain) = (toy(), [Array::<u8, U8>::from([1; 8]); 10]);
    let mut output = [Array::default(); 10];
    let _ = counted();
    cipher.encrypt_blocks_b2b(&plain, &mut output).expect("equal lengths");
    assert!(output.iter().all(|block| block.0 == [4; 8]));
    let (calls, keys) = counted();
    assert_eq!(calls.iter().sum::<usize>(), 10);
    assert!(keys <= 1, "made {keys} times");
    assert_eq!(<Toy as ParBlocksSizeUser>::ParBlocksSize::USIZE, 4);
}

/// ECB by pieces of as many blocks as the backend takes, as RustCrypto's modes are written.
struct ByPieces<'a>(&'a mut [Array<u8, U16>]);

impl BlockSizeUser for ByPieces<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for ByPieces<'_> {
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        assert_eq!(B::ParBlocksSize::USIZE, Packet::USIZE);
        let (pieces, rest) = Array::slice_as_chunks_mut(self.0);
        for piece in pieces {
            backend.encrypt_par_blocks_inplace(piece);
        }
        backend.encrypt_tail_blocks_inplace(rest);
    }
}

impl BlockCipherDecClosure for ByPieces<'_> {
    fn call<B: BlockCipherDecBackend<BlockSize = U16>>(self, backend: &B) {
        assert_eq!(B::ParBlocksSize::USIZE, Packet::USIZE);
        let (pieces, rest) = Array::slice_as_chunks_mut(self.0);
        for piece in pieces {
            backend.decrypt_par_blocks_inplace(piece);
        }
        backend.decrypt_tail_blocks_inplace(rest);
    }
}

/// A packet may be several batches, or a part of one.
#[test]
fn modes_of_others_hand_over_packets() {
    fn agrees<Lanes: cipher::array::ArraySize>() {
        let ours = Cipher::<InBatches<Lanes>>::new(&[9; 16].into());
        let theirs = aes::Aes128::new(&[9; 16].into());
        for count in [0, 1, 2, 7, 8, 9, 15, 16, 17, 40, 63] {
            let plain: Vec<Array<u8, U16>> = (0..count).map(|i| [i; 16].into()).collect();
            let (mut found, mut expected) = (plain.clone(), plain.clone());
            ours.encrypt_with_backend(ByPieces(&mut found));
            theirs.encrypt_blocks(&mut expected);
            assert_eq!(found, expected, "{count} blocks by {}", Lanes::USIZE);
            ours.decrypt_with_backend(ByPieces(&mut found));
            assert_eq!(found, plain, "{count} blocks by {}", Lanes::USIZE);
        }
    }
    agrees::<U1>();
    agrees::<U3>();
    agrees::<U8>();
    agrees::<U32>();
}

/// CTR of the last block's part asks for no more than that block.
#[test]
fn a_short_message_needs_no_batch() {
    let cipher = toy();
    let _ = counted();
    let mut data = [0; 5];
    cipher.ctr(&[7; 8], data.as_mut_slice().into()).expect("CTR");
    assert_eq!(data, [10; 5]);
    assert_eq!(counted(), ([0, 1], 0));
}

#[test]
fn one_block_is_an_implementation() {
    let cipher = Cipher::<Alone>::new(&[0x5a; 8].into());
    let theirs = des::Des::new(&[0x5a; 8].into());
    let plain: Vec<Array<u8, U8>> = (0..9).map(|i| [i; 8].into()).collect();
    let (mut ours, mut expected) = (plain.clone(), plain.clone());
    cipher.encrypt_blocks_b2b(&plain, &mut ours).expect("equal lengths");
    theirs.encrypt_blocks(&mut expected);
    assert_eq!(ours, expected);
    cipher.decrypt_blocks(&mut ours);
    assert_eq!(ours, plain);
    assert_eq!(<Alone as Implementation>::Lanes::USIZE, 1);
    assert_eq!(<Alone as Implementation>::CONSTANT_TIME, ConstantTime::LOOKS_UP);
    assert!(Alone::detect().is_ok());
}

#[test]
fn nothing_shows_a_key() {
    fn shown(value: &dyn Debug) -> String {
        format!("{value:?}")
    }
    assert_eq!(shown(&toy()), "Shifted { ... }");
    assert_eq!(shown(&Cipher::<Alone>::new(&[1; 8].into())), "Des { ... }");
}

#[test]
fn bad_input_is_named() {
    let (cipher, mut data) = (toy(), [7; 20]);
    let text = |result: Result<(), Error>| result.expect_err("bad input was accepted").to_string();
    let error = text(cipher.ecb(Direction::Encrypt, data.as_mut_slice().into()));
    assert_eq!(error, "ECB over 20 bytes; the length must be a multiple of the 8-byte block");
    let error = text(cipher.ctr(&[0; 16], data.as_mut_slice().into()));
    assert_eq!(error, "CTR IV of 16 bytes; the block of this cipher takes 8");
    assert_eq!(data, [7; 20], "refused data is left as it was");
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

/// The modes of an implementation are those of any engine over the same cipher.
fn modes_agree(ours: &dyn Engine, theirs: &dyn Engine, iv: &[u8; 16], data: &[u8]) {
    let iv = &iv[..ours.block_bytes()];
    let ctr = |engine: &dyn Engine| both_ways(data, |data| engine.ctr(iv, data).expect("CTR"));
    assert_eq!(ctr(ours), ctr(theirs));
    let whole = &data[..data.len() / iv.len() * iv.len()];
    let cbc = |engine: &dyn Engine| {
        both_ways(whole, |data| modes::cbc_decrypt(engine, iv, data).expect("CBC"))
    };
    assert_eq!(cbc(ours), cbc(theirs));
    if iv.len() == 16 && data.len() >= 16 {
        for direction in Direction::BOTH {
            let xts = |engine: &dyn Engine| {
                both_ways(data, |data| {
                    modes::xts(engine, theirs, iv, direction, data).expect("XTS");
                })
            };
            assert_eq!(xts(ours), xts(theirs), "{direction}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn modes_are_those_of_any_engine(
        key: [u8; 16], iv: [u8; 16], wraps: bool,
        data in vec(any::<u8>(), 0..3 * modes::STACK_CHUNK),
    ) {
        let iv = if wraps { [0xff; 16] } else { iv };
        let aes = CpuEngine::new(aes::Aes128::new(&key.into()));
        modes_agree(&Cipher::<InBatches<U1>>::new(&key.into()), &aes, &iv, &data);
        modes_agree(&Cipher::<InBatches<U3>>::new(&key.into()), &aes, &iv, &data);
        modes_agree(&Cipher::<InBatches<U8>>::new(&key.into()), &aes, &iv, &data);
        let key = key.first_chunk::<8>().expect("16 bytes are 8 and more");
        let des = CpuEngine::new(des::Des::new(&(*key).into()));
        modes_agree(&Cipher::<Alone>::new(&(*key).into()), &des, &iv, &data);
    }
}
