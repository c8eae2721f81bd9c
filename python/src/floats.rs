//! The memory of somebody else's array.

use pyo3::prelude::*;

/// Floats in the memory of a Python object, which is kept for as long.
pub(crate) struct Floats {
    address: *mut f32,
    length: usize,
    /// Whose memory it is.
    _owner: Py<PyAny>,
}

// SAFETY: the memory is plain data, and the owner is only ever dropped.
unsafe impl Send for Floats {}

impl Floats {
    /// `length` floats at `address`.
    ///
    /// # Safety
    /// There are as many, aligned and writable, for as long as `owner` exists, and nobody else uses them
    /// meanwhile. What Python code does to an array while it is being summed cannot be seen here: the
    /// documentation of `Worker.start` forbids it, as those of MPI and Gloo do.
    pub(crate) unsafe fn new(address: usize, length: usize, owner: Py<PyAny>) -> Self {
        Self { address: address as *mut f32, length, _owner: owner }
    }
}

impl AsMut<[f32]> for Floats {
    fn as_mut(&mut self) -> &mut [f32] {
        // SAFETY: as `new` demands.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.length) }
    }
}
