#!/usr/bin/env bash
# Builds the fuzz targets and runs them side by side: tests/scripts/fuzz.sh LIMIT [TARGET...], LIMIT being one of libFuzzer's: -runs=N or
# -max_total_time=SECONDS. Findings are in tests/fuzz/regressions/TARGET; `cargo test -p inart-fuzz` runs it again.
set -eu
cd "$(dirname "$0")/../.."
limit=$1
shift
cargo=${CARGO:-cargo}
target_dir=${CARGO_TARGET_DIR:-$PWD/target}
runtime=$target_dir/fuzz/runtime
"$cargo" build --locked --quiet --release --manifest-path tests/fuzz/runtime/Cargo.toml --target-dir "$runtime"
INART_LIBFUZZER=$(ls -t "$runtime"/release/build/libfuzzer-sys-*/out/libfuzzer.a | head -n 1)
export INART_LIBFUZZER
all=$(sed -n 's/^name = "fuzz_\(.*\)"$/\1/p' tests/fuzz/Cargo.toml)
# The planner is compiled at level 1, which is sooner done and fast enough for its target.
# The workspace with an example, so that features are those of the tests and no third-party crate is compiled again.
RUSTC_WORKSPACE_WRAPPER=$PWD/tests/scripts/fuzz-rustc "$cargo" build --locked --quiet --workspace --features inart-fuzz/libfuzzer \
    --example digits $(printf -- '--bin fuzz_%s ' $all) \
    --config profile.dev.package.inart-fuzz.opt-level=2 --config profile.dev.package.inart-p4runtime.opt-level=2 \
    --config profile.dev.package.inart-planner-aggregation.opt-level=1
if [ $# -eq 0 ]; then
    set -- $all
fi
# Runs one target to its end.
fuzz() {
    target=$1
    corpus=$target_dir/fuzz/corpus/$target
    mkdir -p "$corpus" "tests/fuzz/regressions/$target" "tests/fuzz/seeds/$target"
    # A gradient's frame is 172 bytes long, agents get many messages, of which seeds (bounds_*) reach the bounds in bytes; elsewhere a
    # byte or two are an edit or a step. libFuzzer cuts seeds that are longer.
    case $target in frame) length=192 ;; *_agent) length=4096 ;; *) length=32 ;; esac
    # Each execution of p4ir reads a whole P4 program: some 50 a second, ten times slower than any other target.
    case $target:$limit in p4ir:-runs=*) limit=-runs=$((${limit#-runs=} / 20)) ;; esac
    if ! nice -n 15 "$target_dir/debug/fuzz_$target" "$limit" -seed=1 -max_len=$length -len_control=0 -timeout=30 -rss_limit_mb=2048 \
        -verbosity=0 -print_final_stats=1 -artifact_prefix="tests/fuzz/regressions/$target/" \
        "$corpus" "tests/fuzz/seeds/$target" "tests/fuzz/regressions/$target" 2>"$corpus.log"; then
        tail -n 60 "$corpus.log"
        echo "fuzz $target: failed; the input is in tests/fuzz/regressions/$target, all it printed in $corpus.log" >&2
        exit 1
    fi
    echo "fuzz $target: $(sed -n 's/^stat::\(number_of_executed_units\|average_exec_per_sec\): */\1 /p' "$corpus.log" | paste -sd ,)"
}
export -f fuzz
export target_dir limit
# As many targets at a time as there are processors. All run to their end; if one fails, so does this script.
printf '%s\n' "$@" | xargs -P "$(nproc)" -I TARGET bash -c 'fuzz TARGET'
find tests/fuzz/regressions tests/fuzz/seeds -type d -empty -delete
