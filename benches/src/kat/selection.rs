//! Which ciphers and backends run, chosen by name out of a registry.

use lanecrypt::{Backend, CipherDescription, Platform};

/// What was chosen by name. An empty list of ciphers or backends means all of them.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Ciphers to run.
    pub ciphers: Vec<String>,
    /// Backends to run: `bitslice-u64`, or `aes/bitslice-u64` for one cipher's only.
    pub backends: Vec<String>,
    /// The platform whose backends run; without one, all.
    pub platform: Option<Platform>,
    /// Backends that must be able to run here, spelled likewise: `LANECRYPT_EXPECT`.
    pub expected: Vec<String>,
}

/// A name that the registry does not have, or names that nothing has together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownName {
    /// No such cipher.
    #[error("there is no cipher {given:?}; known are {known}")]
    Cipher {
        /// The name given.
        given: String,
        /// The registry's names.
        known: String,
    },
    /// No such backend of the chosen ciphers.
    #[error("{origin}: there is no backend {given:?}; known are {known}")]
    Backend {
        /// Where the id was given.
        origin: &'static str,
        /// The id given.
        given: String,
        /// The ids of the chosen ciphers.
        known: String,
    },
    /// The chosen backends are all of other platforms.
    #[error("no chosen backend is of the platform {0}")]
    Platform(Platform),
}

/// A backend to run, and whether it can.
#[derive(Debug)]
pub struct Target {
    /// The cipher.
    pub cipher: &'static CipherDescription,
    /// One of its backends.
    pub backend: &'static Backend,
    /// Why it cannot run here.
    pub unavailable: Option<String>,
    /// Whether it must be able to.
    pub is_expected: bool,
}

impl Target {
    /// `aes/bitslice-u64`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.cipher.name, self.backend.id)
    }
}

/// What to do with the files of a cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Run them.
    Run,
    /// Leave them out: other ciphers were asked for.
    LeaveOut,
    /// Count them as skipped: nobody knows that cipher.
    Unknown,
}

/// The chosen backends.
#[derive(Debug)]
pub struct Selection {
    targets: Vec<Target>,
    chosen_ciphers: Vec<String>,
    known_ciphers: Vec<&'static str>,
}

impl Selection {
    /// Chooses out of `registry`, and asks each chosen backend whether it can run here.
    ///
    /// # Errors
    /// [`UnknownName`], which names the known ones.
    pub fn new(
        registry: &[&'static CipherDescription],
        names: &Names,
    ) -> Result<Self, UnknownName> {
        let ciphers = chosen_ciphers(registry, &names.ciphers)?;
        check_backends("--backend", &names.backends, &ciphers)?;
        // What is expected may be of a cipher that was not asked for this time.
        check_backends("LANECRYPT_EXPECT", &names.expected, registry)?;
        let wanted = |cipher, backend: &Backend| {
            names.platform.is_none_or(|platform| backend.platform == platform)
                && (names.backends.is_empty()
                    || names.backends.iter().any(|id| is_named(id, cipher, backend)))
        };
        let mut targets = Vec::new();
        for cipher in ciphers {
            for backend in cipher.backends.iter().filter(|backend| wanted(cipher, backend)) {
                let unavailable = (backend.available)().err().map(|reason| reason.to_string());
                let is_expected = names.expected.iter().any(|id| is_named(id, cipher, backend));
                targets.push(Target { cipher, backend, unavailable, is_expected });
            }
        }
        if let (Some(platform), true) = (names.platform, targets.is_empty()) {
            return Err(UnknownName::Platform(platform));
        }
        Ok(Self {
            targets,
            chosen_ciphers: names.ciphers.clone(),
            known_ciphers: registry.iter().map(|cipher| cipher.name).collect(),
        })
    }

    /// The chosen backends, in the registry's order.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The chosen backends of the cipher with this name.
    pub(super) fn targets_of(&self, cipher: &str) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(move |target| target.cipher.name == cipher)
    }

    pub(super) fn wish(&self, cipher: &str) -> Wish {
        if !self.chosen_ciphers.is_empty() && !self.chosen_ciphers.iter().any(|c| c == cipher) {
            Wish::LeaveOut
        } else if self.known_ciphers.contains(&cipher) {
            Wish::Run
        } else {
            Wish::Unknown
        }
    }
}

fn chosen_ciphers(
    registry: &[&'static CipherDescription],
    names: &[String],
) -> Result<Vec<&'static CipherDescription>, UnknownName> {
    let has = |name: &String| registry.iter().any(|cipher| cipher.name == name);
    if let Some(given) = names.iter().find(|name| !has(name)) {
        let known = registry.iter().map(|cipher| cipher.name).collect::<Vec<_>>().join(", ");
        return Err(UnknownName::Cipher { given: given.clone(), known });
    }
    let chosen = |cipher: &CipherDescription| {
        names.is_empty() || names.iter().any(|name| name == cipher.name)
    };
    Ok(registry.iter().copied().filter(|cipher| chosen(cipher)).collect())
}

/// Checks that each id is that of a backend of one of `ciphers`.
fn check_backends(
    origin: &'static str,
    ids: &[String],
    ciphers: &[&'static CipherDescription],
) -> Result<(), UnknownName> {
    let has = |id: &String| {
        let mut pairs = ciphers.iter().flat_map(|c| c.backends.iter().map(move |b| (c, b)));
        pairs.any(|(cipher, backend)| is_named(id, cipher, backend))
    };
    let Some(given) = ids.iter().find(|id| !has(id)) else {
        return Ok(());
    };
    let mut known = Vec::new();
    for backend in ciphers.iter().flat_map(|cipher| cipher.backends) {
        if !known.contains(&backend.id) {
            known.push(backend.id);
        }
    }
    Err(UnknownName::Backend { origin, given: given.clone(), known: known.join(", ") })
}

/// Whether `id` names this backend, with the cipher before it or without.
fn is_named(id: &str, cipher: &CipherDescription, backend: &Backend) -> bool {
    match id.split_once('/') {
        Some((name, id)) => name == cipher.name && id == backend.id,
        None => id == backend.id,
    }
}
