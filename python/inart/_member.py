"""What all kinds of workers have in common."""

from __future__ import annotations

import atexit
import weakref
from types import TracebackType
from typing import Any, Callable, Optional, TypeVar

Self = TypeVar("Self", bound="Member")

#: Workers that the end of the program shuts down: threads that wait for sums have to be gone by then.
_alive: weakref.WeakSet[Member] = weakref.WeakSet()


class Member:
    """A worker of a job: who it is, and when it leaves."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._at_shutdown: list[Callable[[], object]] = []
        _alive.add(self)

    @property
    def rank(self) -> int:
        """This worker's place, from 0: in the job, or in the run of an elastic job, where it may change."""
        rank: int = self._inner.rank
        return rank

    @property
    def world_size(self) -> int:
        """How many workers take part."""
        raise NotImplementedError

    @property
    def job(self) -> str:
        """The job's name."""
        job: str = self._inner.job
        return job

    @property
    def name(self) -> str:
        """This worker's name in the topology."""
        name: str = self._inner.name
        return name

    def shutdown(self) -> None:
        """Leaves the job. A second time does nothing."""
        raise NotImplementedError

    def _leave(self) -> None:
        """What was registered for the shutdown; the end of the program has nothing to do any more."""
        _alive.discard(self)
        while self._at_shutdown:
            self._at_shutdown.pop()()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.shutdown()

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"<inart.{kind} {self.name}: rank {self.rank} of {self.world_size}, job {self.job}>"


@atexit.register
def _shut_down_all() -> None:
    for member in list(_alive):
        member.shutdown()
