"""Sums that complete futures: one thread per worker waits for sums, and a second one runs callbacks."""

from __future__ import annotations

import queue
import threading
import time
import warnings
from typing import Any, Optional

import torch

from .. import _errors, _member
from .._floats import Label, TensorMemory, label_of
from .._worker import Handle, Worker

#: Types that can be summed; the narrower two through float32.
SUMMED = (torch.float32, torch.float16, torch.bfloat16)

#: Seconds that ``shutdown`` gives callbacks that are still running.
CALLBACKS_S = 5.0

#: Sums in flight per worker here; one more waits for room. A worker itself takes 1024.
MOST_SUMS = 512


class Sum:
    """A tensor that is being replaced by its sum, or its mean."""

    def __init__(
        self,
        tensor: torch.Tensor,
        memory: TensorMemory,
        wide: torch.Tensor,
        divisor: int,
        handle: Handle,
        timeout: Optional[float],
    ) -> None:
        self.tensor = tensor
        self._memory = memory
        self._timeout = timeout
        self._until = None if timeout is None else time.monotonic() + timeout
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
            TimeoutError: the sum is not ready.
            Error: why there will be none.
        """
        if not self._ended.wait(timeout):
            why = self._handle.waiting
            why = "" if why is None else f" ({why})"
            raise _errors.TimeoutError(f"the sum is not ready after {timeout} s{why}; wait again, or longer")
        if self.error is not None:
            raise self.error

    def complete(self) -> None:
        """Waits until the sum is there or its time is up, and writes the sum into the tensor."""
        try:
            self._wait_for_handle()
            if not self._memory.is_there():
                raise _errors.TensorError(
                    "the tensor's memory was freed or moved while it was summed: leave the tensor alone until the "
                    "sum was waited for"
                )
            # Tensors that were made in inference mode may be written in inference mode only.
            with torch.inference_mode(self.tensor.is_inference() or self._wide.is_inference()):
                if self._divisor != 1:
                    self._wide.div_(self._divisor)
                if self._wide is not self.tensor:
                    self.tensor.copy_(self._wide)
        except BaseException as error:
            # A panic of the native part is not an Exception. Waiting threads must see its error, too.
            self.error = error if isinstance(error, Exception) else _errors.Error(f"{type(error).__name__}: {error}")
        self._ended.set()

    def _wait_for_handle(self) -> None:
        if self._until is None:
            return self._handle.wait()
        try:
            self._handle.wait(max(0.0, self._until - time.monotonic()))
        except _errors.TimeoutError:
            why = self._handle.waiting or "all workers have started it, and results are missing"
            raise _errors.TimeoutError(
                f"the sum is not ready {self._timeout:g} s after its start ({why}): find out what that rank does, or give "
                "HookState a longer timeout"
            ) from None

    def run_callbacks(self) -> None:
        """Completes the future, which runs its callbacks."""
        self._future.set_result(None)


class Completer:
    """Starts a worker's sums, and completes them in that order on a thread of its own.

    Callbacks of futures run on a second thread, one after another in the order of the sums. A callback may wait
    for other sums. It may not start one, because ranks would start that sum at different places among their other
    sums. PyTorch runs a callback at once, in the calling thread, if the sum is complete when the callback is added;
    the completer does not recognize such a callback.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._refused: Optional[_errors.Error] = None
        #: A signal handler or finalizer may interrupt the thread that holds it, and start a sum.
        self._order = threading.RLock()
        self._is_starting = False
        self._room = threading.Semaphore(MOST_SUMS)
        self._sums: queue.SimpleQueue[Optional[Sum]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="inart-completer", daemon=True)
        self._thread.start()
        self._completed: queue.SimpleQueue[Optional[Sum]] = queue.SimpleQueue()
        self._callbacks = threading.Thread(target=self._run_callbacks, name="inart-callbacks", daemon=True)
        self._callbacks.start()
        worker._at_shutdown.append(self._stop)

    def start(
        self, tensor: torch.Tensor, divisor: int = 1, timeout: Optional[float] = None, label: Label = None
    ) -> Sum:
        """Starts to replace a tensor by its sum over all workers, divided by ``divisor``.

        All workers start tensors of the same sizes in the same order.

        Args:
            tensor: on the CPU, of float32, float16 or bfloat16, of any shape. Narrower types are summed
                and divided as float32, and rounded once.
            timeout: seconds from the start after which the sum fails with ``TimeoutError``, and all later sums
                too; ``None`` waits without limit.
            label: as for ``Worker.start``. Workers also compare the tensor's type and shape, and whether the sum is
                divided.

        Raises:
            TensorError, AbortedError: as ``Worker.start``.
            Error: a callback of a sum's future starts this sum, or has started one; or the tensor is being summed
                already. The worker then leaves the job, because another rank may have started the sum and would
                wait for this worker. Or a signal handler or finalizer starts this sum while the thread that it
                interrupts starts another.
        """
        self._worker._check_process()
        if threading.current_thread() is self._callbacks:
            self._refused = _errors.Error(
                "a callback of a sum's future starts a sum; ranks would start it at different places among their "
                "others, so start it after wait(), or register a communication hook such as PowerSGD's with Gloo"
            )
            self._worker.shutdown()
        if self._refused is not None:
            raise self._refused
        given, tensor = tensor, tensor.detach()
        wide, claim = tensor, None
        if tensor.dtype in SUMMED and tensor.layout == torch.strided and tensor.numel() > 0:
            if shares_memory(tensor):
                raise _errors.TensorError(
                    "elements of the tensor share memory, as those of expand() do: sum x.contiguous()"
                )
            if tensor.dtype != torch.float32 or not tensor.is_contiguous() or tensor.is_neg():
                # Of a tensor that is not contiguous, the first element stands for all.
                elements = tensor.numel() if tensor.is_contiguous() else 1
                claim = (TensorMemory(tensor).address, elements * tensor.element_size())
                wide = tensor.to(torch.float32, memory_format=torch.contiguous_format, copy=True)
        try:
            return self._start(given, tensor, wide, claim, divisor, timeout, described(tensor, divisor, label))
        except _errors.TensorInUseError as error:
            # Where the other sum has ended, this one was started.
            self._refused = _errors.Error(
                f"{error}; this worker has left its job, because other ranks may have started the sum"
            )
            self._worker.shutdown()
            raise self._refused from error

    def _start(
        self,
        given: torch.Tensor,
        tensor: torch.Tensor,
        wide: torch.Tensor,
        claim: Optional[tuple[int, int]],
        divisor: int,
        timeout: Optional[float],
        label: str,
    ) -> Sum:
        """Starts a sum of ``wide``; a ``claim`` names the memory that receives the sum if ``wide`` is a copy."""
        with self._order:
            if self._is_starting:
                raise _errors.Error(
                    "a signal handler or finalizer starts a sum while this thread starts another; ranks would start "
                    "the two in different orders, so start sums in the program's own course"
                )
            self._is_starting = True
            try:
                self._room.acquire()
                try:
                    handle = self._worker._start_for(wide, claim, label)
                    pending = Sum(tensor, TensorMemory(given), wide, divisor, handle, timeout)
                    self._sums.put(pending)
                except BaseException:
                    self._room.release()
                    raise
            finally:
                self._is_starting = False
        return pending

    def _run(self) -> None:
        while True:
            pending = self._sums.get()
            if pending is not None:
                pending.complete()
                if isinstance(pending.error, _errors.TimeoutError):
                    # Other ranks may have this sum.
                    self._refused = pending.error
                self._room.release()
            self._completed.put(pending)
            if pending is None:
                return

    def _run_callbacks(self) -> None:
        while (pending := self._completed.get()) is not None:
            pending.run_callbacks()

    def _stop(self) -> None:
        self._sums.put(None)
        self._thread.join()
        if threading.current_thread() is not self._callbacks:
            self._callbacks.join(CALLBACKS_S)
            if self._callbacks.is_alive():
                warnings.warn(
                    f"a callback of a sum's future is still running {CALLBACKS_S:.0f} s after its worker was shut down; "
                    "it is left alone",
                    RuntimeWarning,
                    stacklevel=2,
                )


def described(tensor: torch.Tensor, divisor: int, label: Label) -> str:
    """Returns the label that workers compare: label, type, shape, and whether the sum is divided."""
    properties = [] if tensor.dtype == torch.float32 else [str(tensor.dtype).replace("torch.", "")]
    return label_of(tensor, label, *properties, *(["mean"] if divisor != 1 else []))


def shares_memory(tensor: torch.Tensor) -> bool:
    """Whether elements of a tensor share memory, as those of ``expand()`` do. Such a tensor cannot hold a sum."""
    return any(stride == 0 and size > 1 for size, stride in zip(tensor.size(), tensor.stride()))


#: Until their workers are shut down.
_completers: dict[Worker, Completer] = {}
#: A finalizer may interrupt the thread that holds it.
_making = threading.RLock()


def completer_of(worker: Worker) -> Completer:
    """Returns the worker's completer: one per worker, so that all its sums have one order.

    Raises:
        Error: the worker was shut down.
    """
    with _making:
        if worker not in _completers:
            if worker not in _member._alive:
                raise _errors.Error("the worker was shut down; join the job again")
            _completers[worker] = Completer(worker)
            worker._at_shutdown.append(lambda: _completers.pop(worker, None))
        return _completers[worker]
