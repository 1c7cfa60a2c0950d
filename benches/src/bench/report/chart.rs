//! Line charts as SVG, in a page or each in a file of its own, in light and in dark, with the value of each
//! point under the pointer.

use maud::{Markup, PreEscaped, html};

use crate::size::size_name;

/// The picture's own units, which the page scales to its width.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 40.0;
/// Above the picture and below it, in a file of its own: title, and a row of the legend.
const TITLE: f64 = 34.0;
const LEGEND: f64 = 20.0;
/// Letters of a name that half the width of a file has room for.
const HALF: usize = 40;
/// How lines and texts look, here and on pages.
pub(crate) const STYLE: &str = include_str!("chart.css");
/// Colours that the style has; further lines are dashed.
const COLOURS: usize = 8;
/// Ways of dashing that the style has, the first of them none.
const DASHES: usize = 7;
/// Labels of marks that are longer than this stand along their lines, so that neighbours do not meet.
const SHORT: usize = 10;
/// Labels that have room below a picture on a phone.
const MOST_SIZES: u32 = 5;

/// A line through points of size and value.
pub(crate) struct Line {
    pub(crate) name: String,
    /// Its colour and how it is dashed: the same number for the same thing in every chart.
    pub(crate) look: usize,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A picture over sizes, which are on a logarithmic axis.
pub(crate) struct Chart {
    pub(crate) title: String,
    /// What the sizes are.
    pub(crate) across: Across,
    /// The unit of the values.
    pub(crate) unit: &'static str,
    pub(crate) is_logarithmic: bool,
    pub(crate) lines: Vec<Line>,
    /// Sizes with a line across, and what happens there.
    pub(crate) marks: Vec<(f64, String)>,
    /// Sizes between which the ground is shaded.
    pub(crate) shaded: Vec<(f64, f64)>,
}

/// What lies across a chart.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Across {
    Bytes,
    Blocks,
}

impl Across {
    #[allow(clippy::cast_sign_loss, reason = "sizes are positive")]
    fn name(self, size: f64) -> String {
        match self {
            Self::Bytes => size_name(size as usize),
            Self::Blocks => format!("{size:.0}"),
        }
    }
}

impl Chart {
    /// The lines from left to right, highest first, and the axes; none where there is nothing to draw a line
    /// through.
    fn sort(&mut self) -> Option<Axes> {
        self.lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
        self.lines.retain(|line| !line.points.is_empty());
        let last = |line: &Line| line.points.last().map_or(0.0, |point| point.1);
        self.lines.sort_by(|a, b| last(b).total_cmp(&last(a)));
        Axes::of(self)
    }

    /// The text of a file with title and legend; none where there is nothing to draw a line through.
    pub(crate) fn file(mut self) -> Option<String> {
        let axes = self.sort()?;
        let beside = if self.lines.iter().any(|line| line.name.len() > HALF) { 1 } else { 2 };
        let rows = self.lines.len().div_ceil(beside) as f64;
        let height = TITLE + HEIGHT + LEGEND * rows + 6.0;
        let content = html! {
            title { (self.title) }
            style { (PreEscaped(STYLE)) }
            rect class="ground" y=(-TITLE) width=(WIDTH) height=(height) {}
            text class="title" x="4" y="-12" { (self.title) }
            (self.content(&axes))
            @for (i, line) in self.lines.iter().enumerate() {
                @let x = 8.0 + (i % beside) as f64 * WIDTH / beside as f64;
                @let y = HEIGHT + LEGEND * (i / beside) as f64 + 6.0;
                g class="key" {
                    line class=(class(line.look)) x1=(x) y1=(y) x2=(x + 28.0) y2=(y) {}
                }
                text class="name" x=(x + 34.0) y=(y + 4.0) { (line.name) }
            }
        };
        Some(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 {} {WIDTH} {height}\" \
             width=\"{WIDTH}\" height=\"{height}\" role=\"img\">{}</svg>\n",
            -TITLE,
            content.into_string()
        ))
    }

    /// The figure with its legend; none where there is nothing to draw a line through.
    pub(crate) fn figure(mut self) -> Option<Markup> {
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
    fn content(&self, axes: &Axes) -> Markup {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        html! {
            @for &(from, to) in &self.shaded {
                @let (from, to) = (axes.x(from), axes.x(to));
                rect class="shade" x=(px(from)) y=(TOP) width=(px(to - from)) height=(bottom - TOP) {}
            }
            @for value in axes.values() {
                @let y = px(axes.y(value));
                line class="grid" x1=(LEFT) y1=(y) x2=(right) y2=(y) {}
                text class="at-left" x=(LEFT - 6.0) y=(y) { (number(value)) }
            }
            @for size in axes.sizes() {
                @let x = axes.x(size);
                line class="grid" x1=(px(x)) y1=(TOP) x2=(px(x)) y2=(bottom) {}
                text class=(anchor(x)) x=(px(x)) y=(HEIGHT - 12.0) { (self.across.name(size)) }
            }
            text x="4" y="20" { (self.unit) }
            @for (size, what) in &self.marks {
                @let x = px(axes.x(*size));
                line class="mark" x1=(x) y1=(TOP) x2=(x) y2=(bottom) { title { (what) } }
                @if what.len() > SHORT {
                    text x=(x) y=(TOP) transform={ "rotate(90 " (x) " " (TOP) ") translate(6 -5)" } { (what) }
                } @else {
                    text class=(anchor(axes.x(*size))) x=(x) y="20" { (what) }
                }
            }
            @for line in &self.lines { (self.line(axes, line)) }
            @if self.across == Across::Blocks { text class="at-end" x=(right) y="20" { "by blocks" } }
        }
    }

    fn line(&self, axes: &Axes, line: &Line) -> Markup {
        let at =
            |&(size, value): &(f64, f64)| format!("{},{}", px(axes.x(size)), px(axes.y(value)));
        let points = line.points.iter().map(at).collect::<Vec<_>>().join(" ");
        let class = class(line.look);
        html! {
            polyline class=(class) points=(points) {}
            @for &(size, value) in &line.points {
                circle class=(class) cx=(px(axes.x(size))) cy=(px(axes.y(value))) r="3" {
                    title { (line.name) ", " (self.across.name(size)) ": " (number(value)) " " (self.unit) }
                }
            }
        }
    }
}

/// What lies where.
struct Axes {
    sizes: (f64, f64),
    values: (f64, f64),
    is_logarithmic: bool,
}

impl Axes {
    /// Room for all points and marks; none where there are no two sizes.
    fn of(chart: &Chart) -> Option<Self> {
        let points = || chart.lines.iter().flat_map(|line| line.points.iter());
        let sizes = points().map(|point| point.0).chain(chart.marks.iter().map(|mark| mark.0));
        let sizes = range(sizes);
        let (mut least, mut most) = range(points().map(|point| point.1));
        if sizes.0 >= sizes.1 {
            return None;
        }
        if chart.is_logarithmic {
            let round =
                || (-6..9).flat_map(|i| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(i)));
            let below = round().rfind(|value| *value <= least);
            let above = round().find(|value| *value >= most && Some(*value) > below);
            (least, most) = below.zip(above)?;
        } else {
            (least, most) = (least.min(0.0), most.max(0.0) * 1.08);
        }
        Some(Self { sizes, values: (least, most), is_logarithmic: chart.is_logarithmic })
    }

    fn x(&self, bytes: f64) -> f64 {
        let (from, to) = (self.sizes.0.log2(), self.sizes.1.log2());
        LEFT + (bytes.log2().clamp(from, to) - from) / (to - from) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.is_logarithmic { value.log10() } else { value };
        let (from, to) = (scale(self.values.0), scale(self.values.1));
        HEIGHT - BOTTOM - (scale(value) - from) / (to - from) * (HEIGHT - BOTTOM - TOP)
    }

    /// Powers of two, as few as have room.
    fn sizes(&self) -> impl Iterator<Item = f64> {
        let (from, to) = (self.sizes.0.log2().ceil(), self.sizes.1.log2().floor());
        let step = ((to - from) / f64::from(MOST_SIZES - 1)).ceil().max(1.0);
        (0..MOST_SIZES)
            .map(move |i| from + f64::from(i) * step)
            .filter(move |x| *x <= to)
            .map(f64::exp2)
    }

    /// Values with a line across: powers of ten, with their double and fivefold where these are few.
    fn values(&self) -> Vec<f64> {
        let (least, most) = self.values;
        if !self.is_logarithmic {
            let step = 10_f64.powf((most - least).log10().floor());
            let step = if (most - least) / step < 3.0 { step / 2.0 } else { step };
            let first = (least / step).ceil();
            return (0..12).map(|i| (first + f64::from(i)) * step).filter(|v| *v <= most).collect();
        }
        let powers = (-3..9).map(|i| 10_f64.powi(i));
        let all: Vec<f64> = powers.flat_map(|power| [power, 2.0 * power, 5.0 * power]).collect();
        let inside: Vec<f64> = all.into_iter().filter(|v| (least..=most).contains(v)).collect();
        let is_power = |value: &f64| (value.log10() - value.log10().round()).abs() < 1e-9;
        let powers: Vec<f64> = inside.iter().copied().filter(is_power).collect();
        if powers.len() < 3 { inside } else { powers }
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
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

/// A place, to a tenth of a unit.
fn px(place: f64) -> String {
    format!("{place:.1}").trim_end_matches(".0").to_owned()
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
        Chart {
            title: "T".into(),
            across: Across::Bytes,
            unit: "Gbit/s",
            is_logarithmic: true,
            lines: lines.iter().map(line).collect(),
            marks: Vec::new(),
            shaded: Vec::new(),
        }
    }

    #[test]
    fn points_have_their_values_and_the_fastest_line_comes_first() {
        let slow = [(65_536.0, 2.0), (1024.0, 1.0)];
        let fast = [(1024.0, 10.0), (65_536.0, 1234.5)];
        let svg = chart(&[("slow", &slow), ("fast", &fast)]).figure().expect("two lines");
        let svg = svg.into_string();
        assert!(svg.contains("<title>fast, 64 KiB: 1234 Gbit/s</title>"), "{svg}");
        assert!(svg.contains("<title>slow, 1 KiB: 1 Gbit/s</title>"), "{svg}");
        assert!(svg.find("fast") < svg.find("slow"));
        // From left to right, whatever the order of measuring was.
        assert!(svg.contains("points=\"74,"), "{svg}");
        assert!(chart(&[("one", &fast[..1])]).figure().is_none());
        assert!(chart(&[]).figure().is_none());
    }

    #[test]
    fn axes_are_labelled_where_there_is_room() {
        let axes = Axes::of(&chart(&[("a", &[(16.0, 1.0), (16.0 * 1024.0 * 1024.0, 5000.0)])]));
        let axes = axes.expect("two sizes");
        let sizes: Vec<String> = axes.sizes().map(|size| Across::Bytes.name(size)).collect();
        assert_eq!(sizes, ["16 B", "512 B", "16 KiB", "512 KiB", "16 MiB"]);
        assert_eq!(axes.values(), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(axes.values, (1.0, 5000.0));
        assert!(
            (axes.x(16.0) - LEFT).abs() < 1e-9 && (axes.y(1.0) - (HEIGHT - BOTTOM)).abs() < 1e-9
        );
        assert_eq!(number(0.12345), "0.123");
        assert_eq!(number(20.0), "20");
        assert_eq!(number(-1.5), "-1.5");
    }

    #[test]
    fn a_file_has_title_legend_marks_and_both_schemes() {
        let mut chart = chart(&[("ours", &[(1.0, 100.0), (16.0, 300.0)])]);
        (chart.across, chart.marks) = (Across::Blocks, vec![(4.0, "from 4: batches of 64".into())]);
        let svg = chart.file().expect("there are points");
        for part in ["<title>T</title>", ">ours<", "rotate(90", "from 4: batches", "dark)", "xmlns"]
        {
            assert!(svg.contains(part), "{part}: {svg}");
        }
    }

    #[test]
    fn a_single_value_has_room_too() {
        let level = chart(&[("a", &[(64.0, 3.0), (256.0, 3.0)])]);
        assert_eq!(Axes::of(&level).expect("two sizes").values(), [2.0, 5.0]);
        let round = chart(&[("a", &[(64.0, 5.0), (256.0, 5.0)])]);
        assert_eq!(Axes::of(&round).expect("two sizes").values(), [5.0, 10.0]);
    }

    #[test]
    fn per_cents_may_be_below_nothing() {
        let mut gains = chart(&[("a", &[(64.0, -10.0), (256.0, 40.0)])]);
        gains.is_logarithmic = false;
        let axes = Axes::of(&gains).expect("two sizes");
        assert_eq!(axes.values(), [-10.0, 0.0, 10.0, 20.0, 30.0, 40.0]);
    }
}
