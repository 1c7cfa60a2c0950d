# 6. Kernels
take kernels/sm4 kernels/src/lib.rs kernels/src/programs.rs kernels/src/batch.rs
check cargo xtask kernels sm4
