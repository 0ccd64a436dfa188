#!/usr/bin/env bash
# What bounds a bench case: lines that miss per packet-hop, as the difference of two run lengths, and what a line takes on this machine.
# `tools/misses.sh CASE SHORT LONG`, such as `tools/misses.sh hyperx-32k-credit 0.1 0.2`, measures the core that is installed in .venv.
#
# The caches are cachegrind's: 48 KiB and 2 MiB. It leaves hints aside, so that what is asked for beforehand counts as missed where it is used: these
# are the lines that have to come from beyond the second level, hidden or not. At best they take `ns side by side` each.
set -euo pipefail
[[ $# == 3 ]] || { sed -n '3p' "$0" >&2; exit 2; }
case=$1 lengths=("$2" "$3")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
libraries=(.venv/lib/python3*/site-packages/fabricsim/_core*.so)

cc -O2 -o "$folder/memory_latency" tools/memory_latency.c
"$folder/memory_latency" 320

for i in 0 1; do
    valgrind --tool=cachegrind --cache-sim=yes --D1=49152,12,64 --LL=2097152,16,64 \
        --cachegrind-out-file=/dev/null --log-file="$folder/log$i" \
        .venv/bin/python -I -S tools/bench_case.py "${libraries[0]}" "$case" "${lengths[$i]}" >"$folder/text$i"
done
# A number of a run: of its log by the words before it, of its text by `hops`.
number() { sed -n "s/.*$2: *\([0-9,]*\).*/\1/p" "$folder/log$1" | tr -d ,; }
hops() { sed -n 's/^hops //p' "$folder/text$1"; }
per_hop() {
    awk -v a="$(number 0 "$1")" -v b="$(number 1 "$1")" -v h="$(hops 0)" -v k="$(hops 1)" 'BEGIN { printf "%.1f", (b - a) / (k - h) }'
}
echo "$case, per packet-hop: $(per_hop 'I *refs') instructions, $(per_hop 'D *refs') loads and stores," \
    "$(per_hop 'D1 *misses') lines beyond the first level, $(per_hop 'LLd misses') beyond the second"
