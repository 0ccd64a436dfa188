#!/usr/bin/env bash
# The event engine under tools that see what tests alone do not: `tools/sanitize.sh miri|seeds|thread`. See docs/concurrency.md.
#   miri    undefined behaviour, on one order of threads (nightly toolchain; minutes)
#   seeds   the barrier, on several orders of threads (nightly; FABRICSIM_SEEDS=0..8)
#   thread  data races of whole engine tests at full speed (the source of the standard library, rebuilt)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target="${CARGO_TARGET_DIR:-target}"

missing() {
    echo "tools/sanitize.sh $1: $2 is missing: $3" >&2
    exit 2
}

need_miri() {
    cargo +nightly miri --version >/dev/null 2>&1 ||
        missing "$1" "Miri" "rustup toolchain install nightly --profile minimal --component miri,rust-src"
}

case "${1:-}" in
miri)
    need_miri miri
    CARGO_TARGET_DIR="$target/miri" MIRIFLAGS="-Zmiri-strict-provenance ${MIRIFLAGS:-}" \
        cargo +nightly miri test --locked -p fabricsim-des --lib
    ;;
seeds)
    need_miri seeds
    CARGO_TARGET_DIR="$target/miri" \
        MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-many-seeds=${FABRICSIM_SEEDS:-0..8} ${MIRIFLAGS:-}" \
        cargo +nightly miri test --locked -p fabricsim-des --lib -- barrier::tests
    ;;
thread)
    host=$(rustc -vV | sed -n 's/^host: //p')
    [ -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library/std" ] ||
        missing thread "the source of the standard library" "rustup component add rust-src"
    CARGO_TARGET_DIR="$target/thread" RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread" \
        cargo test --locked -Zbuild-std --target "$host" -p fabricsim-des --lib
    ;;
*)
    echo "usage: tools/sanitize.sh miri|seeds|thread" >&2
    exit 2
    ;;
esac
