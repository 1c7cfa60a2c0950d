//! What writes sources: circuits and tables, skeletons of ciphers, the port of the book, copies of the tree.

mod claims;
pub(crate) mod codegen;
pub(crate) mod generated;
pub(crate) mod header;
mod known_answers;
pub(crate) mod neighbour;
pub(crate) mod new_cipher;
pub(crate) mod port;
pub(crate) mod tree;
