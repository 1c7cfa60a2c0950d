//! Where host memory is likely to be processed first on a machine that was not measured.

use super::Switches;

/// GB/s of CTR on one core of sixteen that are all busy (a Xeon with AVX-512 and GFNI), and how many bytes
/// it takes for a GPU to be ahead where it ever is: record 2026-11-22-nvidia-h200-f87b56d.
const CIPHERS: &[(&str, f64, u64)] = &[
    ("aes", 3.9, 64 << 20),
    ("aria", 3.2, 64 << 20),
    ("camellia", 2.8, 64 << 20),
    ("des", 1.6, 64 << 20),
    ("tdes", 0.76, 4 << 20),
    ("tdes-eee", 0.76, 4 << 20),
    ("hight", 2.6, 64 << 20),
    ("hight-kisa", 2.6, 64 << 20),
    ("lea", 3.2, 64 << 20),
    ("seed", 1.1, 16 << 20),
    ("sm4", 2.8, 64 << 20),
];
/// GB/s of a GPU from pageable memory to pageable memory, the lowest that was measured there; fewer threads
/// than it took copy less.
const GPU: f64 = 25.0;
const GPU_THREADS: usize = 12;

/// One switch, where this number of threads encrypts more slowly than it feeds a GPU.
pub(super) fn switches(cipher: &str, threads: usize) -> Switches {
    let known = CIPHERS.iter().find(|(name, ..)| *name == cipher);
    let switch = known.filter(|(_, core, _)| {
        let copied = threads.min(GPU_THREADS) as f64 / GPU_THREADS as f64 * GPU;
        threads as f64 * core < copied
    });
    let at = switch.map(|&(.., bytes)| bytes);
    Switches::new(at.into_iter().collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CIPHERS as ALL, tuning::Place};

    #[test]
    fn what_is_slow_on_cores_goes_to_the_gpu() {
        for threads in [1, 16, 128] {
            assert_eq!(switches("aes", threads).place(1 << 40), Place::Cpu, "{threads} threads");
        }
        assert_eq!(switches("tdes", 16).place(1 << 30), Place::Gpu);
        assert_eq!(switches("tdes", 16).place(1 << 20), Place::Cpu);
        assert_eq!(switches("tdes", 64).place(1 << 30), Place::Cpu);
        assert_eq!(switches("rot13", 1), Switches::default());
        assert!(ALL.iter().all(|cipher| CIPHERS.iter().any(|(name, ..)| *name == cipher.name)));
    }
}
