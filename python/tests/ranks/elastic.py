"""Ranks of an elastic job. One kills itself, and is restarted; then all train ten rounds more, and end.

Arguments: rank of the victim in this run (-1: none), whether this process has been restarted, and
whether tensors are arrays or PyTorch's.
"""

import array
import hashlib
import os
import pathlib
import signal
import sys
import time

from report import tell

import inart

VICTIM, BACK, KIND = int(sys.argv[1]), sys.argv[2] == "back", sys.argv[3]
#: The victim dies in this round.
DEATH = 5
#: Rounds after the one in which all have seen that a rank rejoined.
MORE = 10


class Arrays:
    """A state of which the last value is the round in which all end, once that is known."""

    def __init__(self):
        self.state = array.array("f", [float(BACK)] * 1000 + [0.0])

    def gradient(self, rank):
        # Element 0 marks that a rank rejoined.
        values = [0.25 * value - rank for value in self.state[:1000]]
        return array.array("f", [float(BACK), *values[1:], 0.0])

    def step(self, total, workers):
        for index in range(1, 1000):
            self.state[index] -= 0.5 * total[index] / workers

    def all_reduce(self, job, total):
        job.all_reduce(total)

    def load(self, job):
        job.load_state(self.state)

    def bits(self):
        return self.state.tobytes()

    def came_back(self, total):
        return total[0] > 0.0

    def ends(self, rounds=None):
        if rounds is not None:
            self.state[1000] = rounds
        return self.state[1000]


class Tensors:
    """The same with a model of PyTorch."""

    def __init__(self):
        import torch

        import inart.torch

        torch.manual_seed(7 if BACK else 3)
        self.torch, self.inart = torch, inart.torch
        self.model = torch.nn.Linear(40, 30)
        # Its gradient marks that a rank rejoined.
        self.model.flag = torch.nn.Parameter(torch.zeros(1))
        self.end = torch.zeros(1)

    def gradient(self, rank):
        self.model.zero_grad()
        inputs = self.torch.full((2, 40), 0.01 * (rank + 1))
        (self.model(inputs).sum() + self.model.flag.sum() * float(BACK)).backward()
        return self.model

    def step(self, model, workers):
        with self.torch.no_grad():
            for name, parameter in model.named_parameters():
                if name != "flag":
                    parameter -= 0.1 * parameter.grad

    def all_reduce(self, job, model):
        self.inart.all_reduce_gradients(model, job)

    def load(self, job):
        self.inart.load_state(self.model, self.end, worker=job)

    def bits(self):
        return b"".join(it.detach().numpy().tobytes() for it in [*self.model.parameters(), self.end])

    def came_back(self, model):
        return bool(model.flag.grad[0] > 0.0)

    def ends(self, rounds=None):
        if rounds is not None:
            self.end[0] = rounds
        return float(self.end[0])


training = Tensors() if KIND == "tensors" else Arrays()
job = inart.init(peer_timeout=1.0)
training.load(job)
sizes, regrouped = [job.world_size], []
while not training.ends() or job.rounds < training.ends():
    if job.rounds >= DEATH and VICTIM == int(os.environ["RANK"]) and not BACK:
        os.kill(os.getpid(), signal.SIGKILL)
    total = training.gradient(job.rank)
    try:
        training.all_reduce(job, total)
    except inart.MembershipChanged as others:
        regrouped.append(others.world_size)
        # Signals the test to restart the victim.
        pathlib.Path(os.environ["REGROUPED"]).touch()
        training.load(job)
        sizes.append(job.world_size)
        continue
    training.step(total, job.world_size)
    if training.came_back(total) and not training.ends():
        training.ends(job.rounds + MORE)
    time.sleep(0.01)  # leaves the machine to who starts
rounds = job.rounds
job.finish()
try:
    job.all_reduce(array.array("f", [1.0]))
except inart.Error as error:
    after = str(error)
tell(
    sizes=sizes,
    regrouped=regrouped,
    rounds=rounds,
    digest=hashlib.sha256(training.bits()).hexdigest(),
    after=after,
)
