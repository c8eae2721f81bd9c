//! Why there is no AF_XDP socket.

use std::error::Error;
use std::fmt::{Display, Formatter, Result};
use std::io;

/// What the kernel refused, and what it says.
#[derive(Debug)]
pub struct XdpError {
    step: &'static str,
    source: io::Error,
}

impl XdpError {
    /// The error of a step: "attaching its program".
    pub(crate) fn of(step: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { step, source }
    }

    /// Whether this process lacks a privilege.
    pub fn is_permission(&self) -> bool {
        self.source.kind() == io::ErrorKind::PermissionDenied
    }

    /// Whether there is a program on the interface already, or a socket at its queue.
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
