//! A device: opened once, with the pipelines that were made on it, and errors of wgpu as values.

use std::{
    collections::HashMap,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use lanecrypt_core::Unavailable;
use wgpu::{
    Adapter, Backend, Backends, BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry,
    BindingType, BufferBindingType, ComputePipeline, ComputePipelineDescriptor, DeviceDescriptor,
    DeviceType, DownlevelFlags, ErrorFilter, Instance, InstanceDescriptor, InstanceFlags,
    MemoryHints, PipelineLayoutDescriptor, PollType, ShaderModule, ShaderModuleDescriptor,
    ShaderSource, ShaderStages, SubmissionIndex,
};

use crate::{Error, programs::Program};

/// Blocks of a workgroup: 64 threads with 32 each.
pub(crate) const GROUP_BLOCKS: u64 = 64 * 32;
/// Sums of a hash at most, of 16 bytes each, for which there is room behind a piece. More threads than that no GPU needs
/// to be busy.
pub(crate) const MOST_SUMS: u64 = 1 << 16;

/// Bytes of `Parameters` in the ciphers' kernels, padded as WGSL pads them; no kernel has more.
pub(crate) const PARAMETER_BYTES: usize = 48;

/// What is taken of a device at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a piece of data on the device; three are there at once.
    pub piece_bytes: u64,
    /// Workgroups of a launch; each takes 2048 blocks.
    pub groups: u32,
}

impl Default for Limits {
    /// 32 MiB, and as many workgroups as the device allows.
    fn default() -> Self {
        Self { piece_bytes: 32 << 20, groups: u32::MAX }
    }
}

/// A GPU, or what a driver says is one. Clones are the same device.
///
/// Under OpenGL, join threads that have used one before the process ends: Mesa 22.3 aborts where it frees what it keeps for
/// a thread twice.
#[derive(Clone)]
pub struct Device(Arc<Opened>);

struct Opened {
    device: wgpu::Device,
    queue: wgpu::Queue,
    name: String,
    limits: Limits,
    bindings: BindGroupLayout,
    layout: wgpu::PipelineLayout,
    /// Why it was lost, once it was.
    lost: Arc<OnceLock<String>>,
    /// Of OpenGL, what a thread holds while it calls wgpu, which panics where another one has the context for seconds.
    turns: Option<Mutex<()>>,
    modules: Kept<&'static str, ShaderModule>,
    pipelines: Kept<(&'static str, String), ComputePipeline>,
}

/// What is made once and kept, each value under a lock of its own, so that whoever wants another one does not wait.
type Kept<K, V> = Mutex<HashMap<K, Arc<Mutex<Option<V>>>>>;

/// Whoever panicked with the lock has left the value as it was.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value of a key, which is made if it is not there yet.
fn kept<K: Eq + std::hash::Hash, V: Clone>(
    all: &Kept<K, V>,
    key: K,
    make: impl FnOnce() -> Result<V, Error>,
) -> Result<V, Error> {
    let place = locked(all).entry(key).or_default().clone();
    let mut place = locked(&place);
    if let Some(value) = &*place {
        return Ok(value.clone());
    }
    let value = make()?;
    *place = Some(value.clone());
    Ok(value)
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.0.name).finish()
    }
}

/// The device that [`Device::default`] gives, as long as it is not lost.
static DEFAULT: Mutex<Option<Device>> = Mutex::new(None);

impl Device {
    /// The best device that a driver offers: the same one for all who ask, until it is lost. A discrete GPU is better
    /// than one in the CPU, and a program that computes on the CPU is the last choice.
    ///
    /// # Errors
    /// [`Error::Unavailable`], which says in one sentence why there is none.
    #[allow(clippy::should_implement_trait, reason = "it can fail")]
    pub fn default() -> Result<Self, Error> {
        let mut default = locked(&DEFAULT);
        if let Some(device) = default.as_ref().filter(|device| device.0.lost.get().is_none()) {
            return Ok(device.clone());
        }
        let device = Self::with_limits(Limits::default())?;
        *default = Some(device.clone());
        Ok(device)
    }

    /// The same, opened for the caller alone and taking no more than these limits.
    ///
    /// # Errors
    /// As [`default`](Self::default).
    pub fn with_limits(limits: Limits) -> Result<Self, Error> {
        // OpenGL, whose libraries look for a display, only where there is nothing better.
        let best = best(Backends::PRIMARY).or_else(|| best(Backends::SECONDARY));
        let none = "no driver for Vulkan, Metal, DirectX 12 or OpenGL offers a GPU that computes";
        let adapter = best.ok_or(Unavailable::because(none))?;
        Self::open(&adapter, limits)
    }

    fn open(adapter: &Adapter, limits: Limits) -> Result<Self, Error> {
        let (info, offered) = (adapter.get_info(), adapter.limits());
        let name = format!("{} ({})", info.name, info.backend);
        let required_limits = wgpu::Limits {
            max_buffer_size: offered.max_buffer_size,
            max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
            max_compute_workgroups_per_dimension: offered
                .max_compute_workgroups_per_dimension
                .min(limits.groups.max(1)),
            ..wgpu::Limits::downlevel_defaults()
        };
        let opened = pollster::block_on(adapter.request_device(&DeviceDescriptor {
            label: Some("lanecrypt"),
            required_limits: required_limits.clone(),
            memory_hints: MemoryHints::MemoryUsage, // a few large buffers
            ..DeviceDescriptor::default()
        }));
        let (device, queue) = opened.map_err(|error| {
            Unavailable::because_of(format!("{name} cannot be opened: {error}"))
        })?;
        let lost = Arc::new(OnceLock::new());
        let told = lost.clone();
        device.set_device_lost_callback(move |reason, message| {
            let _ = told.set(format!("{reason:?}: {message}"));
        });
        // Every call that can fail is guarded; the handler of wgpu's own would panic.
        device.on_uncaptured_error(Arc::new(|error: wgpu::Error| log::error!("wgpu: {error}")));
        let bindings = device.create_bind_group_layout(&BindGroupLayoutDescriptor {
            label: None,
            entries: &[
                binding(0, BufferBindingType::Storage { read_only: false }),
                binding(1, BufferBindingType::Uniform),
                binding(2, BufferBindingType::Uniform),
            ],
        });
        let layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&bindings)],
            immediate_size: 0,
        });
        let most =
            required_limits.max_buffer_size.min(required_limits.max_storage_buffer_binding_size);
        let limits = Limits {
            // Sums of a hash have room behind a piece.
            piece_bytes: limits.piece_bytes.min(most.saturating_sub(16 * MOST_SUMS)),
            groups: required_limits.max_compute_workgroups_per_dimension,
        };
        Ok(Self(Arc::new(Opened {
            device,
            queue,
            name,
            limits,
            bindings,
            layout,
            lost,
            turns: (info.backend == Backend::Gl).then(Mutex::default),
            modules: Kept::default(),
            pipelines: Kept::default(),
        })))
    }

    /// The device's name, and through which interface it is reached.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What is taken of it at most, which is never more than it allows.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.0.limits
    }

    pub(crate) fn wgpu(&self) -> &wgpu::Device {
        &self.0.device
    }

    pub(crate) fn queue(&self) -> &wgpu::Queue {
        &self.0.queue
    }

    pub(crate) fn bindings(&self) -> &BindGroupLayout {
        &self.0.bindings
    }

    /// The most bytes that one launch takes of blocks of `block` bytes; whole blocks.
    pub(crate) fn piece_bytes(&self, block: usize) -> usize {
        let block = block as u64;
        let of_groups = u64::from(self.0.limits.groups) * GROUP_BLOCKS * block;
        let bytes = self.0.limits.piece_bytes.min(of_groups).max(block) / block * block;
        usize::try_from(bytes).unwrap_or(1 << 30) // where addresses have 32 bits
    }

    /// A kernel of a program.
    pub(crate) fn pipeline(
        &self,
        program: &'static Program,
        entry: &str,
    ) -> Result<ComputePipeline, Error> {
        let opened = &*self.0;
        kept(&opened.pipelines, (program.name, entry.to_owned()), || {
            let module = kept(&opened.modules, program.name, || {
                self.guarded("reading kernels", || {
                    opened.device.create_shader_module(ShaderModuleDescriptor {
                        label: Some(program.name),
                        source: ShaderSource::Wgsl(program.wgsl.into()),
                    })
                })
            })?;
            self.guarded("making a kernel", || {
                opened.device.create_compute_pipeline(&ComputePipelineDescriptor {
                    label: Some(entry),
                    layout: Some(&opened.layout),
                    module: &module,
                    entry_point: Some(entry),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    cache: None,
                })
            })
        })
    }

    /// Does work and returns the first error that wgpu has for it.
    pub(crate) fn guarded<T>(
        &self,
        call: &'static str,
        work: impl FnOnce() -> T,
    ) -> Result<T, Error> {
        let turn = self.turn();
        let [memory, internal, validation] =
            [ErrorFilter::OutOfMemory, ErrorFilter::Internal, ErrorFilter::Validation]
                .map(|filter| self.0.device.push_error_scope(filter));
        let made = work();
        // The last one first.
        let errors = [validation.pop(), internal.pop(), memory.pop()].map(pollster::block_on);
        drop(turn);
        self.check()?;
        match errors.into_iter().flatten().next() {
            None => Ok(made),
            Some(wgpu::Error::OutOfMemory { .. }) => {
                Err(Error::OutOfMemory { device: self.0.name.clone(), call })
            }
            Some(error) => Err(self.refused(call, &error)),
        }
    }

    /// Waits until no other thread calls wgpu, where only one may.
    fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        self.0.turns.as_ref().map(locked)
    }

    /// An error of wgpu's.
    pub(crate) fn refused(&self, call: &'static str, error: &impl fmt::Display) -> Error {
        Error::Refused { device: self.0.name.clone(), call, reason: error.to_string() }
    }

    /// Fails where the device was lost.
    fn check(&self) -> Result<(), Error> {
        let lost = self.0.lost.get();
        lost.map_or(Ok(()), |reason| Err(self.lost_by(reason)))
    }

    fn lost_by(&self, reason: &str) -> Error {
        Error::Lost { device: self.0.name.clone(), reason: reason.to_owned() }
    }

    /// Waits until what was submitted is complete.
    pub(crate) fn wait(&self, submission: SubmissionIndex) -> Result<(), Error> {
        self.poll(PollType::Wait { submission_index: Some(submission), timeout: None })
    }

    /// Lets wgpu look what is complete, and tell those who asked.
    pub(crate) fn poll(&self, poll: PollType) -> Result<(), Error> {
        let turn = self.turn();
        // wgpu panics where it learns by waiting that the device is lost.
        let polled = catch_unwind(AssertUnwindSafe(|| self.0.device.poll(poll)));
        drop(turn);
        self.check()?;
        match polled {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(self.refused("waiting", &error)),
            Err(_) => {
                let reason = "it stopped answering";
                let _ = self.0.lost.set(reason.to_owned());
                Err(self.lost_by(reason))
            }
        }
    }

    /// Ends the device, as its removal would.
    #[cfg(test)]
    pub(crate) fn lose(&self) {
        self.0.device.destroy();
    }
}

/// The best of what drivers for these interfaces offer.
fn best(backends: Backends) -> Option<Adapter> {
    let instance = Instance::new(InstanceDescriptor {
        backends,
        flags: InstanceFlags::empty(), // the layers that developers of drivers install take time
        ..InstanceDescriptor::new_without_display_handle()
    });
    let adapters = pollster::block_on(instance.enumerate_adapters(backends));
    let can_compute = |adapter: &Adapter| {
        let capabilities = adapter.get_downlevel_capabilities();
        capabilities.flags.contains(DownlevelFlags::COMPUTE_SHADERS)
    };
    let adapters = adapters.into_iter().filter(can_compute);
    adapters.min_by_key(|adapter| rank(adapter.get_info().device_type))
}

/// The lower, the better.
fn rank(device_type: DeviceType) -> u8 {
    match device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

fn binding(binding: u32, ty: BufferBindingType) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding,
        visibility: ShaderStages::COMPUTE,
        ty: BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}
