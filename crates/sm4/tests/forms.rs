//! Every form against the reference, and the reference against the standard: what to run after each change.

#[path = "../../core/tests/forms/mod.rs"]
mod forms;

use lanecrypt_sm4::SM4;

#[test]
fn the_standard_is_met() {
    let block = "0123456789abcdeffedcba9876543210"; // GB/T 32907, A.1
    forms::answers(&SM4, block, block, "681edf34d206965e86b3e94f536e4246");
}

#[test]
fn forms_agree() {
    forms::agree(&SM4);
}
