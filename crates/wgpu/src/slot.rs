//! Memory that a piece of data passes through: on the host to the device, on the device, and back.

use lanecrypt_core::{Direction, Secret};
use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer, BufferBinding,
    BufferDescriptor, BufferSize, BufferUsages, CommandEncoder, CommandEncoderDescriptor,
    ComputePassDescriptor, ComputePipeline, MapMode, SubmissionIndex,
};

use crate::{
    Device, Error,
    device::{GROUP_BLOCKS, PARAMETER_BYTES},
    ghash::{self, BLOCK, HashKey, MOST_LAUNCHES},
    mapping::Mapping,
};

/// Memory for pieces of up to so many bytes. Between calls, what the host writes to is mapped.
pub(crate) struct Slot {
    bytes: u64,
    to_device: Buffer,
    /// The piece, and behind it room for the sums of its hash.
    data: Buffer,
    /// The piece, and behind it its hash.
    from_device: Buffer,
    parameters: Buffer,
}

/// What runs over a piece.
pub(crate) struct Launch<'a> {
    pub(crate) pipeline: &'a ComputePipeline,
    pub(crate) keys: BufferBinding<'a>,
    /// The counter block of its first block; unused in ECB.
    pub(crate) counter: u128,
    /// Bytes of a block.
    pub(crate) block: usize,
    /// What hashes its ciphertext.
    pub(crate) hashing: Option<Hashing<'a>>,
    /// Whether the piece is a secret, which is cleared when it was read.
    pub(crate) is_secret: bool,
}

/// What hashes the ciphertext of a piece.
#[derive(Clone, Copy)]
pub(crate) struct Hashing<'a> {
    pub(crate) pipeline: &'a ComputePipeline,
    pub(crate) key: &'a HashKey,
    /// Whether the ciphertext is what comes out or what went in.
    pub(crate) direction: Direction,
}

/// A launch of one kernel.
struct Dispatch<'a> {
    pipeline: &'a ComputePipeline,
    /// What it has at binding 1.
    secret: BufferBinding<'a>,
    parameters: [u8; PARAMETER_BYTES],
    groups: u32,
}

/// A piece that is on its way.
pub(crate) struct Flight {
    slot: Slot,
    submission: SubmissionIndex,
    back: Mapping,
    again: Mapping,
    /// Bytes on the device, whole blocks.
    padded: u64,
    has_hash: bool,
    is_secret: bool,
}

/// What a piece comes back with.
pub(crate) struct Landed {
    pub(crate) slot: Slot,
    /// Of ciphertext of n blocks `X_1 H^(n-1) + .. + X_n`, where it was hashed.
    pub(crate) hash: Option<Secret<[u8; BLOCK]>>,
}

impl Slot {
    /// Memory for pieces of up to `bytes` bytes, whole blocks.
    pub(crate) fn new(device: &Device, bytes: u64) -> Result<Self, Error> {
        let sums = ghash::sums(bytes / BLOCK as u64, device.limits().groups);
        let buffer = |size, usage, mapped_at_creation| {
            device.guarded("memory for data", || {
                device.wgpu().create_buffer(&BufferDescriptor {
                    label: None,
                    size,
                    usage,
                    mapped_at_creation,
                })
            })
        };
        Ok(Self {
            bytes,
            to_device: buffer(bytes, BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC, true)?,
            data: buffer(
                bytes + sums * BLOCK as u64,
                BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
                false,
            )?,
            from_device: buffer(
                bytes + BLOCK as u64,
                BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                false,
            )?,
            parameters: buffer(
                MOST_DISPATCHES as u64 * PARAMETERS_APART,
                BufferUsages::UNIFORM | BufferUsages::COPY_DST,
                false,
            )?,
        })
    }

    /// Bytes that it has room for.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What it holds on the device, and where the host reads from.
    #[cfg(test)]
    pub(crate) fn contents(
        &self,
        device: &Device,
        read: impl Fn(&Device, &Buffer) -> Vec<u8>,
    ) -> [Vec<u8>; 2] {
        let mapping =
            Mapping::of(device, &self.from_device, self.from_device.size(), MapMode::Read);
        let on_device = read(device, &self.data);
        mapping.and_then(|mapping| mapping.complete(device)).expect("it can be mapped");
        let view = self.from_device.get_mapped_range(..).expect("it is mapped");
        [on_device, view.to_vec()]
    }

    /// Starts a launch over a piece, which has at least one byte; the end of the last block may be missing.
    pub(crate) fn start(
        self,
        device: &Device,
        launch: &Launch<'_>,
        input: &[u8],
    ) -> Result<Flight, Error> {
        let blocks = input.len().div_ceil(launch.block);
        let padded = blocks * launch.block;
        let view = self.to_device.get_mapped_range_mut(..padded as u64);
        let mut view = view.map_err(|error| device.refused("writing data", &error))?;
        view.slice(..input.len()).copy_from_slice(input);
        view.slice(input.len()..).copy_from_slice(&[0; 16][..padded - input.len()]);
        drop(view);
        let dispatches = self.dispatches(device, launch, input.len());
        let groups = self.bind_all(device, &dispatches)?;
        let mut encoder =
            device.wgpu().create_command_encoder(&CommandEncoderDescriptor::default());
        let submission = device.guarded("launching a kernel", || {
            self.to_device.unmap();
            self.write_parameters(device, &dispatches);
            encoder.copy_buffer_to_buffer(&self.to_device, 0, &self.data, 0, padded as u64);
            run(&mut encoder, &dispatches, &groups, 1);
            self.copy_back(&mut encoder, launch, padded as u64);
            device.queue().submit([encoder.finish()])
        })?;
        let (has_hash, is_secret) = (launch.hashing.is_some(), launch.is_secret);
        let padded = padded as u64;
        let back = padded + if has_hash { BLOCK as u64 } else { 0 };
        let back = Mapping::of(device, &self.from_device, back, MapMode::Read)?;
        let again = Mapping::of(device, &self.to_device, self.bytes, MapMode::Write)?;
        Ok(Flight { slot: self, submission, back, again, padded, has_hash, is_secret })
    }

    /// Where the sums of a hash are, in blocks.
    fn sums_at(&self) -> u64 {
        self.bytes / BLOCK as u64
    }

    /// The launches of kernels over a piece of so many bytes.
    fn dispatches<'a>(
        &self,
        device: &Device,
        launch: &Launch<'a>,
        bytes: usize,
    ) -> Vec<Dispatch<'a>> {
        let mut all = Vec::with_capacity(MOST_DISPATCHES);
        all.push(launch.dispatch(bytes.div_ceil(launch.block)));
        if let Some(Hashing { pipeline, key, direction }) = launch.hashing {
            let launches = ghash::launches(bytes, self.sums_at(), device.limits().groups);
            all.extend(launches.map(|launch| Dispatch {
                pipeline,
                secret: key.binding(&launch),
                parameters: launch.parameters(),
                groups: launch.groups(),
            }));
            if direction == Direction::Decrypt {
                all.rotate_left(1);
            }
        }
        all
    }

    fn write_parameters(&self, device: &Device, dispatches: &[Dispatch<'_>]) {
        let mut bytes = vec![0; dispatches.len() * PARAMETERS_APART as usize];
        for (to, dispatch) in bytes.chunks_mut(PARAMETERS_APART as usize).zip(dispatches) {
            to[..PARAMETER_BYTES].copy_from_slice(&dispatch.parameters);
        }
        device.queue().write_buffer(&self.parameters, 0, &bytes);
    }

    /// Copies a piece to where the host reads it, with its hash, and clears what is secret behind it: sums give the
    /// hash key away.
    fn copy_back(&self, encoder: &mut CommandEncoder, launch: &Launch<'_>, padded: u64) {
        encoder.copy_buffer_to_buffer(&self.data, 0, &self.from_device, 0, padded);
        if launch.hashing.is_some() {
            let at = self.sums_at() * BLOCK as u64;
            let hash = Some(BLOCK as u64);
            encoder.copy_buffer_to_buffer(&self.data, at, &self.from_device, padded, hash);
            encoder.clear_buffer(&self.data, at, None);
        }
        if launch.is_secret {
            encoder.clear_buffer(&self.data, 0, Some(padded));
        }
    }

    /// The memory that each of some launches takes.
    fn bind_all(
        &self,
        device: &Device,
        dispatches: &[Dispatch<'_>],
    ) -> Result<Vec<BindGroup>, Error> {
        (0..).zip(dispatches).map(|(number, of)| self.bind(device, number, of)).collect()
    }

    /// The memory that a launch takes, which is the `number`th over a piece.
    fn bind(
        &self,
        device: &Device,
        number: u64,
        dispatch: &Dispatch<'_>,
    ) -> Result<BindGroup, Error> {
        let parameters = BufferBinding {
            buffer: &self.parameters,
            offset: number * PARAMETERS_APART,
            size: BufferSize::new(PARAMETER_BYTES as u64),
        };
        let resources = [
            self.data.as_entire_binding(),
            BindingResource::Buffer(dispatch.secret.clone()),
            BindingResource::Buffer(parameters),
        ];
        let entries: Vec<BindGroupEntry<'_>> = (0..)
            .zip(resources)
            .map(|(binding, resource)| BindGroupEntry { binding, resource })
            .collect();
        device.guarded("binding memory", || {
            device.wgpu().create_bind_group(&BindGroupDescriptor {
                label: None,
                layout: device.bindings(),
                entries: &entries,
            })
        })
    }

    /// Clears a range of what the host has read, before anything else is written there.
    fn clear_read(&self, device: &Device, from: u64, end: u64) -> Result<(), Error> {
        let mut encoder =
            device.wgpu().create_command_encoder(&CommandEncoderDescriptor::default());
        device.guarded("clearing data", || {
            encoder.clear_buffer(&self.from_device, from, Some(end - from));
            device.queue().submit([encoder.finish()]);
        })
    }

    /// Launches over `bytes` bytes of whatever its memory on the device holds, `times` times, and waits.
    pub(crate) fn repeat(
        &self,
        device: &Device,
        launch: &Launch<'_>,
        bytes: usize,
        times: u32,
    ) -> Result<(), Error> {
        let dispatches = self.dispatches(device, launch, bytes);
        let groups = self.bind_all(device, &dispatches)?;
        let mut encoder =
            device.wgpu().create_command_encoder(&CommandEncoderDescriptor::default());
        let submission = device.guarded("launching a kernel", || {
            self.write_parameters(device, &dispatches);
            run(&mut encoder, &dispatches, &groups, times);
            device.queue().submit([encoder.finish()])
        })?;
        device.wait(submission)
    }
}

/// Launches kernels one after the other, all of them `times` times.
fn run(
    encoder: &mut CommandEncoder,
    dispatches: &[Dispatch<'_>],
    groups: &[BindGroup],
    times: u32,
) {
    let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
    for _ in 0..times {
        for (dispatch, group) in dispatches.iter().zip(groups) {
            pass.set_pipeline(dispatch.pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(dispatch.groups, 1, 1);
        }
    }
}

impl<'a> Launch<'a> {
    /// Of the cipher's kernel.
    fn dispatch(&self, blocks: usize) -> Dispatch<'a> {
        Dispatch {
            pipeline: self.pipeline,
            secret: self.keys.clone(),
            parameters: parameters(self.counter, blocks),
            groups: groups(blocks),
        }
    }
}

impl Flight {
    /// Waits for the piece, writes it, and gives the memory back, with the hash.
    pub(crate) fn finish(self, device: &Device, output: &mut [u8]) -> Result<Landed, Error> {
        let Self { slot, padded, has_hash, is_secret, .. } = self;
        device.wait(self.submission)?;
        self.back.complete(device)?;
        self.again.complete(device)?;
        let end = padded + if has_hash { BLOCK as u64 } else { 0 };
        let view = slot.from_device.get_mapped_range(..end);
        let view = view.map_err(|error| device.refused("reading data", &error))?;
        let (piece, behind) = view.split_at(padded as usize);
        output.copy_from_slice(&piece[..output.len()]);
        let hash = behind.first_chunk().map(|hash| Secret::new(*hash));
        drop(view);
        device.guarded("reading data", || slot.from_device.unmap())?;
        if has_hash || is_secret {
            let from = if is_secret { 0 } else { padded };
            slot.clear_read(device, from, end)?;
        }
        Ok(Landed { slot, hash })
    }
}

/// Workgroups that have these blocks.
fn groups(blocks: usize) -> u32 {
    u32::try_from((blocks as u64).div_ceil(GROUP_BLOCKS)).unwrap_or(u32::MAX)
}

/// Bytes from the parameters of a launch to those of the next one, which every device takes.
const PARAMETERS_APART: u64 = 256;
/// Launches over a piece at most.
const MOST_DISPATCHES: usize = 1 + MOST_LAUNCHES;

/// Ones in the first of every two runs of 1, 2, 4 and 8 bits: how kernels exchange bits between rows. A compiler that
/// knew them would make more instructions.
const EXCHANGE_MASKS: [u32; 4] = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff];

/// `Parameters` of the ciphers' kernels.
fn parameters(counter: u128, blocks: usize) -> [u8; PARAMETER_BYTES] {
    let mut bytes = [0; PARAMETER_BYTES];
    bytes[..16].copy_from_slice(&counter.to_le_bytes());
    for (to, mask) in bytes[16..32].as_chunks_mut::<4>().0.iter_mut().zip(EXCHANGE_MASKS) {
        *to = mask.to_le_bytes();
    }
    bytes[32..36].copy_from_slice(&(blocks as u32).to_le_bytes());
    bytes
}
