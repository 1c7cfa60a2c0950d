//! What chained modes leave on the stack: a program reads its own memory without unsafe code where the kernel
//! shows it as a file.
#![cfg(target_os = "linux")]

use std::{fs::File, hint::black_box, os::unix::fs::FileExt, ptr};

use cipher::InOutBuf;
use lanecrypt_core::{ChainedMode, Direction, Engine, Error, Operation};

const BLOCK: usize = 16;
const PLAINTEXT: [u8; BLOCK] = *b"a block of text.";
/// Bytes of stack that are read, more than the modes use.
const SCANNED: usize = 32 << 10;
/// Bytes between them and the frames that read.
const APART: usize = 8 << 10;

/// An engine that keeps no copy of the data: it inverts every byte.
#[derive(Debug)]
struct Inverts;

impl Engine for Inverts {
    fn block_bytes(&self) -> usize {
        BLOCK
    }

    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        operation.check(BLOCK, data.len())?;
        data.into_out_with_copied_in().iter_mut().for_each(|byte| *byte = !*byte);
        Ok(())
    }
}

/// Whether `text` lies below this function's frame after `work`.
#[inline(never)]
fn is_left(text: &[u8], work: &mut dyn FnMut()) -> bool {
    let mut left = vec![0; SCANNED];
    let here = 0_u8;
    let end = ptr::from_ref(black_box(&here)).addr() - APART / 2;
    black_box(clear());
    far_below(work);
    let memory = File::open("/proc/self/mem").expect("Linux shows a process its memory");
    memory.read_exact_at(&mut left, (end - SCANNED) as u64).expect("a test's stack is mapped");
    left.windows(text.len()).any(|window| window == text)
}

/// Overwrites what calls before left, also in other threads that had this stack.
#[inline(never)]
#[allow(clippy::large_stack_arrays, reason = "it is about the stack")]
fn clear() -> u8 {
    let zeros = [0_u8; SCANNED + 2 * APART];
    black_box(&zeros)[APART]
}

/// Runs `work` so far down that reading the stack afterwards does not overwrite what it left.
#[inline(never)]
fn far_below(work: &mut dyn FnMut()) {
    let distance = [0_u8; APART];
    black_box(&distance);
    work();
    black_box(&distance);
}

#[test]
fn the_scan_finds_what_is_left() {
    assert!(is_left(&PLAINTEXT, &mut || {
        black_box(PLAINTEXT);
    }));
}

/// The plaintext is in the buffer alone, which is on the heap, and in place it is overwritten.
#[test]
fn modes_leave_no_plaintext() {
    for mode in [
        ChainedMode::Cbc(Direction::Encrypt),
        ChainedMode::Cfb(Direction::Encrypt),
        ChainedMode::Ofb,
    ] {
        let mut data = [[7; BLOCK], PLAINTEXT].concat();
        let mut register = vec![1; BLOCK];
        let left = is_left(&PLAINTEXT, &mut || {
            mode.run_blocks(&Inverts, &mut register, data.as_mut_slice().into()).expect("blocks");
        });
        assert!(!left, "{mode:?} leaves the last block");
    }
}
