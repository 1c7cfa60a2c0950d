//! Experience data: what was measured of kernels on a device, by which they are launched.
//!
//! P4's idea: measure once which launch is fastest for data of which length, and go by that afterwards.

mod built_in;

use std::collections::BTreeMap;

use lanecrypt_kernels::Kernel;

use crate::Geometry;

/// The fastest launch of a kernel over so many bytes, among those that were tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Bytes of data.
    pub bytes: u64,
    /// How it was launched.
    pub geometry: Geometry,
    /// The device's time.
    pub nanoseconds: u64,
}

/// The fastest pieces of host memory, among those that were tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes of data.
    pub bytes: u64,
    /// Bytes of a piece at most.
    pub piece_bytes: u64,
}

/// By a kernel's name, then by bytes of the cipher's key.
type Table<T> = BTreeMap<String, BTreeMap<usize, Vec<T>>>;

/// What was measured on a device, by kernel and bytes of the cipher's key.
///
/// Plain data, that may come from anywhere: an engine takes of it what its kernels allow, so that none
/// makes a result wrong.
///
/// ```
/// use lanecrypt_cuda::{Experience, Geometry, Measured};
///
/// let geometry = Geometry { threads: 128, blocks_per_multiprocessor: 2 };
/// let mut experience = Experience::default();
/// experience.set_launches("aria_bitslice_ecb", 16, vec![
///     Measured { bytes: 1 << 30, geometry, nanoseconds: 3_000_000 },
/// ]);
/// assert_eq!(experience.launches().count(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Experience {
    launches: Table<Measured>,
    pieces: Table<Piece>,
}

impl Experience {
    /// What is built in for the device of this name: nothing for models that were not measured.
    #[must_use]
    pub fn of_device(name: &str) -> Self {
        let mut built_in = Self::default();
        let devices = built_in::DEVICES.iter().filter(|(known, _)| *known == name);
        for &(kernel, key_bytes, points) in devices.flat_map(|(_, rows)| *rows) {
            let measured = |&(bytes, threads, blocks_per_multiprocessor, nanoseconds)| {
                let geometry = Geometry { threads, blocks_per_multiprocessor };
                Measured { bytes, geometry, nanoseconds }
            };
            built_in.set_launches(kernel, key_bytes, points.iter().map(measured).collect());
        }
        built_in
    }

    /// The devices that something is built in for, by their names.
    pub fn built_in_devices() -> impl Iterator<Item = &'static str> {
        built_in::DEVICES.iter().map(|(name, _)| *name)
    }

    /// The fastest launches of a kernel under keys of `key_bytes` bytes, a length each; of several for the
    /// same length the first counts.
    pub fn set_launches(
        &mut self,
        kernel: impl Into<String>,
        key_bytes: usize,
        mut measured: Vec<Measured>,
    ) {
        measured.sort_by_key(|measured| measured.bytes);
        measured.dedup_by_key(|measured| measured.bytes);
        self.launches.entry(kernel.into()).or_default().insert(key_bytes, measured);
    }

    /// The fastest pieces of host memory under keys of `key_bytes` bytes, by the kernel of an engine's
    /// [`program`](crate::Engine::program) that does what is asked for.
    pub fn set_pieces(
        &mut self,
        kernel: impl Into<String>,
        key_bytes: usize,
        mut pieces: Vec<Piece>,
    ) {
        pieces.sort_by_key(|piece| piece.bytes);
        pieces.dedup_by_key(|piece| piece.bytes);
        self.pieces.entry(kernel.into()).or_default().insert(key_bytes, pieces);
    }

    /// Kernels, bytes of keys and launches, shortest data first.
    pub fn launches(&self) -> impl Iterator<Item = (&str, usize, &[Measured])> {
        rows(&self.launches)
    }

    /// Kernels, bytes of keys and pieces, shortest data first.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, usize, &[Piece])> {
        rows(&self.pieces)
    }

    /// Takes all that `newer` has, in place of what is known of the same kernels and keys.
    pub fn extend(&mut self, newer: Self) {
        for (kernel, rows) in newer.launches {
            self.launches.entry(kernel).or_default().extend(rows);
        }
        for (kernel, rows) in newer.pieces {
            self.pieces.entry(kernel).or_default().extend(rows);
        }
    }

    /// How to launch a kernel over `bytes` bytes: as was fastest for the nearest length.
    pub(crate) fn geometry(&self, kernel: &str, key_bytes: usize, bytes: u64) -> Option<Geometry> {
        let row = find(&self.launches, kernel, key_bytes);
        nearest(row, bytes, |measured| measured.bytes).map(|measured| measured.geometry)
    }

    /// The most bytes that a piece of `bytes` bytes of data should have.
    pub(crate) fn piece(&self, kernel: &str, key_bytes: usize, bytes: u64) -> Option<u64> {
        let row = find(&self.pieces, kernel, key_bytes);
        nearest(row, bytes, |piece| piece.bytes).map(|piece| piece.piece_bytes)
    }

    /// The fastest of several kernels for `bytes` bytes, where all of them were measured.
    pub(crate) fn fastest<'k>(
        &self,
        kernels: impl Iterator<Item = &'k Kernel>,
        key_bytes: usize,
        bytes: u64,
    ) -> Option<&'k Kernel> {
        let mut fastest: Option<(f64, &Kernel)> = None;
        for kernel in kernels {
            let row = find(&self.launches, kernel.name(), key_bytes);
            let time = nanoseconds(row, bytes)?;
            if fastest.is_none_or(|(known, _)| time < known) {
                fastest = Some((time, kernel));
            }
        }
        fastest.map(|(_, kernel)| kernel)
    }
}

/// All rows of a table.
fn rows<T>(table: &Table<T>) -> impl Iterator<Item = (&str, usize, &[T])> {
    table.iter().flat_map(|(kernel, rows)| {
        rows.iter().map(move |(key_bytes, row)| (&**kernel, *key_bytes, &**row))
    })
}

/// A row of a table; an empty one where it has none.
fn find<'a, T>(table: &'a Table<T>, kernel: &str, key_bytes: usize) -> &'a [T] {
    table.get(kernel).and_then(|rows| rows.get(&key_bytes)).map_or(&[], Vec::as_slice)
}

/// The entry whose length is nearest by ratio.
fn nearest<T>(row: &[T], bytes: u64, length: impl Fn(&T) -> u64) -> Option<&T> {
    let is_below = |pair: &[T]| {
        let middle = u128::from(length(&pair[0])) * u128::from(length(&pair[1]));
        u128::from(bytes).pow(2) > middle
    };
    let shorter = row.windows(2).take_while(|pair| is_below(pair)).count();
    row.get(shorter)
}

/// The time of a number of bytes: between what was measured on a straight line, above it in proportion.
fn nanoseconds(row: &[Measured], bytes: u64) -> Option<f64> {
    let of = |measured: &Measured| (measured.bytes as f64, measured.nanoseconds as f64);
    let longer = row.partition_point(|measured| measured.bytes < bytes);
    let (first, last) = (row.first()?, row.last()?);
    Some(match (longer.checked_sub(1).and_then(|shorter| row.get(shorter)), row.get(longer)) {
        (Some(shorter), Some(longer)) => {
            let ((from, low), (to, high)) = (of(shorter), of(longer));
            low + (high - low) * (bytes as f64 - from) / (to - from)
        }
        (None, _) => first.nanoseconds as f64,
        (_, None) => last.nanoseconds as f64 * bytes as f64 / (last.bytes as f64).max(1.0),
    })
}

#[cfg(test)]
mod tests {
    use lanecrypt_kernels::{Task, programs};

    use super::*;
    use crate::{
        Engine, Family,
        model_device::{FAMILY, Fault, LARGE, LARGE_FROM, Model, WITH_KEYSTREAM},
    };

    fn measured(bytes: u64, threads: u32, nanoseconds: u64) -> Measured {
        let geometry = Geometry { threads, blocks_per_multiprocessor: 1 };
        Measured { bytes, geometry, nanoseconds }
    }

    #[test]
    fn the_nearest_length_by_ratio_counts() {
        let mut experience = Experience::default();
        let row = vec![measured(4096, 128, 9), measured(64, 32, 5), measured(64, 96, 1)];
        experience.set_launches("k", 16, row);
        let threads = |bytes| experience.geometry("k", 16, bytes).map(|geometry| geometry.threads);
        for (bytes, expected) in
            [(0, 32), (64, 32), (512, 32), (513, 128), (4096, 128), (u64::MAX, 128)]
        {
            assert_eq!(threads(bytes), Some(expected), "{bytes} bytes");
        }
        assert_eq!(experience.geometry("k", 24, 64), None, "another key");
        assert_eq!(experience.geometry("l", 16, 64), None, "another kernel");
        assert_eq!(experience.piece("k", 16, 64), None);
        experience.set_pieces("k", 16, vec![Piece { bytes: 1, piece_bytes: 7 }]);
        assert_eq!(experience.piece("k", 16, u64::MAX), Some(7));
    }

    #[test]
    fn times_between_lengths_are_on_a_line() {
        let row = [measured(100, 32, 10), measured(200, 32, 30)];
        for (bytes, expected) in [(0, 10.0), (100, 10.0), (150, 20.0), (200, 30.0), (400, 60.0)] {
            let time = nanoseconds(&row, bytes).expect("something was measured");
            assert!((time - expected).abs() < 1e-9, "{bytes} bytes take {time}");
        }
        assert_eq!(nanoseconds(&[], 5), None);
        let hostile = [measured(0, 0, u64::MAX), measured(u64::MAX, 0, 0)];
        let time = nanoseconds(&hostile, 1 << 63).expect("something was measured");
        assert!(time.is_finite());
    }

    #[test]
    fn the_fastest_kernel_is_known_where_all_were_measured() {
        let kernel = |program: &'static lanecrypt_kernels::Program| {
            program.kernel(Task::Ctr).expect("every program has it")
        };
        let (slow_start, fast_start) =
            (kernel(&programs::AES_CONFLICT_FREE_4), kernel(&programs::AES_TABLE_GLOBAL));
        let mut experience = Experience::default();
        let fastest = |experience: &Experience, bytes| {
            let kernels = [slow_start, fast_start].into_iter();
            experience.fastest(kernels, 16, bytes).map(Kernel::name)
        };
        let row = vec![measured(64, 32, 100), measured(1000, 32, 200)];
        experience.set_launches(slow_start.name(), 16, row);
        assert_eq!(fastest(&experience, 64), None, "one of them was not");
        let row = vec![measured(64, 32, 10), measured(1000, 32, 2000)];
        experience.set_launches(fast_start.name(), 16, row);
        assert_eq!(fastest(&experience, 64), Some(fast_start.name()));
        assert_eq!(fastest(&experience, 1000), Some(slow_start.name()));
    }

    fn engine(family: &Family, model: &Model, experience: &Experience) -> Engine {
        let device = model.device();
        device.set_experience(experience.clone());
        let engine = family.engine(&device, &[7; 16]).expect("no fault");
        // What is said later changes nothing for it.
        device.set_experience(Experience::default());
        engine
    }

    #[test]
    fn launches_go_by_what_was_known_when_the_engine_was_made() {
        let launched = |family, experience: &Experience, task| {
            let engine = engine(family, &Model::default(), experience);
            engine.keyed.shaped(task, 1 << 20).expect("no fault").threads()
        };
        for (family, task, goes_by_it) in [
            (&FAMILY, Task::EcbEncrypt, true),
            (&WITH_KEYSTREAM, Task::Ctr, true),
            (&WITH_KEYSTREAM, Task::Keystream, false), // its output has room for fewer threads
        ] {
            let nothing = Experience::default();
            let kernel = engine(family, &Model::default(), &nothing)
                .keyed
                .kernel(task, 1)
                .expect("it is there");
            let mut experience = Experience::default();
            let geometry = Geometry { threads: 96, blocks_per_multiprocessor: 5 };
            let row = vec![Measured { bytes: 1, geometry, nanoseconds: 1 }];
            experience.set_launches(kernel.name(), 16, row);
            let (usual, found) =
                (launched(family, &nothing, task), launched(family, &experience, task));
            let wanted = 96 * 5 * 2; // the model has two multiprocessors
            assert_ne!(usual, wanted);
            assert_eq!(found, if goes_by_it { wanted } else { usual }, "{task}");
        }
    }

    #[test]
    fn recorded_times_choose_the_program() {
        let chosen = |times: &[(&str, u64)], bytes| {
            let mut experience = Experience::default();
            for &(kernel, nanoseconds) in times {
                let row = vec![measured(1, 32, nanoseconds), measured(1 << 40, 32, nanoseconds)];
                experience.set_launches(kernel, 16, row);
            }
            let engine = engine(&LARGE, &Model::roomy(Fault::None), &experience);
            engine.keyed.kernel(Task::Ctr, bytes).expect("it is there").name()
        };
        let (small, large) = ("aes_table_shared_ctr", "aes_mixed_ctr");
        // Where one is missing, by the limit that the family names.
        for times in [&[][..], &[(small, 5)], &[(large, 5)]] {
            assert_eq!(chosen(times, LARGE_FROM - 1), small, "{times:?}");
            assert_eq!(chosen(times, LARGE_FROM), large, "{times:?}");
        }
        for bytes in [1, LARGE_FROM, 1 << 30] {
            assert_eq!(chosen(&[(small, 4), (large, 5)], bytes), small);
            assert_eq!(chosen(&[(small, 6), (large, 5)], bytes), large);
        }
    }

    #[test]
    fn pieces_of_host_memory_go_by_it() {
        let model = Model::default();
        let mut experience = Experience::default();
        let kernel = FAMILY.programs()[1].kernel(Task::EcbEncrypt).expect("it is there").name();
        experience.set_pieces(kernel, 16, vec![Piece { bytes: 1, piece_bytes: 64 }]);
        let engine = engine(&FAMILY, &model, &experience);
        let operation = crate::Operation::Ecb(lanecrypt_core::Direction::Encrypt);
        engine.run_host_memory(operation, [7; 13 * 16].as_mut_slice().into()).expect("no fault");
        assert_eq!((model.largest_write(), model.launches()), (64, 4));
    }

    #[test]
    fn what_is_newer_replaces_rows_and_leaves_others() {
        let mut experience = Experience::default();
        experience.set_launches("k", 16, vec![measured(1, 32, 1)]);
        experience.set_launches("k", 24, vec![measured(1, 64, 1)]);
        let mut newer = Experience::default();
        newer.set_launches("k", 16, vec![measured(1, 96, 1)]);
        experience.extend(newer);
        let threads = |key_bytes| experience.geometry("k", key_bytes, 1).map(|g| g.threads);
        assert_eq!((threads(16), threads(24)), (Some(96), Some(64)));
    }

    #[test]
    fn built_in_data_is_of_kernels_that_there_are() {
        let all = || programs::PROGRAMS.iter();
        let kernels: Vec<_> =
            all().flat_map(|program| program.kernels()).map(|(_, kernel)| kernel).collect();
        for (device, _) in built_in::DEVICES {
            let built_in = Experience::of_device(device);
            assert!(built_in.launches().count() > 0, "{device}");
            for (name, _, row) in built_in.launches() {
                let kernel = kernels.iter().find(|kernel| kernel.name() == name);
                let most = kernel.unwrap_or_else(|| panic!("{device}: {name}")).threads();
                for Measured { geometry, .. } in row {
                    assert!((32..=most).contains(&geometry.threads), "{device}, {name}");
                }
            }
        }
        assert_eq!(Experience::of_device("a GPU that nobody has"), Experience::default());
    }
}
