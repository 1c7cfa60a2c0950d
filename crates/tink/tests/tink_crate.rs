//! The crate `tink-streaming-aead` opens what is sealed here, and the other way round.

use std::{
    io::{self, Cursor, Read, Write},
    sync::{Arc, Mutex},
};

use lanecrypt_tink::{Keyset, Opener, Options, Sealer, Template};
use tink_core::{StreamingAead, keyset};

const AD: &[u8] = b"about it";

fn options() -> Options<'static> {
    Options { associated_data: AD, ..Options::default() }
}

/// A writer that others can look into.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Calls `check` with both forms of a key of every template, and texts round segment boundaries.
fn every_case(check: impl Fn(&Keyset, &dyn StreamingAead, &[u8])) {
    tink_streaming_aead::init();
    for template in Template::ALL {
        let ours = Keyset::generate(template.parameters()).unwrap();
        let json = ours.to_json().unwrap();
        let handle = keyset::insecure::read(&mut keyset::JsonReader::new(json.as_bytes())).unwrap();
        let theirs = tink_streaming_aead::new(&handle).unwrap();
        let layout = template.parameters().layout();
        let ends = [0, 1].map(|segment| layout.plaintext_of(segment).end as usize);
        let text = (0..=ends[1]).map(|i| (i.wrapping_mul(i) >> 5) as u8).collect::<Vec<_>>();
        for bytes in [0, 1, ends[0] - 1, ends[0], ends[0] + 1, ends[1] - 1, ends[1], ends[1] + 1] {
            check(&ours, &*theirs, &text[..bytes]);
        }
    }
}

#[test]
fn the_crate_opens_ours() {
    every_case(|ours, theirs, text| {
        let mut writer = Sealer::new(ours, Vec::new(), options()).unwrap();
        writer.write_all(text).unwrap();
        let sealed = Box::new(Cursor::new(writer.finish().unwrap()));
        let mut opened = Vec::new();
        let mut reader = theirs.new_decrypting_reader(sealed, AD).unwrap();
        reader.read_to_end(&mut opened).unwrap();
        assert!(opened == text, "{} bytes", text.len());
    });
}

#[test]
fn we_open_the_crates() {
    every_case(|ours, theirs, text| {
        let sealed = Shared::default();
        let mut writer = theirs.new_encrypting_writer(Box::new(sealed.clone()), AD).unwrap();
        writer.write_all(text).unwrap();
        writer.close().unwrap();
        let sealed = sealed.0.lock().unwrap().clone();
        let mut opened = Vec::new();
        Opener::new(ours, &sealed[..], options()).unwrap().read_to_end(&mut opened).unwrap();
        assert!(opened == text, "{} bytes", text.len());
    });
}
