//! Connections of gRPC clients: the one place where their transport is chosen.

use std::pin::Pin;
use std::time::Duration;

use crate::{EndpointError, Security, TlsFailure, endpoint, failure_at, innermost};
use tonic::transport::{Channel, Endpoint};

/// Reason that a connection failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ChannelError {
    /// Address that cannot be parsed, or not be reached with the requested security.
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

/// Time without an answer to a ping after which a server of this workspace counts as failed, whatever its
/// sockets show: a stopped process keeps them.
const KEEPALIVE: Duration = Duration::from_secs(2);

/// Silence before TCP probes the other machine, interval of the probes, and number of probes without an
/// answer.
const TCP_KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(5), Duration::from_secs(2), 3);

/// Details of a failed batch travel in HTTP/2 trailers; the usual 16 KiB hold about a hundred of them.
const MAX_HEADERS_BYTES: u32 = 16 << 20;

/// A connection attempt in progress. Boxed, so that the transport below is compiled with this crate, and not
/// again with each that connects.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Channel, ChannelError>> + Send + 'a>>;

/// Connects to `host:port`, with or without a scheme, or to `unix:/path`, within `timeout`. TCP's own
/// keep-alives detect failed machines and networks; the caller must check whether a process still answers.
/// Never pings: gRPC's C core, which many switches' servers use, ends a connection with its third ping
/// without data within five minutes (`too_many_pings`).
///
/// # Errors
/// Returns [`ChannelError`] for an address that cannot be used, if nothing answers there in time, or if TLS
/// fails.
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
