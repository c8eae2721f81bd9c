//! A peer's interface, where switches make the copies: its frames, and when it wakes up.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use inart_ethernet::{BatchedPort, PortError, Transport, Watch};
use inart_multicast::{FrameWriter, Members, Message, Receivers};
use inart_peer_agent::{Notice, Peer, Setup};
use inart_wire::{MacAddr, Rank, ValuesPerPacket};

/// Frames that are sent before something else gets its turn.
const MOST_FRAMES: usize = 256;

/// The interface by which a peer's frames leave and arrive, and where the others' are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its name, such as `eth0`.
    pub name: String,
    /// The Ethernet addresses of all peers, by rank, this one's with them.
    pub addresses: Vec<MacAddr>,
}

/// An interface in use.
pub(crate) struct Frames {
    port: BatchedPort,
    watch: Watch,
    writer: FrameWriter,
    addresses: Vec<MacAddr>,
}

impl Frames {
    /// Opens the interface, within a tokio runtime.
    ///
    /// # Errors
    /// An interface that there is not, that is down, whose MTU is too small, or that may not be opened.
    pub fn open(
        interface: &Interface,
        setup: &Setup,
        values_per_packet: ValuesPerPacket,
    ) -> Result<Self, PortError> {
        let refused = |source: io::Error| PortError::System { name: interface.name.clone(), source };
        let mut port = BatchedPort::open(&interface.name)?;
        port.prepare(values_per_packet.frame_bytes())?;
        let watch = Watch::new(port.as_fd()).map_err(refused)?;
        let own = interface.addresses.get(setup.me.index()).copied().unwrap_or(MacAddr([0; 6]));
        let writer = FrameWriter::new(own, MacAddr::results_of(setup.job), values_per_packet);
        let addresses = interface.addresses.clone();
        Ok(Self { port, watch, writer, addresses })
    }

    /// Waits until frames are there.
    pub async fn readable(&self) -> io::Result<()> {
        self.watch.readable().await
    }

    /// Waits until then.
    pub async fn sleep_until(&self, at: Instant) -> io::Result<()> {
        self.watch.sleep_until(at).await
    }

    /// Hands over the frames that are there, or many of them; the next call has the rest.
    ///
    /// # Errors
    /// The interface cannot be used any more.
    pub fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<(), PortError> {
        self.watch.take(|| self.port.receive(take))
    }

    /// Sends the chunks that may leave now, one frame for each block of receivers. `clock`: the machine's.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn send_chunks(&mut self, peer: &mut Peer, clock: &dyn Fn() -> Duration) -> Result<(), PortError> {
        let (writer, mut left) = (&mut self.writer, MOST_FRAMES);
        let mut blocks = VecDeque::new();
        self.port.transmit(&mut |buffer| {
            if blocks.is_empty() && left > 0 {
                let sent = peer.next_transmission(clock())?;
                left = left.saturating_sub(sent.to.blocks().len());
                blocks.extend(sent.to.blocks().map(|block| (sent.clone(), block)));
            }
            let (sent, block) = blocks.pop_front()?;
            let (words, cut) = peer.update();
            written(writer.chunk(peer.members(), &sent, block, &words, cut, buffer))
        })
    }

    /// Sends a message to one peer.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn send_message(&mut self, members: &Members, to: Rank, message: &Message) -> Result<(), PortError> {
        let Some(&address) = self.addresses.get(to.index()) else { return Ok(()) };
        let (writer, mut is_sent) = (&mut self.writer, false);
        self.port.transmit(&mut |buffer| {
            if std::mem::replace(&mut is_sent, true) {
                return None;
            }
            written(writer.message(members, to, address, message, buffer))
        })
    }

    /// Sends a notice, one frame for each block of receivers.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn notify(&mut self, members: &Members, to: &Receivers, notice: Notice) -> Result<(), PortError> {
        let (writer, mut blocks) = (&mut self.writer, to.blocks());
        self.port
            .transmit(&mut |buffer| written(writer.notice(members, blocks.next()?, &notice.words(), buffer)))
    }
}

/// The length of a frame. One that does not fit is none: the setup has chunks and messages that do.
fn written(length: Result<usize, inart_wire::WireError>) -> Option<usize> {
    length.inspect_err(|error| tracing::error!("a frame was not sent: {error}")).ok()
}
