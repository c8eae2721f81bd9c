//! Two connections to a peer, one for the messages of each direction.
//!
//! On one connection, quinn sends no acknowledgement while data waits for the congestion window (RFC 9002,
//! section 7, would permit it). If both directions are full, each would wait for the other's window, and
//! round-trip times would double. The receiving side of a connection has no queued data.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use quinn::{Connection, VarInt};
use tokio::time::timeout;

use crate::stream_error::StreamError;

/// Time within which the connecting side must send the label.
const LABEL: Duration = Duration::from_secs(5);
const LABEL_BYTES: usize = 17;
/// Answer to a label: the incarnation of the accepting side.
const ANSWER_BYTES: usize = 8;

/// Connections that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// Connection for this side's messages, and their answers.
    pub sending: Connection,
    /// Connection for the peer's messages, and their answers.
    pub receiving: Connection,
    /// The peer's process: another one has another incarnation.
    pub incarnation: u64,
}

impl Pair {
    pub fn close(&self, code: VarInt, reason: &[u8]) {
        self.sending.close(code, reason);
        self.receiving.close(code, reason);
    }
}

/// Side whose messages a connection has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SentBy {
    WhoConnects,
    WhoAccepts,
    /// Neither side: the connecting side asks why it is not connected.
    Neither,
}

/// Label, the first stream of a connection: its pair, and its purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label {
    pair: u64,
    pub sent_by: SentBy,
    /// The process that connects.
    pub incarnation: u64,
}

impl Label {
    /// Labels of two connections that belong together, and to no others.
    pub fn both(incarnation: u64) -> [Self; 2] {
        let pair = draw();
        [SentBy::WhoConnects, SentBy::WhoAccepts].map(|sent_by| Label { pair, sent_by, incarnation })
    }

    /// Returns that of a question why there is no connection.
    pub fn question(incarnation: u64) -> Self {
        Label { pair: draw(), sent_by: SentBy::Neither, incarnation }
    }

    fn encode(self) -> [u8; LABEL_BYTES] {
        let mut bytes = [0; LABEL_BYTES];
        bytes[..8].copy_from_slice(&self.pair.to_be_bytes());
        bytes[8] = match self.sent_by {
            SentBy::WhoConnects => 0,
            SentBy::WhoAccepts => 1,
            SentBy::Neither => 2,
        };
        bytes[9..].copy_from_slice(&self.incarnation.to_be_bytes());
        bytes
    }

    /// `None`: no such label.
    fn decode(bytes: [u8; LABEL_BYTES]) -> Option<Self> {
        let (pair, rest) = bytes.split_first_chunk::<8>()?;
        let (&sent_by, incarnation) = rest.split_first()?;
        let sent_by = match sent_by {
            0 => SentBy::WhoConnects,
            1 => SentBy::WhoAccepts,
            2 => SentBy::Neither,
            _ => return None,
        };
        let incarnation = u64::from_be_bytes(incarnation.try_into().ok()?);
        Some(Label { pair: u64::from_be_bytes(*pair), sent_by, incarnation })
    }

    /// Sends the label from the connecting side. Returns the incarnation of the other side.
    pub async fn send(self, connection: &Connection) -> Result<u64, StreamError> {
        let (mut send, mut answer) = connection.open_bi().await?;
        send.write_all(&self.encode()).await?;
        send.finish()?;
        let mut incarnation = [0; ANSWER_BYTES];
        answer.read_exact(&mut incarnation).await?;
        Ok(u64::from_be_bytes(incarnation))
    }

    /// Receives the label at the accepting side. `None`: the peer sends something else, or nothing.
    pub async fn receive(connection: &Connection, incarnation: u64) -> Option<Self> {
        let hear = async {
            let (mut answers, mut receive) = connection.accept_bi().await.ok()?;
            let mut bytes = [0; LABEL_BYTES];
            receive.read_exact(&mut bytes).await.ok()?;
            answers.write_all(&incarnation.to_be_bytes()).await.ok()?;
            answers.finish().ok()?;
            Self::decode(bytes)
        };
        timeout(LABEL, hear).await.ok().flatten()
    }
}

fn draw() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Draws the incarnation of a process.
pub(crate) fn new_incarnation() -> u64 {
    draw()
}

/// Accepted connections whose pair is incomplete, by peer.
#[derive(Debug, Default)]
pub(crate) struct Halves(BTreeMap<String, (Label, Connection)>);

impl Halves {
    /// Both, if the other one is there. One of an older pair is forgotten, which ends it.
    pub fn complete(&mut self, peer: &str, label: Label, connection: Connection) -> Option<Pair> {
        let other = self.0.remove(peer);
        match other {
            Some((other, first)) if other.pair == label.pair && other.sent_by != label.sent_by => {
                let incarnation = label.incarnation;
                Some(match label.sent_by {
                    SentBy::WhoAccepts => Pair { sending: connection, receiving: first, incarnation },
                    _ => Pair { sending: first, receiving: connection, incarnation },
                })
            }
            _ => {
                self.0.insert(peer.to_owned(), (label, connection));
                None
            }
        }
    }

    /// Ends those that wait.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_back_unchanged_and_pairs_differ() {
        let [first, second] = Label::both(7);
        assert_eq!((first.pair, first.sent_by), (second.pair, SentBy::WhoConnects));
        for label in [first, second, Label::question(7)] {
            assert_eq!(Label::decode(label.encode()), Some(label));
        }
        assert_eq!(Label::decode([3; LABEL_BYTES]), None);
        assert_ne!(Label::both(7)[0].pair, first.pair);
    }
}
