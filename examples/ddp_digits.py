#!/usr/bin/env python3
"""Learns handwritten digits with PyTorch's DistributedDataParallel; gradients are summed in the switches.

    inart emulate topologies/rack.yaml -- python3 examples/ddp_digits.py

One line makes it InArt's: the call of `register_comm_hook`. Without it (`--all-reduce gloo`) the same program
runs anywhere with PyTorch's own all-reduce, for example `torchrun --nproc-per-node 2 examples/ddp_digits.py
--all-reduce gloo`.
"""

import argparse
import hashlib
import statistics
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

TEST_IMAGES = 359
WARM_UP_STEPS = 3  # DDP changes the layout of its buckets after the first step.


def main():
    options = arguments()
    torch.manual_seed(options.seed)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    (images, digits), (test_images, test_digits) = data_set(options.seed)

    network = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
    model = DistributedDataParallel(network)
    if options.all_reduce == "inart":
        import inart.torch

        model.register_comm_hook(inart.torch.HookState(), inart.torch.all_reduce_hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()

    seconds = []
    for step in range(options.steps):
        # Every rank takes other images of the same shuffled sequence.
        first = (step * world + rank) * options.batch
        batch = torch.arange(first, first + options.batch) % len(images)
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = loss_of(model(images[batch]), digits[batch])
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
        if rank == 0 and step % 20 == 0:
            print(f"step {step}: loss {loss.item():.4f}")

    with torch.no_grad():
        right = (network(test_images).argmax(dim=1) == test_digits).float().mean().item()
    digest = hashlib.sha256(b"".join(weights.detach().numpy().tobytes() for weights in network.parameters()))
    digests = [None] * world
    dist.all_gather_object(digests, digest.hexdigest()[:16])
    if len(set(digests)) != 1:
        raise SystemExit(f"error: the ranks ended with different weights: {digests}")
    per_step = statistics.median(seconds[WARM_UP_STEPS:] or seconds)
    print(f"accuracy {right:.2%}, weights {digests[rank]}, {per_step * 1e3:.1f} ms per step")
    # No rank leaves while another may still need it.
    dist.barrier()


def data_set(seed):
    """Training and test images, shuffled, and their digits: each line of `digits.txt` is a digit and its 64 pixels."""
    lines = Path(__file__).with_name("digits.txt").read_text().split("\n")
    pairs = [line.split() for line in lines if line]
    images = torch.tensor([[int(pixel, 17) / 16 for pixel in pixels] for _, pixels in pairs])
    digits = torch.tensor([int(digit) for digit, _ in pairs])
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))
    test, train = order[:TEST_IMAGES], order[TEST_IMAGES:]
    return (images[train], digits[train]), (images[test], digits[test])


def arguments():
    parser = argparse.ArgumentParser(description="Learns handwritten digits; gradients are summed in the switches.")
    parser.add_argument("--all-reduce", choices=["inart", "gloo"], default="inart", help="backend that sums the gradients")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=32, help="images per rank and step")
    parser.add_argument("--seed", type=int, default=1, help="decides images and first weights")
    return parser.parse_args()


if __name__ == "__main__":
    main()
