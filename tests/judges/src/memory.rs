//! What is left of a secret in this process's memory: a program reads its own without unsafe code where the kernel
//! shows it as a file.

use std::{
    fs::File,
    hint::black_box,
    io::{self, Read as _},
    ops::Range,
    os::unix::fs::FileExt,
    ptr,
    sync::{Mutex, PoisonError},
};

/// Bytes of a secret that are looked for, its last: an allocator writes to the first of what it was given back.
const LOOKED_FOR: usize = 12;
/// The longest page that a system has.
const LONGEST_GUARD: u64 = 64 << 10;

/// A secret that a test knows by its inverse, so that what is found in memory is a copy that others left.
#[derive(Debug)]
pub struct Inverted {
    inverse: Vec<u8>,
    scan: Scan,
}

/// What a scan needs, allocated before there is a secret, so as not to take memory that was given back.
#[derive(Debug)]
struct Scan {
    maps: String,
    heaps: Vec<Range<u64>>,
    piece: Vec<u8>,
}

impl Inverted {
    /// A secret of this number, `bytes` long.
    ///
    /// # Panics
    /// With fewer than 24 bytes: too little of them would be looked for.
    #[must_use]
    pub fn new(number: u8, bytes: usize) -> Self {
        assert!(bytes >= 2 * LOOKED_FOR, "a secret of {bytes} bytes is too short to be found");
        let mut state = 0x9e37_79b9_7f4a_7c15 ^ u64::from(number);
        let byte = |_| {
            // Xorshift, by Marsaglia.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        Self::of((0..bytes).map(byte).collect())
    }

    fn of(inverse: Vec<u8>) -> Self {
        let maps = String::with_capacity(1 << 20);
        let scan = Scan { maps, heaps: Vec::with_capacity(1 << 16), piece: vec![0; 1 << 20] };
        Self { inverse, scan }
    }

    /// The text that `text` makes of the secret, as another secret.
    #[must_use]
    pub fn text(&self, text: impl FnOnce(&[u8]) -> String) -> Self {
        let mut secret = self.inverse.clone();
        invert(&mut secret);
        let mut text = text(&secret).into_bytes();
        invert(&mut secret); // not to be left itself
        invert(&mut text);
        Self::of(text)
    }

    /// Fills a place of the test's with the secret, as long as it is.
    ///
    /// # Panics
    /// Where the place has another length.
    pub fn reveal(&self, place: &mut [u8]) {
        place.copy_from_slice(&self.inverse);
        invert(place);
    }

    /// Whether the secret's end lies in memory that this process can write to, stacks apart.
    ///
    /// # Errors
    /// What reading `/proc/self` gives.
    pub fn is_left(&mut self) -> io::Result<bool> {
        // What another scan reads is a copy for a while.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = File::open("/proc/self/mem")?;
        let wanted = &self.inverse[self.inverse.len() - LOOKED_FOR..];
        let is_copy = |window: &[u8]| window.iter().zip(wanted).all(|(byte, not)| *byte == !not);
        self.scan.find_heaps()?;
        let piece = &mut self.scan.piece;
        let mut is_left = false;
        for Range { start, end } in self.scan.heaps.iter().cloned() {
            // Pieces overlap by what a copy across their border needs.
            for at in (start..end).step_by(piece.len() - (LOOKED_FOR - 1)) {
                let bytes = piece.len().min((end - at) as usize);
                // What another thread gave back meanwhile is not there to be read.
                let Ok(()) = memory.read_exact_at(&mut piece[..bytes], at) else { continue };
                is_left |= piece[..bytes].windows(LOOKED_FOR).any(is_copy);
            }
        }
        piece.fill(0); // which may be a copy now
        Ok(is_left)
    }
}

fn invert(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = !*byte;
    }
}

impl Scan {
    /// Finds memory that can be written to and is no file's and no stack.
    fn find_heaps(&mut self) -> io::Result<()> {
        self.maps.clear();
        self.heaps.clear();
        File::open("/proc/self/maps")?.read_to_string(&mut self.maps)?;
        let malformed = || io::Error::other("a line of /proc/self/maps is not as proc(5) has it");
        let here = 0_u8;
        let here = ptr::from_ref(black_box(&here)).addr() as u64;
        let mut guard = None;
        for line in self.maps.lines() {
            let mut fields = line.split_whitespace();
            let (range, access) = (fields.next(), fields.next());
            let (start, end) =
                range.and_then(|range| range.split_once('-')).ok_or_else(malformed)?;
            let number = |digits| u64::from_str_radix(digits, 16).map_err(|_| malformed());
            let range = number(start)?..number(end)?;
            let file = fields.nth(3).unwrap_or_default();
            let is_memory = access == Some("rw-p") && (file.is_empty() || file == "[heap]");
            let is_stack = range.contains(&here) || guard == Some(range.start);
            // A stack of a thread begins behind a page that may not be touched; what an allocator has reserved may
            // not be touched either, and is longer.
            let is_guard = access == Some("---p") && range.end - range.start <= LONGEST_GUARD;
            guard = is_guard.then_some(range.end);
            if is_memory && !is_stack {
                self.heaps.push(range);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn is_left(secret: &mut Inverted) -> bool {
        secret.is_left().expect("Linux shows a process its memory")
    }

    /// In several threads, each of which has memory of its own from the allocator.
    #[test]
    fn what_is_there_is_found_and_what_was_given_back() {
        thread::scope(|scope| {
            for number in 2..8 {
                scope.spawn(move || finds(&mut Inverted::new(number, 64)));
            }
        });
    }

    fn finds(secret: &mut Inverted) {
        assert!(!is_left(secret));
        let mut place = vec![0; 64];
        secret.reveal(&mut place);
        assert!(is_left(secret));
        place.fill(0);
        assert!(!is_left(secret));
        secret.reveal(&mut place);
        drop(black_box(place));
        assert!(is_left(secret));
    }

    #[test]
    fn texts_are_found() {
        let secret = Inverted::new(1, 24);
        let mut text = secret.text(|bytes| String::from_utf8_lossy(&bytes.repeat(2)).into_owned());
        assert!(!is_left(&mut text), "what was made of it is no copy");
        let mut place = vec![0; text.inverse.len()];
        text.reveal(&mut place);
        assert!(is_left(&mut text));
    }
}
