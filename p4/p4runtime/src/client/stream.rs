//! The stream of a session: arbitration, packets, digests.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

use super::error::ClientError;
use super::target::{ElectionId, Target};
use crate::codec::EntryError;
use crate::p4::v1::{
    self, p4_runtime_client::P4RuntimeClient, stream_message_request, stream_message_response,
};
use crate::schema::Schema;
use crate::value::Value;

/// A packet, a list of digests, a notice of idle entries, or the device's word on an error in what it was
/// sent.
pub type Event = stream_message_response::Update;

/// Events kept for a receiver that is slow.
pub const EVENT_QUEUE: usize = 4096;

/// Messages to the device kept while the network is slow; senders wait when it is full.
const OUT_QUEUE: usize = 256;

/// The device's last word on who is primary.
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

#[derive(Debug, Clone)]
enum Session {
    Opening,
    Open(Arbitration),
    Closed(Status),
}

pub(super) struct Stream {
    to_device: mpsc::Sender<v1::StreamMessageRequest>,
    session: watch::Receiver<Session>,
    events: Option<mpsc::Receiver<Event>>,
    reader: JoinHandle<()>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Stream {
    pub(super) async fn open(
        mut service: P4RuntimeClient<Channel>,
        target: &Target,
    ) -> Result<Self, ClientError> {
        let (to_device, requests) = mpsc::channel(OUT_QUEUE);
        let (events_in, events) = mpsc::channel(EVENT_QUEUE);
        let (session_in, session) = watch::channel(Session::Opening);
        let reader = tokio::spawn(async move {
            let status = match service.stream_channel(ReceiverStream::new(requests)).await {
                Ok(answers) => read(answers.into_inner(), &session_in, &events_in).await,
                Err(status) => status,
            };
            session_in.send_replace(Session::Closed(status));
        });
        let mut stream = Self { to_device, session, events: Some(events), reader };
        stream.arbitrate(target).await?;
        let answered = stream.session.wait_for(|session| !matches!(session, Session::Opening));
        match tokio::time::timeout(target.timeout, answered).await {
            Err(_) => return Err(ClientError::timeout(target, "the arbitration", target.timeout)),
            Ok(Err(_)) => return Err(closed(target, Status::unavailable("the stream was closed"))),
            Ok(Ok(_)) => {}
        }
        let session = stream.session.borrow().clone();
        match session {
            Session::Closed(status) => Err(ClientError::opening(target, status).await),
            _ => Ok(stream),
        }
    }

    pub(super) fn arbitration(&self) -> Arbitration {
        match &*self.session.borrow() {
            Session::Open(arbitration) => *arbitration,
            _ => Arbitration::default(),
        }
    }

    pub(super) async fn arbitrate(&self, target: &Target) -> Result<(), ClientError> {
        let role = v1::Role { name: target.role.clone(), ..Default::default() };
        let update = v1::MasterArbitrationUpdate {
            device_id: target.device.0,
            role: (!target.role.is_empty()).then_some(role),
            election_id: target.election.map(Into::into),
            status: None,
        };
        self.send(target, stream_message_request::Update::Arbitration(update)).await
    }

    pub(super) async fn send(
        &self,
        target: &Target,
        update: stream_message_request::Update,
    ) -> Result<(), ClientError> {
        let message = v1::StreamMessageRequest { update: Some(update) };
        self.to_device.send(message).await.map_err(|_| match &*self.session.borrow() {
            Session::Closed(status) => closed(target, status.clone()),
            _ => closed(target, Status::unavailable("the stream was closed")),
        })
    }

    pub(super) async fn wait_primary(&self, target: &Target, timeout: Duration) -> Result<(), ClientError> {
        let mut session = self.session.clone();
        let decided = session.wait_for(|session| match session {
            Session::Open(arbitration) => arbitration.primary,
            Session::Closed(_) => true,
            Session::Opening => false,
        });
        let decided = tokio::time::timeout(timeout, decided).await.map(|found| found.map(|now| now.clone()));
        match decided {
            Ok(Ok(Session::Closed(status))) => Err(closed(target, status)),
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(closed(target, Status::unavailable("the stream was closed"))),
            Err(_) => Err(self.not_primary(target)),
        }
    }

    /// Waits until this client is not primary any more, whatever took that away.
    pub(super) async fn lost(&self, target: &Target) -> ClientError {
        let mut session = self.session.clone();
        let over = session.wait_for(|session| match session {
            Session::Open(arbitration) => !arbitration.primary,
            Session::Closed(_) => true,
            Session::Opening => false,
        });
        match over.await.map(|session| session.clone()) {
            Ok(Session::Closed(status)) => closed(target, status),
            Ok(_) => self.not_primary(target),
            Err(_) => closed(target, Status::unavailable("the stream was closed")),
        }
    }

    fn not_primary(&self, target: &Target) -> ClientError {
        ClientError::NotPrimary {
            address: target.address.clone(),
            device: target.device.0,
            asked: target.election,
            greatest: self.arbitration().greatest,
        }
    }

    pub(super) fn take_events(&mut self) -> Option<mpsc::Receiver<Event>> {
        self.events.take()
    }
}

fn closed(target: &Target, status: Status) -> ClientError {
    ClientError::rpc("StreamChannel", target, status)
}

async fn read(
    mut answers: Streaming<v1::StreamMessageResponse>,
    session: &watch::Sender<Session>,
    events: &mpsc::Sender<Event>,
) -> Status {
    loop {
        let event = match answers.message().await {
            Ok(Some(message)) => message.update,
            Ok(None) => return Status::unavailable("the device closed the stream"),
            Err(status) => return status,
        };
        match event {
            Some(Event::Arbitration(update)) => {
                let primary = update.status.is_some_and(|status| status.code == Code::Ok as i32);
                let greatest = update.election_id.map(Into::into);
                session.send_replace(Session::Open(Arbitration { primary, greatest }));
            }
            Some(event) => {
                if let Err(mpsc::error::TrySendError::Full(_)) = events.try_send(event) {
                    tracing::warn!(EVENT_QUEUE, "the controller is slow: an event of the switch was dropped");
                }
            }
            None => {}
        }
    }
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
