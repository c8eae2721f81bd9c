"""One site of a ring all-reduce by Gloo (PyTorch's torch.distributed), on random gradients: what a user would
take without InArt. Arguments: rank, sites, address of rank 0, values, rounds, seed. Prints a line of JSON per
round, as `inart --json host` does for a site."""

import hashlib
import json
import sys
import time

try:
    import torch
    import torch.distributed as dist
except ImportError as error:
    sys.exit(f"{error}: install Debian's python3-torch")

rank, sites, address, values, rounds, seed = sys.argv[1], sys.argv[2], sys.argv[3], *map(int, sys.argv[4:7])
rank, sites = int(rank), int(sites)


def gradient(site, number):
    generator = torch.Generator().manual_seed(seed * 1_000_003 + site * 1009 + number)
    return torch.rand(values, generator=generator) * 2 - 1


dist.init_process_group("gloo", init_method=f"tcp://{address}:29500", rank=rank, world_size=sites)
# Connections are made with the first operation.
dist.barrier()
for number in range(1, rounds + 1):
    tensor = gradient(rank, number)
    expected = sum(gradient(site, number).double() for site in range(sites))
    dist.barrier()
    began = time.monotonic_ns()
    dist.all_reduce(tensor)
    ended = time.monotonic_ns()
    if not torch.allclose(tensor.double(), expected, atol=1e-5):
        sys.exit(f"round {number}: the sum differs from that of the gradients")
    digest = hashlib.sha256(tensor.numpy().tobytes()).hexdigest()
    line = {"round": number, "began_ns": began, "ended_ns": ended, "version": 0, "sum": digest}
    print(json.dumps({"event": "round", **line}), flush=True)
dist.barrier()
counts = {"accuracy": None, "relayed": 0, "asks": 0, "failed": 0, "dropped": {}}
print(json.dumps({"event": "site_ended", **counts}), flush=True)
