# 6. Tests, the kernels on this CPU
check cargo clippy --quiet -p lanecrypt-lea --all-features --all-targets -- --deny warnings
check cargo xtask kat --cipher lea
check cargo test -p lanecrypt --test secrets --test rustcrypto
check cargo test -p lanecrypt-ct --test residue
