# 2. Reference
cp -r book/listings/lea/2/. .
git apply book/listings/lea/2.patch
cargo test -p lanecrypt-lea
