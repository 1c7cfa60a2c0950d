//! Every form against the reference: what to run after each change.

#[path = "../../core/tests/forms/mod.rs"]
mod forms;

use lanecrypt_aes::AES;

#[test]
fn forms_agree() {
    forms::agree(&AES);
}
