//! Kernels that modes need beside a cipher's: of a module of their own, and without keys.

use crate::{
    MODES, Module,
    launch::{HEADER_WORDS, Kernel, Launch},
};

/// Words of what takes the place of the keys, of 32 bits, all zero.
pub const NO_KEY_WORDS: usize = 4;

/// Copies rows of bytes to rows that lie at another distance from each other.
pub static COPY_ROWS: Kernel = kernel("modes_copy_rows");

/// Adds key stream that a launch takes along to a part of a block.
pub static ADD_KEY_STREAM: Kernel = kernel("modes_add_key_stream");

/// Writes the numbers of XTS's data units.
pub static XTS_NUMBERS: Kernel = kernel("modes_xts_numbers");

/// Makes XTS's masks of blocks inside their units from the first masks of the units.
pub static XTS_MASKS: Kernel = kernel("modes_xts_masks");

/// All of them.
pub static KERNELS: &[&Kernel] = &[&COPY_ROWS, &ADD_KEY_STREAM, &XTS_NUMBERS, &XTS_MASKS];

const fn kernel(name: &'static str) -> Kernel {
    static MODULE: Module = MODES;
    let parameter_bytes = 4 * (HEADER_WORDS + NO_KEY_WORDS);
    Kernel { module: &MODULE, name, launch: Launch::of(name), parameter_bytes }
}
