//! Files that are sealed open again, as they were, under their keys only; what was changed is named, and nothing that
//! anyone wrote leads to more than an error.

mod common;

use std::{
    fs, io,
    sync::atomic::{AtomicU64, Ordering},
};

use common::{
    SMALL, Shape, assert_consistent, by_column, filter, footer, footer_at, key, least, name,
    opened, page, place, plain, plain_with, sealed, told, uniform,
};
use lanecrypt_parquet::{
    Algorithm, ByMetadata, Encrypted, Error, InMemory, Key, Keys, Kind, OpenOptions, SealOptions,
    seal,
    thrift::{List, Struct, Value},
};
use lanecrypt_tink::{Identity, Source, Version};
use proptest::prelude::*;

const ALGORITHMS: [Algorithm; 2] = [Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1];

fn all_options() -> impl Iterator<Item = SealOptions> {
    ALGORITHMS.into_iter().flat_map(|algorithm| {
        [false, true].map(|plaintext_footer| SealOptions {
            algorithm,
            plaintext_footer,
            aad_prefix: Some(b"a prefix".to_vec()),
            ..SealOptions::default()
        })
    })
}

#[test]
fn what_is_sealed_opens_again() {
    let shapes = [
        SMALL,
        Shape { has_dictionary: true, has_filter: true, ..SMALL },
        Shape { has_index: false, has_dictionary: true, header_bytes: 3_000, ..SMALL },
        Shape { header_bytes: 20_000, pages: 2, ..SMALL },
    ];
    for shape in shapes {
        let plain = plain(shape);
        assert_consistent(&plain);
        for options in all_options() {
            for keys in [uniform(), by_column(&[0, 2])] {
                opens_again(shape, &plain, &keys, &options);
            }
        }
    }
}

fn opens_again(shape: Shape, plain: &[u8], keys: &Keys, options: &SealOptions) {
    let sealed = sealed(plain, keys, options);
    assert_eq!(&sealed[..4], if options.plaintext_footer { b"PAR1" } else { b"PARE" });
    let encrypted = Encrypted::read(InMemory(&sealed), keys, OpenOptions::default()).unwrap();
    let image = encrypted.open().unwrap();
    assert_consistent(&image);
    let told = told(&image);
    assert!(told == self::told(plain));
    let has_parts = [true, shape.has_index, shape.has_filter];
    assert!(told.iter().all(|parts| parts.each_ref().map(Option::is_some) == has_parts));
    assert_eq!(encrypted.algorithm(), options.algorithm);
    assert_eq!(encrypted.plaintext_bytes(), image.len() as u64);
    let columns = if keys.columns.is_empty() { shape.columns } else { keys.columns.len() };
    let pages = shape.pages + usize::from(shape.has_dictionary);
    assert_eq!(encrypted.pages(), shape.row_groups * columns * pages);
    let mut at = 0;
    for group in 0..shape.row_groups {
        for column in 0..shape.columns {
            for number in 0..shape.pages {
                // Pages come in their order, and start at multiples of 16 where they were encrypted.
                let page = page(shape, group, column, number);
                let found = image[at..].windows(page.len()).position(|bytes| bytes == page);
                at += found.expect("every page is there");
                let is_encrypted = keys.columns.is_empty() || column != 1;
                assert!(!is_encrypted || at.is_multiple_of(16));
            }
        }
    }
    // Sealing what was opened, and opening it again, changes nothing.
    let again = self::sealed(&image, keys, options);
    assert!(opened(&again, keys, OpenOptions::default()).unwrap() == image);
}

/// Lengths around that of what is read of a header at first, of the first page and of others.
#[test]
fn headers_of_any_length() {
    let shape = Shape { row_groups: 1, columns: 1, pages: 2, ..SMALL };
    for header_bytes in 400..520 {
        let plain = plain(Shape { header_bytes, ..shape });
        let sealed = sealed(&plain, &uniform(), &SealOptions::default());
        let image = opened(&sealed, &uniform(), OpenOptions::default()).unwrap();
        assert_consistent(&image);
        assert!(told(&image) == told(&plain));
    }
}

/// Up to that of the longest that readers take.
#[test]
fn no_header_is_sealed_that_does_not_open() {
    let shape = Shape { row_groups: 1, columns: 1, pages: 1, ..SMALL };
    let (_folder, path) = place();
    let mut refused = Vec::new();
    for less in [200, 100, 50, 0] {
        let plain = plain(Shape { header_bytes: (16 << 20) - less, ..shape });
        match seal(&InMemory(&plain), &uniform(), &SealOptions::default(), &path) {
            Ok(_) => {
                let sealed = fs::read(&path).unwrap();
                let image = opened(&sealed, &uniform(), OpenOptions::default()).unwrap();
                assert!(told(&image) == told(&plain));
            }
            Err(error) => {
                assert!(matches!(error, Error::TooLong { .. }), "{error}");
                refused.push(less);
            }
        }
    }
    assert!(refused.contains(&0) && !refused.contains(&200), "{refused:?}");
}

/// Those that stay as they are, longer than what is copied at once.
#[test]
fn long_columns_are_copied() {
    let shape = Shape { row_groups: 1, columns: 2, pages: 3, values: 400_000, ..SMALL };
    let (plain, keys) = (plain(shape), by_column(&[0]));
    let sealed = sealed(&plain, &keys, &SealOptions::default());
    let image = opened(&sealed, &keys, OpenOptions::default()).unwrap();
    assert_consistent(&image);
    let column = |file: &[u8]| {
        let (footer, pages) = (footer(file), shape.pages * shape.values * 8);
        let chunk = footer.structures(4).next().unwrap().structures(1).nth(1).unwrap().clone();
        let start = usize::try_from(chunk.structure(3).unwrap().integer(9).unwrap()).unwrap();
        file[start..start + pages].to_vec()
    };
    assert!(column(&image) == column(&plain));
}

/// Some writers say that a dictionary is at zero, or behind the values, where there is none, and of a column without
/// values that its values are at zero.
#[test]
fn places_where_nothing_is() {
    let set = |chunk: &mut Struct, field, place: fn(i64) -> i64| match chunk.get_mut(3) {
        Some(Value::Struct(metadata)) => {
            let values = metadata.integer(9).unwrap();
            metadata.set(field, Value::I64(place(values)));
        }
        _ => panic!("a column has metadata"),
    };
    let without = plain_with(SMALL, |_, chunk| set(chunk, 11, |_| 0));
    let behind = plain_with(SMALL, |_, chunk| set(chunk, 11, |values| values + 100));
    let alone = Shape { pages: 0, has_dictionary: true, has_index: false, ..SMALL };
    let alone = plain_with(alone, |_, chunk| set(chunk, 9, |_| 0));
    for (plain, pages) in [(without, SMALL.pages), (behind, SMALL.pages), (alone, 1)] {
        let sealed = sealed(&plain, &uniform(), &SealOptions::default());
        let encrypted = Encrypted::read(InMemory(&sealed), &uniform(), OpenOptions::default());
        let encrypted = encrypted.unwrap();
        assert_eq!(encrypted.pages(), SMALL.row_groups * SMALL.columns * pages);
        assert_consistent(&encrypted.open().unwrap());
    }
}

/// Neither pages nor what tells of them: statistics, indexes, Bloom filters.
#[test]
fn encrypted_columns_cannot_be_read() {
    let shape = Shape { has_filter: true, ..SMALL };
    let plain = plain(shape);
    for options in all_options() {
        for (keys, encrypted) in [(by_column(&[0, 2]), [0, 2].as_slice()), (uniform(), &[0, 1, 2])]
        {
            let sealed = sealed(&plain, &keys, &options);
            for column in 0..3 {
                let (least, filter) = (least(column).into_bytes(), filter(column).into_bytes());
                let holds = |part: &[u8]| sealed.windows(part.len()).any(|bytes| bytes == part);
                let parts = [page(shape, 1, column, 2), least, filter];
                let holds = parts.map(|part| holds(&part));
                assert_eq!(holds, [!encrypted.contains(&column); 3], "{column}: {options:?}");
            }
        }
    }
}

#[test]
fn only_some_columns_and_row_groups() {
    let plain = plain(SMALL);
    for options in all_options() {
        let sealed = sealed(&plain, &by_column(&[0, 2]), &options);
        // The key of column 2 is not needed for the others.
        let keys = by_column(&[0]);
        let error = opened(&sealed, &keys, OpenOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), "no key for the column \"column_2\"");
        let columns = [name(1), name(0)];
        let open = OpenOptions {
            columns: Some(&columns),
            row_groups: Some(&[1]),
            ..OpenOptions::default()
        };
        let image = opened(&sealed, &keys, open).unwrap();
        let footer = footer(&image);
        assert_consistent(&image);
        // What tells of all columns is gone, or tells of these.
        let pairs: Vec<_> = footer.structures(5).map(|pair| pair.binary(1)).collect();
        assert_eq!(pairs, [Some(&b"kept"[..])]);
        let orders: Vec<_> = footer.structures(7).map(|order| order.integer(100)).collect();
        assert_eq!(orders, [Some(0), Some(1)]);
        assert_eq!(footer.integer(3), i64::try_from(SMALL.pages * SMALL.values).ok());
        let elements = footer.structures(2).map(|element| element.binary(4).unwrap().to_vec());
        let names = ["schema".to_owned(), name(0), name(1)].map(String::into_bytes);
        assert_eq!(elements.collect::<Vec<_>>(), names);
        let groups: Vec<_> = footer.structures(4).collect();
        assert_eq!((groups.len(), groups[0].structures(1).count()), (1, 2));
        let missing = ["column_9".to_owned()];
        let open = OpenOptions { columns: Some(&missing), ..OpenOptions::default() };
        let error = opened(&sealed, &keys, open).unwrap_err();
        assert!(matches!(error, Error::NoSuchColumn { .. }), "{error}");
        assert!(!error.is_not_authentic());
        let open = OpenOptions { row_groups: Some(&[0, 2]), ..OpenOptions::default() };
        let error = opened(&sealed, &by_column(&[0, 2]), open).unwrap_err();
        assert!(matches!(error, Error::NoSuchRowGroup { given: 2, count: 2 }), "{error}");
    }
}

#[test]
fn prefixes() {
    let plain = plain(SMALL);
    for options in all_options() {
        let with = |prefix| OpenOptions { aad_prefix: prefix, ..OpenOptions::default() };
        let stored = sealed(&plain, &uniform(), &options);
        assert!(opened(&stored, &uniform(), with(None)).is_ok());
        assert!(opened(&stored, &uniform(), with(Some(b"a prefix"))).is_ok());
        let error = opened(&stored, &uniform(), with(Some(b"another"))).unwrap_err();
        assert!(matches!(error, Error::AadPrefix { .. }), "{error}");
        let options = SealOptions { withhold_aad_prefix: true, ..options };
        let withheld = sealed(&plain, &uniform(), &options);
        assert!(opened(&withheld, &uniform(), with(Some(b"a prefix"))).is_ok());
        let error = opened(&withheld, &uniform(), with(Some(b"another"))).unwrap_err();
        assert!(error.is_not_authentic(), "{error}");
        let error = opened(&withheld, &uniform(), with(None)).unwrap_err();
        assert!(matches!(error, Error::AadPrefix { .. }), "{error}");
        // Every page has the prefix: it is no longer than pages are.
        let long = |bytes| SealOptions { aad_prefix: Some(vec![7; bytes]), ..options.clone() };
        let longest = sealed(&plain, &uniform(), &long(4088));
        assert!(opened(&longest, &uniform(), with(Some(&[7; 4088]))).is_ok());
        let error = opened(&longest, &uniform(), with(Some(&[7; 4089]))).unwrap_err();
        assert!(error.to_string().ends_with("take more than 4,096 bytes"), "{error}");
        let (_folder, path) = place();
        let error = seal(&InMemory(&plain), &uniform(), &long(4089), &path).map(drop).unwrap_err();
        assert!(error.to_string().ends_with("take more than 4,096 bytes"), "{error}");
        let options = SealOptions { aad_prefix: None, ..options };
        let without = sealed(&plain, &uniform(), &options);
        let error = opened(&without, &uniform(), with(Some(b"a prefix"))).unwrap_err();
        assert!(matches!(error, Error::AadPrefix { .. }), "{error}");
    }
}

#[test]
fn keys_by_what_the_file_says_of_them() {
    let (plain, keys) = (plain(SMALL), by_column(&[1]));
    for plaintext_footer in [false, true] {
        let mut options = SealOptions { plaintext_footer, ..SealOptions::default() };
        options.footer_key_metadata = Some(b"the footer's".to_vec());
        options.column_key_metadata.insert(name(1), b"a column's".to_vec());
        let sealed = sealed(&plain, &keys, &options);
        let asked = std::sync::Mutex::new(Vec::new());
        let find = ByMetadata(|metadata: &[u8]| {
            asked.lock().unwrap().push(metadata.to_vec());
            Ok(if metadata == b"a column's" { key(1, 24) } else { key(7, 16) })
        });
        let open = Encrypted::read(InMemory(&sealed), &find, OpenOptions::default());
        open.unwrap().open().unwrap();
        assert_eq!(*asked.lock().unwrap(), [&b"the footer's"[..], b"a column's"]);
    }
}

/// Every byte of the file counts, but for those of columns that are not encrypted; the error is that of its place.
#[test]
fn what_was_changed_is_not_given_out() {
    let plain = plain(SMALL);
    for options in all_options().filter(|options| options.algorithm == Algorithm::AesGcmV1) {
        let mut sealed = sealed(&plain, &uniform(), &options);
        let footer = footer_at(&sealed);
        for at in 0..sealed.len() {
            sealed[at] ^= 1 << (at % 8);
            let error = opened(&sealed, &uniform(), OpenOptions::default()).unwrap_err();
            if let Error::NotAuthentic { place, .. } = error {
                assert_eq!(place.kind == Kind::Footer, at >= footer, "{at}: {place}");
            }
            sealed[at] ^= 1 << (at % 8);
        }
        assert!(opened(&sealed, &uniform(), OpenOptions::default()).is_ok());
    }
}

/// Of CTR everything but the pages.
#[test]
fn pages_of_ctr_have_no_tag() {
    let options = SealOptions { algorithm: Algorithm::AesGcmCtrV1, ..SealOptions::default() };
    let mut sealed = sealed(&plain(SMALL), &uniform(), &options);
    let mut unnoticed = 0;
    for at in 4..sealed.len() {
        sealed[at] ^= 1;
        unnoticed += usize::from(opened(&sealed, &uniform(), OpenOptions::default()).is_ok());
        sealed[at] ^= 1;
    }
    let pages = SMALL.row_groups * SMALL.columns * SMALL.pages;
    assert_eq!(unnoticed, pages * (8 * SMALL.values + 12)); // their texts, and their nonces
}

#[test]
fn no_text_has_a_key_or_a_value() {
    let plain = plain(SMALL);
    let texts = |byte| {
        let keys = Keys::uniform(key(byte, 32));
        let sealed = sealed(&plain, &keys, &SealOptions::default());
        let encrypted = Encrypted::read(InMemory(&sealed), &keys, OpenOptions::default()).unwrap();
        let find = ByMetadata(|_: &[u8]| Ok::<_, Error>(key(byte, 32)));
        [
            format!("{keys:?}"),
            format!("{:?}", keys.footer),
            format!("{encrypted:?}"),
            format!("{find:?}"),
        ]
    };
    let [keys, key, encrypted, find] = texts(1);
    assert!(keys.starts_with("Keys {") && key == "Key { bytes: 32, .. }", "{keys}, {key}");
    assert_eq!(encrypted, "Encrypted { algorithm: AesGcmV1, pages: 24, .. }");
    assert_eq!(find, "ByMetadata { .. }");
    assert_eq!(texts(2), [keys, key, encrypted, find]);
    let values = [Value::Binary(b"secret".to_vec()), Value::I64(5), Value::Bool(true)];
    let values: Struct = (1..).zip(values).collect();
    let list = List::of_structures([values.clone()]);
    let all: Struct = [(1, Value::Struct(values)), (2, Value::List(list))].into_iter().collect();
    assert_eq!(format!("{all:?}"), "{1: {1: Binary(6), 2: I64, 3: Bool}, 2: List(1)}");
}

#[test]
fn wrong_keys() {
    let plain = plain(SMALL);
    for options in all_options() {
        let sealed = sealed(&plain, &by_column(&[0, 2]), &options);
        let wrong = Keys { footer: key(9, 16), ..by_column(&[0, 2]) };
        let error = opened(&sealed, &wrong, OpenOptions::default()).unwrap_err();
        assert!(matches!(error, Error::NotAuthentic { place, .. } if place.kind == Kind::Footer));
        let mut wrong = by_column(&[0, 2]);
        wrong.columns.insert(name(2), key(9, 32));
        let error = opened(&sealed, &wrong, OpenOptions::default()).unwrap_err();
        let text = error.to_string();
        let start = "the metadata of column 2 in row group 0 (\"column_2\") is not authentic";
        assert!(text.starts_with(start), "{text}");
    }
    assert!(matches!(Key::new(&[0; 17]), Err(Error::KeyLength { given: 17 })));
    assert!(!format!("{:?}", by_column(&[1])).contains("[1, 1"));
}

#[test]
fn what_is_no_file_to_open_or_to_seal() {
    let plain = plain(SMALL);
    let sealed = sealed(&plain, &uniform(), &SealOptions::default());
    for length in 0..sealed.len() {
        assert!(opened(&sealed[..length], &uniform(), OpenOptions::default()).is_err());
    }
    let refused = opened(&plain, &uniform(), OpenOptions::default());
    assert!(matches!(refused, Err(Error::NotEncrypted)), "{refused:?}");
    let (folder, path) = place();
    for length in 0..plain.len() {
        let refused = seal(&InMemory(&plain[..length]), &uniform(), &SealOptions::default(), &path);
        assert!(refused.is_err());
    }
    let refused = seal(&InMemory(&sealed), &uniform(), &SealOptions::default(), &path);
    assert!(matches!(refused, Err(Error::Encrypted)), "{refused:?}");
    let keys = by_column(&[7]);
    let refused = seal(&InMemory(&plain), &keys, &SealOptions::default(), &path);
    assert!(matches!(refused, Err(Error::NoSuchColumn { .. })), "{refused:?}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

/// Columns that name the same bytes, and those that are named as somebody likes.
#[test]
fn files_that_ask_for_more_than_they_have() {
    let shape = Shape { has_index: false, ..SMALL };
    let plain = plain_with(shape, |number, column| {
        let Some(Value::Struct(metadata)) = column.get_mut(3).filter(|_| number > 0) else {
            return;
        };
        metadata.set(7, Value::I64(4000)); // of a file of some 10,000 bytes, four times
        metadata.set(9, Value::I64(4));
    });
    let (_folder, path) = place();
    let refused = seal(&InMemory(&plain), &by_column(&[0]), &SealOptions::default(), &path);
    let text = refused.map(drop).unwrap_err().to_string();
    assert!(
        text.ends_with("with the columns before it, it has more bytes than the file"),
        "{text}"
    );
    let mut keys = by_column(&[]);
    keys.columns.insert("\u{1b}[2J".repeat(100), key(1, 16));
    let refused = seal(&InMemory(&plain), &keys, &SealOptions::default(), &path);
    let text = refused.map(drop).unwrap_err().to_string();
    assert!(
        text.len() < 700 && !text.contains('\u{1b}') && text.contains(r#"it has "column_0", "#),
        "{text}"
    );
}

/// Pages that reach out of their column, and a filter that is shorter than it says.
#[test]
fn files_that_say_what_they_do_not_have() {
    let (_folder, path) = place();
    let refused = |plain: &[u8]| {
        let refused = seal(&InMemory(plain), &uniform(), &SealOptions::default(), &path);
        refused.map(drop).unwrap_err().to_string()
    };
    let cut = plain_with(SMALL, |_, column| {
        let Some(Value::Struct(metadata)) = column.get_mut(3) else { return };
        let bytes = metadata.integer(7).unwrap();
        metadata.set(7, Value::I64(bytes - 1));
    });
    let text = refused(&cut);
    assert!(text.ends_with("it ends outside its column"), "{text}");
    let mut long = plain(Shape { has_filter: true, ..SMALL });
    let bits = filter(0).into_bytes();
    let at = long.windows(bits.len()).position(|bytes| bytes == bits).unwrap();
    // Before the bits stands their number, doubled, and the end of the header.
    assert_eq!(long[at - 2..at], [2 * bits.len() as u8, 0]);
    long[at - 2] += 2;
    let text = refused(&long);
    assert!(text.ends_with("it says another length than the filter has"), "{text}");
}

/// A file that is another one each time that it is looked at.
struct Changing<'a>(&'a [u8], AtomicU64);

impl Source for Changing<'_> {
    fn identity(&self) -> io::Result<Identity> {
        let time = self.1.fetch_add(1, Ordering::Relaxed);
        Ok(Identity { version: Version::Object(time.to_string()), ..InMemory(self.0).identity()? })
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        InMemory(self.0).read_exact_at(buffer, offset)
    }
}

#[test]
fn files_that_change_meanwhile() {
    let (plain, (folder, path)) = (plain(SMALL), place());
    let changing = Changing(&plain, AtomicU64::new(0));
    let refused = seal(&changing, &uniform(), &SealOptions::default(), &path);
    assert!(matches!(refused, Err(Error::File(_))), "{refused:?}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    let sealed = sealed(&plain, &uniform(), &SealOptions::default());
    let changing = Changing(&sealed, AtomicU64::new(0));
    let encrypted = Encrypted::read(changing, &uniform(), OpenOptions::default()).unwrap();
    let refused = encrypted.open();
    assert!(matches!(refused, Err(Error::File(_))), "{refused:?}");
}

/// A caller may ask for a row group as often as it likes.
#[test]
fn row_groups_that_are_asked_for_again() {
    let sealed = sealed(&plain(SMALL), &by_column(&[0]), &SealOptions::default());
    let row_groups: Option<&[usize]> = Some(&[1, 0, 1, 1]);
    let options = OpenOptions { row_groups, ..OpenOptions::default() };
    let image = opened(&sealed, &by_column(&[0]), options).unwrap();
    let last = page(SMALL, 1, 1, 3);
    assert_eq!(image.windows(last.len()).filter(|bytes| *bytes == last).count(), 3);
}

proptest! {
    /// What has the keys but was written by anyone: plaintext files whose footers and headers are changed are sealed, or
    /// refused.
    #[test]
    fn changed_plaintext_files(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut plain = plain(SMALL);
        for (at, to) in changes {
            let at = at.index(plain.len());
            plain[at] = to;
        }
        let (_folder, path) = place();
        if seal(&InMemory(&plain), &uniform(), &SealOptions::default(), &path).is_ok() {
            let sealed = fs::read(&path).unwrap();
            let opened = opened(&sealed, &uniform(), OpenOptions::default());
            prop_assert!(!opened.is_err_and(|error| error.is_not_authentic()));
        }
    }
}
