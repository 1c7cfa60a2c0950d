//! Which instructions this CPU has, as CPUID says and the system lets us use.
//!
//! By hand, because `std` is not everywhere and the crate `cpufeatures` wants AVX-512 for GFNI and
//! VAES, which CPUs with AVX2 alone have as well.

use core::{
    arch::x86_64::{__cpuid, __cpuid_count, _xgetbv},
    sync::atomic::{AtomicU32, Ordering},
};

/// What CPUID said, so that it is asked once: it takes microseconds in a virtual machine.
static FOUND: AtomicU32 = AtomicU32::new(0);

/// Features that are looked for, a bit each.
pub(crate) enum Features {}

impl Features {
    /// CPUID was asked.
    const KNOWN: u32 = 1;
    /// AVX2, with its registers saved by the system.
    pub(crate) const AVX2: u32 = 1 << 1;
    /// AES on 128 bits, with SSSE3 for byte shuffles and PCLMULQDQ.
    pub(crate) const AES: u32 = 1 << 2;
    /// AES on 256 bits, and on 512 with AVX-512; VPCLMULQDQ likewise.
    pub(crate) const VAES: u32 = 1 << 3;
    /// Affine maps and inversion of bytes.
    pub(crate) const GFNI: u32 = 1 << 4;
    /// AVX-512 F, BW, DQ, VL, VBMI and VBMI2: Ice Lake and later, Zen 4 and later.
    pub(crate) const AVX512: u32 = 1 << 5;

    /// All but those that a build leaves out, by `--cfg lanecrypt_without="avx512"` and the like: so are older CPUs
    /// measured on a newer one.
    const ALLOWED: u32 = !(if cfg!(lanecrypt_without = "avx2") { Self::AVX2 } else { 0 }
        | if cfg!(lanecrypt_without = "vaes") { Self::VAES } else { 0 }
        | if cfg!(lanecrypt_without = "gfni") { Self::GFNI } else { 0 }
        | if cfg!(lanecrypt_without = "avx512") { Self::AVX512 } else { 0 });
}

/// What this CPU has: read once for a choice among instruction sets.
#[derive(Clone, Copy)]
pub(crate) struct Found(u32);

impl Found {
    #[inline]
    pub(crate) fn get() -> Self {
        let found = FOUND.load(Ordering::Relaxed);
        Self(if found == 0 { Self::ask() } else { found })
    }

    /// Whether it has all of `features`.
    #[inline]
    pub(crate) fn has(self, features: u32) -> bool {
        self.0 & features == features
    }

    /// Asks the CPU, unless it cannot be: Miri has no CPUID, an SGX enclave may not use it, and a kernel may have switched
    /// the registers off. There it has what the build takes for granted.
    #[cold]
    fn ask() -> u32 {
        const IS_ASKED: bool =
            cfg!(not(any(miri, target_env = "sgx", target_os = "none", target_os = "uefi")));
        let found = if IS_ASKED { features() } else { BUILT };
        let found = found & Features::ALLOWED | Features::KNOWN;
        FOUND.store(found, Ordering::Relaxed);
        found
    }
}

/// What every CPU has that the build is for.
const BUILT: u32 = {
    let aes =
        cfg!(all(target_feature = "aes", target_feature = "ssse3", target_feature = "pclmulqdq"));
    let vaes = cfg!(all(target_feature = "vaes", target_feature = "vpclmulqdq"));
    let avx512 = cfg!(all(
        target_feature = "avx512f",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl",
        target_feature = "avx512vbmi",
        target_feature = "avx512vbmi2"
    ));
    (if cfg!(target_feature = "avx2") { Features::AVX2 } else { 0 })
        | if aes { Features::AES } else { 0 }
        | if aes && vaes { Features::VAES } else { 0 }
        | if cfg!(target_feature = "gfni") { Features::GFNI } else { 0 }
        | if avx512 { Features::AVX512 } else { 0 }
};

/// Reads CPUID.
fn features() -> u32 {
    #[allow(unused_unsafe, reason = "safe from Rust 1.93 on")]
    // SAFETY: every x86-64 CPU has CPUID; a leaf beyond the highest is not asked for.
    let (one, seven) = unsafe {
        let seven = (__cpuid(0).eax >= 7).then(|| __cpuid_count(7, 0));
        (__cpuid(1), seven)
    };
    let (ebx, ecx) = seven.map_or((0, 0), |seven| (seven.ebx, seven.ecx));
    let all = |register: u32, bits: &[u32]| bits.iter().all(|bit| register >> bit & 1 == 1);
    let saved = if all(one.ecx, &[27]) { saved_registers() } else { 0 };
    let covers = |bits: u64| saved & bits == bits;
    let aes = all(one.ecx, &[1, 9, 25]);
    let avx2 = covers(0b110) && all(one.ecx, &[28]) && all(ebx, &[5]);
    let avx512 = avx2 && covers(0b1110_0110) && all(ebx, &[16, 17, 30, 31]) && all(ecx, &[1, 6]);
    let found = [
        (Features::AVX2, avx2),
        (Features::AES, aes),
        (Features::VAES, aes && all(ecx, &[9, 10])),
        (Features::GFNI, all(ecx, &[8])),
        (Features::AVX512, avx512),
    ];
    found.iter().filter(|(_, has)| *has).map(|(feature, _)| feature).sum()
}

/// XCR0.
fn saved_registers() -> u64 {
    #[target_feature(enable = "xsave")]
    fn read() -> u64 {
        // SAFETY: this function has the feature, and register 0 exists.
        unsafe { _xgetbv(0) }
    }
    // SAFETY: OSXSAVE says that there is XGETBV.
    unsafe { read() }
}
