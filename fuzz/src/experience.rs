//! The reader of experience data over any text.

use lanecrypt::tuning::of_any_device;

/// A text is refused, with an error that says little more than it, or says what a device can do: lengths that data has, in
/// order, and launches that fit a multiprocessor.
///
/// # Panics
/// Where that does not hold.
pub fn experience(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (device, tuning) = match of_any_device(&text) {
        Ok(read) => read,
        Err(why) => {
            let length = why.to_string().len();
            assert!(length < 1000 + 8 * text.len(), "an error of {length} bytes");
            return;
        }
    };
    assert!(device.len() <= text.len(), "another device");
    for (kernel, _, row) in tuning.experience.launches() {
        assert!(row.is_sorted_by(|a, b| a.bytes < b.bytes), "{kernel}: {row:?}");
        for launch in row {
            let threads = launch.geometry.threads;
            let is_possible = threads.is_multiple_of(32) && (32..=1024).contains(&threads);
            assert!(is_possible && launch.geometry.blocks_per_multiprocessor > 0, "{launch:?}");
            assert!(launch.bytes > 0 && launch.nanoseconds > 0, "{launch:?}");
        }
    }
    for (kernel, _, row) in tuning.experience.pieces() {
        assert!(row.is_sorted_by(|a, b| a.bytes < b.bytes), "{kernel}: {row:?}");
        assert!(row.iter().all(|piece| piece.piece_bytes >= 64 << 10), "{kernel}: {row:?}");
    }
    for (kernel, _, switches) in tuning.crossovers.iter() {
        assert!(switches.at().is_sorted_by(|a, b| a < b), "{kernel}: {switches:?}");
    }
}
