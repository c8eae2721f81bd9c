"""Sums that complete futures: a thread per worker waits for them."""

from __future__ import annotations

import queue
import threading
from typing import Any, Optional

import torch

from .. import _errors
from .._worker import Handle, Worker

#: What is summed; the narrower two through float32.
SUMMED = (torch.float32, torch.float16, torch.bfloat16)

#: Sums that a worker may have under way here; one more waits for room. A worker itself takes 1024.
MOST_SUMS = 512


class Sum:
    """A tensor that is being replaced by its sum, or its mean."""

    def __init__(self, tensor: torch.Tensor, wide: torch.Tensor, divisor: int, handle: Handle) -> None:
        self.tensor = tensor
        self.error: Optional[Exception] = None
        self._wide = wide
        self._divisor = divisor
        self._handle = handle
        self._ended = threading.Event()
        self._future: torch.futures.Future[None] = torch.futures.Future()

    def future(self, value: Any) -> torch.futures.Future[Any]:
        """A future of ``value`` that is there when the sum is, or fails as the sum does."""

        def read(_: torch.futures.Future[None]) -> Any:
            if self.error is not None:
                raise self.error
            return value

        return self._future.then(read)

    def is_ended(self) -> bool:
        return self._ended.is_set()

    def wait(self, timeout: Optional[float]) -> None:
        """Waits for ``timeout`` seconds at most, or for ever.

        Raises:
            TimeoutError: the sum is not there yet.
            Error: why there will be none.
        """
        if not self._ended.wait(timeout):
            raise _errors.TimeoutError(f"the sum is not there after {timeout} s; wait again, or longer")
        if self.error is not None:
            raise self.error

    def complete(self) -> None:
        """Waits as long as it takes, writes the sum into the tensor and tells everybody."""
        try:
            self._handle.wait()
            if self._divisor != 1:
                self._wide.div_(self._divisor)
            if self._wide is not self.tensor:
                self.tensor.copy_(self._wide)
        except Exception as error:
            self.error = error
        self._ended.set()
        self._future.set_result(None)


class Completer:
    """Starts a worker's sums, and completes them in that order on a thread of its own."""

    def __init__(self, worker: Worker) -> None:
        self._start = worker.start
        self._order = threading.Lock()
        self._room = threading.Semaphore(MOST_SUMS)
        self._sums: queue.SimpleQueue[Optional[Sum]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="inart-completer", daemon=True)
        self._thread.start()
        worker._at_shutdown.append(self._stop)

    def start(self, tensor: torch.Tensor, divisor: int = 1) -> Sum:
        """Starts to replace a tensor by its sum over all workers, divided by ``divisor``.

        All workers start tensors of the same sizes in the same order.

        Args:
            tensor: on the CPU, of float32, float16 or bfloat16, of any shape. What is not float32 is summed
                and divided as float32, and rounded once.

        Raises:
            TensorError, AbortedError: as ``Worker.start``.
        """
        tensor = tensor.detach()
        wide = tensor
        if tensor.dtype in SUMMED and tensor.layout == torch.strided:
            if tensor.dtype != torch.float32 or not tensor.is_contiguous():
                wide = tensor.to(torch.float32, memory_format=torch.contiguous_format, copy=True)
        self._room.acquire()
        try:
            with self._order:
                pending = Sum(tensor, wide, divisor, self._start(wide))
                self._sums.put(pending)
        except BaseException:
            self._room.release()
            raise
        return pending

    def _run(self) -> None:
        while True:
            pending = self._sums.get()
            if pending is None:
                return
            pending.complete()
            self._room.release()

    def _stop(self) -> None:
        self._sums.put(None)
        self._thread.join()


#: Until their workers are shut down.
_completers: dict[Worker, Completer] = {}
_making = threading.Lock()


def completer_of(worker: Worker) -> Completer:
    """The worker's completer: one for all who use the worker, so that their sums have one order."""
    with _making:
        if worker not in _completers:
            _completers[worker] = Completer(worker)
            worker._at_shutdown.append(lambda: _completers.pop(worker, None))
        return _completers[worker]
