//! A block cipher in place of the crate `aes`: the same names, traits and bytes. Runs without a GPU.
//!
//! `cargo run --package lanecrypt --example 1_block`

use lanecrypt::aes::{
    Aes128,
    cipher::{
        BlockCipherDecrypt, BlockCipherEncrypt, BlockModeEncrypt, KeyInit, KeyIvInit,
        block_padding::Pkcs7,
    },
};

fn main() {
    // FIPS 197, C.1.
    let key: [u8; 16] = std::array::from_fn(|i| i as u8);
    let plaintext: [u8; 16] = std::array::from_fn(|i| 0x11 * i as u8);
    let cipher = Aes128::new(&key.into());
    let mut block = plaintext.into();
    cipher.encrypt_block(&mut block);
    println!("FIPS 197, C.1: {block:02x?}");
    assert_eq!(block[..4], [0x69, 0xc4, 0xe0, 0xd8]);
    cipher.decrypt_block(&mut block);
    assert_eq!(block, plaintext);

    // Many blocks in one call run side by side, in the widest registers of this CPU.
    let mut blocks = vec![plaintext.into(); 10_000];
    cipher.encrypt_blocks(&mut blocks);
    assert!(blocks.iter().all(|block| block[..4] == [0x69, 0xc4, 0xe0, 0xd8]));

    // Whatever is generic over the traits takes the type as it took that of the crate `aes`.
    let (iv, message) = ([1; 16].into(), b"a message of any length");
    let ours = cbc::Encryptor::<Aes128>::new(&key.into(), &iv);
    let theirs = cbc::Encryptor::<aes::Aes128>::new(&key.into(), &iv);
    let sealed = ours.encrypt_padded_vec::<Pkcs7>(message);
    assert_eq!(sealed, theirs.encrypt_padded_vec::<Pkcs7>(message));
    println!("CBC by the crate cbc: {} bytes, as with the crate aes", sealed.len());
}
