"""The memory of arrays and tensors."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Callable, Union

from ._errors import TensorError

#: A program's label of a sum, the same at all workers.
Label = Union[str, int, None]

#: Address of the first float, number of floats, and owner of the memory.
Floats = tuple[int, int, Any]

#: Names of float32 in this machine's byte order, as `memoryview` reports them.
_FORMATS = ("f", "@f", "=f", "<f" if sys.byteorder == "little" else ">f")


def floats_of(x: Any) -> Floats:
    """Returns the memory of ``x``: a CPU tensor, a NumPy array, or another writable buffer of C floats.

    Raises:
        TensorError: ``x`` is not float32, not contiguous, not aligned, not writable, not on the CPU, masked, empty, or
            has no memory.
    """
    address, length, owner = _of_tensor(x) if _is_tensor(x) else _of_buffer(x)
    if length == 0:
        raise TensorError("the array is empty: there is nothing to sum")
    if address % 4:
        fix = "x.clone()" if isinstance(owner, TensorMemory) else "x.copy()"
        raise TensorError(f"the array's memory is not aligned for floats (address 0x{address:x}): sum {fix}")
    return address, length, owner


def label_of(x: Any, label: Label = None, *properties: str) -> str:
    """Returns the label that workers compare for a sum: the program's label, the properties, and the shape of ``x`` if
    more than one dimension has more than one value.

    Raises:
        TypeError: the label is neither a string nor a number.
    """
    if label is not None and (isinstance(label, bool) or not isinstance(label, (str, int))):
        raise TypeError(f"label is {label!r}: give a string or a whole number that is the same at all workers")
    shape = [size for size in getattr(x, "shape", ()) if size != 1]
    dimensions = [f"shape {'x'.join(map(str, shape))}"] if len(shape) > 1 else []
    return ", ".join([*([] if label is None else [str(label)]), *properties, *dimensions])


class TensorMemory:
    """The memory of a tensor. PyTorch can free it while the tensor exists: ``resize_``, ``set_`` and FSDP do.

    Raises:
        TensorError: the tensor has no memory, or its storage was freed or made smaller.
    """

    def __init__(self, tensor: Any) -> None:
        try:
            storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()._storage
            #: Address of the first element, which is in memory as all others are.
            self.address: int = tensor.data_ptr()
            there: int = storage.nbytes()
        except (RuntimeError, NotImplementedError) as error:
            why = str(error).splitlines()[0]
            raise TensorError(f"the tensor has no memory ({why}): sum a tensor with data") from None
        last = sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride()))
        needed = (tensor.storage_offset() + last + 1) * tensor.element_size() if tensor.numel() else 0
        if there < needed:
            raise TensorError(f"the tensor needs {needed} bytes of memory and has {there}: sum a tensor with data")
        if needed and self.address == 0:
            raise TensorError("the tensor has no memory, such as a fake one: sum a tensor with data")
        #: Methods with their expected results while the memory is valid. All are implemented in C: the extension
        #: module calls
        #: #: them before it writes a sum, and no signal handler must run then.
        self.checks: list[tuple[Callable[[], int], int]] = [
            (storage.data_ptr, storage.data_ptr()),
            (storage.nbytes, there),
        ]
        if type(tensor).__module__ in ("torch", "torch.nn.parameter"):
            self.checks.append((tensor.data_ptr, self.address))

    def is_there(self) -> bool:
        """Whether the tensor still has that memory."""
        return all(check() == right for check, right in self.checks)


def _is_tensor(x: Any) -> bool:
    return callable(getattr(x, "data_ptr", None)) and hasattr(x, "is_contiguous")


def _of_tensor(x: Any) -> Floats:
    if str(x.layout) != "torch.strided":
        raise TensorError(f"the tensor has layout {x.layout}: sum x.to_dense()")
    if x.device.type != "cpu":
        raise TensorError(f"the tensor is on {x.device}: sum x.cpu() and copy the sum back")
    if str(x.dtype) != "torch.float32":
        raise TensorError(f"the tensor is of {x.dtype}, only torch.float32 is summed: sum x.float()")
    if not x.is_contiguous():
        raise TensorError("the tensor is not contiguous: sum x.contiguous()")
    if x.is_neg():
        raise TensorError("the tensor's memory holds its values with the other sign: sum x.resolve_neg()")
    memory = TensorMemory(x)
    return memory.address, x.numel(), memory


def _of_buffer(x: Any) -> Floats:
    if "MaskedArray" in (kind.__name__ for kind in type(x).__mro__):
        raise TensorError("the array has a mask, which would not be summed: sum x.filled(0)")
    try:
        view = memoryview(x)
    except TypeError:
        raise TensorError(
            f"{type(x).__name__} has no floats in memory: give a NumPy array or a CPU tensor of float32"
        ) from None
    except (ValueError, BufferError) as error:
        raise TensorError(f"the array's memory cannot be used: {error}") from None
    if view.format not in _FORMATS:
        kind = getattr(x, "dtype", view.format)
        raise TensorError(f"the array is of {kind}, only float32 is summed: sum x.astype('float32')")
    if not view.c_contiguous:
        raise TensorError("the array is not contiguous in C order: sum numpy.ascontiguousarray(x)")
    if view.readonly:
        raise TensorError("the array is read-only, and its sum replaces it: sum a copy")
    if view.nbytes == 0:
        return 0, 0, view
    # Holds the buffer, so that its memory is neither freed nor moved during the sum.
    memory = (ctypes.c_char * view.nbytes).from_buffer(view)
    return ctypes.addressof(memory), view.nbytes // 4, memory
