//! Plaintext Parquet files of numbers, written by hand: a column of 64-bit integers is a page of their bytes.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::PathBuf;

use lanecrypt_parquet::{
    Encrypted, Error, InMemory, Key, Keys, OpenOptions, SealOptions, seal,
    thrift::{List, Struct, Value, write_struct},
};

/// What a file has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) row_groups: usize,
    pub(crate) columns: usize,
    /// Pages of a column in a row group.
    pub(crate) pages: usize,
    /// Values of a page.
    pub(crate) values: usize,
    pub(crate) has_index: bool,
}

pub(crate) const SMALL: Shape =
    Shape { row_groups: 2, columns: 3, pages: 4, values: 50, has_index: true };

fn fields<const N: usize>(fields: [(i16, Value); N]) -> Struct {
    fields.into_iter().collect()
}

fn long(number: usize) -> Value {
    Value::I64(i64::try_from(number).expect("files of tests are small"))
}

fn short(number: usize) -> Value {
    Value::I32(i32::try_from(number).expect("files of tests are small"))
}

fn text(text: &str) -> Value {
    Value::Binary(text.as_bytes().to_vec())
}

/// The name of a column.
pub(crate) fn name(column: usize) -> String {
    format!("column_{column}")
}

/// The bytes of a page.
pub(crate) fn page(shape: Shape, group: usize, column: usize, page: usize) -> Vec<u8> {
    let first = ((group * shape.columns + column) * shape.pages + page) * shape.values;
    (0..shape.values).flat_map(|i| ((first + i) as u64).to_le_bytes()).collect()
}

/// A plaintext file.
pub(crate) fn plain(shape: Shape) -> Vec<u8> {
    plain_with(shape, |_, _| ())
}

/// A plaintext file whose footer says something else of columns, which are given by their numbers.
pub(crate) fn plain_with(shape: Shape, change: impl Fn(usize, &mut Struct)) -> Vec<u8> {
    let mut file = b"PAR1".to_vec();
    let mut groups = Vec::new();
    let mut indexes = Vec::new();
    for group in 0..shape.row_groups {
        let mut columns = Vec::new();
        for column in 0..shape.columns {
            let start = file.len();
            let mut locations = Vec::new();
            for number in 0..shape.pages {
                let (at, bytes) = (file.len(), page(shape, group, column, number));
                write_struct(&header(shape.values, bytes.len()), &mut file);
                file.extend(bytes);
                locations.push(fields([
                    (1, long(at)),
                    (2, short(file.len() - at)),
                    (3, long(number * shape.values)),
                ]));
            }
            let bytes = file.len() - start;
            let mut chunk = chunk(shape, column, start, bytes);
            change(column, &mut chunk);
            columns.push(chunk);
            indexes.push(fields([(1, Value::List(List::of_structures(locations)))]));
        }
        groups.push(columns);
    }
    let mut indexes = indexes.into_iter();
    for column in groups.iter_mut().flatten() {
        let Some(index) = indexes.next().filter(|_| shape.has_index) else { continue };
        let at = file.len();
        write_struct(&index, &mut file);
        column.set(4, long(at));
        column.set(5, short(file.len() - at));
    }
    let rows = shape.pages * shape.values;
    let groups = groups.into_iter().map(|columns| {
        fields([
            (1, Value::List(List::of_structures(columns))),
            (2, long(8 * rows * shape.columns)),
            (3, long(rows)),
        ])
    });
    let start = file.len();
    let metadata = fields([
        (1, Value::I32(2)),
        (2, Value::List(List::of_structures(schema(shape.columns)))),
        (3, long(rows * shape.row_groups)),
        (4, Value::List(List::of_structures(groups))),
        (6, text("a test")),
    ]);
    write_struct(&metadata, &mut file);
    let length = (file.len() - start) as u32;
    file.extend(length.to_le_bytes());
    file.extend(b"PAR1");
    file
}

fn header(values: usize, bytes: usize) -> Struct {
    let values = short(values);
    let (plain, levels) = (Value::I32(0), Value::I32(3));
    let of_page = fields([(1, values), (2, plain), (3, levels.clone()), (4, levels)]);
    let bytes = short(bytes);
    fields([(1, Value::I32(0)), (2, bytes.clone()), (3, bytes), (5, Value::Struct(of_page))])
}

fn chunk(shape: Shape, column: usize, start: usize, bytes: usize) -> Struct {
    let path = List::of_binaries([name(column).into_bytes()]);
    let metadata = fields([
        (1, Value::I32(2)), // 64-bit integers
        (2, Value::List(List::of_i32([0]))),
        (3, Value::List(path)),
        (4, Value::I32(0)), // not compressed
        (5, long(shape.pages * shape.values)),
        (6, long(bytes)),
        (7, long(bytes)),
        (9, long(start)),
    ]);
    fields([(2, Value::I64(0)), (3, Value::Struct(metadata))])
}

fn schema(columns: usize) -> Vec<Struct> {
    let root = fields([(4, text("schema")), (5, short(columns))]);
    let leaf = |column| fields([(1, Value::I32(2)), (3, Value::I32(0)), (4, text(&name(column)))]);
    [root].into_iter().chain((0..columns).map(leaf)).collect()
}

/// A key of this number of bytes.
pub(crate) fn key(byte: u8, bytes: usize) -> Key {
    Key::new(&vec![byte; bytes]).expect("a length that AES has")
}

/// One key for all.
pub(crate) fn uniform() -> Keys {
    Keys::uniform(key(7, 32))
}

/// A key for the footer and one for each of these columns.
pub(crate) fn by_column(columns: &[usize]) -> Keys {
    let own =
        columns.iter().map(|&column| (name(column), key(column as u8, 16 + 8 * (column % 3))));
    Keys { footer: key(7, 16), columns: own.collect() }
}

/// A folder for a test, with a file of this name in it.
pub(crate) fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sealed");
    (folder, path)
}

/// A file, sealed.
pub(crate) fn sealed(plain: &[u8], keys: &Keys, options: &SealOptions) -> Vec<u8> {
    let (_folder, path) = place();
    let bytes = seal(&InMemory(plain), keys, options, &path).expect("a plaintext file");
    let sealed = std::fs::read(&path).expect("it is there");
    assert_eq!(sealed.len() as u64, bytes);
    sealed
}

/// A file, opened.
pub(crate) fn opened(
    sealed: &[u8],
    keys: &Keys,
    options: OpenOptions<'_>,
) -> Result<Vec<u8>, Error> {
    Encrypted::read(InMemory(sealed), keys, options)?.open()
}
