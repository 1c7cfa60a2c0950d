//! Every form against the reference: what to run after each change.

#[path = "../../core/tests/forms/mod.rs"]
mod forms;

use lanecrypt_des::{DES, TDES, TDES_EEE};

#[test]
fn forms_agree() {
    for cipher in [&DES, &TDES, &TDES_EEE] {
        forms::agree(cipher);
    }
}
