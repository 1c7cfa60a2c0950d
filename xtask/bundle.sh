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
if ! backends=$(./kat --list --platform cuda); then exit 2; fi # cipher/id, a line each
export LANECRYPT_EXPECT=${LANECRYPT_EXPECT:-$(cut -d/ -f2 <<< "$backends" | sort -u | paste -sd,)}
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
run conformance ./conformance --quiet cuda-
run device ./device cuda
run endurance ./endurance cuda
run kat ./kat vectors --platform cuda
# The messages above 4 GiB alone, which only AES has: a block at a time, the long CBC ones would take
# hours.
above=$(grep -E 'mode=(ecb|ctr) .* len=4294967312 ' vectors/big/aes.txt)
printf '# bcv1-big cipher=aes lines=%d\n%s\n' "$(wc -l <<< "$above")" "$above" > "$long"
run kat-4-gib ./kat "$long" --max-bytes 5G \
    --backend cuda-table-conflict-free --backend cuda-bitslice
run bench-all ./bench-all --gpu-only --out "$out" "$@"
tail -n 60 "$log"
printf '%s' "$summary"
exit "$failed"
