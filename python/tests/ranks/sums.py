"""A rank that sums arrays of whole numbers, several at a time, and compares them with NumPy's sums."""

import numpy
from report import digest, tell

import inart

LENGTHS = [1, 1000, 70_000, 63]
ITERATIONS = 3


def values(rank: int, place: int) -> numpy.ndarray:
    random = numpy.random.default_rng([rank, place])
    return random.integers(-100, 100, LENGTHS[place % len(LENGTHS)]).astype(numpy.float32)


parts = []
with inart.init() as worker:
    for iteration in range(ITERATIONS):
        places = range(iteration * len(LENGTHS), (iteration + 1) * len(LENGTHS))
        arrays = [values(worker.rank, place) for place in places]
        for handle in [inart.start(x) for x in arrays]:
            handle.wait(60)
        for x, place in zip(arrays, places):
            right = numpy.sum([values(rank, place) for rank in range(worker.world_size)], axis=0)
            numpy.testing.assert_array_equal(x, right)
            parts.append(x.tobytes())
    name = worker.name
tell(name=name, sums=len(parts), digest=digest(parts))
