//! Which pieces a Parquet file has that are encrypted one by one, and where each belongs.

use std::fmt;

/// What a module has. The numbers are those of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// The footer.
    Footer = 0,
    /// The metadata of a column in a row group.
    ColumnMetaData = 1,
    /// The values of a page.
    DataPage = 2,
    /// The values of a dictionary.
    DictionaryPage = 3,
    /// What stands before a page of values.
    DataPageHeader = 4,
    /// What stands before a dictionary.
    DictionaryPageHeader = 5,
    /// The least and greatest values of a column's pages.
    ColumnIndex = 6,
    /// Where a column's pages lie.
    OffsetIndex = 7,
    /// What stands before a Bloom filter.
    BloomFilterHeader = 8,
    /// The bits of a Bloom filter.
    BloomFilterBitset = 9,
}

/// Where a module belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// What it has.
    pub kind: Kind,
    /// The number of the row group, from 0; of no meaning for the footer.
    pub row_group: i16,
    /// The number of the column among all of the file, from 0; likewise.
    pub column: i16,
    /// The number of the page among its column's in the row group, from 0, dictionaries not counted; 0 for what is no
    /// page.
    pub page: i16,
}

impl Place {
    /// That of the footer.
    pub const FOOTER: Self = Self { kind: Kind::Footer, row_group: 0, column: 0, page: 0 };

    /// Of the same column and row group, something else.
    #[must_use]
    pub fn with(self, kind: Kind) -> Self {
        Self { kind, page: 0, ..self }
    }

    /// Of the same column and row group, something of the page with this number.
    #[must_use]
    pub fn of_page(self, kind: Kind, page: i16) -> Self {
        Self { kind, page, ..self }
    }

    /// Of the same page its header.
    pub(crate) fn header(self) -> Self {
        let kind = match self.kind {
            Kind::DictionaryPage => Kind::DictionaryPageHeader,
            _ => Kind::DataPageHeader,
        };
        Self { kind, ..self }
    }
}

/// As errors name it, after "the".
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, row_group, column, page } = self;
        match kind {
            Kind::Footer => return f.write_str("footer"),
            Kind::ColumnMetaData => f.write_str("metadata"),
            Kind::DataPage => write!(f, "page {page}"),
            Kind::DictionaryPage => f.write_str("dictionary page"),
            Kind::DataPageHeader => write!(f, "header of page {page}"),
            Kind::DictionaryPageHeader => f.write_str("header of the dictionary page"),
            Kind::ColumnIndex => f.write_str("column index"),
            Kind::OffsetIndex => f.write_str("offset index"),
            Kind::BloomFilterHeader => f.write_str("header of the Bloom filter"),
            Kind::BloomFilterBitset => f.write_str("Bloom filter"),
        }?;
        write!(f, " of column {column} in row group {row_group}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_belong_to_their_pages() {
        let page = |kind| Place { kind, row_group: 1, column: 2, page: 3 };
        let header = |kind| page(kind).header().to_string();
        let place = "of column 2 in row group 1";
        assert_eq!(header(Kind::DataPage), format!("header of page 3 {place}"));
        let of_dictionary = format!("header of the dictionary page {place}");
        assert_eq!(header(Kind::DictionaryPage), of_dictionary);
    }
}
