//! The page of the example in `tests/example`: its sections, its figures, its form.

use lanecrypt_record::{Environment, Figure, Record};
use quick_xml::{Reader, events::Event};

use super::*;
use crate::bench::report::tests::{record, runs};

/// Elements of HTML that have no end.
const VOID: [&str; 2] = ["meta", "br"];

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

/// What the files of the example do not have: what is on the page alone.
#[test]
fn every_section_is_there_and_shows_what_was_measured() {
    let page = page(&runs(), &["report.json"]);
    for (id, figures) in [
        ("summary", &["cuda-table-conflict-free 5678", "AES-128 from 8 KiB on."][..]),
        ("throughput", &["table32, 1 MiB: 7.63 Gbit/s", "99.9 Gbit/s"]),
        ("places", &["8 KiB", "CPU, all cores, 64 KiB: 8.07 Gbit/s", "52.4"]),
        (
            "swap",
            &[
                "<summary>The swap, AES-128</summary>",
                // A loss, a gain, and what is neither, each with its number.
                "<td class=\"loss\" style=\"--heat:70%\">0.09 (36 ns, ours 396)</td>",
                "<td class=\"loss\" style=\"--heat:35%\">0.50</td><td class=\"gain\" style=\"--heat:35%\">2.00</td>",
                "<tr><th>ctr, kept, ours</th><td></td>",
            ],
        ),
        ("roofs", &["cuda-table-conflict-free", "--share:89%", "multiplier"]),
        // P1's Table 4 beside ours, P4's Figure 10, P5's files.
        (
            "papers",
            &[
                "5168",
                "aes_table_shared_ecb_encrypt",
                "AES-192 cuda-bitslice, 64 B: 100 gain, %",
                "1.07 / 2.15",
            ],
        ),
        ("machines", &["A &lt;CPU&gt; &amp; co.", "data:text/csv", "report.json"]),
    ] {
        let part = part(&page, id);
        for figure in figures {
            assert!(part.contains(figure), "{id} lacks {figure}: {part}");
        }
    }
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
    let page = rendered(Record::of(Environment::default(), Vec::<Figure>::new()));
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
    let path = folder.path().join("2026-01-02-gpu");
    std::fs::create_dir(&path).expect("a folder");
    let text = serde_json::to_string(&record()).expect("JSON");
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
    let path = write_to(&runs(), folder.path()).expect("it is written");
    let page = std::fs::read_to_string(path).expect("it is there");
    assert!(page.contains("href=\"report.csv\"") && !page.contains("href=\"report.json\""));
}
