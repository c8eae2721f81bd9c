#!/usr/bin/python3
"""Trains over a topology file in Mininet, on bmv2 or on the embedded switch, and prints the emulator's summary.

    sudo mininet/run.py --topology topologies/fig1.yaml --switch bmv2

Builds the network (links by their rates, static ARP), starts one switch process per switch and runs `inart emulate
--network`, which installs the plans, runs the agents in Mininet's hosts, compares every sum bit for bit and measures.
Options after `--` go to `inart emulate`. With --cli, the command opens Mininet's prompt instead, with switches that
wait for a plan.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from mininet.cli import CLI
from mininet.log import setLogLevel
from mininet.net import Mininet

from inart_topo import InArtTopo, Refused, inart, kind_of, wiring

# Frames of 1068 bytes per second and link that two cores carry through the switches in real time, roughly.
FASTEST_LINK_MBPS = {"embedded": 40.0, "bmv2": 4.0}

# The least MTU for frames of more than 256 values.
JUMBO_MTU = 4126


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topology", required=True, metavar="FILE", help="the network and its jobs (YAML or JSON)")
    parser.add_argument(
        "--switch",
        type=kind_of,
        choices=sorted(FASTEST_LINK_MBPS),
        default="embedded",
        help="which switch to run: embedded is the one of `inart switch` (\"inart\" is accepted for it, too)",
    )
    parser.add_argument(
        "--scale",
        type=float,
        help="multiply the topology's rates by this (default: so that no link is above "
        + ", ".join(f"{mbps:g} Mbps for {kind}" for kind, mbps in sorted(FASTEST_LINK_MBPS.items())) + ")",
    )
    parser.add_argument("--cli", action="store_true", help="give Mininet's prompt instead of training")
    parser.add_argument("emulate", nargs="*", metavar="-- OPTION", help="options of `inart emulate`")
    return parser.parse_args()


def scale_of(args):
    """Returns the requested scale, or one that this machine can emulate."""
    if args.scale is not None:
        return args.scale
    fastest = max(link["rate_bps"] for link in wiring(args.topology)["links"]) / 1e6
    return min(1.0, FASTEST_LINK_MBPS[args.switch] / fastest)


def options_of(args):
    """Returns the options of `inart emulate`: no jumbo frames on bmv2 by default, which takes seconds to load them."""
    asked = any(option.split("=")[0] == "--values" for option in args.emulate)
    jumbo = min(link["mtu"] for link in wiring(args.topology)["links"]) >= JUMBO_MTU
    return args.emulate + (["--values", "256"] if args.switch == "bmv2" and jumbo and not asked else [])


def describe(net, scale):
    """Returns the document that `inart emulate --network` reads."""
    hosts = {
        host.name: {"namespace": f"/proc/{host.pid}/ns/net", "interface": host.defaultIntf().name} for host in net.hosts
    }
    switches = {switch.name: {"address": switch.address, "device_id": 0} for switch in net.switches}
    return {"scale": scale, "hosts": hosts, "switches": switches}


def train(net, args, scale):
    """Runs the jobs; the exit status of `inart emulate`."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(describe(net, scale), file)
        file.flush()
        command = [inart(), "emulate", args.topology, "--network", file.name, *options_of(args)]
        return subprocess.run(command, check=False).returncode


def main():
    """Builds, runs and cleans up."""
    args = arguments()
    if os.geteuid() != 0:
        raise Refused("Mininet makes network namespaces: run it as root (sudo mininet/run.py …)")
    setLogLevel("output" if args.cli else "warning")
    scale = scale_of(args)
    net = Mininet(topo=InArtTopo(args.topology, switch=args.switch, scale=scale), controller=None, autoStaticArp=True)
    try:
        net.start()
        if args.cli:
            addresses = " ".join(f"--switch {switch.name}={switch.address}" for switch in net.switches)
            print(f"P4Runtime: inart apply PLAN {args.topology} {addresses}")
            CLI(net)
            return 0
        return train(net, args, scale)
    finally:
        net.stop()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refused:
        print(f"error: {refused}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
