//! Contents of a frame's values, as 32-bit words.

use bytes::{BufMut, Bytes, BytesMut};

/// Words before the bytes of a part.
pub const PART_HEAD: usize = 6;
/// Most ranges that one frame names in addition to the first.
pub const MOST_RANGES: usize = 12;
const PART: u32 = 32;
const TAKEN: u32 = 33;
const HELLO: u32 = 34;

/// Content of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Part of a packet.
    Part(Part),
    /// Parts that have arrived.
    Acknowledgement(Acknowledgement),
    /// Greeting, with whether the connection is up for the sender.
    Hello { is_up: bool },
}

/// Part `place` of `parts` of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Parts of a connection are numbered from 0 on; those of one packet follow each other.
    pub number: u32,
    pub place: u16,
    pub parts: u16,
    pub data: Bytes,
}

/// All parts before `next`, and these beyond: from, how many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acknowledgement {
    pub next: u32,
    pub above: Vec<(u32, u32)>,
}

/// Returns a frame's words: from which connection number to which (0: not known).
pub fn write(from: u32, to: u32, content: &Content) -> Vec<u32> {
    match content {
        Content::Hello { is_up } => vec![HELLO, from, to, u32::from(*is_up)],
        Content::Acknowledgement(Acknowledgement { next, above }) => {
            let ranges = above.iter().flat_map(|(first, count)| [*first, *count]);
            [TAKEN, from, to, *next].into_iter().chain(ranges).collect()
        }
        Content::Part(Part { number, place, parts, data }) => {
            let places = u32::from(*place) << 16 | u32::from(*parts);
            let mut words = vec![PART, from, to, *number, places, data.len() as u32];
            let (whole, rest) = data.as_chunks::<4>();
            words.extend(whole.iter().map(|four| u32::from_be_bytes(*four)));
            if !rest.is_empty() {
                let mut last = [0; 4];
                last[..rest.len()].copy_from_slice(rest);
                words.push(u32::from_be_bytes(last));
            }
            words
        }
    }
}

/// Parses words: from, to, content; `None` for words that no sender writes.
pub fn read(words: &[u32]) -> Option<(u32, u32, Content)> {
    let (&[kind, from, to], rest) = words.split_first_chunk()?;
    let content = match (kind, rest) {
        (HELLO, &[is_up @ (0 | 1)]) => Content::Hello { is_up: is_up == 1 },
        (TAKEN, &[next, ref ranges @ ..]) => {
            let (pairs, []) = ranges.as_chunks::<2>() else { return None };
            Content::Acknowledgement(Acknowledgement {
                next,
                above: pairs.iter().map(|[first, count]| (*first, *count)).collect(),
            })
        }
        (PART, &[number, places, bytes, ref words @ ..]) => {
            let (place, parts) = ((places >> 16) as u16, places as u16);
            if place >= parts || words.len() != (bytes as usize).div_ceil(4) {
                return None;
            }
            let mut data = BytesMut::with_capacity(4 * words.len());
            words.iter().for_each(|word| data.put_u32(*word));
            data.truncate(bytes as usize);
            Content::Part(Part { number, place, parts, data: data.freeze() })
        }
        _ => return None,
    };
    (from != 0).then_some((from, to, content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let part = |bytes: &'static [u8]| {
            Content::Part(Part { number: 9, place: 1, parts: 3, data: Bytes::from_static(bytes) })
        };
        let taken = Content::Acknowledgement(Acknowledgement { next: 4, above: vec![(6, 2), (10, 1)] });
        let hellos = [Content::Hello { is_up: true }, Content::Hello { is_up: false }];
        for content in [part(b""), part(b"abcd"), part(b"abcde"), taken].into_iter().chain(hellos) {
            assert_eq!(read(&write(7, 8, &content)), Some((7, 8, content)));
        }
    }

    #[test]
    fn invalid_words_are_rejected() {
        let part = write(7, 8, &Content::Part(Part { number: 0, place: 0, parts: 1, data: "abcde".into() }));
        for end in 0..part.len() {
            assert_eq!(read(&part[..end]), None, "{end}");
        }
        let changed = |at: usize, to: u32| {
            let mut words = part.clone();
            words[at] = to;
            words
        };
        // Unknown kind; unknown sender; place 1 of 1; more bytes than there are, and fewer.
        for (at, to) in [(0, 31), (1, 0), (4, 1 << 16 | 1), (5, 9), (5, 4), (5, u32::MAX)] {
            assert_eq!(read(&changed(at, to)), None, "{at} {to}");
        }
        assert_eq!(read(&[HELLO, 7, 8, 2]), None);
        assert_eq!(read(&[TAKEN, 7, 8, 1, 2]), None);
    }
}
