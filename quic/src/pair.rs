//! Two connections to a peer, one for the messages of each direction.
//!
//! On one connection, quinn sends no acknowledgement while data waits for the congestion window (RFC 9002,
//! section 7, would let it). Where both directions are full, each would wait for the other's window, and
//! round-trip times would double. What only receives has no data that waits.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use quinn::{Connection, VarInt};
use tokio::time::timeout;

use crate::stream_error::StreamError;

/// Who has connected has to say so soon what the connection is for.
const LABEL: Duration = Duration::from_secs(5);
const LABEL_BYTES: usize = 9;

/// Connections that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// What this side sends, and answers to it.
    pub sending: Connection,
    /// What the peer sends, and answers to it.
    pub receiving: Connection,
}

impl Pair {
    pub fn close(&self, code: VarInt, reason: &[u8]) {
        self.sending.close(code, reason);
        self.receiving.close(code, reason);
    }
}

/// Whose messages a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SentBy {
    WhoConnects,
    WhoAccepts,
}

/// What the first stream of a connection says: which other one it belongs to, and what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label {
    pair: u64,
    sent_by: SentBy,
}

impl Label {
    /// Labels of two connections that belong together, and to no others.
    pub fn both() -> [Self; 2] {
        let pair = RandomState::new().build_hasher().finish();
        [SentBy::WhoConnects, SentBy::WhoAccepts].map(|sent_by| Label { pair, sent_by })
    }

    fn encode(self) -> [u8; LABEL_BYTES] {
        let mut bytes = [0; LABEL_BYTES];
        bytes[..8].copy_from_slice(&self.pair.to_be_bytes());
        bytes[8] = u8::from(self.sent_by == SentBy::WhoAccepts);
        bytes
    }

    /// `None`: no such label.
    fn decode(bytes: [u8; LABEL_BYTES]) -> Option<Self> {
        let [pair @ .., sent_by] = bytes;
        let sent_by = match sent_by {
            0 => SentBy::WhoConnects,
            1 => SentBy::WhoAccepts,
            _ => return None,
        };
        Some(Label { pair: u64::from_be_bytes(pair), sent_by })
    }

    /// Says it, by who has connected.
    pub async fn say(self, connection: &Connection) -> Result<(), StreamError> {
        let (mut send, _answers) = connection.open_bi().await?;
        send.write_all(&self.encode()).await?;
        send.finish()?;
        Ok(())
    }

    /// Hears it, by who was connected to. `None`: the peer says something else, or nothing.
    pub async fn hear(connection: &Connection) -> Option<Self> {
        let hear = async {
            let (mut answers, mut receive) = connection.accept_bi().await.ok()?;
            let mut bytes = [0; LABEL_BYTES];
            receive.read_exact(&mut bytes).await.ok()?;
            let _ = answers.finish(); // nobody waits for an answer
            Self::decode(bytes)
        };
        timeout(LABEL, hear).await.ok().flatten()
    }
}

/// Accepted connections whose other one has not come, by peer.
#[derive(Debug, Default)]
pub(crate) struct Halves(BTreeMap<String, (Label, Connection)>);

impl Halves {
    /// Both, if the other one is there. One of an older pair is forgotten, which ends it.
    pub fn complete(&mut self, peer: &str, label: Label, connection: Connection) -> Option<Pair> {
        let other = self.0.remove(peer);
        match other {
            Some((other, first)) if other.pair == label.pair && other.sent_by != label.sent_by => {
                Some(match label.sent_by {
                    SentBy::WhoConnects => Pair { sending: first, receiving: connection },
                    SentBy::WhoAccepts => Pair { sending: connection, receiving: first },
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
    fn labels_come_back_as_they_were_and_pairs_differ() {
        let [first, second] = Label::both();
        assert_eq!((first.pair, first.sent_by), (second.pair, SentBy::WhoConnects));
        assert_eq!(Label::decode(first.encode()), Some(first));
        assert_eq!(Label::decode(second.encode()), Some(second));
        assert_eq!(Label::decode([2; LABEL_BYTES]), None);
        assert_ne!(Label::both()[0].pair, first.pair);
    }
}
