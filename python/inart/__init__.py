"""All-reduce on the switches of the network.

    import inart

    inart.init()             # rank, assignment and interface from the environment, or as arguments
    inart.all_reduce(x)      # x: a float32 NumPy array or CPU tensor; afterwards the sum over all workers
    handle = inart.start(x)  # several at a time
    handle.wait()

``inart.torch`` has the same for PyTorch: a communication hook for DDP, and a process-group backend.
``inart.local(4)`` makes the four workers of a job within this process, without a network.
"""

from ._default import all_reduce, init, is_initialized, load_state, shutdown, start, worker
from ._elastic import ElasticWorker
from ._errors import (
    AbortedError,
    AssignmentError,
    ControllerError,
    Error,
    InterfaceError,
    MembershipChanged,
    TensorError,
    TimeoutError,
)
from ._inart import __version__
from ._worker import Handle, Worker, join, local

__all__ = [
    "AbortedError",
    "AssignmentError",
    "ControllerError",
    "ElasticWorker",
    "Error",
    "Handle",
    "InterfaceError",
    "MembershipChanged",
    "TensorError",
    "TimeoutError",
    "Worker",
    "__version__",
    "all_reduce",
    "init",
    "is_initialized",
    "join",
    "load_state",
    "local",
    "shutdown",
    "start",
    "worker",
]
