"""Ranks of which one kills itself. How they sum is the argument: arrays, hook or backend."""

import os
import signal
import sys

from report import tell

import inart

HOW = sys.argv[1]
VICTIM = 1


def arrays():
    import array

    worker = inart.init(peer_timeout=1.0)

    def step():
        worker.all_reduce(array.array("f", [1.0] * 1000))

    return worker.rank, step


def ddp():
    import torch
    import torch.distributed as dist

    import inart.torch

    worker = inart.init(peer_timeout=1.0)
    dist.init_process_group("inart" if HOW == "backend" else "gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(100, 100))
    if HOW == "hook":
        model.register_comm_hook(inart.torch.HookState(), inart.torch.all_reduce_hook)

    def step():
        model(torch.ones(3, 100)).sum().backward()

    return worker.rank, step


rank, step = arrays() if HOW == "arrays" else ddp()
for iteration in range(100_000):
    if rank == VICTIM and iteration == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        step()
    except RuntimeError as error:
        tell(iteration=iteration, error=str(error).splitlines()[0], kind=type(error).__name__)
        break
# Gloo has threads that wait for the killed rank.
inart.shutdown()
sys.stdout.flush()
os._exit(0)
