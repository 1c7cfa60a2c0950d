//! The picture of a cipher's short calls: time against blocks, both axes logarithmic, readable on
//! light and dark pages.

use plotters::prelude::*;

use super::record::BlockCurve;

/// Lines' colours, which stand out from white and from black.
const COLORS: [RGBColor; 2] = [RGBColor(0x2f, 0x81, 0xf7), RGBColor(0xd9, 0x77, 0x06)];
/// Marks of switches.
const MARK: RGBColor = RGBColor(0x8b, 0x94, 0x9e);

/// What a page's dark scheme makes of the white and the black that everything else is drawn in.
const DARK: &str = "<style>@media (prefers-color-scheme:dark){\
    [fill=\"#FFFFFF\"]{fill:#0d1117}[fill=\"#000000\"]{fill:#e6edf3}\
    [stroke=\"#000000\"]{stroke:#e6edf3}}</style>";

/// The picture; none where there is nothing to draw.
#[must_use]
pub(super) fn chart(curve: &BlockCurve) -> Option<String> {
    let points = || curve.lines.iter().flat_map(|line| &line.points);
    let lengths = points().map(|point| point.0 as f64);
    let times = points().map(|point| point.1);
    let (shortest, longest) = range(lengths)?;
    let (fastest, slowest) = range(times)?;
    let mut svg = String::new();
    draw(&mut svg, curve, (shortest, longest), (fastest / 2.0, slowest * 2.0)).ok()?;
    let start = svg.find("<svg")?;
    let end = start + svg[start..].find('>')? + 1;
    svg.insert_str(end, DARK);
    Some(svg)
}

/// The least and the most, where they differ.
fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) =
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    (low < high).then_some((low, high))
}

type DrawResult<'a> =
    Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn draw<'a>(
    svg: &'a mut String,
    curve: &BlockCurve,
    (shortest, longest): (f64, f64),
    (fastest, slowest): (f64, f64),
) -> DrawResult<'a> {
    let area = SVGBackend::with_string(svg, (960, 600)).into_drawing_area();
    area.fill(&WHITE)?;
    let title = format!(
        "{}-{} ECB encryption: time of a call",
        curve.cipher.to_uppercase(),
        curve.key_bits
    );
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 22))
        .margin(15)
        .x_label_area_size(45)
        .y_label_area_size(90)
        .build_cartesian_2d(
            (shortest..longest).log_scale().base(2.0),
            (fastest..slowest).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("blocks")
        .y_desc(format!("nanoseconds, at {:.2} GHz", curve.gigahertz))
        .x_labels(12)
        .label_style(("sans-serif", 14))
        .max_light_lines(1)
        .x_label_formatter(&|blocks| format!("{blocks:.0}"))
        .y_label_formatter(&|time| format!("{time:.0}"))
        .draw()?;
    for (switch, way) in curve.switches() {
        let x = *switch as f64;
        let ends = [(x, fastest), (x, slowest)];
        chart.draw_series(DashedLineSeries::new(ends, 6, 4, MARK.stroke_width(1)))?;
        // Along its line, so that neighbours do not meet.
        let font = ("sans-serif", 13).into_font().transform(FontTransform::Rotate90);
        let label = format!("from {switch}: {way}");
        chart.draw_series([Text::new(label, (x, slowest / 1.1), font.color(&BLACK))])?;
    }
    for (line, color) in curve.lines.iter().zip(COLORS) {
        let points = || line.points.iter().map(|point| (point.0 as f64, point.1));
        chart
            .draw_series(LineSeries::new(points(), color.stroke_width(2)))?
            .label(&line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
        chart.draw_series(points().map(|point| Circle::new(point, 3, color.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .label_font(("sans-serif", 14))
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    area.present()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::blocks_report::tests::curve;

    #[test]
    fn lines_switches_and_the_dark_scheme_are_drawn() {
        let mut curve = curve(&[(1, 100.0), (4, 120.0), (16, 300.0)]);
        let svg = chart(&curve).expect("there are points");
        for part in
            ["default", "theirs", "from 4: batches of 64", "prefers-color-scheme:dark", "ARIA-128"]
        {
            assert!(svg.contains(part), "{part}");
        }
        curve.ways.truncate(1);
        assert!(!chart(&curve).expect("there are points").contains("from "));
        curve.lines.clear();
        assert!(chart(&curve).is_none());
    }
}
