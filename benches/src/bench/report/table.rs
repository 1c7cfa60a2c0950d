//! A table of a report, and how it is made of figures.

use comfy_table::{CellAlignment, Table, presets};
use lanecrypt_record::{Figure, distinct};

/// Rows and columns under a title.
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Section {
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

/// A query over figures: which row and which column each is in, and what its cell says.
pub(crate) struct Query<'a, Column> {
    pub(crate) title: String,
    pub(crate) note: &'static str,
    /// The title of the first column, that of the rows' names.
    pub(crate) corner: &'a str,
    pub(crate) row: &'a dyn Fn(&Figure) -> String,
    pub(crate) column: &'a dyn Fn(&Figure) -> Column,
    pub(crate) column_name: &'a dyn Fn(&Column) -> String,
    pub(crate) cell: &'a dyn Fn(&Figure) -> String,
}

impl<Column: PartialEq> Query<'_, Column> {
    /// The table, with rows and columns in order of first appearance; none of no figures.
    pub(crate) fn of<'f>(&self, figures: impl IntoIterator<Item = &'f Figure>) -> Option<Section> {
        self.with(figures, |columns| columns)
    }

    /// The same with columns in order.
    pub(crate) fn sorted<'f>(
        &self,
        figures: impl IntoIterator<Item = &'f Figure>,
    ) -> Option<Section>
    where
        Column: Ord,
    {
        self.with(figures, |mut columns| {
            columns.sort();
            columns
        })
    }

    fn with<'f>(
        &self,
        figures: impl IntoIterator<Item = &'f Figure>,
        order: impl Fn(Vec<Column>) -> Vec<Column>,
    ) -> Option<Section> {
        let figures: Vec<&Figure> = figures.into_iter().collect();
        let columns = order(distinct(figures.iter().map(|figure| (self.column)(figure))));
        let row = |name: String| {
            let cell = |column: &Column| {
                let is_it = |f: &&&Figure| (self.row)(f) == name && (self.column)(f) == *column;
                figures.iter().find(is_it).map_or_else(String::new, |figure| (self.cell)(figure))
            };
            let cells: Vec<String> = columns.iter().map(cell).collect();
            std::iter::once(name).chain(cells).collect()
        };
        let names = distinct(figures.iter().map(|figure| (self.row)(figure)));
        let titles = columns.iter().map(self.column_name);
        (!figures.is_empty()).then(|| Section {
            title: self.title.clone(),
            note: self.note.into(),
            header: std::iter::once(self.corner.to_owned()).chain(titles).collect(),
            rows: names.into_iter().map(row).collect(),
        })
    }
}

/// Gbit/s with about four digits.
pub(crate) fn throughput(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

/// A size in bytes, by reference as columns want it.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the form of a query")]
pub(crate) fn size(bytes: &usize) -> String {
    crate::size::size_name(*bytes)
}

/// A row's name by its figure's cipher, key and mode.
pub(crate) fn keyed_work(figure: &Figure) -> String {
    format!("{} {}", figure.keyed(), figure.work)
}
