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

    Several sums may be under way. All workers of the job start sums of the same lengths in the same order;
    they may wait for them in any order, and from any thread. From joining to the shutdown the other workers
    hear that this one is there, whatever the program computes.
    """

    _inner: _inart.Worker

    @property
    def world_size(self) -> int:
        """How many workers the job has."""
        return self._inner.world_size

    def start(self, x: Any, label: Label = None) -> Handle:
        """Starts to replace ``x`` by the sum of all workers' arrays, and returns at once.

        Args:
            x: a contiguous float32 array or CPU tensor of any shape; of one size at all workers. Its values
                are copied now; the sum is written into it while its handle is waited for. Leave its memory alone
                until then. If a tensor's memory was freed or moved meanwhile, the wait raises TensorError.
            label: what the sum is of, such as a name with the number of the step: a string or a whole number that is
                the same at all workers. Workers compare labels and shapes in the order of their sums. If a worker has
                skipped a sum, or started sums in another order, the job ends with that worker's name; sums before
                may be of different arrays.

        Raises:
            TensorError: ``x`` cannot be summed, or is being summed already. Nothing was sent; the job continues.
            AbortedError: the job is over; or ``x`` has a NaN or an infinity, where that ends it.
        """
        return self._inner.start(*floats_of(x), None, label_of(x, label))

    def _start_for(self, x: Any, target: Optional[tuple[int, int]], label: str) -> Handle:
        """As :meth:`start`, with a whole label, where the sum may end in other memory than that of ``x``: its address and
        bytes."""
        return self._inner.start(*floats_of(x), target, label)

    def all_reduce(self, x: Any, timeout: Optional[float] = None, label: Label = None) -> None:
        """Replaces ``x`` by the sum of all workers' arrays; bit for bit the same at all of them.

        Args:
            x: as for :meth:`start`.
            timeout: seconds to wait at most; ``None`` is for ever. A worker that is gone is found after the
                peer timeout either way.
            label: as for :meth:`start`.

        Raises:
            TensorError, AbortedError: as :meth:`start`.
            TimeoutError: the sum was not there in time; ``x`` is as it was, and its sum is lost to this worker.
        """
        self.start(x, label).wait(timeout)

    def shutdown(self) -> None:
        """Leaves the job. Sums that are under way are lost to this worker. A second time does nothing."""
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
    """Joins a job as one of its workers; of an elastic job, as an :class:`ElasticWorker`.

    A process may be a worker of several jobs. What is not given is read from the environment.

    Args:
        assignment: the job's assignment, a file as ``inart apply --assignments`` writes it
            (``INART_ASSIGNMENT``).
        controller: instead of that, the address of a controller, ``HOST:PORT`` or ``unix:/path``
            (``INART_CONTROLLER``). It is waited for up to 30 s, until it has installed the plan.
        job: with a controller, the job's name (``INART_JOB``); needed if it has several.
        rank: this worker's rank, from 0 (``RANK``, as torchrun sets it; then ``WORLD_SIZE`` has to be the
            number of the job's workers). In an elastic job, its place in the topology's list of the job's
            workers; ``WORLD_SIZE`` is not heeded there.
        interface: the network interface to send on, such as ``eth0`` (``INART_INTERFACE``).
        peer_timeout: seconds for which a worker or server that is waited for may be silent before the job is
            aborted; 2.5 if not given.
        non_finite: what becomes of a NaN or an infinity in one of this worker's arrays. ``"pass"``: the sums of
            all values in its block of 256 are NaN, at all workers, and the job continues; where sums are exact,
            its own sum alone is not finite. ``"abort"``: it ends the job, with this worker's name.
        status: where ``inart doctor`` may ask what this worker does: a path for a Unix socket, or
            ``127.0.0.1:PORT`` (``INART_STATUS``).
        tls_ca: connect to the controller by TLS, and believe servers with a certificate of this authority
            (PEM file).
        tls_cert, tls_key: the certificate to show, and its key (PEM files).
        tls_name: the name in the controller's certificate, where it is not that of its address.
        insecure: connect to a controller on another machine without TLS.

    If ``INART_REPORT`` is set, every sum is reported to the emulator that listens there, which checks it bit
    for bit; joining then returns when the emulator lets all workers begin.

    Raises:
        AssignmentError: there is no assignment, it does not fit, or this rank has run with it before.
        ControllerError: the controller is not there, or refuses.
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
    """All workers of a job within this process, by rank; to try things out, without a network or root.

    Frames go through memory, and parameter servers, which are threads, do all sums. Each worker is to be used
    by a thread of its own, or by :meth:`Worker.start`.

    Args:
        world_size: how many workers, 1 to 64.
        servers: how many parameter servers, 1 to 64.
        exact: whether sums of any length are exact, rounded once, as those of up to 256 values always are.
        peer_timeout, non_finite: as for :func:`join`.

    Raises:
        ValueError: numbers out of range.
    """
    inner = _inart.local(world_size, servers, exact, peer_timeout, non_finite)
    return [Worker(worker) for worker in inner]
