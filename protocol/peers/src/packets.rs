//! Chunks and messages as packets on connections, where a sender makes the copies.

use inart_wire::{Incarnation, JobId, Rank};

use crate::members::Members;
use crate::message::Message;

const CHUNK: u8 = 1;
const MESSAGE: u8 = 2;
const NOTICE: u8 = 3;

/// Content of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PacketContent<W> {
    /// A chunk.
    Chunk {
        /// Sender.
        from: Rank,
        /// Round of the update.
        round: u32,
        /// Number of the chunk.
        chunk: u32,
        /// Words of the chunk.
        words: W,
    },
    /// A message.
    Message {
        /// Sender.
        from: Rank,
        /// Message.
        message: Message,
    },
    /// Short notice, which may be lost.
    Notice {
        /// Sender.
        from: Rank,
        /// Words, in a format of the owner.
        words: W,
    },
}

/// Encodes a chunk: kind (1), job, the sender's rank and incarnation, round, chunk, words; big endian.
pub fn chunk_packet(members: &Members, round: u32, chunk: u32, words: &[u32]) -> Vec<u8> {
    let me = members.me();
    let mut bytes = Vec::with_capacity(17 + 4 * words.len());
    bytes.push(CHUNK);
    bytes.extend(members.job().get().to_be_bytes());
    bytes.extend(me.get().to_be_bytes());
    for word in [members.incarnation(me).get(), round, chunk].iter().chain(words) {
        bytes.extend(word.to_be_bytes());
    }
    bytes
}

/// Encodes a message: kind (2), job, and the message's words; big endian.
pub fn message_packet(members: &Members, to: Rank, message: &Message) -> Vec<u8> {
    let mut bytes = vec![MESSAGE];
    bytes.extend(members.job().get().to_be_bytes());
    bytes.extend(message.words(&members.envelope(to)).into_iter().flat_map(u32::to_be_bytes));
    bytes
}

/// Encodes a notice: kind (3), job, the sender's rank and incarnation, words; big endian.
pub fn notice_packet(members: &Members, words: &[u32]) -> Vec<u8> {
    let me = members.me();
    let mut bytes = vec![NOTICE];
    bytes.extend(members.job().get().to_be_bytes());
    bytes.extend(me.get().to_be_bytes());
    bytes.extend([members.incarnation(me).get()].iter().chain(words).flat_map(|word| word.to_be_bytes()));
    bytes
}

/// Decodes a packet from the connection of a peer. `None` if it is invalid, not from that peer, not for this
/// one, or of another job or incarnation; counted in `members`.
pub fn read_packet<'a>(
    members: &mut Members,
    connected: Rank,
    bytes: &'a [u8],
) -> Option<PacketContent<impl ExactSizeIterator<Item = u32> + use<'a>>> {
    match parse(bytes) {
        Some((job, content)) => admit(members, connected, job, content),
        None => {
            members.refuse_malformed();
            None
        }
    }
}

enum Parsed<'a> {
    Chunk { from: u16, incarnation: u32, round: u32, chunk: u32, words: &'a [[u8; 4]] },
    Message(crate::message::Envelope, Message),
    Notice { from: u16, incarnation: u32, words: &'a [[u8; 4]] },
}

fn parse(bytes: &[u8]) -> Option<(JobId, Parsed<'_>)> {
    let (&[what, job_high, job_low], rest) = bytes.split_first_chunk()?;
    let job = JobId::from(u16::from_be_bytes([job_high, job_low]));
    let number = |bytes: &[u8; 4]| u32::from_be_bytes(*bytes);
    let parsed = match what {
        CHUNK => {
            let (&from, rest) = rest.split_first_chunk()?;
            let (words, []) = rest.as_chunks() else { return None };
            let ([incarnation, round, chunk], words) = words.split_first_chunk()?;
            let (incarnation, round, chunk) = (number(incarnation), number(round), number(chunk));
            Parsed::Chunk { from: u16::from_be_bytes(from), incarnation, round, chunk, words }
        }
        NOTICE => {
            let (&from, rest) = rest.split_first_chunk()?;
            let (words, []) = rest.as_chunks() else { return None };
            let ([incarnation], words) = words.split_first_chunk()?;
            Parsed::Notice { from: u16::from_be_bytes(from), incarnation: number(incarnation), words }
        }
        MESSAGE => {
            let (words, []) = rest.as_chunks() else { return None };
            let words: Vec<u32> = words.iter().map(number).collect();
            let (between, message) = Message::parse(&words)?;
            Parsed::Message(between, message)
        }
        _ => return None,
    };
    Some((job, parsed))
}

fn admit<'a>(
    members: &mut Members,
    connected: Rank,
    job: JobId,
    parsed: Parsed<'a>,
) -> Option<PacketContent<impl ExactSizeIterator<Item = u32> + use<'a>>> {
    let plan_version = members.plan_version();
    if !members.admits_job(job, plan_version) {
        return None;
    }
    let word = |word: &[u8; 4]| u32::from_be_bytes(*word);
    let sender = |members: &mut Members, from: u16, incarnation: u32| {
        let from = Rank::try_from(from).ok().filter(|&from| from == connected);
        if from.is_none() {
            members.refuse_unknown_sender();
        }
        from.filter(|&from| members.admits(from, Incarnation::new(incarnation)))
    };
    match parsed {
        Parsed::Chunk { from, incarnation, round, chunk, words } => {
            let from = sender(members, from, incarnation)?;
            Some(PacketContent::Chunk { from, round, chunk, words: words.iter().map(word) })
        }
        Parsed::Notice { from, incarnation, words } => {
            let from = sender(members, from, incarnation)?;
            Some(PacketContent::Notice { from, words: words.iter().map(word) })
        }
        Parsed::Message(between, message) => {
            if between.from != connected {
                members.refuse_unknown_sender();
                return None;
            }
            let from = between.from;
            members.admits_message(&between).then_some(PacketContent::Message { from, message })
        }
    }
}
