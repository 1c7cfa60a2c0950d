//! What all who seal parts of a job are told: where from, where to, and how. It has no secret.

use std::{path::PathBuf, sync::atomic::AtomicBool};

use lanecrypt_tink::{
    Error as TinkError, Identity, Keyset, Options, Source, job, job::SealingJob, open_regular,
};
use serde::{Deserialize, Serialize};

use crate::{
    Address, Error, Location, Stores,
    part::PartBuffer,
    read_ahead::ReadAhead,
    runtime::NEVER,
    upload::{Upload, part_bytes},
};

const FORMAT: &str = "lanecrypt-plan-1";

/// What a job shall do.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// What is sealed.
    pub source: &'a Location,
    /// Where the sealed file will be.
    pub target: &'a Location,
    /// What is authenticated with it, and must be given again to open it.
    pub associated_data: &'a [u8],
    /// Approximate bytes per part; `None` is 64 MiB, or more where there would be too many parts for a
    /// store.
    pub part_bytes: Option<u64>,
}

/// A job with its places. Anyone who has it and the keyset can seal any part, any number of times:
/// the bytes are the same. It has no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    format: String,
    source: Location,
    output: Output,
    job: SealingJob,
}

/// What parts are written to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Output {
    /// A file beside this one.
    File(PathBuf),
    Object {
        address: Address,
        upload: Upload,
    },
}

/// Evidence that a part is done. The driver of the job keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The part, from 0.
    pub part: u64,
    /// What the store calls it; nothing for a part of a file.
    pub tag: String,
}

impl Receipt {
    /// Reads a receipt.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|_| Error::Malformed { what: "receipt" })
    }

    /// Writes the receipt in one line, for the driver.
    ///
    /// # Errors
    /// None that can happen.
    pub fn to_json(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(|_| Error::Malformed { what: "receipt" })
    }
}

impl Plan {
    /// Draws a header for the source, and makes what parts are written to.
    ///
    /// # Errors
    /// [`Error::PartBytes`], [`Error::Store`], and those of [`SealingJob::new`].
    pub fn new(keyset: &Keyset, order: &Order<'_>, stores: &Stores) -> Result<Self, Error> {
        Self::of_source(identity(order.source, stores, &NEVER)?, keyset, order, stores, &NEVER)
    }

    /// [`new`](Self::new) for a source that was looked at, unless `cancel` is set before a store answers.
    pub(crate) fn of_source(
        identity: Identity,
        keyset: &Keyset,
        order: &Order<'_>,
        stores: &Stores,
        cancel: &AtomicBool,
    ) -> Result<Self, Error> {
        let layout = keyset.primary()?.parameters().layout();
        let is_object = matches!(order.target, Location::Object(_));
        let bytes = part_bytes(layout, identity.size, order.part_bytes, is_object)?;
        let job = SealingJob::new(keyset, identity, order.associated_data, bytes)?;
        let output = match order.target {
            Location::File(path) => {
                job.create(path)?;
                Output::File(path.clone())
            }
            Location::Object(address) => {
                let upload = Upload::begin(stores, address, cancel)?;
                Output::Object { address: address.clone(), upload }
            }
        };
        Ok(Self { format: FORMAT.to_owned(), source: order.source.clone(), output, job })
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let malformed = Error::Malformed { what: "plan" };
        let Ok(plan) = serde_json::from_str::<Self>(text) else { return Err(malformed) };
        plan.check()?;
        Ok(plan)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.format != FORMAT {
            return Err(Error::Malformed { what: "plan" });
        }
        Ok(self.job.check()?)
    }

    /// Writes the plan in one line, for those who seal parts.
    ///
    /// # Errors
    /// None that can happen with a plan that was made or read here.
    pub fn to_json(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(|_| Error::Malformed { what: "plan" })
    }

    /// How the file is cut.
    #[must_use]
    pub fn job(&self) -> &SealingJob {
        &self.job
    }

    /// What is sealed.
    #[must_use]
    pub fn source(&self) -> &Location {
        &self.source
    }

    /// Where the sealed file will be.
    #[must_use]
    pub fn target(&self) -> Location {
        match &self.output {
            Output::File(path) => Location::File(path.clone()),
            Output::Object { address, .. } => Location::Object(address.clone()),
        }
    }

    /// Seals a part and writes it where it is invisible until the job is committed.
    ///
    /// # Errors
    /// Those of [`SealingJob::seal_part`], [`Error::Store`]: nothing of a source that has changed is written or sent.
    pub fn seal_part(
        &self,
        keyset: &Keyset,
        part: u64,
        stores: &Stores,
        options: Options<'_>,
    ) -> Result<Receipt, Error> {
        let tag = match &self.source {
            Location::File(path) => {
                self.seal_from(&open_regular(path)?, keyset, part, stores, options)?
            }
            Location::Object(address) => {
                let object = stores.object_unless(address, options.cancel)?;
                let range = self.job.plaintext_range(part)?;
                let source =
                    ReadAhead::new(object.until(options.cancel), range, keyset, options.runner);
                self.seal_from(&source, keyset, part, stores, options)?
            }
        };
        Ok(Receipt { part, tag })
    }

    fn seal_from(
        &self,
        source: &dyn Source,
        keyset: &Keyset,
        part: u64,
        stores: &Stores,
        options: Options<'_>,
    ) -> Result<String, Error> {
        match &self.output {
            Output::File(path) => {
                self.job.seal_part_to_file(keyset, part, source, path, options)?;
                Ok(String::new())
            }
            Output::Object { address, upload } => {
                let buffer = PartBuffer::new(self.job.sealed_range(part)?);
                self.job.seal_part(keyset, part, source, &buffer, options)?;
                upload.put(stores, address, part, buffer.into_payload()?, options.cancel)
            }
        }
    }

    /// Whether a receipt may be one of a part of this plan.
    pub(crate) fn accepts(&self, receipt: &Receipt) -> bool {
        let is_object = matches!(self.output, Output::Object { .. });
        receipt.part < self.job.parts() && receipt.tag.is_empty() != is_object
    }

    /// Gives the sealed file its name. Done once more, it changes nothing.
    pub(crate) fn commit(
        &self,
        tags: Vec<String>,
        stores: &Stores,
        cancel: &AtomicBool,
    ) -> Result<(), Error> {
        match &self.output {
            Output::File(path) => Ok(self.job.commit(path)?),
            // A process may have been killed between this and noting it, or the store's answer was lost.
            Output::Object { address, upload } => {
                upload.complete(stores, address, tags, cancel).or_else(|error| {
                    if self.is_in_place(stores, cancel) { Ok(()) } else { Err(error) }
                })
            }
        }
    }

    /// Whether the target is the sealed file, as far as that is known before `cancel` is set.
    pub(crate) fn is_in_place(&self, stores: &Stores, cancel: &AtomicBool) -> bool {
        match &self.output {
            Output::File(path) => self.job.is_committed(path),
            Output::Object { address, .. } => {
                let object = stores.object_unless(address, cancel);
                object.is_ok_and(|object| self.job.is_at(&object.until(cancel)))
            }
        }
    }

    /// Removes what was written, as far as it is still there.
    pub(crate) fn discard(&self, stores: &Stores, cancel: &AtomicBool) -> Result<(), Error> {
        match &self.output {
            Output::File(path) => match self.job.discard(path) {
                Err(TinkError::Io { source, .. })
                    if source.kind() == std::io::ErrorKind::NotFound =>
                {
                    Ok(())
                }
                discarded => Ok(discarded?),
            },
            Output::Object { address, upload } => upload.abort(stores, address, cancel),
        }
    }
}

/// What a source is now.
pub(crate) fn identity(
    source: &Location,
    stores: &Stores,
    cancel: &AtomicBool,
) -> Result<Identity, Error> {
    match source {
        Location::File(path) => Ok(job::identity_of_file(path)?),
        Location::Object(address) => Ok(stores.object_unless(address, cancel)?.opened().clone()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::given::Given;

    #[test]
    fn plans_of_other_versions_are_refused() {
        let given = Given::new("text");
        drop(given.open().unwrap());
        let written = fs::read_to_string(&given.log).unwrap();
        let plan = Plan::new(&given.keyset, &given.order(), &given.stores).unwrap();
        let text = plan.to_json().unwrap();
        assert_eq!(Plan::from_json(&text).unwrap().to_json().unwrap(), text);
        for format in [FORMAT, "lanecrypt-job-1"] {
            let other = |text: &str| {
                assert!(text.contains(format), "{text}");
                text.replace(format, "lanecrypt-2")
            };
            let is_refused = |error| {
                use Error::{Malformed, Tink};
                matches!(error, Malformed { what: "plan" } | Tink(TinkError::Malformed { .. }))
            };
            assert!(is_refused(Plan::from_json(&other(&text)).unwrap_err()));
            fs::write(&given.log, other(&written)).unwrap();
            assert!(is_refused(given.open().unwrap_err()));
        }
    }
}
