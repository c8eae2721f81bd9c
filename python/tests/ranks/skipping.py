"""Ranks of which one catches an exception and skips a step. How they sum is the argument: arrays or hook."""

import os
import sys

from report import tell

import inart

HOW = sys.argv[1]
ODD = 1
SKIPPED = 5


def arrays():
    import array

    worker = inart.init()

    def step(number):
        worker.all_reduce(array.array("f", [1.0] * 1000), label=number)

    return worker.rank, step


def ddp():
    import torch
    import torch.distributed as dist

    import inart.torch

    worker = inart.init()
    dist.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(100, 100))
    state = inart.torch.HookState()
    model.register_comm_hook(state, inart.torch.all_reduce_hook)

    def step(number):
        state.label = number
        model(torch.ones(3, 100)).sum().backward()

    return worker.rank, step


rank, step = arrays() if HOW == "arrays" else ddp()
for number in range(1_000_000):
    if rank == ODD and number == SKIPPED:
        continue
    try:
        step(number)
    except RuntimeError as error:
        tell(number=number, error=str(error).splitlines()[0])
        break
# Gloo has threads that wait for the other ranks.
inart.shutdown()
sys.stdout.flush()
os._exit(0)
