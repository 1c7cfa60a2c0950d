#!/bin/sh
# rustdoc with the one feature that docs.rs's nightly compiler adds, by which items say behind which feature they are.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@"
