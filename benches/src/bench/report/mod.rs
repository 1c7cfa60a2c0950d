//! The report: tables, charts and a page, each a query over a record's figures.

mod block_sizes;
mod choices;
pub(crate) mod compare;
mod curves;
pub(crate) mod page;
mod papers;
mod pictures;
mod ratio;
mod roof;
pub(crate) mod runs;
mod sections;
pub(crate) mod summary;
mod swap;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod write;
