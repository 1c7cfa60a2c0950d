//! Every form against the reference: what to run after each change.

#[path = "../../core/tests/forms/mod.rs"]
mod forms;

use lanecrypt_seed::SEED;

#[test]
fn forms_agree() {
    forms::agree(&SEED);
}
