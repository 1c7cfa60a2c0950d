//! Sealed files in S3-compatible stores, and jobs that many machines do together.
#![forbid(unsafe_code)]

mod driver;
mod error;
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
