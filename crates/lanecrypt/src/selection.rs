//! Lists of backends as people write them on command lines and in environment variables.

use std::{env, fmt};

use crate::{
    CIPHERS,
    registry::{Backend, CipherDescription, Platform},
};

/// The environment variable that lists the backends which must run here: tests and `kat` fail for
/// one that cannot, instead of skipping it.
pub const EXPECT: &str = "LANECRYPT_EXPECT";

/// Backends chosen by name: `bitslice-u64`, of every cipher that has it, or `aes/cuda-bitslice`.
///
/// `cpu` is every backend of the CPU. A list has commas between its items and may have spaces around
/// them. Every item must name something, so that a typo is an error and not a backend less.
///
/// ```
/// use lanecrypt::{CIPHERS, aes::AES, des::DES, registry::Selection};
///
/// let selection = Selection::parse("bitslice-u64, aes/table32", CIPHERS)?;
/// let chosen = |cipher: &'static lanecrypt::registry::CipherDescription| {
///     let backends = cipher.backends.iter().filter(|backend| selection.contains(cipher, backend));
///     backends.map(|backend| backend.id).collect::<Vec<_>>()
/// };
/// assert_eq!(chosen(&AES), ["table32", "bitslice-u64"]);
/// assert_eq!(chosen(&DES), ["bitslice-u64"]);
///
/// let error = Selection::parse("bitslice-u46", CIPHERS).unwrap_err();
/// assert!(error.to_string().starts_with("there is no backend \"bitslice-u46\"; known are reference,"));
/// # Ok::<(), lanecrypt::registry::SelectionError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    items: Vec<Item>,
}

/// Every backend of the CPU, as an item.
const CPU: &str = "cpu";

/// A backend of one cipher, or of every cipher that has it; or every one of the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    cipher: Option<String>,
    id: String,
}

/// Why a text is no list of backends.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectionError {
    /// Nothing stands where an item should.
    NoItem {
        /// The whole list.
        list: String,
    },
    /// No cipher has this name.
    NoSuchCipher {
        /// The name given.
        given: String,
        /// The names there are.
        known: String,
    },
    /// No backend has this id: of that cipher, or of any.
    NoSuchBackend {
        /// The item given.
        given: String,
        /// The ids there are.
        known: String,
    },
    /// The variable [`EXPECT`] holds no such list.
    Expect(Box<Self>),
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoItem { list } => {
                write!(f, "{list:?} has no backend where one should stand; a list is ID,CIPHER/ID")
            }
            Self::NoSuchCipher { given, known } => {
                write!(f, "there is no cipher {given:?}; known are {known}")
            }
            Self::NoSuchBackend { given, known } => {
                write!(f, "there is no backend {given:?}; known are {known}")
            }
            Self::Expect(error) => write!(f, "{EXPECT}: {error}"),
        }
    }
}

impl std::error::Error for SelectionError {}

impl Selection {
    /// Reads a list of backends of `ciphers`, [`CIPHERS`] as a rule.
    ///
    /// # Errors
    /// [`SelectionError`] for the first item that names nothing, with what there is to name.
    pub fn parse(
        list: &str,
        ciphers: &[&'static CipherDescription],
    ) -> Result<Self, SelectionError> {
        let items = list.split(',').map(|item| match item.trim() {
            "" => Err(SelectionError::NoItem { list: list.to_owned() }),
            item => Item::parse(item, ciphers),
        });
        Ok(Self { items: items.collect::<Result<_, _>>()? })
    }

    /// The backends that the environment variable [`EXPECT`] lists; none where it is not set.
    ///
    /// # Errors
    /// [`SelectionError::Expect`] where it is set to anything but a list, so also to nothing.
    pub fn expected() -> Result<Self, SelectionError> {
        let Some(list) = env::var_os(EXPECT) else {
            return Ok(Self::default());
        };
        // What is not UTF-8 becomes characters that no name has.
        Self::parse(&list.to_string_lossy(), CIPHERS)
            .map_err(|error| SelectionError::Expect(Box::new(error)))
    }

    /// Whether the list names this backend of this cipher.
    #[must_use]
    pub fn contains(&self, cipher: &CipherDescription, backend: &Backend) -> bool {
        self.items.iter().any(|item| item.names(cipher, backend))
    }

    /// Takes what `other` lists too.
    pub fn extend(&mut self, other: Self) {
        self.items.extend(other.items);
    }
}

impl Item {
    fn parse(given: &str, ciphers: &[&'static CipherDescription]) -> Result<Self, SelectionError> {
        let (cipher, id) = match given.split_once('/') {
            Some((cipher, id)) => (Some(cipher.to_owned()), id.to_owned()),
            None => (None, given.to_owned()),
        };
        let of: Vec<_> = match &cipher {
            None => ciphers.to_vec(),
            Some(name) => ciphers.iter().copied().filter(|cipher| cipher.name == name).collect(),
        };
        if let (true, Some(given)) = (of.is_empty(), &cipher) {
            let known = listed(ciphers.iter().map(|cipher| cipher.name));
            return Err(SelectionError::NoSuchCipher { given: given.clone(), known });
        }
        let backends = || of.iter().flat_map(|cipher| cipher.backends);
        if id == CPU || backends().any(|backend| backend.id == id) {
            return Ok(Self { cipher, id });
        }
        let known = listed(backends().map(|backend| backend.id));
        Err(SelectionError::NoSuchBackend { given: given.to_owned(), known })
    }

    fn names(&self, cipher: &CipherDescription, backend: &Backend) -> bool {
        let is_of = self.cipher.as_ref().is_none_or(|name| name == cipher.name);
        let is_cpu = self.id == CPU && backend.platform == Platform::Cpu;
        is_of && (is_cpu || self.id == backend.id)
    }
}

/// The names, each once.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{Selection, SelectionError};
    use crate::{CIPHERS, aes::AES, des::DES};

    fn error(list: &str) -> String {
        Selection::parse(list, CIPHERS).expect_err("the list is wrong").to_string()
    }

    #[test]
    fn an_item_names_a_backend_of_every_cipher_or_of_one() {
        let selection = Selection::parse(" table32 ,aes/bitslice-u64", CIPHERS).expect("a list");
        let names = |cipher: &'static crate::registry::CipherDescription, id| {
            let mut backends = cipher.backends.iter().filter(|backend| backend.id == id);
            backends.any(|backend| selection.contains(cipher, backend))
        };
        assert!(names(&AES, "table32") && names(&DES, "table32"));
        assert!(names(&AES, "bitslice-u64") && !names(&DES, "bitslice-u64"));
        assert!(!names(&AES, "reference"));
        let cpu = Selection::parse("aes/cpu", CIPHERS).expect("a list");
        for backend in AES.backends {
            let is_cpu = backend.platform == crate::registry::Platform::Cpu;
            assert_eq!(cpu.contains(&AES, backend), is_cpu, "{backend:?}");
        }
        assert!(!cpu.contains(&DES, &DES.backends[0]));
        let mut selection = Selection::default();
        assert!(!selection.contains(&AES, &AES.backends[0]));
        selection.extend(Selection::parse("reference", CIPHERS).expect("a list"));
        assert!(selection.contains(&AES, &AES.backends[0]));
    }

    #[test]
    fn what_names_nothing_is_an_error() {
        for list in ["", " ", ",", "table32,", "table32,,reference"] {
            let error = Selection::parse(list, CIPHERS);
            assert_eq!(error, Err(SelectionError::NoItem { list: list.to_owned() }));
        }
        assert!(error("abacus").contains("there is no backend \"abacus\"; known are reference, "));
        assert!(error("AES/table32").contains("there is no cipher \"AES\"; known are aes, "));
        assert!(error("table32,rot13/table32").contains("there is no cipher \"rot13\""));
        // The ids that are named are those of the cipher asked for, each once.
        assert!(error("des/vaes-avx2").starts_with("there is no backend \"des/vaes-avx2\""));
        assert!(!error("des/vaes-avx2").contains(", vaes-avx2"));
        assert_eq!(error("abacus").matches("bitslice-u32").count(), 1);
    }
}
