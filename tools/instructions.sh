#!/usr/bin/env bash
# Gate on the hot path: instructions per packet-hop by callgrind, as the difference of two run lengths (set-up cancels).
# Measures the core as it is installed in .venv (`make gate` builds it). Repeatable to 0.1 %, whatever else the machine does. Skipped with a
# notice where valgrind is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v valgrind >/dev/null; then
    echo "instruction gate: skipped, valgrind is not installed"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

libraries=(.venv/lib/python3*/site-packages/fabricsim/_core*.so)
[[ -f ${libraries[0]} ]] || { echo "instruction gate: fabricsim is not installed in .venv: make setup" >&2; exit 1; }

# Prints "instructions hops" of case $1 at length $2.
measure() {
    valgrind --tool=callgrind --callgrind-out-file="$folder/out" --log-file="$folder/log" \
        .venv/bin/python -I -S tools/bench_case.py "${libraries[0]}" "$1" "$2" >"$folder/text"
    local instructions hops
    instructions=$(sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$folder/log")
    hops=$(sed -n 's/^hops //p' "$folder/text")
    echo "$instructions $hops"
}

failed=0
gate() {
    local case=$1 limit=$2 short long
    short=$(measure "$case" 0.25)
    long=$(measure "$case" 0.5)
    read -r i0 h0 <<<"$short"
    read -r i1 h1 <<<"$long"
    local per_hop=$(((i1 - i0) / (h1 - h0)))
    echo "instruction gate: $case $per_hop instructions per packet-hop, at most $limit"
    if ((per_hop > limit)); then failed=1; fi
}

gate hyperx-2k-credit 529
gate hyperx-2k-sculpin 348
exit $failed
