//! What a device says of itself.

/// What the launch geometry is computed from, as the device reports it.
#[derive(Clone, Debug)]
pub struct Properties {
    /// Marketing name.
    pub name: String,
    /// What tells it from all others, also to NVIDIA's tools; zeros for the host build.
    pub uuid: [u8; 16],
    /// Compute capability, major and minor; (0, 0) for the host build.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of shared memory that a thread block can ask for.
    pub shared_bytes_per_block: u32,
    /// Bytes of device memory.
    pub memory_bytes: u64,
    /// Peak clock of the multiprocessors in kHz; 0 where it is not reported.
    pub clock_khz: u32,
    /// The CUDA version that the driver supports, as 1000 x major + 10 x minor; 0 for the host.
    pub driver_version: i32,
}
