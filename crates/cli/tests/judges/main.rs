//! The command, as people and scripts use it, against programs that are not ours.
//!
//! A trial whose judge is missing is ignored with the reason on standard error; see `lanecrypt-judges`.

mod command;
mod mounted;
mod raw;
mod sealed;

use lanecrypt_judges::{Judge, program, python, trials};

/// What mounts for those who are not root.
const FUSE: Judge = program("fusermount3");
const OPENSSL: Judge = program("openssl");
const PYCA: Judge = python("cryptography");
const TINK: Judge = python("tink");

fn main() {
    let arguments = libtest_mimic::Arguments::from_args();
    let all = trials(vec![
        ("command::exit_codes", &[], command::exit_codes),
        ("command::outputs_are_whole_or_not_there", &[], command::outputs_are_whole_or_not_there),
        ("command::a_full_disk_loses_nothing", &[], command::a_full_disk_loses_nothing),
        ("command::an_interruption_leaves_nothing", &[], command::an_interruption_leaves_nothing),
        ("command::lists", &[], command::lists),
        ("command::secrets_stay_unseen", &[], command::secrets_stay_unseen),
        ("raw::bytes_of_openssl_enc", &[OPENSSL], raw::bytes_of_openssl_enc),
        ("raw::passphrases_of_openssl_enc", &[OPENSSL], raw::passphrases_of_openssl_enc),
        ("raw::data_units_of_pyca", &[PYCA], raw::data_units_of_pyca),
        ("raw::messages_of_pyca", &[PYCA], raw::messages_of_pyca),
        ("sealed::files_and_streams", &[], sealed::files_and_streams),
        ("sealed::ranges", &[], sealed::ranges),
        ("sealed::jobs", &[], sealed::jobs),
        ("sealed::tampered", &[], sealed::tampered),
        ("mounted::plain_files", &[FUSE], mounted::plain_files),
        ("sealed::the_wheel_opens_it", &[TINK], sealed::the_wheel_opens_it),
    ]);
    libtest_mimic::run(&arguments, all).exit();
}
