//! The vector-file reader: the committed files, each fault by itself, and arbitrary damage.

use lanecrypt_reference::vectors::{
    BigMessage, Direction, Expectation, Lines, MonteCarlo, Outcome, Problem, Vector, VectorError,
    VectorFile,
};
use proptest::prelude::*;
use std::{fs, path::PathBuf};

const ECB: &str = "id=a key=00ff pt=0102 ct=0304 dir=e note=weak+k1=k2=k3";
const GCM: &str = "id=a key=00 iv= aad= pt= ct= tag=0a0b0c0d";
const CHAIN: &str =
    "id=a mode=cbc dir=d inner=1000 step=7 key=00 iv=0102 in=0304 out=0506 prev=0708";
const BIG: &str = "id=a mode=xts unit=4096 key=00 iv=01 seed=00000000000000ff len=5000000000 \
    sha256=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff note=over-4GiB";

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors"))
}

fn committed_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in [folder(), folder().join("mct"), folder().join("big")] {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "txt") {
                files.push(path);
            }
        }
    }
    files
}

/// A file of one mode with these lines, whose header counts them rightly.
fn file(mode: &str, expect: &str, lines: &[&str]) -> String {
    let count = lines.len();
    format!("# bcv1 cipher=toy mode={mode} expect={expect} vectors={count}\n{}\n", lines.join("\n"))
}

fn listed(kind: &str, line: &str) -> String {
    format!("# bcv1-{kind} cipher=toy lines=1\n{line}\n")
}

fn vectors(text: &str) -> Vec<Vector> {
    match VectorFile::parse("toy.txt", text).unwrap().lines {
        Lines::Vectors(vectors) => vectors,
        other => panic!("{other:?}"),
    }
}

fn chains(text: &str) -> Vec<MonteCarlo> {
    match VectorFile::parse("toy.txt", text).unwrap().lines {
        Lines::MonteCarlo(chains) => chains,
        other => panic!("{other:?}"),
    }
}

fn messages(text: &str) -> Vec<BigMessage> {
    match VectorFile::parse("toy.txt", text).unwrap().lines {
        Lines::Big(messages) => messages,
        other => panic!("{other:?}"),
    }
}

/// The first fault of a text: its line and its message.
fn fault(text: &str) -> (usize, String) {
    match VectorFile::parse("toy.txt", text) {
        Err(VectorError::Format(error)) => {
            assert_eq!(error.file, "toy.txt");
            let message = error.to_string();
            assert!(message.starts_with(&format!("toy.txt, line {}: ", error.line)), "{message}");
            (error.line, error.problem.to_string())
        }
        other => panic!("{other:?}"),
    }
}

/// The message of the fault of the one line in an ECB file.
fn line_fault(line: &str) -> String {
    let (number, message) = fault(&file("ecb", "ok", &[line]));
    assert_eq!(number, 2);
    message
}

#[test]
fn committed_files_are_read_strictly() {
    let files = committed_files();
    assert!(files.len() >= 6, "{files:?}");
    for path in files {
        let file = VectorFile::read(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.lines.len(), file.header.stated);
        let grouped: usize = file.sources.iter().map(|group| group.lines.len()).sum();
        assert_eq!(grouped, file.lines.len(), "{path:?}: every line has a source");
        for group in &file.sources {
            assert!(group.stated.is_none_or(|stated| stated == group.lines.len()), "{group:?}");
        }
    }
}

#[test]
fn a_vector_in_full() {
    let text = "# bcv1 cipher=x-9 mode=odd expect=ok vectors=1\n\n# source: here \n# count: 1\n\
        id=a key=00 iv=01 aad=02 tag=03 pt=04 ct=0506 dir=d note=one+two\n";
    let file = VectorFile::parse("toy.txt", text).unwrap();
    assert_eq!(file.header.cipher, "x-9");
    assert_eq!(file.header.expectation, Some(Expectation::Every(Outcome::Success)));
    assert_eq!(file.modes(), ["odd"]);
    assert_eq!(file.source_of(0), Some("here"));
    assert_eq!(file.source_of(1), None);
    assert_eq!(file.sources[0].stated, Some(1));
    let expected = Vector {
        id: "a".into(),
        mode: "odd".into(),
        outcome: Outcome::Success,
        key: vec![0],
        iv: Some(vec![1]),
        aad: Some(vec![2]),
        tag: Some(vec![3]),
        pt: Some(vec![4]),
        ct: vec![5, 6],
        direction: Some(Direction::Decrypt),
        notes: vec!["one".into(), "two".into()],
        line: 5,
    };
    assert_eq!(file.lines, Lines::Vectors(vec![expected]));
}

#[test]
fn fields_of_the_other_modes() {
    let ecb = &vectors(&file("ecb", "ok", &[ECB]))[0];
    assert_eq!((&ecb.iv, &ecb.aad, &ecb.tag), (&None, &None, &None));
    assert_eq!(ecb.notes, ["weak", "k1=k2=k3"], "a value may hold the sign");
    let gcm = &vectors(&file("gcm", "ok", &[GCM]))[0];
    assert_eq!((&gcm.iv, &gcm.pt, &gcm.ct), (&Some(vec![]), &Some(vec![]), &vec![]));
    assert_eq!(gcm.direction, None);
    let reject = &vectors(&file("gcm", "reject", &["id=a key=00 iv= aad= ct=01 tag=02"]))[0];
    assert_eq!((reject.outcome, &reject.pt), (Outcome::Rejection, &None));
}

#[test]
fn lines_may_say_their_mode_and_outcome() {
    let text = "# bcv1 cipher=toy expect=per-line vectors=4\n\
        id=a mode=ecb key=00 pt=01 ct=02\n\
        id=b mode=gcm key=00 iv= aad= ct=02 tag=03\n\
        id=c mode=gcm expect=reject key=00 iv= aad= ct=02 tag=03\n\
        id=d mode=gcm expect=ok key=00 iv= aad= pt=01 ct=02 tag=03\n";
    let outcomes: Vec<_> = vectors(text).iter().map(|vector| vector.outcome).collect();
    let (success, rejection) = (Outcome::Success, Outcome::Rejection);
    assert_eq!(outcomes, [success, rejection, rejection, success]);
    assert_eq!(VectorFile::parse("toy.txt", text).unwrap().modes(), ["ecb", "gcm"]);
}

#[test]
fn a_chain_and_a_message_in_full() {
    let chain = &chains(&listed("mct", CHAIN))[0];
    assert_eq!((chain.direction, chain.inner, chain.step), (Direction::Decrypt, 1000, 7));
    assert_eq!((&chain.input, &chain.output), (&vec![3, 4], &vec![5, 6]));
    assert_eq!((&chain.previous, &chain.iv, chain.line), (&vec![7, 8], &Some(vec![1, 2]), 2));
    let message = &messages(&listed("big", BIG))[0];
    assert_eq!((message.unit, message.seed, message.len), (Some(4096), 255, 5_000_000_000));
    assert_eq!((message.sha256[1], &message.notes[0][..]), (0x11, "over-4GiB"));
    let unknown = "id=a mode=new key=00 seed=00000000000000ff len=0 sha256=";
    let digest = "00".repeat(32);
    assert_eq!(messages(&listed("big", &format!("{unknown}{digest}")))[0].mode, "new");
}

#[test]
fn lines_may_end_as_on_windows() {
    assert_eq!(vectors(&file("ecb", "ok", &[ECB]).replace('\n', "\r\n")).len(), 1);
}

#[test]
fn faults_in_the_header() {
    for text in
        ["", "\n", ECB, "# bcv1", "# bcv2 cipher=a", "#bcv1 cipher=a", "# bcv1-new cipher=a"]
    {
        let (line, message) = fault(text);
        assert_eq!(line, 1);
        assert!(message.contains("is no header"), "{message}");
    }
    let header = |text: &str| fault(text).1;
    assert_eq!(header("# bcv1 mode=ecb expect=ok vectors=0"), "field cipher is missing");
    assert_eq!(header("# bcv1 cipher=a mode=ecb expect=ok"), "field vectors is missing");
    assert_eq!(header("# bcv1-mct cipher=a"), "field lines is missing");
    assert!(header("# bcv1-big cipher=a mode=ecb lines=0").starts_with("unknown field \"mode\""));
    assert_eq!(
        header("# bcv1 cipher=a mode=ecb expect=no vectors=0"),
        "field expect: \"no\"; accepted is ok, reject or per-line"
    );
    for count in ["", "-1", "+1", "0x1", "1e3", "99999999999999999999999999"] {
        let message = header(&format!("# bcv1-mct cipher=a lines={count}"));
        assert!(message.starts_with(&format!("field lines: {count:?}; accepted is")), "{message}");
    }
}

#[test]
fn a_wrong_count_is_a_fault_of_the_header() {
    let text = file("ecb", "ok", &[ECB]).replace("vectors=1", "vectors=2");
    let message = "field vectors says 2, but the file has 1 such lines".to_string();
    assert_eq!(fault(&text), (1, message));
}

#[test]
fn faults_in_hex() {
    let message = line_fault(&ECB.replace("00ff", "00fF"));
    assert_eq!(message, "field key: 'F' at digit 3; accepted are 0 to 9 and a to f");
    let message = line_fault(&ECB.replace("0304", "0x04"));
    assert_eq!(message, "field ct: 'x' at digit 1; accepted are 0 to 9 and a to f");
    let message = line_fault(&ECB.replace("0102", "010"));
    assert_eq!(message, "field pt: 3 hex digits; an even number is needed");
}

#[test]
fn faults_in_fields() {
    assert_eq!(line_fault("id=a pt= ct="), "field key is missing");
    assert_eq!(line_fault("key=00 pt= ct="), "field id is missing");
    assert_eq!(line_fault("id=a key=00 ct="), "field pt is missing");
    assert_eq!(line_fault("id=a key=00 pt="), "field ct is missing");
    assert_eq!(
        line_fault("id=a key= pt= ct="),
        "field key: \"\"; accepted is at least one character"
    );
    assert!(line_fault(&format!("{ECB} colour=red")).starts_with("unknown field \"colour\""));
    assert_eq!(line_fault(&format!("{ECB} key=00")), "field key is given twice");
    assert_eq!(line_fault(&format!("{ECB} iv=00")), "field iv is given, but mode ecb has none");
    assert_eq!(line_fault(&ECB.replace("dir=e", "dir=f")), "field dir: \"f\"; accepted is e or d");
    assert!(line_fault(&format!("{ECB} oops")).starts_with("\"oops\" is not a field"));
    assert!(line_fault(&ECB.replace(" pt", "  pt")).starts_with("field number 3 is empty"));
    assert!(line_fault(&format!("{ECB} ")).contains("exactly one space"));
    assert!(line_fault(&ECB.replace(" pt", "\tpt")).starts_with("'\\t' at byte 13"));
    assert!(line_fault(&ECB.replace("id=a", "id=ä")).starts_with("'ä' at byte 3"));
}

#[test]
fn faults_between_fields() {
    let message = line_fault(&ECB.replace("0304", "03"));
    assert_eq!(message, "field ct has 1 bytes and field pt has 2; the same is accepted");
    let twice = fault(&file("ecb", "ok", &[ECB, ECB]));
    let message = "field id: \"a\" is already the id of line 2; ids are unique".to_string();
    assert_eq!(twice, (3, message));
    let rejected = fault(&file("gcm", "reject", &[GCM])).1;
    assert_eq!(rejected, "field pt is given, but a vector that must be rejected has none");
    let no_tag = fault(&file("gcm", "ok", &[&GCM.replace(" tag=0a0b0c0d", "")])).1;
    assert_eq!(no_tag, "field tag is missing");
    let overruled = fault(&file("ecb", "ok", &[&format!("{ECB} expect=reject")])).1;
    assert_eq!(overruled, "field expect is given, but a file without expect=per-line has none");
}

#[test]
fn faults_in_chains_and_messages() {
    let chain = |from, to| fault(&listed("mct", &CHAIN.replace(from, to))).1;
    assert_eq!(chain("inner=1000", "inner=0"), "field inner: \"0\"; accepted is 1 or more");
    assert!(chain("step=7", "step=4294967296").starts_with("field step: \"4294967296\""));
    assert_eq!(chain(" iv=0102", ""), "field iv is missing");
    assert_eq!(chain("mode=cbc", "mode=ecb"), "field iv is given, but mode ecb has none");
    assert_eq!(
        chain("out=0506", "out="),
        "field out has 0 bytes and field in has 2; the same is accepted"
    );
    let message = |from, to| fault(&listed("big", &BIG.replace(from, to))).1;
    assert!(message("00000000000000ff", "ff").starts_with("field seed: \"ff\"; accepted is 16"));
    assert!(message("sha256=00", "sha256=").contains("accepted is 64 hex digits"));
    assert!(message("len=5", "len=-5").starts_with("field len: \"-5000000000\""));
    assert_eq!(message("unit=4096", "unit=0"), "field unit: \"0\"; accepted is 1 or more");
    assert_eq!(message("mode=xts", "mode=ctr"), "field unit is given, but mode ctr has none");
}

#[test]
fn a_lenient_reader_keeps_the_good_lines() {
    let other = ECB.replace("id=a", "id=b");
    let text = file("ecb", "ok", &["# source: one", ECB, "id=", "# source: two", ECB, &other])
        .replace("vectors=6", "vectors=5");
    let (good, errors) = VectorFile::parse_lenient("toy.txt", &text).unwrap();
    assert_eq!(good.lines.len(), 2);
    assert_eq!((good.source_of(0), good.source_of(1)), (Some("one"), Some("two")));
    let lines: Vec<_> = errors.iter().map(|error| error.line).collect();
    assert_eq!(lines, [4, 6, 1], "two bad lines, then the count of all four");
    assert!(matches!(errors[2].problem, Problem::Count { stated: 5, found: 4, .. }));
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toy.txt");
    let missing = VectorFile::read(&path).unwrap_err();
    assert!(matches!(&missing, VectorError::Read { .. }), "{missing}");
    assert!(missing.to_string().contains("toy.txt"), "{missing}");
    let mut bytes = file("ecb", "ok", &[ECB]).into_bytes();
    let end = bytes.len() - 2;
    bytes[end] = 0xff;
    fs::write(&path, bytes).unwrap();
    let (good, errors) = VectorFile::read_lenient(&path).unwrap();
    assert!(good.lines.is_empty());
    assert!(matches!(errors[0].problem, Problem::Character { given: '\u{fffd}', .. }));
}

#[test]
fn long_damage_is_cut_in_messages() {
    let message = line_fault(&format!("{ECB} {}", "x".repeat(100_000)));
    assert!(message.len() < 100, "{}", message.len());
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text: String, header in 0..4_usize) {
        let headers =
            ["", "# bcv1 cipher=a expect=per-line vectors=1\n", "# bcv1-mct cipher=a lines=1\n",
             "# bcv1-big cipher=a lines=1\n"];
        let text = format!("{}{text}", headers[header]);
        let _ = VectorFile::parse("toy.txt", &text);
        let _ = VectorFile::parse_lenient("toy.txt", &text);
    }

    #[test]
    fn damaged_lines_never_panic_and_keep_the_rest(
        kind in 0..4_usize,
        at in 0..300_usize,
        remove in 0..4_usize,
        insert in "[ =0-9a-fA-F+#é]{0,4}",
    ) {
        let line = [ECB, GCM, CHAIN, BIG][kind];
        let start = at.min(line.len());
        let end = (start + remove).min(line.len());
        let damaged = format!("{}{insert}{}", &line[..start], &line[end..]);
        let other = line.replace("id=a", "id=another");
        let header = [
            "# bcv1 cipher=toy mode=ecb expect=ok vectors=2",
            "# bcv1 cipher=toy mode=gcm expect=ok vectors=2",
            "# bcv1-mct cipher=toy lines=2",
            "# bcv1-big cipher=toy lines=2",
        ][kind];
        let text = format!("{header}\n{damaged}\n{other}\n");
        let (file, errors) = VectorFile::parse_lenient("toy.txt", &text).unwrap();
        prop_assert!((1..=2).contains(&file.lines.len()), "{:?}", errors);
        prop_assert_eq!(VectorFile::parse("toy.txt", &text).is_ok(), errors.is_empty());
        for error in errors {
            prop_assert!(error.to_string().len() < 400);
        }
    }
}
