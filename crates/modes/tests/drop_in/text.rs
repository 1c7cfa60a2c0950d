//! The text that theirs and ours both compile. Every function returns what is to be the same.

use super::{
    aes::{Aes192, Aes192Dec, Aes192Enc, Aes256},
    aes_gcm, aes_gcm_siv, cbc, ccm, cfb,
    ctr::{
        self, Ctr32BE, Ctr32LE, Ctr64BE, Ctr64LE, Ctr128BE, Ctr128LE, CtrCore, CtrFlavor,
        cipher::{
            AlgorithmName, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, IvState, KeyInit,
            KeyIvInit, StreamCipher, StreamCipherSeek,
            array::{Array, ArraySize},
            block_padding::{NoPadding, Pkcs7},
            common::SetIvState,
            consts::{U12, U13, U16},
            typenum::Unsigned,
        },
    },
    des::TdesEde3,
    ofb,
    xts::{Array as Tweak, Xts128, get_tweak_default},
};
use std::{fmt, marker::PhantomData};

static MESSAGE: [u8; 20_000] = {
    let mut message = [0; 20_000];
    let mut i = 0;
    while i < message.len() {
        message[i] = ((i * i) >> 3) as u8;
        i += 1;
    }
    message
};

struct Name<C>(PhantomData<C>);

impl<C: AlgorithmName> fmt::Display for Name<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        C::write_alg_name(f)
    }
}

/// A stream whose counter wraps after few blocks, at whichever end of the block it is.
fn stream<S: KeyIvInit>(first: u8) -> S {
    let ends = [0, S::IvSize::USIZE - 1];
    let iv = Array::from_fn(|i| if ends.contains(&i) { first } else { 0xff });
    S::new(&Array::from_fn(|i| i as u8), &iv)
}

/// Pieces and seeks.
fn pieces<S: KeyIvInit + StreamCipher + StreamCipherSeek>() -> String {
    let mut found = Vec::new();
    for first in [0x11, 0xfd, 0xff] {
        let mut stream: S = stream(first);
        let mut data = MESSAGE;
        let mut at = 0;
        for piece in [0, 1, 6, 9, 16, 300, 4095, 4097, 0, MESSAGE.len()] {
            let end = data.len().min(at + piece);
            stream.apply_keystream(&mut data[at..end]);
            at = end;
            found.push(format!("{:?} ", stream.try_current_pos::<u64>()));
        }
        for position in [4096_u64, 4095, 16, 17, 3] {
            stream.seek(position);
            stream.apply_keystream(&mut data[..100]);
            let (input, output) = data.split_at_mut(5000);
            stream.apply_keystream_b2b(input, &mut output[..5000]);
            stream.write_keystream(&mut data[7..40]);
        }
        found.push(format!("{data:?}"));
    }
    found.concat()
}

pub(crate) fn counters() -> [String; 11] {
    [
        pieces::<Ctr64BE<Aes192Enc>>(),
        pieces::<Ctr128BE<Aes192>>(),
        pieces::<Ctr128LE<Aes192>>(),
        pieces::<Ctr64BE<Aes192>>(),
        pieces::<Ctr64LE<Aes192>>(),
        pieces::<Ctr32BE<Aes192>>(),
        pieces::<Ctr32LE<Aes192>>(),
        pieces::<Ctr64BE<TdesEde3>>(),
        pieces::<Ctr64LE<TdesEde3>>(),
        pieces::<Ctr32BE<TdesEde3>>(),
        pieces::<Ctr32LE<TdesEde3>>(),
    ]
}

/// What is left at the end of a counter of `bits` bits, and what comes after it.
fn end<S: KeyIvInit + StreamCipher + StreamCipherSeek>(bits: u32) -> String {
    let mut found = Vec::new();
    let block = S::IvSize::USIZE as u128;
    let end = (u128::MAX >> (128 - bits)).saturating_add(1).saturating_mul(block);
    for back in [0, 1, 5, block, block + 1, 3 * block + 2] {
        let mut stream: S = stream(0x11);
        found.push(format!("seek {:?} ", stream.try_seek(end - back)));
        for bytes in [1, 4, 16, 1, 40] {
            let mut data = vec![0; bytes];
            let done = stream.try_apply_keystream(&mut data);
            let (long, short) = (stream.try_current_pos::<u128>(), stream.try_current_pos::<u32>());
            found.push(format!("{done:?} {data:?} {long:?} {short:?} "));
        }
        let mut data = [0; 100];
        stream.unchecked_apply_keystream(&mut data);
        found.push(format!("on {data:?} {:?}\n", stream.try_current_pos::<u128>()));
    }
    found.concat()
}

pub(crate) fn ends_of_counters() -> [String; 7] {
    [
        end::<Ctr64BE<Aes192>>(64),
        end::<Ctr64LE<Aes192>>(64),
        end::<Ctr32BE<Aes192>>(32),
        end::<Ctr32LE<Aes192>>(32),
        end::<Ctr64BE<TdesEde3>>(64),
        end::<Ctr32BE<TdesEde3>>(32),
        end::<Ctr128LE<Aes192>>(128),
    ]
}

/// A core's name, and the counter block that comes first, also after a change of the IV.
fn core_of<F: CtrFlavor<U16>>() -> String
where
    CtrCore<Aes192, F>: InnerIvInit<Inner = Aes192, IvSize = U16> + SetIvState + AlgorithmName,
{
    let cipher = Aes192::new(&[3; 24].into());
    let mut core = CtrCore::<_, F>::inner_iv_init(cipher, &Array::from_fn(|i| 0xf0 | i as u8));
    let first = core.iv_state();
    core.set_iv(&[7; 16].into());
    format!("{} {first:?} {:?}", Name::<CtrCore<Aes192, F>>(PhantomData), core.iv_state())
}

pub(crate) fn cores() -> [String; 8] {
    use ctr::flavors;
    let core = CtrCore::inner_iv_init(Aes192::new(&[3; 24].into()), &[0xff; 16].into());
    let mut stream = Ctr32LE::from_core(core);
    let mut data = [7; 30];
    stream.apply_keystream(&mut data);
    let core = ofb::OfbCore::<Aes192>::inner_iv_init(Aes192::new(&[3; 24].into()), &[9; 16].into());
    let mut last = [7; 30];
    let mut of_last = ofb::Ofb::from_core(core);
    of_last.apply_keystream(&mut last);
    [
        format!("{data:?} {:?}", stream.get_core().iv_state()),
        format!("{last:?} {:?}", of_last.get_core().iv_state()),
        core_of::<flavors::Ctr128BE>(),
        core_of::<flavors::Ctr128LE>(),
        core_of::<flavors::Ctr64BE>(),
        core_of::<flavors::Ctr64LE>(),
        core_of::<flavors::Ctr32BE>(),
        core_of::<flavors::Ctr32LE>(),
    ]
}

/// A message both ways, with padding and without, and the state after it.
fn blocks<E, D>() -> Vec<Vec<u8>>
where
    E: KeyIvInit + BlockModeEncrypt + SetIvState + AlgorithmName,
    D: KeyIvInit<KeySize = E::KeySize, IvSize = E::IvSize>
        + BlockModeDecrypt
        + SetIvState
        + AlgorithmName,
{
    let (key, iv) = (Array::from_fn(|i| i as u8), Array::from_fn(|i| 3 * i as u8));
    let padded = E::new(&key, &iv).encrypt_padded_vec::<Pkcs7>(&MESSAGE[..5001]);
    let back = D::new(&key, &iv).decrypt_padded_vec::<Pkcs7>(&padded);
    assert_eq!(back.expect("its padding"), MESSAGE[..5001]);
    let mut wrong = padded.clone();
    wrong[5001] ^= 1;
    assert!(D::new(&key, &iv).decrypt_padded_vec::<Pkcs7>(&wrong).is_err());
    let mut whole = MESSAGE;
    E::new(&key, &iv).encrypt_padded::<NoPadding>(&mut whole, 4096).expect("whole blocks");
    let mut block = Array::from_fn(|i| MESSAGE[100 + i]);
    let mut encryptor = E::new(&key, &iv);
    encryptor.encrypt_block(&mut block);
    let mut blocks = vec![block.clone(); 70];
    encryptor.encrypt_blocks(&mut blocks);
    let mut back = vec![Array::from_fn(|i| i as u8); 70];
    let mut decryptor = D::new(&key, &iv);
    decryptor.decrypt_blocks(&mut back);
    let states = [encryptor.iv_state(), decryptor.iv_state()].map(|state| state.to_vec()).concat();
    let (mut anew, mut anew_back) = (blocks[..2].to_vec(), back[..2].to_vec());
    encryptor.set_iv(&iv);
    encryptor.encrypt_blocks(&mut anew);
    decryptor.set_iv(&iv);
    decryptor.decrypt_blocks(&mut anew_back);
    vec![
        padded,
        whole.to_vec(),
        block.to_vec(),
        blocks.concat(),
        back.concat(),
        states,
        anew.concat(),
        anew_back.concat(),
        format!("{} {}", Name::<E>(PhantomData), Name::<D>(PhantomData)).into_bytes(),
    ]
}

pub(crate) fn chained() -> [Vec<Vec<u8>>; 7] {
    [
        blocks::<cbc::Encryptor<Aes192Enc>, cbc::Decryptor<Aes192Dec>>(),
        blocks::<cbc::Encryptor<Aes192>, cbc::Decryptor<Aes192>>(),
        blocks::<cbc::Encryptor<TdesEde3>, cbc::Decryptor<TdesEde3>>(),
        blocks::<cfb::Encryptor<Aes192>, cfb::Decryptor<Aes192>>(),
        blocks::<cfb::Encryptor<TdesEde3>, cfb::Decryptor<TdesEde3>>(),
        blocks::<ofb::OfbCore<Aes192>, ofb::OfbCore<Aes192>>(),
        blocks::<ofb::OfbCore<TdesEde3>, ofb::OfbCore<TdesEde3>>(),
    ]
}

/// CFB of any length, at once and in pieces.
macro_rules! cfb_pieces {
    ($cipher:ty, $found:ident) => {{
        let (key, iv) = (&[7; 24].into(), &Array::from_fn(|i| i as u8));
        let mut data = MESSAGE;
        cfb::Encryptor::<$cipher>::new(key, iv).encrypt(&mut data[..777]);
        let mut output = vec![0; 778];
        cfb::Encryptor::<$cipher>::new(key, iv)
            .encrypt_b2b(&MESSAGE[..778], &mut output)
            .expect("lengths");
        $found.extend([data.to_vec(), output.clone()]);
        cfb::Decryptor::<$cipher>::new(key, iv).decrypt(&mut output);
        assert_eq!(output, MESSAGE[..778]);
        cfb::Decryptor::<$cipher>::new(key, iv)
            .decrypt_b2b(&MESSAGE[..778], &mut output)
            .expect("lengths");
        $found.push(output);

        let mut encryptor = cfb::BufEncryptor::<$cipher>::new(key, iv);
        let mut decryptor = cfb::BufDecryptor::<$cipher>::new(key, iv);
        let mut data = MESSAGE;
        let mut at = 0;
        for piece in [0, 1, 6, 1, 7, 1, 8, 16, 5, 11, 300, 4096, 2] {
            let piece = &mut data[at..at + piece];
            encryptor.encrypt(piece);
            let mut back = piece.to_vec();
            decryptor.decrypt(&mut back);
            assert_eq!(back, MESSAGE[at..at + back.len()]);
            at += piece.len();
            for (block, used) in [encryptor.get_state(), decryptor.get_state()] {
                $found.extend([block.to_vec(), vec![used as u8]]);
            }
        }
        let (block, used) = encryptor.get_state();
        cfb::BufEncryptor::from_state(<$cipher>::new(key), block, used)
            .encrypt(&mut data[at..at + 500]);
        let (block, used) = decryptor.get_state();
        cfb::BufDecryptor::from_state(<$cipher>::new(key), block, used)
            .decrypt(&mut data[at + 500..]);
        $found.push(data.to_vec());
        let names = (
            Name::<cfb::BufEncryptor<$cipher>>(PhantomData),
            Name::<cfb::BufDecryptor<$cipher>>(PhantomData),
        );
        $found.push(format!("{} {}", names.0, names.1).into_bytes());
    }};
}

pub(crate) fn chained_pieces() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    cfb_pieces!(Aes192, found);
    cfb_pieces!(TdesEde3, found);
    found
}

pub(crate) fn output_feedback() -> [Vec<u8>; 3] {
    fn one<S: KeyIvInit + StreamCipher>() -> Vec<u8> {
        let mut stream: S = stream(5);
        let mut data = MESSAGE;
        for piece in data.chunks_mut(37) {
            stream.apply_keystream(piece);
        }
        stream.write_keystream(&mut data[..100]);
        data.to_vec()
    }
    [one::<ofb::Ofb<Aes192>>(), one::<ofb::Ofb<Aes192Enc>>(), one::<ofb::Ofb<TdesEde3>>()]
}

pub(crate) fn sectors() -> Vec<Vec<u8>> {
    let tweak = |number: u128| Tweak::<u8, U16>::from(number.to_be_bytes());
    let of = |key: u8| Aes256::new(&[key; 32].into());
    let xts: Xts128<Aes256> = Xts128::new(of(1), of(2));
    let mut found = Vec::new();
    for sector in [16, 17, 512, 520] {
        let mut area = MESSAGE;
        let whole = area.len() / sector * sector;
        let area = &mut area[..whole];
        xts.encrypt_area(area, sector, 7, get_tweak_default);
        found.push(area.to_vec());
        xts.decrypt_area(area, sector, 9, tweak);
        found.push(area.to_vec());
        xts.encrypt_sector(&mut area[..sector], get_tweak_default(1 << 100));
        xts.decrypt_sector(&mut area[sector..2 * sector], tweak(3));
        found.push(area.to_vec());
    }
    found
}

/// Uses an authenticated cipher of a crate, whose traits are of its own re-export.
macro_rules! sealed {
    ($library:ident, $cipher:expr, $length:expr) => {{
        use $library::aead::{Aead, AeadInOut, Payload};
        let cipher = $cipher.clone();
        let plain = &MESSAGE[..$length];
        let mut data = plain.to_vec();
        let nonce = Array::from_fn(|i| i as u8 ^ $length as u8);
        let tag = cipher
            .encrypt_inout_detached(&nonce, b"beside", data.as_mut_slice().into())
            .expect("it is short");
        // The tag stands behind the message.
        let whole = Aead::encrypt(&cipher, &nonce, Payload { msg: plain, aad: b"beside" });
        let whole = whole.expect("it is short");
        assert_eq!(whole, [&data[..], &tag].concat());
        let payload = Payload { msg: &whole, aad: b"beside" };
        assert_eq!(Aead::decrypt(&cipher, &nonce, payload).expect("its tag"), plain);
        let mut buffer = plain.to_vec();
        cipher.encrypt_in_place(&nonce, b"beside", &mut buffer).expect("it is short");
        assert_eq!(buffer, whole);
        let mut wrong = tag;
        wrong[0] ^= 1;
        let before = data.clone();
        let refused =
            cipher.decrypt_inout_detached(&nonce, b"beside", data.as_mut_slice().into(), &wrong);
        // The crate `ccm` leaves zeros.
        assert!(refused.is_err() && (data == before || data.iter().all(|&byte| byte == 0)));
        whole
    }};
}

pub(crate) fn gcm() -> Vec<Vec<u8>> {
    use aes_gcm::{
        A_MAX, Aes128Gcm, Aes256Gcm, AesGcm, Error, Key, KeyInit, KeySizeUser, Nonce, P_MAX, Tag,
        TagSize,
        aead::AeadInOut,
        aes::{Aes192, Aes192Enc, Aes256},
    };
    fn tag<N: ArraySize, T: TagSize, C>(cipher: &C, nonce: &Nonce<N>) -> Result<Tag<T>, Error>
    where
        C: AeadInOut<NonceSize = N, TagSize = T> + KeySizeUser + Send + Sync,
    {
        cipher.encrypt_inout_detached(nonce, b"alone", (&mut [][..]).into())
    }
    let keys: [u8; 32] = std::array::from_fn(|i| i as u8);
    let long = Key::<Aes256Gcm>::from(keys);
    let mut found = vec![[A_MAX.to_be_bytes(), P_MAX.to_be_bytes()].concat()];
    for length in [0, 1, 16, 200, 5000] {
        found.push(sealed!(
            aes_gcm,
            Aes128Gcm::new_from_slice(&keys[..16]).expect("16 bytes"),
            length
        ));
        found.push(sealed!(aes_gcm, Aes256Gcm::new(&long), length));
        found.push(sealed!(aes_gcm, AesGcm::<Aes256, U12>::from(Aes256::new(&long)), length));
        let other = AesGcm::<Aes192, U13, U12>::new_from_slice(&keys[..24]).expect("24 bytes");
        found.push(sealed!(aes_gcm, other, length));
        let other = AesGcm::<Aes192Enc, U16, U16>::new_from_slice(&keys[..24]).expect("24 bytes");
        found.push(sealed!(aes_gcm, other, length));
        found.push(tag(&other, &Nonce::from([length as u8; 16])).expect("it is short").to_vec());
    }
    found
}

pub(crate) fn gcm_siv() -> Vec<Vec<u8>> {
    use aes_gcm_siv::{
        A_MAX, Aes128GcmSiv, Aes256GcmSiv, AesGcmSiv, C_MAX, Error, Key, KeyInit, Nonce, P_MAX,
        Tag,
        aead::{AeadCore, AeadInOut},
        aes::Aes128,
    };
    fn tag<C: AeadInOut + AeadCore<NonceSize = U12, TagSize = U16>>(
        cipher: &C,
        nonce: &Nonce,
    ) -> Result<Tag, Error> {
        cipher.encrypt_inout_detached(nonce, b"alone", (&mut [][..]).into())
    }
    let keys: [u8; 32] = std::array::from_fn(|i| i as u8);
    let mut found = vec![[A_MAX, P_MAX, C_MAX].map(u64::to_be_bytes).concat()];
    for length in [0, 1, 16, 200, 5000] {
        let short = Aes128GcmSiv::new_from_slice(&keys[..16]).expect("16 bytes");
        found.push(sealed!(aes_gcm_siv, short, length));
        found.push(sealed!(
            aes_gcm_siv,
            Aes256GcmSiv::new(&Key::<Aes256GcmSiv>::from(keys)),
            length
        ));
        let of = AesGcmSiv::<Aes128>::from(Aes128::new(&[length as u8; 16].into()));
        found.push(sealed!(aes_gcm_siv, of, length));
        found.push(tag(&of, &Nonce::from([length as u8; 12])).expect("it is short").to_vec());
    }
    found
}

pub(crate) fn ccm() -> Vec<Vec<u8>> {
    use ccm::{
        Ccm, Error, Key, KeyInit, KeySizeUser, Nonce, NonceSize, Tag, TagSize,
        aead::{AeadCore, AeadInOut},
        consts::{U4, U7, U10},
    };
    fn tag<N: ArraySize + NonceSize, T: ArraySize + TagSize, C>(
        cipher: &C,
        nonce: &Nonce<N>,
    ) -> Result<Tag<T>, Error>
    where
        C: AeadInOut + AeadCore<NonceSize = N, TagSize = T> + KeySizeUser,
    {
        cipher.encrypt_inout_detached(nonce, b"alone", (&mut [][..]).into())
    }
    type Aes256Ccm = Ccm<Aes256, U10, U13>;
    let keys: [u8; 32] = std::array::from_fn(|i| i as u8);
    let mut found = Vec::new();
    for length in [0, 1, 16, 200, 5000] {
        let long = Aes256Ccm::new(&Key::<Aes256Ccm>::from(keys));
        found.push(tag(&long, &Nonce::from([length as u8; 13])).expect("it is short").to_vec());
        found.push(sealed!(ccm, long, length));
        let other = Ccm::<Aes192, U16, U12>::new_from_slice(&keys[..24]).expect("24 bytes");
        found.push(sealed!(ccm, other, length));
        let of = Ccm::<Aes256, U4, U7>::from(Aes256::new(&keys.into()));
        found.push(sealed!(ccm, of, length));
    }
    // With nonces of 13 bytes, 65,535 are the most.
    let cipher = Aes256Ccm::new(&Key::<Aes256Ccm>::from(keys));
    let mut data = vec![7; 1 << 16];
    for length in [data.len() - 1, data.len()] {
        let data = data[..length].as_mut().into();
        let tag = cipher.encrypt_inout_detached(&Nonce::from([1; 13]), b"", data);
        found.push(format!("{tag:?}").into());
    }
    found
}
