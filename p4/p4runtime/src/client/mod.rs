//! A client of one device: arbitration, pipeline, writes, reads and the stream.

mod error;
mod read;
mod stream;
mod target;

use std::pin::Pin;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use inart_rpc::{Answered, Device, Stream, UpdateError, WriteError};
use tokio::sync::mpsc;
use tonic::transport::Channel;

use crate::error::update_errors;
use crate::p4::config::v1::P4Info;
use crate::p4::v1::p4_runtime_client::P4RuntimeClient;
use crate::p4::v1::set_forwarding_pipeline_config_request::Action;
use crate::p4::v1::{self, stream_message_request, write_request};
use crate::schema::Schema;

pub use error::{ClientError, OwnError};
use stream::Messages;
pub use stream::{Arbitration, Event, Packet};
pub use target::{DeviceId, ElectionId, Target};

/// The answer to a call. Boxed, so that the transport below is compiled with this crate, and not again with
/// each that calls.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ClientError>> + Send + 'a>>;

/// Longest message of a device, in bytes. A switch that answers a read in one message sends a million
/// entries.
const MOST_MESSAGE_BYTES: usize = 256 << 20;
/// Time limit of loading a program: a chip takes a while.
const LOADING: Duration = Duration::from_secs(120);

/// Operation on a pipeline.
pub type PipelineAction = Action;

/// A forwarding pipeline: the program's names, and the device's configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pipeline {
    /// The program's interface.
    pub p4info: P4Info,
    /// Configuration of the device: bmv2 JSON for `simple_switch_grpc` and the embedded switch.
    pub device_config: Vec<u8>,
    /// The controller's mark of the pipeline.
    pub cookie: Option<u64>,
}

/// A live connection to one device in one role. Calls by shared reference are cheap; dropping the client ends
/// the session.
pub struct Client {
    target: Target,
    device: Device,
    service: P4RuntimeClient<Channel>,
    stream: Stream<Messages>,
    schema: RwLock<Option<Arc<Schema>>>,
}

impl Client {
    /// Connects, opens the stream and waits for the device's answer to the arbitration, primary or not.
    ///
    /// # Errors
    /// [`ClientError`] if the address cannot be used, nothing answers, or the device refuses the stream.
    pub fn connect(target: Target) -> Answer<'static, Self> {
        Box::pin(async move {
            let device = target.device();
            let channel = device.connect(target.timeout).await?;
            let service = P4RuntimeClient::new(channel)
                .max_decoding_message_size(MOST_MESSAGE_BYTES)
                .max_encoding_message_size(usize::MAX);
            let mut streaming = service.clone();
            let first = ("the arbitration", stream::arbitration(&target));
            let stream = Stream::open(&device, first, target.timeout, |requests| async move {
                streaming.stream_channel(requests).await
            });
            let stream = stream.await?;
            Ok(Self { target, device, service, stream, schema: RwLock::default() })
        })
    }

    /// Returns the target of this client.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns the device's newest arbitration.
    pub fn arbitration(&self) -> Arbitration {
        self.stream.state().unwrap_or_default()
    }

    /// Returns whether this client is primary.
    pub fn is_primary(&self) -> bool {
        self.arbitration().primary
    }

    /// Waits until this client is primary.
    ///
    /// # Errors
    /// [`ClientError`] if the time is over, another client is primary, or the stream breaks.
    pub async fn wait_primary(&self, timeout: Duration) -> Result<(), ClientError> {
        match self.stream.wait(&self.device, timeout, |arbitration| arbitration.primary).await? {
            Answered::Reached => Ok(()),
            Answered::NotYet => Err(self.not_primary()),
        }
    }

    /// Waits until the session ends, and returns the reason: the stream broke, another client became primary,
    /// or the device stopped responding. Checks every two seconds, with a call that devices answer
    /// immediately; any answer counts, and [`Target::timeout`] limits its time. Never returns while this
    /// client is primary and the device responds.
    pub async fn lost(&self) -> ClientError {
        tokio::select! {
            over = self.stream.until(&self.device, |arbitration| !arbitration.primary) => {
                over.unwrap_or_else(|| self.not_primary())
            }
            why = self.device.unanswered(self.target.timeout, || self.pipeline_cookie()) => why,
        }
    }

    fn not_primary(&self) -> ClientError {
        let Target { address, device, election: asked, .. } = self.target.clone();
        OwnError::NotPrimary { address, device: device.0, asked, greatest: self.arbitration().greatest }
            .into()
    }

    /// Requests another election id; [`Client::wait_primary`] returns when it is granted.
    ///
    /// # Errors
    /// [`ClientError`] if the stream is broken or the device does not answer.
    pub async fn set_election(&mut self, election: Option<ElectionId>) -> Result<(), ClientError> {
        self.target.election = election;
        self.stream.send(&self.device, stream::arbitration(&self.target)).await
    }

    /// Returns the packets, digests and notices of the device. Given once; further calls get `None`. A
    /// receiver that falls 4096 events behind loses the newest, which is logged.
    pub fn take_events(&mut self) -> Option<mpsc::Receiver<Event>> {
        self.stream.take_events()
    }

    /// Returns the program's names: those of the pipeline last set or read through this client.
    ///
    /// # Errors
    /// [`OwnError::NoSchema`] if no pipeline was set or read yet.
    pub fn schema(&self) -> Result<Arc<Schema>, ClientError> {
        let missing = || {
            let (address, device) = (self.target.address.clone(), self.target.device.0);
            OwnError::NoSchema { address, device }.into()
        };
        self.known_schema().ok_or_else(missing)
    }

    fn known_schema(&self) -> Option<Arc<Schema>> {
        self.schema.read().expect("no holder of this lock panics").clone()
    }

    /// Sets the program's names, for a client that neither sets nor reads the pipeline.
    pub fn set_schema(&self, schema: Arc<Schema>) {
        *self.schema.write().expect("no holder of this lock panics") = Some(schema);
    }

    /// Reads the P4Runtime version of the device, such as `1.4.0`.
    ///
    /// # Errors
    /// [`ClientError::Rpc`] if the device refuses the call.
    pub fn api_version(&self) -> Answer<'_, String> {
        Box::pin(async {
            let mut service = self.service.clone();
            let answer = service.capabilities(v1::CapabilitiesRequest {});
            Ok(self
                .device
                .call("Capabilities", self.target.call_timeout, answer)
                .await?
                .p4runtime_api_version)
        })
    }

    /// Verifies, saves or commits a pipeline. `Commit` takes none.
    ///
    /// # Errors
    /// [`ClientError`] for a P4Info that is not one, or if the device refuses the pipeline.
    pub async fn set_pipeline(
        &self,
        action: PipelineAction,
        pipeline: Option<Pipeline>,
    ) -> Result<(), ClientError> {
        let schema = match &pipeline {
            Some(pipeline) if action != Action::Verify => Some(Schema::new(pipeline.p4info.clone())?),
            _ => None,
        };
        let request = v1::SetForwardingPipelineConfigRequest {
            device_id: self.target.device.0,
            role: self.target.role.clone(),
            election_id: self.target.election.map(Into::into),
            action: action.into(),
            config: pipeline.map(|pipeline| v1::ForwardingPipelineConfig {
                p4info: Some(pipeline.p4info),
                p4_device_config: pipeline.device_config,
                cookie: pipeline.cookie.map(|cookie| v1::forwarding_pipeline_config::Cookie { cookie }),
            }),
            ..Default::default()
        };
        self.send_pipeline(request).await?;
        if let Some(schema) = schema {
            self.set_schema(Arc::new(schema));
        }
        Ok(())
    }

    /// Returns the pipeline the device runs; `None` when it runs none. Takes over its names.
    ///
    /// # Errors
    /// [`ClientError`] if the device refuses the call, or its P4Info is not one.
    pub async fn pipeline(&self) -> Result<Option<Pipeline>, ClientError> {
        use v1::get_forwarding_pipeline_config_request::ResponseType;
        let Some(config) = self.get_pipeline(ResponseType::All).await? else { return Ok(None) };
        let p4info = config.p4info.unwrap_or_default();
        self.set_schema(Arc::new(Schema::new(p4info.clone())?));
        let cookie = config.cookie.map(|cookie| cookie.cookie);
        Ok(Some(Pipeline { p4info, device_config: config.p4_device_config, cookie }))
    }

    /// Returns the mark of the pipeline the device runs; `None` without a pipeline or a mark.
    ///
    /// # Errors
    /// [`ClientError::Rpc`] if the device refuses the call.
    pub async fn pipeline_cookie(&self) -> Result<Option<u64>, ClientError> {
        use v1::get_forwarding_pipeline_config_request::ResponseType;
        let config = self.get_pipeline(ResponseType::CookieOnly).await?;
        Ok(config.and_then(|config| config.cookie).map(|cookie| cookie.cookie))
    }

    fn send_pipeline(&self, request: v1::SetForwardingPipelineConfigRequest) -> Answer<'_, ()> {
        Box::pin(async move {
            let mut service = self.service.clone();
            let answer = service.set_forwarding_pipeline_config(request);
            self.device.call("SetForwardingPipelineConfig", LOADING, answer).await.map(drop)
        })
    }

    fn get_pipeline(
        &self,
        parts: v1::get_forwarding_pipeline_config_request::ResponseType,
    ) -> Answer<'_, Option<v1::ForwardingPipelineConfig>> {
        let request = v1::GetForwardingPipelineConfigRequest {
            device_id: self.target.device.0,
            response_type: parts.into(),
        };
        Box::pin(async move {
            let mut service = self.service.clone();
            let answer = service.get_forwarding_pipeline_config(request);
            match self.device.call("GetForwardingPipelineConfig", self.target.call_timeout, answer).await {
                // simple_switch_grpc returns this error instead of an empty answer.
                Err(ClientError::Rpc { code: tonic::Code::FailedPrecondition, .. }) => Ok(None),
                answer => Ok(answer?.config),
            }
        })
    }

    /// Applies a batch of updates; those that fail leave the others in force ([`ClientError::Write`] lists
    /// them).
    ///
    /// # Errors
    /// [`ClientError::Write`] lists the updates that failed; [`ClientError::Rpc`] if the device refused the
    /// call.
    pub fn write(&self, updates: Vec<v1::Update>) -> Answer<'_, ()> {
        Box::pin(self.write_all(updates))
    }

    async fn write_all(&self, updates: Vec<v1::Update>) -> Result<(), ClientError> {
        if updates.is_empty() {
            return Ok(());
        }
        let request = v1::WriteRequest {
            device_id: self.target.device.0,
            role: self.target.role.clone(),
            election_id: self.target.election.map(Into::into),
            updates,
            atomicity: write_request::Atomicity::ContinueOnError.into(),
            ..Default::default()
        };
        let mut service = self.service.clone();
        let answer = self.device.in_time("Write", self.target.call_timeout, service.write(request.clone()));
        let Err(status) = answer.await? else { return Ok(()) };
        let Some(errors) = update_errors(&status) else {
            return Err(self.device.rpc("Write", status));
        };
        let schema = self.known_schema();
        let failures = errors
            .into_iter()
            .zip(&request.updates)
            .enumerate()
            .filter(|(_, (error, _))| error.canonical_code != 0)
            .map(|(index, (error, update))| UpdateError {
                index,
                update: update.describe(schema.as_deref()),
                code: error.canonical_code.into(),
                message: error.message,
            })
            .collect();
        let (address, device) = (self.target.address.clone(), self.target.device.0);
        Err(WriteError { address, device, total: request.updates.len(), undone: false, failures }.into())
    }
}

impl Client {
    /// Sends a packet out, with the fields of the `packet_out` header.
    ///
    /// # Errors
    /// [`ClientError`] for a packet that does not fit the program, or if the stream is broken.
    pub async fn send_packet(&self, packet: &Packet) -> Result<(), ClientError> {
        let message = self.schema()?.encode_packet(packet)?;
        self.stream.send(&self.device, stream::message(stream_message_request::Update::Packet(message))).await
    }

    /// Acknowledges a list of digests, so that the device may report the same data again.
    ///
    /// # Errors
    /// [`ClientError`] if the stream is broken.
    pub async fn ack_digest(&self, list: &v1::DigestList) -> Result<(), ClientError> {
        let ack = v1::DigestListAck { digest_id: list.digest_id, list_id: list.list_id };
        self.stream.send(&self.device, stream::message(stream_message_request::Update::DigestAck(ack))).await
    }
}
