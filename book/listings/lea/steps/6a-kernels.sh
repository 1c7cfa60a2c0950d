# 6. Kernels
take kernels/lea kernels/src/lib.rs kernels/src/programs.rs kernels/src/batch.rs
touch kernels/ptx/lea_words.ptx kernels/sm_90/lea_words.cubin
touch kernels/ptx/lea_batch.ptx kernels/sm_90/lea_batch.cubin
check cargo xtask kernels lea
check cargo xtask codegen
check cargo test -p lanecrypt-kernels --lib
