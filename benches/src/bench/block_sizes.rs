//! Throughput by the size of a thread block: P3's question, and P4's Table 3 and Figure 10.

use plotters::{coord::Shift, prelude::*};

use super::{
    gpu::THREAD_BLOCKS,
    record::{Measurement, Record, ThreadBlockMeasurement},
    report::{Section, distinct, throughput},
};
use crate::size::size_name;

/// P3's question: throughput by threads of a thread block: backends down, sizes across, and what is chosen.
pub(super) fn thread_blocks(record: &Record) -> Option<Section> {
    let measured = &record.thread_blocks;
    let bytes = measured.iter().map(|row| row.measurement.bytes).max()?;
    let name =
        |m: &Measurement| format!("{}-{} {}", m.cipher.to_uppercase(), m.key_bits, m.backend);
    let row = |backend: &String| {
        let members = measured.iter().filter(|row| name(&row.measurement) == *backend);
        let rate = |threads: u32| {
            let found = members.clone().find(|row| row.threads == threads);
            found.map(|row| row.measurement.gbit_per_second())
        };
        let fastest = THREAD_BLOCKS.iter().filter_map(|&threads| rate(threads)).fold(0.0, f64::max);
        let cell = |threads: &u32| match rate(*threads) {
            None => String::new(),
            Some(rate) if rate < fastest => throughput(rate),
            Some(rate) => format!("* {}", throughput(rate)),
        };
        let chosen = rate(0).map_or_else(String::new, throughput);
        let cells = THREAD_BLOCKS.iter().map(cell);
        std::iter::once(backend.clone()).chain(cells).chain([chosen]).collect()
    };
    let backends = distinct(measured.iter().map(|row| name(&row.measurement)));
    let sizes = THREAD_BLOCKS.map(|threads| threads.to_string());
    Some(Section {
        title: "Thread-block sizes, Gbit/s".into(),
        note: format!(
            "Resident ECB encryption of {} with so many threads in a thread block, as far as the kernel \
             allows, as many of these as run at once; * marks the fastest. Last, as it is launched by \
             itself: by experience data.",
            size_name(bytes)
        ),
        header: std::iter::once("backend".to_owned())
            .chain(sizes)
            .chain(["by itself".to_owned()])
            .collect(),
        rows: backends.iter().map(row).collect(),
    })
}

/// P4's sizes of thread blocks.
pub(super) const SIZES: [u32; 11] = [64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384];

/// P4's messages, in bytes.
pub(super) const MESSAGES: [usize; 10] = {
    let mut sizes = [64; 10];
    let mut i = 1;
    while i < sizes.len() {
        sizes[i] = 4 * sizes[i - 1];
        i += 1;
    }
    sizes
};

/// P4's Table 3: gain over the mean of all sizes in per cent, the mean over all messages and the peak, for
/// AES-128, 192 and 256.
const THEIRS: [(&str, [(f64, f64); 3]); 2] = [
    ("GeForce G210", [(5.28, 10.02), (14.55, 42.49), (12.53, 44.22)]),
    ("GeForce GTX 460", [(12.48, 45.49), (15.40, 47.87), (15.84, 47.15)]),
];
const KEY_BITS: [usize; 3] = [128, 192, 256];
/// Where P4's text says that its gains are largest.
pub(super) const LARGEST_GAINS: [(f64, f64); 2] = [(64.0, 256.0), (16_384.0, 262_144.0)];

/// What the chosen launch gains over the mean of all sizes, in per cent, by bytes of the message.
fn gains(measured: &[ThreadBlockMeasurement], backend: &str, bits: usize) -> Vec<(usize, f64)> {
    let is_of = |row: &&ThreadBlockMeasurement| {
        row.measurement.backend == backend && row.measurement.key_bits == bits
    };
    let members: Vec<&ThreadBlockMeasurement> = measured.iter().filter(is_of).collect();
    let messages = distinct(members.iter().map(|row| row.measurement.bytes));
    let gain = |bytes: usize| {
        let of = members.iter().filter(|row| row.measurement.bytes == bytes);
        let (chosen, tried): (Vec<&ThreadBlockMeasurement>, Vec<_>) =
            of.copied().partition(|row| row.threads == 0);
        let seconds = tried.iter().map(|row| row.measurement.seconds);
        let mean = seconds.sum::<f64>() / tried.len() as f64;
        let chosen = chosen.first().filter(|_| !tried.is_empty())?.measurement.seconds;
        Some((bytes, 100.0 * (mean / chosen - 1.0)))
    };
    messages.into_iter().filter_map(gain).collect()
}

/// Mean and peak.
fn mean_and_peak(gains: &[(usize, f64)]) -> Option<(f64, f64)> {
    let peak = gains.iter().map(|gain| gain.1).max_by(f64::total_cmp)?;
    Some((gains.iter().map(|gain| gain.1).sum::<f64>() / gains.len() as f64, peak))
}

fn backends(record: &Record) -> Vec<String> {
    distinct(record.block_sizes.iter().map(|row| row.measurement.backend.clone()))
}

/// Table 3.
pub(super) fn section(record: &Record) -> Option<Section> {
    let text = |value: Option<(f64, f64)>| {
        value.map_or_else(String::new, |(mean, peak)| format!("{mean:.2} ({peak:.2})"))
    };
    let theirs = THEIRS.iter().map(|(platform, values)| {
        let values = values.iter().map(|&value| text(Some(value)));
        std::iter::once(format!("P4, {platform}")).chain(values).collect()
    });
    let ours = backends(record).into_iter().map(|backend| {
        let of = |bits| text(mean_and_peak(&gains(&record.block_sizes, &backend, bits)));
        std::iter::once(backend.clone()).chain(KEY_BITS.map(of)).collect()
    });
    let rows: Vec<Vec<String>> = theirs.chain(ours).collect();
    let header = ["by", "AES-128", "AES-192", "AES-256"];
    (rows.len() > THEIRS.len()).then(|| Section {
        title: "Gain by the size of thread blocks (P4, Table 3), %".into(),
        note: "Throughput of the launch that is chosen, over that of the mean time of P4's sizes, 64 to \
               384 threads, as far as the kernel allows: mean over messages of 64 B to 16 MiB, and peak. \
               Ours is resident ECB encryption, chosen by experience data."
            .into(),
        header: header.map(str::to_owned).to_vec(),
        rows,
    })
}

/// The picture of ours takes these kernels, as P4's has two platforms.
const DRAWN: [&str; 2] = ["cuda-table-conflict-free", "cuda-bitslice"];

/// Figure 10's lines of ours: gain by bytes of the message.
pub(super) fn our_gains(record: &Record) -> Vec<Line> {
    let lines = DRAWN.iter().flat_map(|backend| {
        KEY_BITS.map(|bits| {
            let name = format!("AES-{bits} {backend}");
            (name, gains(&record.block_sizes, backend, bits))
        })
    });
    lines.filter(|(_, gains)| gains.len() > 1).collect()
}

/// Figure 10 as far as P4's text goes: the means, over all its messages.
pub(super) fn their_gains() -> Vec<Line> {
    let level = |value: f64| MESSAGES.map(|bytes| (bytes, value)).to_vec();
    let of_platform = |(platform, values): (&'static str, [(f64, f64); 3])| {
        KEY_BITS.into_iter().zip(values).map(move |(bits, (mean, peak))| {
            let name = format!("AES-{bits} {platform}: mean {mean}, peak {peak}");
            (name, level(mean))
        })
    };
    THEIRS.into_iter().flat_map(of_platform).collect()
}

/// Figure 10: what P4's text says of it, and ours beside it.
pub(super) fn chart(record: &Record) -> Option<String> {
    let lines = our_gains(record);
    let most = lines.iter().flat_map(|(_, gains)| gains).map(|gain| gain.1).fold(50.0, f64::max);
    let least = lines.iter().flat_map(|(_, gains)| gains).map(|gain| gain.1).fold(0.0, f64::min);
    let mut svg = String::new();
    if !lines.is_empty() {
        draw(&mut svg, &lines, (least, 1.35 * most)).ok()?;
    }
    (!svg.is_empty()).then_some(svg)
}

type DrawResult<'a> =
    Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;
/// A name, and gain by bytes.
type Line = (String, Vec<(usize, f64)>);

fn draw<'a>(svg: &'a mut String, lines: &[Line], heights: (f64, f64)) -> DrawResult<'a> {
    let area = SVGBackend::with_string(svg, (1280, 560)).into_drawing_area();
    area.fill(&WHITE)?;
    let (left, right) = area.split_horizontally(640);
    let title = "P4, figure 10: means; grey: where its text puts the peaks";
    panel(&left, title, &their_gains(), heights, &LARGEST_GAINS)?;
    panel(&right, "ours", lines, heights, &[])?;
    area.present()
}

fn panel<'a>(
    area: &DrawingArea<SVGBackend<'a>, Shift>,
    title: &str,
    lines: &[Line],
    (least, most): (f64, f64),
    shaded: &[(f64, f64)],
) -> DrawResult<'a> {
    #[allow(clippy::cast_sign_loss, reason = "the axis is of sizes")]
    let size_label = |bytes: &f64| size_name(*bytes as usize);
    let (shortest, longest) = (MESSAGES[0] as f64, MESSAGES[MESSAGES.len() - 1] as f64);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 16))
        .margin(15)
        .x_label_area_size(45)
        .y_label_area_size(60)
        .build_cartesian_2d((shortest..longest).log_scale().base(4.0), least..most)?;
    chart
        .configure_mesh()
        .x_desc("bytes of a message")
        .y_desc("gain, %")
        .max_light_lines(1)
        .x_label_formatter(&size_label)
        .draw()?;
    let fill = BLACK.mix(0.08).filled();
    let areas = shaded.iter().map(|&(from, to)| Rectangle::new([(from, least), (to, most)], fill));
    chart.draw_series(areas)?;
    for (i, (name, points)) in lines.iter().enumerate() {
        let color = Palette99::pick(i).to_rgba();
        let points = points.iter().map(|&(bytes, gain)| (bytes as f64, gain));
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .draw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{environment::Environment, plan::Work, record::Place};

    fn row(threads: u32, bytes: usize, seconds: f64) -> ThreadBlockMeasurement {
        let what = (Work::EcbEncrypt, Place::Resident);
        let measurement = Measurement::of(("aes", DRAWN[1]), what, bytes, seconds);
        ThreadBlockMeasurement {
            threads,
            measurement: Measurement { key_bits: 192, ..measurement },
        }
    }

    #[test]
    fn the_choice_is_held_against_the_mean() {
        let mut record = Record::of(Environment::of_this_machine(false), Vec::new());
        assert!(section(&record).is_none() && chart(&record).is_none());
        record.block_sizes = vec![
            row(64, 64, 3.0),
            row(96, 64, 1.0),
            row(0, 64, 1.0),
            row(64, 256, 1.0),
            row(0, 256, 1.0),
        ];
        // Means of 2 and 1 seconds, where the choice takes 1.
        let section = section(&record).expect("there are measurements");
        assert_eq!(section.rows[2], [DRAWN[1], "", "50.00 (100.00)", ""]);
        assert_eq!(section.rows[1][1..], ["12.48 (45.49)", "15.40 (47.87)", "15.84 (47.15)"]);
        let svg = chart(&record).expect("a line");
        assert!(svg.contains("AES-192 cuda-bitslice") && svg.contains("P4, figure 10"));
        // Without the choice there is nothing to hold against anything.
        record.block_sizes.retain(|row| row.threads > 0);
        assert_eq!(gains(&record.block_sizes, DRAWN[1], 192), []);
    }

    #[test]
    fn the_fastest_thread_block_is_marked() {
        let mut record = Record::of(Environment::of_this_machine(false), Vec::new());
        assert!(thread_blocks(&record).is_none());
        for (backend, threads, seconds) in
            [("a", 128, 1e-3), ("a", 256, 1e-4), ("b", 768, 1e-3), ("a", 384, 2e-4), ("a", 0, 1e-4)]
        {
            let mut row = row(threads, 1 << 20, seconds);
            row.measurement.backend = backend.to_owned();
            record.thread_blocks.push(row);
        }
        let section = thread_blocks(&record).expect("there are measurements");
        assert_eq!(section.header[1..7], ["128", "256", "384", "512", "768", "1024"]);
        let cells = ["AES-192 a", "8.389", "* 83.886", "41.943", "", "", "", "83.886"];
        assert_eq!(section.rows[0], cells);
        assert_eq!(section.rows[1], ["AES-192 b", "", "", "", "", "* 8.389", "", ""]);
        assert!(section.note.contains("1 MiB"));
    }

    #[test]
    fn messages_are_those_of_the_paper() {
        assert_eq!((MESSAGES[0], MESSAGES[9]), (64, 16 << 20));
    }
}
