from typing import Any, Optional, Union

__version__: str

class Handle:
    """A sum in flight. Dropping the handle loses the sum for this worker only."""

    @property
    def seconds(self) -> Optional[float]:
        """Seconds from the start to the end of the wait; ``None`` before that."""

    @property
    def waiting(self) -> Optional[str]:
        """The tensor that the worker waits for and the host that keeps it waiting, such as ``"tensor 3: worker 1 (w2)
        has not started it"``; ``None`` if that is not known."""

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits until the sum is in the array.

        Other threads run meanwhile, and Ctrl-C raises ``KeyboardInterrupt``. The handle can be waited for again. A
        wait of more than 5 s for another host is reported on standard error, with the host's name.

        Args:
            timeout: longest wait in seconds; ``None`` waits without limit.

        Raises:
            TimeoutError: the sum is not ready. It is still in flight.
            TensorError: the tensor's memory was freed or moved meanwhile, so the sum is not written.
            AbortedError: the job has ended.
            Error: the worker was shut down.
        """

    def done(self) -> bool:
        """Whether waiting would return or raise at once. If so, the sum is in the array."""

class Worker:
    job: str
    name: str
    rank: int
    world_size: int
    def start(
        self, address: int, length: int, owner: Any, target: Optional[tuple[int, int]] = None, label: str = ""
    ) -> Handle: ...
    def shutdown(self) -> None: ...

class Elastic:
    job: str
    name: str
    rank: int
    rounds: int
    view: int
    workers: list[str]
    def all_reduce(self, address: int, length: int, owner: Any, label: str = "") -> float: ...
    def load_state(self, state: list[tuple[int, int, Any]], layout: int) -> None: ...
    def finish(self) -> None: ...
    def shutdown(self) -> None: ...

def join(settings: dict[str, Any]) -> Union[Worker, Elastic]: ...
def local(
    world_size: int,
    servers: int,
    exact: bool,
    peer_timeout_seconds: Optional[float],
    non_finite_name: str,
) -> list[Worker]: ...
