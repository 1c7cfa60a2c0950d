//! Authenticated messages by AES-GCM: all of a message or nothing. Runs without a GPU.
//!
//! `cargo run --package lanecrypt --example 4_gcm`

use lanecrypt::{
    aead::{self, AeadInOut, KeyInit},
    aes_gcm::Aes256Gcm,
    aes_gcm_siv::Aes256GcmSiv,
};

fn main() -> Result<(), aead::Error> {
    let gcm = Aes256Gcm::new(&[7; 32].into());
    // A nonce is used once under a key: a counter that is stored, or GCM-SIV, below.
    let (nonce, header) = ([1; 12].into(), b"number 1, from Alice");
    let text = *b"any length, in place";

    let mut message = text;
    let tag = gcm.encrypt_inout_detached(&nonce, header, message.as_mut_slice().into())?;
    assert_ne!(message, text);

    // One changed bit, of the message, its header or its tag: an error, and no plaintext.
    let mut changed = message;
    changed[3] ^= 1;
    let kept = changed;
    let opened = gcm.decrypt_inout_detached(&nonce, header, changed.as_mut_slice().into(), &tag);
    assert!(opened.is_err() && changed == kept);
    println!("a changed message is refused");

    gcm.decrypt_inout_detached(&nonce, header, message.as_mut_slice().into(), &tag)?;
    println!("opened: {}", String::from_utf8_lossy(&message));
    assert_eq!(message, text);

    // Where a nonce may come twice: GCM-SIV then tells only that two messages are the same.
    let siv = Aes256GcmSiv::new(&[8; 32].into());
    let [mut one, mut other] = [*b"one", *b"two"];
    let one_tag = siv.encrypt_inout_detached(&nonce, b"", one.as_mut_slice().into())?;
    let other_tag = siv.encrypt_inout_detached(&nonce, b"", other.as_mut_slice().into())?;
    assert_ne!((one, one_tag), (other, other_tag));
    Ok(())
}
