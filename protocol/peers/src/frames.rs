//! Chunks and messages as INART frames: what switches copy.

use inart_wire::{
    ChunkSeq, Contributors, Exponent, Flags, Frame, FrameRepr, HeaderRepr, Kind, MacAddr, Rank, ShardId,
    ValuesPerFrame, WireError,
};

use crate::members::Members;
use crate::message::Message;
use crate::sender::Transmission;
use crate::update::Cut;

/// The sequence of a frame of kind update that is no chunk but a notice: no update has so many chunks.
const NOTICE: u32 = u32::MAX;

/// Writes frames of one peer.
#[derive(Debug, Clone)]
pub struct FrameWriter {
    /// The peer's address.
    pub source: MacAddr,
    /// The job's multicast address.
    pub everybody: MacAddr,
    /// How many values a frame has room for.
    pub values_per_frame: ValuesPerFrame,
    values: Vec<i32>,
}

/// What a frame holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameContent<W> {
    /// A chunk for this peer.
    Chunk {
        /// Whose.
        from: Rank,
        /// The lower 16 bits of the round.
        round: u16,
        /// Which.
        chunk: u32,
        /// Whether it left a long queue behind in a switch.
        is_marked: bool,
        /// Its words.
        words: W,
    },
    /// A message to this peer.
    Message {
        /// From whom.
        from: Rank,
        /// What.
        message: Message,
    },
    /// Something short to several peers at once, which may be lost.
    Notice {
        /// From whom.
        from: Rank,
        /// What; not this crate's.
        words: W,
    },
}

impl FrameWriter {
    /// Frames from `source`, chunks to the job's multicast address.
    pub fn new(source: MacAddr, everybody: MacAddr, values_per_frame: ValuesPerFrame) -> Self {
        FrameWriter { source, everybody, values_per_frame, values: Vec::new() }
    }

    /// Writes the frame of a chunk for the receivers of one block, which are its contributors, and returns
    /// its length. `words`: the whole update.
    ///
    /// # Errors
    /// The buffer is too short, or the chunk has more words than a frame has room for.
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

    /// Writes the frame of a notice for the receivers of one block, and returns its length.
    ///
    /// # Errors
    /// The buffer is too short, or there are more words than a frame has room for.
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

    /// Writes the frame of a message to one peer, whose address is `to_address`, and returns its length.
    ///
    /// # Errors
    /// The buffer is too short, or the message has more words than a frame has room for:
    /// [`Message::ranges_within`] tells how many ranges fit.
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

/// Reads a frame. `None` if it is not for this peer, from nobody in the job, or none; that is counted in
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

/// A valid frame of a kind that peers send.
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
