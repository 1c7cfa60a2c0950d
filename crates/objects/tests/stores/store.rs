//! The store of the tests: one moto for all, on loopback, asked through a pipe.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
};

use lanecrypt_judges::{Judge, python};
use lanecrypt_objects::{Location, Stores};
use lanecrypt_tink::{Keyset, Template};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const MOTO: Judge = python("moto.server");
pub(crate) const BOTO: Judge = python("boto3");
pub(crate) const TINK: Judge = python("tink");

static SERVER: Mutex<Option<Server>> = Mutex::new(None);

struct Server {
    endpoint: String,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Ends with its input.
    _process: Child,
}

impl Server {
    fn start() -> Result<Self, Failed> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/store.py");
        let mut command = MOTO.command()?;
        let command = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let input = process.stdin.take().ok_or("no pipe")?;
        let output = BufReader::new(process.stdout.take().ok_or("no pipe")?);
        let mut server = Self { endpoint: String::new(), input, output, _process: process };
        let endpoint = server.line()?;
        endpoint.as_str().ok_or("no endpoint")?.clone_into(&mut server.endpoint);
        Ok(server)
    }

    fn line(&mut self) -> Result<Value, Failed> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    fn ask(&mut self, task: &Value) -> Result<Value, Failed> {
        writeln!(self.input, "{task}")?;
        let mut answer = self.line()?;
        match answer.get("error") {
            Some(error) => Err(format!("{task}: {error}").into()),
            None => Ok(answer["result"].take()),
        }
    }
}

/// A test's own part of the store, a folder, and a keyset.
pub(crate) struct Place {
    name: &'static str,
    pub(crate) folder: TempDir,
    pub(crate) keyset: Keyset,
    pub(crate) stores: Stores,
    pub(crate) settings: [(&'static str, String); 5],
}

impl Place {
    pub(crate) fn new(name: &'static str) -> Result<Self, Failed> {
        let settings = [
            ("AWS_ENDPOINT_URL", server()?.as_ref().ok_or("no server")?.endpoint.clone()),
            ("AWS_ACCESS_KEY_ID", "testing".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "a-secret-of-the-tests".to_owned()),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ];
        let borrowed = settings.iter().map(|(name, value)| (*name, value.as_str()));
        let stores = Stores::with_settings(borrowed)?;
        let keyset = Keyset::generate(Template::Aes256GcmHkdf1Mb.parameters())?;
        let place = Self { name, folder: TempDir::new()?, keyset, stores, settings };
        fs::write(place.path("keyset"), &*place.keyset.to_json()?)?;
        Ok(place)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str) -> Location {
        Location::File(self.path(name))
    }

    /// The key of an object that is this test's.
    pub(crate) fn key(&self, name: &str) -> String {
        format!("{}/{name}", self.name)
    }

    pub(crate) fn object(&self, name: &str) -> Location {
        format!("s3://bucket/{}", self.key(name)).parse().expect("an address")
    }

    pub(crate) fn ask(&self, mut task: Value) -> Result<Value, Failed> {
        if let Some(key) = task.get("key").and_then(Value::as_str) {
            task["key"] = self.key(key).into();
        }
        server()?.as_mut().ok_or("no server")?.ask(&task)
    }

    /// Puts a text at a key, and into a file of the same name.
    pub(crate) fn put(&self, key: &str, text: &[u8]) -> Result<(), Failed> {
        fs::write(self.path(key), text)?;
        self.ask(json!({"do": "put", "key": key, "path": self.path(key)}))?;
        Ok(())
    }

    /// What boto3 finds at a key.
    pub(crate) fn get(&self, key: &str) -> Result<Vec<u8>, Failed> {
        let path = self.path("got");
        self.ask(json!({"do": "get", "key": key, "path": path}))?;
        Ok(fs::read(path)?)
    }

    /// Whether there is an object, and how many uploads are under way.
    pub(crate) fn state(&self, key: &str) -> Result<(bool, u64), Failed> {
        let prefix = self.key(key);
        let keys = self.ask(json!({"do": "keys", "prefix": prefix}))?;
        let uploads = self.ask(json!({"do": "uploads", "prefix": prefix}))?;
        Ok((keys != json!([]), uploads.as_u64().ok_or("no number")?))
    }

    /// Fails where the wheel does not open an object, or finds another text than a file has.
    pub(crate) fn wheel_opens(&self, key: &str, plain: &str, ad: &str) -> Result<(), Failed> {
        let (keyset, plain) = (self.path("keyset"), self.path(plain));
        let task = json!({"do": "opens", "keyset": keyset, "key": key, "plain": plain, "ad": ad});
        if self.ask(task)? == json!(true) { Ok(()) } else { Err("another plaintext".into()) }
    }
}

fn server() -> Result<MutexGuard<'static, Option<Server>>, Failed> {
    let mut server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    if server.is_none() {
        *server = Some(Server::start()?);
    }
    Ok(server)
}

/// A text of which no part is like another.
pub(crate) fn text(bytes: usize) -> Vec<u8> {
    let words = (0_u64..).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i << 7);
    let mut text: Vec<u8> = words.take(bytes.div_ceil(8)).flat_map(u64::to_le_bytes).collect();
    text.truncate(bytes);
    text
}
