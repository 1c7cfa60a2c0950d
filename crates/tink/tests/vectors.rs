//! Known answers: files that Tink's Python wheel 1.16.1 sealed, with small segments.

use std::io::Read;

use lanecrypt_tink::{Error, Keyset, Opener, Options};

const TEXT: &str = "Every good boy deserves fudge, and so do the girls.";
const AD: &[u8] = b"made by the wheel 1.16.1";

/// AES-256-GCM in segments of 64 bytes, HKDF over SHA-512.
const GCM: (&str, &str, &str) = (
    "AesGcmHkdfStreamingKey",
    "EgYIQBAgGAQaIGzfPDN7Gu/q6zFqpyGXS/yBZeWJKbUtELK3XumNhRQB",
    "28425396c9c75b9d7b50882ccb384171e3df8ccb9643f1042cb5258381db78229e87eb5d0fe189b100e4cba899de6b6b\
     20a0a0818532567a103b38d2b3e05a47d474acb842cfdc56623714fb51451e52662ffcd15b6de03f957af679a727131c\
     52a637031714a454b6386dd9c9f567168754cc0f6ac9d1cefa39c0",
);

/// AES-128-CTR in segments of 48 bytes, HKDF over SHA-1, tags of 12 bytes of HMAC over SHA-256.
const CTR_HMAC: (&str, &str, &str) = (
    "AesCtrHmacStreamingKey",
    "EgwIMBAQGAEiBAgDEAwaEHuDbNZVcrlbYlIRYm7cboo=",
    "18ec9970e15b5a86c043cc269abce81f792ef6b4b84a0ab3a3eec5257e83234a46deed577a18d85682b87d7636fc9407\
     050d1fb4eda607b4d1252c630c10679ef4142b0f2ef206656c316277103ea9b035feb704644c38dbd619948d2baddc86\
     420aff520749b000cedd78b358e721",
);

#[test]
fn files_of_the_wheel_open() {
    for (kind, value, sealed) in [GCM, CTR_HMAC] {
        let json = serde_json::json!({
            "primaryKeyId": 7,
            "key": [{
                "keyData": {
                    "typeUrl": format!("type.googleapis.com/google.crypto.tink.{kind}"),
                    "value": value,
                    "keyMaterialType": "SYMMETRIC",
                },
                "status": "ENABLED",
                "keyId": 7,
                "outputPrefixType": "RAW",
            }],
        });
        let keyset = Keyset::from_json(&json.to_string()).unwrap();
        let sealed = hex::decode(sealed).unwrap();
        let options = Options { associated_data: AD, ..Options::default() };
        let mut text = String::new();
        Opener::new(&keyset, &sealed[..], options).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, TEXT, "{kind}");
        let other = Opener::new(&keyset, &sealed[..], Options::default());
        assert!(matches!(other, Err(Error::NoKeyOpens { .. })));
    }
}
