//! GCM: one message, which is held in memory, since nothing of it may be seen before its tag is checked.

use std::{
    fs,
    io::{Read, Write},
};

use lanecrypt::Gcm;
use zeroize::Zeroizing;

use super::{Arguments, key::Keyed};
use crate::{
    arguments::Machine,
    failure::Failure,
    file::{Input, Output},
    signals,
};

const TAG_BYTES: usize = 16;

pub(super) fn run(
    arguments: &Arguments,
    machine: &Machine,
    Keyed { key, iv }: &Keyed,
    input: &mut Input,
    output: &mut Output,
) -> Result<(), Failure> {
    let gcm = <Gcm<_>>::of(machine.backend().engine(arguments.cipher.cipher.name, key)?)?;
    let ad = match &arguments.ad {
        Some(file) => fs::read(file).map_err(Failure::of(file.display()))?,
        None => Vec::new(),
    };
    let mut text = all_of(input)?;
    signals::check()?; // the input may have ended because its writer was interrupted
    if arguments.decrypt {
        let Some(at) = text.len().checked_sub(TAG_BYTES) else {
            let name = input.name();
            return Err(Failure::NotAuthentic(format!("{name}: too short for a tag of 16 bytes")));
        };
        let (message, tag) = text.split_at_mut(at);
        let decrypted = gcm.decrypt(iv, &ad, message.into(), tag);
        decrypted.map_err(|error| Failure::from(error).of_file(input.name()))?;
        text.truncate(at);
    } else {
        let mut tag = [0; TAG_BYTES];
        gcm.encrypt(iv, &ad, text.as_mut_slice().into(), &mut tag)?;
        text.extend_from_slice(&tag);
    }
    let name = output.name().to_owned();
    output.write_all(&text).map_err(Failure::of(name))
}

/// All of the input, and room for a tag.
fn all_of(input: &mut Input) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let (name, room) = (input.name().to_owned(), room_for(input.length()));
    read_whole(input, room, &name)
}

/// Bytes of memory for an input of this length and a tag, and one more by which its end is seen.
fn room_for(length: Option<u64>) -> usize {
    length.unwrap_or(64 << 10) as usize + TAG_BYTES + 1
}

/// All that there is to read; `room` is what it takes as far as that is known. No copy of it is left behind: where it is
/// longer, it moves to memory that is twice as long, and what it had before is cleared.
fn read_whole(
    mut input: impl Read,
    mut room: usize,
    name: &str,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut text = Zeroizing::new(Vec::new());
    loop {
        let mut more = Zeroizing::new(Vec::new());
        more.try_reserve_exact(room).map_err(|error| {
            Failure::Io(format!("{name}: GCM holds all of it in memory: {error}"))
        })?;
        more.extend_from_slice(&text);
        text = more;
        // A tag is appended to it.
        let most = (room - TAG_BYTES - text.len()) as u64;
        let read = (&mut input).take(most).read_to_end(&mut text).map_err(Failure::of(name))?;
        if (read as u64) < most {
            return Ok(text);
        }
        room *= 2;
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_text_moves_only_to_memory_that_is_twice_as_long() {
        for bytes in [0, 1, 22, 23, 24, 61, 62, 63, 139, 140, 141, 1000] {
            let text = read_whole(io::repeat(7).take(bytes), TAG_BYTES + 23, "it").expect("memory");
            assert!(text.len() as u64 == bytes && text.iter().all(|&byte| byte == 7));
            let mut room = TAG_BYTES + 23;
            while room - TAG_BYTES <= text.len() {
                room *= 2;
            }
            assert_eq!(text.capacity(), room, "{bytes}");
        }
    }

    #[test]
    fn a_file_does_not_move() {
        for bytes in [0, 1, 15, 16, 17, 5000] {
            let (room, file) = (room_for(Some(bytes)), io::repeat(7).take(bytes));
            assert_eq!(read_whole(file, room, "it").expect("memory").capacity(), room);
            assert_eq!(room as u64, bytes + 17);
        }
        assert_eq!(room_for(None), 65_536 + 17);
    }
}
