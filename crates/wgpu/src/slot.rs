//! Memory that a piece of data passes through: on the host to the device, on the device, and back.

use wgpu::{
    BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer, BufferBinding, BufferDescriptor,
    BufferUsages, CommandEncoderDescriptor, ComputePassDescriptor, ComputePipeline, MapMode,
    SubmissionIndex,
};

use crate::{Device, Error, device::GROUP_BLOCKS, mapping::Mapping};

/// Memory for pieces of up to so many bytes. Between calls, what the host writes to is mapped.
pub(crate) struct Slot {
    bytes: u64,
    to_device: Buffer,
    data: Buffer,
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
}

/// A piece that is on its way.
pub(crate) struct Flight {
    slot: Slot,
    submission: SubmissionIndex,
    back: Mapping,
    again: Mapping,
}

impl Slot {
    /// Memory for pieces of up to `bytes` bytes, whole blocks.
    pub(crate) fn new(device: &Device, bytes: u64) -> Result<Self, Error> {
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
                bytes,
                BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
                false,
            )?,
            from_device: buffer(bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST, false)?,
            parameters: buffer(
                PARAMETER_BYTES,
                BufferUsages::UNIFORM | BufferUsages::COPY_DST,
                false,
            )?,
        })
    }

    /// Bytes that it has room for.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
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
        let group = self.bind(device, launch)?;
        let mut encoder =
            device.wgpu().create_command_encoder(&CommandEncoderDescriptor::default());
        let submission = device.guarded("launching a kernel", || {
            self.to_device.unmap();
            device.queue().write_buffer(&self.parameters, 0, &parameters(launch.counter, blocks));
            encoder.copy_buffer_to_buffer(&self.to_device, 0, &self.data, 0, padded as u64);
            let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
            pass.set_pipeline(launch.pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(groups(blocks), 1, 1);
            drop(pass);
            encoder.copy_buffer_to_buffer(&self.data, 0, &self.from_device, 0, padded as u64);
            device.queue().submit([encoder.finish()])
        })?;
        let back = Mapping::of(device, &self.from_device, padded as u64, MapMode::Read)?;
        let again = Mapping::of(device, &self.to_device, self.bytes, MapMode::Write)?;
        Ok(Flight { slot: self, submission, back, again })
    }

    fn bind(&self, device: &Device, launch: &Launch<'_>) -> Result<wgpu::BindGroup, Error> {
        let resources = [
            self.data.as_entire_binding(),
            BindingResource::Buffer(launch.keys.clone()),
            self.parameters.as_entire_binding(),
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

    /// Launches over `bytes` bytes of whatever its memory on the device holds, `times` times, and waits.
    pub(crate) fn repeat(
        &self,
        device: &Device,
        launch: &Launch<'_>,
        bytes: usize,
        times: u32,
    ) -> Result<(), Error> {
        let blocks = bytes / launch.block;
        let group = self.bind(device, launch)?;
        let mut encoder =
            device.wgpu().create_command_encoder(&CommandEncoderDescriptor::default());
        let submission = device.guarded("launching a kernel", || {
            device.queue().write_buffer(&self.parameters, 0, &parameters(launch.counter, blocks));
            let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
            pass.set_pipeline(launch.pipeline);
            pass.set_bind_group(0, &group, &[]);
            for _ in 0..times {
                pass.dispatch_workgroups(groups(blocks), 1, 1);
            }
            drop(pass);
            device.queue().submit([encoder.finish()])
        })?;
        device.wait(submission)
    }
}

impl Flight {
    /// Waits for the piece, writes it, and gives the memory back.
    pub(crate) fn finish(self, device: &Device, output: &mut [u8]) -> Result<Slot, Error> {
        device.wait(self.submission)?;
        self.back.complete(device)?;
        self.again.complete(device)?;
        let view =
            self.slot.from_device.get_mapped_range(..(output.len() as u64).next_multiple_of(4));
        let view = view.map_err(|error| device.refused("reading data", &error))?;
        output.copy_from_slice(&view[..output.len()]);
        drop(view);
        device.guarded("reading data", || self.slot.from_device.unmap())?;
        Ok(self.slot)
    }
}

/// Workgroups that have these blocks.
fn groups(blocks: usize) -> u32 {
    u32::try_from((blocks as u64).div_ceil(GROUP_BLOCKS)).unwrap_or(u32::MAX)
}

/// Bytes of `Parameters` in the kernels, padded as WGSL pads them.
const PARAMETER_BYTES: u64 = 32;

/// `Parameters` of the kernels.
fn parameters(counter: u128, blocks: usize) -> [u8; PARAMETER_BYTES as usize] {
    let mut bytes = [0; PARAMETER_BYTES as usize];
    bytes[..16].copy_from_slice(&counter.to_le_bytes());
    bytes[16..20].copy_from_slice(&(blocks as u32).to_le_bytes());
    bytes
}
