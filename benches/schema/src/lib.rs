//! The schema of the records in `benches/record`: a measurement is one [`Figure`], a [`Record`] is figures by
//! [`Part`], and tables and charts are queries over them.
#![forbid(unsafe_code)]

mod figure;
mod newest;
mod read;
mod record;

pub use figure::{Figure, Place, Step, Work, gbit_per_second, title};
pub use newest::{Order, distinct, newest_of_each};
pub use record::{Environment, GpuDetails, KernelResources, Part, Record};
