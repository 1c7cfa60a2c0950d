//! A table of a report, and how it is made of figures.

use comfy_table::{CellAlignment, Table, presets};
use lanecrypt_record::{Figure, Part, Record, distinct, groups};

use crate::size::size_name;

/// Rows and columns under a title.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Section {
    /// Of rows that are there already; none without rows.
    pub(crate) fn of<const COLUMNS: usize>(
        title: impl Into<String>,
        note: impl Into<String>,
        header: [&str; COLUMNS],
        rows: Vec<Vec<String>>,
    ) -> Option<Self> {
        let (title, note) = (title.into(), note.into());
        let header = header.map(str::to_owned).to_vec();
        (!rows.is_empty()).then_some(Self { title, note, header, rows })
    }

    pub(crate) fn render(&self, markdown: bool) -> String {
        let mut table = Table::new();
        table.load_style(if markdown {
            presets::ASCII_MARKDOWN
        } else {
            presets::UTF8_FULL_CONDENSED
        });
        table.set_header(&self.header);
        table.add_rows(&self.rows);
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let heading = if markdown { "## " } else { "" };
        let note = if self.note.is_empty() { String::new() } else { format!("{}\n\n", self.note) };
        format!("{heading}{}\n\n{note}{table}\n", self.title)
    }
}

/// Title and note of a table.
pub(crate) enum Texts {
    Fixed(&'static str, &'static str),
    /// By its figures.
    Of(fn(&[&Figure]) -> (String, String)),
}

/// A query over a part of a record: in which table, row and column each figure is, and what its cell says.
/// Tables and rows are in order of first appearance.
pub(crate) struct Query {
    pub(crate) part: Part,
    /// What tells tables apart; a figure without it is in none.
    pub(crate) table: fn(&Record, &Figure) -> Option<String>,
    pub(crate) texts: Texts,
    /// The title of the first column, that of the rows' names.
    pub(crate) corner: &'static str,
    pub(crate) row: fn(&Figure) -> String,
    /// The column's place, and its name; those of one place are in order of first appearance.
    pub(crate) column: fn(&Figure) -> (usize, String),
    pub(crate) cell: fn(&Record, &Figure) -> String,
}

impl Query {
    /// The tables of a record.
    pub(crate) fn tables(&self, record: &Record) -> Vec<Section> {
        let figures = record.part(self.part).iter();
        let kept = figures.filter_map(|f| Some(((self.table)(record, f)?, f)));
        let tables = groups(kept, |(key, _)| key.clone()).into_iter();
        tables
            .map(|(_, figures)| {
                let figures: Vec<&Figure> = figures.into_iter().map(|(_, figure)| figure).collect();
                self.pivot(record, &figures)
            })
            .collect()
    }

    fn pivot(&self, record: &Record, figures: &[&Figure]) -> Section {
        let mut columns = distinct(figures.iter().map(|f| (self.column)(f)));
        columns.sort_by_key(|(place, _)| *place);
        let row = |(name, figures): (String, Vec<&Figure>)| {
            let cell = |column: &(usize, String)| {
                let found = figures.iter().find(|f| (self.column)(f) == *column);
                found.map_or_else(String::new, |f| (self.cell)(record, f))
            };
            let cells: Vec<String> = columns.iter().map(cell).collect();
            std::iter::once(name).chain(cells).collect()
        };
        let rows = groups(figures.iter().copied(), |f| (self.row)(f));
        let (title, note) = match self.texts {
            Texts::Fixed(title, note) => (title.to_owned(), note.to_owned()),
            Texts::Of(texts) => texts(figures),
        };
        let names = columns.iter().map(|(_, name)| name.clone());
        let header = std::iter::once(self.corner.to_owned()).chain(names).collect();
        Section { title, note, header, rows: rows.into_iter().map(row).collect() }
    }
}

/// Of all figures one table.
#[allow(clippy::unnecessary_wraps, reason = "the form of a query")]
pub(crate) fn all(_: &Record, _: &Figure) -> Option<String> {
    Some(String::new())
}

/// A column for each size, in order.
pub(crate) fn by_size(figure: &Figure) -> (usize, String) {
    (figure.bytes, size_name(figure.bytes))
}

/// Gbit/s with about four digits.
pub(crate) fn throughput(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

/// A part, in per cent.
pub(crate) fn percent(part: f64) -> String {
    format!("{:.0}%", 100.0 * part)
}

/// A row's name by its figure's cipher, key and mode.
pub(crate) fn keyed_work(figure: &Figure) -> String {
    format!("{} {}", figure.keyed(), figure.work)
}
