//! Connections of gRPC clients: the one place where their transport is chosen.

use std::pin::Pin;
use std::time::Duration;

use crate::{EndpointError, Security, endpoint, innermost};
use tonic::transport::Channel;

/// Why there is no connection.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ChannelError {
    /// The address cannot be understood, or not be reached the way that was asked for.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// Nothing answers there.
    #[error("nothing answers at {address} ({reason})")]
    Connect {
        /// The address.
        address: String,
        /// What the system said.
        reason: String,
    },
}

/// A peer that does not answer a ping for this long is gone, whatever its sockets say: a stopped process
/// keeps them.
const KEEPALIVE: Duration = Duration::from_secs(2);

/// Details of a failed batch travel in HTTP/2 trailers; the usual 16 KiB hold about a hundred of them.
const MAX_HEADERS_BYTES: u32 = 16 << 20;

/// A connection under way. Boxed, so that the transport below is compiled with this crate, and not again with
/// each that connects.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Channel, ChannelError>> + Send + 'a>>;

/// Connects to `host:port`, the same after a scheme, or `unix:/path` within `timeout`.
///
/// # Errors
/// [`ChannelError`] for an address that cannot be used, or if nothing answers there in time.
pub fn connect_channel<'a>(address: &'a str, security: &'a Security, timeout: Duration) -> Connecting<'a> {
    Box::pin(connect(address, security, timeout))
}

async fn connect(address: &str, security: &Security, timeout: Duration) -> Result<Channel, ChannelError> {
    let endpoint = endpoint(address, security)?
        .connect_timeout(timeout)
        .http2_keep_alive_interval(KEEPALIVE)
        .keep_alive_timeout(KEEPALIVE)
        .keep_alive_while_idle(true)
        .tcp_nodelay(true)
        .http2_max_header_list_size(MAX_HEADERS_BYTES);
    let connected = endpoint.connect().await;
    connected
        .map_err(|error| ChannelError::Connect { address: address.to_owned(), reason: innermost(&error) })
}
