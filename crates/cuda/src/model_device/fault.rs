//! When driver calls of the model device fail, and with what.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Error;

/// When driver calls fail; they are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Never.
    None,
    /// This call, and no other.
    At(usize),
    /// This call and all after it: the device is lost, as after a kernel that crashed.
    From(usize),
    /// This allocation, of the device's memory or of pinned memory, and no other.
    Allocation(usize),
}

impl Fault {
    /// CUDA's name of it.
    fn name(self) -> &'static str {
        match self {
            Self::None | Self::At(_) => "FAULT",
            Self::From(_) => "CUDA_ERROR_LAUNCH_FAILED",
            Self::Allocation(_) => "CUDA_ERROR_OUT_OF_MEMORY",
        }
    }
}

/// A fault, and the calls that were made so far.
#[derive(Debug)]
pub(super) struct Calls {
    fault: Fault,
    all: AtomicUsize,
    /// Those that allocate.
    allocations: AtomicUsize,
}

impl Calls {
    pub(super) fn new(fault: Fault) -> Self {
        Self { fault, all: AtomicUsize::new(0), allocations: AtomicUsize::new(0) }
    }

    /// Counts a call; an error is the fault.
    pub(super) fn count(&self, doing: &str) -> Result<(), Error> {
        let call = self.all.fetch_add(1, Ordering::Relaxed);
        let allocates = doing.starts_with("allocate");
        let allocation = self.allocations.fetch_add(usize::from(allocates), Ordering::Relaxed);
        let fails = match self.fault {
            Fault::None => false,
            Fault::At(fault) => call == fault,
            Fault::From(fault) => call >= fault,
            Fault::Allocation(fault) => allocates && allocation == fault,
        };
        if !fails {
            return Ok(());
        }
        Err(Error::Driver {
            doing: doing.into(),
            name: self.fault.name().into(),
            reason: format!("driver call {call} was to fail"),
        })
    }

    /// Whether the fault happened.
    pub(super) fn has_failed(&self) -> bool {
        match self.fault {
            Fault::None => false,
            Fault::At(call) | Fault::From(call) => call < self.all.load(Ordering::Relaxed),
            Fault::Allocation(allocation) => allocation < self.allocations.load(Ordering::Relaxed),
        }
    }

    /// Whether the device is gone.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self.fault, Fault::From(_)) && self.has_failed()
    }
}
