//! Kernels that encrypt a message by GCM in one launch, where it is not long.

use core::fmt;

use crate::{
    AES_GCM, Module, ghash,
    launch::{HEADER_WORDS, Kernel, KeyLayout, Launch},
    programs,
};

/// GCM by a cipher in one launch: [`Task::Ctr`](crate::Task::Ctr) over the text, and the hash of what comes out as
/// [`ghash::FINISH`] makes it.
#[derive(Clone, Copy)]
pub struct Gcm {
    pub(crate) kernel: Kernel,
    pub(crate) keys: &'static KeyLayout,
}

impl fmt::Debug for Gcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kernel.name)
    }
}

impl Gcm {
    /// Its kernel.
    #[must_use]
    pub const fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The keys that it takes.
    #[must_use]
    pub const fn keys(&self) -> &'static KeyLayout {
        self.keys
    }

    /// Bytes of the part of its parameter block that CTR has; those of the hash come after it.
    #[must_use]
    pub const fn text_bytes(&self) -> usize {
        4 * (HEADER_WORDS + self.keys.words)
    }
}

/// AES by one T-table that is replicated over the banks of shared memory; not constant-time.
pub static AES: Gcm = gcm(&AES_GCM, "aes_gcm_encrypt", programs::AES_TABLE_GLOBAL.keys());

/// All of them.
pub static ALL: [&Gcm; 1] = [&AES];

/// Their kernels.
pub fn kernels() -> impl Iterator<Item = &'static Kernel> {
    ALL.into_iter().map(Gcm::kernel)
}

const fn gcm(module: &'static Module, name: &'static str, keys: &'static KeyLayout) -> Gcm {
    let bytes = 4 * (HEADER_WORDS + keys.words) + 8 * ghash::PARAMETER_WORDS;
    // The struct is aligned as the keys in it are.
    let parameter_bytes = bytes.next_multiple_of(16);
    Gcm { kernel: Kernel { module, name, launch: Launch::of(name), parameter_bytes }, keys }
}
