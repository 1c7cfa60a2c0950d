//! What is wrong with a prompt, and where.

use std::{fmt, io};

use lanecrypt::{Brief, registry::Unavailable};

/// Where in a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// `tgId`.
    pub group: Option<u64>,
    /// `tcId`.
    pub test: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.group, self.test) {
            (Some(group), Some(test)) => write!(f, "group {group}, test {test}"),
            (Some(group), None) => write!(f, "group {group}"),
            _ => f.write_str("the head"),
        }
    }
}

/// Why a prompt cannot be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcvpError {
    /// A file that cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// No JSON.
    #[error("is no JSON: {0}")]
    Json(serde_json::Error),
    /// JSON of something else.
    #[error("is no ACVP prompt: that is an object, or an array of a version and an object")]
    Shape,
    /// An algorithm that is not one of ours.
    #[error("the algorithm is {:?}; known are {known}", Brief(given))]
    Algorithm {
        /// The prompt's.
        given: String,
        /// The names of those that are.
        known: String,
    },
    /// A field that is not there.
    #[error("{place}: there is no {field}")]
    Missing {
        /// Where it should be.
        place: Place,
        /// Its name.
        field: &'static str,
    },
    /// A field that is there, and not what it should be.
    #[error("{place}: {field} is {}; accepted is {accepted}", Brief(given))]
    Field {
        /// Where it is.
        place: Place,
        /// Its name.
        field: &'static str,
        /// Its value, as JSON.
        given: String,
        /// What it should be.
        accepted: String,
    },
    /// What a backend says of a key or text.
    #[error("{place}: {error}")]
    Engine {
        /// Of which test.
        place: Place,
        /// Its reason.
        error: lanecrypt::Error,
    },
    /// What a generator of random bytes says of its inputs.
    #[error("{place}: {error}")]
    Generator {
        /// Of which test.
        place: Place,
        /// Its reason.
        error: lanecrypt::ctr_drbg::DrbgError,
    },
    /// A chosen backend that cannot run here.
    #[error("{backend} cannot run: {reason}")]
    Unavailable {
        /// Its name.
        backend: String,
        /// Why.
        reason: Unavailable,
    },
    /// A chosen backend that cannot make keys while it runs, for an algorithm that does.
    #[error(
        "{algorithm} makes keys of its own, which asks for a type: {backend} is none, aes/default is one"
    )]
    NoType {
        /// The algorithm's name.
        algorithm: &'static str,
        /// Its name.
        backend: String,
    },
    /// None of the chosen backends is of the prompt's cipher.
    #[error("no backend of {0} is chosen")]
    NoBackend(&'static str),
    /// Two backends with different results.
    #[error("{first} and {second} do not agree")]
    Disagreement {
        /// A backend.
        first: String,
        /// Another one.
        second: String,
    },
}

impl AcvpError {
    /// Whether it is the prompt that is wrong, and not a backend.
    #[must_use]
    pub fn is_of_the_prompt(&self) -> bool {
        !matches!(self, Self::Disagreement { .. })
    }
}
