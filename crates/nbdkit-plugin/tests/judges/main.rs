//! The disk through nbdkit: containers that others made are read and written, and others read them.

mod client;
mod containers;
mod refusals;
mod server;
mod writing;

use lanecrypt_judges::{Judge, program, trials};

const NBDKIT: Judge = program("nbdkit");
const NBDCOPY: Judge = program("nbdcopy");
const CRYPTSETUP: Judge = program("cryptsetup");
const QEMU: Judge = program("qemu-img");
const QEMU_IO: Judge = program("qemu-io");

fn main() {
    let arguments = libtest_mimic::Arguments::from_args();
    let all = trials(vec![
        ("reads_what_cryptsetup_encrypted", &[NBDKIT, NBDCOPY, CRYPTSETUP], {
            containers::reads_what_cryptsetup_encrypted
        }),
        ("cryptsetup_decrypts_what_was_written", &[NBDKIT, NBDCOPY, CRYPTSETUP], {
            containers::cryptsetup_decrypts_what_was_written
        }),
        ("qemu_and_this_read_one_another", &[NBDKIT, NBDCOPY, QEMU], {
            containers::qemu_and_this_read_one_another
        }),
        ("opens_luks1_of_cryptsetup", &[NBDKIT, NBDCOPY, CRYPTSETUP, QEMU], {
            containers::opens_luks1_of_cryptsetup
        }),
        ("opens_detached_headers", &[NBDKIT, CRYPTSETUP], containers::opens_detached_headers),
        ("writes_beyond_4_gib", &[NBDKIT, QEMU, QEMU_IO], writing::writes_beyond_4_gib),
        ("writers_in_parallel_lose_nothing", &[NBDKIT, CRYPTSETUP], {
            writing::writers_in_parallel_lose_nothing
        }),
        ("nothing_synced_is_lost_when_killed", &[NBDKIT, CRYPTSETUP], {
            writing::nothing_synced_is_lost_when_killed
        }),
        ("refuses_wrong_passphrases", &[NBDKIT, CRYPTSETUP], refusals::wrong_passphrases),
        (
            "takes_odd_lengths_and_other_slots",
            &[NBDKIT, CRYPTSETUP],
            refusals::takes_odd_lengths_and_other_slots,
        ),
        ("refuses_damaged_containers", &[NBDKIT, CRYPTSETUP], refusals::damaged_containers),
        ("takes_the_second_header", &[NBDKIT, CRYPTSETUP], refusals::takes_the_second_header),
        ("refuses_what_costs_too_much", &[NBDKIT, CRYPTSETUP], refusals::what_costs_too_much),
        ("refuses_bad_parameters", &[NBDKIT], refusals::bad_parameters),
    ]);
    libtest_mimic::run(&arguments, all).exit();
}
