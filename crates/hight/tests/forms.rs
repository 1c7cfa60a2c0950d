//! Every form against the reference: what to run after each change.

#[path = "../../core/tests/forms/mod.rs"]
mod forms;

use lanecrypt_hight::{HIGHT, HIGHT_KISA};

#[test]
fn forms_agree() {
    for cipher in [&HIGHT, &HIGHT_KISA] {
        forms::agree(cipher);
    }
}
