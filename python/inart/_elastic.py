"""An elastic worker: workers may join and leave while the job runs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Callable, NoReturn

from . import _inart
from ._errors import Error
from ._floats import Label, floats_of, label_of
from ._member import Member


class ElasticWorker(Member):
    """A worker of an elastic job, from :func:`join`.

    A training loop loads the newest state from another worker first, and whenever the workers have changed::

        job = inart.init()
        job.load_state(weights)
        while job.rounds < rounds:
            total = gradient(weights)
            try:
                job.all_reduce(total)
            except inart.MembershipChanged:
                job.load_state(weights)
                continue
            weights -= rate * total / job.world_size
        job.finish()
    """

    _inner: _inart.Elastic

    @property
    def world_size(self) -> int:
        """Returns the number of workers in the current membership view: the divisor of a mean."""
        return len(self._inner.workers)

    @property
    def workers(self) -> list[str]:
        """Their names in the topology, by rank."""
        return self._inner.workers

    @property
    def rounds(self) -> int:
        """Rounds in the state that the program holds: one more after each sum, and that of the state that was loaded."""
        return self._inner.rounds

    def all_reduce(self, x: Any, label: Label = None) -> None:
        """Replaces ``x`` by the sum of the arrays of all workers in the view. Called once per round.

        Args:
            x: a contiguous float32 array or CPU tensor of any shape; all workers have the same size. No other thread
                uses ``x`` during the call.
            label: names the sum, as for :meth:`Worker.start`. If workers have different labels, the job ends for
                them.

        Raises:
            MembershipChanged: the set of workers changed, or a worker missed a round; ``x`` is unchanged. Call
                :meth:`load_state`, then continue.
            TensorError: ``x`` cannot be summed. Nothing was sent.
            ControllerError: all workers wait for the controller's stop point, and it has not sent one for 30 s.
            Error: this worker can no longer take part.

        Ctrl-C ends the call: ``x`` is no longer written, and this worker has left its view. The next call joins
        again, and may raise :class:`MembershipChanged`.
        """
        self._inner.all_reduce(*floats_of(x), label_of(x, label))

    def load_state(self, *arrays: Any) -> None:
        """Replaces these arrays by those of the worker with the newest state, bit for bit.

        All workers call it with arrays of the same sizes: at the start, and after :class:`MembershipChanged`. The
        call restarts on its own if the workers change meanwhile.

        Args:
            arrays: the whole state, weights and optimizer state: contiguous float32 arrays or CPU tensors.

        Raises:
            TensorError: an array has another type; or the newest state has other arrays. Nothing was loaded. In
                the second case this worker has left its view, and the other workers continue.
            Error: this worker can no longer take part.
        """
        self._load(arrays, None)

    def _load(self, arrays: Sequence[Any], layout: Any) -> None:
        """Like :meth:`load_state`, with a layout that must also match at all workers."""
        floats = [floats_of(x) for x in arrays]
        described = repr((layout, [length for _, length, _ in floats]))
        digest = hashlib.blake2b(described.encode(), digest_size=8).digest()
        self._inner.load_state(floats, int.from_bytes(digest, "little"))

    def start(self, x: Any, label: Label = None) -> NoReturn:
        """Refused: an elastic job sums one array after the other.

        Raises:
            Error: always.
        """
        raise Error("an elastic job sums one array at a time: put the gradients into one, and call all_reduce")

    def finish(self) -> None:
        """This worker has done all its rounds, as all others have: the job is done, and the worker is shut down."""
        self._end(self._inner.finish)

    def shutdown(self) -> None:
        """Leaves the job; the other workers continue. A second time does nothing."""
        self._end(self._inner.shutdown)

    def _end(self, how: Callable[[], None]) -> None:
        self._leave()
        how()
