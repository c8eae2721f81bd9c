//! Kinds of port on an interface, for programs whose users choose one.

use crate::batched_port::BatchedPort;
use crate::port::Port;
use crate::port_error::PortError;
use crate::transport::Transport;
#[cfg(feature = "xdp")]
use crate::xdp_port::XdpPort;

/// Method of sending and receiving on an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortKind {
    /// [`Port`].
    Pnet,
    /// [`BatchedPort`].
    #[default]
    Batched,
    /// [`XdpPort`].
    #[cfg(feature = "xdp")]
    Xdp,
}

impl PortKind {
    /// Every kind that was built.
    pub const ALL: &[Self] = &[
        Self::Pnet,
        Self::Batched,
        #[cfg(feature = "xdp")]
        Self::Xdp,
    ];

    /// Returns the name, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pnet => "pnet",
            Self::Batched => "batched",
            #[cfg(feature = "xdp")]
            Self::Xdp => "xdp",
        }
    }

    /// Opens the interface of that name.
    ///
    /// # Errors
    /// As the port's own `open`.
    pub fn open(self, interface: &str) -> Result<Box<dyn Transport>, PortError> {
        Ok(match self {
            Self::Pnet => Box::new(Port::open(interface)?),
            Self::Batched => Box::new(BatchedPort::open(interface)?),
            #[cfg(feature = "xdp")]
            Self::Xdp => Box::new(XdpPort::open(interface)?),
        })
    }
}
