//! The stream of a session: arbitration, packets, digests.

use std::collections::BTreeMap;

use inart_rpc::{DeviceMessage, Protocol};
use tonic::Code;

use super::target::{ElectionId, Target};
use crate::codec::EntryError;
use crate::p4::v1::{self, stream_message_request, stream_message_response};
use crate::schema::Schema;
use crate::value::Value;

/// A packet, a list of digests, a notice of idle entries, or the device's report of an error in a received
/// message.
pub type Event = stream_message_response::Update;

/// Newest arbitration of the device: the primary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arbitration {
    /// Whether this client is.
    pub primary: bool,
    /// The greatest election id the device has seen in this role.
    pub greatest: Option<ElectionId>,
}

/// A packet to or from the controller, with the fields of its controller header by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packet {
    /// The frame.
    pub payload: Vec<u8>,
    /// Fields of the header annotated `@controller_header`.
    pub metadata: BTreeMap<String, Value>,
}

/// The messages of P4Runtime's stream.
pub(super) enum Messages {}

impl Protocol for Messages {
    type Request = v1::StreamMessageRequest;
    type Response = v1::StreamMessageResponse;
    type State = Arbitration;
    type Event = Event;

    fn read(message: v1::StreamMessageResponse) -> DeviceMessage<Arbitration, Event> {
        match message.update {
            Some(Event::Arbitration(update)) => {
                let primary = update.status.is_some_and(|status| status.code == Code::Ok as i32);
                DeviceMessage::State(Arbitration { primary, greatest: update.election_id.map(Into::into) })
            }
            Some(event) => DeviceMessage::Event(event),
            None => DeviceMessage::Nothing,
        }
    }
}

/// Returns the message that requests the target's election id.
pub(super) fn arbitration(target: &Target) -> v1::StreamMessageRequest {
    let role = v1::Role { name: target.role.clone(), ..Default::default() };
    message(stream_message_request::Update::Arbitration(v1::MasterArbitrationUpdate {
        device_id: target.device.0,
        role: (!target.role.is_empty()).then_some(role),
        election_id: target.election.map(Into::into),
        status: None,
    }))
}

pub(super) fn message(update: stream_message_request::Update) -> v1::StreamMessageRequest {
    v1::StreamMessageRequest { update: Some(update) }
}

impl Schema {
    /// Checks a packet against the `packet_out` header and gives the message.
    ///
    /// # Errors
    /// [`EntryError`] if the program has no such header, or a field is missing, unknown or too wide.
    pub fn encode_packet(&self, packet: &Packet) -> Result<v1::PacketOut, EntryError> {
        let mut metadata = Vec::with_capacity(packet.metadata.len());
        if !packet.metadata.is_empty() {
            let header = self.controller_header("packet_out")?;
            for (name, value) in &packet.metadata {
                let field = header.field(name)?;
                value.check_width(field.bitwidth.max(0) as u32).map_err(|source| EntryError::Value {
                    place: format!("packet_out, field {name}"),
                    source,
                })?;
                let value = value.as_bytes().to_vec();
                metadata.push(v1::PacketMetadata { metadata_id: field.id, value });
            }
        }
        Ok(v1::PacketOut { payload: packet.payload.clone(), metadata })
    }

    /// Reads a packet with the names of the `packet_in` header.
    ///
    /// # Errors
    /// [`EntryError`] if the program has no such header, or a field is missing, unknown or too wide.
    pub fn decode_packet(&self, message: &v1::PacketIn) -> Result<Packet, EntryError> {
        let mut metadata = BTreeMap::new();
        if !message.metadata.is_empty() {
            let header = self.controller_header("packet_in")?;
            for item in &message.metadata {
                let field = header.field_by_id(item.metadata_id)?;
                let value = Value::from_bytes(&item.value).map_err(|source| EntryError::Value {
                    place: format!("packet_in, field {}", field.name),
                    source,
                })?;
                metadata.insert(field.name.clone(), value);
            }
        }
        Ok(Packet { payload: message.payload.clone(), metadata })
    }
}
