//! Every form against the reference, and the reference against the standard: what to run after each change.

#[path = "../../core/tests/forms/mod.rs"]
mod forms;

use lanecrypt_lea::LEA;

// ANCHOR: tests
#[test]
fn the_standard_is_met() {
    let key = "0f1e2d3c4b5a69788796a5b4c3d2e1f0f0e1d2c3b4a5968778695a4b3c2d1e0f";
    for (digits, plaintext, ciphertext) in [
        (32, "101112131415161718191a1b1c1d1e1f", "9fc84e3528c6c6185532c7a704648bfd"),
        (48, "202122232425262728292a2b2c2d2e2f", "6fb95e325aad1b878cdcf5357674c6f2"),
        (64, "303132333435363738393a3b3c3d3e3f", "d651aff647b189c13a8900ca27f9e197"),
    ] {
        forms::answers(&LEA, &key[..digits], plaintext, ciphertext);
    }
}

#[test]
fn forms_agree() {
    forms::agree(&LEA);
}
// ANCHOR_END: tests
