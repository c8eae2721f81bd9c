"""The communication hook for DistributedDataParallel."""

# DDP compares the hook's annotations with the types themselves, so they are not to be strings here.
import weakref
from datetime import timedelta
from typing import Any, Optional, Union

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from .. import _default, _errors
from .._elastic import ElasticWorker
from .._floats import Label
from .._worker import Worker, join
from ._completer import completer_of
from ._models import models_of


#: Seconds after which a bucket's sum fails, as with Gloo's groups.
TIMEOUT_S = 1800.0


class HookState:
    """State of :func:`all_reduce_hook`: the worker that sums the gradients.

    ``HookState()`` uses the default worker (``inart.init``), and creates it from the environment if there is
    none. With arguments of :func:`inart.join`, such as ``job`` and ``controller``, it joins a job of its own;
    the rank is torchrun's (``RANK``). ``HookState(worker=...)`` uses the given worker.

    Models that sum at the same time need a state with a job of their own each, or one shared state: then their
    backward passes are in the same order at all ranks.

    A DDP model with its own process group needs ``process_group`` and a job of that group's ranks. With arguments
    to join with, the default rank is the rank in that group.

    A bucket whose sum is not ready ``timeout`` after its start fails with a ``TimeoutError`` that names the rank
    which has not joined, or has not started the sum. ``timeout`` is in seconds or a ``timedelta``.

    Workers compare the index of each bucket, and the attribute ``label``. Set ``label`` to the number of the step
    before each backward pass: if a rank skips a step, the job then ends with that rank's name.

    Raises:
        AssignmentError: the job's ranks are not those of the process group.
        ValueError: the timeout is not above 0.
        Error: as :func:`inart.join`.
    """

    def __init__(
        self,
        worker: Optional[Worker] = None,
        process_group: Optional[dist.ProcessGroup] = None,
        timeout: Union[float, timedelta] = TIMEOUT_S,
        **arguments: Any,
    ) -> None:
        seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
        if not seconds > 0:
            raise ValueError(f"timeout {timeout}: give seconds above 0, or a timedelta")
        self.timeout = seconds
        #: Label of the next backward pass, such as the number of the step: a string or a whole number, the same at
        #: all ranks.
        self.label: Label = None
        if worker is not None and arguments:
            raise TypeError("HookState takes a worker, or arguments to join with, not both")
        if process_group is not None and arguments:
            arguments = {"rank": dist.get_rank(process_group), **arguments}
        joined = worker or (join(**arguments) if arguments else default_worker())
        self.worker = not_elastic(joined)
        self.process_group = process_group
        #: Models with a checked process group.
        self._checked: weakref.WeakSet[DistributedDataParallel] = weakref.WeakSet()
        if process_group is not None or dist.is_initialized():
            self._ranks()
        self._completer = completer_of(self.worker)

    def _ranks(self) -> list[int]:
        """Returns the global ranks whose gradients the job sums, after a check of this worker's rank among them."""
        group = self.process_group
        check_ranks(self.worker, dist.get_rank(group), dist.get_world_size(group))
        return ranks_of(group)

    def check_model(self, parameter: torch.Tensor) -> None:
        """Checks that the DDP model of a parameter has the state's process group, and that its gradients are to be
        divided by the number of workers. Each model's group is checked once.

        Raises:
            AssignmentError: the model's process group has other ranks, or the model is not known.
            Error: the model is within ``join(divide_by_initial_world_size=False)``.
        """
        models = models_of(parameter)
        if not models:
            raise _errors.AssignmentError(
                "the DDP model of these gradients is not known, so its process group cannot be compared with the job: "
                "import inart.torch before the model's register_comm_hook, and call that"
            )
        for model in models:
            if model not in self._checked:
                ranks, others = self._ranks(), ranks_of(model.process_group)
                if others != ranks:
                    raise _errors.AssignmentError(
                        f"{self.worker!r} sums over ranks {ranks}, but the model's process group has ranks {others}: "
                        "register the hook with HookState(process_group=...) and a job of those ranks"
                    )
                self._checked.add(model)
            # A hook does not learn how many ranks have joined.
            if model._join_config.enable and not getattr(model, "_divide_by_initial_world_size", True):
                raise _errors.Error(
                    f"{self.worker!r}: the hook divides by all {self.worker.world_size} workers; call model.join() "
                    "without divide_by_initial_world_size=False"
                )


def ranks_of(group: Optional[dist.ProcessGroup]) -> list[int]:
    """Returns the global ranks of a process group in the group's order. ``None`` means the default group."""
    if group is None or group is dist.group.WORLD:
        return list(range(dist.get_world_size()))
    return [dist.get_global_rank(group, rank) for rank in range(dist.get_world_size(group))]


def default_worker() -> Union[Worker, ElasticWorker]:
    """Returns the default worker, creating it from the environment if needed."""
    return _default.worker() if _default.is_initialized() else _default.init()


def not_elastic(worker: Union[Worker, ElasticWorker]) -> Worker:
    """The worker, or AssignmentError if its job is elastic: a group of ``torch.distributed`` cannot change."""
    if isinstance(worker, ElasticWorker):
        raise _errors.AssignmentError(
            f"{worker!r}: the ranks of torch.distributed stay while those of an elastic job change; without it, call "
            "inart.torch.all_reduce_gradients(model) after backward()"
        )
    return worker


def check_ranks(worker: Worker, rank: int, size: int) -> None:
    """Compares a worker with the group that it sums for.

    Raises:
        AssignmentError: another rank, or another number of workers.
    """
    if (worker.rank, worker.world_size) != (rank, size):
        raise _errors.AssignmentError(
            f"{worker!r}, but the process group has rank {rank} of {size}: start as many processes as the job has "
            "workers, and give each the same rank in both"
        )


def all_reduce_hook(state: HookState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Replaces a bucket's gradients by their mean over all workers, for ``model.register_comm_hook``.

    It starts the sum and returns, so that buckets are summed during the rest of the backward pass. DDP
    launches buckets in the same order at all ranks, which is the order that sums need. Gradients are summed
    and divided as float32; float16 and bfloat16 are rounded once, at the end.

    Returns:
        A future of the bucket's buffer. An error of the sum fails it: ``backward()`` then raises
        ``RuntimeError`` with the error's name and message, such as the failed worker.

    Raises:
        TensorError: the gradients are sparse, or of another type.
        TimeoutError: an earlier bucket's sum was not ready in time.
        AbortedError: the job is over; or a gradient has a NaN or an infinity, where that ends it.
        AssignmentError: the model sums over other ranks than the job.
        Error: the model is within ``join(divide_by_initial_world_size=False)``.
    """
    state.check_model(bucket.parameters()[0])
    buffer = bucket.buffer()
    step = "" if state.label is None else f" of {state.label}"
    label = f"bucket {bucket.index()}{step}"
    pending = state._completer.start(buffer, state.worker.world_size, state.timeout, label)
    return pending.future(buffer)
