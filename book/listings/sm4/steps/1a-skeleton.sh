# 1. Copy of SEED
cargo xtask new-cipher sm4 --like seed --standard "GB/T 32907"
