# 5. Word-sliced form
cp -r book/listings/lea/5/. .
git apply book/listings/lea/5.patch
cargo test -p lanecrypt-lea --features alloc
