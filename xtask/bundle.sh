#!/usr/bin/env bash
# Tests, tunes and measures on a machine with a GPU and no Rust, from the folder that `cargo xtask bundle` made.
#
#   ./run.sh [STEP...]         runs these steps, or all, and prints a short table last
#   ./run.sh start [STEP...]   the same in the background: they go on when the shell that started them ends
#   ./run.sh wait SECONDS      waits for these, so long at most, and prints the table as far as it is
#
# Who copies the folder there again ends what runs in it: between `start` and `wait` it must stay as it is.
#
# A step is one of those below, or several by the name before the dash: "tune" is all that tunes. What they print
# and measure is in ./results, a folder a step. Where OUT is set, it is packed to $OUT/results.tar.xz, too.
set -u
cd "$(dirname "$0")" || exit 2
here=$PWD
programs=$here/programs
results=$here/results
ciphers=(
    aes
    aria
    camellia
    des
    tdes
    hight
    lea
    seed
    sm4
)

# name, seconds at most, command ...
steps() {
    step test-conformance 200 ./conformance --quiet cuda-
    step test-device 400 ./device cuda --skip large
    step test-kat 200 ./kat vectors --platform cuda
    step test-large 400 ./device cuda::large
    # The messages above 4 GiB alone, which only AES has: a block at a time, the long CBC ones would take
    # hours.
    step test-4-gib 200 ./kat above-4-gib.txt --max-bytes 5G \
        --backend cuda-table-conflict-free --backend cuda-bitslice
    step test-endurance 400 ./endurance cuda
    for cipher in "${ciphers[@]}"; do step "tune-$cipher" 400 ./tune --launches --cipher "$cipher"; done
    step ladder 200 ladder/ladder ladder --out "$results/ladder"
    step first-calls 200 ./bench-all --first-calls --out "$results/first-calls"
    for cipher in "${ciphers[@]}"; do
        step "bench-$cipher" 400 ./bench-all --gpu-only --cipher "$cipher" --out "$results/bench-$cipher"
    done
    # Where CPU and GPU are as fast as each other, and the choice between them by that.
    for cipher in "${ciphers[@]}"; do step "place-$cipher" 200 ./tune --host-memory --cipher "$cipher"; done
    step auto 400 ./bench-all --auto --out "$results/auto"
    step files 400 ./bench-all --files --out "$results/files"
    # Of a bundle with the wheel: beside the machine's own PyTorch and CuPy.
    [ -f on_gpu.py ] && step python 400 env PYTHONPATH=wheel python3 on_gpu.py
    step cpu 1200 ./bench-all --cpu-only --quick --out "$results/cpu"
}

chosen=()
failed=0
step() {
    local name=$1 limit=$2 start=$SECONDS log=$results/$1.log verdict
    shift 2
    is_chosen "$name" || return
    timeout "$limit" "$@" > "$log" 2>&1
    case $? in
        0) verdict=passed ;;
        124) verdict="TOO LONG" failed=1 ;;
        *) verdict=FAILED failed=1 ;;
    esac
    printf '%-17s %-8s %4d s  %s\n' "$name" "$verdict" $((SECONDS - start)) \
        "$(grep -E 'test result|passed, ' "$log" | tail -n 1)" >> "$results/table.txt"
}

is_chosen() {
    [ ${#chosen[@]} -eq 0 ] && return
    local wanted
    for wanted in "${chosen[@]}"; do
        [[ $1 == "$wanted" || $1 == "$wanted"-* ]] && return
    done
    return 1
}

unpack() {
    [ -d "$programs" ] && return
    mkdir "$programs" && tar xJf programs.tar.xz -C "$programs" || exit 2
    local above
    above=$(grep -E 'mode=(ecb|ctr) .* len=4294967312 ' "$programs/vectors/big/aes.txt")
    printf '# bcv1-big cipher=aes lines=%d\n%s\n' "$(wc -l <<< "$above")" "$above" \
        > "$programs/above-4-gib.txt"
}

run_steps() {
    chosen=("$@")
    rm -rf "$results" && mkdir "$results"
    cd "$programs" || exit 2
    PATH=$programs:$PATH
    local backends
    backends=$(./kat --list --platform cuda) || exit 2 # cipher/id, a line each
    LANECRYPT_EXPECT=${LANECRYPT_EXPECT:-$(cut -d/ -f2 <<< "$backends" | sort -u | paste -sd,)}
    export PATH LANECRYPT_EXPECT
    steps
    cp -r "${XDG_CACHE_HOME:-$HOME/.cache}/lanecrypt" "$results/cache" 2> /dev/null
    echo "exit code $failed" >> "$results/table.txt"
}

is_done() { grep -qs '^exit code' "$results/table.txt"; }
exit_code() { sed -n 's/^exit code //p' "$results/table.txt"; }

report() {
    if [ -n "${OUT:-}" ]; then tar cJf "$OUT/results.tar.xz" results; fi
    for log in "$results"/*.log; do # what did not pass, at its end
        local name
        name=$(basename "$log" .log)
        grep -qE "^$name +(FAILED|TOO LONG)" "$results/table.txt" && tail -n 20 "$log"
    done
    cat "$results/table.txt"
}

case ${1:-} in
    start)
        shift
        unpack
        rm -f "$results/table.txt" # which says of an earlier run that it is done
        setsid nohup "$here/run.sh" "$@" > background.log 2>&1 < /dev/null &
        ;;
    wait)
        for ((second = 0; second < $2; second++)); do
            is_done && break
            sleep 1
        done
        report
        if is_done; then exit "$(exit_code)"; fi
        ;;
    *)
        unpack
        (run_steps "$@")
        report
        exit "$(exit_code)"
        ;;
esac
