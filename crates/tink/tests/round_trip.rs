//! What is sealed one way is opened every way; what was changed is not; what fails leaves nothing.

use std::{
    fs,
    io::{self, Read, Write},
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use lanecrypt::{Gcm, aes::AES};
use lanecrypt_tink::{
    Cpu, Error, Hash, Header, Identity, InMemory, Keyset, Opener, Options, Parameters, Scheme,
    Sealed, Sealer, SegmentCipher, Source, StreamingKey, TEMPORARY, Template, Version,
    frames::FrameKey, open_file, open_stream, seal_file, seal_stream,
};
use proptest::prelude::*;
use tempfile::TempDir;

const SMALL: u32 = 100;

fn keyset(scheme: Scheme, segment_bytes: u32) -> Keyset {
    Keyset::generate(Parameters::new(scheme, Hash::Sha256, 16, segment_bytes).unwrap()).unwrap()
}

fn text(bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Runs `seal_file` or the like between bytes in memory.
fn through_files(
    input: &[u8],
    run: impl FnOnce(&Path, &Path) -> Result<u64, Error>,
) -> Result<Vec<u8>, Error> {
    let folder = TempDir::new().unwrap();
    let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
    fs::write(&from, input).unwrap();
    let done = run(&from, &to);
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let temporaries = names.filter(|name| name.to_string_lossy().ends_with(TEMPORARY));
    assert_eq!(temporaries.count(), 0);
    assert_eq!(to.exists(), done.is_ok());
    done.map(|_| fs::read(&to).unwrap())
}

/// Seals in every way.
fn sealed_every_way(
    keyset: &Keyset,
    text: &[u8],
    options: Options<'_>,
    piece: usize,
) -> [Vec<u8>; 3] {
    let by_file = through_files(text, |from, to| seal_file(keyset, from, to, options)).unwrap();
    let mut writer = Sealer::new(keyset, Vec::new(), options).unwrap();
    text.chunks(piece.max(1)).for_each(|piece| writer.write_all(piece).unwrap());
    let by_writer = writer.finish().unwrap();
    let mut by_pipeline = Vec::new();
    let count = seal_stream(keyset, text, &mut by_pipeline, options).unwrap();
    assert_eq!(count, text.len() as u64);
    [by_file, by_writer, by_pipeline]
}

type Way<'a> = (&'a str, &'a dyn Fn(&[u8]) -> Result<Vec<u8>, Error>);

/// Calls `check` with every way to open all.
fn every_way_to_open(keyset: &Keyset, options: Options<'_>, check: impl Fn(Way<'_>)) {
    check(("file", &|sealed| {
        through_files(sealed, |from, to| open_file(keyset, from, to, options))
    }));
    check(("reader", &|sealed| {
        let mut opened = Vec::new();
        let read = Opener::new(keyset, sealed, options)?.read_to_end(&mut opened);
        read.map(|_| opened).map_err(|error| {
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            error.downcast::<Error>().expect("one of ours")
        })
    }));
    check(("pipeline", &|sealed| {
        let mut opened = Vec::new();
        open_stream(keyset, sealed, &mut opened, options).map(|count| {
            assert_eq!(count, opened.len() as u64);
            opened
        })
    }));
    check(("random access", &|sealed| {
        let sealed = Sealed::open(Memory::new(sealed), keyset, options.associated_data)?;
        Ok(sealed.read_to_end()?.to_vec())
    }));
}

/// A source in memory that remembers what was read of it.
struct Memory {
    bytes: Vec<u8>,
    reads: Mutex<Vec<(u64, usize)>>,
}

impl Memory {
    fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), reads: Mutex::default() }
    }
}

impl Source for Memory {
    fn identity(&self) -> io::Result<Identity> {
        let version = Version::Object("1".to_owned());
        Ok(Identity { size: self.bytes.len() as u64, version })
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.reads.lock().unwrap().push((offset, buffer.len()));
        let mut rest = &self.bytes[offset as usize..];
        rest.read_exact(buffer)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_way_gives_the_text_back(
        segments in 0_usize..9,
        around in 0_u64..5,
        with_hmac: bool,
        threads in 1_usize..4,
        piece in 1_usize..300,
        ad: Vec<u8>,
    ) {
        let hmac = Scheme::CtrHmac { hash: Hash::Sha1, tag_bytes: 11 };
        let keyset = keyset(if with_hmac { hmac } else { Scheme::Gcm }, SMALL);
        let full = keyset.primary().unwrap().parameters().layout().plaintext_of(segments as u64);
        let text = text((full.start + around).saturating_sub(2) as usize);
        let runner = Small(Cpu::new(threads));
        let options =
            Options { associated_data: &ad, runner: &runner, ..Options::default() };
        for sealed in sealed_every_way(&keyset, &text, options, piece) {
            let layout = keyset.primary().unwrap().parameters().layout();
            assert_eq!(sealed.len() as u64, layout.ciphertext_bytes(text.len() as u64).unwrap());
            every_way_to_open(&keyset, options, |(name, open)| {
                assert!(open(&sealed).unwrap() == text, "{name}");
            });
        }
    }

    #[test]
    fn any_range(length in 0_usize..1500, from in 0_usize..1500, bytes in 0_usize..400) {
        let keyset = keyset(Scheme::Gcm, SMALL);
        let text = text(length);
        let [sealed, ..] = sealed_every_way(&keyset, &text, Options::default(), 1000);
        let sealed = Sealed::open(Memory::new(&sealed), &keyset, b"").unwrap();
        sealed.source().reads.lock().unwrap().clear();
        let range = from as u64..(from + bytes) as u64;
        let runner = Small(Cpu::new(3));
        let options = Options { runner: &runner, ..Options::default() };
        let (mut copied, mut read) = (Vec::new(), vec![0; bytes]);
        let results = [
            sealed.copy_range(range.clone(), &mut copied, options),
            sealed.read_exact_at(&mut read, range.start),
        ];
        if from + bytes > length {
            let refused = |result| matches!(result, Err(Error::Range { .. }));
            prop_assert!(results.into_iter().all(refused));
            return Ok(());
        }
        results.into_iter().for_each(Result::unwrap);
        prop_assert_eq!(&copied, &text[from..from + bytes]);
        prop_assert_eq!(&read, &text[from..from + bytes]);
        // Nothing but the segments it touches was read.
        let layout = sealed.cipher().layout();
        let touched = layout.segments_of(range);
        for (offset, bytes) in sealed.source().reads.lock().unwrap().iter() {
            prop_assert!(*offset >= layout.ciphertext_of(touched.start).start);
            prop_assert!(offset + *bytes as u64 <= layout.ciphertext_of(touched.end - 1).end);
        }
    }
}

/// A runner with batches of two small segments, so that short files have several.
#[derive(Debug)]
struct Small(Cpu);

impl lanecrypt_tink::SegmentRunner for Small {
    fn batch_bytes(&self) -> usize {
        2 * SMALL as usize
    }

    fn threads(&self) -> usize {
        self.0.threads()
    }

    fn seal_batch(
        &self,
        cipher: &SegmentCipher,
        segments: &mut [lanecrypt_tink::Segment<'_>],
    ) -> Result<(), Error> {
        self.0.seal_batch(cipher, segments)
    }

    fn open_batch(
        &self,
        cipher: &SegmentCipher,
        segments: &mut [lanecrypt_tink::Segment<'_>],
    ) -> Result<(), Error> {
        self.0.open_batch(cipher, segments)
    }
}

/// Every bit of the header, and of the beginning and end of every segment; every length that is
/// shorter; one that is longer; segments in another order.
#[test]
fn what_was_changed_is_not_opened() {
    let runner = Small(Cpu::new(2));
    let options = Options { runner: &runner, ..Options::default() };
    let hmac = Scheme::CtrHmac { hash: Hash::Sha256, tag_bytes: 16 };
    for scheme in [Scheme::Gcm, hmac] {
        let keyset = keyset(scheme, SMALL);
        let text = text(5 * SMALL as usize);
        let [sealed, ..] = sealed_every_way(&keyset, &text, options, 64);
        let segment = SMALL as usize;
        let mut cases = Vec::new();
        let in_segment = |at: usize| [0, 30, segment - 17, segment - 1].contains(&(at % segment));
        for at in (0..sealed.len()).filter(|&at| at < 24 || in_segment(at)) {
            let mut changed = sealed.clone();
            changed[at] ^= 1 << (at % 8);
            cases.push(changed);
        }
        cases.extend((0..sealed.len()).map(|length| sealed[..length].to_vec()));
        cases.push([&sealed[..], &[0]].concat());
        cases.push([&sealed[..], &sealed[segment..]].concat());
        let mut swapped = sealed.clone();
        swapped[segment..3 * segment].rotate_left(segment);
        cases.push(swapped);
        let mut without = sealed.clone();
        without.drain(segment..2 * segment);
        cases.push(without);
        every_way_to_open(&keyset, options, |(name, open)| {
            for case in &cases {
                let error = open(case).expect_err(name);
                assert!(error.is_not_authentic(), "{name}: {error}");
            }
            assert_eq!(open(&sealed).unwrap(), text);
        });
        let other_data = Options { associated_data: b"x", ..options };
        every_way_to_open(&keyset, other_data, |(_, open)| {
            assert!(matches!(open(&sealed), Err(Error::NoKeyOpens { .. })));
        });
    }
}

/// Key and nonce are what another implementation of GCM seals the same segment with; other schemes have no key for GCM.
#[test]
fn other_backends_seal_the_same_segments() {
    let of = |scheme| {
        let keyset = keyset(scheme, SMALL);
        let key = keyset.primary().unwrap();
        let header = Header::random(key.parameters()).unwrap();
        SegmentCipher::new(&key, header, b"associated").unwrap()
    };
    let cipher = of(Scheme::Gcm);
    let gcm = Gcm::<_>::of(AES.default_engine(cipher.gcm_key().unwrap()).unwrap()).unwrap();
    let full = cipher.layout().plaintext_of(1);
    for (segment, is_last, bytes) in [(1, false, (full.end - full.start) as usize), (2, true, 7)] {
        let mut text = text(bytes);
        let (mut expected, mut tag, mut expected_tag) = (text.clone(), [0; 16], [0; 16]);
        cipher.seal_segment(segment, is_last, &mut text, &mut tag).unwrap();
        let nonce = cipher.nonce(segment, is_last);
        let data = expected.as_mut_slice().into();
        gcm.encrypt(&nonce[..12], b"", data, &mut expected_tag).unwrap();
        assert_eq!((text, tag), (expected, expected_tag), "segment {segment}");
    }
    assert!(of(Scheme::CtrHmac { hash: Hash::Sha256, tag_bytes: 16 }).gcm_key().is_none());
}

/// What `{:?}` shows of two keys is the same, and names the type.
#[test]
fn no_text_has_a_key() {
    let parameters = *keyset(Scheme::Gcm, SMALL).primary().unwrap().parameters();
    let header = Header::random(&parameters).unwrap();
    let texts = |byte| {
        let keyset = Keyset::generate(parameters).unwrap();
        let key = keyset.primary().unwrap();
        let id = keyset.primary_id();
        let shown = format!("{keyset:?}");
        assert_eq!(shown, format!("Keyset {{ primary: {id}, ids: [{id}], .. }}"));
        let options = Options::default();
        let writer = Sealer::new(&keyset, Vec::new(), options).unwrap();
        assert!(format!("{writer:?}").starts_with("Sealer "));
        let sealed = writer.finish().unwrap();
        let reader = Opener::new(&keyset, &*sealed, options).unwrap();
        assert!(format!("{reader:?}").starts_with("Opener "));
        let reader = Sealed::open(InMemory(&sealed), &keyset, b"").unwrap();
        assert!(format!("{reader:?}").starts_with("Sealed "));
        let cipher = SegmentCipher::new(&key, header.clone(), b"").unwrap();
        let frames = FrameKey::new(&[byte; 32]).unwrap();
        [format!("{key:?}"), format!("{cipher:?}"), format!("{frames:?}")]
    };
    let [key, cipher, frames] = texts(1);
    assert!(key.starts_with("StreamingKey "), "{key}");
    assert!(cipher.starts_with("SegmentCipher "), "{cipher}");
    assert!(frames.starts_with("FrameKey "), "{frames}");
    assert_eq!(texts(2), [key, cipher, frames]);
    let options = Options { associated_data: b"in no log", ..Options::default() };
    let shown = format!("{options:?}");
    assert_eq!(shown, "Options { runner: Cpu { threads: 0 }, sparse: false, .. }");
}

/// What is sealed reaches the writer below, and what does not fill a batch of four segments waits.
#[test]
fn a_flush_goes_on_to_the_writer_below() {
    let keyset = keyset(Scheme::Gcm, SMALL);
    let runner = Small(Cpu::new(1));
    let options = Options { runner: &runner, ..Options::default() };
    let file = tempfile::tempfile().unwrap();
    let bytes = || file.metadata().unwrap().len();
    let mut writer = Sealer::new(&keyset, io::BufWriter::new(&file), options).unwrap();
    writer.write_all(&text(1000)).unwrap();
    assert_eq!(bytes(), 0);
    writer.flush().unwrap();
    assert_eq!(bytes(), 12 * u64::from(SMALL));
    writer.finish().unwrap();
    assert_eq!(bytes(), 24 + 1000 + 13 * 16);
}

/// Texts that end where a batch of pieces does, or next to it: here after each four segments.
#[test]
fn ends_of_batches() {
    let keyset = keyset(Scheme::Gcm, SMALL);
    let layout = keyset.primary().unwrap().parameters().layout();
    let runner = Small(Cpu::new(1));
    let options = Options { runner: &runner, ..Options::default() };
    for end in [1, 2, 4, 8, 12].map(|segments| layout.plaintext_of(segments).start as usize) {
        for bytes in [end - 1, end, end + 1] {
            for sealed in sealed_every_way(&keyset, &text(bytes), options, 7) {
                every_way_to_open(&keyset, options, |(name, open)| {
                    assert!(open(&sealed).unwrap() == text(bytes), "{name}");
                });
            }
        }
    }
}

/// A file that was cut off between segments tells so before anything of it is read.
#[test]
fn a_length_is_authentic() {
    let keyset = keyset(Scheme::Gcm, SMALL);
    let [sealed, ..] = sealed_every_way(&keyset, &text(900), Options::default(), 900);
    assert!(Sealed::open(Memory::new(&sealed), &keyset, b"").is_ok());
    for segments in 1..9 {
        let cut = Memory::new(&sealed[..segments * SMALL as usize]);
        let error = Sealed::open(cut, &keyset, b"").unwrap_err();
        assert!(error.is_not_authentic(), "{error}");
    }
}

#[test]
fn every_enabled_key_opens_and_the_primary_seals() {
    let mut keyset = keyset(Scheme::Gcm, SMALL);
    let [old, ..] = sealed_every_way(&keyset, b"old", Options::default(), 1);
    for template in [Template::Aes128GcmHkdf4Kb, Template::Aes256CtrHmacSha2561Mb] {
        let id = keyset.add(&StreamingKey::generate(template.parameters()).unwrap()).unwrap();
        keyset.set_primary(id).unwrap();
    }
    let [new, ..] = sealed_every_way(&keyset, b"new", Options::default(), 1);
    every_way_to_open(&keyset, Options::default(), |(name, open)| {
        assert_eq!(open(&old).unwrap(), b"old", "{name}");
        assert_eq!(open(&new).unwrap(), b"new", "{name}");
    });
    assert_eq!(new.len(), 40 + 3 + 32);
}

/// What a key opens that is disabled or destroyed is told apart from what was changed.
#[test]
fn a_key_that_opens_no_more_is_named() {
    let mut keyset = keyset(Scheme::Gcm, SMALL);
    let old = keyset.primary_id();
    let [sealed, ..] = sealed_every_way(&keyset, b"old", Options::default(), 1);
    let key = StreamingKey::generate(*keyset.primary().unwrap().parameters()).unwrap();
    let new = keyset.add(&key).unwrap();
    keyset.set_primary(new).unwrap();
    keyset.disable(old).unwrap();
    every_way_to_open(&keyset, Options::default(), |(name, open)| {
        let error = open(&sealed).expect_err(name);
        assert!(matches!(error, Error::KeyDisabled { id } if id == old), "{name}: {error}");
    });
    keyset.destroy(old).unwrap();
    every_way_to_open(&keyset, Options::default(), |(name, open)| match open(&sealed) {
        Err(Error::NoKeyOpens { tried, key_bits: Some(128), destroyed }) => {
            assert_eq!((tried, destroyed), (vec![new], vec![old]), "{name}");
        }
        other => panic!("{name}: {other:?}"),
    });
}

#[test]
fn a_stream_is_given_out_as_far_as_it_is_authentic() {
    let keyset = keyset(Scheme::Gcm, SMALL);
    let runner = Small(Cpu::new(1));
    let options = Options { runner: &runner, ..Options::default() };
    let text = text(40 * SMALL as usize);
    let [sealed, ..] = sealed_every_way(&keyset, &text, options, 1000);
    let mut changed = sealed;
    *changed.last_mut().unwrap() ^= 1;
    let mut opened = Vec::new();
    let error = open_stream(&keyset, &changed[..], &mut opened, options).unwrap_err();
    assert!(matches!(error, Error::NotAuthentic { .. }));
    assert!(opened.len() > 20 * SMALL as usize && text.starts_with(&opened));
    let mut reader = Opener::new(&keyset, &changed[..], options).unwrap();
    let mut opened = Vec::new();
    reader.read_to_end(&mut opened).unwrap_err();
    assert!(opened.len() > 20 * SMALL as usize && text.starts_with(&opened));
    reader.read(&mut [0]).expect_err("an error stays one");
}

#[test]
fn a_target_that_was_there_stays_where_it_fails() {
    let folder = TempDir::new().unwrap();
    let [plain, sealed, target] =
        ["plain", "sealed", "target"].map(|name| folder.path().join(name));
    let keyset = keyset(Scheme::Gcm, SMALL);
    fs::write(&plain, text(5000)).unwrap();
    fs::write(&target, b"precious").unwrap();
    seal_file(&keyset, &plain, &sealed, Options::default()).unwrap();
    let mut bytes = fs::read(&sealed).unwrap();
    bytes[2500] ^= 1;
    fs::write(&sealed, bytes).unwrap();
    let error = open_file(&keyset, &sealed, &target, Options::default()).unwrap_err();
    assert!(error.is_not_authentic());
    let stop = AtomicBool::new(true);
    let options = Options { cancel: &stop, ..Options::default() };
    let error = seal_file(&keyset, &plain, &target, options).unwrap_err();
    assert!(matches!(error, Error::Cancelled));
    let error = open_file(&keyset, &folder.path().join("none"), &target, Options::default());
    assert!(matches!(error, Err(Error::Io { .. })));
    assert_eq!(fs::read(&target).unwrap(), b"precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

/// A reader or a writer that fails after some bytes.
struct Fails(usize);

impl Fails {
    fn take(&mut self, bytes: usize) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "full"));
        }
        let count = bytes.min(self.0);
        self.0 -= count;
        Ok(count)
    }
}

impl Read for Fails {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.take(buffer.len())
    }
}

impl Write for Fails {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What cannot be read or written is not what is not authentic, wherever it happens.
#[test]
fn errors_of_the_system_are_told_apart() {
    let keyset = keyset(Scheme::Gcm, SMALL);
    let runner = Small(Cpu::new(1));
    let options = Options { runner: &runner, ..Options::default() };
    let text = text(30 * SMALL as usize);
    let [sealed, ..] = sealed_every_way(&keyset, &text, options, 1000);
    let is_of_the_system = |result: Result<u64, Error>| {
        let error = result.expect_err("it fails");
        assert!(!error.is_not_authentic(), "{error}");
        let Error::Io { source, .. } = error else { panic!("{error}") };
        assert_eq!(source.kind(), io::ErrorKind::StorageFull);
    };
    for bytes in [0, 10, 100, 500, 2000] {
        is_of_the_system(seal_stream(&keyset, Fails(bytes), io::sink(), options));
        is_of_the_system(seal_stream(&keyset, &text[..], Fails(bytes), options));
        let cut = (&sealed[..bytes]).chain(Fails(0));
        is_of_the_system(open_stream(&keyset, cut, io::sink(), options));
        is_of_the_system(open_stream(&keyset, &sealed[..], Fails(bytes), options));
        let written = Sealer::new(&keyset, Fails(bytes), options).and_then(|mut writer| {
            writer.write_all(&text).map_err(|source| Error::Io { doing: String::new(), source })?;
            writer.finish().map(|_| 0)
        });
        is_of_the_system(written);
    }
    let stop = AtomicBool::new(true);
    let stopped = Options { cancel: &stop, ..options };
    let cancelled = [
        seal_stream(&keyset, &text[..], io::sink(), stopped),
        open_stream(&keyset, &sealed[..], io::sink(), stopped),
    ];
    assert!(cancelled.into_iter().all(|result| matches!(result, Err(Error::Cancelled))));
}

#[test]
fn progress_counts_every_byte() {
    let keyset = keyset(Scheme::Gcm, SMALL);
    let text = text(12_345);
    let done = AtomicU64::new(0);
    let count = |bytes| {
        done.fetch_add(bytes, Ordering::Relaxed);
    };
    let options = Options { progress: &count, ..Options::default() };
    let sealed = through_files(&text, |from, to| seal_file(&keyset, from, to, options)).unwrap();
    assert_eq!(done.swap(0, Ordering::Relaxed), 12_345);
    through_files(&sealed, |from, to| open_file(&keyset, from, to, options)).unwrap();
    assert_eq!(done.swap(0, Ordering::Relaxed), 12_345);
    open_stream(&keyset, &sealed[..], io::sink(), options).unwrap();
    assert_eq!(done.swap(0, Ordering::Relaxed), 12_345);
    seal_stream(&keyset, &text[..], io::sink(), options).unwrap();
    assert_eq!(done.load(Ordering::Relaxed), 12_345);
}

/// A source that is written while it is sealed or opened.
#[test]
fn a_source_that_changes_is_noticed() {
    type Run = fn(&Keyset, &Path, &Path, Options<'_>) -> Result<u64, Error>;
    let folder = TempDir::new().unwrap();
    let [source, target] = ["source", "target"].map(|name| folder.path().join(name));
    let keyset = keyset(Scheme::Gcm, SMALL);
    let [sealed, ..] = sealed_every_way(&keyset, &text(3000), Options::default(), 1000);
    let runs: [(_, Run); 2] = [(text(3000), seal_file), (sealed, open_file)];
    let changes: [(&str, &(dyn Fn() + Sync)); 3] = [
        ("size", &|| fs::OpenOptions::new().write(true).open(&source).unwrap().set_len(7).unwrap()),
        ("size", &|| {
            let mut file = fs::OpenOptions::new().append(true).open(&source).unwrap();
            file.write_all(b"more").unwrap();
        }),
        ("time of", &|| {
            std::thread::sleep(std::time::Duration::from_millis(30));
            fs::OpenOptions::new().write(true).open(&source).unwrap().write_all(b"x").unwrap();
        }),
    ];
    for (content, run) in runs {
        for (named, change) in changes {
            fs::write(&source, &content).unwrap();
            let once = std::sync::Once::new();
            let call = |_| once.call_once(change);
            let runner = Small(Cpu::new(1));
            let options = Options { progress: &call, runner: &runner, ..Options::default() };
            let error = run(&keyset, &source, &target, options).unwrap_err();
            assert!(matches!(error, Error::SourceChanged { .. }), "{error}");
            assert!(error.to_string().contains(named), "{error}");
            assert!(!target.exists());
        }
    }
}
