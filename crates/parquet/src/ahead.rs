//! Headers of pages that are read before it is known where they start: many at once, since each read takes a while
//! where the file lies on a device.
//!
//! Where headers start is said by the column's offset index, or guessed: behind pages that are equally long, the next
//! ones are, too. Neither is believed: what was read there serves only where a header turns out to start.

use std::{collections::VecDeque, io};

use lanecrypt_tink::Source;

/// Bytes that are read of a header: enough for most.
const WINDOW: u64 = 256;
/// Bytes that are read before where it may start, since the headers before it may be shorter.
const SLACK: u64 = 64;
/// The most headers that are read at once.
const MOST: usize = 256;

/// The headers of a column's pages.
pub(crate) struct Ahead<'a> {
    source: &'a dyn Source,
    /// Where the column ends.
    end: u64,
    /// Where headers start, in order, as far as a file says so.
    said: &'a [u64],
    /// What was read, in order, by where it starts.
    windows: VecDeque<(u64, Vec<u8>)>,
    /// Where the last two headers started.
    last: [Option<u64>; 2],
    /// How many are read at once next, where they are guessed.
    count: usize,
}

impl<'a> Ahead<'a> {
    pub(crate) fn new(source: &'a dyn Source, end: u64, said: &'a [u64]) -> Self {
        Self { source, end, said, windows: VecDeque::new(), last: [None; 2], count: 1 }
    }

    /// Some bytes from `at` on, where a header starts; at most those of the column.
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) fn beginning(&mut self, at: u64) -> io::Result<&[u8]> {
        let wanted = (self.end - at).min(WINDOW - SLACK);
        let has = |(start, bytes): &(u64, Vec<u8>)| {
            *start <= at && start + bytes.len() as u64 >= at + wanted
        };
        while self.windows.front().is_some_and(|window| window.0 < at && !has(window)) {
            self.windows.pop_front();
        }
        if !self.windows.front().is_some_and(has) {
            self.read(at)?;
        }
        self.last = [Some(at), self.last[0]];
        let (start, bytes) = &self.windows[0];
        Ok(&bytes[(at - start) as usize..])
    }

    /// Reads what begins at `at`, and where the next headers may start.
    fn read(&mut self, at: u64) -> io::Result<()> {
        if !self.windows.is_empty() {
            (self.said, self.count) = (&[], 1); // they were wrong
        }
        let mut places = vec![at];
        places.extend(self.guesses(at));
        let window = |&place: &u64| {
            let start = if place == at { at } else { place - SLACK };
            (start, vec![0; (self.end - start).min(SLACK + WINDOW) as usize])
        };
        let mut windows: VecDeque<_> = places.iter().map(window).collect();
        let mut parts: Vec<_> =
            windows.iter_mut().map(|(start, bytes)| (*start, &mut bytes[..])).collect();
        self.source.read_all_exact_at(&mut parts)?;
        self.windows = windows;
        Ok(())
    }

    /// Where headers may start behind the one at `at`, which was not read with others.
    fn guesses(&mut self, at: u64) -> Vec<u64> {
        if !self.said.is_empty() {
            let next = self.said.partition_point(|&said| said <= at + SLACK);
            let said = self.said[next..].iter().copied();
            return said.take_while(|&said| said < self.end).take(MOST - 1).collect();
        }
        let [Some(last), Some(before)] = self.last else { return Vec::new() };
        let (distance, other) = (at - last, last - before);
        if distance.abs_diff(other) > SLACK || distance <= 2 * SLACK {
            self.count = 1;
            return Vec::new();
        }
        self.count = (4 * self.count).min(MOST);
        let places = (1..self.count as u64).map(|number| at + number * distance);
        places.take_while(|&place| place < self.end).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use lanecrypt_tink::{Identity, Version};

    use super::*;

    /// Bytes of a pattern, which count how often they are read.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    fn byte(at: u64) -> u8 {
        (at ^ at >> 8 ^ at >> 16) as u8
    }

    impl Source for Counting {
        fn identity(&self) -> io::Result<Identity> {
            Ok(Identity { size: 0, version: Version::Object(String::new()) })
        }

        fn read_exact_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn read_all_exact_at(&self, parts: &mut [(u64, &mut [u8])]) -> io::Result<()> {
            self.0.fetch_add(1, Ordering::Relaxed);
            for (offset, buffer) in parts {
                buffer.iter_mut().zip(*offset..).for_each(|(to, at)| *to = byte(at));
            }
            Ok(())
        }
    }

    /// How many reads it takes to see headers that start there.
    fn reads(starts: &[u64], said: &[u64]) -> usize {
        let source = Counting::default();
        let end = starts.last().expect("there are some") + 100;
        let mut ahead = Ahead::new(&source, end, said);
        for &start in starts {
            let found = ahead.beginning(start).expect("it does not fail");
            assert!(found.len() as u64 >= (end - start).min(WINDOW - SLACK), "{start}");
            assert!(found.iter().zip(start..).all(|(&found, at)| found == byte(at)), "{start}");
        }
        source.0.into_inner()
    }

    #[test]
    fn headers_at_equal_distances_are_read_together() {
        let even: Vec<_> = (0..2000).map(|i| 4 + 65_560 * i).collect();
        assert_eq!(reads(&even, &[]), 13);
        // Headers that are a few bytes shorter now and then.
        let nearly: Vec<_> = (0..2000).map(|i| 4 + 65_560 * i - i / 10).collect();
        assert_eq!(reads(&nearly, &[]), 16);
        // The most by which a distance may differ from the one before.
        let by_turns: Vec<_> = (0..300).map(|i| 4 + 65_560 * i + i % 2 * SLACK / 2).collect();
        assert_eq!(reads(&by_turns, &[]), 101);
    }

    #[test]
    fn what_the_file_says_is_read_together_and_not_believed() {
        let odd: Vec<_> = (0..1025).map(|i| 4 + 70_000 * i + i * i % 977 * 40).collect();
        assert_eq!(reads(&odd, &[]), odd.len());
        assert_eq!(reads(&odd, &odd), odd.len().div_ceil(MOST));
        let wrong: Vec<_> = odd.iter().map(|start| start + 1000).collect();
        assert_eq!(reads(&odd, &wrong), odd.len());
        assert_eq!(reads(&odd, &[u64::MAX]), odd.len());
    }

    /// Pages that are shorter than what is read of each; how often they are read, guessed and as the file says.
    #[test]
    fn short_pages() {
        let counted = [1, 17, 64, 100, 128, 129, 200, 256, 320, 400].map(|distance| {
            let starts: Vec<_> = (0..300).map(|i| 4 + distance * i).collect();
            (distance, reads(&starts, &[]), reads(&starts, &starts))
        });
        let expected = [
            (1, 2, 1),
            (17, 37, 2),
            (64, 100, 2),
            (100, 150, 2),
            (128, 150, 2),
            (129, 6, 2),
            (200, 6, 2),
            (256, 6, 2),
            (320, 6, 2),
            (400, 6, 2),
        ];
        assert_eq!(counted, expected);
    }
}
