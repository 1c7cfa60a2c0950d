//! Answers to prompts of NIST's ACVP: against NIST's own expected results, against the vectors of this tree, and what is
//! said of prompts that are wrong.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use lanecrypt::{
    CIPHERS, ConstantTime, Engine, Error, Operation,
    cipher::InOutBuf,
    modes,
    registry::{Backend, CipherDescription, Platform},
};
use lanecrypt_benches::kat::{Names, Targets, acvp};
use lanecrypt_reference::vectors::{Lines, Outcome, Vector, VectorFile};
use serde_json::{Map, Value, json};

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors")
}

fn targets(backends: &[&str]) -> Targets {
    let backends = backends.iter().map(|&name| name.to_owned()).collect();
    Targets::new(CIPHERS, &Names { backends, ..Names::default() }).expect("they are known")
}

fn json_of(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("the file is there");
    serde_json::from_str(&text).expect("it is JSON")
}

/// The tests of a set by their number, without it.
fn tests(set: &Value) -> Vec<(u64, Map<String, Value>)> {
    let groups = set["testGroups"].as_array().expect("groups").iter();
    let tests = groups.flat_map(|group| group["tests"].as_array().expect("tests"));
    let numbered = |test: &Value| {
        let mut fields = test.as_object().expect("an object").clone();
        let number = fields.remove("tcId").expect("a number");
        (number.as_u64().expect("a number"), fields)
    };
    tests.map(numbered).collect()
}

/// Compares a response with NIST's: of a Monte Carlo test, NIST's rounds here are the first of ours. How many tests and
/// rounds there are.
fn compare(name: &str, response: &Value, expected: &Value) -> (usize, usize) {
    let (mut ours, theirs) = (tests(response), tests(expected));
    let mut rounds = 0;
    for ((_, ours), (_, theirs)) in ours.iter_mut().zip(&theirs) {
        let (Some(all), Some(first)) = (ours.get_mut("resultsArray"), theirs.get("resultsArray"))
        else {
            continue;
        };
        let all = all.as_array_mut().expect("rounds");
        let whole = if name.contains("TDES") { 400 } else { 100 };
        assert_eq!(all.len(), whole, "{name}: rounds of a Monte Carlo test");
        let count = first.as_array().expect("rounds").len();
        all.truncate(count);
        rounds += count;
    }
    assert_eq!(ours, theirs, "{name}");
    let heads = [response, expected].map(|set| [set["vsId"].clone(), set["algorithm"].clone()]);
    assert_eq!(heads[0], heads[1], "{name}");
    (ours.len(), rounds)
}

/// All backends, of which the fastest answers; but tables where Monte Carlo tests of triple DES run four million single
/// blocks for each mode, those of ECB apart.
fn targets_for(algorithm: &str) -> Targets {
    let is_long =
        ["TDES-CBC", "TDES-CFB64", "TDES-OFB"].iter().any(|name| algorithm.contains(name));
    targets(if is_long { &["tdes/table32"] } else { &[] })
}

#[test]
fn answers_are_what_nist_expects() {
    let (mut files, mut count, mut rounds) = (0, 0, 0);
    let mut folders: Vec<_> = fs::read_dir(vectors().join("acvp"))
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let response = acvp::answer_file(&folder.join("prompt.json"), &targets_for(&name));
        let response = response.unwrap_or_else(|error| panic!("{name}: {error}"));
        let response = serde_json::from_str(&response).expect("it is JSON");
        let found = compare(&name, &response, &json_of(&folder.join("expectedResults.json")));
        println!("{name}: {} tests, {} rounds of Monte Carlo", found.0, found.1);
        assert!(found.0 > 0, "{name} has no test");
        (files, count, rounds) = (files + 1, count + found.0, rounds + found.1);
    }
    println!("{files} algorithms, {count} tests, {rounds} rounds of Monte Carlo");
    assert_eq!((files, count, rounds), (15, 68, 33));
}

/// Other backends answer the same, of ciphers in all modes that have a Monte Carlo test.
#[test]
fn backends_agree() {
    let targets = targets(&["aes/table32", "aes/bitslice-u64", "aes/default"]);
    let names = ["ECB", "CBC", "CFB128", "OFB", "GCM", "CCM", "GMAC"]
        .map(|mode| format!("ACVP-AES-{mode}"));
    for name in names.iter().map(String::as_str).chain(["CMAC-AES"]) {
        let folder = vectors().join(format!("acvp/{name}-1.0"));
        let response = acvp::answer_file(&folder.join("prompt.json"), &targets);
        let response = serde_json::from_str(&response.expect("they agree")).expect("it is JSON");
        compare(name, &response, &json_of(&folder.join("expectedResults.json")));
    }
}

/// A prompt of one test in a group of its own, and what is expected of it.
struct Asked {
    group: Value,
    expected: Map<String, Value>,
}

fn hex(bytes: &[u8]) -> Value {
    hex::encode_upper(bytes).into()
}

/// A vector of this tree as a group of one test in a direction, as ACVP writes it.
fn asked(cipher: &str, vector: &Vector, direction: &str) -> Option<Asked> {
    let mode = vector.mode.as_str();
    let is_rejected = vector.outcome == Outcome::Rejection;
    if is_rejected && direction == "encrypt" {
        return None;
    }
    let is_sealed = ["gcm", "ccm"].contains(&mode);
    let tag = vector.tag.as_deref().unwrap_or_default();
    let ct = if mode == "ccm" { [&vector.ct, tag].concat() } else { vector.ct.clone() };
    let pt = vector.pt.clone().unwrap_or_default();
    let (mut test, mut expected) = (Map::new(), Map::new());
    let (input, output) = if direction == "encrypt" { ("pt", "ct") } else { ("ct", "pt") };
    let texts = if direction == "encrypt" { [&pt, &ct] } else { [&ct, &pt] };
    test.insert(input.to_owned(), hex(texts[0]));
    if is_rejected {
        expected.insert("testPassed".to_owned(), false.into());
    } else {
        expected.insert(output.to_owned(), hex(texts[1]));
    }
    if mode == "gcm" {
        let of = if direction == "encrypt" { &mut expected } else { &mut test };
        of.insert("tag".to_owned(), hex(tag));
    }
    let key_bytes = vector.key.len() / if mode == "xts" { 2 } else { 1 };
    let mut group = json!({
        "tgId": 1, "testType": "AFT", "direction": direction, "keyLen": 8 * key_bytes,
        "keyingOption": 1, "tweakMode": "hex", "payloadLen": 8 * vector.ct.len(),
    });
    if cipher == "tdes" {
        // Of two keys, the third is the first.
        let key = [&vector.key[..], &vector.key[..8]].concat();
        for (name, part) in ["key1", "key2", "key3"].into_iter().zip(key.chunks(8)) {
            test.insert(name.to_owned(), hex(part));
        }
    } else {
        test.insert("key".to_owned(), hex(&vector.key));
    }
    if let Some(iv) = &vector.iv {
        let field = if mode == "xts" { "tweakValue" } else { "iv" };
        test.insert(field.to_owned(), hex(iv));
    }
    if is_sealed {
        let aad = vector.aad.as_deref().unwrap_or_default();
        test.insert("aad".to_owned(), hex(aad));
        group["aadLen"] = (8 * aad.len()).into();
        group["tagLen"] = (8 * tag.len()).into();
        group["ivLen"] = (8 * vector.iv.as_deref().unwrap_or_default().len()).into();
    }
    test.insert("tcId".to_owned(), 1.into());
    group["tests"] = json!([test]);
    Some(Asked { group, expected })
}

/// Every vector of a file, as a prompt in each direction.
fn file_as_prompt(cipher: &str, file: &str, algorithm: &str) -> usize {
    let file = VectorFile::read(vectors().join(file)).expect("a file of vectors");
    let Lines::Vectors(lines) = file.lines else { panic!("no vectors") };
    let directions = ["encrypt", "decrypt"];
    let asked: Vec<Asked> = lines
        .iter()
        .flat_map(|line| directions.map(|direction| asked(cipher, line, direction)))
        .flatten()
        .collect();
    let groups: Vec<&Value> = asked.iter().map(|asked| &asked.group).collect();
    let prompt = json!({ "vsId": 7, "algorithm": algorithm, "testGroups": groups });
    let response = acvp::answer(&prompt.to_string(), &targets(&[])).expect("a good prompt");
    let found = tests(&response);
    assert_eq!(found.len(), asked.len());
    for ((_, found), asked) in found.iter().zip(&asked) {
        assert_eq!(found, &asked.expected, "{algorithm}: {}", asked.group);
    }
    asked.len()
}

#[test]
fn vectors_of_this_tree_as_prompts() {
    let mut total = 0;
    for (cipher, file, algorithm) in [
        ("aes", "aes_ecb.txt", "ACVP-AES-ECB"),
        ("aes", "aes_cbc.txt", "ACVP-AES-CBC"),
        ("aes", "aes_ctr.txt", "ACVP-AES-CTR"),
        ("aes", "aes_xts.txt", "ACVP-AES-XTS"),
        ("aes", "aes_gcm.txt", "ACVP-AES-GCM"),
        ("aes", "aes_gcm_reject.txt", "ACVP-AES-GCM"),
        ("aes", "aes_ccm.txt", "ACVP-AES-CCM"),
        ("tdes", "tdes_ecb.txt", "ACVP-TDES-ECB"),
        ("tdes", "tdes_cbc.txt", "ACVP-TDES-CBC"),
        ("tdes", "tdes_ctr.txt", "ACVP-TDES-CTR"),
    ] {
        let count = file_as_prompt(cipher, file, algorithm);
        println!("{file}: {count} tests");
        assert!(count > 100, "{file}");
        total += count;
    }
    println!("{total} tests");
}

/// A prompt of one group with one test, with changes of some fields; `null` takes a field away.
fn prompt(algorithm: &str, group: &Value, test: &Value) -> String {
    let changed = |fields: Value, changes: &Value| {
        let mut fields = fields.as_object().expect("an object").clone();
        for (name, value) in changes.as_object().expect("an object") {
            fields.insert(name.clone(), value.clone());
        }
        fields.retain(|_, value| !value.is_null());
        Value::Object(fields)
    };
    let zeros = "00".repeat(16);
    let test = changed(json!({ "tcId": 9, "key": zeros, "iv": zeros, "pt": zeros }), test);
    let start = json!({ "tgId": 4, "testType": "AFT", "direction": "encrypt", "keyLen": 128, "tests": [test] });
    json!({ "vsId": 1, "algorithm": algorithm, "testGroups": [changed(start, group)] }).to_string()
}

#[test]
fn what_is_wrong_is_named_with_its_group_and_test() {
    let targets = targets(&[]);
    let good = acvp::answer(&prompt("ACVP-AES-CBC", &json!({}), &json!({})), &targets);
    let ct = good.expect("it is a good one")["testGroups"][0]["tests"][0]["ct"].clone();
    assert_eq!(ct, "66E94BD4EF8A2C3B884CFA59CA342B2E");
    let at_test = "group 4, test 9: ";
    let cases = [
        (json!({}), json!({ "key": null }), at_test, "no key"),
        (json!({}), json!({ "key": "00" }), at_test, "16 bytes"),
        (json!({}), json!({ "pt": "0g" }), at_test, "hex"),
        (json!({}), json!({ "pt": 5 }), at_test, "a text"),
        (json!({}), json!({ "pt": "00" }), at_test, "multiple of the 16-byte block"),
        (json!({}), json!({ "iv": null }), at_test, "no iv"),
        (json!({}), json!({ "iv": "0011" }), at_test, "16 bytes"),
        (json!({ "payloadLen": 64 }), json!({}), at_test, "64 bits"),
        (json!({ "keyLen": 100 }), json!({}), "group 4: ", "multiple of 8"),
        (json!({ "testType": "VAL" }), json!({}), "group 4: ", "AFT or MCT"),
        (json!({ "testType": null }), json!({}), "group 4: ", "no testType"),
        (json!({ "direction": "up" }), json!({}), "group 4: ", "encrypt or decrypt"),
        (json!({ "tgId": null }), json!({}), "the head: ", "no tgId"),
        (json!({}), json!({ "tcId": "x" }), "group 4: ", "a number"),
    ];
    for (group, test, place, what) in cases {
        let error = acvp::answer(&prompt("ACVP-AES-CBC", &group, &test), &targets);
        let error = error.expect_err("it is a wrong one").to_string();
        assert!(error.starts_with(place) && error.contains(what), "{group} {test}: {error}");
    }
}

#[test]
fn what_is_no_prompt_or_no_algorithm_of_ours_is_refused() {
    let targets = targets(&[]);
    let refused = |text: &str| acvp::answer(text, &targets).expect_err("refused").to_string();
    assert!(refused("{").contains("no JSON"));
    assert!(refused("[1]").contains("no ACVP prompt"));
    assert!(refused("3").contains("no ACVP prompt"));
    assert!(refused("{}").contains("no algorithm"));
    // Modes that the library does not have.
    for name in ["ACVP-AES-KW", "ACVP-AES-CFB1", "ACVP-AES-CFB8", "ACVP-TDES-CFB8"] {
        let unknown = refused(&json!({ "algorithm": name }).to_string());
        assert!(unknown.contains(name) && unknown.contains("ACVP-TDES-OFB"), "{unknown}");
    }
    let unknown = refused(&json!({ "algorithm": "x".repeat(1 << 20) }).to_string());
    assert!(unknown.len() < 1000 && unknown.contains("xxx\"…"), "{} bytes", unknown.len());
    let lengths = json!({ "ivGen": "internal", "ivLen": 96 });
    assert!(refused(&prompt("ACVP-AES-GCM", &lengths, &json!({}))).contains("external"));
    let monte_carlo = json!({ "testType": "MCT" });
    assert!(refused(&prompt("ACVP-AES-CTR", &monte_carlo, &json!({}))).contains("AFT"));
    let siv = prompt("ACVP-AES-GCM-SIV", &json!({ "payloadLen": 128, "aadLen": 0 }), &json!({}));
    let by_table = self::targets(&["aes/table32"]);
    let error = acvp::answer(&siv, &by_table).expect_err("tables are no type").to_string();
    assert!(error.contains("aes/table32"), "{error}");
    let of_aria = self::targets(&["aria/default"]);
    let ecb = prompt("ACVP-AES-ECB", &json!({}), &json!({}));
    let error = acvp::answer(&ecb, &of_aria).expect_err("another cipher's").to_string();
    assert!(error.contains("no backend of aes"), "{error}");
}

/// Tags that are made are right ones, and no others, of both ciphers.
#[test]
fn tags_of_cmac_are_made_and_compared() {
    let targets = targets(&[]);
    let key = json!({ "key1": "0123456789ABCDEF", "key2": "23456789ABCDEF01", "key3": "456789ABCDEF0123" });
    for (algorithm, block, key) in [("CMAC-AES", 16, json!({})), ("CMAC-TDES", 8, key)] {
        let asked = |group: Value, changes: &Value| {
            let mut test = key.clone();
            test["message"] = "616263".into();
            for (name, value) in changes.as_object().expect("an object") {
                test[name] = value.clone();
            }
            let group =
                json!({ "msgLen": 24, "macLen": group["macLen"], "direction": group["direction"] });
            let response = acvp::answer(&prompt(algorithm, &group, &test), &targets)?;
            Ok::<_, acvp::AcvpError>(response["testGroups"][0]["tests"][0].clone())
        };
        let made = asked(json!({ "macLen": 32, "direction": "gen" }), &json!({})).expect("a tag");
        let mac = made["mac"].as_str().expect("a tag").to_owned();
        let verified = |mac: &str| {
            let answer = asked(json!({ "macLen": 32, "direction": "ver" }), &json!({ "mac": mac }));
            answer.expect("a verdict")["testPassed"].as_bool().expect("a verdict")
        };
        let other = format!("{}{}", &mac[..7], if mac.ends_with('0') { '1' } else { '0' });
        assert!(verified(&mac) && !verified(&other), "{algorithm}: {mac}");
        for (group, what) in [
            (json!({ "macLen": 8 * block + 8, "direction": "gen" }), "macLen"),
            (json!({ "macLen": 0, "direction": "gen" }), "macLen"),
            (json!({ "macLen": 32, "direction": "encrypt" }), "gen or ver"),
        ] {
            let error = asked(group, &json!({})).expect_err("refused").to_string();
            assert!(error.contains(what), "{error}");
        }
        let error = asked(json!({ "macLen": 32, "direction": "gen" }), &json!({ "message": "61" }));
        assert!(error.expect_err("it is short").to_string().contains("3 bytes"));
    }
    let group = json!({ "ivLen": 128, "aadLen": 0, "tagLen": 128, "payloadLen": 8 });
    let error = acvp::answer(&prompt("ACVP-AES-GMAC", &group, &json!({ "aad": "" })), &targets);
    assert!(error.expect_err("it has a text").to_string().contains("encrypts nothing"));
}

#[test]
fn generators_answer_last_and_refuse_what_is_no_seed() {
    let targets = targets(&[]);
    let asked = |group: &Value, other_input: &Value| {
        let bits = json!({ "entropyInputLen": 256, "persoStringLen": 0, "additionalInputLen": 0, "returnedBitsLen": 64,
            "derFunc": false, "predResistance": false, "mode": "AES-128" });
        let mut fields = bits.as_object().expect("an object").clone();
        fields.extend(group.as_object().expect("an object").clone());
        let test = json!({ "entropyInput": "00".repeat(32), "persoString": "", "otherInput": other_input });
        let response = acvp::answer(&prompt("ctrDRBG", &fields.into(), &test), &targets);
        response.map(|response| response["testGroups"][0]["tests"][0]["returnedBits"].clone())
    };
    let step = |what: &str, entropy: usize| json!({ "intendedUse": what, "additionalInput": "", "entropyInput": "01".repeat(entropy) });
    let answered = |steps: Value| asked(&json!({}), &steps).expect("good lengths");
    let once = answered(json!([step("generate", 0)]));
    let twice = answered(json!([step("generate", 0), step("generate", 0)]));
    assert!(once.as_str().is_some_and(|text| text.len() == 16) && once != twice, "{once} {twice}");
    assert_ne!(once, answered(json!([step("reSeed", 32), step("generate", 0)])));
    let answer = json!([step("generate", 0)]);
    for (group, steps, what) in [
        (json!({}), json!([]), "at least once"),
        (json!({}), json!([step("reSeed", 32)]), "at least once"),
        (json!({}), json!([step("reSeed", 31)]), "32 bytes"),
        (json!({}), json!([step("seed", 0)]), "generate or reSeed"),
        (json!({ "predResistance": true }), answer.clone(), "32 bytes"),
        (json!({ "predResistance": 1 }), answer.clone(), "true or false"),
        (json!({ "mode": "TDES" }), answer.clone(), "AES-192"),
        (json!({ "mode": "AES-192" }), answer.clone(), "32 bytes of entropy; expected 40"),
        (json!({ "returnedBitsLen": (1 << 19) + 8 }), answer, "524288"),
    ] {
        let error = asked(&group, &steps).expect_err("refused").to_string();
        assert!(error.contains(what), "{group} {steps}: {error}");
    }
    let by_table = self::targets(&["aes/table32"]);
    let error = acvp::answer(&prompt("ctrDRBG", &json!({}), &json!({})), &by_table);
    let error = error.expect_err("tables are no type").to_string();
    assert!(error.starts_with("ctrDRBG") && error.contains("aes/table32"), "{error}");
}

/// Bits of the last byte that are not of the text come out as zeros.
#[test]
fn texts_of_ctr_may_end_within_a_byte() {
    let group = json!({ "payloadLen": 9 });
    let text = prompt("ACVP-AES-CTR", &group, &json!({ "pt": "0000" }));
    let response = acvp::answer(&text, &targets(&[])).expect("a good prompt");
    assert_eq!(response["testGroups"][0]["tests"][0]["ct"], "6680", "E9 without seven bits");
}

/// A cipher that changes nothing.
#[derive(Debug)]
struct Nothing;

impl Engine for Nothing {
    fn block_bytes(&self) -> usize {
        16
    }

    fn run(&self, operation: Operation<'_>, mut data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let Operation::Ecb(_) = operation else { return modes::by_ecb(self, operation, data) };
        data.xor_in2out(&vec![0; data.len()]);
        Ok(())
    }
}

const NOTHING: Backend = Backend {
    id: "nothing",
    platform: Platform::Cpu,
    lanes: 1,
    constant_time: ConstantTime::Yes,
    summary: "changes nothing",
    available: || Ok(()),
    create: |_| Ok(Box::new(Nothing)),
    family: None,
};

static WRONG: CipherDescription = CipherDescription {
    name: "aes",
    standard: "none",
    block_bytes: 16,
    key_bytes: &[16],
    kernels: None,
    backends: &[
        Backend {
            id: "other",
            create: |key| (lanecrypt::aes::AES.backends[0].create)(key),
            ..NOTHING
        },
        NOTHING,
    ],
};

#[test]
fn backends_that_do_not_agree_are_named() {
    let targets = Targets::new(&[&WRONG], &Names::default()).expect("they are known");
    let error = acvp::answer(&prompt("ACVP-AES-ECB", &json!({}), &json!({})), &targets);
    let error = error.expect_err("one is wrong");
    assert_eq!(error.to_string(), "aes/other and aes/nothing do not agree");
    assert!(!error.is_of_the_prompt());
}

fn kat(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kat"));
    command.args(arguments).env_remove("LANECRYPT_EXPECT").output().expect("the binary starts")
}

#[test]
fn the_command_prints_a_response_or_writes_it_beside() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let one = prompt("ACVP-AES-ECB", &json!({}), &json!({}));
    let set: Value = serde_json::from_str(&one).expect("JSON");
    let from_server = json!([{ "acvVersion": "1.0" }, set]).to_string();
    fs::write(path("prompt.json"), &one).expect("a file");
    fs::write(path("second-prompt.json"), from_server).expect("a file");
    fs::write(path("other.json"), one).expect("a file");

    let output = kat(&["--acvp", &path("prompt.json")]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(printed["testGroups"][0]["tests"][0]["tcId"], 9);

    let output = kat(&["--beside", "--acvp", &path("prompt.json"), &path("second-prompt.json")]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{output:?}");
    assert_eq!(json_of(&folder.path().join("response.json")), printed);
    let wrapped = json_of(&folder.path().join("second-response.json"));
    assert_eq!(wrapped, json!([{ "acvVersion": "1.0" }, printed]));

    let refused = |arguments: &[&str], what: &str| {
        let output = kat(arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(what) && output.stdout.is_empty(), "{errors}");
    };
    refused(&["--acvp", &path("prompt.json"), &path("second-prompt.json")], "--beside");
    refused(&["--beside", "--acvp", &path("other.json")], "the word `prompt`");
    refused(&["--acvp", &path("missing.json")], "missing.json: cannot be read");
    refused(&["--cipher", "aria", "--acvp", &path("prompt.json")], "no backend of aes");
}
