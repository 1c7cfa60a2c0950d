//! Where columns lie: in the file that is read, as its footer says, and in the one that is written, which both ways, opening
//! and sealing, say in the same words.

use std::ops::Range;

use crate::{
    Error, Place,
    fields::{chunk, column, offset_index, row_group},
    module::ordinal,
    thrift::{List, Struct, Value, read_struct, write_struct},
};

/// Where the pages of a column lie, by `ColumnMetaData`, and whether the first of them is a dictionary.
///
/// # Errors
/// [`Error::Module`] where it does not say so, or they are outside a file of `size` bytes.
pub(crate) fn stretch(
    metadata: &Struct,
    place: Place,
    size: u64,
) -> Result<(Range<u64>, bool), Error> {
    let wrong = |what| move || Error::Module { place, what };
    let field = |id| metadata.integer(id).and_then(|value| u64::try_from(value).ok());
    let missing = wrong("it does not say where its pages are");
    let values = field(column::DATA_PAGE_OFFSET).ok_or_else(missing)?;
    let bytes = field(column::TOTAL_COMPRESSED).ok_or_else(missing)?;
    let dictionary = field(column::DICTIONARY_PAGE_OFFSET).filter(|&at| at > 0);
    // A column without values has a dictionary, and pages of values nowhere.
    let start = dictionary.map_or(values, |at| if values > 0 { at.min(values) } else { at });
    let end = start.checked_add(bytes).filter(|&end| end <= size);
    let end = end.ok_or_else(wrong("its pages are outside the file"))?;
    Ok((start..end, dictionary.is_some()))
}

/// Where the bytes are that two integers of a footer name, and how many, if a file of `size` bytes has them.
pub(crate) fn inside([at, bytes]: [i64; 2], size: u64) -> Option<(u64, u64)> {
    let (at, bytes) = (u64::try_from(at).ok()?, u64::try_from(bytes).ok()?);
    (at.checked_add(bytes)? <= size).then_some((at, bytes))
}

/// The bytes of a file that no column was found to have. No two columns have the same, since a short file could else name
/// its bytes once for each, and what comes of it would be as many times as long.
pub(crate) struct Unclaimed(u64);

impl Unclaimed {
    /// All of a file of `size` bytes from which every row group is taken at most this number of times.
    pub(crate) fn new(size: u64, times: u64) -> Self {
        Self(size.saturating_mul(times))
    }

    /// Gives a column its pages, which lie there, and its indexes.
    ///
    /// # Errors
    /// [`Error::Module`] where the file has fewer bytes.
    pub(crate) fn take(
        &mut self,
        pages: &Range<u64>,
        outer: &Struct,
        metadata: &Struct,
        place: Place,
    ) -> Result<(), Error> {
        let indexes = [
            outer.integer(chunk::COLUMN_INDEX_LENGTH),
            outer.integer(chunk::OFFSET_INDEX_LENGTH),
            metadata.integer(column::BLOOM_FILTER_LENGTH),
        ];
        let indexes = indexes.into_iter().flatten().filter_map(|bytes| u64::try_from(bytes).ok());
        let bytes = indexes.fold(pages.end - pages.start, u64::saturating_add);
        let what = "with the columns before it, it has more bytes than the file";
        self.0 = self.0.checked_sub(bytes).ok_or(Error::Module { place, what })?;
        Ok(())
    }
}

/// Bytes that are the same in both files.
#[derive(Clone, Copy)]
pub(crate) struct Copied {
    /// Where they start in the file that is read.
    pub(crate) from: u64,
    pub(crate) bytes: u64,
    /// Where they start in the one that is written.
    pub(crate) to: u64,
}

/// Where a column of one row group lies in the file that is written.
#[derive(Default)]
pub(crate) struct Placed {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Where the first page of values starts, and its header.
    pub(crate) values_at: u64,
    pub(crate) has_dictionary: bool,
    /// Bytes of all pages before compression, headers included.
    pub(crate) uncompressed: i64,
    /// Where pages of values start, with their headers, and how long they are with them; none where the column stays as it
    /// is, elsewhere.
    pub(crate) locations: Vec<(u64, u64)>,
}

impl Placed {
    /// Of a column that is not encrypted in either file, at `start`; with the copy that takes it there.
    ///
    /// # Errors
    /// [`Error::TooLong`] where the file that is written has no such places.
    pub(crate) fn copied(
        metadata: &Struct,
        from: &Range<u64>,
        has_dictionary: bool,
        start: u64,
        place: Place,
    ) -> Result<(Self, Copied), Error> {
        let values = metadata.integer(column::DATA_PAGE_OFFSET).unwrap_or(0);
        let values = u64::try_from(values).unwrap_or(0).saturating_sub(from.start);
        let bytes = from.end - from.start;
        let at = |bytes| start.checked_add(bytes).ok_or(Error::TooLong { place });
        let placed = Self {
            start,
            end: at(bytes)?,
            values_at: at(values)?,
            has_dictionary,
            uncompressed: metadata.integer(column::TOTAL_UNCOMPRESSED).unwrap_or(0),
            locations: Vec::new(),
        };
        Ok((placed, Copied { from: from.start, bytes, to: start }))
    }

    /// Adds a page with its header.
    pub(crate) fn push(&mut self, bytes: Range<u64>, is_dictionary: bool, uncompressed: i64) {
        self.end = bytes.end;
        self.uncompressed = self.uncompressed.saturating_add(uncompressed);
        self.has_dictionary |= is_dictionary;
        if !is_dictionary {
            self.locations.push((bytes.start, bytes.end - bytes.start));
        }
        self.values_at = self.locations.first().map_or(self.end, |(at, _)| *at);
    }

    /// Says so in `ColumnMetaData`.
    pub(crate) fn say(&self, metadata: &mut Struct) {
        let at = |at: u64| Value::I64(at.cast_signed());
        metadata.set(column::TOTAL_COMPRESSED, at(self.end - self.start));
        metadata.set(column::TOTAL_UNCOMPRESSED, Value::I64(self.uncompressed));
        metadata.set(column::DATA_PAGE_OFFSET, at(self.values_at));
        metadata.remove(column::INDEX_PAGE_OFFSET);
        metadata.remove(column::DICTIONARY_PAGE_OFFSET);
        if self.has_dictionary {
            metadata.set(column::DICTIONARY_PAGE_OFFSET, at(self.start));
        }
    }

    /// An offset index in which pages are where they lie now; `was_at` is where the column started that stays as it is.
    ///
    /// # Errors
    /// [`Error::Thrift`], [`Error::Module`], [`Error::TooLong`].
    pub(crate) fn relocated(
        &self,
        index: &[u8],
        place: Place,
        was_at: Option<u64>,
    ) -> Result<Vec<u8>, Error> {
        let (mut fields, _) = read_struct(index).map_err(Error::of_thrift(place))?;
        let locations: &mut [Value] = match fields.get_mut(offset_index::LOCATIONS) {
            Some(Value::List(list)) => &mut list.items,
            _ => &mut [],
        };
        let what = "it has another number of pages than its column";
        let wrong = || Error::Module { place, what };
        if was_at.is_none() && locations.len() != self.locations.len() {
            return Err(wrong());
        }
        for (number, location) in locations.iter_mut().enumerate() {
            let Value::Struct(location) = location else { return Err(wrong()) };
            if let Some(was_at) = was_at {
                let at = location.integer(offset_index::OFFSET).ok_or_else(wrong)?;
                let shift = self.start.wrapping_sub(was_at).cast_signed();
                location.set(offset_index::OFFSET, Value::I64(at.wrapping_add(shift)));
                continue;
            }
            let (at, bytes) = self.locations[number];
            let bytes = i32::try_from(bytes).map_err(|_| Error::TooLong { place })?;
            location.set(offset_index::OFFSET, Value::I64(at.cast_signed()));
            location.set(offset_index::BYTES, Value::I32(bytes));
        }
        let mut written = Vec::with_capacity(index.len());
        write_struct(&fields, &mut written);
        Ok(written)
    }
}

/// `RowGroup` of the file that is written, with the number that it has there, and its columns where they lie.
///
/// # Errors
/// [`Error::TooMany`].
pub(crate) fn row_group<'a>(
    mut group: Struct,
    number: usize,
    columns: Vec<Struct>,
    placed: impl Iterator<Item = &'a Placed>,
) -> Result<Struct, Error> {
    let (mut start, mut compressed, mut uncompressed) = (None, 0_u64, 0_i64);
    for placed in placed {
        start.get_or_insert(placed.start);
        compressed = compressed.saturating_add(placed.end - placed.start);
        uncompressed = uncompressed.saturating_add(placed.uncompressed);
    }
    group.set(row_group::COLUMNS, Value::List(List::of_structures(columns)));
    group.set(row_group::TOTAL_BYTES, Value::I64(uncompressed));
    group.set(row_group::TOTAL_COMPRESSED, Value::I64(compressed.cast_signed()));
    if let Some(start) = start {
        group.set(row_group::FILE_OFFSET, Value::I64(start.cast_signed()));
    }
    group.set(row_group::ORDINAL, Value::I16(ordinal("row groups", number)?));
    Ok(group)
}
