//! Pictures of a run: throughput against size, a line a backend, both axes logarithmic.

use plotters::prelude::*;

use super::{
    plan::Work,
    record::{Measurement, Place},
};
use crate::size::size_name;

/// Name and SVG text of every picture: ECB encryption with the shortest key, a picture a cipher and
/// place with at least two sizes.
#[must_use]
pub(super) fn charts(measurements: &[Measurement]) -> Vec<(String, String)> {
    let mut charts = Vec::new();
    for place in [Place::Cpu, Place::Resident, Place::EndToEnd] {
        let of_place =
            measurements.iter().filter(|m| m.place == place && m.work == Work::EcbEncrypt);
        let mut ciphers: Vec<&str> = of_place.clone().map(|m| m.cipher.as_str()).collect();
        ciphers.dedup();
        for cipher in ciphers {
            let of_cipher = of_place.clone().filter(|m| m.cipher == cipher);
            let shortest = of_cipher.clone().map(|m| m.key_bits).min().unwrap_or(0);
            let members: Vec<&Measurement> = of_cipher.filter(|m| m.key_bits == shortest).collect();
            let name = format!(
                "{cipher}-{shortest}-{}.svg",
                place.name().replace(", ", "-").replace(' ', "-").to_lowercase()
            );
            let title =
                format!("{}-{shortest} ECB encryption, {}", cipher.to_uppercase(), place.name());
            charts.extend(chart(&title, &members).map(|svg| (name, svg)));
        }
    }
    charts
}

/// One picture; none where there is nothing to draw a line through.
fn chart(title: &str, members: &[&Measurement]) -> Option<String> {
    let bytes = members.iter().map(|m| m.bytes as f64);
    let rates = members.iter().map(|m| m.gbit_per_second());
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (smallest, largest) = range(&mut bytes.into_iter());
    let (slowest, fastest) = range(&mut rates.into_iter());
    if members.is_empty() || smallest >= largest {
        return None;
    }
    let mut svg = String::new();
    // The legend gets the room below the slowest line.
    draw(&mut svg, title, members, (smallest, largest), (slowest / 30.0, fastest * 2.0)).ok()?;
    Some(svg)
}

type DrawResult<'a> =
    Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn draw<'a>(
    svg: &'a mut String,
    title: &str,
    members: &[&Measurement],
    (smallest, largest): (f64, f64),
    (slowest, fastest): (f64, f64),
) -> DrawResult<'a> {
    #[allow(clippy::cast_sign_loss, reason = "the axis is of sizes")]
    let size_label = |bytes: &f64| size_name(*bytes as usize);
    let area = SVGBackend::with_string(svg, (960, 600)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 22))
        .margin(15)
        .x_label_area_size(45)
        .y_label_area_size(70)
        .build_cartesian_2d(
            (smallest..largest).log_scale().base(4.0),
            (slowest..fastest).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("bytes of data")
        .y_desc("Gbit/s")
        .max_light_lines(1)
        .x_label_formatter(&size_label)
        .draw()?;
    let mut backends: Vec<&str> = members.iter().map(|m| m.backend.as_str()).collect();
    backends.dedup();
    for (i, backend) in backends.into_iter().enumerate() {
        let color = Palette99::pick(i).to_rgba();
        let points: Vec<(f64, f64)> = members
            .iter()
            .filter(|m| m.backend == backend)
            .map(|m| (m.bytes as f64, m.gbit_per_second()))
            .collect();
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))?
            .label(backend)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    area.present()
}
