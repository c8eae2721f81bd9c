"""Elastic training, whose workers may join and leave: ten lines of Python around a model.

In a job of a topology with `elastic: true`, with `inart controller` and the job's servers running:

    RANK=0 INART_CONTROLLER=10.0.0.1:9558 INART_INTERFACE=eth0 python3 examples/elastic.py

Kill one of the workers, and restart it: the others continue without it, then it loads their weights.
"""

import array
import os
import random

import inart

ROUNDS = int(os.environ.get("ROUNDS", "100"))
target = array.array("f", [index / 100 for index in range(1000)])


def gradient(weights):
    """That of the squared distance to a target which each worker sees with an error of its own."""
    seen = (wanted + random.gauss(0.0, 0.01) for wanted in target)
    return array.array("f", [weight - value for weight, value in zip(weights, seen)])


weights = array.array("f", [0.0] * 1000)
job = inart.init()
job.load_state(weights)
while job.rounds < ROUNDS:
    total = gradient(weights)
    try:
        job.all_reduce(total)
    except inart.MembershipChanged as news:
        print(f"round {job.rounds}: {news}", flush=True)
        job.load_state(weights)
        continue
    for index, value in enumerate(total):
        weights[index] -= 0.1 * value / job.world_size
rounds, workers = job.rounds, job.world_size
job.finish()
error = max(abs(weight - wanted) for weight, wanted in zip(weights, target))
print(f"{rounds} rounds, {workers} workers in the end; no weight is farther than {error:.3f} from its target")
