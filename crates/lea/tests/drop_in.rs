//! The types of the crate `lea`, by name, beside ours. Its traits are those of `cipher` 0.3, so that only names, sizes and
//! answers are compared; what a mode of today's RustCrypto wants, ours have.

use cipher::{AlgorithmName, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, KeySizeUser};
use lanecrypt_reference::plaintext::PlaintextStream;
use lea::prelude::{BlockDecrypt, BlockEncrypt, GenericArray, NewBlockCipher};

struct Name<C>(core::marker::PhantomData<C>);

impl<C: AlgorithmName> core::fmt::Display for Name<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        C::write_alg_name(f)
    }
}

/// Compares types of this name.
macro_rules! agree {
    ($($cipher:ident)*) => {$({
        type Ours = lanecrypt_lea::$cipher;
        type Theirs = lea::$cipher;
        assert_eq!(Name::<Ours>(core::marker::PhantomData).to_string(), stringify!($cipher));
        assert_eq!(size_of::<Ours>(), size_of::<Theirs>());
        let mut stream = PlaintextStream::new(1);
        for _ in 0..100 {
            let (mut key, mut plaintext) = (vec![0; Ours::key_size()], [0; 16]);
            stream.fill(&mut key);
            stream.fill(&mut plaintext);
            let ours = Ours::new_from_slice(&key).expect("a key of the right size");
            let theirs = Theirs::new(GenericArray::from_slice(&key));
            let mut block = plaintext.into();
            let mut expected = GenericArray::from(plaintext);
            ours.encrypt_block(&mut block);
            theirs.encrypt_block(&mut expected);
            assert_eq!(block.0, <[u8; 16]>::from(expected));
            let mut block = plaintext.into();
            let mut expected = GenericArray::from(plaintext);
            ours.decrypt_block(&mut block);
            theirs.decrypt_block(&mut expected);
            assert_eq!(block.0, <[u8; 16]>::from(expected));
        }
    })*};
}

#[test]
fn types_are_theirs() {
    agree!(Lea128 Lea192 Lea256);
}
