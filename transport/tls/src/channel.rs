//! Connections of gRPC clients: the one place where their transport is chosen.

use std::pin::Pin;
use std::time::Duration;

use crate::{EndpointError, Security, TlsFailure, endpoint, failure_at, innermost};
use tonic::transport::{Channel, Endpoint};

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
        /// Error of the operating system.
        reason: String,
    },
    /// A server answers, and the two sides do not agree on TLS.
    #[error("a server answers at {address}, but {failure}")]
    Tls {
        /// The address.
        address: String,
        /// The disagreement.
        failure: TlsFailure,
    },
}

/// A server of this workspace that does not answer a ping for this long is gone, whatever its sockets say: a
/// stopped process keeps them.
const KEEPALIVE: Duration = Duration::from_secs(2);

/// Silence before TCP asks whether the other machine is there, time between two such questions, and how many
/// of them may stay without an answer.
const TCP_KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(5), Duration::from_secs(2), 3);

/// Details of a failed batch travel in HTTP/2 trailers; the usual 16 KiB hold about a hundred of them.
const MAX_HEADERS_BYTES: u32 = 16 << 20;

/// A connection under way. Boxed, so that the transport below is compiled with this crate, and not again with
/// each that connects.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Channel, ChannelError>> + Send + 'a>>;

/// Connects to `host:port`, the same after a scheme, or `unix:/path` within `timeout`. TCP's own keep-alives
/// find machines and networks that are gone; whether a process still answers is for the caller to ask.
/// Never pings: gRPC's C core, of which many switches' servers are made, ends a connection with its third
/// ping without data within five minutes (`too_many_pings`).
///
/// # Errors
/// [`ChannelError`] for an address that cannot be used, if nothing answers there in time, or if TLS fails.
pub fn connect_channel<'a>(address: &'a str, security: &'a Security, timeout: Duration) -> Connecting<'a> {
    Box::pin(connect(address, security, timeout, false))
}

/// Connects to a server of this workspace, which may be pinged every two seconds.
///
/// # Errors
/// As [`connect_channel`].
pub fn connect_with_pings<'a>(address: &'a str, security: &'a Security, timeout: Duration) -> Connecting<'a> {
    Box::pin(connect(address, security, timeout, true))
}

async fn connect(
    address: &str,
    security: &Security,
    timeout: Duration,
    pings: bool,
) -> Result<Channel, ChannelError> {
    let (idle, interval, retries) = TCP_KEEPALIVE;
    let endpoint = endpoint(address, security)?
        .connect_timeout(timeout)
        .tcp_nodelay(true)
        .tcp_keepalive(Some(idle))
        .tcp_keepalive_interval(Some(interval))
        .tcp_keepalive_retries(Some(retries))
        .http2_max_header_list_size(MAX_HEADERS_BYTES);
    let endpoint = if pings { pinging(endpoint) } else { endpoint };
    let error = match endpoint.connect().await {
        Ok(channel) => return Ok(channel),
        Err(error) => error,
    };
    let address = address.to_owned();
    Err(match failure_at(&address, security, TlsFailure::of(&error)).await {
        Some(failure) => ChannelError::Tls { address, failure },
        None => ChannelError::Connect { address, reason: innermost(&error) },
    })
}

fn pinging(endpoint: Endpoint) -> Endpoint {
    let endpoint = endpoint.http2_keep_alive_interval(KEEPALIVE).keep_alive_timeout(KEEPALIVE);
    endpoint.keep_alive_while_idle(true)
}
