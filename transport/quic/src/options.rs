//! Options of an endpoint.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use inart_tls::MutualTls;
use quinn::congestion::{BbrConfig, CubicConfig};
use quinn::{AckFrequencyConfig, IdleTimeout, TransportConfig, VarInt};

use crate::congestion::{ACKNOWLEDGED_TOGETHER, DeliveryRateConfig};

/// Silence after which a peer counts as disconnected.
const IDLE: Duration = Duration::from_secs(5);
/// Interval of probes of a silent connection.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// Messages in flight in one direction of a connection.
const STREAMS: u32 = 4096;
/// Bytes in flight of one message, and of all messages of a connection.
const STREAM_WINDOW: u32 = 8 << 20;
const WINDOW: u32 = 16 << 20;

/// Priority of messages that overtake all others: control messages.
pub const URGENT: i32 = i32::MAX;
/// Urgent messages that may be in flight to one peer. A peer that takes none is sent no more.
pub(crate) const MOST_URGENT: usize = 256;

/// Congestion control of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Congestion {
    /// CUBIC (RFC 9438).
    #[default]
    Cubic,
    /// BBR: goes on at the rate of the bottleneck where packets are lost for other reasons than queues.
    Bbr,
    /// By the rate of delivery, as BBR does, with a window of little more than the path holds: goes on at the
    /// rate of the bottleneck where packets are lost for other reasons than queues, and keeps queues short.
    DeliveryRate,
}

impl Congestion {
    /// Names on command lines.
    pub const NAMES: [&str; 3] = ["delivery-rate", "cubic", "bbr"];
}

impl FromStr for Congestion {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "delivery-rate" => Ok(Congestion::DeliveryRate),
            "cubic" => Ok(Congestion::Cubic),
            "bbr" => Ok(Congestion::Bbr),
            other => Err(format!("{other} is not one of {}", Self::NAMES.join(", "))),
        }
    }
}

/// Options of an endpoint.
#[derive(Debug, Clone)]
pub struct Options {
    /// Listen address, by UDP.
    pub listen: SocketAddr,
    /// Identity and trusted authority, for the protocol [`PROTOCOL`](crate::PROTOCOL).
    pub tls: MutualTls,
    /// Name: one of the DNS names of its certificate.
    pub name: String,
    /// Peers by name. Of two peers the one whose name is less connects.
    pub peers: BTreeMap<String, SocketAddr>,
    /// The longest message, in bytes.
    pub most_bytes: u64,
    /// Bytes of messages of one peer that are not whole, and of whole messages that wait for the consumer:
    /// each at most this, and one message more. Messages above the first limit are refused; above the second
    /// one nothing is read, and peers are slowed down.
    pub held_bytes: u64,
    /// Congestion control of connections.
    pub congestion: Congestion,
    /// Events that wait for their consumer; when there are more, peers are slowed down.
    pub events: usize,
}

impl Options {
    /// With messages of at most 64 MiB, 256 MiB of unfinished messages, CUBIC, and 256 waiting events.
    pub fn new(
        listen: SocketAddr,
        tls: MutualTls,
        name: impl Into<String>,
        peers: BTreeMap<String, SocketAddr>,
    ) -> Self {
        let congestion = Congestion::default();
        Options {
            listen,
            tls,
            name: name.into(),
            peers,
            most_bytes: 64 << 20,
            held_bytes: 256 << 20,
            congestion,
            events: 256,
        }
    }

    pub(crate) fn transport(&self) -> Arc<TransportConfig> {
        let mut transport = TransportConfig::default();
        transport
            .max_idle_timeout(Some(IdleTimeout::try_from(IDLE).unwrap_or_else(|_| VarInt::MAX.into())))
            .keep_alive_interval(Some(KEEP_ALIVE))
            .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS))
            .max_concurrent_uni_streams(VarInt::from_u32(0))
            .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
            .receive_window(VarInt::from_u32(WINDOW))
            .send_window(WINDOW.into());
        match self.congestion {
            Congestion::Cubic => transport.congestion_controller_factory(Arc::new(CubicConfig::default())),
            Congestion::Bbr => transport.congestion_controller_factory(Arc::new(BbrConfig::default())),
            Congestion::DeliveryRate => {
                let mut acknowledgements = AckFrequencyConfig::default();
                acknowledgements.ack_eliciting_threshold(VarInt::from_u32(ACKNOWLEDGED_TOGETHER - 1));
                transport
                    .ack_frequency_config(Some(acknowledgements))
                    .congestion_controller_factory(Arc::new(DeliveryRateConfig))
            }
        };
        Arc::new(transport)
    }
}
