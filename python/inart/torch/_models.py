"""DDP models by their parameters. The bucket that a communication hook gets has no reference to its model."""

from __future__ import annotations

import functools
import weakref
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

#: Models with a communication hook, and the ids of their parameters; the ids are valid as long as the parameters
#: exist.
_models: weakref.WeakKeyDictionary[DistributedDataParallel, frozenset[int]] = weakref.WeakKeyDictionary()


def models_of(parameter: torch.Tensor) -> list[DistributedDataParallel]:
    """Returns the models with a communication hook that have this parameter."""
    return [model for model, parameters in list(_models.items()) if id(parameter) in parameters]


def _note_models() -> None:
    """Has DDP note each model that registers a hook.

    A search among the collector's objects (``gc.get_objects``) would miss those of ``gc.freeze``, and would hold
    tensors that PyTorch is about to free.
    """
    register = DistributedDataParallel.register_comm_hook
    if hasattr(register, "_notes_models"):
        return

    @functools.wraps(register)
    def noting(self: DistributedDataParallel, *args: Any, **kwargs: Any) -> Any:
        registered = register(self, *args, **kwargs)
        _models[self] = frozenset(map(id, self.parameters()))
        return registered

    noting._notes_models = True  # type: ignore[attr-defined]
    DistributedDataParallel.register_comm_hook = noting


_note_models()
