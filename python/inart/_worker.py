"""A worker of a job."""

from __future__ import annotations

from typing import Any, Optional, Union

from . import _inart
from ._elastic import ElasticWorker
from ._floats import Label, floats_of, label_of
from ._member import Member
from ._settings import Path, settings

Handle = _inart.Handle


class Worker(Member):
    """A worker of a job, from :func:`join` or :func:`local`.

    Several sums may be in flight. All workers of the job start sums of the same lengths in the same order;
    they may wait for them in any order, and from any thread. From joining to the shutdown this worker sends
    heartbeats to the other workers, independent of the program's computation.
    """

    _inner: _inart.Worker

    @property
    def world_size(self) -> int:
        """How many workers the job has."""
        return self._inner.world_size

    def start(self, x: Any, label: Label = None) -> Handle:
        """Starts to replace ``x`` by the sum of all workers' arrays, and returns immediately.

        Args:
            x: a contiguous float32 array or CPU tensor of any shape; all workers have the same size. The values
                are copied now; the sum is written into ``x`` during the wait on the handle. Do not use the memory
                until then. If a tensor's memory was freed or moved meanwhile, the wait raises TensorError.
            label: names the sum, for example by its step number: a string or a whole number that is
                the same at all workers. Workers compare labels and shapes in the order of their sums. If a worker
                skipped a sum, or started sums in another order, the job ends with that worker's name; earlier sums
                may have combined different arrays.

        Raises:
            TensorError: ``x`` cannot be summed, or is being summed already. Nothing was sent; the job continues.
            AbortedError: the job has ended; or ``x`` has NaN or infinity and ``non_finite`` is ``"abort"``.
        """
        return self._inner.start(*floats_of(x), None, label_of(x, label))

    def _start_for(self, x: Any, target: Optional[tuple[int, int]], label: str) -> Handle:
        """As :meth:`start`, with a whole label, where the sum may end in other memory than that of ``x``: its address and
        bytes."""
        return self._inner.start(*floats_of(x), target, label)

    def all_reduce(self, x: Any, timeout: Optional[float] = None, label: Label = None) -> None:
        """Replaces ``x`` by the sum of all workers' arrays, with the same bits at all workers.

        Args:
            x: as for :meth:`start`.
            timeout: longest wait in seconds; ``None`` waits without limit. A disconnected worker is detected after
                peer timeout either way.
            label: as for :meth:`start`.

        Raises:
            TensorError, AbortedError: as :meth:`start`.
            TimeoutError: the sum was not ready in time; ``x`` is unchanged, and this worker loses the sum.
        """
        self.start(x, label).wait(timeout)

    def shutdown(self) -> None:
        """Leaves the job. This worker loses its sums in flight. A second call does nothing."""
        self._inner.shutdown()
        self._leave()


def join(
    assignment: Optional[Path] = None,
    controller: Optional[str] = None,
    job: Optional[str] = None,
    rank: Optional[int] = None,
    interface: Optional[str] = None,
    peer_timeout: Optional[float] = None,
    *,
    non_finite: str = "pass",
    status: Optional[str] = None,
    tls_ca: Optional[Path] = None,
    tls_cert: Optional[Path] = None,
    tls_key: Optional[Path] = None,
    tls_name: Optional[str] = None,
    insecure: bool = False,
) -> Union[Worker, ElasticWorker]:
    """Joins a job as one of its workers; an elastic job returns an :class:`ElasticWorker`.

    A process may be a worker of several jobs. Missing arguments are read from the environment.

    Args:
        assignment: the job's assignment, a file as ``inart apply --assignments`` writes it
            (``INART_ASSIGNMENT``).
        controller: alternative to ``assignment``: the address of a controller, ``HOST:PORT`` or ``unix:/path``
            (``INART_CONTROLLER``). The call waits up to 30 s for the controller to install the plan.
        job: with a controller, the job's name (``INART_JOB``); required if the controller has several jobs.
        rank: this worker's rank, from 0 (``RANK``, as torchrun sets it; ``WORLD_SIZE`` must then equal the
            number of the job's workers). In an elastic job, the worker's position in the topology's list of the job's
            workers; ``WORLD_SIZE`` is ignored there.
        interface: the network interface to send on, such as ``eth0`` (``INART_INTERFACE``).
        peer_timeout: seconds without a frame from an awaited worker or server before the job is
            aborted; default 2.5.
        non_finite: handling of NaN or infinity in this worker's arrays. ``"pass"``: the sums of
            all values in the block of 256 are NaN at all workers, and the job continues; if sums are exact,
            only the affected sum is not finite. ``"abort"``: the job ends with this worker's name.
        status: address for status queries by ``inart doctor``: a path for a Unix socket, or
            ``127.0.0.1:PORT`` (``INART_STATUS``).
        tls_ca: connect to the controller by TLS, and trust servers with a certificate of this authority
            (PEM file).
        tls_cert, tls_key: this worker's certificate and key (PEM files).
        tls_name: the name in the controller's certificate, if different from its address.
        insecure: connect to a controller on another machine without TLS.

    If ``INART_REPORT`` is set, every sum is reported to the emulator that listens there, which checks it bit
    for bit; the call then returns when the emulator lets all workers start.

    Raises:
        AssignmentError: the assignment is missing or does not fit, or this rank has already run with it.
        ControllerError: the controller is unreachable or rejects the worker.
        InterfaceError: the interface is missing, down, or may not be used (raw Ethernet needs root).
    """
    joined = _inart.join(
        settings(
            assignment,
            controller,
            job,
            rank,
            interface,
            peer_timeout,
            non_finite=non_finite,
            status=status,
            tls_ca=tls_ca,
            tls_cert=tls_cert,
            tls_key=tls_key,
            tls_name=tls_name,
            insecure=insecure,
        )
    )
    return ElasticWorker(joined) if isinstance(joined, _inart.Elastic) else Worker(joined)


def local(
    world_size: int,
    servers: int = 1,
    *,
    exact: bool = False,
    peer_timeout: Optional[float] = None,
    non_finite: str = "pass",
) -> list[Worker]:
    """Returns all workers of a job within this process, by rank, for trials without a network or root.

    Frames go through memory, and parameter servers, which are threads, compute all sums. Each worker is used
    by a thread of its own, or by :meth:`Worker.start`.

    Args:
        world_size: number of workers, 1 to 64.
        servers: number of parameter servers, 1 to 64.
        exact: whether sums of any length are exact, rounded once, as those of up to 256 values always are.
        peer_timeout, non_finite: as for :func:`join`.

    Raises:
        ValueError: numbers out of range.
    """
    inner = _inart.local(world_size, servers, exact, peer_timeout, non_finite)
    return [Worker(worker) for worker in inner]
