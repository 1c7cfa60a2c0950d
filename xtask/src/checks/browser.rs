//! The book's pages that compute in a browser: Chromium opens them as files, and `WebDriver` presses buttons and reads what
//! they say.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use anyhow::{Context, Error, Result, ensure};
use lanecrypt_roof::{CIPHERS, Prediction};
use serde_json::{Value, json};

use crate::command::{self, apt_install, cargo, one_line, output, run, rustup};

const TARGET: &str = "wasm32-unknown-unknown";
/// What the compiler is told for the module. Here alone it warns of it.
const FLAGS: &str = "-C target-feature=+simd128 -D warnings";
/// The packages of the pages that compute.
const MODULES: [&str; 2] = ["browser", "calculator"];
const DRIVER: &str = "chromedriver";
/// Debian's packages of Chromium and of the program that drives it.
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];
/// What makes the EPUB, and the page that becomes the PDF; Debian's package has the program's name.
const PANDOC: &str = "pandoc";
/// WebGPU on `SwiftShader`, which comes with Chromium and computes on the CPU.
const WITH_GPU: [&str; 4] = [
    "--enable-unsafe-webgpu",
    "--enable-unsafe-swiftshader",
    "--use-webgpu-adapter=swiftshader",
    "--enable-features=Vulkan",
];
/// Seconds that a choice may take.
const PATIENCE: u64 = 120;

/// Builds the book, with the modules of its pages where their target can be installed, and as one file for readers of books
/// and for paper.
pub(crate) fn book(epub: bool, pdf: bool) -> Result<()> {
    let mut options = Vec::new();
    if epub || pdf {
        install(PANDOC, PANDOC)?;
    }
    if epub {
        options.push("--epub");
    }
    if pdf {
        install(PACKAGES[0], PACKAGES[0])?;
        options.push("--pdf");
    }
    match rustup(&["target", "add", TARGET]) {
        Ok(()) => book_with_module(&options),
        Err(error) => {
            println!("NOT built: the modules of pages in a browser: {}", one_line(&error));
            command::book(&options.iter().map(OsStr::new).collect::<Vec<_>>())
        }
    }
}

/// Whether pandoc is here, with which the EPUB is a matter of seconds.
pub(crate) fn has_pandoc() -> bool {
    output(command::command(PANDOC).arg("--version")).is_ok()
}

/// Installs a package if a program of it is not here.
fn install(program: &str, package: &str) -> Result<()> {
    match output(command::command(program).arg("--version")) {
        Ok(_) => Ok(()),
        Err(_) => apt_install(&[package]),
    }
}

fn book_with_module(options: &[&str]) -> Result<()> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--target", TARGET, "--profile", "browser"]);
    build.args(MODULES.map(|module| format!("--package=lanecrypt-{module}")));
    run(build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", FLAGS))?;
    let folder = command::target().join(TARGET).join("browser");
    let modules = MODULES.map(|module| folder.join(format!("lanecrypt_{module}.wasm")));
    let modules = ["--modules".as_ref(), modules[0].as_os_str(), modules[1].as_os_str()];
    let options = options.iter().map(OsStr::new);
    command::book(&modules.into_iter().chain(options).collect::<Vec<_>>())
}

/// Runs each cipher in both directions on a GPU, with the shortest key, since compiling a kernel is most of the time; all
/// key lengths on the CPU; and kernels that are made wrong.
pub(crate) fn check() -> Result<()> {
    rustup(&["target", "add", TARGET])?;
    book_with_module(&[])?;
    if output(command::command(DRIVER).arg("--version")).is_err() {
        apt_install(&PACKAGES)?;
    }
    check_calculator()?;
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let beside = scope.spawn(|| run_on_gpu(&next));
        run_on_gpu(&next).and(beside.join().expect("checks do not panic"))
    })?;
    for (what, script) in WRONG {
        let browser = Browser::open(&WITH_GPU, script)?;
        let cipher = browser.number_of("des")?;
        let verdict = browser.run(cipher, 0, "encrypt")?;
        ensure!(verdict.contains("WRONG"), "{what} is changed, and the page says: {verdict}");
        println!("{what} is changed: {verdict}");
    }
    let none = Browser::open(&[], "")?;
    ensure!(none.place.contains("no GPU that it can use"), "{}", none.place);
    let cpu = Browser::open(&[], "delete Navigator.prototype.gpu;")?;
    ensure!(cpu.place.contains("no WebGPU") && cpu.place.contains("SIMD"), "{}", cpu.place);
    for (cipher, keys) in cpu.offered()?.into_iter().enumerate() {
        (0..keys).try_for_each(|key| cpu.run_both(cipher, key))?;
    }
    Ok(())
}

/// Every cell of the calculator must be what the same Rust says here.
fn check_calculator() -> Result<()> {
    let page = Browser::start(&[], "", "calculator.html")?;
    let ciphers = CIPHERS.iter().enumerate().map(|(i, (_, counts))| (i, *counts, ["", ""]));
    let longer = format!("{} rounds=14", CIPHERS[0].1);
    for (i, counts, [field, value]) in ciphers.chain([(0, &*longer, ["rounds", "14"])]) {
        let cells: Vec<String> = page.script(CALCULATE, &json!([i, field, value]))?;
        let expected = cells_of(&lanecrypt_roof::answer(counts, "").map_err(Error::msg)?);
        ensure!(cells == expected, "{counts}: the page says {cells:?} instead of {expected:?}");
    }
    let wrong: Vec<String> = page.script(CALCULATE, &json!([0, "rounds", "-1"]))?;
    ensure!(wrong == ["rounds: -1 is no count"], "{wrong:?}");
    println!("the calculator agrees for {} ciphers", CIPHERS.len());
    Ok(())
}

/// The cells of a table but for the names of families: lanes, then a card each.
fn cells_of(predictions: &[Prediction]) -> Vec<String> {
    let rows = predictions.chunk_by(|a, b| a.load.family == b.load.family);
    let cells = |row: &[Prediction]| {
        let cards = row.iter().map(Prediction::cell);
        row[0].lanes().into_iter().chain(cards).collect::<Vec<_>>()
    };
    rows.flat_map(cells).collect()
}

/// Runs ciphers on a GPU, each the next one that no other browser has taken.
fn run_on_gpu(next: &AtomicUsize) -> Result<()> {
    let browser = Browser::open(&WITH_GPU, "")?;
    ensure!(browser.place.starts_with("WebGPU: "), "{}", browser.place);
    let count = browser.offered()?.len();
    loop {
        let cipher = next.fetch_add(1, Ordering::Relaxed);
        if cipher >= count {
            return Ok(());
        }
        browser.run_both(cipher, 0)?;
    }
}

/// What is changed in kernels before the page compiles them, each once: a gate, which vectors show, and the place of the
/// last block of a thread, which only many blocks have.
const WRONG: [(&str, &str); 2] = [
    ("a gate", "const changed = (code) => code.replace(/(fn step_round[^]*?) \\^ /, '$1 | ');"),
    ("a place", "const changed = (code) => code.replaceAll('first + 992u', 'first + 991u');"),
];

/// What puts that in the way of the page.
const CHANGING: &str = "
    const create = GPUDevice.prototype.createShaderModule;
    GPUDevice.prototype.createShaderModule = function ({ code }) {
        return create.call(this, { code: changed(code) });
    };";

/// Chromium without a screen, in which the page is open, and the program that drives it.
struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// What the page says of where it computes.
    place: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.ask("DELETE", "", &json!({})); // ends Chromium
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Browser {
    /// Opens the page that encrypts, before whose scripts another one runs.
    fn open(options: &[&str], script: &str) -> Result<Self> {
        let mut browser = Self::start(options, script, "browser.html")?;
        browser.place = browser.script(PLACE, &json!([]))?;
        println!("{}", browser.place);
        Ok(browser)
    }

    /// Opens a page.
    fn start(options: &[&str], script: &str, page: &str) -> Result<Self> {
        let driver = command::command(DRIVER).arg("--port=0").stdout(Stdio::piped()).spawn()?;
        let (session, place) = (String::new(), String::new());
        let mut browser = Self { driver, port: 0, session, place };
        let said = browser.driver.stdout.take().context("chromedriver prints")?;
        let mut lines = BufReader::new(said).lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
        });
        browser.port = port.context("chromedriver names no port")?;
        let common = ["--headless", "--no-sandbox", "--disable-dev-shm-usage"];
        let options = [&common[..], options].concat();
        let wanted = json!({
            "goog:chromeOptions": { "args": options },
            "timeouts": { "script": 1000 * PATIENCE },
        });
        let wanted = json!({ "capabilities": { "alwaysMatch": wanted } });
        let session = browser.ask("POST", "", &wanted)?;
        browser.session = format!("/{}", session["sessionId"].as_str().context("no session")?);
        let changing = if script.contains("changed") { CHANGING } else { "" };
        let parameters = json!({ "source": format!("{script}{changing}") });
        let before =
            json!({ "cmd": "Page.addScriptToEvaluateOnNewDocument", "params": parameters });
        browser.ask("POST", "/goog/cdp/execute", &before)?;
        let page = command::root().join("book/out").join(page);
        browser.ask("POST", "/url", &json!({ "url": format!("file://{}", page.display()) }))?;
        Ok(browser)
    }

    /// A request of `WebDriver`, and the value that comes back.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(PATIENCE + 10)))?;
        write!(
            stream,
            "{method} /session{}{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.session,
            body.len()
        )?;
        let mut answer = BufReader::new(stream);
        let mut length = 0; // the connection stays open
        for line in answer.by_ref().lines() {
            let line = line?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            length =
                line.strip_prefix("content-length:").map_or(Ok(length), |n| n.trim().parse())?;
        }
        let mut answer: Value = serde_json::from_reader(answer.take(length))?;
        let value = answer["value"].take();
        ensure!(value.get("error").is_none(), "{}", value["message"]);
        Ok(value)
    }

    /// What a script hands to `done`. It has the page's form, and `settled` calls a function once the page is at rest.
    fn script<T: serde::de::DeserializeOwned>(&self, script: &str, given: &Value) -> Result<T> {
        let script =
            format!("const [...given] = arguments; const done = given.pop(); {COMMON} {script}");
        let value =
            self.ask("POST", "/execute/async", &json!({ "script": script, "args": given }))?;
        serde_json::from_value(value).context("an unexpected answer of the page")
    }

    /// How many key lengths each cipher has.
    fn offered(&self) -> Result<Vec<usize>> {
        self.script(OFFERED, &json!([]))
    }

    /// The number of a cipher of this name.
    fn number_of(&self, name: &str) -> Result<usize> {
        let find = "done([...elements.cipher.options].findIndex(({ text }) => text.startsWith(given[0])));";
        self.script(find, &json!([name]))
    }

    /// Chooses, presses the button, and gives the verdict.
    fn run(&self, cipher: usize, key: usize, direction: &str) -> Result<String> {
        self.script(PRESS, &json!([cipher, key, direction]))
    }

    /// Runs both directions, which must be right.
    fn run_both(&self, cipher: usize, key: usize) -> Result<()> {
        for direction in ["encrypt", "decrypt"] {
            let verdict = self.run(cipher, key, direction)?;
            println!("{verdict}");
            ensure!(verdict.contains(" Gbit/s") && !verdict.contains("WRONG"), "{verdict}");
        }
        Ok(())
    }
}

const COMMON: &str = "
    const form = document.querySelector('#browser, #calculator');
    const { elements } = form;
    form.dataset.seconds = 0;
    const settled = (then) => ['loading', 'running'].includes(form.dataset.state)
        ? setTimeout(settled, 20, then) : then();
    const choose = (cipher) => {
        elements.cipher.value = cipher;
        elements.cipher.dispatchEvent(new Event('change'));
    };";

/// Chooses a cipher, writes into a field if one is named, and gives the cells behind the families, or what is wrong.
const CALCULATE: &str = "
    settled(() => {
        choose(given[0]);
        if (given[1]) {
            elements[given[1]].value = given[2];
            elements[given[1]].dispatchEvent(new Event('input', { bubbles: true }));
        }
        const rows = [...form.querySelectorAll('tr')].slice(1);
        const cells = rows.flatMap((row) => [...row.cells].slice(1).map((cell) => cell.textContent));
        done(form.dataset.state === 'wrong' ? [elements.verdict.value] : cells);
    });";

const PLACE: &str = "settled(() => done(elements.where.value));";

const OFFERED: &str = "
    done([...elements.cipher.options].map(({ value }) => (choose(value), elements.key.options.length)));";

const PRESS: &str = "
    choose(given[0]);
    elements.key.value = given[1];
    elements.direction.value = given[2];
    elements.run.click();
    settled(() => done(elements.verdict.value));";
