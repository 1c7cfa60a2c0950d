//! A page of a small record: its sections, its figures, its form.

use lanecrypt_record::{Environment, Figure, GpuDetails, Part, Step, Work};
use quick_xml::{Reader, events::Event};

use super::*;
use crate::bench::measure::gpu::compiled_kernels;

/// Elements of HTML that have no end.
const VOID: [&str; 2] = ["meta", "br"];

fn measurement(backend: &str, place: Place, bytes: usize, gbit_per_second: f64) -> Figure {
    let seconds = bytes as f64 * 8.0 / 1e9 / gbit_per_second;
    Figure::of(("aes", backend), (Work::EcbEncrypt, place), bytes, seconds)
}

/// A bit of everything that the page has.
fn record() -> Record {
    let (multiprocessors, gigahertz) = (132, 1.98);
    let gpu = GpuDetails { multiprocessors, gigahertz, compute_capability: "9.0".into() };
    let environment = Environment {
        cpu: "A <CPU> & co.".into(),
        gpu: "NVIDIA H200".into(),
        gpu_details: Some(gpu),
        ..Environment::default()
    };
    let mut measurements = Vec::new();
    for (backend, place, rate) in [
        ("table32", Place::Cpu, 7.77),
        ("bitslice-u64", Place::Cpu, 8.88),
        ("cuda-table-shared", Place::Resident, 1234.0),
        ("cuda-bytewise", Place::Resident, 432.0),
        ("cuda-table-conflict-free", Place::Resident, 5678.0),
        ("cuda-table-conflict-free", Place::EndToEnd, 99.9),
    ] {
        measurements.push(measurement(backend, place, 1 << 16, rate / 2.0));
        measurements.push(measurement(backend, place, 1 << 20, rate));
    }
    let mut keystream = measurement("cuda-table-global", Place::Resident, 1 << 30, 2500.0);
    (keystream.cipher, keystream.work) = ("camellia".into(), Work::Keystream);
    let mut hight = measurement("bitslice-u64", Place::Cpu, 1 << 20, 6.54);
    hight.cipher = "hight".into();
    measurements.extend([keystream, hight]);
    let mut record = Record::of(environment, measurements);
    record.kernels = compiled_kernels("sm_90");
    record.add(Part::Auto, [1 << 12, 1 << 16].map(auto).concat());
    let block_sizes = [(64, 64, 3.0), (96, 64, 1.0), (0, 64, 1.0), (64, 256, 1.0), (0, 256, 1.0)];
    let what = (Work::EcbEncrypt, Place::Resident);
    let block_size = |(count, bytes, seconds)| Figure {
        count,
        ..Figure::of(("aes", "cuda-bitslice"), what, bytes, seconds)
    };
    record.add(Part::BlockSizes, block_sizes.map(block_size));
    let file = |(step, seconds)| Figure {
        backend: "lanecrypt seal".into(),
        step,
        bytes: 1 << 30,
        seconds,
        ..Figure::default()
    };
    record.add(Part::Files, [(Step::Encryption, 0.5), (Step::Decryption, 0.25)].map(file));
    record.figures.extend(swap::tests::record().figures);
    record
}

fn auto(bytes: usize) -> [Figure; 3] {
    let chosen = if bytes > 8192 { Place::EndToEnd } else { Place::Cpu };
    [
        (Step::Cpu, Place::Cpu, bytes as f64 * 1e-9),
        (Step::Gpu, Place::EndToEnd, 1e-5),
        (Step::Auto, chosen, 1e-5),
    ]
    .map(|(step, place, seconds)| Figure {
        step,
        switches: vec![8192],
        ..Figure::of(("aes", ""), (Work::Ctr, place), bytes, seconds)
    })
}

fn rendered(record: Record) -> String {
    page(&Runs::of(record, Path::new("2026-01-01-test")), &["report.json"])
}

/// The part of a page with this id.
fn part<'a>(page: &'a str, id: &str) -> &'a str {
    let start = page.find(&format!("<section id=\"{id}\">")).expect("the section is there");
    let rest = &page[start..];
    &rest[..rest.find("</section>").expect("it ends")]
}

/// Panics where an element does not end, or another one ends first; returns the names of all.
fn elements(page: &str) -> Vec<String> {
    let mut reader = Reader::from_str(page);
    reader.config_mut().check_end_names = false;
    let (mut open, mut all) = (Vec::new(), Vec::new());
    let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    loop {
        match reader.read_event().expect("it is well formed") {
            Event::Start(element) => {
                let attributes = element.attributes().map(|found| found.map(|_| ()));
                attributes.collect::<Result<(), _>>().expect("attributes are quoted, each once");
                let name = name(element.name().as_ref());
                if !VOID.contains(&name.as_str()) {
                    open.push(name.clone());
                }
                all.push(name);
            }
            Event::End(element) => {
                assert_eq!(open.pop().as_deref(), Some(&*name(element.name().as_ref())));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?} do not end");
    all
}

#[test]
fn every_section_is_there_and_shows_what_was_measured() {
    let page = rendered(record());
    for (id, figures) in [
        (
            "summary",
            &[
                "AES-128 CPU",
                "bitslice-u64 8.880",
                "cuda-table-conflict-free 5678",
                "AES-128 from 8 KiB on.",
            ][..],
        ),
        (
            "throughput",
            &["table32, 1 MiB: 7.77 Gbit/s", "table32, 64 KiB: 3.88 Gbit/s", "99.9 Gbit/s"],
        ),
        ("places", &["AES-128 CTR", "8 KiB", "CPU, all cores, 64 KiB: 8 Gbit/s", "52.4"]),
        (
            "swap",
            &[
                "The swap: 3 of 7 cells",
                "<summary>The swap, AES-128</summary>",
                // A loss, a gain, and what is neither, each with its number.
                "<td class=\"loss\" style=\"--heat:70%\">0.09 (36 ns, ours 396)</td>",
                "<td class=\"loss\" style=\"--heat:35%\">0.50</td><td class=\"gain\" style=\"--heat:35%\">2.00</td>",
                "<tr><th>ctr, kept, ours</th><td></td>",
            ],
        ),
        (
            "roofs",
            &["AES-128 ECB encryption, cuda-table-conflict-free", "5678", "90%", "multiplier"],
        ),
        (
            "machines",
            &["2026-01-01-test", "A &lt;CPU&gt; &amp; co.", "data:text/csv", "report.json"],
        ),
    ] {
        let part = part(&page, id);
        for figure in figures {
            assert!(part.contains(figure), "{id} lacks {figure}: {part}");
        }
    }
}

#[test]
fn all_five_papers_stand_beside_ours() {
    let page = rendered(record());
    let papers = part(&page, "papers");
    for figure in [
        // P1's Tables 3 and 4: theirs, ours, N and the ratio; then a claim that holds and one that does not.
        "<td class=\"number\">4.5</td><td>cuda-table-shared</td><td class=\"number\">1234</td>\
         <td class=\"number\">4.72</td><td class=\"number\">274.2</td>",
        "5168",
        "aes_table_shared_ecb_encrypt",
        "<td class=\"number\">158.82</td><td>holds</td>",
        "<td>the other way round</td>",
        // P2's Table 2, P3's Table 1, P4's Table 3 and Figure 10, P5's files.
        "452.16",
        "2500",
        "1.48",
        "6.540",
        "12.48 (45.49)",
        "50.00 (100.00)",
        "AES-128 cuda-bitslice, 64 B: 100 gain, %",
        "AES-192 GeForce GTX 460: mean 15.4, peak 47.87",
        "2.15 / 4.29",
    ] {
        assert!(papers.contains(figure), "{figure} is missing: {papers}");
    }
}

/// No figure of ours is in the program: another record gives another page.
#[test]
fn figures_are_those_of_the_record() {
    let mut record = record();
    record.part_mut(Part::Measurements).iter_mut().for_each(|m| m.seconds /= 3.0);
    let page = rendered(record);
    for figure in ["8.880", "5678", "1234", "2500<", "7.77 Gbit/s"] {
        assert!(!page.contains(figure), "{figure} is not of this record");
    }
    assert!(page.contains("26.640") && page.contains("17034"));
}

#[test]
fn the_page_is_well_formed_and_loads_nothing() {
    let page = rendered(record());
    let elements = elements(&page);
    for name in ["svg", "table", "figure", "style", "title", "details"] {
        assert!(elements.iter().any(|element| element == name), "no {name}");
    }
    for name in ["script", "link", "img", "iframe", "object", "image", "use"] {
        assert!(!elements.iter().any(|element| element == name), "{name} loads something");
    }
    for loads in ["http:", "https:", "//cdn", "@import", "url(", "src="] {
        assert!(!page.contains(loads), "{loads}");
    }
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("width=device-width"));
}

#[test]
fn what_was_not_measured_is_said() {
    let page = rendered(Record::of(Environment::default(), Vec::new()));
    elements(&page);
    for (id, says) in [
        ("summary", "No single measurements"),
        ("places", "was not measured"),
        ("swap", "was not measured"),
        ("roofs", "No kernel was measured"),
        ("papers", "Nothing that it compares was measured"),
    ] {
        assert!(part(&page, id).contains(says), "{id}");
    }
}

#[test]
fn a_gpu_that_stands_in_is_marked_with_its_name_and_date() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut recorded = record();
    recorded.environment.date = "2026-01-02".into();
    let path = folder.path().join("2026-01-02-gpu");
    std::fs::create_dir(&path).expect("a folder");
    let text = serde_json::to_string(&recorded).expect("JSON");
    std::fs::write(path.join("report.json"), text).expect("a file");
    let mut mine = record();
    mine.part_mut(Part::Measurements).retain(|m| m.place == Place::Cpu);
    mine.figures.retain(|part, _| !matches!(part, Part::Auto | Part::BlockSizes));
    mine.environment.gpu = "none".into();
    let runs = Runs::of(mine, Path::new("mine")).or_recorded_gpu(folder.path());
    let page = page(&runs, &[]);
    let mark = "NVIDIA H200, 2026-01-02 at the latest";
    for id in ["summary", "throughput", "places", "roofs", "papers"] {
        assert!(part(&page, id).contains(mark), "{id} does not say whose GPU it is");
    }
    assert!(part(&page, "papers").contains("1234"));
    assert!(!rendered(record()).contains("stand-in\">"), "its own GPU needs no mark");
}

#[test]
fn the_page_lies_in_its_folder_with_links_to_what_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("report.csv"), "").expect("a file");
    let runs = Runs::of(record(), folder.path());
    let path = write(&runs, folder.path()).expect("it is written");
    let page = std::fs::read_to_string(path).expect("it is there");
    assert!(page.contains("href=\"report.csv\"") && !page.contains("href=\"report.json\""));
}
