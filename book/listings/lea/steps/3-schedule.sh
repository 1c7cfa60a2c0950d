# 3. Key schedule
take crates/lea/src/schedule.rs
check cargo test -p lanecrypt-lea --test forms
