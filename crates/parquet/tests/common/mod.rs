//! Plaintext Parquet files of numbers, written by hand: a column of 64-bit integers is a page of their bytes.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::PathBuf;

use lanecrypt_parquet::{
    Encrypted, Error, InMemory, Key, Keys, OpenOptions, SealOptions, seal,
    thrift::{List, Struct, Value, read_struct, write_struct},
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
    /// Whether columns have a column index and an offset index.
    pub(crate) has_index: bool,
    /// Whether columns have a Bloom filter.
    pub(crate) has_filter: bool,
    /// Whether columns begin with a page of another kind.
    pub(crate) has_dictionary: bool,
    /// Bytes of a field of page headers that no reader knows.
    pub(crate) header_bytes: usize,
}

pub(crate) const SMALL: Shape = Shape {
    row_groups: 2,
    columns: 3,
    pages: 4,
    values: 50,
    has_index: true,
    has_filter: false,
    has_dictionary: false,
    header_bytes: 0,
};

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
            if shape.has_dictionary {
                write_struct(&dictionary_header(DICTIONARY.len()), &mut file);
                file.extend(DICTIONARY);
            }
            let values_at = file.len();
            for number in 0..shape.pages {
                let (at, bytes) = (file.len(), page(shape, group, column, number));
                write_struct(&header(shape, bytes.len()), &mut file);
                file.extend(bytes);
                locations.push(fields([
                    (1, long(at)),
                    (2, short(file.len() - at)),
                    (3, long(number * shape.values)),
                ]));
            }
            let bytes = file.len() - start;
            let mut chunk = chunk(shape, column, [start, values_at], bytes);
            change(column, &mut chunk);
            columns.push(chunk);
            indexes.push(fields([(1, Value::List(List::of_structures(locations)))]));
        }
        groups.push(columns);
    }
    for ((number, chunk), index) in (0..).zip(groups.iter_mut().flatten()).zip(indexes) {
        if shape.has_index {
            let places = [(4, index), (6, column_index(number % shape.columns))];
            for (field, index) in places {
                let at = file.len();
                write_struct(&index, &mut file);
                chunk.set(field, long(at));
                chunk.set(field + 1, short(file.len() - at));
            }
        }
        if shape.has_filter {
            let at = file.len();
            write_filter(number % shape.columns, &mut file);
            let Some(Value::Struct(metadata)) = chunk.get_mut(3) else { continue };
            metadata.set(14, long(at));
            metadata.set(15, short(file.len() - at));
        }
    }
    let rows = shape.pages * shape.values;
    let groups = groups.into_iter().map(|columns: Vec<Struct>| {
        let metadata = columns.iter().filter_map(|column| column.structure(3));
        let bytes = metadata.filter_map(|metadata| metadata.integer(6)).sum();
        fields([
            (1, Value::List(List::of_structures(columns))),
            (2, Value::I64(bytes)),
            (3, long(rows)),
        ])
    });
    let start = file.len();
    let metadata = fields([
        (1, Value::I32(2)),
        (2, Value::List(List::of_structures(schema(shape.columns)))),
        (3, long(rows * shape.row_groups)),
        (4, Value::List(List::of_structures(groups))),
        (5, Value::List(List::of_structures([pair("ARROW:schema"), pair("kept")]))),
        (6, text("a test")),
        (7, Value::List(List::of_structures((0..shape.columns).map(order)))),
    ]);
    write_struct(&metadata, &mut file);
    let length = (file.len() - start) as u32;
    file.extend(length.to_le_bytes());
    file.extend(b"PAR1");
    file
}

/// What statistics and indexes tell of a column.
pub(crate) fn least(column: usize) -> String {
    format!("the least value of column {column}")
}

/// The bits of a column's Bloom filter.
pub(crate) fn filter(column: usize) -> String {
    format!("filter of column {column}, 256 bits")
}

fn column_index(column: usize) -> Struct {
    fields([(2, Value::List(List::of_binaries([least(column).into_bytes()])))])
}

fn write_filter(column: usize, file: &mut Vec<u8>) {
    let bits = filter(column);
    write_struct(&fields([(1, short(bits.len()))]), file);
    file.extend(bits.as_bytes());
}

/// What a plaintext file tells of each column beside its pages, by row groups: statistics, column index, Bloom filter.
pub(crate) fn told(file: &[u8]) -> Vec<[Option<Vec<u8>>; 3]> {
    let groups = footer(file);
    let chunks = groups.structures(4).flat_map(|group| group.structures(1));
    let of_chunk = |chunk: &Struct| {
        let metadata = chunk.structure(3).expect("it is not encrypted");
        let part = |at: Option<usize>, bytes: Option<usize>| Some(file[at?..][..bytes?].to_vec());
        let statistics = metadata.structure(12).map(|statistics| {
            let mut bytes = Vec::new();
            write_struct(statistics, &mut bytes);
            bytes
        });
        [
            statistics,
            part(number(chunk, 6), number(chunk, 7)),
            part(number(metadata, 14), number(metadata, 15)),
        ]
    };
    chunks.map(of_chunk).collect()
}

const DICTIONARY: &[u8; 24] = b"three numbers of 64 bits";

fn dictionary_header(bytes: usize) -> Struct {
    let of_page = fields([(1, short(bytes / 8)), (2, Value::I32(0))]);
    let bytes = short(bytes);
    fields([(1, Value::I32(2)), (2, bytes.clone()), (3, bytes), (7, Value::Struct(of_page))])
}

fn header(shape: Shape, bytes: usize) -> Struct {
    let values = short(shape.values);
    let (plain, levels) = (Value::I32(0), Value::I32(3));
    let of_page = fields([(1, values), (2, plain), (3, levels.clone()), (4, levels)]);
    let bytes = short(bytes);
    let mut header =
        fields([(1, Value::I32(0)), (2, bytes.clone()), (3, bytes), (5, Value::Struct(of_page))]);
    if shape.header_bytes > 0 {
        header.set(100, Value::Binary(vec![b'-'; shape.header_bytes]));
    }
    header
}

fn chunk(shape: Shape, column: usize, [start, values_at]: [usize; 2], bytes: usize) -> Struct {
    let path = List::of_binaries([name(column).into_bytes()]);
    let mut metadata = fields([
        (1, Value::I32(2)), // 64-bit integers
        (2, Value::List(List::of_i32([0]))),
        (3, Value::List(path)),
        (4, Value::I32(0)), // not compressed
        (5, long(shape.pages * shape.values)),
        (6, long(bytes)),
        (7, long(bytes)),
        (9, long(values_at)),
        (12, Value::Struct(fields([(6, text(&least(column)))]))),
    ]);
    if shape.has_dictionary {
        metadata.set(11, long(start));
    }
    fields([(2, Value::I64(0)), (3, Value::Struct(metadata))])
}

fn schema(columns: usize) -> Vec<Struct> {
    let root = fields([(4, text("schema")), (5, short(columns))]);
    let leaf = |column| fields([(1, Value::I32(2)), (3, Value::I32(0)), (4, text(&name(column)))]);
    [root].into_iter().chain((0..columns).map(leaf)).collect()
}

fn pair(key: &str) -> Struct {
    fields([(1, text(key)), (2, text("its value"))])
}

/// How a column is ordered, told apart from others by a field that no reader knows.
fn order(column: usize) -> Struct {
    fields([(1, Value::Struct(Struct::default())), (100, short(column))])
}

/// Where the footer of a file starts.
pub(crate) fn footer_at(file: &[u8]) -> usize {
    let end = file.len() - 8;
    end - u32::from_le_bytes(file[end..end + 4].try_into().expect("four bytes")) as usize
}

/// The footer of a plaintext file.
pub(crate) fn footer(file: &[u8]) -> Struct {
    read_struct(&file[footer_at(file)..file.len() - 8]).expect("a footer").0
}

/// A number of a structure, if it has it.
fn number(fields: &Struct, id: i16) -> Option<usize> {
    fields.integer(id).and_then(|number| usize::try_from(number).ok())
}

/// Whether the pages of a plaintext file are where its footer and its indexes say.
pub(crate) fn assert_consistent(file: &[u8]) {
    for group in footer(file).structures(4) {
        let chunks: Vec<_> = group.structures(1).map(|chunk| of_chunk(file, chunk)).collect();
        let [bytes, uncompressed] =
            [1, 2].map(|field| chunks.iter().map(|chunk| chunk[field]).sum::<usize>());
        assert_eq!(number(group, 2), Some(uncompressed));
        assert_eq!(number(group, 6).unwrap_or(bytes), bytes);
        assert_eq!(number(group, 5).unwrap_or(chunks[0][0]), chunks[0][0]);
    }
}

/// Where a column starts, its bytes, and those that it has uncompressed, as it says and as its pages are.
fn of_chunk(file: &[u8], chunk: &Struct) -> [usize; 3] {
    let metadata = chunk.structure(3).expect("it is not encrypted");
    let [values_at, bytes] = [9, 7].map(|field| number(metadata, field).expect("it says so"));
    let dictionary = number(metadata, 11);
    let start = dictionary.unwrap_or(values_at);
    let (mut at, mut uncompressed, mut pages) = (start, 0, Vec::new());
    while at < start + bytes {
        let (header, header_bytes) = read_struct(&file[at..]).expect("a header");
        let [of_page, of_text] = [3, 2].map(|field| number(&header, field).expect("it says so"));
        let is_dictionary = header.integer(1) == Some(2);
        assert_eq!(is_dictionary, dictionary == Some(at));
        if !is_dictionary {
            pages.push((Some(at), Some(header_bytes + of_page)));
        }
        uncompressed += header_bytes + of_text;
        at += header_bytes + of_page;
    }
    assert_eq!(at, start + bytes, "the last page ends with the column");
    let first = pages.first().map_or(Some(values_at), |(at, _)| *at);
    assert_eq!(first, Some(values_at), "values begin with their first page");
    if let [Some(at), Some(length)] = [4, 5].map(|field| number(chunk, field)) {
        let (index, read) = read_struct(&file[at..]).expect("an index");
        assert_eq!(read, length);
        let said = index.structures(1).map(|page| (number(page, 1), number(page, 2)));
        assert_eq!(said.collect::<Vec<_>>(), pages);
    }
    assert_eq!(number(metadata, 6), Some(uncompressed));
    [start, bytes, uncompressed]
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
