//! The schema of the records in `benches/record`: a measurement is one [`Figure`], a [`Record`] is figures by
//! [`Part`], and tables and charts are queries over them. Pictures of figures, and other ones, are drawn here too.
#![forbid(unsafe_code)]

mod axis;
mod chart;
mod figure;
mod newest;
mod read;
mod record;
mod replace;
pub mod roof;
pub mod svg;

pub use axis::Axis;
pub use chart::{Across, Chart, Line};
pub use figure::{Figure, Place, Step, Work, title};
pub use newest::{Order, distinct, groups, newest_of_each};
pub use record::{Environment, GpuDetails, KernelResources, Part, Record};
pub use replace::{Unfinished, replace};
