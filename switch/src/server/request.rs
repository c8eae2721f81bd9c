//! Requests on arrival: the sender is read first, the contents stay encoded until their turn. A decoded
//! message can be a hundred times larger than its bytes.

use inart_p4runtime::ElectionId;
use inart_p4runtime::p4::v1::Uint128;
use prost::Message;
use prost::bytes::Bytes;
use prost::encoding::{DecodeContext, decode_key, skip_field};
use tonic::Status;

use super::check::invalid;
use super::limits::{self, at_most};

/// A `WriteRequest` with its updates encoded.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Write {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(message, optional, tag = "3")]
    election_id: Option<Uint128>,
    #[prost(bytes = "bytes", repeated, tag = "4")]
    pub updates: Vec<Bytes>,
    #[prost(int32, tag = "5")]
    pub atomicity: i32,
    #[prost(string, tag = "6")]
    pub role: String,
}

/// A `ReadRequest` with its filters encoded.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Read {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub filters: Vec<Bytes>,
}

/// A `SetForwardingPipelineConfigRequest` with its configuration encoded.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SetPipeline {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(message, optional, tag = "3")]
    election_id: Option<Uint128>,
    #[prost(int32, tag = "4")]
    pub action: i32,
    #[prost(bytes = "bytes", optional, tag = "5")]
    pub config: Option<Bytes>,
    #[prost(string, tag = "6")]
    pub role: String,
}

/// The part of a `ForwardingPipelineConfig` that is measured before it is decoded.
#[derive(Clone, PartialEq, Message)]
struct Config {
    /// Several would be merged to one.
    #[prost(bytes = "bytes", repeated, tag = "1")]
    p4info: Vec<Bytes>,
}

impl Write {
    pub fn election(&self) -> Option<ElectionId> {
        self.election_id.map(Into::into)
    }
}

impl SetPipeline {
    pub fn election(&self) -> Option<ElectionId> {
        self.election_id.map(Into::into)
    }
}

/// Decodes a message that a client sent.
pub(super) fn decode<M: Message + Default>(bytes: Bytes, what: &str) -> Result<M, Status> {
    M::decode(bytes).map_err(|error| invalid(format!("{what} does not match the protocol: {error}")))
}

/// Decodes a write; its updates are counted before there is room for them.
pub(super) fn write(bytes: Bytes) -> Result<Write, Status> {
    at_most(count(&bytes, 4)?, limits::UPDATES, "updates in a write", "send them in several")?;
    decode(bytes, "the write")
}

/// Decodes a read; its filters are counted before there is room for them.
pub(super) fn read(bytes: Bytes) -> Result<Read, Status> {
    at_most(count(&bytes, 2)?, limits::FILTERS, "entities in a read", "ask for them in several")?;
    let read: Read = decode(bytes, "the read")?;
    let longest = read.filters.iter().map(Bytes::len).max().unwrap_or(0);
    at_most(longest, limits::FILTER_BYTES, "bytes of an entity in a read", "leave out all but its key")?;
    Ok(read)
}

/// Rejects a pipeline configuration whose P4Info is too long.
pub(super) fn check_config(config: &Bytes) -> Result<(), Status> {
    at_most(count(config, 1)?, 1, "P4Infos in a config", "send one")?;
    let p4info = decode::<Config>(config.clone(), "the config")?.p4info.iter().map(Bytes::len).sum();
    at_most(p4info, limits::P4INFO_BYTES, "bytes of P4Info", "split the program")
}

/// Returns how often a field occurs in a message, not in those inside it.
fn count(message: &Bytes, field: u32) -> Result<usize, Status> {
    let (mut rest, mut found) = (message.clone(), 0);
    while !rest.is_empty() {
        let skipped = decode_key(&mut rest).and_then(|(tag, kind)| {
            found += usize::from(tag == field);
            skip_field(kind, tag, &mut rest, DecodeContext::default())
        });
        skipped.map_err(|error| invalid(format!("the request does not match the protocol: {error}")))?;
    }
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use inart_p4runtime::p4::v1::{
        Entity, ForwardingPipelineConfig, ReadRequest, SetForwardingPipelineConfigRequest, TableEntry,
        Update, WriteRequest,
    };
    use tonic::Code;

    use super::*;

    fn bytes(message: &impl Message) -> Bytes {
        message.encode_to_vec().into()
    }

    #[test]
    fn envelopes_read_what_the_generated_types_write() {
        let update = Update::insert(TableEntry { table_id: 7, ..Default::default() });
        let id = Uint128 { high: 1, low: 2 };
        let whole = WriteRequest {
            device_id: 3,
            role: "r".into(),
            election_id: Some(id),
            updates: vec![update.clone(), update.clone()],
            atomicity: 1,
            ..Default::default()
        };
        let given = write(bytes(&whole)).unwrap();
        assert_eq!((given.device_id, given.role.as_str(), given.atomicity), (3, "r", 1));
        assert_eq!(given.election(), Some(id.into()));
        assert_eq!(given.updates, [bytes(&update), bytes(&update)]);

        let filter = Entity::from(TableEntry::default());
        let whole = ReadRequest { device_id: 3, entities: vec![filter.clone()], ..Default::default() };
        let given = read(bytes(&whole)).unwrap();
        assert_eq!((given.device_id, given.filters), (3, vec![bytes(&filter)]));

        let config = ForwardingPipelineConfig { p4_device_config: vec![1, 2], ..Default::default() };
        let whole = SetForwardingPipelineConfigRequest {
            device_id: 3,
            election_id: Some(id),
            role: "r".into(),
            action: 2,
            config: Some(config.clone()),
            ..Default::default()
        };
        let given: SetPipeline = decode(bytes(&whole), "it").unwrap();
        assert_eq!((given.device_id, given.action, given.election()), (3, 2, Some(id.into())));
        assert_eq!((given.role.as_str(), given.config), ("r", Some(bytes(&config))));
    }

    #[test]
    fn what_is_too_many_is_refused_before_it_is_decoded() {
        // An empty update or filter takes two bytes.
        let many = |tag: u8, count: usize| Bytes::from([tag << 3 | 2, 0].repeat(count));
        assert!(write(many(4, limits::UPDATES)).is_ok());
        assert_eq!(write(many(4, limits::UPDATES + 1)).unwrap_err().code(), Code::ResourceExhausted);
        assert!(read(many(2, limits::FILTERS)).is_ok());
        assert_eq!(read(many(2, limits::FILTERS + 1)).unwrap_err().code(), Code::ResourceExhausted);
        let long = ReadRequest { entities: vec![TableEntry::default().into()], ..Default::default() };
        let mut long = long;
        if let Some(inart_p4runtime::p4::v1::entity::Entity::TableEntry(entry)) = &mut long.entities[0].entity
        {
            entry.metadata = vec![0; limits::FILTER_BYTES];
        }
        assert_eq!(read(bytes(&long)).unwrap_err().code(), Code::ResourceExhausted);
        let config = Config { p4info: vec![vec![0; limits::P4INFO_BYTES + 1].into()] };
        assert_eq!(check_config(&bytes(&config)).unwrap_err().code(), Code::ResourceExhausted);
    }

    #[test]
    fn bytes_that_are_no_request_are_an_invalid_argument() {
        for broken in [&b"\xff"[..], b"\x22\x05ab", b"\x0a\x01"] {
            assert_eq!(write(Bytes::copy_from_slice(broken)).unwrap_err().code(), Code::InvalidArgument);
        }
    }
}
