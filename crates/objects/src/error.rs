//! What can go wrong: which place, what was tried, and what is accepted. Texts never contain credentials.

use std::{io, path::PathBuf};

/// What can go wrong with objects, and with jobs over many machines.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This is no place that can be read or written. What was given is not repeated where it may be
    /// more than a name.
    #[error("not a place: {what}; accepted are s3://bucket/key, file:///path and paths")]
    Location {
        /// What is wrong with it.
        what: String,
    },
    /// There is no such setting of stores.
    #[error("unknown store setting {name}; accepted are names such as AWS_ENDPOINT_URL")]
    Setting {
        /// What was given as its name.
        name: String,
    },
    /// A store refused, did not answer, or answered something else than it should.
    #[error("cannot {doing} {place}: {reason}")]
    Store {
        /// What was tried.
        doing: &'static str,
        /// The URL.
        place: String,
        /// What kind of failure it is.
        kind: io::ErrorKind,
        /// What the store or the network said.
        reason: String,
    },
    /// The size of parts is not one that stores take, or gives too many of them.
    #[error("parts of {given} bytes; accepted are {least} to {most}")]
    PartBytes {
        /// Bytes of a part.
        given: u64,
        /// The least: stores take at least 5 MiB, and at most 10,000 parts.
        least: u64,
        /// The most.
        most: u64,
    },
    /// This process was forked from one that had connections; threads do not live on in a fork.
    #[error("this process was forked after it used a store; start a new one (spawn, exec)")]
    Forked,
    /// The calling thread belongs to an asynchronous runtime, in which blocking is not allowed.
    #[error("called within an asynchronous runtime; call it on a thread that may block")]
    WithinRuntime,
    /// A plan or a receipt is not what this version writes.
    #[error("not a {what} of this version")]
    Malformed {
        /// What it should be.
        what: &'static str,
    },
    /// A line of a log, behind the first, is not what this version writes there.
    #[error("line {line} of {} is not one of a log of this version", path.display())]
    MalformedLine {
        /// The log.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A log belongs to another job than the one asked for.
    #[error("{} is the log of a job with another {what}", path.display())]
    OtherJob {
        /// The log.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
    /// A log is also the file that the job seals or makes.
    #[error("{} is the log and the {what} of the job; each is a file of its own", path.display())]
    SameFile {
        /// The log.
        path: PathBuf,
        /// What it is, too.
        what: &'static str,
    },
    /// Another process drives this job.
    #[error("{} is in use: another process drives this job", path.display())]
    InUse {
        /// The log.
        path: PathBuf,
    },
    /// The job was committed before, and has no parts to seal.
    #[error("the job is committed: it cannot be discarded")]
    Committed,
    /// Keys, sealed data, jobs and files.
    #[error(transparent)]
    Tink(#[from] lanecrypt_tink::Error),
    /// Reading or writing failed.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was tried.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
}

impl Error {
    /// An error of the system.
    pub(crate) fn of_io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing: doing.into(), source }
    }

    /// An error of a store.
    pub(crate) fn of_store(
        doing: &'static str,
        place: &dyn ToString,
        error: &object_store::Error,
    ) -> Self {
        use object_store::Error as Given;
        let kind = match error {
            Given::NotFound { .. } => io::ErrorKind::NotFound,
            Given::PermissionDenied { .. } | Given::Unauthenticated { .. } => {
                io::ErrorKind::PermissionDenied
            }
            _ => io::ErrorKind::Other,
        };
        Self::Store { doing, place: place.to_string(), kind, reason: reason(&error.to_string()) }
    }

    /// Whether a store says that it has no such thing.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Store { kind: io::ErrorKind::NotFound, .. })
    }
}

/// What readers at any place give: it keeps what it is, as [`io::Error::downcast`] shows.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Tink(error) => error.into(),
            Error::Io { source, .. } => source,
            Error::Store { kind, .. } => Self::new(kind, error),
            error => Self::other(error),
        }
    }
}

/// What an error of `object_store` says, without the body of an answer: stores repeat there what
/// they were sent, tokens and key ids. What stays of it is its code.
fn reason(text: &str) -> String {
    const STATUS: &str = "status code: ";
    let Some(body) = text.find('<').or_else(|| body_after(text, STATUS)) else {
        return text.to_owned();
    };
    let (before, body) = text.split_at(body);
    let code = body.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    match code {
        Some((code, _)) if code.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            format!("{before}{code}")
        }
        _ => before.trim_end_matches([':', ' ']).to_owned(),
    }
}

/// Where the body begins after the words of a status, such as `404 Not Found: `.
fn body_after(text: &str, status: &str) -> Option<usize> {
    let words = text.find(status)? + status.len();
    text[words..].find(": ").map(|colon| words + colon)
}

#[cfg(test)]
mod tests {
    use object_store::Error as Given;

    use super::*;

    /// What is not there may be taken for removed; what may not be seen must not.
    #[test]
    fn refusals_of_a_store_are_told_apart() {
        let (path, source) = (|| "a/key".to_owned(), || "refused".into());
        for (given, kind) in [
            (Given::NotFound { path: path(), source: source() }, io::ErrorKind::NotFound),
            (
                Given::PermissionDenied { path: path(), source: source() },
                io::ErrorKind::PermissionDenied,
            ),
            (
                Given::Unauthenticated { path: path(), source: source() },
                io::ErrorKind::PermissionDenied,
            ),
            (Given::Generic { store: "S3", source: source() }, io::ErrorKind::Other),
        ] {
            let error = Error::of_store("read", &"s3://bucket/a/key", &given);
            assert_eq!(error.is_not_found(), kind == io::ErrorKind::NotFound, "{error}");
            assert_eq!(io::Error::from(error).kind(), kind, "{given}");
        }
        assert!(!Error::Committed.is_not_found());
    }

    #[test]
    fn bodies_of_answers_are_not_repeated() {
        let status = "PUT http://x/y - Server returned non-2xx status code: 403 Forbidden: ";
        let body = "<?xml?><Error><Code>InvalidToken</Code><Token-0>secret</Token-0></Error>";
        assert_eq!(reason(&format!("{status}{body}")), format!("{status}InvalidToken"));
        let short = status.trim_end_matches(": ");
        for body in ["secret", "<Code>secret word</Code>", "<html>secret", ""] {
            assert_eq!(reason(&format!("{status}{body}")), short, "{body}");
        }
        assert_eq!(reason("operation timed out"), "operation timed out");
    }
}
