#!/usr/bin/env bash
# Says which tests skipped themselves on this machine, and why. The test runner hides what passing tests print.
set -euo pipefail

have() { command -v "$1" >/dev/null 2>&1; }
skipped=0
say() { skipped=1; echo "skipped here: $1"; }

[[ $(id -u) == 0 ]] || say "tests with network namespaces and raw sockets (run as root)"
/usr/bin/python3 -c 'import mininet' >/dev/null 2>&1 || say "jobs in Mininet (install Debian's package mininet)"
have p4c-bm2-ss || say "recompiling p4/ and comparing (p4c-bm2-ss is not on the PATH; install p4lang's p4c)"
have simple_switch_grpc || say "packet cases and pushes on bmv2 (simple_switch_grpc is not on the PATH; install p4lang's bmv2)"
python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || say "p4runtime-shell, finsy and the descriptors of P4Runtime (python3-venv is missing)"
[[ -d $(dirname "$0")/../../shared/instances && -d $(dirname "$0")/../../shared/conformance ]] || say "the planner's reference instances and the v1model conformance cases (no ../shared)"
((skipped)) || echo "nothing was skipped"
