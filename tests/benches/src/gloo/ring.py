"""Sums tensors with Gloo's all-reduce and checks every value: ring.py RESULTS REPEATS LENGTHS..."""

import json
import statistics
import sys
import time

import torch
import torch.distributed as dist


def main():
    results, repeats, lengths = sys.argv[1], int(sys.argv[2]), [int(word) for word in sys.argv[3:]]
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    rows = []
    for length in lengths:
        place = (torch.arange(length) % 1000).float()
        right = place * (world * (world + 1) // 2)
        seconds = []
        for repeat in range(repeats + 1):
            tensor = place * (rank + 1)
            dist.barrier()
            start = time.perf_counter()
            dist.all_reduce(tensor)
            took = torch.tensor([time.perf_counter() - start], dtype=torch.float64)
            if not torch.equal(tensor, right):
                raise SystemExit(f"error: rank {rank}, {length} values: a wrong sum")
            # Time of the worker that started last.
            dist.all_reduce(took, op=dist.ReduceOp.MIN)
            if repeat > 0:  # the first opens connections
                seconds.append(took.item())
        checked = (repeats + 1) * length * world
        rows.append({"values": length, "seconds": statistics.median(seconds), "values_checked": checked})
    if rank == 0:
        with open(results, "w", encoding="utf-8") as file:
            json.dump(rows, file)
    dist.barrier()


main()
