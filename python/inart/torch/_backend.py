"""The process-group backend "inart": all-reduce on the switches, all else by Gloo."""

from __future__ import annotations

import inspect
from collections import deque
from datetime import timedelta
from typing import Any, Callable, Optional, Union

import torch
import torch.distributed as dist
from torch.distributed import PrefixStore, ProcessGroupGloo, ReduceOp

from .._elastic import ElasticWorker
from .._worker import Worker, join
from ._completer import SUMMED, Completer, Sum, completer_of, shares_memory
from ._hook import check_ranks, default_worker, not_elastic


class Options:
    """For ``new_group(..., pg_options=Options(job="second"))``: a group that is a job of its own.

    Takes the arguments of :func:`inart.join`. The group's ranks have to be those of the job, in order.
    """

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments


class Work(dist.distributed_c10d.Work):
    """An all-reduce in flight."""

    def __init__(self, pending: Sum, tensors: list[torch.Tensor], timeout: timedelta) -> None:
        super().__init__()
        self._sum = pending
        self._tensors = tensors
        self._timeout = timeout

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Waits until the sum is in the tensor, for the group's timeout if none is given.

        Raises:
            TimeoutError: the sum is not ready. It is still in flight.
            AbortedError: the job has ended.
        """
        self._sum.wait((timeout or self._timeout).total_seconds())
        return True

    def synchronize(self) -> None:
        self.wait()

    def is_completed(self) -> bool:
        return self._sum.is_ended()

    def is_success(self) -> bool:
        return self._sum.is_ended() and self._sum.error is None

    def exception(self) -> Optional[Exception]:
        return self._sum.error

    def result(self) -> list[torch.Tensor]:
        return self._tensors

    def source_rank(self) -> int:
        raise RuntimeError("an all-reduce has no source rank")

    def get_future(self) -> torch.futures.Future[list[torch.Tensor]]:
        return self._sum.future(self._tensors)


class ProcessGroupInArt(dist.ProcessGroup):
    """All-reduce (SUM and AVG of float32, float16 and bfloat16 CPU tensors) on the switches.

    All other collectives, types and operations, and groups without a job of their own, are Gloo's.
    """

    #: Work that is kept, finished or not: C++ code may look at it once more, and does not keep Python objects.
    _KEPT = 4

    def __init__(
        self,
        store: dist.Store,
        rank: int,
        size: int,
        timeout: timedelta,
        worker: Optional[Union[Worker, ElasticWorker]],
    ) -> None:
        super().__init__(rank, size)
        self._gloo = ProcessGroupGloo(PrefixStore("gloo", store), rank, size, timeout)
        self._timeout = timeout
        self._completer: Optional[Completer] = None
        self._works: deque[Work] = deque()
        if worker is not None:
            member = not_elastic(worker)
            check_ranks(member, rank, size)
            self._completer = completer_of(member)

    def allreduce(self, tensors: Any, opts: Any = None, **named: Any) -> Any:
        """Starts to replace a tensor by its sum or mean over the group; returns the work."""
        divisor = self._divisor(tensors, named.get("op", opts))
        if self._completer is None or divisor is None:
            given = (tensors,) if opts is None else (tensors, opts)
            return self._gloo.allreduce(*given, **named)
        tensor = tensors if isinstance(tensors, torch.Tensor) else tensors[0]
        work = Work(self._completer.start(tensor, divisor), [tensor], self._timeout)
        while len(self._works) > self._KEPT and self._works[0].is_completed():
            self._works.popleft()
        self._works.append(work)
        return work

    def broadcast(self, tensors: Any, opts: Any = None, **named: Any) -> Any:
        """Gloo's broadcast; of bfloat16 as well, which torch 1.13's Gloo does not know."""
        given = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        same_bits = [x.view(torch.float16) if x.dtype == torch.bfloat16 else x for x in given]
        if isinstance(tensors, torch.Tensor):
            same_bits = same_bits[0]
        return self._gloo.broadcast(same_bits, *(() if opts is None else (opts,)), **named)

    def _divisor(self, tensors: Any, opts: Any) -> Optional[int]:
        """Returns the divisor of the sum; ``None`` if the switches do not support the operation."""
        given = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        if len(given) != 1:
            return None
        tensor = given[0]
        if (
            tensor.dtype not in SUMMED
            or tensor.device.type != "cpu"
            or tensor.layout != torch.strided
            or tensor.numel() == 0
            or shares_memory(tensor)
        ):
            return None
        operation = getattr(opts, "reduceOp", opts)
        if operation is None or operation == ReduceOp.SUM:
            return 1
        return self.size() if operation == ReduceOp.AVG else None

    def getBackendName(self) -> str:
        return "inart"

    def name(self) -> str:
        return "inart"


def _by_gloo(name: str) -> Callable[..., Any]:
    def call(self: ProcessGroupInArt, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._gloo, name)(*args, **kwargs)

    call.__name__ = name
    call.__doc__ = f"``{name}`` of the Gloo group."
    return call


for _name in (
    "_allgather_base",
    "_get_sequence_number_for_group",
    "_reduce_scatter_base",
    "_set_sequence_number_for_group",
    "all_gather_single",
    "all_gather_single_coalesced",
    "all_to_all_single",
    "allgather",
    "allgather_coalesced",
    "allgather_into_tensor_coalesced",
    "allreduce_coalesced",
    "alltoall",
    "alltoall_base",
    "barrier",
    "gather",
    "gather_into_tensor",
    "gather_single",
    "monitored_barrier",
    "recv",
    "recv_anysource",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_single_coalesced",
    "reduce_scatter_tensor_coalesced",
    "scatter",
    "send",
):
    if hasattr(ProcessGroupGloo, _name):
        setattr(ProcessGroupInArt, _name, _by_gloo(_name))


def _create(options: Any, pg_options: Optional[Options]) -> ProcessGroupInArt:
    """Makes a group, as ``Backend.register_backend`` wants it with its extended arguments."""
    if pg_options is not None and not isinstance(pg_options, Options):
        raise TypeError(f"pg_options is {pg_options!r}: give inart.torch.Options")
    rank, size = options.group_rank, options.group_size
    worker = None
    if pg_options is not None:
        worker = join(**{"rank": rank, **pg_options.arguments})
    elif not options.global_ranks_in_group:
        # The default group. Another group's sums would be in no order with its sums.
        worker = default_worker()
    return ProcessGroupInArt(options.store, rank, size, options.timeout, worker)


def _register() -> None:
    if hasattr(dist.Backend, "INART"):
        return
    arguments: dict[str, Any] = {"extended_api": True}
    if "devices" in inspect.signature(dist.Backend.register_backend).parameters:
        arguments["devices"] = ["cpu"]
    dist.Backend.register_backend("inart", _create, **arguments)


_register()
