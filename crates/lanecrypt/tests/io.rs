//! Streams of bytes: the same as the mode over all of them at once, however they come and go.

use std::{
    io::{self, BufRead, ErrorKind, Read, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use lanecrypt::{
    ChainedMode, Ctr, Direction, Engine, Error, Operation, Xts,
    aes::Aes128,
    cipher::{InOutBuf, KeyInit},
    io::{ChainedStream, Ecb, Reader, StreamMode, Writer, XtsUnits},
    modes,
};

const IV: [u8; 16] = [0xfe; 16];
/// Bytes of a data unit, and of a piece.
const UNIT: usize = 40;
const PIECE: usize = 100;

fn aes() -> Aes128 {
    Aes128::new(&[0x3c; 16].into())
}

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + i / 256) as u8).collect()
}

fn chained(mode: ChainedMode) -> Box<dyn StreamMode> {
    Box::new(ChainedStream::new(aes(), mode, &IV).expect("a block"))
}

/// A mode from its start, and the same over all bytes at once.
struct Kind {
    name: &'static str,
    mode: fn() -> Box<dyn StreamMode>,
    at_once: fn(&mut [u8]) -> Result<(), Error>,
}

const KINDS: [Kind; 8] = [
    Kind {
        name: "CTR",
        mode: || Box::new(Ctr::new(aes(), &IV).expect("a block")),
        at_once: |data| aes().ctr(&IV, data.into()),
    },
    Kind {
        name: "ECB",
        mode: || Box::new(Ecb::new(aes(), Direction::Decrypt)),
        at_once: |data| aes().ecb(Direction::Decrypt, data.into()),
    },
    Kind {
        name: "CBC encryption",
        mode: || chained(ChainedMode::Cbc(Direction::Encrypt)),
        at_once: |data| modes::cbc_encrypt(&aes(), &IV, data.into()),
    },
    Kind {
        name: "CBC decryption",
        mode: || chained(ChainedMode::Cbc(Direction::Decrypt)),
        at_once: |data| modes::cbc_decrypt(&aes(), &IV, data.into()),
    },
    Kind {
        name: "CFB encryption",
        mode: || chained(ChainedMode::Cfb(Direction::Encrypt)),
        at_once: |data| modes::cfb_encrypt(&aes(), &IV, data.into()),
    },
    Kind {
        name: "CFB decryption",
        mode: || chained(ChainedMode::Cfb(Direction::Decrypt)),
        at_once: |data| modes::cfb_decrypt(&aes(), &IV, data.into()),
    },
    Kind {
        name: "OFB",
        mode: || chained(ChainedMode::Ofb),
        at_once: |data| modes::ofb(&aes(), &IV, data.into()),
    },
    Kind {
        name: "XTS",
        mode: || {
            let xts = Xts::new(aes(), aes());
            let units = XtsUnits::new(xts, Direction::Encrypt, UNIT, u128::MAX - 1);
            Box::new(units.expect("16 bytes and more"))
        },
        at_once: |data| {
            let (unit, first) = (UNIT, u128::MAX - 1);
            modes::xts_units(&aes(), &aes(), first, unit, Direction::Encrypt, data.into())
        },
    },
];

/// A mode as a trait object.
struct Boxed(Box<dyn StreamMode>);

impl StreamMode for Boxed {
    fn unit_bytes(&self) -> usize {
        self.0.unit_bytes()
    }

    fn apply(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        self.0.apply(piece)
    }
}

/// Reads and writes a few bytes at a time, other numbers at every call, and fails between.
struct Fitful<T> {
    inner: T,
    calls: usize,
}

impl<T> Fitful<T> {
    fn new(inner: T) -> Self {
        Self { inner, calls: 0 }
    }

    fn most(&mut self) -> io::Result<usize> {
        self.calls += 1;
        match self.calls % 4 {
            0 => Err(ErrorKind::Interrupted.into()),
            1 => Err(ErrorKind::WouldBlock.into()),
            _ => Ok(self.calls % 37 + 1),
        }
    }
}

impl<R: Read> Read for Fitful<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let most = self.most()?.min(to.len());
        self.inner.read(&mut to[..most])
    }
}

impl<W: Write> Write for Fitful<W> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let most = self.most()?.min(from.len());
        self.inner.write(&from[..most])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Tries until it is not told to come again.
fn persist<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            other => return other,
        }
    }
}

const LENGTHS: [usize; 14] = [0, 1, 15, 16, 17, 79, 80, 81, 96, 100, 160, 240, 333, 4000];

/// What comes of the stream, and what comes of all at once: for a last unit that the mode does not take,
/// an error of both.
fn compare(kind: &Kind, length: usize, what: &str, found: io::Result<Vec<u8>>) {
    let mut expected = bytes(length);
    let result = (kind.at_once)(&mut expected);
    let what = format!("{}, {length} bytes, {what}", kind.name);
    match (result, found) {
        (Ok(()), Ok(found)) => assert!(found == expected, "{what}"),
        (Err(_), Err(error)) => assert_eq!(error.kind(), ErrorKind::InvalidData, "{what}"),
        (result, found) => panic!("{what}: {result:?} at once, {:?} streamed", found.map(drop)),
    }
}

#[test]
fn readers_give_what_the_mode_gives_at_once() {
    for kind in &KINDS {
        for (length, piece) in LENGTHS.into_iter().flat_map(|l| [0, PIECE, 1 << 20].map(|p| (l, p)))
        {
            let data = bytes(length);
            let mut reader = Reader::with_piece_bytes(&data[..], Boxed((kind.mode)()), piece);
            let mut found = Vec::new();
            let read = reader.read_to_end(&mut found).map(|_| found);
            compare(kind, length, "read to the end", read);

            let inner = Fitful::new(&data[..]);
            let mut reader = Reader::with_piece_bytes(inner, Boxed((kind.mode)()), piece);
            let (mut found, mut part) = (Vec::new(), [0; 23]);
            let read = loop {
                match persist(|| reader.read(&mut part)) {
                    Ok(0) => break Ok(found),
                    Ok(count) => found.extend(&part[..count]),
                    Err(error) => break Err(error),
                }
            };
            compare(kind, length, "read fitfully", read);
        }
    }
}

#[test]
fn writers_pass_on_what_the_mode_gives_at_once() {
    for kind in &KINDS {
        for (length, piece) in LENGTHS.into_iter().flat_map(|l| [0, PIECE, 1 << 20].map(|p| (l, p)))
        {
            let mut writer = Writer::with_piece_bytes(Vec::new(), Boxed((kind.mode)()), piece);
            let written = writer.write_all(&bytes(length));
            compare(kind, length, "written", written.and_then(|()| writer.finish()));

            let inner = Fitful::new(Vec::new());
            let mut writer = Writer::with_piece_bytes(inner, Boxed((kind.mode)()), piece);
            for (i, mut part) in bytes(length).chunks(29).enumerate() {
                while !part.is_empty() {
                    let count = persist(|| writer.write(part)).expect("it comes to it");
                    part = &part[count..];
                }
                if i % 3 == 2 {
                    persist(|| writer.flush()).expect("it comes to it");
                }
            }
            let ended = persist(|| writer.try_finish());
            if ended.is_ok() {
                let error = writer.write(&[0]).expect_err("it was finished");
                assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
            }
            let inner = ended.and_then(|()| writer.finish());
            let written = inner.map(|inner| inner.inner);
            compare(kind, length, "written fitfully", written);
        }
    }
}

/// Only an interruption is tried again by the stream itself.
#[test]
fn an_error_of_what_is_within_is_the_callers() {
    let ecb = || Ecb::new(aes(), Direction::Encrypt);
    let mut reader = Reader::new(Fitful::new(&[7; 32][..]), ecb());
    assert_eq!(reader.fill_buf().expect_err("the first call").kind(), ErrorKind::WouldBlock);
    assert_eq!(format!("{reader:?}"), "Reader { .. }");
    let mut writer = Writer::new(Fitful::new(Vec::new()), ecb());
    writer.write_all(&[7; 32]).expect("it is kept");
    assert_eq!(writer.flush().expect_err("the first call").kind(), ErrorKind::WouldBlock);
    assert_eq!(format!("{writer:?}"), "Writer { .. }");
    persist(|| writer.flush()).expect("it comes to it");
}

/// Bytes are there when they are flushed, and a writer that is dropped ends its stream.
#[test]
fn flushing_passes_on_what_there_is() {
    let mut expected = bytes(150);
    aes().ctr(&IV, expected.as_mut_slice().into()).expect("the CPU does not fail");
    let mut found = Vec::new();
    let mode = Ctr::new(aes(), &IV).expect("a block");
    let mut writer = Writer::with_piece_bytes(&mut found, mode, PIECE);
    writer.write_all(&bytes(150)[..7]).expect("a vector does not fail");
    writer.flush().expect("a vector does not fail");
    writer.write_all(&bytes(150)[7..]).expect("a vector does not fail");
    drop(writer);
    assert!(found == expected);

    let mut found = Vec::new();
    let mode =
        ChainedStream::new(aes(), ChainedMode::Cbc(Direction::Decrypt), &IV).expect("a block");
    let mut writer = Writer::with_piece_bytes(&mut found, mode, PIECE);
    writer.write_all(&bytes(39)).expect("a vector does not fail");
    writer.flush().expect("a vector does not fail");
    drop(writer);
    assert_eq!(found.len(), 32, "whole blocks");
}

/// While a thread panics, a writer passes on nothing: what was written so far need not be whole.
#[test]
fn a_panic_passes_on_nothing() {
    let mut found = Vec::new();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let mode = Ctr::new(aes(), &IV).expect("a block");
        let mut writer = Writer::with_piece_bytes(&mut found, mode, PIECE);
        writer.write_all(&bytes(50)).expect("a vector does not fail");
        panic!("as users' code may");
    }));
    assert!(caught.is_err());
    assert_eq!(found, []);
}

/// A writer that a destructor makes and drops while a thread panics ends its stream as ever.
#[test]
fn a_destructor_in_a_panic_writes_all() {
    struct Writes<'a>(&'a mut Vec<u8>);
    impl Drop for Writes<'_> {
        fn drop(&mut self) {
            let mode = Ctr::new(aes(), &IV).expect("a block");
            let mut writer = Writer::with_piece_bytes(&mut *self.0, mode, PIECE);
            writer.write_all(&bytes(50)).expect("a vector does not fail");
        }
    }
    let mut found = Vec::new();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _writes = Writes(&mut found);
        panic!("as users' code may");
    }));
    assert!(caught.is_err());
    assert_eq!(found.len(), 50);
}

/// No more is taken than there is, whatever number of bytes a caller says.
#[test]
fn consuming_ends_with_the_piece() {
    for amount in [100, 101, usize::MAX] {
        let mode = Ecb::new(aes(), Direction::Encrypt);
        let data = bytes(2 * 96);
        let mut reader = Reader::with_piece_bytes(&data[..], mode, PIECE);
        let piece = reader.fill_buf().expect("a slice does not fail").len();
        assert_eq!(piece, 96);
        reader.consume(1);
        reader.consume(amount);
        assert_eq!(reader.fill_buf().expect("a slice does not fail").len(), 96, "the next piece");
        reader.consume(usize::MAX);
        assert!(reader.fill_buf().expect("a slice does not fail").is_empty());
    }
}

/// As a `BufRead`, a reader has pieces of whole units.
#[test]
fn pieces_are_whole_units() {
    for (kind, piece) in KINDS.iter().zip([100, 96, 96, 96, 96, 96, 96, 80]) {
        let data = bytes(400);
        let mut reader = Reader::with_piece_bytes(&data[..], Boxed((kind.mode)()), PIECE);
        assert_eq!(reader.fill_buf().expect("a slice does not fail").len(), piece, "{}", kind.name);
        reader.consume(piece - 1);
        assert_eq!(reader.fill_buf().expect("a slice does not fail").len(), 1);
        reader.consume(1);
        assert_eq!(reader.fill_buf().expect("a slice does not fail").len(), piece);
    }
}

/// An engine that fails at a call of one's choice, when it has written half of its output.
#[derive(Debug)]
struct Failing {
    calls: Arc<AtomicUsize>,
    at: usize,
}

impl Engine for Failing {
    fn block_bytes(&self) -> usize {
        16
    }

    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        if self.calls.fetch_add(1, Ordering::Relaxed) != self.at {
            return aes().run(operation, data);
        }
        let half = data.len() / 2;
        aes().run(operation, data.split_at(half).0)?;
        Err(Error::Device("a test's".into()))
    }
}

fn failing(at: usize) -> Ctr<Failing> {
    Ctr::new(Failing { calls: Arc::default(), at }, &IV).expect("a block")
}

/// Nothing of a piece that failed is given, by that call or a later one.
#[test]
fn after_an_error_of_the_engine_there_is_nothing_more() {
    let mut expected = bytes(500);
    aes().ctr(&IV, expected.as_mut_slice().into()).expect("the CPU does not fail");
    for at in 0..4 {
        // Pieces of whole blocks, so that each is one call.
        let data = bytes(500);
        let mut reader = Reader::with_piece_bytes(&data[..], failing(at), 96);
        let (mut found, mut part) = (Vec::<u8>::new(), [0; 50]);
        let error = loop {
            match reader.read(&mut part) {
                Ok(count) => found.extend(&part[..count]),
                Err(error) => break error,
            }
        };
        assert!(error.kind() == ErrorKind::Other && error.to_string() == "a test's", "{error}");
        assert!(found == expected[..96 * at], "read before call {at}");
        assert!(reader.read(&mut part).is_err() && reader.fill_buf().is_err(), "it goes on");

        let mut found = Vec::new();
        let mut writer = Writer::with_piece_bytes(&mut found, failing(at), 96);
        assert_eq!(writer.write_all(&data).expect_err("it fails").to_string(), "a test's");
        assert!(writer.write(&data).is_err() && writer.flush().is_err(), "it goes on");
        assert!(writer.finish().is_err());
        assert!(found == expected[..96 * at], "written before call {at}");
    }
}

#[test]
fn modes_that_do_not_fit_are_refused() {
    let error = ChainedStream::new(aes(), ChainedMode::Ofb, &IV[..8]).expect_err("no block");
    assert!(matches!(error, Error::IvLength { given: 8, accepted: 16, .. }), "{error}");
    let error = XtsUnits::new(Xts::new(aes(), aes()), Direction::Decrypt, 15, 0).map(drop);
    assert!(matches!(error, Err(Error::DataUnitLength { given: 15, block: 16 })), "{error:?}");
}

/// CFB and OFB stop and go on anywhere, within a block too.
#[test]
fn feedback_takes_pieces_of_any_length() {
    for kind in KINDS.iter().filter(|kind| kind.name.starts_with("CFB") || kind.name == "OFB") {
        let (mut expected, mut found) = (bytes(999), bytes(999));
        (kind.at_once)(&mut expected).expect("any length");
        let (mut mode, mut rest) = ((kind.mode)(), found.as_mut_slice());
        for length in [1, 14, 1, 16, 0, 17, 31, 2, 100, 3].into_iter().cycle() {
            let (piece, after) = rest.split_at_mut(rest.len().min(length));
            mode.apply(piece).expect("any length");
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        assert!(found == expected, "{}", kind.name);
    }
}
