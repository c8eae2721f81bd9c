#!/usr/bin/env bash
# Builds the frame and the state machines for a microcontroller, which has no std: nothing in them may need one.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=thumbv7em-none-eabi
libraries=$(rustc --print sysroot)/lib/rustlib/$target
if [[ ! -d $libraries ]] && ! rustup target add "$target" >/dev/null 2>&1; then
    # Without its libraries the crate still uses only what `#![no_std]` permits.
    echo "skipped: wire and core for $target (rustup target add $target); checked for this machine only" >&2
    exec "${CARGO:-cargo}" check --locked -p inart-wire -p inart-protocol-aggregation
fi
exec "${CARGO:-cargo}" check --locked --target "$target" -p inart-wire -p inart-protocol-aggregation
