"""A rank that calls the collectives of the backend "inart"."""

import os
from datetime import timedelta

import torch
import torch.distributed as dist
from report import digest, tell

import inart.torch

dist.init_process_group("inart")
rank, size = dist.get_rank(), dist.get_world_size()
ranks = range(size)
parts = []


def summed(make, op=dist.ReduceOp.SUM, group=None):
    x = make(rank)
    dist.all_reduce(x, op=op, group=group)
    parts.append(x.float().contiguous().numpy().tobytes())
    return x


def equal(x, right):
    assert torch.equal(x, right), f"{x} for {right}"


# On the switches: SUM and AVG of three types, of any layout.
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    for op, divisor in ((dist.ReduceOp.SUM, 1), (dist.ReduceOp.AVG, size)):
        right = torch.arange(1000).remainder(32) * sum(r + 1 for r in ranks) / divisor
        equal(summed(lambda r: (torch.arange(1000).remainder(32) * (r + 1)).to(dtype), op), right.to(dtype))
equal(summed(lambda r: torch.arange(6.0).reshape(2, 3).t() * r), torch.arange(6.0).reshape(2, 3).t() * sum(ranks))
equal(summed(lambda r: torch.tensor(float(r))), torch.tensor(float(sum(ranks))))
works = [(x, dist.all_reduce(x, async_op=True)) for x in [torch.full((n,), float(rank)) for n in (1, 5000, 7)]]
for x, work in reversed(works):
    assert work.wait()
    equal(x, torch.full_like(x, float(sum(ranks))))
on_switches = len(parts) + len(works)

# By Gloo: everything else.
equal(summed(lambda r: torch.tensor([r, 2**40])).to(torch.int64)[:1], torch.tensor([sum(ranks)]))
equal(
    summed(lambda r: torch.tensor([1 / 3 + r], dtype=torch.float64)).round(),
    torch.tensor([1.0 + sum(ranks)], dtype=torch.float64).round(),
)
equal(summed(lambda r: torch.tensor([float(r)]), dist.ReduceOp.MAX), torch.tensor([float(size - 1)]))
equal(summed(lambda r: torch.empty(0)), torch.empty(0))
x = torch.tensor([float(rank)])
dist.broadcast(x, src=size - 1)
equal(x, torch.tensor([float(size - 1)]))
x = torch.tensor([rank + 1 / 3], dtype=torch.bfloat16)
dist.broadcast(x, src=0)
equal(x, torch.tensor([1 / 3], dtype=torch.bfloat16))
gathered = [torch.empty(1) for _ in ranks]
dist.all_gather(gathered, torch.tensor([float(rank)]))
equal(torch.cat(gathered), torch.arange(float(size)))
objects = [None] * size
dist.all_gather_object(objects, {"rank": rank})
assert objects == [{"rank": r} for r in ranks], objects
x = torch.tensor([1.0])
dist.reduce(x, dst=0)
equal(x, torch.tensor([float(size)])) if rank == 0 else None
if rank == 0:
    dist.send(torch.tensor([5.0]), dst=1)
elif rank == 1:
    dist.recv(x, src=0)
    equal(x, torch.tensor([5.0]))

# A wait heeds its timeout: the others start later.
if rank == 0:
    x = torch.ones(3)
    work = dist.all_reduce(x, async_op=True)
    try:
        work.wait(timedelta(seconds=0.2))
        raise AssertionError("no other rank has started")
    except inart.TimeoutError as error:
        assert "after 0.2 s" in str(error), error
dist.barrier()
if rank == 0:
    assert work.wait(timedelta(seconds=60)) and work.is_success()
else:
    x = torch.ones(3)
    dist.all_reduce(x)
equal(x, torch.full((3,), float(size)))

# A second group: a job of its own, at the same time. And one without a job, by Gloo.
os.environ.pop("INART_REPORT", None)  # The test audits the first job.
options = inart.torch.Options(assignment=os.environ["SECOND_ASSIGNMENT"])
second = dist.new_group(list(ranks), backend="inart", pg_options=options)
other = dist.new_group(list(ranks), backend="inart")
tensors = [torch.full((3000,), float(rank + 1)), torch.full((4000,), float(rank + 2))]
# Each rank in an order of its own: jobs know nothing of each other.
pairs = list(zip(tensors, (None, second)))
works = [dist.all_reduce(x, group=group, async_op=True) for x, group in (pairs if rank else pairs[::-1])]
for work in works:
    work.wait()
for add, x in enumerate(tensors, start=1):
    equal(x, torch.full_like(x, float(sum(r + add for r in ranks))))
equal(summed(lambda r: torch.tensor([float(r)]), group=other), torch.tensor([float(sum(ranks))]))

dist.barrier()
tell(digest=digest(parts), on_switches=on_switches + 2)  # The late wait, and the pair's first.
