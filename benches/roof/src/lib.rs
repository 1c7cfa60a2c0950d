//! The roof of a kernel: the throughput that the pipes of a GPU allow it. The formula stands here alone; ledgers, records,
//! the book and its calculator ask this crate. The book has the reasoning: "The roof of a kernel".
//!
//! ```
//! use lanecrypt_roof::{CARDS, Counts, predictions};
//!
//! let aes = Counts::read("block=128 rounds=10 lookups=16 table-bytes=1024").expect("counts of a round");
//! let tables = predictions(&aes, &CARDS[..1]);
//! assert_eq!(tables[0].binds, "shared memory");
//! assert!(tables[0].gbit_per_second.is_some_and(|gbit| (6_300.0..6_400.0).contains(&gbit)));
//! ```
#![forbid(unsafe_code)]

mod card;
mod ciphers;
mod counts;
mod family;
mod pipes;
mod prediction;

pub use card::{CARDS, Card, RATES};
pub use ciphers::{CIPHERS, cipher};
pub use counts::{Counts, NAMES, Name};
pub use family::{Family, Load, loads};
pub use pipes::{Lanes, PIPES, binds, busy, clocks, divided, gbit_per_second};
pub use prediction::{Prediction, answer, cards, grouped, json, known, predictions, table};
