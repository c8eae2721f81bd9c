#!/usr/bin/env python3
"""Trains with PyTorch twice on the same emulated links, gradients summed by InArt and by Gloo, and compares.

    tests/scripts/demo_torch.py INART PYTHON [OPTIONS OF examples/ddp_digits.py]

INART is the `inart` command; PYTHON a Python that has PyTorch and the package `inart`. `make demo-torch` makes both.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOPOLOGY = ROOT / "topologies" / "rack.yaml"
SCALE = "1/100"  # links of 10 Mbps: slow enough for two cores and eight hosts
RESULT = re.compile(r"\[0\] accuracy ([\d.]+)%, weights (\w+), ([\d.]+) ms per step")


def main():
    inart, python, *options = sys.argv[1:]
    print(f"{TOPOLOGY.name} at {SCALE} of its rates: six workers, links of 10 Mbps\n")
    runs = {who: train(inart, python, who, options) for who in ["inart", "gloo"]}
    print(f"\n{'':7} {'time per step':>14} {'accuracy':>9}  {'weights':16}  sums compared bit for bit")
    for who, run in runs.items():
        name = {"inart": "InArt", "gloo": "Gloo"}[who]
        sums = f"{run['sums']}, all equal" if run["sums"] else "-"
        print(f"{name:7} {run['ms']:11.1f} ms {run['accuracy']:8.2f}%  {run['weights']:16}  {sums}")
    print(f"\nGloo / InArt: {runs['gloo']['ms'] / runs['inart']['ms']:.2f}")


def train(inart, python, who, options):
    """Runs the example on every worker and prints its output. Returns its figures."""
    print(f"examples/ddp_digits.py --all-reduce {who}", flush=True)
    program = [python, str(ROOT / "examples" / "ddp_digits.py"), "--all-reduce", who, *options]
    command = [inart, "emulate", str(TOPOLOGY), "--scale", SCALE, "--json", "--", *program]
    # With --json the ranks' lines are on standard error.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    found = None
    for line in process.stderr:
        print(f"  {line}", end="", flush=True)
        found = RESULT.match(line) or found
    document = process.stdout.read()
    if process.wait() != 0:
        raise SystemExit(f"error: inart emulate ended with status {process.returncode}; its output names the reason")
    if found is None:
        raise SystemExit("error: rank 0 printed no result")
    sums = json.loads(document)["sums_checked"]
    if who == "inart" and sums == 0:
        raise SystemExit("error: no sum went through InArt")
    accuracy, weights, ms = found.groups()
    return {"accuracy": float(accuracy), "weights": weights, "ms": float(ms), "sums": sums}


if __name__ == "__main__":
    main()
