"""Training in elastic jobs, without DDP: its groups cannot change while they run."""

from __future__ import annotations

from typing import Iterable, Iterator, Optional, Union

import torch

from .. import _default
from .._elastic import ElasticWorker
from .._errors import Error, TensorError
from .._floats import Label

State = Union[torch.nn.Module, torch.Tensor]


def all_reduce_gradients(
    model: torch.nn.Module, worker: Optional[ElasticWorker] = None, label: Label = None
) -> None:
    """Replaces the model's gradients by their means over all workers of the view: one sum per round.

    Call it between ``backward()`` and the optimizer's step. A parameter without a gradient counts as zeros.

    Args:
        model: with float32 parameters on the CPU.
        worker: the worker, or the default one (``inart.init``).
        label: names the round, for example by its number; as for ``Worker.start``.

    Raises:
        MembershipChanged: the set of workers changed; the gradients are unchanged. Call :func:`load_state`, then
            restart the round.
        TensorError: a parameter is not float32, or not on the CPU; a gradient is sparse; or the model has no
            parameter.
    """
    job = _elastic(worker)
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not parameters:
        raise TensorError("no parameter of the model requires a gradient: there is nothing to sum")
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        if parameter.dtype != torch.float32 or parameter.device.type != "cpu":
            raise TensorError(
                f"parameter {name} is of {parameter.dtype} on {parameter.device}; only float32 on the CPU is summed"
            )
        if parameter.grad is not None and parameter.grad.layout != torch.strided:
            raise TensorError(
                f"the gradient of parameter {name} has layout {parameter.grad.layout}: make its layer with sparse=False"
            )
    gradients = [torch.zeros_like(it) if it.grad is None else it.grad for it in parameters]
    total = torch.cat([gradient.detach().reshape(-1) for gradient in gradients])
    job.all_reduce(total, label)
    total /= job.world_size
    for parameter, mean in zip(parameters, total.split([it.numel() for it in parameters])):
        parameter.grad = mean.view_as(parameter)


def load_state(*state: State, worker: Optional[ElasticWorker] = None) -> None:
    """Replaces models and tensors by those of the worker with the newest state, bit for bit.

    All workers call it with the same arguments: at the start, and after ``inart.MembershipChanged``. An optimizer's
    tensors are given one by one; the optimizer must have created them before, at all workers.

    Args:
        state: models, of which all parameters and buffers are loaded, and tensors of any type, on the CPU.
        worker: the worker, or the default one (``inart.init``).

    Raises:
        TensorError: a tensor is on another device, or not strided; or the newest state has other tensors. Nothing was
            loaded.
    """
    job = _elastic(worker)
    tensors = [(name, _distinct(tensor)) for name, tensor in _named(state) if tensor.numel() > 0]
    for name, tensor in tensors:
        if tensor.device.type != "cpu" or tensor.layout != torch.strided or tensor.is_quantized:
            raise TensorError(
                f"{name} is {tensor.dtype} on {tensor.device}, {tensor.layout}: only dense tensors on the CPU are loaded"
            )
    words = [_words(tensor) for _, tensor in tensors]
    job._load(words, [(name, str(tensor.dtype), tuple(tensor.shape)) for name, tensor in tensors])
    for (_, tensor), new in zip(tensors, words):
        if new.data_ptr() != tensor.data_ptr():
            octets = new.view(torch.uint8)[: tensor.numel() * tensor.element_size()]
            # Tensors that were made in inference mode may be written in inference mode only.
            with torch.inference_mode(tensor.is_inference()):
                tensor.copy_(octets.view(tensor.dtype).view(tensor.shape))


def _named(state: Iterable[State]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields all tensors with names for messages."""
    for place, part in enumerate(state):
        if isinstance(part, torch.nn.Module):
            named = [*part.named_parameters(), *part.named_buffers()]
            yield from ((f"{name} of {type(part).__name__}", tensor.detach()) for name, tensor in named)
        else:
            yield f"tensor {place}", part.detach()


def _distinct(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a view of a tensor in which each element has memory of its own, as those of ``expand()`` have not."""
    if tensor.layout == torch.strided and not tensor.is_quantized:
        for dimension, (size, stride) in enumerate(zip(tensor.size(), tensor.stride())):
            if size > 1 and stride == 0:
                tensor = tensor.narrow(dimension, 0, 1)
    return tensor


def _words(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the bits of a tensor as float32: the tensor itself if it is one, else a copy filled up with zeros."""
    if tensor.dtype == torch.float32 and not tensor.is_neg():
        return tensor.contiguous().view(-1)
    octets = tensor.resolve_neg().resolve_conj().contiguous().view(-1).view(torch.uint8)
    words = torch.zeros(-(-octets.numel() // 4) * 4, dtype=torch.uint8)
    words[: octets.numel()] = octets
    return words.view(torch.float32)


def _elastic(worker: Optional[ElasticWorker]) -> ElasticWorker:
    job = _default.worker() if worker is None else worker
    if not isinstance(job, ElasticWorker):
        raise Error(f"{job!r}: its workers stay; use DDP with inart.torch.all_reduce_hook, or the backend")
    return job
