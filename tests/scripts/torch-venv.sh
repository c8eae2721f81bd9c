#!/usr/bin/env bash
# Makes target/torch: an environment of Debian's Python, with its PyTorch, and this tree's package `inart`.
set -euo pipefail
cd "$(dirname "$0")/../.."

need=()
/usr/bin/python3 -I -c 'import torch.distributed' >/dev/null 2>&1 || need+=(python3-torch)
/usr/bin/python3 -I -c 'import numpy' >/dev/null 2>&1 || need+=(python3-numpy)
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

venv=target/torch
[[ -x $venv/bin/pip ]] || /usr/bin/python3 -m venv --system-site-packages "$venv"
echo "building the Python package into $venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check ./python
