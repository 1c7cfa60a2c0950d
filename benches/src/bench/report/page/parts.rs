//! Tables of a page, and what it says of runs.

use maud::{Markup, html};

use crate::bench::report::{
    runs::{Run, Runs},
    swap::heat,
    table::{Section, percent},
};

/// The part of a colour that its strongest cell has: text is read on it.
const HOTTEST: f64 = 0.7;
/// Columns with longer texts wrap.
const WORDS: usize = 40;

/// How the cells of a table look.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    Plain,
    /// Those with a part of a hundred are filled to it.
    Bars,
    /// Ratios are coloured by how far they are from 1, with their numbers all the same.
    Heat,
}

/// A table in a box of its own, in which it scrolls where the page is narrow.
pub(crate) fn boxed(table: &Section) -> Markup {
    drawn(table, Look::Plain)
}

/// A table whose parts of a hundred are bars.
pub(crate) fn with_bars(table: &Section) -> Markup {
    drawn(table, Look::Bars)
}

/// A table of ratios in colours.
pub(crate) fn heat_map(table: &Section) -> Markup {
    drawn(table, Look::Heat)
}

fn drawn(Section { header, rows, .. }: &Section, look: Look) -> Markup {
    let is_heat = look == Look::Heat;
    let class = |column| class(rows, column).filter(|_| !is_heat);
    let classes: Vec<_> = (0..header.len()).map(class).collect();
    html! {
        div.scroll tabindex="0" {
            table class=[is_heat.then_some("heat")] {
                thead { tr { @for (title, class) in header.iter().zip(&classes) { th class=[class] { (title) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (i, (text, class)) in row.iter().zip(&classes).enumerate() {
                                @if is_heat && i == 0 { th { (text) } } @else { (cell(text, *class, look)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(text: &str, class: Option<&str>, look: Look) -> Markup {
    let share = text.strip_suffix('%').and_then(|share| share.parse::<f64>().ok());
    html! {
        @if let (Look::Bars, Some(share)) = (look, share) {
            td.share style={ "--share:" (percent(share.min(100.0) / 100.0)) } { (text) }
        } @else if let (Look::Heat, Some((is_loss, strength))) = (look, heat(text)) {
            td class=(if is_loss { "loss" } else { "gain" }) style={ "--heat:" (percent(HOTTEST * strength)) } { (text) }
        } @else { td class=[class] { (text) } }
    }
}

/// How a column is set: numbers to the right, long texts in lines.
fn class(rows: &[Vec<String>], column: usize) -> Option<&'static str> {
    let is_number = |cell: &str| {
        let first = cell.split([' ', '/']).next().unwrap_or_default();
        first.trim_end_matches('%').parse::<f64>().is_ok()
    };
    let cells = || rows.iter().map(|row| row[column].as_str()).filter(|cell| !cell.is_empty());
    if cells().any(|cell| cell.len() > WORDS) {
        Some("words")
    } else {
        (cells().next().is_some() && cells().all(is_number)).then_some("number")
    }
}

/// A table with a name and what its figures mean before it.
pub(crate) fn captioned(caption: &str, table: &Section) -> Markup {
    html! {
        p { strong { (caption) } ". " (table.note) }
        (boxed(table))
    }
}

/// What marks figures of a run that is not one of those asked for.
pub(crate) fn stand_in(run: Option<&Run>) -> Markup {
    html! {
        @if let Some(run) = run.filter(|run| run.is_stand_in) {
            @let environment = &run.record.environment;
            p.stand-in {
                "Not of this run, which measured no GPU: the newest recorded figures of another machine, "
                (environment.gpu) ", " (environment.date) " at the latest."
            }
        }
    }
}

/// Date and commit of a run.
pub(crate) fn label(run: &Run) -> String {
    let environment = &run.record.environment;
    format!("{} {}", environment.date, environment.commit)
}

/// Those of all runs.
pub(crate) fn labels(runs: &Runs) -> Vec<String> {
    runs.all().iter().map(label).collect()
}
