//! A call: what its runs share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{outside::Outside, regions::Plain};
use crate::{Device, Error, TransferError, batch::BatchFamily, pipeline::Crew};

/// The most bytes of a lane, where no message needs more.
const LONGEST_RUN: usize = 16 << 20;
/// Threads that start copies to the caller's memory: they move no bytes themselves.
const STARTERS: usize = 4;

/// What the runs of a call share.
pub(super) struct Call<'a, E> {
    pub(super) family: &'a BatchFamily,
    pub(super) plain: Plain<'a>,
    pub(super) outside: Outside<'a, E>,
    pub(super) crew: Crew,
    /// Bytes of a lane, where a run needs no more.
    pub(super) usual: usize,
    /// What failed of the first run that did, and the number of that run.
    failure: Mutex<Option<(u64, TransferError<E>)>>,
    /// Where the numbers of messages are put that are not authentic, where these are no failure.
    pub(super) wrong: Option<&'a Mutex<Vec<u64>>>,
}

impl<'a, E: Send> Call<'a, E> {
    pub(super) fn new(
        family: &'a BatchFamily,
        plain: Plain<'a>,
        outside: Outside<'a, E>,
    ) -> Result<Self, Error> {
        let device = plain.device();
        family.require(device)?;
        let crew = match outside {
            Outside::Memory { is_pinned: true, .. } if !plain.is_of_short_regions() => {
                Crew::most(device).of_at_most(STARTERS)
            }
            _ => Crew::most(device),
        };
        let usual = crew.share_of(plain.bytes(), LONGEST_RUN).min(crew.room(device));
        let crew = crew.for_pieces(plain.bytes().div_ceil(usual).max(1));
        Ok(Self { family, plain, outside, crew, usual, failure: Mutex::default(), wrong: None })
    }

    pub(super) fn device(&self) -> &'a Device {
        self.plain.device()
    }

    /// What failed so far.
    pub(super) fn failure(&self) -> MutexGuard<'_, Option<(u64, TransferError<E>)>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that a run failed: of several the first one counts.
    pub(super) fn fail(&self, run: u64, error: TransferError<E>) {
        let mut failure = self.failure();
        if failure.as_ref().is_none_or(|(first, _)| run < *first) {
            *failure = Some((run, error));
        }
    }

    /// What failed of all.
    pub(super) fn into_result(self) -> Result<(), TransferError<E>> {
        let failure = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), |(_, error)| Err(error))
    }
}
