//! Chunks and messages as INART frames, which switches copy.

use inart_wire::{
    ChunkSeq, Contributors, Exponent, Flags, Frame, FrameRepr, HeaderRepr, Kind, MacAddr, Rank, ShardId,
    ValuesPerFrame, WireError,
};

use crate::members::Members;
use crate::message::Message;
use crate::sender::Transmission;
use crate::update::Cut;

/// Sequence of a notice in a frame of kind update: updates have fewer chunks.
const NOTICE: u32 = u32::MAX;

/// Writes the frames of one peer.
#[derive(Debug, Clone)]
pub struct FrameWriter {
    /// Ethernet address of the peer.
    pub source: MacAddr,
    /// Multicast address of the job.
    pub everybody: MacAddr,
    /// Values per frame.
    pub values_per_frame: ValuesPerFrame,
    values: Vec<i32>,
}

/// Content of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameContent<W> {
    /// Chunk for this peer.
    Chunk {
        /// Sender.
        from: Rank,
        /// Lower 16 bits of the round.
        round: u16,
        /// Number of the chunk.
        chunk: u32,
        /// Whether the frame left a long queue in a switch.
        is_marked: bool,
        /// Words of the chunk.
        words: W,
    },
    /// Message to this peer.
    Message {
        /// Sender.
        from: Rank,
        /// Message.
        message: Message,
    },
    /// Short notice to several peers, which may be lost.
    Notice {
        /// Sender.
        from: Rank,
        /// Words, in a format of the owner.
        words: W,
    },
}

impl FrameWriter {
    /// Creates a writer of frames from `source`, with chunks to the job's multicast address.
    pub fn new(source: MacAddr, everybody: MacAddr, values_per_frame: ValuesPerFrame) -> Self {
        FrameWriter { source, everybody, values_per_frame, values: Vec::new() }
    }

    /// Writes the frame of a chunk for the receivers of one block, its contributors. Returns the frame's
    /// length. `words`: the complete update.
    ///
    /// # Errors
    /// The buffer is too short, or the chunk has more words than a frame holds.
    pub fn chunk(
        &mut self,
        members: &Members,
        sent: &Transmission,
        block: Contributors,
        words: &[u32],
        cut: Cut,
        buffer: &mut [u8],
    ) -> Result<usize, WireError> {
        let chunk = words.get(cut.range(sent.chunk)).unwrap_or_default();
        self.values.clear();
        self.values.extend(chunk.iter().map(|&word| word as i32));
        let flags = Flags::NONE.with_if(Flags::RESEND, sent.is_repair);
        let flags = flags.with_if(Flags::LAST, cut.is_last(sent.chunk));
        let header = HeaderRepr {
            kind: Kind::Update,
            flags,
            shard: ShardId::from(sent.round as u16),
            sequence: ChunkSeq::from(sent.chunk),
            contributors: block,
            length: self.values.len() as u16,
            ..self.header(members)
        };
        self.emit(self.everybody, header, buffer)
    }

    /// Writes the frame of a notice for the receivers of one block. Returns the frame's length.
    ///
    /// # Errors
    /// The buffer is too short, or there are more words than a frame holds.
    pub fn notice(
        &mut self,
        members: &Members,
        block: Contributors,
        words: &[u32],
        buffer: &mut [u8],
    ) -> Result<usize, WireError> {
        self.values.clear();
        self.values.extend(words.iter().map(|&word| word as i32));
        let (sequence, length) = (ChunkSeq::from(NOTICE), self.values.len() as u16);
        let header =
            HeaderRepr { kind: Kind::Update, sequence, contributors: block, length, ..self.header(members) };
        self.emit(self.everybody, header, buffer)
    }

    /// Writes the frame of a message to one peer, whose address is `to_address`. Returns the frame's length.
    ///
    /// # Errors
    /// The buffer is too short, or the message has more words than a frame holds: [`Message::ranges_within`]
    /// returns how many ranges fit.
    pub fn message(
        &mut self,
        members: &Members,
        to: Rank,
        to_address: MacAddr,
        message: &Message,
        buffer: &mut [u8],
    ) -> Result<usize, WireError> {
        let words = message.words(&members.envelope(to));
        self.values.clear();
        self.values.extend(words.into_iter().map(|word| word as i32));
        let length = self.values.len() as u16;
        let header = HeaderRepr { kind: Kind::Control, length, ..self.header(members) };
        self.emit(to_address, header, buffer)
    }

    fn header(&self, members: &Members) -> HeaderRepr {
        let me = members.me();
        HeaderRepr {
            kind: Kind::Control,
            flags: Flags::NONE,
            plan_version: members.plan_version(),
            job: members.job(),
            shard: ShardId::from(0),
            worker: me.bitmap_index(),
            sequence: ChunkSeq::from(0),
            contributors: Contributors::default(),
            exponent: Exponent::from(0),
            length: 0,
            incarnation: members.incarnation(me),
        }
    }

    fn emit(&self, destination: MacAddr, header: HeaderRepr, buffer: &mut [u8]) -> Result<usize, WireError> {
        let (source, values_per_frame) = (self.source, self.values_per_frame);
        FrameRepr { destination, source, values_per_frame, header }.emit(&self.values, buffer)
    }
}

/// Reads a frame. `None` if it is invalid, not for this peer, or from a process outside the job; counted in
/// `members`.
pub fn read_frame<'a>(
    members: &mut Members,
    bytes: &'a [u8],
) -> Option<FrameContent<impl ExactSizeIterator<Item = u32> + use<'a>>> {
    let Some((frame, header)) = parse(bytes) else {
        members.refuse_malformed();
        return None;
    };
    if !members.admits_job(header.job, header.plan_version) {
        return None;
    }
    let from = Rank::try_from(header.worker.get()).ok()?;
    if header.kind == Kind::Update {
        if !members.admits(from, header.incarnation) {
            return None;
        }
        if !header.contributors.contains(members.me().bitmap_index()) {
            members.refuse_not_mine();
            return None;
        }
        let length = usize::from(header.length);
        let (round, chunk) = (header.shard.get(), header.sequence.get());
        let words = values(bytes).take(length);
        if chunk == NOTICE {
            return Some(FrameContent::Notice { from, words });
        }
        let is_marked = header.flags.contains(Flags::CONGESTION);
        return Some(FrameContent::Chunk { from, round, chunk, is_marked, words });
    }
    let words: Vec<u32> = frame.values().take(header.length.into()).map(|word| word as u32).collect();
    match Message::parse(&words) {
        Some((between, message)) if between.from == from && between.incarnation == header.incarnation => {
            members.admits_message(&between).then_some(FrameContent::Message { from, message })
        }
        _ => {
            members.refuse_malformed();
            None
        }
    }
}

/// Parses a valid frame of a kind that peers send.
fn parse(bytes: &[u8]) -> Option<(Frame<&[u8]>, HeaderRepr)> {
    let frame = Frame::new_checked(bytes).ok()?;
    let header = HeaderRepr::parse(&frame).ok()?;
    matches!(header.kind, Kind::Update | Kind::Control).then_some((frame, header))
}

fn values(bytes: &[u8]) -> impl ExactSizeIterator<Item = u32> {
    let (lanes, _) =
        bytes.get(inart_wire::ETHERNET_BYTES + inart_wire::HEADER_BYTES..).unwrap_or_default().as_chunks();
    lanes.iter().map(|lane| u32::from_be_bytes(*lane))
}
