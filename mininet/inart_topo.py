"""InArt's topology files as Mininet networks.

    sudo mn --custom mininet/inart_topo.py --topo inart,topologies/fig1.yaml

builds the network and opens Mininet's prompt. Each switch is a process with a P4Runtime server on loopback, at port
9559 for the first switch of the file, 9560 for the second and so on, with device id 0. It forwards nothing before a plan has
been installed (`inart apply`). Further arguments: `inart,FILE,switch=bmv2,scale=0.01`.

Port numbers and addresses come from `inart topology wiring`, so that they are those of the tables. The command is taken from
INART, else from target/release or target/debug of this tree, else from the PATH.
"""

import json
import os
import shutil
import subprocess
import tempfile

from mininet.link import TCIntf, TCLink
from mininet.log import warn
from mininet.node import Host, Switch
from mininet.topo import Topo

# `mn --custom` runs this file without a __file__.
TREE = os.path.dirname(os.path.dirname(os.path.abspath((lambda: None).__code__.co_filename)))
BASE_PORT = 9559
# Thrift ports of bmv2 switches, above their P4Runtime ports.
THRIFT_ABOVE_GRPC = 1000
LONGEST_INTERFACE_NAME = 15
# Greatest rate that Mininet's TCLink accepts.
MOST_MBPS = 1000.0


class Refused(Exception):
    """Bad input: one line that names the place and the fix."""


def inart():
    """The inart command."""
    built = [os.path.join(TREE, "target", kind, "inart") for kind in ("release", "debug")]
    found = [path for path in [os.environ.get("INART"), *built, shutil.which("inart")] if path and os.path.exists(path)]
    if not found:
        raise Refused("there is no inart command: run `cargo build --release -p inart-cli` in " + TREE + ", or set INART")
    return found[0]


def wiring(file):
    """Switches, hosts and links of a topology file."""
    wiring = subprocess.run([inart(), "topology", "wiring", file, "--json"], capture_output=True, text=True, check=False)
    if wiring.returncode != 0:
        raise Refused(wiring.stderr.strip().removeprefix("error: "))
    return json.loads(wiring.stdout)


def kind_of(name):
    """The kind of switch that a name stands for: the embedded one was called inart before."""
    return "embedded" if name == "inart" else name


def switch_command(kind):
    """Returns the command line of a kind of switch, up to the arguments that both kinds take."""
    kind = kind_of(kind)
    if kind == "embedded":
        return [inart(), "switch"]
    if kind != "bmv2":
        raise Refused(f"switch {kind}: there are embedded and bmv2")
    if not shutil.which("simple_switch_grpc"):
        raise Refused("simple_switch_grpc is not on the PATH: install p4lang's bmv2, or take the embedded switch")
    return ["simple_switch_grpc"]


def has_netem():
    """Whether this kernel can delay frames on a link."""
    trial = ["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


class ShapedInterface(TCIntf):
    """Mininet's with the link's MTU, without tc's complaint about fast classes, which Mininet takes for an error."""

    def config(self, mtu=1500, **params):
        self.quantum = mtu + 14  # a whole frame
        result = super().config(**params)
        self.cmd(f"ip link set dev {self.name} mtu {mtu}")
        return result

    def bwCmds(self, *args, **params):
        commands, parent = super().bwCmds(*args, **params)
        return [f"{command} quantum {self.quantum}" if " htb rate " in command else command for command in commands], parent


class InArtHost(Host):
    """A worker or server, without the chatter of IPv6."""

    def config(self, **params):
        result = super().config(**params)
        self.cmd("sysctl -qw net.ipv6.conf.all.disable_ipv6=1")
        return result


class InArtSwitch(Switch):
    """A P4Runtime switch: the embedded one, or bmv2's simple_switch_grpc. Both take the same options."""

    def __init__(self, name, kind="embedded", grpc_port=BASE_PORT, **params):
        params["inNamespace"] = False  # mn says so too
        super().__init__(name, **params)
        self.kind = kind
        self.grpc_port = grpc_port
        self.process = None
        self.log = os.path.join(tempfile.gettempdir(), f"inart-mininet-{name}")

    @property
    def address(self):
        """Where P4Runtime listens."""
        return f"127.0.0.1:{self.grpc_port}"

    def start(self, controllers):
        del controllers  # P4Runtime controllers come to the switch, not the switch to them
        command = [*switch_command(self.kind), "--no-p4", "--device-id", "0"]
        for number, interface in sorted(self.intfs.items()):
            if interface.name != "lo":
                command += ["-i", f"{number}@{interface.name}"]
        if self.kind == "bmv2":
            # A bmv2 with a Thrift server ends when another one has its port, 9090 unless stated.
            command += ["--thrift-port", str(self.grpc_port + THRIFT_ABOVE_GRPC)]
        command += ["--", "--grpc-server-addr", self.address]
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def stop(self, deleteIntfs=True):
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None
        super().stop(deleteIntfs)


class InArtTopo(Topo):
    """A topology file, all its rates times `scale`."""

    def build(self, file, switch="embedded", scale=1.0):
        if not 0.0 < float(scale) <= 1.0:
            raise Refused(f"scale {scale}: give a number above 0 and up to 1")
        switch_command(switch)
        self.file = file
        net = wiring(file)
        for link in net["links"]:
            (a, b), (there, back) = link["ends"], link["rates_bps"]
            if there != back:
                ends = f"{a['node']}-{b['node']}"
                raise Refused(f"{file}: link {ends} has two rates, Mininet gives both directions one: state one rate")
        rates = [link["rate_bps"] * float(scale) / 1e6 for link in net["links"]]
        if rates and max(rates) > MOST_MBPS:
            raise Refused(
                f"{file}: a link of {max(rates):g} Mbps, Mininet shapes up to {MOST_MBPS:g}: give a scale of at most "
                f"{float(scale) * MOST_MBPS / max(rates):.3g}"
            )
        for index, name in enumerate(net["switches"]):
            port = BASE_PORT + index
            self.addSwitch(name, cls=InArtSwitch, kind=switch, grpc_port=port, dpid=f"{index + 1:x}")
        for index, host in enumerate(net["hosts"]):
            high, low = divmod(index + 1, 250)
            self.addHost(host["name"], cls=InArtHost, mac=host["mac"], ip=f"10.0.{high}.{low + 1}/16", role=host["kind"])
        names = [*net["switches"], *(host["name"] for host in net["hosts"])]
        next_interface = dict.fromkeys(names, 0)
        delays = any(link["delay_seconds"] for link in net["links"])
        if delays and not has_netem():
            warn(f"{file}: the links' delays are left out: this kernel has no netem\n")
            delays = False
        for link, mbps in zip(net["links"], rates):
            # Checksums are not left to hardware that is not there: the switches read raw frames.
            (a, b), options = link["ends"], {"cls": TCLink, "bw": mbps, "txo": False, "mtu": link["mtu"]}
            options["cls1"] = options["cls2"] = ShapedInterface
            if delays:
                options["delay"] = f"{link['delay_seconds'] * 1e6:.0f}us"
            for end, suffix in ((a, "1"), (b, "2")):
                port = end["port"] if end["port"] is not None else next_interface[end["node"]]
                next_interface[end["node"]] += 1
                name = f"{end['node']}-eth{port}"
                if len(name) > LONGEST_INTERFACE_NAME:
                    name = f"n{names.index(end['node'])}-eth{port}"
                options["port" + suffix], options["intfName" + suffix] = port, name
            self.addLink(a["node"], b["node"], **options)


topos = {"inart": InArtTopo}
