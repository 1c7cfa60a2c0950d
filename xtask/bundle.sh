#!/usr/bin/env bash
# Runs every GPU test and the benchmarks from the folder that `cargo xtask bundle` made; a short
# table comes last. Options go to bench-all. Results, few files: ./record, or $OUT where that is set.
set -u
cd "$(dirname "$0")" || exit 2
out=${OUT:-$PWD/record}
mkdir -p "$out"
log=$(mktemp)
long=$(mktemp --suffix=.txt)
trap 'rm -f "$log" "$long"' EXIT
: > "$out/log.txt"
families="bytewise table-global table-shared table-conflict-free-1 table-conflict-free-2 table-conflict-free bitslice"
expect=$(for family in $families; do printf 'cuda-%s,' "$family"; done)
export LANECRYPT_EXPECT=${LANECRYPT_EXPECT:-${expect%,}}
failed=0
run() { # name, command ...
    local name=$1 start=$SECONDS
    shift
    if "$@" > "$log" 2>&1; then verdict=passed; else verdict=FAILED failed=1; fi
    summary+="$(printf '%-12s %-7s %4d s  %s' "$name" "$verdict" $((SECONDS - start)) \
        "$(grep -E 'test result|passed, ' "$log" | tail -n 1)")"$'\n'
    { printf '== %s\n' "$name" && cat "$log"; } >> "$out/log.txt"
    [ "$verdict" = passed ] || tail -n 40 "$log"
}
summary=""
cuda_backends=$(for family in $families; do printf -- '--backend cuda-%s ' "$family"; done)
run conformance ./conformance --quiet cuda-
run device ./device cuda
# shellcheck disable=SC2086 # one word an option
run kat ./kat vectors $cuda_backends
# The messages above 4 GiB alone: a block at a time, the long CBC ones would take hours.
above=$(grep -E 'mode=(ecb|ctr) .* len=4294967312 ' vectors/big/aes.txt)
printf '# bcv1-big cipher=aes lines=%d\n%s\n' "$(wc -l <<< "$above")" "$above" > "$long"
run kat-4-gib ./kat "$long" --max-bytes 5G \
    --backend cuda-table-conflict-free --backend cuda-bitslice
run bench-all ./bench-all --gpu-only --out "$out" "$@"
tail -n 60 "$log"
printf '%s' "$summary"
exit "$failed"
