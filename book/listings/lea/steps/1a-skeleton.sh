# 1. Skeleton
cargo xtask new-cipher lea --standard "KS X 3246" --key-bytes 16,24,32
