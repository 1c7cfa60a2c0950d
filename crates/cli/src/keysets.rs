//! `lanecrypt keyset`, and keysets of the other commands: Tink's JSON, in cleartext or under a passphrase.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, builder::PossibleValuesParser};
use lanecrypt_tink::{Cost, Error, Keyset, Output, Template};
use serde_json::json;
use zeroize::Zeroizing;

use crate::{
    arguments::Printed,
    failure::Failure,
    file::print_line,
    lists::{print, table},
    secret, signals,
};

const ADVICE: &str = "\
A keyset is a file of JSON as Tink's libraries read and write it. Whoever has it opens what it sealed, and what
nobody has any more stays closed for ever: keep a copy.

Examples:
  lanecrypt keyset new my.keys
  lanecrypt keyset new --passphrase my.keys          asked for, twice
  lanecrypt keyset new --template AES128_GCM_HKDF_4KB my.keys
  lanecrypt keyset show my.keys";

/// Makes keys for `seal` and `open`, and shows which there are.
#[derive(Debug, Args)]
#[command(after_help = ADVICE)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Makes a keyset with one new key.
    New {
        /// Cipher and segments, by Tink's name.
        #[arg(long, value_name = "NAME", default_value = "AES256_GCM_HKDF_1MB",
              value_parser = PossibleValuesParser::new(Template::ALL.map(Template::name)))]
        template: String,
        /// Encrypts it under a passphrase: the first line of the file, or typed if none is named.
        #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
        passphrase: Option<Option<PathBuf>>,
        /// What is written, and must not be there; only you may read it. `-` is standard output.
        #[arg(default_value = "-")]
        file: PathBuf,
    },
    /// Lists the keys of a keyset, without the secrets.
    Show {
        #[command(flatten)]
        source: Source,
        #[command(flatten)]
        printed: Printed,
    },
}

/// A keyset, for clap.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// The keyset: Tink's JSON, as `lanecrypt keyset new` makes it. `-` is standard input.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) keyset: PathBuf,
    /// A file whose first line is the keyset's passphrase; it is asked for where none is named.
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
}

impl Source {
    /// Reads the keyset, and asks for a passphrase if it is under one.
    pub(crate) fn read(&self) -> Result<Keyset, Failure> {
        let bytes = secret::read(&self.keyset, "the keyset")?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| Failure::Usage(format!("{}: no keyset", self.keyset.display())))?;
        if !is_wrapped(text) {
            return Ok(Keyset::from_json(text)?);
        }
        let passphrase = secret::passphrase(self.passphrase_file.as_deref(), false)?;
        Ok(Keyset::from_json_with_passphrase(text, &passphrase)?)
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
            Command::Show { source, printed } => show(source, *printed),
        }
    }
}

fn new(template: &str, passphrase: Option<&Option<PathBuf>>, file: &Path) -> Result<(), Failure> {
    let is_stream = file.as_os_str() == "-";
    if !is_stream && fs::symlink_metadata(file).is_ok() {
        return Err(is_there(file)); // before somebody types a passphrase
    }
    let template: Template =
        template.parse().map_err(|_| Failure::Usage("there is no such template".to_owned()))?;
    let keyset = Keyset::generate(template.parameters())?;
    let text = Zeroizing::new(match passphrase {
        None => keyset.to_json()?.to_string(),
        Some(file) => {
            let passphrase = secret::passphrase(file.as_deref(), true)?;
            keyset.to_json_with_passphrase(&passphrase, Cost::default())?
        }
    });
    if is_stream {
        return print_line(&*text);
    }
    let output = Output::private(file)?;
    signals::remove_when_interrupted(output.temporary().to_owned());
    writeln!(output.file(), "{}", *text).map_err(Failure::of(file.display()))?;
    match output.commit_new() {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
            Err(is_there(file)) // made meanwhile
        }
        committed => Ok(committed?),
    }
}

fn is_there(file: &Path) -> Failure {
    Failure::Usage(format!("{}: it is there, and keys are not overwritten", file.display()))
}

fn show(source: &Source, printed: Printed) -> Result<(), Failure> {
    let keyset = source.read()?;
    let mut rows = Vec::new();
    let mut json = Vec::new();
    for (id, key) in keyset.keys() {
        let parameters = key.parameters();
        let template = Template::ALL.into_iter().find(|one| one.parameters() == *parameters);
        let scheme =
            template.map_or_else(|| format!("{parameters:?}"), |one| one.name().to_owned());
        let bytes = parameters.segment_bytes();
        let is_primary = id == keyset.primary_id();
        let seals = if is_primary { "seals and opens" } else { "opens" };
        rows.push(vec![id.to_string(), scheme.clone(), seals.to_owned(), bytes.to_string()]);
        json.push(json!({
            "id": id, "scheme": scheme, "segment_bytes": bytes, "primary": is_primary,
        }));
    }
    print(printed, &table(&["key", "scheme", "use", "segment bytes"], rows, 3), &json.into())
}
