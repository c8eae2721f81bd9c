"""A rank that trains with DDP. How the gradients are summed is the argument: hook, backend, gloo, bfloat16."""

import sys

import torch
import torch.distributed as dist
from report import digest, tell

HOW = sys.argv[1]
ITERATIONS = 60


def data(seed: int, count: int):
    """Points in 20 dimensions, classed by which of 5 directions they point to most."""
    directions = torch.randn(20, 5, generator=torch.Generator().manual_seed(7))
    x = torch.randn(count, 20, generator=torch.Generator().manual_seed(seed))
    return x, (x @ directions).argmax(dim=1)


def model() -> torch.nn.Module:
    torch.manual_seed(1)
    linear, relu = torch.nn.Linear, torch.nn.ReLU
    return torch.nn.Sequential(linear(20, 64), relu(), linear(64, 64), relu(), linear(64, 5))


def main() -> None:
    import inart.torch

    # Debian's Gloo cannot broadcast bfloat16, which DDP does when it starts.
    dist.init_process_group("inart" if HOW in ("backend", "bfloat16") else "gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    dtype = torch.bfloat16 if HOW == "bfloat16" else torch.float32
    # Small buckets, so that several are in flight after the first iteration.
    dist._DEFAULT_FIRST_BUCKET_BYTES = 1024
    ddp = torch.nn.parallel.DistributedDataParallel(model().to(dtype), bucket_cap_mb=0.01)
    buckets = []
    if HOW in ("hook", "bfloat16"):
        state = inart.torch.HookState()

        def hook(state, bucket):
            buckets.append(bucket.index())
            return inart.torch.all_reduce_hook(state, bucket)

        ddp.register_comm_hook(state, hook)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1, momentum=0.9)
    x, y = data(seed=2, count=1500)
    x = x.to(dtype)
    for _ in range(ITERATIONS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(ddp(x[rank::size]).float(), y[rank::size])
        loss.backward()
        optimizer.step()
    tests, right = data(seed=3, count=1000)
    with torch.no_grad():
        accuracy = (ddp.module(tests.to(dtype)).argmax(dim=1) == right).float().mean().item()
    weights = [parameter.detach().float().numpy().tobytes() for parameter in ddp.parameters()]
    tell(digest=digest(weights), accuracy=accuracy, buckets=len(set(buckets)), launches=len(buckets))
    dist.barrier()
    dist.destroy_process_group()


main()
