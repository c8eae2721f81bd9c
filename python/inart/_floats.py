"""The memory of arrays and tensors."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from ._errors import TensorError

#: Address of the first float, how many there are, and whose memory it is.
Floats = tuple[int, int, Any]

#: What `memoryview` calls float32 in this machine's byte order.
_FORMATS = ("f", "@f", "=f", "<f" if sys.byteorder == "little" else ">f")


def floats_of(x: Any) -> Floats:
    """The memory of ``x``: a CPU tensor, a NumPy array, or another writable buffer of C floats.

    Raises:
        TensorError: it is not float32, not contiguous, not aligned, not writable, not on the CPU, or empty.
    """
    floats = _of_tensor(x) if _is_tensor(x) else _of_buffer(x)
    if floats[1] == 0:
        raise TensorError("the array is empty: there is nothing to sum")
    return floats


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
    return x.data_ptr(), x.numel(), x


def _of_buffer(x: Any) -> Floats:
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
    # Holds the buffer, so that it is neither freed nor moved while it is summed.
    memory = (ctypes.c_char * view.nbytes).from_buffer(view)
    address = ctypes.addressof(memory)
    if address % 4:
        raise TensorError(f"the array's memory is not aligned for floats (address 0x{address:x}): sum x.copy()")
    return address, view.nbytes // 4, memory
