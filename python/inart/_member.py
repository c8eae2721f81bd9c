"""Common base of all kinds of workers."""

from __future__ import annotations

import atexit
import os
import weakref
from types import TracebackType
from typing import Any, Callable, Optional, TypeVar

from ._errors import Error

Self = TypeVar("Self", bound="Member")

#: Workers that the end of the program shuts down: threads that wait for sums must have ended by then.
_alive: weakref.WeakSet[Member] = weakref.WeakSet()


class Member:
    """A worker of a job: its identity, and how it leaves the job."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._process = os.getpid()
        self._at_shutdown: list[Callable[[], object]] = []
        _alive.add(self)

    def _is_forked(self) -> bool:
        """Whether this process is a fork of the one that joined. The worker's threads are missing in this process."""
        return os.getpid() != self._process

    def _check_process(self) -> None:
        if self._is_forked():
            raise Error(
                "this process was forked from the one that joined the job, and only that one can sum: join in the "
                "process that sums, after it was forked"
            )

    @property
    def rank(self) -> int:
        """This worker's place, from 0: in the job, or in the view of an elastic job, where it may change."""
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
        """Drops the shutdown registration; the end of the program then does nothing for this worker."""
        _alive.discard(self)
        if self._is_forked():
            # The registered callable waits for threads that do not exist in this process.
            return
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
        if self._is_forked():
            return f"<inart.{kind} of another process>"
        return f"<inart.{kind} {self.name}: rank {self.rank} of {self.world_size}, job {self.job}>"


@atexit.register
def _shut_down_all() -> None:
    for member in list(_alive):
        member.shutdown()
