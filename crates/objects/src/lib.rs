//! Sealed files in S3-compatible stores, and jobs that many machines do together.
//!
//! A [`Driver`] begins a job: it draws the sealed file's header and starts an upload. Anyone who has its
//! [`Plan`], a text without a secret, and the keyset seals any part; a part that is done twice is the same
//! bytes twice. The driver keeps the receipts in a log, so that one who is killed and started again goes on
//! where it was, and the object appears when the driver commits, whole, or never.
//!
//! ```no_run
//! use lanecrypt_objects::{Driver, Order, Plan, Stores, open_location};
//! use lanecrypt_tink::{Keyset, Options};
//!
//! let stores = Stores::from_env(); // AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, ...
//! let keyset = Keyset::from_json(&std::fs::read_to_string("my.keys")?)?;
//! let (source, target) = ("s3://bucket/plain".parse()?, "s3://bucket/sealed".parse()?);
//! let order = Order { source: &source, target: &target, associated_data: b"", part_bytes: None };
//! let mut driver = Driver::open("job.log".as_ref(), &keyset, &order, &stores)?;
//! let plan = driver.plan().to_json()?;
//! for part in driver.missing().collect::<Vec<_>>() {
//!     // On any machine, in any order:
//!     let receipt = Plan::from_json(&plan)?.seal_part(&keyset, part, &stores, Options::default())?;
//!     driver.acknowledge(receipt)?;
//! }
//! driver.commit()?;
//! open_location(&keyset, &target, "opened".as_ref(), &stores, Options::default())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Sources and targets are objects or files ([`Location`]). A source must not change while a job runs: its
//! `ETag`, time and version (or a file's times and number) are in the plan, every request asks for it,
//! and a part of a source that has changed is not sent. A store under whose encryption the same bytes have
//! another `ETag` each time (SSE-KMS, SSE-C) may refuse to complete an upload of which a part was sent twice:
//! acknowledge the later receipt, or seal that part again.
//!
//! Calls wait on the caller's thread, until `Options::cancel` is set, or the flag of [`Driver::open_unless`] and its
//! siblings; the threads behind them are this crate's own.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod driver;
mod error;
#[cfg(test)]
mod given;
mod location;
mod log;
mod object;
mod open;
mod part;
mod plan;
mod read_ahead;
mod runtime;
mod stores;
mod upload;

pub use self::{
    driver::Driver,
    error::Error,
    location::{Address, Location},
    object::Object,
    open::{open_location, open_object},
    plan::{Order, Plan, Receipt},
    stores::Stores,
};

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
