//! The exercises of the book's Part 1 whose answers are programs, a module each, and numbers of those that are solved on
//! paper. The pages include the answers from here.
#![forbid(unsafe_code)]

mod addition;
mod banks;
mod batches;
mod functions;
mod grid;
mod hash;
mod interval;
mod look_up;
mod numbers;
mod sectors;
mod transpose;
mod warps;
