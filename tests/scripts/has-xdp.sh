#!/usr/bin/env bash
# Whether AF_XDP works here: the kernel has such sockets, this user may open one, and may load programs into the kernel.
set -euo pipefail
python3 -c 'import socket; socket.socket(44, socket.SOCK_RAW)' 2>/dev/null # AF_XDP
capabilities=$((16#$(awk '/^CapEff/ { print $2 }' /proc/self/status)))
((capabilities & (1 << 21 | 1 << 39))) # CAP_SYS_ADMIN, CAP_BPF
