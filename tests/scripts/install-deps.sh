#!/usr/bin/env bash
# Installs, with apt, the missing packages for building and testing InArt. Quick and silent when none is
# missing. The Rust toolchain is not installed here: Debian 12's own is too old, so a missing one is reported
# with the fix.
set -euo pipefail

need=()
have() { command -v "$1" >/dev/null 2>&1; }
have cc && have c++ || need+=(build-essential)
have cmake || need+=(cmake)            # HiGHS, the LP solver
have ip || need+=(iproute2)            # namespaces, veth, tc
have python3 || need+=(python3)        # tests with other people's P4Runtime clients
python3 -I -c 'import venv, ensurepip' >/dev/null 2>&1 || need+=(python3-venv)
# Mininet is for Debian's own Python. Isolated (-I): this tree has a folder `mininet` too, which Python would take for the package.
/usr/bin/python3 -I -c 'import mininet.net' >/dev/null 2>&1 || need+=(mininet iputils-ping ethtool)
# The tests of the Python package.
/usr/bin/python3 -I -c 'import numpy' >/dev/null 2>&1 || need+=(python3-numpy)
/usr/bin/python3 -I -c 'import torch' >/dev/null 2>&1 || need+=(python3-torch)
# HiGHS' bindings want the headers as well, so the library alone is not enough.
dpkg-query -W -f='${Status}' libclang-dev 2>/dev/null | grep -q "install ok installed" || need+=(libclang-dev)

if ((${#need[@]})); then
    if [[ $(id -u) != 0 ]]; then
        echo "error: missing packages: ${need[*]}; run as root, or: apt-get install ${need[*]}" >&2
        exit 2
    fi
    echo "installing with apt: ${need[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get -o DPkg::Lock::Timeout=300 install -y -qq "${need[@]}" >/dev/null
fi

want=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/../../Cargo.toml")
if ! have cargo; then
    echo "error: cargo is not on the PATH; install Rust $want or newer with rustup (https://rustup.rs)" >&2
    exit 2
fi
got=$(rustc --version | cut -d' ' -f2)
if [[ $(printf '%s\n%s\n' "$want" "$got" | sort -V | head -n1) != "$want" ]]; then
    echo "error: Rust $got is too old; install $want or newer with rustup (https://rustup.rs)" >&2
    exit 2
fi
