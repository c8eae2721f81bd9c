"""Exceptions of this package. Every message names the place and the fix."""

from __future__ import annotations

import builtins
from typing import Optional


class Error(RuntimeError):
    """The base of all errors of this package."""


class AssignmentError(Error):
    """There is no assignment, or it does not fit: another rank, another world size, used before."""


class ControllerError(Error):
    """The controller cannot be reached, or refuses."""


class InterfaceError(Error):
    """The network interface is missing, down, or may not be used."""


class AbortedError(Error):
    """The job is over, at all of its workers.

    Attributes:
        culprit: name of the worker or parameter server that caused it. ``None`` means this worker, and
            ``"not known"`` a host outside this job, which only the message names.
        rank: the culprit's rank, if it is a worker.
        shard: the culprit's shard, if it is a parameter server.
    """

    culprit: Optional[str] = None
    rank: Optional[int] = None
    shard: Optional[int] = None


class MembershipChanged(Error):
    """The workers of an elastic job changed, or one of them missed a round: nothing was summed.

    Call ``load_state``, as all other workers do, then continue.

    Attributes:
        world_size: number of workers in the new view.
        view: number of the membership view that started with them.
    """

    world_size: int = 0
    view: int = 0


class TensorError(Error, ValueError):
    """This array cannot be summed: its type, its layout or its size. The job continues."""


class TensorInUseError(TensorError):
    """This array, or a part of it, is being summed already."""


class TimeoutError(Error, builtins.TimeoutError):
    """The sum was not ready within the timeout. It is still in flight and can be waited for again."""
