"""Ranks of an elastic job of three. Rank 0 is interrupted while it joins, and again in its first sum; its peers start
that sum once the file ``REGROUPED`` exists.
"""

import array
import os
import pathlib
import signal
import threading
import time

from report import tell

import inart

RANK, ROUNDS = int(os.environ["RANK"]), 5
GO_ON = pathlib.Path(os.environ["REGROUPED"])


def interrupted_within(seconds, body):
    """Whether Ctrl-C ends a call."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    try:
        body()
    except KeyboardInterrupt:
        return True
    return False


def threads():
    names = [pathlib.Path(f"/proc/self/task/{task}/comm") for task in os.listdir("/proc/self/task")]
    return [name.read_text().strip() for name in names]


report = {}
if RANK == 0:
    report["join"] = interrupted_within(1.0, inart.init)
    report["threads"] = threads()
    # Signals the test to start the peers.
    pathlib.Path(os.environ["INTERRUPTED"]).touch()
job = inart.init(peer_timeout=1.0)
state = array.array("f", [float(RANK)] * 70_000)
job.load_state(state)
first = array.array("f", [1.0] * 1000)
if RANK == 0:
    report["sum"] = interrupted_within(1.0, lambda: job.all_reduce(first))
    GO_ON.touch()
while not GO_ON.exists():
    time.sleep(0.01)
while job.rounds < ROUNDS:
    total = array.array("f", [float(job.rounds + 1)] * 1000)
    try:
        job.all_reduce(total)
    except inart.MembershipChanged:
        job.load_state(state)
        continue
    state[0] += total[0]
report.update(state=state[0], equal=len(set(state[1:])), rounds=job.rounds, size=job.world_size)
report["first"] = sorted(set(first))
job.finish()
tell(**report)
