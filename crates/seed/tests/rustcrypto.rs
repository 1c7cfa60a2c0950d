//! RustCrypto's modes over our types against the same over `kisaseed`.

use std::sync::Arc;

use cipher::{
    AlgorithmName, Array, Block, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt,
    BlockModeEncrypt, InnerIvInit, KeyInit, KeyIvInit, StreamCipher, StreamCipherSeek,
    block_padding::NoPadding,
    consts::{U1, U16},
};
use cipher_0_4::{BlockDecrypt, BlockEncrypt, KeyInit as _};
use lanecrypt_core::{Direction, Implementation};
use lanecrypt_seed::{Bitslice, Cipher, CpuEngine, Ctr, Reference, Seed128, Table32};
use proptest::{collection::vec, prelude::*};

/// `kisaseed` with the traits of today's `cipher`: its own are those of 0.4.
#[derive(Clone)]
struct KisaSeed(Arc<kisaseed::SEED>);

impl Implementation for KisaSeed {
    type BlockSize = U16;
    type KeySize = U16;
    type Lanes = U1;
    type BatchKeys = ();

    const NAME: &'static str = "KISA-SEED";

    fn new(key: &Array<u8, U16>) -> Self {
        Self(Arc::new(kisaseed::SEED::new(&key.0.into())))
    }

    fn batch_keys(&self) {}

    fn batch(&self, (): &(), direction: Direction, blocks: &mut Array<Array<u8, U16>, U1>) {
        self.few(direction, blocks);
    }

    fn few(&self, direction: Direction, blocks: &mut [Array<u8, U16>]) {
        for block in blocks {
            let mut theirs = block.0.into();
            match direction {
                Direction::Encrypt => self.0.encrypt_block(&mut theirs),
                Direction::Decrypt => self.0.decrypt_block(&mut theirs),
            }
            block.0 = theirs.into();
        }
    }
}

type Theirs = Cipher<KisaSeed>;

/// A message of up to five batches of the widest word and some bytes, and where to cut it.
fn message() -> impl Strategy<Value = (Vec<u8>, usize)> {
    vec(any::<u8>(), 0..5 * 64 * 16 + 17).prop_flat_map(|data| {
        let length = data.len();
        (Just(data), 0..=length)
    })
}

/// CTR, CBC and XTS from RustCrypto over `Ours` and over `kisaseed` give the same bytes.
fn modes_agree<Ours>(key: &[u8], iv: [u8; 16], message: &[u8], cut: usize)
where
    Ours: KeyInit + BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt,
{
    let (first, second) = key.split_at(key.len() / 2);
    let ours = || Ours::new_from_slice(first).expect("a key of the right size");
    let theirs = || Theirs::new_from_slice(first).expect("a key of the right size");

    let (mut a, mut b) = (message.to_vec(), message.to_vec());
    let mut stream = ctr::Ctr128BE::from_core(ctr::CtrCore::inner_iv_init(ours(), &iv.into()));
    stream.apply_keystream(&mut a[..cut]);
    stream.apply_keystream(&mut a[cut..]);
    let mut stream = ctr::Ctr128BE::from_core(ctr::CtrCore::inner_iv_init(theirs(), &iv.into()));
    stream.apply_keystream(&mut b);
    assert_eq!(a, b, "CTR");

    let whole = &message[..message.len() / 16 * 16];
    let ours_cbc =
        cbc::Encryptor::inner_iv_init(ours(), &iv.into()).encrypt_padded_vec::<NoPadding>(whole);
    let theirs_cbc =
        cbc::Encryptor::inner_iv_init(theirs(), &iv.into()).encrypt_padded_vec::<NoPadding>(whole);
    assert_eq!(ours_cbc, theirs_cbc, "CBC encryption");
    let back = cbc::Decryptor::inner_iv_init(ours(), &iv.into())
        .decrypt_padded_vec::<NoPadding>(&theirs_cbc)
        .expect("whole blocks");
    assert_eq!(back, whole, "CBC decryption");

    if message.len() >= 16 {
        let ours_tweak = Ours::new_from_slice(second).expect("a key of the right size");
        let theirs_tweak = Theirs::new_from_slice(second).expect("a key of the right size");
        let (mut a, mut b) = (message.to_vec(), message.to_vec());
        let ours = xts_mode::Xts128::new(ours(), ours_tweak);
        ours.encrypt_sector(&mut a, iv.into());
        xts_mode::Xts128::new(theirs(), theirs_tweak).encrypt_sector(&mut b, iv.into());
        assert_eq!(a, b, "XTS encryption");
        ours.decrypt_sector(&mut a, iv.into());
        assert_eq!(a, message, "XTS decryption");
    }
}

/// Any number of blocks up to all of `data` becomes what `kisaseed` makes of it, and back.
fn counts_agree<Ours>(key: [u8; 16], data: &[[u8; 16]])
where
    Ours: KeyInit<KeySize = U16> + BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt,
{
    let plain: Vec<Block<Ours>> = data.iter().map(|block| (*block).into()).collect();
    let mut expected = plain.clone();
    Theirs::new(&key.into()).encrypt_blocks(&mut expected);
    let ours = Ours::new(&key.into());
    for count in 0..=data.len() {
        let mut blocks = plain[..count].to_vec();
        ours.encrypt_blocks(&mut blocks);
        assert_eq!(blocks, expected[..count], "{count} blocks");
        ours.decrypt_blocks(&mut blocks);
        assert_eq!(blocks, plain[..count], "{count} blocks");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rustcrypto_modes_agree(
        key in vec(any::<u8>(), 32), iv: [u8; 16], (data, cut) in message(),
    ) {
        modes_agree::<Seed128>(&key, iv, &data, cut);
        modes_agree::<Cipher<Bitslice<u32>>>(&key, iv, &data, cut);
        modes_agree::<Cipher<Table32>>(&key, iv, &data, cut);
        modes_agree::<Cipher<Reference>>(&key, iv, &data, cut);
    }

    /// Every number of blocks up to three batches: single blocks, few and padded batches.
    #[test]
    fn any_number_of_blocks_agrees(key: [u8; 16], data in vec(any::<[u8; 16]>(), 200)) {
        counts_agree::<Seed128>(key, &data);
        counts_agree::<Cipher<Bitslice<u32>>>(key, &data);
        counts_agree::<Cipher<Table32>>(key, &data);
        counts_agree::<Cipher<Reference>>(key, &data);
    }

    /// Our own seekable CTR gives the bytes of theirs, from any position on, in any pieces.
    #[test]
    fn our_stream_is_ctr128be(
        key: [u8; 16], iv: [u8; 16], (data, cut) in message(), position in 0_u64..1 << 40,
    ) {
        let engine = CpuEngine::new(Seed128::new(&key.into()));
        let mut ours = Ctr::new(engine, &iv).expect("an IV of one block");
        let mut theirs = ctr::Ctr128BE::<Theirs>::new(&key.into(), &iv.into());
        ours.seek(position);
        theirs.seek(position);
        let (mut a, mut b) = (data.clone(), data);
        ours.apply_keystream(&mut a[..cut]);
        ours.apply_keystream(&mut a[cut..]);
        theirs.apply_keystream(&mut b);
        prop_assert_eq!(&a, &b);
        prop_assert_eq!(ours.current_pos::<u64>(), position + a.len() as u64);
    }
}

fn name<C: AlgorithmName>() -> String {
    struct Name<C>(std::marker::PhantomData<C>);
    impl<C: AlgorithmName> std::fmt::Display for Name<C> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            C::write_alg_name(f)
        }
    }
    Name::<C>(std::marker::PhantomData).to_string()
}

#[test]
fn debug_hides_the_key_and_the_name_is_rustcryptos() {
    let shown = |cipher: &dyn std::fmt::Debug| format!("{cipher:?}");
    let ours = shown(&Seed128::new(&[0xb7; 16].into()));
    assert_eq!(ours, "Seed128 { ... }");
    assert_eq!(ours, shown(&Cipher::<Table32>::new(&[0xb7; 16].into())));
    assert_eq!(name::<Seed128>(), "Seed128");
}

#[test]
fn wrong_key_lengths_are_refused() {
    for length in (0..=33).filter(|length| *length != 16) {
        assert!(Seed128::new_from_slice(&vec![0; length]).is_err(), "{length}");
    }
    assert!(Seed128::new_from_slice(&[0; 16]).is_ok());
}
