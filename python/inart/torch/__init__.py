"""PyTorch on the switches' sums. Importing it registers the process-group backend ``"inart"``.

A communication hook for DDP, one line in a program that uses Gloo otherwise::

    model = torch.nn.parallel.DistributedDataParallel(model)
    model.register_comm_hook(inart.torch.HookState(), inart.torch.all_reduce_hook)

Or the backend, for everything that all-reduces::

    import inart.torch
    torch.distributed.init_process_group("inart")
"""

from ._backend import Options, ProcessGroupInArt
from ._elastic import all_reduce_gradients, load_state
from ._hook import HookState, all_reduce_hook

__all__ = [
    "HookState",
    "Options",
    "ProcessGroupInArt",
    "all_reduce_gradients",
    "all_reduce_hook",
    "load_state",
]
