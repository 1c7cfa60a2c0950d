//! The tests: everything cargo runs, with the host build of the kernels, then the vectors.

use anyhow::Result;
use lanecrypt_cuda::variables::HOST_KERNELS;

use crate::{
    command::{self, cargo},
    host_kernels,
};

/// Backends that every machine with a C++ compiler can run, an id for every cipher that has it: one
/// of them skipped is a failure. `kat --list` prints those of each platform.
pub(crate) const EXPECTED: &str = "reference,table,table32,bitslice-u32,bitslice-u64,\
                                   byteslice-u32-gap,byteslice-u64-gap,byteslice-u32,\
                                   byteslice-u64,host-bytewise,host-table-global,\
                                   host-table-shared,host-table-shared-uncoalesced,\
                                   host-table-conflict-free-1,host-table-conflict-free-2,\
                                   host-table-conflict-free-merged,\
                                   host-table-conflict-free,host-byteslice,\
                                   host-byteslice-uncoalesced,host-bitslice";
const EXPECT: &str = "LANECRYPT_EXPECT";

pub(crate) fn run() -> Result<()> {
    let library = host_kernels::build()?;
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--no-fail-fast"]).env(HOST_KERNELS, &library);
    if std::env::var_os(EXPECT).is_none() {
        tests.env(EXPECT, EXPECTED);
    }
    command::run(&mut tests)?;
    kat(&["vectors".into()])
}

/// kat, with the host build of the kernels where it can be made.
pub(crate) fn kat(options: &[String]) -> Result<()> {
    match host_kernels::build() {
        Ok(library) => command::program("kat", options, &[(HOST_KERNELS, library)]),
        Err(error) => {
            eprintln!("the host build of the kernels is left out: {error:#}");
            command::program("kat", options, &[])
        }
    }
}
