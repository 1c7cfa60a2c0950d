//! Which ciphers and backends run, chosen by name out of a registry.

use lanecrypt::registry::{
    Backend, CipherDescription, Platform, Selection, SelectionError, Unavailable,
};

/// What was chosen by name. An empty list of ciphers or backends means all of them.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Ciphers to run.
    pub ciphers: Vec<String>,
    /// Backends to run: lists as [`Selection`] reads them.
    pub backends: Vec<String>,
    /// The platform whose backends run; without one, all.
    pub platform: Option<Platform>,
    /// Backends that must be able to run here. They may be of a cipher that does not run this time.
    pub expected: Selection,
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
    /// No list of backends of the chosen ciphers.
    #[error("--backend: {0}")]
    Backend(#[from] SelectionError),
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
    pub unavailable: Option<Unavailable>,
    /// Whether it must be able to.
    pub is_expected: bool,
}

impl Target {
    /// `aes/bitslice-u64`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.cipher.name, self.backend.id)
    }

    /// Whether it must run on a machine without a GPU: it is of the CPU or the kernels' host build,
    /// and this CPU has the instructions that it needs.
    #[must_use]
    pub fn is_required(&self) -> bool {
        let lacks_instructions = self.unavailable.as_ref().is_some_and(Unavailable::is_of_the_cpu);
        !self.backend.platform.is_gpu() && !lacks_instructions
    }
}

/// What to do with the files of a cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Run them.
    Run,
    /// Leave them out: other ciphers were asked for.
    LeaveOut,
    /// Count them as skipped: that cipher is not known.
    Unknown,
}

/// The chosen backends.
#[derive(Debug)]
pub struct Targets {
    all: Vec<Target>,
    chosen_ciphers: Vec<String>,
    known_ciphers: Vec<&'static str>,
}

impl Targets {
    /// Chooses out of `registry`, and asks each chosen backend whether it can run here.
    ///
    /// # Errors
    /// [`UnknownName`], which names the known ones.
    pub fn new(
        registry: &[&'static CipherDescription],
        names: &Names,
    ) -> Result<Self, UnknownName> {
        let ciphers = chosen_ciphers(registry, &names.ciphers)?;
        let mut chosen = Selection::default();
        for list in &names.backends {
            chosen.extend(Selection::parse(list, &ciphers)?);
        }
        let wanted = |cipher, backend: &Backend| {
            names.platform.is_none_or(|platform| backend.platform == platform)
                && (names.backends.is_empty() || chosen.contains(cipher, backend))
        };
        let mut targets = Vec::new();
        for cipher in ciphers {
            for backend in cipher.backends.iter().filter(|backend| wanted(cipher, backend)) {
                let unavailable = (backend.available)().err();
                let is_expected = names.expected.contains(cipher, backend);
                targets.push(Target { cipher, backend, unavailable, is_expected });
            }
        }
        if let (Some(platform), true) = (names.platform, targets.is_empty()) {
            return Err(UnknownName::Platform(platform));
        }
        Ok(Self {
            all: targets,
            chosen_ciphers: names.ciphers.clone(),
            known_ciphers: registry.iter().map(|cipher| cipher.name).collect(),
        })
    }

    /// The chosen backends, in the registry's order.
    #[must_use]
    pub fn all(&self) -> &[Target] {
        &self.all
    }

    /// The chosen backends of the cipher with this name.
    pub(super) fn of(&self, cipher: &str) -> impl Iterator<Item = &Target> {
        self.all.iter().filter(move |target| target.cipher.name == cipher)
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
