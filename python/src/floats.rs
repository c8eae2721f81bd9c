//! Memory of an array that Python code owns.

use std::mem;

use pyo3::prelude::*;

use crate::errors::Trouble;

/// Floats in the memory of a Python object, which is kept for as long.
pub(crate) struct Floats {
    address: *mut f32,
    length: usize,
    /// Owner of the memory.
    owner: Py<PyAny>,
    /// Not used yet: the memory was there when this was made, a moment ago.
    is_new: bool,
    /// Receives a sum whose memory has been freed or moved.
    lost: Option<Vec<f32>>,
}

// SAFETY: the memory is plain data, and the owner is only ever dropped, or used with the interpreter's lock.
unsafe impl Send for Floats {}

impl Floats {
    /// Creates a view of `length` floats at `address`.
    ///
    /// # Safety
    /// The floats exist, aligned and writable, for as long as `owner` exists and its `checks`, if any, hold;
    /// and no other code uses them. This module cannot see how Python code uses an array during a sum: the
    /// documentation of `Worker.start` forbids such use, as those of MPI and Gloo do.
    pub(crate) unsafe fn new(address: usize, length: usize, owner: Py<PyAny>) -> Self {
        Self { address: address as *mut f32, length, owner, is_new: true, lost: None }
    }

    /// Returns whether the memory is still the owner's. A buffer's is; PyTorch may free that of a tensor.
    fn is_there(&self) -> bool {
        let asked = Python::try_attach(|py| -> PyResult<bool> {
            let Some(checks) = self.owner.bind(py).getattr_opt("checks")? else { return Ok(true) };
            for (check, right) in checks.extract::<Vec<(Bound<'_, PyAny>, usize)>>()? {
                if check.call0()?.extract::<usize>()? != right {
                    return Ok(false);
                }
            }
            Ok(true)
        });
        // An interpreter that ends frees its own objects.
        asked.and_then(Result::ok).unwrap_or(false)
    }

    /// Checks that all sums were written.
    ///
    /// # Errors
    /// Error of memory that was freed or moved before its sum was ready.
    pub(crate) fn check_written(&self) -> Result<(), Trouble> {
        match self.lost {
            None => Ok(()),
            Some(_) => Err(Trouble::new(
                "TensorError",
                "the tensor's memory was freed or moved while it was summed: leave the tensor alone until the sum was \
                 waited for",
            )),
        }
    }
}

impl AsMut<[f32]> for Floats {
    fn as_mut(&mut self) -> &mut [f32] {
        if mem::take(&mut self.is_new) || self.lost.is_none() && self.is_there() {
            // SAFETY: as `new` demands.
            return unsafe { std::slice::from_raw_parts_mut(self.address, self.length) };
        }
        let length = self.length;
        self.lost.get_or_insert_with(|| vec![0.0; length])
    }
}
