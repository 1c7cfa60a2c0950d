//! The command, as people and scripts use it, against programs that are not ours.
//!
//! A trial whose judge is missing is ignored with the reason on standard error; see `lanecrypt-judges`.

mod command;
mod keysets;
mod mounted;
mod random;
mod raw;
mod sealed;
mod signals;
mod streams;
mod terminal;

use lanecrypt_judges::{Judge, program, python, trials};

/// What mounts for those who are not root.
const FUSE: Judge = program("fusermount3");
const OPENSSL: Judge = program("openssl");
/// A terminal for a program, which Python makes.
const PTY: Judge = python("pty");
const PYCA: Judge = python("cryptography");
const TINK: Judge = python("tink");

fn main() {
    signals::unignored();
    let arguments = libtest_mimic::Arguments::from_args();
    let all = trials(vec![
        ("command::exit_codes", &[], command::exit_codes),
        ("command::outputs_are_whole_or_not_there", &[], command::outputs_are_whole_or_not_there),
        ("command::a_full_disk_loses_nothing", &[], command::a_full_disk_loses_nothing),
        ("command::an_interruption_leaves_nothing", &[], command::an_interruption_leaves_nothing),
        ("command::lists", &[], command::lists),
        ("command::secrets_stay_unseen", &[], command::secrets_stay_unseen),
        ("random::numbers", &[], random::numbers),
        ("random::the_library_s_bytes", &[], random::the_library_s_bytes),
        ("random::what_cannot_be_drawn", &[], random::what_cannot_be_drawn),
        ("random::without_a_seed_nothing_repeats", &[], random::without_a_seed_nothing_repeats),
        ("raw::bytes_of_openssl_enc", &[OPENSSL], raw::bytes_of_openssl_enc),
        ("raw::passphrases_of_openssl_enc", &[OPENSSL], raw::passphrases_of_openssl_enc),
        ("raw::passphrases_that_openssl_cuts", &[], raw::passphrases_that_openssl_cuts),
        ("raw::options_of_other_modes", &[], raw::options_of_other_modes),
        ("raw::cut_messages", &[], raw::cut_messages),
        ("raw::data_units_of_pyca", &[PYCA], raw::data_units_of_pyca),
        ("raw::messages_of_pyca", &[PYCA], raw::messages_of_pyca),
        ("sealed::files_and_streams", &[], sealed::files_and_streams),
        ("sealed::ranges", &[], sealed::ranges),
        ("sealed::jobs", &[], sealed::jobs),
        ("sealed::workers_of_a_job", &[], sealed::workers_of_a_job),
        ("sealed::tampered", &[], sealed::tampered),
        (
            "signals::a_cut_off_input_is_an_interruption",
            &[],
            signals::a_cut_off_input_is_an_interruption,
        ),
        (
            "signals::ctrl_c_on_a_pipeline_replaces_nothing",
            &[],
            signals::ctrl_c_on_a_pipeline_replaces_nothing,
        ),
        (
            "signals::an_interrupted_part_leaves_its_job",
            &[],
            signals::an_interrupted_part_leaves_its_job,
        ),
        ("signals::ignored_signals_end_nothing", &[], signals::ignored_signals_end_nothing),
        ("keysets::changed_at_once", &[], keysets::changed_at_once),
        ("keysets::failures_change_nothing", &[], keysets::failures_change_nothing),
        ("keysets::made_at_once", &[], keysets::made_at_once),
        ("keysets::many_keys", &[], keysets::many_keys),
        ("keysets::rotation", &[], keysets::rotation),
        ("keysets::shown", &[], keysets::shown),
        ("streams::closed_streams_are_failures", &[], streams::closed_streams_are_failures),
        ("streams::descriptors_are_no_names", &[], streams::descriptors_are_no_names),
        ("streams::links_stay_links", &[], streams::links_stay_links),
        ("streams::long_names", &[], streams::long_names),
        ("streams::lost_output_is_a_failure", &[], streams::lost_output_is_a_failure),
        ("streams::pipes_with_names", &[], streams::pipes_with_names),
        ("streams::permissions", &[], streams::permissions),
        ("streams::ranges_are_of_files", &[], streams::ranges_are_of_files),
        ("streams::standard_input_is_one_thing", &[], streams::standard_input_is_one_thing),
        ("streams::threads_are_limited", &[], streams::threads_are_limited),
        ("terminal::ctrl_c_ends_the_typing", &[PTY], terminal::ctrl_c_ends_the_typing),
        ("terminal::no_bytes_to_a_terminal", &[PTY], terminal::no_bytes_to_a_terminal),
        ("terminal::passphrases_are_typed", &[PTY], terminal::passphrases_are_typed),
        ("terminal::progress_goes_away", &[PTY], terminal::progress_goes_away),
        ("mounted::lies_apart", &[], mounted::lies_apart),
        ("mounted::plain_files", &[FUSE], mounted::plain_files),
        ("sealed::the_wheel_opens_it", &[TINK], sealed::the_wheel_opens_it),
    ]);
    libtest_mimic::run(&arguments, all).exit();
}
