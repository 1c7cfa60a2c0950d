//! The module under OpenSSL: `openssl`, and libcrypto itself by Python's ctypes.

use std::{
    env, fs,
    io::Write,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};

use lanecrypt_judges::{Judge, Test, program, python, trials};
use lanecrypt_openssl_provider::Reason;
use libtest_mimic::{Arguments, Failed};

const OPENSSL: Judge = program("openssl");
/// Python, by a module that it always has.
const PYTHON: Judge = python("ctypes");
const WHEEL: Judge = python("cryptography");
const CURL: Judge = program("curl");

/// Tests of `evp.py`, each a trial.
macro_rules! evp {
    ($($name:literal)*) => {
        [$((concat!("evp_", $name), &[PYTHON][..], (|| evp($name)) as Test)),*]
    };
}

fn main() {
    let arguments = Arguments::from_args();
    let mut all = evp!("names" "pieces" "large" "padding" "copies" "again" "bits" "overlaps"
        "overlaps_of_bits" "parameters" "gcm" "gcm_in_disorder" "gcm_draws_ivs" "gcm_records"
        "gcm_records_that_do_not_come" "gcm_fixed_ivs" "ccm" "ciphers_of_ours_alone" "choice" "keys"
        "processes")
    .to_vec();
    all.push(("enc_both_ways", &[OPENSSL], enc_both_ways));
    all.push(("codes_have_the_texts_of_openssl", &[OPENSSL], texts_of_codes));
    all.push(("backend_by_configuration", &[OPENSSL], backend_by_configuration));
    all.push(("cms_both_ways", &[OPENSSL], cms_both_ways));
    all.push(("tls_both_ways", &[OPENSSL], tls_both_ways));
    all.push(("curl_over_camellia_and_aria", &[OPENSSL, CURL], curl));
    all.push(("the_wheel_takes_the_module", &[WHEEL], wheel));
    libtest_mimic::run(&arguments, trials(all)).exit();
}

/// A folder with the module under the name that OpenSSL looks for.
fn modules() -> Result<tempfile::TempDir, Failed> {
    let folder = tempfile::tempdir()?;
    fs::copy(built()?, folder.path().join("lanecrypt.so"))?;
    Ok(folder)
}

/// The module that cargo built beside this test, since it links the same package.
fn built() -> Result<PathBuf, Failed> {
    let here = env::current_exe()?;
    let mut folders = here.ancestors().skip(1).take(2);
    let name = "liblanecrypt_openssl_provider.so";
    folders
        .find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()))
        .ok_or_else(|| format!("there is no {name} beside {}", here.display()).into())
}

/// Fails with what a program said, if it failed.
fn checked(command: &mut Command) -> Result<Output, Failed> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(output);
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} ended with {}: {error}", output.status).into())
}

fn evp(test: &str) -> Result<(), Failed> {
    let modules = modules()?;
    let mut python = PYTHON.command()?;
    python.args(["-c", include_str!("evp.py"), test]).arg(modules.path());
    checked(&mut python).map(drop)
}

/// `openssl` with providers.
fn openssl(modules: &Path, arguments: &str) -> Result<Command, Failed> {
    let mut command = OPENSSL.command()?;
    command.args(arguments.split_whitespace()).current_dir(modules);
    Ok(command)
}

/// `openssl enc` with the module and without: each opens what the other sealed.
fn enc_both_ways() -> Result<(), Failed> {
    const OURS: &str = "-provider-path . -provider lanecrypt -provider default \
        -propquery provider=lanecrypt";
    const THEIRS: &str = "-provider legacy -provider default";
    let modules = modules()?;
    let data: Vec<u8> = (0..1_000_003_u32).map(|i| (i.wrapping_mul(i) >> 9) as u8).collect();
    fs::write(modules.path().join("plain"), &data)?;
    for (cipher, key_bytes) in [
        ("camellia-256-ctr", 32),
        ("camellia-128-cbc", 16),
        ("aria-192-cfb", 24),
        ("seed-cbc", 16),
        ("sm4-ctr", 16),
        ("des-ede3-cbc", 24),
        ("des-ede3", 24),
        ("aria-128-ofb", 16),
    ] {
        let key = format!("-K {} -iv {}", "1b".repeat(key_bytes), "2c".repeat(16));
        for (sealer, opener) in [(OURS, THEIRS), (THEIRS, OURS)] {
            let seal = format!("enc -e -{cipher} {key} {sealer} -in plain -out sealed");
            checked(&mut openssl(modules.path(), &seal)?)?;
            let open = format!("enc -d -{cipher} {key} {opener} -in sealed -out opened");
            checked(&mut openssl(modules.path(), &open)?)?;
            if fs::read(modules.path().join("opened"))? != data {
                return Err(format!("{cipher}: sealed by {sealer}, opened otherwise").into());
            }
        }
    }
    Ok(())
}

/// What OpenSSL says where a code comes; of a wrong tag there is none.
const TEXTS: &[(Reason, &str)] = &[
    (Reason::NoKey, "no key set"),
    (Reason::KeyLength, "invalid key length"),
    (Reason::IvLength, "invalid iv length"),
    (Reason::OutputTooSmall, "output buffer too small"),
    (Reason::Operation, "cipher operation failed"),
    (Reason::FinalBlock, "wrong final block length"),
    (Reason::BadDecrypt, "bad decrypt"),
    (Reason::Tag, "invalid tag"),
    (Reason::TagLength, "invalid tag length"),
    (Reason::TagNotSet, "tag not set"),
    (Reason::TagNotNeeded, "tag not needed"),
    (Reason::GetParameter, "failed to get parameter"),
    (Reason::SetParameter, "failed to set parameter"),
    (Reason::Data, "invalid data"),
    (Reason::DataUnitTooLarge, "xts data unit is too large"),
    (Reason::DuplicatedKeys, "xts duplicated keys"),
    (Reason::TooManyRecords, "too many records"),
    (Reason::SelfTest, "self test kat failure"),
    (Reason::Memory, "malloc failure"),
    (Reason::Argument, "passed invalid argument"),
    (Reason::Internal, "internal error"),
];

fn texts_of_codes() -> Result<(), Failed> {
    for (reason, text) in TEXTS {
        let code = reason.code().ok_or("a code")?;
        let output = checked(OPENSSL.command()?.args(["errstr", &format!("{code:x}")]))?.stdout;
        let said = String::from_utf8(output)?;
        if !said.trim_end().ends_with(&format!(":Provider routines::{text}")) {
            return Err(format!("{reason:?}: {said}").into());
        }
    }
    Ok(())
}

/// Has a program take the module by its configuration, as the README says.
fn with_module<'a>(command: &'a mut Command, modules: &Path) -> &'a mut Command {
    let configuration = Path::new(env!("CARGO_MANIFEST_DIR")).join("openssl.cnf");
    command.env("OPENSSL_CONF", configuration).env("OPENSSL_MODULES", modules)
}

/// A configuration may name a backend that the module has, and no other.
fn backend_by_configuration() -> Result<(), Failed> {
    let modules = modules()?;
    let sample = include_str!("../openssl.cnf");
    for (backend, loads) in [("cpu", true), ("auto", cfg!(feature = "cuda")), ("fast", false)] {
        let text = sample.replace("# backend = cpu", &format!("backend = {backend}"));
        fs::write(modules.path().join("backend.cnf"), text)?;
        let mut list = openssl(modules.path(), "list -providers")?;
        with_module(&mut list, modules.path()).env("OPENSSL_CONF", "backend.cnf");
        let output = String::from_utf8(list.output()?.stdout)?;
        if output.contains("Lanecrypt") != loads {
            return Err(format!("backend = {backend}: {output}").into());
        }
    }
    Ok(())
}

/// Messages for a certificate (RFC 5652): what identifies ciphers there, and IVs and tags as parameters.
fn cms_both_ways() -> Result<(), Failed> {
    let modules = modules()?;
    let data = prepare_server(modules.path())?;
    for cipher in ["camellia256", "aria-128-cbc", "des3", "camellia-192-ofb", "aria-256-gcm"] {
        for sealer_has_module in [true, false] {
            let seal = format!(
                "cms -encrypt -binary -{cipher} -in served -outform DER -out sealed rsa.pem"
            );
            let open = "cms -decrypt -inform DER -in sealed -inkey rsa.key -out opened";
            for (arguments, has_module) in
                [(seal.as_str(), sealer_has_module), (open, !sealer_has_module)]
            {
                let mut command = openssl(modules.path(), arguments)?;
                if has_module {
                    with_module(&mut command, modules.path());
                }
                checked(&mut command)?;
            }
            if fs::read(modules.path().join("opened"))? != data {
                return Err(format!("{cipher}: opened otherwise").into());
            }
        }
    }
    Ok(())
}

/// Suites of TLS with Camellia and ARIA, each with the version, and what else the server is told.
const SUITES: &[(&str, &str, &str)] = &[
    ("ECDHE-ECDSA-ARIA256-GCM-SHA384", "-tls1_2", ""),
    ("ECDHE-ARIA128-GCM-SHA256", "-tls1_2", ""),
    ("ECDHE-RSA-CAMELLIA256-SHA384", "-tls1_2", ""),
    ("ECDHE-RSA-CAMELLIA128-SHA256", "-tls1_2", "-no_etm"),
    ("CAMELLIA256-SHA", "-tls1_2", "-no_etm"),
    ("CAMELLIA256-SHA", "-tls1_1", ""),
    ("CAMELLIA128-SHA", "-tls1_1", "-no_etm"),
    ("CAMELLIA128-SHA", "-tls1", ""),
    ("CAMELLIA256-SHA", "-tls1", "-no_etm"),
];

/// Makes a file to be served, and certificates.
fn prepare_server(folder: &Path) -> Result<Vec<u8>, Failed> {
    let data: Vec<u8> =
        (0..300_000_u32).map(|i| b'a' + (i.wrapping_mul(i) >> 9) as u8 % 26).collect();
    fs::write(folder.join("served"), &data)?;
    for (name, key) in [("ec", "ec -pkeyopt ec_paramgen_curve:prime256v1"), ("rsa", "rsa:2048")] {
        let request = format!(
            "req -x509 -newkey {key} -nodes -subj /CN=localhost -days 2 -keyout {name}.key -out {name}.pem"
        );
        checked(&mut openssl(folder, &request)?)?;
    }
    Ok(data)
}

/// `openssl s_server`, which serves files, stopped when dropped.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(folder: &Path, has_module: bool, suite: &str, options: &str) -> Result<Self, Failed> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let arguments = format!(
            "s_server -accept 127.0.0.1:{port} -WWW -cert rsa.pem -key rsa.key -dcert ec.pem \
             -dkey ec.key -cipher {suite}:@SECLEVEL=0 {options}"
        );
        let mut command = openssl(folder, &arguments)?;
        if has_module {
            with_module(&mut command, folder);
        }
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Self { child: child.spawn()?, port };
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(server);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err("s_server does not answer".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends by itself only on an error, and then there is nothing to stop.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `s_client` fetches a file of `s_server` by every suite, the module on one side, then on the other.
fn tls_both_ways() -> Result<(), Failed> {
    let modules = modules()?;
    let data = prepare_server(modules.path())?;
    for (suite, version, options) in SUITES {
        for server_has_module in [true, false] {
            let options = format!("{version} {options}");
            let server = Server::start(modules.path(), server_has_module, suite, &options)?;
            let arguments = format!(
                "s_client -connect 127.0.0.1:{} -quiet -ign_eof -cipher {suite}:@SECLEVEL=0 {version}",
                server.port
            );
            let mut client = openssl(modules.path(), &arguments)?;
            if !server_has_module {
                with_module(&mut client, modules.path());
            }
            client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut client = client.spawn()?;
            let mut input = client.stdin.take().ok_or("there is a pipe")?;
            input.write_all(b"GET /served HTTP/1.0\r\n\r\n")?;
            let output = client.wait_with_output()?;
            drop(input);
            if !output.stdout.ends_with(&data) {
                let error = String::from_utf8_lossy(&output.stderr);
                let bytes = output.stdout.len();
                let who = if server_has_module { "server" } else { "client" };
                return Err(format!(
                    "{suite} {options} with the module in the {who}: {bytes} bytes came; {error}"
                )
                .into());
            }
        }
    }
    Ok(())
}

/// curl with the module fetches from a server without.
fn curl() -> Result<(), Failed> {
    let modules = modules()?;
    let data = prepare_server(modules.path())?;
    for suite in ["ECDHE-ECDSA-ARIA256-GCM-SHA384", "ECDHE-RSA-CAMELLIA256-SHA384"] {
        let server = Server::start(modules.path(), false, suite, "-tls1_2")?;
        let mut curl = CURL.command()?;
        curl.args(["-k", "-s", "-S", "--http0.9", "--tls-max", "1.2", "--ciphers"]);
        curl.arg(format!("{suite}:@SECLEVEL=0"));
        curl.arg(format!("https://127.0.0.1:{}/served", server.port));
        let output = checked(with_module(&mut curl, modules.path()))?;
        if !output.stdout.ends_with(&data) {
            return Err(format!("{suite}: {} bytes came", output.stdout.len()).into());
        }
    }
    Ok(())
}

/// Python's wheel `cryptography`, which brings an OpenSSL of its own, gives the same with the module.
fn wheel() -> Result<(), Failed> {
    let modules = modules()?;
    let script = include_str!("wheel.py");
    let alone = checked(WHEEL.command()?.args(["-c", script]))?;
    let mut command = WHEEL.command()?;
    command.args(["-c", script, "lanecrypt"]);
    let ours = checked(with_module(&mut command, modules.path()))?;
    if ours.stdout != alone.stdout {
        return Err("the wheel encrypts otherwise with the module".into());
    }
    Ok(())
}
