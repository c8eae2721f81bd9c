//! Opens transports from settings.

use inart_connections::{Names, Transport};

use crate::error::HostError;
use crate::options::HostOptions;

/// Longest message: a chunk has 16 KiB and a header, and hellos are shorter than this.
const MOST_BYTES: u64 = 1 << 20;

/// Rates to others, in bit/s. Frames are paced one by one, including retransmissions; where a transport has
/// congestion control of its own, as QUIC has, the agent paces chunks.
#[derive(Debug, PartialEq)]
pub(crate) struct Paced {
    /// Rates of packets, for the agent.
    pub by_agent: Vec<Option<f64>>,
    /// Rates of frames, for the transport.
    pub by_transport: Vec<Option<f64>>,
}

impl Paced {
    pub fn by(options: &HostOptions, rates_bps: Vec<Option<f64>>) -> Self {
        let none = vec![None; rates_bps.len()];
        match options {
            HostOptions::Quic(_) => Paced { by_agent: rates_bps, by_transport: none },
            HostOptions::Frames(_) => Paced { by_agent: none, by_transport: rates_bps },
        }
    }
}

/// Starts to connect to all of `names`. Must be called within a tokio runtime. `place`: that of a worker;
/// `None` for the server. `rates_bps`: by number, the rate at which the transport sends frames.
///
/// # Errors
/// The system refuses an address or an interface; a name has no address.
pub(crate) fn open(
    names: &Names,
    place: Option<u32>,
    rates_bps: &[Option<f64>],
    options: HostOptions,
) -> Result<Transport, HostError> {
    let options = match options {
        HostOptions::Quic(options) => *options,
        HostOptions::Frames(options) => return Ok(Transport::frames(names, place, rates_bps, &options)?),
    };
    if let Some(lacking) = names.all.iter().find(|other| !options.peers.contains_key(*other)) {
        let (name, form) = (lacking.clone(), "HOST:PORT");
        return Err(inart_connections::Error::NoAddress { name, form }.into());
    }
    let quic = inart_connections::QuicOptions {
        listen: options.listen,
        tls: options.tls,
        peers: options.peers,
        congestion: options.congestion,
        most_bytes: MOST_BYTES,
        held_bytes: None,
        sample: None,
    };
    Ok(Transport::quic(names, quic)?)
}
