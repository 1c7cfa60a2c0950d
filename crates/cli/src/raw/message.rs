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
    let gcm = <Gcm<_>>::of(machine.backend.engine(arguments.cipher.cipher.name, key)?)?;
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
        gcm.decrypt(iv, &ad, message.into(), tag)?;
        text.truncate(at);
    } else {
        let mut tag = [0; TAG_BYTES];
        gcm.encrypt(iv, &ad, text.as_mut_slice().into(), &mut tag)?;
        text.extend_from_slice(&tag);
    }
    let name = output.name().to_owned();
    output.write_all(&text).map_err(Failure::of(name))
}

/// All of the input, without a copy left behind where its length is known.
fn all_of(input: &mut Input) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut text = Zeroizing::new(Vec::new());
    let name = input.name().to_owned();
    let room = input.length().unwrap_or(0) as usize + TAG_BYTES + 1;
    text.try_reserve_exact(room)
        .map_err(|error| Failure::Io(format!("{name}: GCM holds all of it in memory: {error}")))?;
    input.read_to_end(&mut text).map_err(Failure::of(name))?;
    Ok(text)
}
