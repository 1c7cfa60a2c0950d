//! What a launch of a kernel must respect, as values that only this package makes.

use crate::{Module, Task, launches::LAUNCHES};

/// Words of the parameter block before the keys, of 32 bits: addresses of input and output, number
/// of blocks, and what the mode starts from.
pub const HEADER_WORDS: usize = 12;

/// Blocks that a group of threads takes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Threads of the group, at most a thread block of them.
    pub threads: u32,
    /// Blocks that the group takes.
    pub blocks: u32,
    /// Whether the groups start at counters that are a multiple of `blocks`, so that data which
    /// starts in between needs one group more.
    pub aligned: bool,
}

/// How a kernel is launched, as its source says: `Launch` of `common/launch.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) threads: u32,
    pub(crate) shared_bytes: u32,
    pub(crate) unit: Unit,
}

impl Launch {
    /// Of a kernel that was not built yet: so that this package, and with it `cargo xtask kernels`,
    /// can be built before. No module has such a kernel, and the tests refuse it.
    const NOT_BUILT: Self =
        Self { threads: 32, shared_bytes: 0, unit: Unit { threads: 1, blocks: 1, aligned: false } };

    /// Of the kernel with this name.
    pub(crate) const fn of(name: &str) -> Self {
        let mut i = 0;
        while i < LAUNCHES.len() {
            let (known, launch) = LAUNCHES[i];
            if is_same(known, name) {
                return launch;
            }
            i += 1;
        }
        Self::NOT_BUILT
    }
}

/// `==` of strings, which is not const.
const fn is_same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut i = 0;
    while i < left.len() && i < right.len() && left[i] == right[i] {
        i += 1;
    }
    i == left.len() && i == right.len()
}

/// The key part of a cipher's parameter blocks.
///
/// Kernels index their keys and shared memory by a number in it, such as that of the rounds, and
/// trust it: [`accepts`](Self::accepts) is what makes that trust right.
#[derive(Clone, Copy, Debug)]
pub struct KeyLayout {
    /// 32-bit words.
    pub(crate) words: usize,
    /// The word that kernels count by, and what it may be.
    pub(crate) count: Option<(usize, &'static [u32])>,
}

impl KeyLayout {
    /// 32-bit words, a multiple of four.
    #[must_use]
    pub const fn words(&self) -> usize {
        self.words
    }

    /// Which of the words kernels count by, and so branch on: it tells the length of the key or the
    /// order of bytes in a block, and nothing else of a key.
    #[must_use]
    pub fn count_word(&self) -> Option<usize> {
        self.count.map(|(word, _)| word)
    }

    /// What that word may be; nothing where there is none.
    #[must_use]
    pub fn counts(&self) -> &'static [u32] {
        self.count.map_or(&[], |(_, values)| values)
    }

    /// Whether a kernel may be given these words.
    #[must_use]
    pub fn accepts(&self, words: &[u32]) -> bool {
        let count_fits = |(word, values): (usize, &[u32])| {
            words.get(word).is_some_and(|count| values.contains(count))
        };
        words.len() == self.words && self.count.is_none_or(count_fits)
    }
}

/// A kernel and how to launch it.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    pub(crate) module: &'static Module,
    pub(crate) name: &'static str,
    pub(crate) launch: Launch,
    pub(crate) parameter_bytes: usize,
}

impl Kernel {
    /// The module that it is in.
    #[must_use]
    pub const fn module(&self) -> &'static Module {
        self.module
    }

    /// Its name in the module.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The most threads of a thread block, a multiple of 32.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        self.launch.threads
    }

    /// Bytes of dynamic shared memory of a thread block.
    #[must_use]
    pub const fn shared_bytes(&self) -> u32 {
        self.launch.shared_bytes
    }

    /// What its threads take at once.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.launch.unit
    }

    /// Bytes of its parameter block.
    #[must_use]
    pub const fn parameter_bytes(&self) -> usize {
        self.parameter_bytes
    }
}

/// The kernels that compute a cipher in one way, each for its [`Task`].
#[derive(Clone, Copy, Debug)]
pub struct Program {
    pub(crate) block_bytes: usize,
    pub(crate) keys: KeyLayout,
    pub(crate) module: &'static Module,
    /// By the tasks' numbers.
    pub(crate) kernels: [Option<Kernel>; Task::COUNT],
}

impl Program {
    /// Bytes of the cipher's block.
    #[must_use]
    pub const fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// What the key part of its parameter blocks is.
    #[must_use]
    pub const fn keys(&self) -> &KeyLayout {
        &self.keys
    }

    /// The module that all its kernels are in.
    #[must_use]
    pub const fn module(&self) -> &'static Module {
        self.module
    }

    /// The kernel for a task, if it has one. Every program has all but the key
    /// stream, and XTS where blocks have 16 bytes.
    #[must_use]
    pub const fn kernel(&self, task: Task) -> Option<&Kernel> {
        self.kernels[task as usize].as_ref()
    }

    /// Its kernels and what each is for. One kernel may be there for several tasks.
    pub fn kernels(&self) -> impl Iterator<Item = (Task, &Kernel)> {
        Task::ALL.into_iter().filter_map(|task| Some((task, self.kernel(task)?)))
    }

    /// Blocks that are worked on together: by a warp where warps work for themselves, else by a
    /// thread block. What computes them may go wrong at a multiple of this number.
    #[must_use]
    pub const fn lanes(&self) -> usize {
        let mut most = 0;
        let mut i = 0;
        while i < self.kernels.len() {
            if let Some(kernel) = self.kernels[i] {
                let Launch { threads, unit, .. } = kernel.launch;
                let groups = if unit.threads < 32 { threads / unit.threads } else { 1 };
                let blocks = (groups * unit.blocks) as usize;
                most = if blocks > most { blocks } else { most };
            }
            i += 1;
        }
        most
    }
}
