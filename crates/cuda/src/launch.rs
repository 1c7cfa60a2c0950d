//! What is launched: operations, parameter blocks, and the kernels that need no key.

pub(crate) mod copies;
pub(crate) mod operation;
pub(crate) mod parameters;
