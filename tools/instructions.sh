#!/usr/bin/env bash
# Gate on the hot path: instructions per packet-hop by callgrind, as the difference of two run lengths (set-up cancels).
# Repeatable to 0.1 %, whatever else the machine does. Skipped with a notice where valgrind is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v valgrind >/dev/null; then
    echo "instruction gate: skipped, valgrind is not installed"
    exit 0
fi
cargo build --quiet --release --locked -p fabricsim-judge --example bench
bench="${CARGO_TARGET_DIR:-target}/release/examples/bench"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Prints "instructions hops" of case $1 at length $2.
measure() {
    valgrind --tool=callgrind --callgrind-out-file="$folder/out" "$bench" "$1" "$2" >"$folder/text" 2>"$folder/log"
    local instructions hops
    instructions=$(sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$folder/log")
    hops=$(sed -n 's/.*: \([0-9]*\) hops.*/\1/p' "$folder/text")
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

gate hyperx-2k-credit 609
gate hyperx-2k-sculpin 360
exit $failed
