//! Every public name and trait of the crate `aes-gcm`, used in the same text on theirs and on ours: what
//! is missing does not compile, and what differs is seen.

/// Uses the whole interface of `$library`; the results are to be compared.
macro_rules! interface {
    ($module:ident, $($library:tt)+) => {
        mod $module {
            use $($library)+::{
                A_MAX, Aes128Gcm, Aes256Gcm, AesGcm, Key, KeyInit, KeySizeUser, Nonce, P_MAX, Tag, TagSize,
                aead::{Aead, AeadCore, AeadInOut, Payload, consts::{U12, U13, U16}},
                aes::{Aes192, Aes256},
            };

            fn sealed<N, T, C>(cipher: &C, length: u8) -> Vec<u8>
            where
                N: cipher::array::ArraySize,
                T: TagSize,
                C: AeadInOut + AeadCore<NonceSize = N, TagSize = T> + KeySizeUser + Clone + Send + Sync,
            {
                let cipher = cipher.clone();
                let plain: Vec<u8> = (0..length).collect();
                let mut data = plain.clone();
                let nonce = Nonce::<N>::from_fn(|i| i as u8 ^ length);
                let tag: Tag<T> = cipher
                    .encrypt_inout_detached(&nonce, b"beside", data.as_mut_slice().into())
                    .expect("it is short");
                // The tag stands behind the message.
                let whole = Aead::encrypt(&cipher, &nonce, Payload { msg: &plain, aad: b"beside" });
                let whole = whole.expect("it is short");
                assert_eq!(whole, [&data[..], &tag].concat());
                let payload = Payload { msg: &whole, aad: b"beside" };
                assert_eq!(Aead::decrypt(&cipher, &nonce, payload).expect("its tag"), plain);
                let mut wrong = tag.clone();
                wrong[0] ^= 1;
                let before = data.clone();
                let refused =
                    cipher.decrypt_inout_detached(&nonce, b"beside", data.as_mut_slice().into(), &wrong);
                assert!(refused.is_err() && data == before);
                whole
            }

            pub(crate) fn all() -> Vec<Vec<u8>> {
                let keys = |bytes: u8| (1..=bytes).collect::<Vec<u8>>();
                let long = Key::<Aes256Gcm>::try_from(&keys(32)[..]).expect("32 bytes");
                let mut found = Vec::new();
                for length in [0, 1, 16, 200] {
                    found.push(sealed(&Aes128Gcm::new_from_slice(&keys(16)).expect("16 bytes"), length));
                    found.push(sealed(&Aes256Gcm::new(&long), length));
                    let of = AesGcm::<Aes256, U12>::from(Aes256::new(&long));
                    found.push(sealed(&of, length));
                    let other = AesGcm::<Aes192, U13, U12>::new_from_slice(&keys(24));
                    found.push(sealed(&other.expect("24 bytes"), length));
                    let other = AesGcm::<Aes192, U16, U16>::new_from_slice(&keys(24));
                    found.push(sealed(&other.expect("24 bytes"), length));
                }
                found.push([A_MAX.to_be_bytes(), P_MAX.to_be_bytes()].concat());
                found
            }
        }
    };
}

interface!(theirs, aes_gcm);
interface!(ours, lanecrypt::aes_gcm);

#[test]
fn the_same_text_gives_the_same_bytes() {
    assert_eq!(ours::all(), theirs::all());
}
