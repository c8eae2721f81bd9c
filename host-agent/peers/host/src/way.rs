//! How a peer reaches the others.

use std::time::Instant;

use crate::error::HostError;
use crate::frames::Frames;

/// How a peer reaches the others.
pub(crate) enum Way {
    /// By a connection to each: its host makes the copies.
    Connections,
    /// By frames on an interface, which switches copy.
    Frames(Box<Frames>),
}

impl Way {
    /// Waits until frames are there; for ever where there are none.
    pub async fn readable(&self) -> std::io::Result<()> {
        match self {
            Way::Connections => std::future::pending().await,
            Way::Frames(frames) => frames.readable().await,
        }
    }

    /// Waits until then.
    pub async fn sleep_until(&self, at: Instant) -> std::io::Result<()> {
        match self {
            Way::Connections => {
                tokio::time::sleep_until(at.into()).await;
                Ok(())
            }
            Way::Frames(frames) => frames.sleep_until(at).await,
        }
    }

    /// What the system refuses of a wait.
    pub fn refused(source: std::io::Error) -> HostError {
        HostError::Interface(inart_ethernet::PortError::System { name: "a wait".to_owned(), source })
    }
}
