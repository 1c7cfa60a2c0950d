//! Kernels: what each takes of a device, and the thread blocks that it can have.

use lanecrypt::cuda::{
    Engine,
    kernels::{self, Kernel, Program},
};
use lanecrypt_record::KernelResources;

/// What the kernels of an engine's program take of the device, as the driver compiled them; without those
/// that are `listed` already.
///
/// # Errors
/// The driver's.
pub(super) fn on_device(
    engine: &Engine,
    listed: &[KernelResources],
) -> Result<Vec<KernelResources>, String> {
    let mut rows = Vec::new();
    for kernel in new_kernels(engine.program(), listed) {
        let resources = engine.resources(kernel).map_err(|error| error.to_string())?;
        rows.extend(resources.map(|resources| KernelResources {
            kernel: kernel.name().to_owned(),
            architecture: engine.device().properties().name.clone(),
            registers: resources.registers,
            shared_bytes: resources.static_shared_bytes + kernel.shared_bytes(),
            local_bytes: resources.local_bytes,
            spill_bytes: 0, // the driver counts spills as local bytes
        }));
    }
    Ok(rows)
}

/// The sizes of thread blocks that a kernel can have: no more threads than it was built for, and whole
/// groups of them.
pub(super) fn possible(kernel: &Kernel, sizes: &[u32]) -> impl Iterator<Item = u32> {
    let (group, most) = (kernel.unit().threads, kernel.threads());
    sizes.iter().copied().filter(move |&threads| threads.is_multiple_of(group) && threads <= most)
}

/// A program's kernels, each once, without those that are `listed` already: both directions can
/// be one kernel, and ciphers can share theirs.
fn new_kernels(program: &'static Program, listed: &[KernelResources]) -> Vec<&'static Kernel> {
    let mut kernels: Vec<&Kernel> = Vec::new();
    for (_, kernel) in program.kernels() {
        let is_here = kernels.iter().any(|known| known.name() == kernel.name());
        if !is_here && !listed.iter().any(|row| row.kernel == kernel.name()) {
            kernels.push(kernel);
        }
    }
    kernels
}

/// The rows of the committed table for one architecture, those of its own instructions among them
/// (`sm_90a`), which needs no GPU: static shared memory only.
#[must_use]
pub(crate) fn compiled(architecture: &str) -> Vec<KernelResources> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |i: usize| fields.get(i).and_then(|field| field.parse::<u32>().ok());
        (fields.get(1)?.trim_end_matches('a') == architecture).then_some(())?;
        Some(KernelResources {
            kernel: fields[0].to_owned(),
            architecture: architecture.to_owned(),
            registers: number(2)?,
            shared_bytes: number(3)?,
            local_bytes: number(4)?,
            spill_bytes: number(5)? + number(6)?,
        })
    };
    kernels::RESOURCES.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use lanecrypt::cuda::kernels::Task;

    use super::*;
    use crate::bench::plan::THREAD_BLOCKS;

    #[test]
    fn the_committed_table_has_every_kernel() {
        let rows = compiled("sm_90");
        assert!(rows.iter().any(|row| row.kernel == "aes_bitslice_ctr" && row.registers > 32));
        let entries = kernels::MODULES.iter().map(|m| m.ptx.matches(".visible .entry").count());
        assert_eq!(rows.len(), entries.sum::<usize>());
        assert!(compiled("sm_1").is_empty());
    }

    #[test]
    fn a_kernel_is_listed_once() {
        let names = |program, listed: &[KernelResources]| -> Vec<&str> {
            new_kernels(program, listed).iter().map(|kernel| kernel.name()).collect()
        };
        let program = &kernels::programs::DES_BITSLICE;
        let all =
            ["ecb", "ctr", "cbc_decrypt", "cfb_decrypt"].map(|mode| format!("des_bitslice_{mode}"));
        assert_eq!(names(program, &[]), all);
        let listed = compiled("sm_90");
        assert!(names(program, &listed).is_empty());
    }

    #[test]
    fn thread_blocks_are_what_the_kernel_can_have() {
        use kernels::programs::{AES_CONFLICT_FREE_4, HIGHT_BITSLICE, HIGHT_BYTESLICE};
        let limits = |program: &Program, task| {
            let kernel = program.kernel(task).expect("it is there");
            possible(kernel, &THREAD_BLOCKS).collect::<Vec<_>>()
        };
        assert_eq!(limits(&HIGHT_BYTESLICE, Task::EcbEncrypt), [128, 256, 384, 512, 768]);
        assert_eq!(limits(&HIGHT_BITSLICE, Task::EcbEncrypt), [128, 256, 384]);
        // A group of it is a whole thread block.
        assert_eq!(limits(&AES_CONFLICT_FREE_4, Task::Ctr), [1024]);
    }
}
