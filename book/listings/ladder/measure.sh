#!/bin/sh
# Measures the ladder on a machine with a GPU, Nsight Compute and no Rust, in the folder that `cargo xtask ladder --build`
# made:
#   sh measure.sh FOLDER
# FOLDER gets a record (ladder.json, report.md), the counters of each rung as counters.csv, and what racecheck says.
# Two minutes on an H200.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?a folder for what is measured}
mkdir -p "$out"
failed=0

nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,power.limit --format=csv > "$out/machine.csv" || failed=1
"$here/ladder" "$here" --out "$out" > "$out/ladder.txt" 2>&1 || failed=1
cat "$out/ladder.txt"

# The names of the page "Symptom, counter, cure".
eval "$(sed -n '/# ANCHOR: metrics/,/# ANCHOR_END: metrics/p' "$here/counters.sh")"
profile() {
    ncu --csv --target-processes all --clock-control none --kernel-name regex:rung_ \
        --metrics "$(echo "$1" | tr -s ' \n' ',,' | sed 's/^,//; s/,$//')" \
        "$here/ladder" "$here" --once --bytes 268435456
}
{
    profile "$metrics ${stalled}_lg_throttle_per_issue_active.ratio" || profile "$metrics"
} > "$out/counters.csv" 2> "$out/counters.log" || failed=1
grep -c '^"' "$out/counters.csv"

# Two rungs that share memory among threads, and the listing that does it wrong.
for name in 01 12 wrong; do
    compute-sanitizer --tool racecheck "$here/ladder" "$here" --once --only "$name-" --bytes 65536 \
        > "$out/racecheck-$name.txt" 2>&1
    echo "racecheck $name: $(tail -n 1 "$out/racecheck-$name.txt")"
done
exit "$failed"
