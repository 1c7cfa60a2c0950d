//! The numbers in answers of exercises that are solved on paper.

use lanecrypt_roof::{binds, clocks, gbit_per_second};

/// Whether a number is what the page says, to the digits that it says.
fn is_about(number: f64, said: f64, digits: i32) -> bool {
    (number - said).abs() <= 0.5 * 10_f64.powi(-digits) + 1e-9
}

/// "The roof of a kernel".
#[test]
fn roof() {
    let lanes = [200.0, 240.0, 192.0, 626.0];
    assert_eq!((binds(&lanes), clocks(&lanes)), ("shared memory", 6.25));
    assert!(is_about(128.0 / clocks(&lanes), 20.5, 1));
    assert!(is_about(gbit_per_second(128.0, &lanes, 132.0 * 1.98), 5_353.0, 0));
    assert!(is_about(gbit_per_second(128.0, &lanes, 108.0 * 1.41), 3_119.0, 0));
    assert!(is_about(6.25 * 64.0 / 12.0, 33.3, 1));
    assert_eq!(binds(&[200.0, 12.0 * 34.0, 192.0, 794.0]), "ALU");
    let one_copy = 192.0 / 10.1;
    assert!(is_about(128.0 / one_copy, 6.7, 1));
    assert!(is_about(128.0 / one_copy * 132.0 * 1.98, 1_760.0, -1));
}

/// "Tuning": what part of a card's time equal thread blocks use, one on each multiprocessor at a time.
#[test]
fn tuning() {
    let used = |blocks: u32| f64::from(blocks) / f64::from(blocks.next_multiple_of(132));
    assert!(is_about(100.0 * used(300), 76.0, 0));
    assert!(is_about(100.0 * used(1_200), 91.0, 0));
}

/// "Host memory": seconds for 8 GiB.
#[test]
fn host_memory() {
    let gigabytes = 8.0 * 1.073_741_824;
    assert!(is_about(gigabytes, 8.59, 2));
    assert!(is_about(gigabytes / (48.4 / 2.0), 0.35, 2));
    assert!(is_about(gigabytes / 47.1, 0.18, 2));
    assert!(is_about(gigabytes / 25.7, 0.33, 2));
    assert!(is_about(gigabytes / 25.7 + gigabytes / 47.1, 0.52, 2));
}

/// "Batches": a million messages of 256 bytes.
#[test]
fn batches() {
    let gigabits = 1e6 * 256.0 * 8.0 / 1e9;
    assert!(is_about(gigabits, 2.048, 3));
    assert!(is_about(1e6 * 10e-6, 10.0, 0));
    assert!(is_about(gigabits / 2_000.0 * 1e3, 1.0, 1));
    let milliseconds = 256.0 / 47.1;
    assert!(is_about(milliseconds, 5.4, 1));
    assert!(is_about(gigabits / milliseconds * 1e3, 377.0, 0));
}

/// "Several GPUs": how much longer than perfect sharing ranges take where the slow one of two devices takes the last.
#[test]
fn fleet() {
    // In times of the slow device, in which the fast one does two ranges.
    let longer = |ranges: f64| 100.0 * (((ranges / 3.0).floor() + 1.0) / (ranges / 3.0) - 1.0);
    assert!(is_about(longer(16.0), 12.5, 1));
    assert!(is_about(longer(256.0), 0.8, 1));
}

/// "When a GPU pays": bytes from which on a GPU is done before a core, and never before sixteen.
#[test]
fn when_a_gpu_pays() {
    let launch = 12e-6;
    let [core, bus] = [4e9, 47.1e9];
    assert!(is_about(launch / (1.0 / core - 1.0 / bus) / 1e3, 52.0, 0));
    assert!(bus < 16.0 * core);
}
