//! Tink's own library, the Python wheel, opens what is sealed here, and the other way round.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Stdio,
};

use lanecrypt_judges::{Judge, python, trials};
use lanecrypt_tink::{
    Cost, Error, Hash, Keyset, Options, Parameters, Scheme, StreamingKey, Template, open_file,
    seal_file,
};
use libtest_mimic::{Arguments, Failed};
use serde_json::{Value, json};
use tempfile::TempDir;

const TINK: Judge = python("tink");
const CRYPTOGRAPHY: Judge = python("cryptography");
/// Associated data of every file here.
const AD: &str = "a name, a version";

fn main() {
    let all = trials(vec![
        ("the_wheel_opens_ours", &[TINK], the_wheel_opens_ours),
        ("the_wheel_opens_any_parameters", &[TINK], the_wheel_opens_any_parameters),
        ("we_open_the_wheels", &[TINK], we_open_the_wheels),
        ("both_refuse_what_was_changed", &[TINK], both_refuse_what_was_changed),
        ("the_wheel_opens_under_a_passphrase", &[TINK, CRYPTOGRAPHY], under_a_passphrase),
        ("the_wheel_opens_with_any_key_of_a_keyset", &[TINK], any_key_of_a_keyset),
    ]);
    libtest_mimic::run(&Arguments::from_args(), all).exit();
}

/// Lengths round the boundaries of segments.
fn lengths(parameters: Parameters) -> Vec<u64> {
    let layout = parameters.layout();
    let ends = [0, 1, 2].map(|segment| layout.plaintext_of(segment).end);
    let mut lengths = vec![0, 1, 15, 16, 17, ends[0] / 2];
    lengths.extend(ends.into_iter().flat_map(|end| [end - 1, end, end + 1]));
    lengths
}

fn text(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

fn options() -> Options<'static> {
    Options { associated_data: AD.as_bytes(), ..Options::default() }
}

/// Tasks for the wheel, and the folder of their files.
struct Wheel {
    folder: TempDir,
    tasks: Vec<Value>,
}

impl Wheel {
    fn new() -> Result<Self, Failed> {
        Ok(Self { folder: TempDir::new()?, tasks: Vec::new() })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<PathBuf, Failed> {
        let path = self.path(name);
        fs::write(&path, bytes)?;
        Ok(path)
    }

    fn task(&mut self, what: &str, keyset: &Path, sealed: &Path, plain: &Path) {
        let task =
            json!({"do": what, "keyset": keyset, "sealed": sealed, "plain": plain, "ad": AD});
        self.tasks.push(task);
    }

    /// Has one Python do all tasks.
    fn run(&mut self) -> Result<(), Failed> {
        let script = self.write("wheel.py", include_str!("wheel.py"))?;
        let mut command = TINK.command()?;
        let command = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut python = command.spawn()?;
        let tasks = Value::from(std::mem::take(&mut self.tasks)).to_string();
        python.stdin.take().ok_or("no pipe")?.write_all(tasks.as_bytes())?;
        let output = python.wait_with_output()?;
        let failures = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || !failures.is_empty() {
            return Err(format!("{}: {failures}", output.status).into());
        }
        Ok(())
    }
}

fn the_wheel_opens_ours() -> Result<(), Failed> {
    let mut wheel = Wheel::new()?;
    for template in Template::ALL {
        let keyset = Keyset::generate(template.parameters())?;
        let json = wheel.write(&format!("{template}.json"), &*keyset.to_json()?)?;
        for bytes in lengths(template.parameters()) {
            let plain = wheel.write(&format!("{bytes}"), text(bytes))?;
            let sealed = wheel.path(&format!("{template}.{bytes}"));
            seal_file(&keyset, &plain, &sealed, options())?;
            wheel.task("open", &json, &sealed, &plain);
        }
    }
    wheel.run()
}

/// Every hash, the shortest and the longest tags, segments of odd sizes.
fn the_wheel_opens_any_parameters() -> Result<(), Failed> {
    const HASHES: [Hash; 3] = [Hash::Sha1, Hash::Sha256, Hash::Sha512];
    let mut all = Vec::new();
    for hkdf in HASHES {
        all.push(Parameters::new(Scheme::Gcm, hkdf, 16, 16 + 24 + 7)?);
        all.push(Parameters::new(Scheme::Gcm, hkdf, 32, 12_345)?);
        for hash in HASHES {
            for (tag_bytes, segment_bytes) in [(10, 75), (hash.bytes() as u8, 4097)] {
                let scheme = Scheme::CtrHmac { hash, tag_bytes };
                all.push(Parameters::new(scheme, hkdf, 32, segment_bytes)?);
            }
        }
    }
    let mut wheel = Wheel::new()?;
    for (i, parameters) in all.into_iter().enumerate() {
        let keyset = Keyset::generate(parameters)?;
        let json = wheel.write(&format!("{i}.json"), &*keyset.to_json()?)?;
        for bytes in lengths(parameters) {
            let plain = wheel.write(&format!("{bytes}"), text(bytes))?;
            let sealed = wheel.path(&format!("{i}.{bytes}"));
            seal_file(&keyset, &plain, &sealed, options())?;
            wheel.task("open", &json, &sealed, &plain);
        }
    }
    wheel.run()
}

fn we_open_the_wheels() -> Result<(), Failed> {
    let mut wheel = Wheel::new()?;
    let mut cases = Vec::new();
    for template in Template::ALL {
        let json = wheel.path(&format!("{template}.json"));
        wheel.tasks.push(json!({"do": "make", "template": template.name(), "keyset": json}));
        for bytes in lengths(template.parameters()) {
            let plain = wheel.write(&format!("{bytes}"), text(bytes))?;
            let sealed = wheel.path(&format!("{template}.{bytes}"));
            wheel.task("seal", &json, &sealed, &plain);
            cases.push((template, json.clone(), sealed, plain));
        }
    }
    wheel.run()?;
    let opened = wheel.path("opened");
    for (template, json, sealed, plain) in cases {
        let keyset = Keyset::from_json(&fs::read_to_string(json)?)?;
        assert_eq!(keyset.primary()?.parameters(), &template.parameters());
        open_file(&keyset, &sealed, &opened, options())?;
        assert!(fs::read(&opened)? == fs::read(&plain)?, "{}", sealed.display());
    }
    Ok(())
}

/// What was changed of a sealed file of three segments, by name.
fn changed(template: Template, sealed: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let (segment, header) =
        (template.parameters().segment_bytes() as usize, template.parameters().header_bytes());
    let flipped = |at: usize| {
        let mut changed = sealed.to_vec();
        changed[at] ^= 0x10;
        changed
    };
    let mut swapped = sealed.to_vec();
    let (first, second) = swapped[segment..].split_at_mut(segment);
    first.swap_with_slice(&mut second[..segment]);
    vec![
        ("length", flipped(0)),
        ("salt", flipped(1)),
        ("prefix", flipped(header - 1)),
        ("first ciphertext", flipped(header)),
        ("first tag", flipped(segment - 1)),
        ("later ciphertext", flipped(2 * segment + 5)),
        ("last tag", flipped(sealed.len() - 1)),
        ("a byte less", sealed[..sealed.len() - 1].to_vec()),
        ("a byte more", [sealed, &[0]].concat()),
        ("cut at a boundary", sealed[..2 * segment].to_vec()),
        ("cut after the first", sealed[..segment].to_vec()),
        ("header alone", sealed[..header].to_vec()),
        ("nothing", Vec::new()),
        ("swapped", swapped),
        ("repeated", [&sealed[..2 * segment], &sealed[segment..]].concat()),
    ]
}

fn both_refuse_what_was_changed() -> Result<(), Failed> {
    let mut wheel = Wheel::new()?;
    let opened = wheel.path("opened");
    for template in Template::ALL {
        let keyset = Keyset::generate(template.parameters())?;
        let json = wheel.write(&format!("{template}.json"), &*keyset.to_json()?)?;
        let bytes = template.parameters().layout().plaintext_of(3).start + 100;
        let plain = wheel.write("plain", text(bytes))?;
        let sealed = wheel.path("sealed");
        seal_file(&keyset, &plain, &sealed, options())?;
        for (name, bytes) in changed(template, &fs::read(&sealed)?) {
            let case = wheel.write(&format!("{template} {name}"), bytes)?;
            wheel.task("refuse", &json, &case, &plain);
            let ours = open_file(&keyset, &case, &opened, options());
            let is_refused = ours.as_ref().is_err_and(Error::is_not_authentic);
            assert!(is_refused && !opened.exists(), "{template} {name}: {ours:?}");
        }
    }
    wheel.run()
}

fn under_a_passphrase() -> Result<(), Failed> {
    let mut wheel = Wheel::new()?;
    let keyset = Keyset::generate(Template::default().parameters())?;
    let plain = wheel.write("plain", text(1000))?;
    let sealed = wheel.path("sealed");
    seal_file(&keyset, &plain, &sealed, options())?;
    let odd = Cost { memory_kib: 100, passes: 2, lanes: 3 };
    for (name, cost) in [("default", Cost::default()), ("odd", odd)] {
        let json = keyset.to_json_with_passphrase("pässword".as_bytes(), cost)?;
        let json = wheel.write(name, json)?;
        wheel.task("open", &json, &sealed, &plain);
        let task = wheel.tasks.last_mut().ok_or("a task")?;
        task["passphrase"] = "pässword".into();
    }
    wheel.run()
}

fn any_key_of_a_keyset() -> Result<(), Failed> {
    let mut wheel = Wheel::new()?;
    let mut keyset = Keyset::generate(Template::ALL[0].parameters())?;
    let plain = wheel.write("plain", text(5000))?;
    let mut all = Vec::new();
    for template in Template::ALL {
        let id = keyset.add(&StreamingKey::generate(template.parameters())?)?;
        keyset.set_primary(id)?;
        let sealed = wheel.path(template.name());
        seal_file(&keyset, &plain, &sealed, options())?;
        all.push(sealed);
    }
    let json = wheel.write("keyset", &*keyset.to_json()?)?;
    for sealed in all {
        wheel.task("open", &json, &sealed, &plain);
    }
    wheel.run()
}
