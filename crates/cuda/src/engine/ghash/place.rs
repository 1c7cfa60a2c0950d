//! What is launched to hash blocks on the device, where they lie: sums of long messages, and the end.

use lanecrypt_kernels::{
    Kernel,
    ghash::{self as kernels, GROUP, MOST_FRONT},
};
use zerocopy::{IntoBytes, transmute};
use zeroize::Zeroizing;

use super::{
    family::Matrices,
    keyed::{BLOCK, Keyed, Parameters},
};
use crate::{Error, Stream, device::geometry::Launch};

/// Flags of the kernel that ends a hash: `FROM_STATE` and `WITH_LENGTHS` of `ghash/ghash.cuh`.
const FROM_STATE: u64 = 1;
const WITH_LENGTHS: u64 = 2;

/// What comes before blocks that are added.
#[derive(Clone, Copy, Default)]
pub(super) struct Before {
    /// Where the hash so far is, if anything was added to it.
    pub(super) state: Option<u64>,
    /// Blocks after that, which launches take along: the associated data of packets.
    pub(super) front: [u64; 2 * MOST_FRONT],
    pub(super) front_blocks: usize,
}

impl Before {
    /// Nothing but a hash.
    pub(super) fn hash(state: u64) -> Self {
        Self { state: Some(state), ..Self::default() }
    }

    /// Where the front has room for this number of blocks, if it has.
    pub(super) fn room(&mut self, blocks: usize) -> Option<&mut [u8]> {
        let from = self.front_blocks * BLOCK;
        let room = self.front.as_mut_bytes().get_mut(from..from + blocks * BLOCK)?;
        self.front_blocks += blocks;
        Some(room)
    }
}

/// How the hash of a message ends.
#[derive(Clone, Copy)]
pub(crate) struct End<'a> {
    /// Bytes of both of its strings.
    pub(crate) lengths: [usize; 2],
    /// What is added to it.
    pub(crate) mask: &'a [u8; BLOCK],
    /// The address it goes to.
    pub(crate) output: u64,
}

/// Where a hash is computed: the stream, and room for sums.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) keyed: &'a Keyed,
    pub(super) stream: &'a Stream,
    pub(super) sums: u64,
}

impl Place<'_> {
    /// Makes the hash at `hash` of what is before `bytes` bytes on the device, filled up with zeros to whole
    /// blocks, and of these; or ends the message. No exponent passes 2^32.
    pub(super) fn add(
        self,
        (hash, before): (u64, Before),
        (address, bytes): (u64, usize),
        end: Option<End<'_>>,
    ) -> Result<(), Error> {
        let long = self.keyed.long_part(bytes / BLOCK);
        let rest = Parameters {
            input: self.sums,
            tail: address + (long * BLOCK) as u64,
            tail_bytes: (bytes - long * BLOCK) as u64,
            flags: if end.is_some() { WITH_LENGTHS } else { 0 },
            ..Parameters::default()
        };
        let sums = if long > 0 { self.add_long_blocks(address, long as u64, rest)? } else { 0 };
        let rest = Parameters { blocks: sums, ..rest };
        self.finish((hash, before, long as u64), end, rest)
    }

    /// Makes the hash at `hash` of what is before `further` blocks, of the sums that these came to, and of the
    /// tail, both of which `rest` names; or ends the message.
    pub(super) fn finish(
        self,
        parts: (u64, Before, u64),
        end: Option<End<'_>>,
        rest: Parameters,
    ) -> Result<(), Error> {
        self.finish_by(&kernels::FINISH, parts, end, rest, |launch, parameters| {
            self.keyed.start_kernel(self.stream.handle, launch, parameters)
        })
    }

    /// The same by a kernel that `start` starts, which may make the tail that it hashes.
    pub(super) fn finish_by(
        self,
        kernel: &Kernel,
        (hash, before, further): (u64, Before, u64),
        end: Option<End<'_>>,
        rest: Parameters,
        start: impl FnOnce(Launch, &Parameters) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let from_state = if before.state.is_some() { FROM_STATE } else { 0 };
        let with_lengths = if end.is_some() { WITH_LENGTHS } else { 0 };
        let End { lengths, mask, output } =
            end.unwrap_or(End { lengths: [0; 2], mask: &[0; BLOCK], output: hash });
        let keyed = self.keyed;
        let behind = rest.tail_bytes.div_ceil(BLOCK as u64) + u64::from(end.is_some());
        let has_front = before.state.is_some() || before.front_blocks > 0;
        let groups = behind.div_ceil(GROUP as u64) + u64::from(has_front);
        let launch = keyed.device.shaped(kernel, groups.max(1) * GROUP as u64, None)?;
        self.stream.with_ticket(|ticket| {
            let parameters = Zeroizing::new(Parameters {
                output,
                powers: keyed.powers()?,
                units: further,
                lengths: lengths.map(|bytes| 8 * bytes as u64),
                flags: from_state | with_lengths,
                state: before.state.unwrap_or(0),
                front_blocks: before.front_blocks as u64,
                groups: self.sums + keyed.sums.groups_at as u64,
                ticket,
                front: before.front,
                mask: transmute!(*mask),
                ..rest
            });
            start(launch, &parameters)
        })
    }

    /// Adds the blocks of a long message up to one sum for every warp of a grid; how many these are. `rest` is for
    /// the kernel that comes after.
    fn add_long_blocks(self, address: u64, blocks: u64, rest: Parameters) -> Result<u64, Error> {
        let weighed = self.add_long(address, blocks)?;
        let launch = self.keyed.device.shaped(&kernels::WEIGH, weighed.blocks, None)?;
        let Parameters { input: output, tail_bytes, flags, .. } = rest;
        let powers = self.keyed.powers()?;
        let parameters = Parameters { output, powers, tail_bytes, flags, ..weighed };
        self.keyed.start_kernel(self.stream.handle, launch, &parameters)?;
        Ok(launch.threads() as u64 / 32)
    }

    /// Goes through a long message; what the sums that it leaves stand for.
    fn add_long(self, address: u64, blocks: u64) -> Result<Parameters, Error> {
        let Self { keyed, sums, .. } = self;
        let (sums_at, kernel) = (sums + keyed.sums.long_at as u64, keyed.family.kernel());
        // Where there are no matrices, every thread has a sum, and a power of the key is for all of them.
        let (powers, units, long, sums, step) = match keyed.family.matrices() {
            None => (keyed.powers()?, 1, keyed.long, keyed.family.sums(keyed.long), 1),
            Some(Matrices { rows, step, .. }) => {
                let units = blocks.div_ceil(u64::from(kernel.unit().blocks));
                (keyed.matrices()?, units, keyed.device.shaped(kernel, blocks, None)?, rows, step)
            }
        };
        let parameters = Parameters {
            input: address,
            output: sums_at,
            blocks,
            powers,
            units,
            ..Parameters::default()
        };
        keyed.start_kernel(self.stream.handle, long, &parameters)?;
        Ok(Parameters {
            input: sums_at,
            blocks: keyed.family.sums(long),
            units,
            unit_blocks: u64::from(kernel.unit().blocks),
            sums,
            step,
            ..Parameters::default()
        })
    }
}
