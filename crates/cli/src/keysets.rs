//! `lanecrypt keyset`, and keysets of the other commands: Tink's JSON, in cleartext or under a passphrase.

mod change;

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, builder::PossibleValuesParser};
use lanecrypt_tink::{
    Cost, Error, KeyEntry, Keyset, NoSuchTemplate, Output, Parameters, Status, StreamingKey,
    Template,
};
use serde_json::json;
use zeroize::Zeroizing;

use crate::{
    arguments::Printed,
    failure::Failure,
    file::{print_data, print_line},
    lists::{print, table},
    secret::{self, Secret},
    signals,
};

const ADVICE: &str = "\
A keyset is a JSON file in the format of Tink's libraries. Anyone who has it can open what it sealed. If it is lost,
so is everything that it sealed: keep a copy.

Examples:
  lanecrypt keyset new my.keys
  lanecrypt keyset new --passphrase my.keys          prompts for a passphrase, twice
  lanecrypt keyset new --template AES128_GCM_HKDF_4KB my.keys
  lanecrypt keyset show --keyset my.keys

To replace a key; the old one opens what it sealed until it is disabled:
  lanecrypt keyset add --keyset my.keys              prints the id of the new key
  lanecrypt keyset promote --keyset my.keys 1234     seals with it from now on
  lanecrypt keyset disable --keyset my.keys 987      the old key no longer opens anything; `enable` undoes this
  lanecrypt keyset destroy --keyset my.keys 987      what the old key sealed cannot be opened again

A sealed file does not name its key, only the key's size. `lanecrypt open` tries all enabled keys of a keyset.";

/// Creates, lists and changes keys for `seal` and `open`.
#[derive(Debug, Args)]
#[command(after_help = ADVICE)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Creates a keyset with one new key.
    New {
        /// Cipher and segment size, by Tink's template name.
        #[arg(long, value_name = "NAME", default_value = Template::default().name(),
              value_parser = PossibleValuesParser::new(Template::ALL.map(Template::name)))]
        template: String,
        /// Encrypts the keyset under a passphrase: the first line of FILE, or prompted for without FILE.
        #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
        #[expect(
            clippy::option_option,
            reason = "so clap has an option whose value may be left out"
        )]
        passphrase: Option<Option<PathBuf>>,
        /// New file, which only you may read; an existing file is never overwritten. `-` is standard output.
        #[arg(default_value = "-")]
        file: PathBuf,
    },
    /// Adds a new key that can open files, and prints its id.
    Add {
        #[command(flatten)]
        source: Source,
        /// Cipher and segment size, by Tink's template name.
        #[arg(long, value_name = "NAME", default_value = Template::default().name(),
              value_parser = PossibleValuesParser::new(Template::ALL.map(Template::name)))]
        template: String,
        /// Also makes the new key the one that seals.
        #[arg(long)]
        promote: bool,
    },
    /// Makes a key the one that seals. All other keys still open files.
    Promote(OneKey),
    /// Disables a key: it opens nothing until it is enabled again.
    Disable(OneKey),
    /// Enables a disabled key.
    Enable(OneKey),
    /// Destroys a key but keeps its id. What the key sealed can be opened only with a copy of the keyset.
    Destroy(OneKey),
    /// Lists all keys of a keyset, including disabled and destroyed ones, without secrets.
    Show {
        #[command(flatten)]
        source: Source,
        #[command(flatten)]
        printed: Printed,
    },
}

/// A key of a keyset, for clap.
#[derive(Debug, Args)]
struct OneKey {
    #[command(flatten)]
    source: Source,
    /// Id of the key, as listed by `lanecrypt keyset show`.
    id: u32,
}

impl OneKey {
    fn change(
        &self,
        change: impl FnOnce(&mut Keyset, u32) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        change::change(&self.source, |keyset| change(keyset, self.id), Ok)
    }
}

/// A keyset, for clap.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// Keyset file: Tink's JSON, as created by `lanecrypt keyset new`. `-` is standard input.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) keyset: PathBuf,
    /// File whose first line is the passphrase of a keyset that is under one; without it, the passphrase is
    /// prompted for.
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
}

impl Source {
    /// Reads the keyset, and asks for a passphrase if it is under one.
    pub(crate) fn read(&self) -> Result<Keyset, Failure> {
        self.unwrap(&secret::read(&self.keyset, secret::KEYSET)?).map(|(keyset, _)| keyset)
    }

    /// The keyset that a file's bytes are, and what it is under.
    fn unwrap(&self, bytes: &[u8]) -> Result<(Keyset, Option<Wrapping>), Failure> {
        let path = self.keyset.display();
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Failure::Usage(format!("{path}: not a keyset")))?;
        let named = |error: Error| Failure::from(error).of_file(&path);
        if !is_wrapped(text) {
            let keyset = Keyset::from_json(text).map_err(named)?;
            if let Some(file) = &self.passphrase_file {
                let file = file.display();
                let text = format!("--passphrase-file {file}: {path} is not under a passphrase");
                return Err(Failure::Usage(text));
            }
            return Ok((keyset, None));
        }
        let cost = Cost::of_json(text).map_err(named)?;
        let passphrase = secret::passphrase(self.passphrase_file.as_deref(), false)?;
        let keyset = Keyset::from_json_with_passphrase(text, &passphrase).map_err(named)?;
        Ok((keyset, Some(Wrapping { passphrase, cost })))
    }
}

/// What a keyset is encrypted under.
struct Wrapping {
    passphrase: Secret,
    cost: Cost,
}

/// The JSON of a keyset, in cleartext or encrypted.
fn json_of(keyset: &Keyset, wrapping: Option<&Wrapping>) -> Result<Zeroizing<String>, Error> {
    match wrapping {
        None => keyset.to_json(),
        Some(Wrapping { passphrase, cost }) => {
            keyset.to_json_with_passphrase(passphrase, *cost).map(Zeroizing::new)
        }
    }
}

/// Whether a keyset is under a passphrase.
fn is_wrapped(text: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Wrapped {
        #[serde(rename = "kdf")]
        _kdf: serde::de::IgnoredAny,
    }
    serde_json::from_str::<Wrapped>(text).is_ok()
}

impl Arguments {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match &self.command {
            Command::New { template, passphrase, file } => new(template, passphrase.as_ref(), file),
            Command::Add { source, template, promote } => add(source, template, *promote),
            Command::Promote(key) => key.change(Keyset::set_primary),
            Command::Disable(key) => key.change(Keyset::disable),
            Command::Enable(key) => key.change(Keyset::enable),
            Command::Destroy(key) => key.change(Keyset::destroy),
            Command::Show { source, printed } => show(source, *printed),
        }
    }
}

fn new(template: &str, passphrase: Option<&Option<PathBuf>>, file: &Path) -> Result<(), Failure> {
    let is_stream = file.as_os_str() == "-";
    if !is_stream && fs::symlink_metadata(file).is_ok() {
        return Err(is_there(file)); // before the user types a passphrase
    }
    let keyset = Keyset::generate(parameters_of(template)?)?;
    let wrapping = match passphrase {
        None => None,
        Some(file) => {
            let passphrase = secret::passphrase(file.as_deref(), true)?;
            Some(Wrapping { passphrase, cost: Cost::default() })
        }
    };
    let text = json_of(&keyset, wrapping.as_ref())?;
    if is_stream {
        return print_data(text.trim_end());
    }
    let output = Output::private(file)?;
    signals::remove_when_interrupted(output.temporary().to_owned());
    writeln!(output.file(), "{}", text.trim_end()).map_err(Failure::of(file.display()))?;
    match output.commit_new() {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
            Err(is_there(file)) // made meanwhile
        }
        committed => Ok(committed?),
    }
}

fn is_there(file: &Path) -> Failure {
    Failure::Usage(format!("{}: already exists, and keys are never overwritten", file.display()))
}

fn parameters_of(template: &str) -> Result<Parameters, Failure> {
    let template: Template =
        template.parse().map_err(|error: NoSuchTemplate| Failure::Usage(error.to_string()))?;
    Ok(template.parameters())
}

fn add(source: &Source, template: &str, promote: bool) -> Result<(), Failure> {
    let key = StreamingKey::generate(parameters_of(template)?)?;
    let add = |keyset: &mut Keyset| -> Result<u32, Error> {
        let id = keyset.add(&key)?;
        if promote {
            keyset.set_primary(id)?;
        }
        Ok(id)
    };
    change::change(source, add, print_line)
}

fn show(source: &Source, printed: Printed) -> Result<(), Failure> {
    let keyset = source.read()?;
    let mut rows = Vec::new();
    let mut json = Vec::new();
    for KeyEntry { id, status, parameters, .. } in keyset.entries() {
        let (scheme, bytes) = match parameters {
            Some(parameters) => (scheme_name(parameters), Some(parameters.segment_bytes())),
            None if status == Status::Destroyed => (String::new(), None),
            None => ("not for sealed files".to_owned(), None),
        };
        let is_primary = id == keyset.primary_id();
        let status = match status {
            Status::Enabled => "enabled",
            Status::Disabled => "disabled",
            Status::Destroyed => "destroyed",
            _ => "unknown",
        };
        let usage = match status {
            "enabled" if bytes.is_none() => "",
            "enabled" if is_primary => "seals and opens",
            "enabled" => "opens",
            other => other,
        };
        let shown = bytes.map_or_else(String::new, |bytes| bytes.to_string());
        rows.push(vec![id.to_string(), scheme.clone(), usage.to_owned(), shown]);
        json.push(json!({
            "id": id, "scheme": scheme, "segment_bytes": bytes, "primary": is_primary, "status": status,
        }));
    }
    print(printed, &table(&["key", "scheme", "use", "segment bytes"], rows, 3), &json.into())
}

/// The name of a template, or where none has these parameters all of them.
fn scheme_name(parameters: Parameters) -> String {
    let template = Template::ALL.into_iter().find(|one| one.parameters() == parameters);
    template.map_or_else(|| format!("{parameters:?}"), |one| one.name().to_owned())
}
