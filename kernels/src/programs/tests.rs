//! What the programs say of their kernels, against the PTX and the launches.

extern crate std;

use std::collections::BTreeSet;

use super::*;
use crate::{MODULES, launches::LAUNCHES};

fn all_kernels() -> impl Iterator<Item = &'static Kernel> {
    let of_programs = PROGRAMS.iter().flat_map(|program| program.kernels());
    of_programs.map(|(_, kernel)| kernel).chain(crate::kernels_of_no_program())
}

#[test]
fn every_program_computes_every_mode() {
    for program in PROGRAMS {
        for task in [EcbEncrypt, EcbDecrypt, Ctr, CbcDecrypt, CfbDecrypt] {
            let kernel = program.kernel(task);
            assert!(kernel.is_some(), "{}: no {task}", program.module().name);
        }
        for task in [XtsEncrypt, XtsDecrypt] {
            let (kernel, name) = (program.kernel(task), program.module().name);
            assert_eq!(kernel.is_some(), program.block_bytes() == 16, "{name}: {task}");
        }
    }
}

#[test]
fn a_kernel_is_where_its_task_is_looked_up() {
    for program in PROGRAMS {
        for (task, kernel) in program.kernels() {
            assert_eq!(program.kernel(task).map(Kernel::name), Some(kernel.name()));
            assert_eq!(kernel.module(), program.module());
        }
    }
    let keystream = CAMELLIA_TABLE_SHARED.kernel(Keystream).map(Kernel::name);
    assert_eq!(keystream, Some("camellia_table_shared_keystream"));
    assert!(AES_BITSLICE.kernel(Keystream).is_none());
}

#[test]
fn launches_are_what_the_ptx_says() {
    for kernel in all_kernels() {
        let name = kernel.name();
        let entry = kernel.module().entry(name).expect(name);
        assert_eq!(entry.parameter_bytes, kernel.parameter_bytes(), "{name}");
        assert_eq!(entry.threads, kernel.threads(), "{name}");
        let unit = kernel.unit().threads;
        assert!(kernel.threads().is_multiple_of(unit.max(32)), "{name}");
    }
}

#[test]
fn the_table_has_every_kernel_once() {
    let names: BTreeSet<&str> = LAUNCHES.iter().map(|(name, _)| *name).collect();
    let entries: BTreeSet<&str> = MODULES.iter().flat_map(Module::entry_names).collect();
    assert_eq!(names, entries);
    assert_eq!(names.len(), LAUNCHES.len());
    for (name, launch) in LAUNCHES {
        assert_eq!(Launch::of(name), *launch, "{name}");
    }
}

#[test]
fn every_entry_of_every_module_is_launched() {
    let launched: BTreeSet<&str> = all_kernels().map(Kernel::name).collect();
    let entries: BTreeSet<&str> = MODULES.iter().flat_map(Module::entry_names).collect();
    assert_eq!(launched, entries);
}

#[test]
fn no_module_is_taken_for_another() {
    assert!(crate::AES_BITSLICE.entry("aes_bitslice_ct").is_none(), "a part of a name");
    assert!(crate::AES_BITSLICE.entry("aes_table_shared_ctr").is_none());
}

#[test]
fn keys_of_other_lengths_and_counts_are_refused() {
    for program in PROGRAMS {
        let layout = program.keys();
        let mut words = std::vec![0; layout.words()];
        if let Some((word, values)) = layout.count {
            for refused in [2, 5, 11, 17, u32::MAX] {
                words[word] = refused;
                assert!(!layout.accepts(&words), "{refused} rounds");
            }
            words[word] = values[0];
        }
        assert!(layout.accepts(&words));
        assert!(!layout.accepts(&words[1..]));
        words.push(0);
        assert!(!layout.accepts(&words));
    }
}
