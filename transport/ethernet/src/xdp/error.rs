//! Reason that an AF_XDP socket cannot be opened.

use std::error::Error;
use std::fmt::{Display, Formatter, Result};
use std::io;

/// Refused operation, and the kernel's reason.
#[derive(Debug)]
pub struct XdpError {
    step: &'static str,
    source: io::Error,
}

impl XdpError {
    /// Returns the error of a step: "attaching its program".
    pub(crate) fn of(step: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { step, source }
    }

    /// Returns whether this process lacks a privilege.
    pub fn is_permission(&self) -> bool {
        self.source.kind() == io::ErrorKind::PermissionDenied
    }

    /// Returns whether there is a program on the interface already, or a socket at its queue.
    pub fn is_taken(&self) -> bool {
        matches!(self.source.raw_os_error(), Some(libc::EBUSY | libc::EEXIST))
    }
}

impl Display for XdpError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        write!(formatter, "{}: {}", self.step, self.source)
    }
}

impl Error for XdpError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}
