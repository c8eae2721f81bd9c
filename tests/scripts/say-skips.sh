#!/usr/bin/env bash
# Prints the tests that skip themselves on this machine, with the reasons. The test runner hides the output of
# passing tests, so this
# script repeats their checks.
set -euo pipefail
cd "$(dirname "$0")/../.."

have() { command -v "$1" >/dev/null 2>&1; }
skipped=0
say() { skipped=1; echo "skipped here: $1"; }

if [[ $(id -u) != 0 ]]; then
    say "tests with network namespaces and raw sockets (run as root)"
elif ! unshare --net ip link add br0 type bridge >/dev/null 2>&1; then
    say "tests with network namespaces (root may not make one here, or no bridge in it)"
elif ! unshare --net tc qdisc add dev lo root handle 1: htb >/dev/null 2>&1; then
    say "interfaces that do not drain (tc cannot limit a rate here)"
fi
tests/scripts/has-xdp.sh || say "AF_XDP (the kernel has none, or this user may not open sockets of it and load programs)"
ignored=$((16#$(awk '/^SigIgn/ { print $2 }' /proc/self/status)))
for signal in 2:SIGINT 15:SIGTERM; do
    ((ignored & 1 << (${signal%:*} - 1))) && say "what ${signal#*:} leaves of an emulation (the caller ignores it; nohup and & do so)"
done
for module in numpy torch; do
    /usr/bin/python3 -I -c "import $module" >/dev/null 2>&1 || say "sums from Python with $module (install Debian's package python3-$module)"
done
/usr/bin/python3 -I -c 'import mininet.net' >/dev/null 2>&1 || say "jobs in Mininet (install Debian's package mininet)"
have p4c-barefoot && have bfas ||
    say "compiling p4/tofino/ for the chip, and comparing (p4c-barefoot and bfas are not both on the PATH; install p4lang's p4c with its Tofino back end)"
have p4test || say "recompiling p4/tofino/, and comparing (p4test is not on the PATH; install p4lang's p4c)"
if ! have p4c-bm2-ss; then
    say "recompiling p4/ and switch/tests/programs/v1model/, and comparing (p4c-bm2-ss is not on the PATH; install p4lang's p4c)"
elif version=$(p4c-bm2-ss --version 2>&1 | sed -n 's/^ *Version //p'); [[ $version != "$(<p4/build/P4C_VERSION)" ]]; then
    say "recompiling p4/ and switch/tests/programs/v1model/, and comparing (p4c-bm2-ss is $version, the artifacts are by $(<p4/build/P4C_VERSION))"
fi
have xz || say "decompressing the artifacts of p4/build/ with xz, and comparing (install Debian's package xz-utils)"
have simple_switch_grpc ||
    say "on bmv2: packet cases, p4testgen's cases, the embedded switch's own programs, pushes, TLS and jobs in Mininet (simple_switch_grpc is not on the PATH; install p4lang's bmv2)"
if ! have tofino-model || ! have bf_switchd || [[ -z ${SDE_INSTALL:-} || -z ${INART_TOFINO_P4:-} ]]; then
    say "packet cases on the vendor's model of Tofino (tofino-model and bf_switchd on the PATH, SDE_INSTALL and INART_TOFINO_P4: docs/how-to/deploy-tofino.md)"
fi
[[ -n ${INART_BFRUNTIME_PROTO:-} ]] ||
    say "our bfruntime.proto against the driver's own (INART_BFRUNTIME_PROTO does not name that; it is in p4lang's open-p4studio)"
# p4/p4runtime/tests/venv.sh leaves this file only where pip had everything.
for packages in descriptors shell finsy; do
    [[ -s ${CARGO_TARGET_DIR:-target}/tmp/venv-$packages/packages ]] ||
        say "Python's P4Runtime packages, $packages (python3-venv is missing, or pip could not install them)"
done
for folder in instances conformance; do
    [[ -d ../shared/$folder ]] || say "the cases of ../shared/$folder (not there)"
done
((skipped)) || echo "nothing was skipped"
