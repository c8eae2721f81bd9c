"""The worker that calls without a worker use."""

from __future__ import annotations

import os
import threading
from typing import Any, Optional, Union

from ._elastic import ElasticWorker
from ._errors import Error
from ._floats import Label
from ._worker import Handle, Worker, join

_default: Optional[Union[Worker, ElasticWorker]] = None
#: Held by the thread that joins.
_joining = threading.Lock()


def init(*args: Any, **kwargs: Any) -> Union[Worker, ElasticWorker]:
    """Joins a job as :func:`join` does, with the same arguments, and makes it the default of this process.

    Raises:
        Error: the process has a default already, or another thread is joining.
        AssignmentError, ControllerError, InterfaceError: as :func:`join`.
    """
    global _default
    joining = _joining
    if not joining.acquire(blocking=False):
        raise Error("another call of inart.init() in this process has not returned: call it once, from one thread")
    try:
        if is_initialized():
            raise Error(
                f"this process is {_default!r} already: call inart.shutdown() first, or inart.join() for a second job"
            )
        _default = join(*args, **kwargs)
        _default._at_shutdown.append(_forget)
        return _default
    finally:
        joining.release()


def _after_fork() -> None:
    # The thread that held the lock is missing in this process.
    global _joining
    _joining = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def _forget() -> None:
    global _default
    _default = None


def is_initialized() -> bool:
    """Whether this process has a default worker. A process that was forked from the one that joined has none."""
    return _default is not None and not _default._is_forked()


def worker() -> Union[Worker, ElasticWorker]:
    """The default worker.

    Raises:
        Error: no default worker exists.
    """
    if _default is None:
        raise Error("no job was joined: call inart.init() first")
    return _default


def start(x: Any, label: Label = None) -> Handle:
    """:meth:`Worker.start` of the default worker."""
    return worker().start(x, label)


def all_reduce(x: Any, timeout: Optional[float] = None, label: Label = None) -> None:
    """:meth:`Worker.all_reduce` of the default worker, or :meth:`ElasticWorker.all_reduce`, which takes no timeout.

    Raises:
        Error: a timeout, in an elastic job.
    """
    job = worker()
    if isinstance(job, Worker):
        job.all_reduce(x, timeout, label)
    elif timeout is None:
        job.all_reduce(x, label)
    else:
        raise Error(f"{job!r}: sums of elastic jobs take no timeout; leave it out")


def load_state(*arrays: Any) -> None:
    """:meth:`ElasticWorker.load_state` of the default worker.

    Raises:
        Error: its job is not elastic.
    """
    job = worker()
    if not isinstance(job, ElasticWorker):
        raise Error(f"{job!r}: its workers stay, so there is no state to load; only elastic jobs have that")
    job.load_state(*arrays)


def shutdown() -> None:
    """Shuts the default worker down, if there is one."""
    if _default is not None:
        _default.shutdown()
