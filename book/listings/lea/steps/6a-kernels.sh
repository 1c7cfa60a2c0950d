# 6. Kernels
cp -r book/listings/lea/6/. .
git apply book/listings/lea/6.patch
touch kernels/ptx/lea_words.ptx kernels/sm_90/lea_words.cubin
cargo xtask kernels lea
cargo test -p lanecrypt-kernels --lib
