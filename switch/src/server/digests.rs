//! Digests in flight to the controller: gathered in lists, each datum once until the controller
//! acknowledges it. No clock: time, in nanoseconds of any steady clock, is an argument.

use std::collections::{BTreeMap, HashSet};

use inart_p4runtime::p4::v1::update::Type;
use inart_p4runtime::p4::v1::{DigestEntry, DigestList, P4Data, digest_entry::Config};
use prost::Message;
use tonic::Status;

use super::check::{existence, unsigned};

/// Data in a list whose size the controller leaves open.
const MAX_LIST: usize = 1024;
/// Lists that wait for an acknowledgement; the oldest is forgotten first.
const MAX_UNACKNOWLEDGED: usize = 4096;
/// Data that one digest remembers; with more the oldest list is forgotten first.
const MAX_KNOWN: usize = 1 << 16;

/// Digests that controllers enabled.
#[derive(Debug, Default)]
pub(super) struct Digests {
    learning: BTreeMap<u32, Learning>,
    next_list: u64,
}

#[derive(Debug)]
struct Learning {
    config: Config,
    buffer: Vec<P4Data>,
    /// Time at which the first datum entered the empty buffer.
    since_ns: u64,
    /// Encoded data in the buffer or in unacknowledged lists.
    known: HashSet<Vec<u8>>,
    unacknowledged: BTreeMap<u64, (u64, Vec<Vec<u8>>)>,
}

impl Learning {
    fn timeout_ns(&self) -> u64 {
        self.config.max_timeout_ns.max(0) as u64
    }

    fn full(&self) -> bool {
        let most = match usize::try_from(self.config.max_list_size) {
            Ok(most) if most > 0 => most.min(MAX_LIST),
            _ => MAX_LIST,
        };
        self.timeout_ns() == 0 || self.buffer.len() >= most
    }

    /// Removes lists whose time to acknowledge has expired.
    fn forget(&mut self, now_ns: u64) {
        let patience = self.config.ack_timeout_ns.max(0) as u64;
        while let Some((&list, (sent_ns, _))) = self.unacknowledged.first_key_value()
            && (now_ns.saturating_sub(*sent_ns) >= patience
                || self.unacknowledged.len() > MAX_UNACKNOWLEDGED
                || self.known.len() > MAX_KNOWN)
        {
            self.acknowledge(list);
        }
    }

    fn acknowledge(&mut self, list: u64) {
        for datum in self.unacknowledged.remove(&list).map(|(_, data)| data).unwrap_or_default() {
            self.known.remove(&datum);
        }
    }
}

impl Digests {
    /// Turns a digest on, changes how it is gathered, or turns it off.
    pub fn configure(&mut self, kind: Type, given: &DigestEntry, name: &str) -> Result<(), Status> {
        let id = given.digest_id;
        existence(kind, self.learning.contains_key(&id), || format!("configuration of digest {name}"))?;
        if kind == Type::Delete {
            self.learning.remove(&id);
            return Ok(());
        }
        let config = given.config.unwrap_or_default();
        unsigned(config.max_timeout_ns, || format!("digest {name}, max_timeout_ns"))?;
        unsigned(config.ack_timeout_ns, || format!("digest {name}, ack_timeout_ns"))?;
        unsigned(config.max_list_size.into(), || format!("digest {name}, max_list_size"))?;
        let fresh = Learning {
            config,
            buffer: Vec::new(),
            since_ns: 0,
            known: HashSet::new(),
            unacknowledged: BTreeMap::new(),
        };
        self.learning.entry(id).or_insert(fresh).config = config;
        Ok(())
    }

    /// Returns the configurations that a filter selects; 0 is all.
    pub fn read(&self, id: u32) -> Vec<DigestEntry> {
        let wanted = self.learning.iter().filter(|(digest, _)| [0, **digest].contains(&id));
        wanted.map(|(digest, found)| DigestEntry { digest_id: *digest, config: Some(found.config) }).collect()
    }

    /// Returns whether anyone wants this digest.
    pub fn wanted(&self, id: u32) -> bool {
        self.learning.contains_key(&id)
    }

    /// Takes a datum from the data plane; gives a list when that makes one ready.
    pub fn learn(&mut self, id: u32, datum: P4Data, now_ns: u64) -> Option<DigestList> {
        let learning = self.learning.get_mut(&id)?;
        learning.forget(now_ns);
        if !learning.known.insert(datum.encode_to_vec()) {
            return None;
        }
        if learning.buffer.is_empty() {
            learning.since_ns = now_ns;
        }
        learning.buffer.push(datum);
        if learning.full() { self.flush(id, now_ns) } else { None }
    }

    /// Returns the lists that are due.
    pub fn due(&mut self, now_ns: u64) -> Vec<DigestList> {
        let ripe = |learning: &Learning| {
            !learning.buffer.is_empty() && now_ns.saturating_sub(learning.since_ns) >= learning.timeout_ns()
        };
        let ids: Vec<_> =
            self.learning.iter().filter(|(_, learning)| ripe(learning)).map(|(id, _)| *id).collect();
        ids.into_iter().filter_map(|id| self.flush(id, now_ns)).collect()
    }

    /// Returns the time at which [`Digests::due`] has something next.
    pub fn deadline_ns(&self) -> Option<u64> {
        let waiting = self.learning.values().filter(|learning| !learning.buffer.is_empty());
        waiting.map(|learning| learning.since_ns.saturating_add(learning.timeout_ns())).min()
    }

    /// The controller has a list: its data may be reported again.
    pub fn acknowledge(&mut self, id: u32, list: u64) {
        if let Some(learning) = self.learning.get_mut(&id) {
            learning.acknowledge(list);
        }
    }

    fn flush(&mut self, id: u32, now_ns: u64) -> Option<DigestList> {
        let learning = self.learning.get_mut(&id)?;
        self.next_list += 1;
        let data = std::mem::take(&mut learning.buffer);
        let encoded = data.iter().map(Message::encode_to_vec).collect();
        learning.unacknowledged.insert(self.next_list, (now_ns, encoded));
        learning.forget(now_ns);
        Some(DigestList { digest_id: id, list_id: self.next_list, data, timestamp: 0 })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use inart_p4runtime::p4::v1::p4_data::Data;

    use super::*;

    fn datum(value: u8) -> P4Data {
        P4Data { data: Some(Data::Bitstring(vec![value])) }
    }

    fn digests(max_timeout_ns: i64, max_list_size: i32, ack_timeout_ns: i64) -> Digests {
        let mut digests = Digests::default();
        let config = Some(Config { max_timeout_ns, max_list_size, ack_timeout_ns });
        digests.configure(Type::Insert, &DigestEntry { digest_id: 1, config }, "d").unwrap();
        digests
    }

    #[test]
    fn a_list_leaves_when_full_or_when_its_time_has_come() {
        let mut digests = digests(100, 2, 1000);
        assert_eq!(digests.learn(1, datum(1), 0), None);
        assert_eq!(digests.learn(1, datum(2), 1).unwrap().data, [datum(1), datum(2)]);
        assert_eq!(digests.learn(1, datum(3), 10), None);
        assert_eq!(digests.deadline_ns(), Some(110));
        assert!(digests.due(109).is_empty());
        assert_eq!(digests.due(110)[0].data, [datum(3)]);
        assert_eq!(digests.deadline_ns(), None);
    }

    #[test]
    fn a_datum_is_reported_again_only_after_an_acknowledgement_or_its_timeout() {
        let mut digests = digests(0, 1, 1000);
        let list = digests.learn(1, datum(1), 0).unwrap();
        assert_eq!(digests.learn(1, datum(1), 500), None);
        digests.acknowledge(1, list.list_id);
        assert!(digests.learn(1, datum(1), 501).is_some());
        assert_eq!(digests.learn(1, datum(1), 1500), None);
        assert!(digests.learn(1, datum(1), 1501).is_some());
    }

    #[test]
    fn a_limited_number_of_data_is_remembered_and_the_oldest_forgotten_first() {
        let mut digests = digests(i64::MAX, MAX_LIST as i32, i64::MAX);
        let wide = |value: usize| P4Data { data: Some(Data::Bitstring(value.to_be_bytes().to_vec())) };
        let count = 2 * MAX_KNOWN;
        let lists = (0..count).filter(|value| digests.learn(1, wide(*value), 0).is_some()).count();
        assert_eq!(lists, count / MAX_LIST);
        assert!(digests.learning[&1].known.len() <= MAX_KNOWN);
        assert_eq!(digests.learn(1, wide(count - 1), 0), None);
        digests.learn(1, wide(0), 0);
        assert_eq!(digests.learning[&1].buffer, [wide(0)], "the oldest is reported again");
    }

    #[test]
    fn without_an_acknowledgement_timeout_nothing_is_remembered() {
        let mut digests = digests(0, 0, 0);
        assert!(digests.learn(1, datum(1), 0).is_some());
        assert!(digests.learn(1, datum(1), 0).is_some());
    }

    #[test]
    fn an_unconfigured_digest_is_dropped() {
        let mut digests = digests(0, 0, 0);
        assert_eq!(digests.learn(2, datum(1), 0), None);
        assert!(!digests.wanted(2));
    }
}
