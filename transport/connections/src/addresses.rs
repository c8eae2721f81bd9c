//! Frames to and from processes that are known by their Ethernet addresses.

use std::collections::BTreeMap;

use inart_wire::{
    BitmapIndex, ChunkSeq, Contributors, Exponent, Flags, Frame, FrameRepr, HeaderRepr, Incarnation, JobId,
    Kind, MacAddr, PlanVersion, Rank, ShardId, ValuesPerFrame, WireError,
};

use crate::error::Error;
use crate::options::FrameOptions;

/// Plan version in frames that no plan steers; it is the first plan's.
const PLAN_VERSION: u16 = 1;

/// Reason for which a frame is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Invalid frame.
    Malformed,
    /// Unknown sender, another job, or a worker other than the address's.
    UnknownSender,
    /// Frame for another host: a switch that does not know the host yet floods it.
    NotHere,
}

/// Addresses of the others, by position, and of this host.
#[derive(Debug, Clone)]
pub struct Addresses {
    own: MacAddr,
    job: JobId,
    others: Vec<(MacAddr, BitmapIndex)>,
    places: BTreeMap<MacAddr, usize>,
    /// Values of the longest frames, and whether all frames have this length.
    values: ValuesPerFrame,
    is_one_length: bool,
}

/// Returns the addresses of the others, by position.
///
/// # Errors
/// One of them has no address; an address is no host's, or two hosts'.
pub fn checked(others: &[String], options: &FrameOptions) -> Result<Vec<MacAddr>, Error> {
    let mut places: BTreeMap<MacAddr, &String> = BTreeMap::new();
    let mut all = Vec::new();
    for name in others {
        let Some(&address) = options.peers.get(name) else {
            return Err(Error::NoAddress { name: name.clone(), form: "MAC" });
        };
        if address.is_multicast() || address == MacAddr([0; 6]) {
            return Err(Error::NoHost { name: name.clone(), address });
        }
        if let Some(other) = places.insert(address, name) {
            return Err(Error::SameAddress { name: name.clone(), other: other.clone(), address });
        }
        all.push(address);
    }
    match Rank::try_from(others.len().saturating_sub(1)) {
        Ok(_) => Ok(all),
        Err(_) => Err(Error::TooMany { most: u32::from(Rank::MAX.get()) + 1 }),
    }
}

impl Addresses {
    /// Creates addresses. `own`: this interface's; `me`: the position of a worker, `None` for the server;
    /// `others`: checked addresses.
    ///
    /// # Errors
    /// One of the others has this interface's address.
    pub fn new(
        own: MacAddr,
        me: Option<Rank>,
        others: &[MacAddr],
        values: ValuesPerFrame,
        options: &FrameOptions,
    ) -> Result<Self, Error> {
        if let Some((name, &address)) = options.peers.iter().find(|(_, address)| **address == own) {
            let other = format!("interface {}", options.interface);
            return Err(Error::SameAddress { name: name.clone(), other, address });
        }
        let ranks = (0..).map_while(|place: usize| Rank::try_from(place).ok());
        let known =
            others.iter().zip(ranks).map(|(address, rank)| (*address, me.unwrap_or(rank).bitmap_index()));
        Ok(Addresses {
            own,
            job: options.job,
            others: known.collect(),
            places: others.iter().enumerate().map(|(place, address)| (*address, place)).collect(),
            values,
            is_one_length: options.values.is_some(),
        })
    }

    /// Returns the position of a frame's sender, and the frame's words.
    pub fn read(&self, bytes: &[u8]) -> Result<(usize, Vec<u32>), Refused> {
        let frame = Frame::new_checked(bytes).map_err(|_| Refused::Malformed)?;
        let header = HeaderRepr::parse(&frame).map_err(|_| Refused::Malformed)?;
        if frame.destination() != self.own {
            return Err(Refused::NotHere);
        }
        let place = *self.places.get(&frame.source()).ok_or(Refused::UnknownSender)?;
        let is_bitmap_index =
            self.others.get(place).is_some_and(|(_, bitmap_index)| *bitmap_index == header.worker);
        if header.kind != Kind::Control || header.job != self.job || !is_bitmap_index {
            return Err(Refused::UnknownSender);
        }
        Ok((place, frame.values().take(header.length.into()).map(|word| word as u32).collect()))
    }

    /// Writes a frame, as short as its words allow unless all have one length. Returns the frame's length.
    /// `words[1]` is the sender's number of the connection.
    ///
    /// # Errors
    /// No process has that position, or words or buffer are too long or too short.
    pub fn write(&self, to: usize, words: &[u32], buffer: &mut [u8]) -> Result<usize, WireError> {
        let Some(&(destination, worker)) = self.others.get(to) else {
            return Err(WireError::Buffer { seen: 0, needed: 0 });
        };
        let has_room = |values: &ValuesPerFrame| values.get() >= words.len() && *values <= self.values;
        let shortest = ValuesPerFrame::ALL.into_iter().find(has_room).filter(|_| !self.is_one_length);
        let header = HeaderRepr {
            kind: Kind::Control,
            flags: Flags::NONE,
            plan_version: PlanVersion::from(PLAN_VERSION),
            job: self.job,
            shard: ShardId::from(0),
            worker,
            sequence: ChunkSeq::from(0),
            contributors: Contributors::default(),
            exponent: Exponent::from(0),
            length: u16::try_from(words.len()).unwrap_or(u16::MAX),
            incarnation: Incarnation::from(words.get(1).copied().unwrap_or(0)),
        };
        let values_per_frame = shortest.unwrap_or(self.values);
        let values: Vec<i32> = words.iter().map(|&word| word as i32).collect();
        FrameRepr { destination, source: self.own, values_per_frame, header }.emit(&values, buffer)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn mac(last: u8) -> MacAddr {
        MacAddr([2, 0, 0, 0, 0, last])
    }

    fn options(all: &[(&str, MacAddr)]) -> FrameOptions {
        FrameOptions {
            interface: "eth0".to_owned(),
            peers: all.iter().map(|(name, address)| ((*name).to_owned(), *address)).collect(),
            job: JobId::from(3),
            values: None,
        }
    }

    fn server(values: Option<ValuesPerFrame>) -> Addresses {
        let options = FrameOptions { values, ..options(&[("w1", mac(1)), ("w2", mac(2))]) };
        let names = ["w1".to_owned(), "w2".to_owned()];
        let all = checked(&names, &options).unwrap();
        Addresses::new(mac(9), None, &all, ValuesPerFrame::N256, &options).unwrap()
    }

    fn second_worker() -> Addresses {
        let options = options(&[("s", mac(9))]);
        let all = checked(&["s".to_owned()], &options).unwrap();
        let me = Rank::try_from(1usize).ok();
        Addresses::new(mac(2), me, &all, ValuesPerFrame::N256, &options).unwrap()
    }

    #[test]
    fn a_frame_is_as_short_as_its_words_allow_and_names_the_worker_both_ways() {
        let (server, worker, mut buffer) = (server(None), second_worker(), [0; 2000]);
        for (count, bytes) in [(4, 172), (32, 172), (33, 300), (256, 1068)] {
            let words: Vec<u32> = (0..count).map(|word| word ^ 0x8000_0007).collect();
            assert_eq!(worker.write(0, &words, &mut buffer).unwrap(), bytes);
            assert_eq!(server.read(&buffer[..bytes]), Ok((1, words.clone())));
            assert_eq!(server.write(1, &words, &mut buffer).unwrap(), bytes);
            assert_eq!(worker.read(&buffer[..bytes]), Ok((0, words)));
        }
        assert_eq!(server.write(1, &[7; 257], &mut buffer).ok(), None);
        assert_eq!(server.write(2, &[7; 4], &mut buffer).ok(), None, "position 2 does not exist");
        let equal = self::server(Some(ValuesPerFrame::N256));
        assert_eq!(equal.write(1, &[7; 4], &mut buffer).unwrap(), 1068);
    }

    #[test]
    fn frames_of_others_are_distinguished_from_invalid_ones() {
        let (server, worker, mut buffer) = (server(None), second_worker(), [0; 172]);
        worker.write(0, &[34, 7, 0, 0], &mut buffer).unwrap();
        let changed = |at: usize, to: u8| {
            let mut bytes = buffer;
            bytes[at] = to;
            server.read(&bytes)
        };
        assert_eq!(changed(0, buffer[0]), Ok((1, vec![34, 7, 0, 0])));
        // Its source, its job, its worker; another kind of frame.
        for (at, to) in [(11, 8), (11, 1), (19, 4), (23, 0), (14, 0x34)] {
            assert_eq!(changed(at, to), Err(Refused::UnknownSender), "{at} {to}");
        }
        assert_eq!(changed(5, 8), Err(Refused::NotHere));
        for (at, to) in [(12, 8), (14, 0x15), (39, 33), (22, 0xff)] {
            assert_eq!(changed(at, to), Err(Refused::Malformed), "{at} {to}");
        }
        for end in 0..buffer.len() {
            assert_eq!(server.read(&buffer[..end]), Err(Refused::Malformed), "{end}");
        }
    }

    #[test]
    fn addresses_that_cannot_be_are_refused() {
        let names = ["w1".to_owned(), "w2".to_owned()];
        let refused = |all: &[(&str, MacAddr)], named: &[&str]| {
            let said = checked(&names, &options(all)).unwrap_err().to_string();
            assert!(named.iter().all(|name| said.contains(name)), "{said}");
        };
        refused(&[("w1", mac(1))], &["w2 has no address", "w2=MAC"]);
        refused(&[("w1", mac(1)), ("w2", mac(1))], &["w2", "02:00:00:00:00:01", "w1 has that address"]);
        refused(
            &[("w1", MacAddr([0xff; 6])), ("w2", mac(2))],
            &["w1 at ff:ff:ff:ff:ff:ff", "not the address of a host"],
        );
        refused(&[("w1", MacAddr([3, 0, 0, 0, 0, 1])), ("w2", mac(2))], &["w1", "not the address of a host"]);
        refused(&[("w1", MacAddr([0; 6])), ("w2", mac(2))], &["w1", "not the address of a host"]);
        let own = options(&[("w1", mac(1)), ("w2", mac(2))]);
        let all = checked(&names, &own).unwrap();
        let same = Addresses::new(mac(2), None, &all, ValuesPerFrame::N256, &own).unwrap_err().to_string();
        assert!(same.contains("w2 at") && same.contains("interface eth0"), "{same}");
        let many: Vec<String> = (0..16385).map(|worker| format!("w{worker}")).collect();
        let at = |n: usize| MacAddr([2, 0, 0, 0, (n >> 8) as u8, n as u8]);
        let all: Vec<(&str, MacAddr)> = many.iter().enumerate().map(|(n, name)| (&name[..], at(n))).collect();
        assert!(checked(&many[..16384], &options(&all)).is_ok());
        let said = checked(&many, &options(&all)).unwrap_err().to_string();
        assert!(said.contains("16384"), "{said}");
    }
}
