//! No copy of a key, nor of what is sealed under it, is left in memory that was given back.
#![cfg(target_os = "linux")]

use base64::{Engine as _, prelude::BASE64_STANDARD};
use lanecrypt_judges::memory::Inverted;
use lanecrypt_tink::{Cost, Hash, Keyset, Parameters, Scheme, StreamingKey};
use zeroize::Zeroizing;

const SCHEMES: [Scheme; 2] = [Scheme::Gcm, Scheme::CtrHmac { hash: Hash::Sha256, tag_bytes: 32 }];

fn revealed(secret: &Inverted, bytes: usize) -> Zeroizing<Vec<u8>> {
    let mut place = Zeroizing::new(vec![0; bytes]);
    secret.reveal(&mut place);
    place
}

fn is_left(secret: &mut Inverted) -> bool {
    secret.is_left().expect("Linux shows a process its memory")
}

/// A keyset with the key nine times: what a buffer that grows leaves is what it had before.
fn keyset(secret: &Inverted, scheme: Scheme) -> Keyset {
    let parameters = Parameters::new(scheme, Hash::Sha256, 32, 1 << 10).expect("they are allowed");
    let key = StreamingKey::new(parameters, revealed(secret, 32)).expect("it is long enough");
    let mut keyset = Keyset::new(&key).expect("a keyset");
    for _ in 0..8 {
        keyset.add(&key).expect("one more");
    }
    keyset
}

fn through_json(keyset: &Keyset) {
    let text = keyset.to_json().expect("it is written");
    drop(Keyset::from_json(&text).expect("it is read"));
}

fn through_passphrase(keyset: &Keyset) {
    let cost = Cost { memory_kib: 8, passes: 1, lanes: 1 };
    let text = keyset.to_json_with_passphrase(b"word", cost).expect("it is written");
    drop(Keyset::from_json_with_passphrase(&text, b"word").expect("it is read"));
}

#[test]
fn keysets() {
    for (number, scheme) in (0..).zip(SCHEMES) {
        let mut secret = Inverted::new(number, 32);
        let mut text = secret.text(|key| BASE64_STANDARD.encode(key));
        for work in [through_json, through_passphrase] {
            let keyset = keyset(&secret, scheme);
            assert!(is_left(&mut secret), "the keyset has its key");
            work(&keyset);
            drop(keyset);
            assert!(!is_left(&mut secret) && !is_left(&mut text), "{scheme:?}");
        }
    }
}
