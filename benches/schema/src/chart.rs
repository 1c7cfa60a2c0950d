//! Line charts, on a page or each in a file of its own, with the value of each point under the pointer.

use maud::{Markup, html};

use crate::{
    axis::{Axis, range},
    svg::{self, px, text},
};

/// The picture's own units, which the page scales to its width.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = WIDTH - 18.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = HEIGHT - 40.0;
/// Above the picture and below it, in a file of its own: title, and a row of the legend.
const TITLE: f64 = 34.0;
const LEGEND: f64 = 20.0;
/// Letters of a name that half the width of a file has room for.
const HALF: usize = 40;
/// Colours that the style has; further lines are dashed.
const COLOURS: usize = 8;
/// Ways of dashing that the style has, the first of them none.
const DASHES: usize = 7;
/// Labels of marks that are longer than this stand along their lines, so that neighbours do not meet.
const SHORT: usize = 10;
/// Labels that have room below a picture on a phone.
const MOST_SIZES: u32 = 5;

/// A line through points of size and value.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is of.
    pub name: String,
    /// Its colour and how it is dashed: the same number for the same thing in every chart.
    pub look: usize,
    /// Sizes and values.
    pub points: Vec<(f64, f64)>,
}

/// What lies across a chart.
#[derive(Clone, Copy, Debug)]
pub struct Across {
    /// How a size is written.
    pub name: fn(f64) -> String,
    /// What the sizes are, where that does not say it.
    pub caption: &'static str,
}

/// A picture over sizes, which are on a logarithmic axis.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Above it.
    pub title: String,
    /// What the sizes are.
    pub across: Across,
    /// The unit of the values.
    pub unit: &'static str,
    /// Whether the values are on a logarithmic axis too.
    pub is_logarithmic: bool,
    /// In any order.
    pub lines: Vec<Line>,
    /// Sizes with a line across, and what happens there.
    pub marks: Vec<(f64, String)>,
    /// Sizes between which the ground is shaded.
    pub shaded: Vec<(f64, f64)>,
}

impl Chart {
    /// With values on a logarithmic axis, without marks.
    #[must_use]
    pub fn new(title: String, across: Across, unit: &'static str, lines: Vec<Line>) -> Self {
        let (marks, shaded) = (Vec::new(), Vec::new());
        Self { title, across, unit, is_logarithmic: true, lines, marks, shaded }
    }

    /// The lines from left to right, highest first, and the axes; none where there is nothing to draw a line
    /// through.
    fn sort(&mut self) -> Option<[Axis; 2]> {
        self.lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
        self.lines.retain(|line| !line.points.is_empty());
        let last = |line: &Line| line.points.last().map_or(0.0, |point| point.1);
        self.lines.sort_by(|a, b| last(b).total_cmp(&last(a)));
        let points = || self.lines.iter().flat_map(|line| line.points.iter());
        let sizes = points().map(|point| point.0).chain(self.marks.iter().map(|mark| mark.0));
        let sizes = Some(range(sizes)).filter(|(from, to)| from < to)?;
        let values = points().map(|point| point.1);
        let values = Axis::with_room(values, (BOTTOM, TOP), self.is_logarithmic)?;
        Some([Axis::new(sizes, (LEFT, RIGHT), true), values])
    }

    /// The text of a file with title and legend; none where there is nothing to draw a line through.
    #[must_use]
    pub fn file(mut self) -> Option<String> {
        let axes = self.sort()?;
        let beside = if self.lines.iter().any(|line| line.name.len() > HALF) { 1 } else { 2 };
        let rows = self.lines.len().div_ceil(beside) as f64;
        let content = html! {
            (text("title", (8.0, -12.0), &self.title))
            (self.content(&axes))
            @for (i, line) in self.lines.iter().enumerate() {
                @let x = 8.0 + (i % beside) as f64 * WIDTH / beside as f64;
                @let y = HEIGHT + LEGEND * (i / beside) as f64 + 6.0;
                g class="key" {
                    line class=(class(line.look)) x1=(x) y1=(y) x2=(x + 28.0) y2=(y) {}
                }
                (text("name", (x + 34.0, y + 4.0), &line.name))
            }
        };
        let size = (WIDTH, TITLE + HEIGHT + LEGEND * rows + 6.0);
        Some(svg::file((&self.title, ""), -TITLE, size, &content))
    }

    /// The figure of a page, with its legend; none where there is nothing to draw a line through.
    #[must_use]
    pub fn figure(mut self) -> Option<Markup> {
        let axes = self.sort()?;
        Some(html! {
            figure {
                figcaption { (self.title) }
                svg class="chart" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(self.title) {
                    (self.content(&axes))
                }
                ul.legend {
                    @for line in &self.lines {
                        li {
                            svg class="key" viewBox="0 0 28 10" aria-hidden="true" {
                                line class=(class(line.look)) x1="0" y1="5" x2="28" y2="5" {}
                            }
                            (line.name)
                        }
                    }
                }
            }
        })
    }

    /// Axes, marks and lines.
    fn content(&self, axes: &[Axis; 2]) -> Markup {
        let [sizes, values] = axes;
        html! {
            @for &(from, to) in &self.shaded {
                @let (from, to) = (sizes.at(from), sizes.at(to));
                (svg::bar("shade", (from, TOP), (to - from, BOTTOM - TOP)))
            }
            @for value in values.round_values() {
                @let y = values.at(value);
                line class="grid" x1=(LEFT) y1=(px(y)) x2=(RIGHT) y2=(px(y)) {}
                (text("at-left", (LEFT - 6.0, y), number(value)))
            }
            @for size in sizes.powers_of_two(MOST_SIZES) {
                @let x = sizes.at(size);
                line class="grid" x1=(px(x)) y1=(TOP) x2=(px(x)) y2=(BOTTOM) {}
                (text(anchor(x), (x, HEIGHT - 12.0), (self.across.name)(size)))
            }
            (text("unit", (4.0, 20.0), self.unit))
            @for (size, what) in &self.marks {
                @let at = sizes.at(*size);
                @let x = px(at);
                line class="mark" x1=(x) y1=(TOP) x2=(x) y2=(BOTTOM) { title { (what) } }
                @if what.len() > SHORT {
                    text x=(x) y=(TOP) transform={ "rotate(90 " (x) " " (TOP) ") translate(6 -5)" } { (what) }
                } @else {
                    (text(anchor(at), (at, 20.0), what))
                }
            }
            @for line in &self.lines { (self.line(axes, line)) }
            @if !self.across.caption.is_empty() { (text("at-end", (RIGHT, 20.0), self.across.caption)) }
        }
    }

    fn line(&self, [sizes, values]: &[Axis; 2], line: &Line) -> Markup {
        let at = |&(size, value): &(f64, f64)| (px(sizes.at(size)), px(values.at(value)));
        let points = line.points.iter().map(at).map(|(x, y)| format!("{x},{y}"));
        let points = points.collect::<Vec<_>>().join(" ");
        let class = class(line.look);
        html! {
            polyline class=(class) points=(points) {}
            @for point in &line.points {
                @let (x, y) = at(point);
                circle class=(class) cx=(x) cy=(y) r="3" {
                    title { (line.name) ", " ((self.across.name)(point.0)) ": " (number(point.1)) " " (self.unit) }
                }
            }
        }
    }
}

/// The class of a line: its colour, and how it is dashed.
fn class(i: usize) -> String {
    format!("c{} d{}", i % COLOURS, i / COLOURS % DASHES)
}

/// The class of a text at `x`, so that it stays inside.
fn anchor(x: f64) -> &'static str {
    const HALF: f64 = 45.0;
    if x < LEFT + HALF / 2.0 {
        "at-start"
    } else if x > WIDTH - HALF {
        "at-end"
    } else {
        "at-middle"
    }
}

/// Three digits, or all before the point.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: &[(&str, &[(f64, f64)])]) -> Chart {
        let line = |&(name, points): &(&str, &[(f64, f64)])| Line {
            name: name.to_owned(),
            look: name.len(),
            points: points.to_vec(),
        };
        let across = Across { name: |size| format!("{size} B"), caption: "" };
        Chart::new("T".into(), across, "Gbit/s", lines.iter().map(line).collect())
    }

    #[test]
    fn points_have_their_values_and_the_fastest_line_comes_first() {
        let slow = [(65_536.0, 2.0), (1024.0, 1.0)];
        let fast = [(1024.0, 10.0), (65_536.0, 1234.5)];
        let svg = chart(&[("slow", &slow), ("fast", &fast)]).figure().expect("two lines");
        let svg = svg.into_string();
        assert!(svg.contains("<title>fast, 65536 B: 1234 Gbit/s</title>"), "{svg}");
        assert!(svg.contains("<title>slow, 1024 B: 1 Gbit/s</title>"), "{svg}");
        assert!(svg.find("fast") < svg.find("slow"));
        // From left to right, whatever the order of measuring was.
        assert!(svg.contains("points=\"74,"), "{svg}");
        assert!(chart(&[("one", &fast[..1])]).figure().is_none());
        assert!(chart(&[]).figure().is_none());
        let numbers = [0.12345, 20.0, -1.5].map(number);
        assert_eq!(numbers, ["0.123", "20", "-1.5"]);
    }

    #[test]
    fn a_file_has_title_legend_marks_and_both_schemes() {
        let mut chart = chart(&[("ours", &[(1.0, 100.0), (16.0, 300.0)])]);
        chart.marks = vec![(4.0, "from 4: batches of 64".into())];
        let svg = chart.file().expect("there are points");
        for part in ["<title>T</title>", ">ours<", "rotate(90", "from 4: batches", "dark)", "xmlns"]
        {
            assert!(svg.contains(part), "{part}: {svg}");
        }
    }
}
