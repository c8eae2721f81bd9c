"""Training in elastic jobs, without DDP: its groups cannot change while they run."""

from __future__ import annotations

from typing import Optional, Union

import torch

from .. import _default
from .._elastic import ElasticWorker
from .._errors import Error, TensorError

State = Union[torch.nn.Module, torch.Tensor]


def all_reduce_gradients(model: torch.nn.Module, worker: Optional[ElasticWorker] = None) -> None:
    """Replaces the model's gradients by their means over all workers that are there: one sum per round.

    Call it between ``backward()`` and the optimiser's step. A parameter without a gradient counts as zeros.

    Args:
        model: with float32 parameters on the CPU.
        worker: the worker, or the default one (``inart.init``).

    Raises:
        Regrouped: the workers are others; the gradients are as they were. Call :func:`load_state`, and begin the
            round anew.
        TensorError: a parameter is not float32, or not on the CPU.
    """
    job = _elastic(worker)
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for parameter in parameters:
        if parameter.dtype != torch.float32 or parameter.device.type != "cpu":
            raise TensorError(
                f"a parameter is of {parameter.dtype} on {parameter.device}; only float32 on the CPU is summed"
            )
    gradients = [torch.zeros_like(it) if it.grad is None else it.grad for it in parameters]
    total = torch.cat([gradient.detach().reshape(-1) for gradient in gradients])
    job.all_reduce(total)
    total /= job.world_size
    for parameter, mean in zip(parameters, total.split([it.numel() for it in parameters])):
        parameter.grad = mean.view_as(parameter)


def load_state(*state: State, worker: Optional[ElasticWorker] = None) -> None:
    """Replaces models and tensors by those of the worker with the newest state, to the bit.

    All workers call it with the same: at the start, and after ``inart.Regrouped``. An optimiser's tensors are
    given one by one; it has to have made them before, at all workers.

    Args:
        state: models, of which parameters and float32 buffers are loaded, and float32 tensors on the CPU.
        worker: the worker, or the default one (``inart.init``).

    Raises:
        TensorError: a tensor is of another kind.
    """
    job = _elastic(worker)
    tensors: list[torch.Tensor] = []
    for part in state:
        if isinstance(part, torch.nn.Module):
            tensors += [it.detach() for it in part.parameters()]
            tensors += [it.detach() for it in part.buffers() if it.dtype == torch.float32]
        else:
            tensors.append(part.detach())
    tensors = [tensor for tensor in tensors if tensor.numel() > 0]
    loaded = [tensor.contiguous() for tensor in tensors]
    job.load_state(*loaded)
    for tensor, new in zip(tensors, loaded):
        if new is not tensor:
            tensor.copy_(new)


def _elastic(worker: Optional[ElasticWorker]) -> ElasticWorker:
    job = _default.worker() if worker is None else worker
    if not isinstance(job, ElasticWorker):
        raise Error(f"{job!r}: its workers stay; use DDP with inart.torch.all_reduce_hook, or the backend")
    return job
