//! A cipher that runs on the CPU, with its threads, or on the GPU, whichever is faster for a buffer.

use std::{convert::Infallible, fmt, sync::OnceLock};

use cipher::{
    AlgorithmName, Block, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncClosure,
    BlockCipherEncrypt, BlockSizeUser, InOutBuf, Key, KeyInit, KeySizeUser, typenum::Unsigned,
};

use lanecrypt_core::GcmPass;

use crate::{
    Chains, ConstantTime, Engine, Error, Operation, Parallel, THREAD_PIECE_BYTES,
    cuda::{self, Device, DeviceCipher, Family, OnDevice, kernels::Task},
    parallel::in_pieces,
    tuning::{self, Place, Switches, TASKS, Tuning},
};

/// A block cipher that picks CPU or GPU, whichever is faster for a buffer's length, by what was measured on
/// this machine: see [`tuning`](mod@crate::tuning). `C` is a CPU cipher that has kernels.
///
/// Without a GPU it is the CPU, and the crate `log` is told once. As an [`Engine`] it takes any mode:
/// chains, such as CBC encryption, and GCM, whose hash is the CPU's, always run on the CPU. Pinned memory
/// passes a GPU faster than was measured here: whoever has it takes [`OnDevice`].
///
/// The fastest kernels of most ciphers look tables up, at addresses that depend on key and data;
/// [`constant_time`](Self::constant_time) gives a cipher without.
///
/// RustCrypto's traits cannot fail: what a GPU fails to do the CPU does, as with [`OnDevice`]. A call of the
/// [`Engine`] reports the error of the device.
///
/// ```
/// use lanecrypt::{Auto, aes::Aes128, cipher::{BlockCipherEncrypt, KeyInit}};
///
/// let cipher = Auto::<Aes128>::new(&[0; 16].into());
/// let mut blocks = vec![[0; 16].into(); 1000];
/// cipher.encrypt_blocks(&mut blocks);
/// assert_eq!(blocks[999][..4], [0x66, 0xe9, 0x4b, 0xd4]);
/// ```
pub struct Auto<C, G = OnDevice<C>> {
    cpu: C,
    gpu: Option<Gpu<G>>,
}

/// What runs on the GPU: a cipher, or an engine by itself.
struct Gpu<G> {
    cipher: G,
    /// In the order of [`TASKS`].
    switches: [Switches; TASKS.len()],
}

impl<G> Gpu<G> {
    fn new(cipher: G, family: &Family, device: &Device, tuning: &Tuning, key_bytes: usize) -> Self {
        let of = |task| tuning.crossovers.of(family, device, task, key_bytes);
        Self { cipher, switches: TASKS.map(of) }
    }
}

/// An engine by the name of a cipher, of any key length: without RustCrypto's traits.
pub type AutoEngine = Auto<Box<dyn Engine>, cuda::Engine>;

/// The device that [`Device::default`] gives, if it gives one when it is first asked.
fn default_device() -> Option<&'static Device> {
    static DEVICE: OnceLock<Option<Device>> = OnceLock::new();
    let open = || match Device::default() {
        Ok(device) => Some(device),
        Err(error) => {
            log::info!("ciphers that would choose run on the CPU: {error}");
            None
        }
    };
    DEVICE.get_or_init(open).as_ref()
}

impl<C: DeviceCipher + Engine> Auto<C> {
    /// Keys the cipher, by constant-time kernels where it runs on a GPU.
    pub fn constant_time(key: &Key<C>) -> Self {
        Self::of_family(C::constant_time_family(), key)
    }

    /// Keys the cipher on `device` by kernels of one's choice, to go by this tuning.
    ///
    /// # Errors
    /// Those of [`OnDevice::of_family`].
    pub fn on(
        device: &Device,
        family: &Family,
        tuning: &Tuning,
        key: &Key<C>,
    ) -> Result<Self, cuda::Error> {
        let cipher = OnDevice::of_family(family, device, key)?;
        let gpu = Gpu::new(cipher, family, device, tuning, C::key_size());
        Ok(Self { cpu: C::new(key), gpu: Some(gpu) })
    }

    fn of_family(family: &Family, key: &Key<C>) -> Self {
        let key_gpu = |device: &Device| OnDevice::of_family(family, device, key);
        Self { cpu: C::new(key), gpu: on_default_device(family, C::key_size(), key_gpu) }
    }

    /// Whether it is constant-time, wherever it runs.
    pub fn claim(&self) -> ConstantTime {
        self.gpu.as_ref().map_or(ConstantTime::Yes, |gpu| gpu.cipher.claim())
    }
}

/// Keys a family on the device that [`Device::default`] gives, where there is one that takes it.
fn on_default_device<G>(
    family: &Family,
    key_bytes: usize,
    key_gpu: impl FnOnce(&Device) -> Result<G, cuda::Error>,
) -> Option<Gpu<G>> {
    let device = default_device()?;
    let tuning = tuning::load(device); // first: an engine goes by what its device knew when it was keyed
    match key_gpu(device) {
        Ok(cipher) => Some(Gpu::new(cipher, family, device, &tuning, key_bytes)),
        Err(error) => {
            log::warn!("{} runs on the CPU: {error}", family.cipher().name);
            None
        }
    }
}

impl AutoEngine {
    /// Keys the cipher of this family: on the CPU its default, which is constant-time.
    ///
    /// # Errors
    /// [`Error`] for a key length that the cipher does not take.
    pub fn by_family(family: &Family, key: &[u8]) -> Result<Self, Error> {
        let cpu = on_cpu(family, key)?;
        let key_gpu = |device: &Device| family.engine(device, key);
        Ok(Self { cpu, gpu: on_default_device(family, key.len(), key_gpu) })
    }

    /// The same, on `device`, to go by this tuning.
    ///
    /// # Errors
    /// [`Error`] for a key length that the cipher does not take; those of [`Family::engine`].
    pub fn by_family_on(
        device: &Device,
        family: &Family,
        tuning: &Tuning,
        key: &[u8],
    ) -> Result<Self, Error> {
        let cpu = on_cpu(family, key)?;
        let engine = family.engine(device, key)?;
        Ok(Self { cpu, gpu: Some(Gpu::new(engine, family, device, tuning, key.len())) })
    }
}

/// The default of a family's cipher on the CPU.
fn on_cpu(family: &Family, key: &[u8]) -> Result<Box<dyn Engine>, Error> {
    family.cipher().default_engine(key)
}

impl<C, G> Auto<C, G> {
    /// Where a call for this task runs, over `bytes` bytes; `Keystream` as CTR.
    pub fn place(&self, task: Task, bytes: usize) -> Place {
        let number = TASKS.iter().position(|known| *known == task);
        let number = number.or_else(|| TASKS.iter().position(|known| *known == Task::Ctr));
        let switches = self.gpu.as_ref().and_then(|gpu| gpu.switches.get(number?));
        switches.map_or(Place::Cpu, |switches| switches.place(bytes as u64))
    }

    /// What runs on the GPU, where there is one.
    pub fn on_device(&self) -> Option<&G> {
        self.gpu.as_ref().map(|gpu| &gpu.cipher)
    }

    /// The GPU's, where a call goes there.
    fn gpu(&self, task: Task, bytes: usize) -> Option<&G> {
        self.on_device().filter(|_| self.place(task, bytes) == Place::Gpu)
    }
}

impl<C: DeviceCipher + Engine> Auto<C> {
    /// Runs whole blocks on the CPU, by several threads if there are enough of them.
    fn blocks_on_cpu(
        blocks: InOutBuf<'_, '_, Block<C>>,
        run: impl Fn(InOutBuf<'_, '_, Block<C>>) + Sync,
    ) where
        Block<C>: Send + Sync,
    {
        let work = |_, piece: InOutBuf<'_, '_, Block<C>>| {
            run(piece);
            Ok::<(), Infallible>(())
        };
        in_pieces(blocks, THREAD_PIECE_BYTES / C::BlockSize::USIZE, work)
            .unwrap_or_else(|error| match error {});
    }
}

impl<C: Engine, G> Engine for Auto<C, G>
where
    G: AsRef<cuda::Engine> + Send + Sync,
    Self: fmt::Debug,
{
    fn block_bytes(&self) -> usize {
        self.cpu.block_bytes()
    }

    fn chunk_bytes(&self) -> usize {
        self.cpu.chunk_bytes()
    }

    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let task = cuda::task_of(operation);
        match task.and_then(|task| self.gpu(task, data.len())) {
            Some(gpu) => gpu.as_ref().run_host_memory(operation, data).map_err(Error::from),
            None => Parallel::new(&self.cpu).run(operation, data),
        }
    }

    fn gcm(&self, pass: GcmPass<'_>, data: InOutBuf<'_, '_, u8>) -> Result<bool, Error> {
        Parallel::new(&self.cpu).gcm(pass, data)
    }

    fn chains_at_once(&self) -> usize {
        self.cpu.chains_at_once()
    }

    fn run_chains(&self, chains: Chains<'_, '_, '_>) -> Result<(), Error> {
        self.cpu.run_chains(chains)
    }
}

impl<C: DeviceCipher> BlockSizeUser for Auto<C> {
    type BlockSize = C::BlockSize;
}

impl<C: DeviceCipher> KeySizeUser for Auto<C> {
    type KeySize = C::KeySize;
}

impl<C: DeviceCipher + Engine> KeyInit for Auto<C> {
    /// By the fastest kernels, on the device that [`Device::default`] gives, where there is one.
    fn new(key: &Key<Self>) -> Self {
        Self::of_family(C::family(), key)
    }
}

impl<C: DeviceCipher + Engine> BlockCipherEncrypt for Auto<C> {
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = C::BlockSize>) {
        self.cpu.encrypt_with_backend(f);
    }
    fn encrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        match self.gpu(Task::EcbEncrypt, blocks.len() * C::block_size()) {
            Some(gpu) => gpu.encrypt_blocks_inout(blocks),
            None => Self::blocks_on_cpu(blocks, |piece| self.cpu.encrypt_blocks_inout(piece)),
        }
    }
    fn encrypt_blocks(&self, blocks: &mut [Block<Self>]) {
        self.encrypt_blocks_inout(blocks.into());
    }
    fn encrypt_blocks_b2b(
        &self,
        in_blocks: &[Block<Self>],
        out_blocks: &mut [Block<Self>],
    ) -> Result<(), cipher::inout::NotEqualError> {
        self.encrypt_blocks_inout(InOutBuf::new(in_blocks, out_blocks)?);
        Ok(())
    }
}

impl<C: DeviceCipher + Engine> BlockCipherDecrypt for Auto<C> {
    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = C::BlockSize>) {
        self.cpu.decrypt_with_backend(f);
    }
    fn decrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        match self.gpu(Task::EcbDecrypt, blocks.len() * C::block_size()) {
            Some(gpu) => gpu.decrypt_blocks_inout(blocks),
            None => Self::blocks_on_cpu(blocks, |piece| self.cpu.decrypt_blocks_inout(piece)),
        }
    }
    fn decrypt_blocks(&self, blocks: &mut [Block<Self>]) {
        self.decrypt_blocks_inout(blocks.into());
    }
    fn decrypt_blocks_b2b(
        &self,
        in_blocks: &[Block<Self>],
        out_blocks: &mut [Block<Self>],
    ) -> Result<(), cipher::inout::NotEqualError> {
        self.decrypt_blocks_inout(InOutBuf::new(in_blocks, out_blocks)?);
        Ok(())
    }
}

impl<C: DeviceCipher> fmt::Debug for Auto<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        C::write_alg_name(f)?;
        match &self.gpu {
            Some(gpu) => write!(f, " on the CPU or {:?}", gpu.cipher.engine().device()),
            None => f.write_str(" on the CPU { .. }"),
        }
    }
}

impl fmt::Debug for AutoEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.gpu {
            Some(gpu) => write!(f, "{:?} or {:?}", self.cpu, gpu.cipher),
            None => write!(f, "{:?}", self.cpu),
        }
    }
}

impl<C: DeviceCipher> AlgorithmName for Auto<C> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        C::write_alg_name(f)
    }
}
