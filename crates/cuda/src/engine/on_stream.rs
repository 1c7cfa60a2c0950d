//! What an engine queues on a stream: the launches of an operation over addresses that were checked.

use lanecrypt_core::Direction;
use lanecrypt_kernels::{Kernel, Task, modes};

use super::{keyed::Keyed, single::Single};
use crate::{
    Error, Stream,
    device::{buffer::MAX_BLOCK, geometry::Launch, stream_memory::SCRATCH_SHARE},
    launch::{
        copies::{self, Rows},
        operation::{Start, Work},
        parameters::Header,
    },
};

/// What is keyed, and a stream of its device.
#[derive(Clone, Copy)]
pub(crate) struct OnStream<'a> {
    pub(crate) keyed: &'a Keyed,
    /// The cipher on the CPU, if it has one there.
    pub(super) single: Option<&'a Single>,
    pub(crate) stream: &'a Stream,
    /// The limit of host data on the device, of which copies aside take their
    /// [share](SCRATCH_SHARE).
    pub(crate) most: usize,
}

impl OnStream<'_> {
    /// Runs `work` over `length` bytes, from `input` to `output`, the same memory or apart.
    pub(crate) fn run(
        self,
        work: Work,
        (input, output): (u64, u64),
        length: usize,
    ) -> Result<(), Error> {
        if !(input | output).is_multiple_of(MAX_BLOCK as u64) {
            return self.run_askew(work, (input, output), length);
        }
        let whole = length / work.block;
        self.launch(work, input, output, whole)?;
        let done = (whole * work.block) as u64;
        let tail = length as u64 - done;
        if tail == 0 {
            return Ok(());
        }
        self.run_part(work.after_blocks(whole), (input + done, output + done), tail)
    }

    /// Runs CTR over a part of a block, which no other mode has. Kernels write whole ones, and the CPU has made its key
    /// stream before one is launched; without a CPU's implementation that is constant-time it passes a block of its own.
    fn run_part(self, work: Work, (input, output): (u64, u64), bytes: u64) -> Result<(), Error> {
        if let Start::Counter(counter) | Start::Counter32(counter) = work.start
            && let Some(single) = self.single.filter(|single| single.is_constant_time())
        {
            let mut block = [0; MAX_BLOCK];
            let block = &mut block[..work.block];
            counter.fill(block);
            let (device, key_stream) = (self.keyed.device(), single.encrypted(block)?);
            let ends = (input, output);
            return copies::add_key_stream(device, self.stream.handle, &key_stream, ends, bytes);
        }
        let row = Rows::one(bytes);
        self.stream.with_scratch(MAX_BLOCK, |block| {
            self.copy_rows(input, block, row)?;
            self.launch(work, block, block, 1)?;
            self.copy_rows(block, output, row)
        })
    }

    /// The same where kernels cannot read or write: parts pass memory where they can. The last part goes
    /// first, so that in place the block before a part, which a chain needs, is still there.
    fn run_askew(
        self,
        work: Work,
        (input, output): (u64, u64),
        length: usize,
    ) -> Result<(), Error> {
        let most = self.most / SCRATCH_SHARE / MAX_BLOCK * MAX_BLOCK;
        let part = most.clamp(MAX_BLOCK, length.max(MAX_BLOCK).next_multiple_of(MAX_BLOCK));
        self.stream.with_masks(part + MAX_BLOCK, |copy| {
            for start in (0..length).step_by(part).rev() {
                let is_chained = matches!(work.start, Start::Chain(_)) && start > 0;
                let before = if is_chained { work.block } else { 0 };
                let bytes = part.min(length - start);
                let (at, lead) = (start as u64, before as u64);
                self.copy_rows(input + at - lead, copy, Rows::one(lead + bytes as u64))?;
                self.run(work.after_blocks(start / work.block), (copy, copy), before + bytes)?;
                self.copy_rows(copy + lead, output + at, Rows::one(bytes as u64))?;
            }
            Ok(())
        })
    }

    /// Runs `work` over whole blocks.
    pub(crate) fn launch(
        self,
        work: Work,
        input: u64,
        output: u64,
        blocks: usize,
    ) -> Result<(), Error> {
        let block_bytes = work.block as u64;
        let mut done = 0;
        while done < blocks {
            let here = work.after_blocks(done);
            let now = here.blocks_at_once(blocks - done);
            let offset = done as u64 * block_bytes;
            self.launch_once(here, input + offset, output + offset, now as u64)?;
            done += now;
        }
        Ok(())
    }

    fn launch_once(self, work: Work, input: u64, output: u64, blocks: u64) -> Result<(), Error> {
        let launch = self.keyed.shaped(work.task, blocks)?;
        if let Start::Mask(mask) = work.start {
            return self.launch_unit(launch, work.task, &mask, (input, output), blocks);
        }
        if !matches!(work.start, Start::Chain(_)) || input != output {
            return self.start(launch, work, (input, output), blocks, 0);
        }
        // In place: a warp's first block needs one that another warp overwrites.
        let range = launch.range_blocks(blocks);
        let block = work.block as u64;
        let saved = (blocks - 1) / range;
        self.stream.with_scratch((saved * block) as usize, |scratch| {
            let last_of_first = input + (range - 1) * block;
            let rows =
                Rows { from_pitch: range * block, to_pitch: block, width: block, count: saved };
            self.copy_rows(last_of_first, scratch, rows)?;
            self.start(launch, work, (input, output), blocks, scratch)
        })
    }

    /// Copies rows of bytes that lie apart.
    pub(crate) fn copy_rows(self, from: u64, to: u64, rows: Rows) -> Result<(), Error> {
        copies::copy(self.keyed.device(), self.stream.handle, (from, to), rows)
    }

    /// Starts a kernel that takes no keys.
    pub(crate) fn start_mode(self, kernel: &Kernel, header: Header) -> Result<(), Error> {
        copies::start_mode(self.keyed.device(), self.stream.handle, kernel, header)
    }

    /// Starts a kernel of the program; `aside` is the address of what its mode keeps elsewhere.
    pub(crate) fn start(
        self,
        launch: Launch,
        work: Work,
        (input, output): (u64, u64),
        blocks: u64,
        aside: u64,
    ) -> Result<(), Error> {
        let [first, second] = work.words();
        let mode = [first, second, aside];
        self.start_program(launch, work.task, Header { input, output, blocks, mode })
    }

    /// Runs XTS over whole blocks of units of `unit_blocks` blocks, whose first masks lie at `masks`.
    pub(crate) fn launch_xts(
        self,
        direction: Direction,
        (input, output): (u64, u64),
        blocks: u64,
        unit_blocks: u64,
        masks: u64,
    ) -> Result<(), Error> {
        if blocks == 0 {
            return Ok(());
        }
        let task = match direction {
            Direction::Encrypt => Task::XtsEncrypt,
            Direction::Decrypt => Task::XtsDecrypt,
        };
        let launch = self.keyed.shaped(task, blocks)?;
        let starts = ranges(launch, blocks);
        self.stream.with_scratch(starts as usize * MAX_BLOCK, |starts| {
            self.start_xts(launch, task, (input, output), blocks, unit_blocks, [masks, starts])
        })
    }

    /// Runs XTS over whole blocks of one unit, whose first mask this is.
    fn launch_unit(
        self,
        launch: Launch,
        task: Task,
        mask: &[u8; MAX_BLOCK],
        ends: (u64, u64),
        blocks: u64,
    ) -> Result<(), Error> {
        let starts = ranges(launch, blocks);
        self.stream.with_scratch((1 + starts as usize) * MAX_BLOCK, |at| {
            copies::send_block(self.keyed.device(), self.stream.handle, mask, at)?;
            let masks = [at, at + MAX_BLOCK as u64];
            self.start_xts(launch, task, ends, blocks, blocks, masks)
        })
    }

    /// Starts XTS, after what makes the masks at which ranges start out of the units' first.
    fn start_xts(
        self,
        launch: Launch,
        task: Task,
        (input, output): (u64, u64),
        blocks: u64,
        unit_blocks: u64,
        [masks, starts]: [u64; 2],
    ) -> Result<(), Error> {
        let mode = [0, launch.range_blocks(blocks), unit_blocks];
        let header = Header { input: masks, output: starts, blocks: ranges(launch, blocks), mode };
        self.start_mode(&modes::XTS_MASKS, header)?;
        let mode = [unit_blocks, masks, starts];
        self.start_program(launch, task, Header { input, output, blocks, mode })
    }

    /// Starts a kernel of the program.
    pub(super) fn start_program(
        self,
        launch: Launch,
        task: Task,
        header: Header,
    ) -> Result<(), Error> {
        let parameters = self.keyed.keys(task).parameters(header, launch.parameter_bytes());
        self.keyed.device().launch(self.stream.handle, launch, &parameters)
    }
}

/// Ranges of a launch, each of which a warp runs through.
fn ranges(launch: Launch, blocks: u64) -> u64 {
    blocks.div_ceil(launch.range_blocks(blocks))
}
