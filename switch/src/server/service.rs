//! The gRPC service: finds the device a call is for and hands the call to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use inart_p4runtime::p4::v1::{self, stream_message_request, stream_message_response};
use prost::bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, timeout_at};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use super::answers::Parts;
use super::arbitration::ClientId;
use super::device::Device;
use super::outbox::{Answers, Outbox};
use super::reads::Reading;
use super::{answers, limits, request};

/// The version of the specification that the service follows.
const API_VERSION: &str = "1.4.1";

/// All devices of a process.
#[derive(Clone)]
pub(super) struct Service {
    devices: Arc<BTreeMap<u64, Arc<Device>>>,
    next_client: Arc<AtomicU64>,
}

/// Answers of a read in progress.
pub(super) type ReadAnswers = ReceiverStream<Result<v1::ReadResponse, Status>>;

impl Service {
    pub fn new(devices: BTreeMap<u64, Arc<Device>>) -> Self {
        Self { devices: Arc::new(devices), next_client: Arc::default() }
    }

    fn device(&self, id: u64) -> Result<Arc<Device>, Status> {
        self.devices.get(&id).cloned().ok_or_else(|| {
            let known: Vec<_> = self.devices.keys().map(u64::to_string).collect();
            Status::not_found(format!("there is no device {id} here, only {}", known.join(", ")))
        })
    }
}

impl Service {
    pub async fn write(self, bytes: Bytes) -> Result<v1::WriteResponse, Status> {
        let request = request::write(bytes)?;
        self.device(request.device_id)?.write(request).await?;
        Ok(v1::WriteResponse {})
    }

    /// Starts a read, which keeps its place until it has ended.
    pub async fn read(self, bytes: Bytes, place: OwnedSemaphorePermit) -> Result<ReadAnswers, Status> {
        let request = request::read(bytes)?;
        let device = self.device(request.device_id)?;
        let (reading, turn) = device.begin_read(request.filters).await?;
        // The next answer is made when the connection has taken the one before.
        let (out, answers) = mpsc::channel(1);
        tokio::spawn(async move {
            answers::send(DeviceRead { device, reading }, turn, &out).await;
            drop(place);
        });
        Ok(ReceiverStream::new(answers))
    }

    pub async fn set_pipeline(self, bytes: Bytes) -> Result<v1::SetForwardingPipelineConfigResponse, Status> {
        let request: request::SetPipeline = request::decode(bytes, "the request")?;
        self.device(request.device_id)?.set_pipeline(request).await?;
        Ok(v1::SetForwardingPipelineConfigResponse {})
    }

    pub async fn get_pipeline(self, bytes: Bytes) -> Result<v1::GetForwardingPipelineConfigResponse, Status> {
        let request: v1::GetForwardingPipelineConfigRequest = request::decode(bytes, "the request")?;
        let config = self.device(request.device_id)?.get_pipeline(&request).await?;
        Ok(v1::GetForwardingPipelineConfigResponse { config })
    }

    pub fn capabilities() -> v1::CapabilitiesResponse {
        v1::CapabilitiesResponse { p4runtime_api_version: API_VERSION.to_owned() }
    }

    /// Starts a stream, which keeps its place until it has ended.
    pub async fn stream_channel(
        self,
        requests: Streaming<Bytes>,
        place: OwnedSemaphorePermit,
    ) -> Result<Answers, Status> {
        let client = ClientId(self.next_client.fetch_add(1, Ordering::Relaxed));
        let (out, answers) = Outbox::new();
        let session = Session { service: self, client, out: out.clone(), device: None };
        tokio::spawn(async move {
            if let Err(status) = session.run(requests).await {
                out.end(status).await;
            }
            drop(place);
        });
        Ok(answers)
    }
}

/// A read of a device.
struct DeviceRead {
    device: Arc<Device>,
    reading: Reading,
}

impl Parts for DeviceRead {
    type Entity = v1::Entity;
    type Answer = v1::ReadResponse;

    fn next(&mut self) -> impl Future<Output = Result<Option<Vec<v1::Entity>>, Status>> + Send {
        self.device.read(&mut self.reading)
    }

    fn answer(entities: Vec<v1::Entity>) -> v1::ReadResponse {
        v1::ReadResponse { entities }
    }
}

/// One stream of one controller.
struct Session {
    service: Service,
    client: ClientId,
    out: Outbox,
    /// Set by the first arbitration.
    device: Option<Arc<Device>>,
}

impl Session {
    /// Serves the stream until it ends; an error ends it from this side.
    async fn run(mut self, mut requests: Streaming<Bytes>) -> Result<(), Status> {
        let mut result = Ok(());
        let first = Instant::now() + limits::FIRST_MESSAGE;
        while result.is_ok() {
            let next = requests.next();
            let next = match &self.device {
                Some(_) => next.await,
                None => match timeout_at(first, next).await {
                    Ok(next) => next,
                    Err(_) => return Err(Status::deadline_exceeded("this stream received no arbitration")),
                },
            };
            result = match next {
                Some(Ok(bytes)) => match request::decode(bytes, "the message") {
                    Ok(message) => self.take(message).await,
                    Err(status) => Err(status),
                },
                Some(Err(status)) if status.code() == Code::OutOfRange => {
                    Err(limits::too_long(limits::STREAM_BYTES))
                }
                // The connection broke or the controller hung up.
                Some(Err(_)) | None => break,
            }
        }
        if let Some(device) = self.device {
            device.leave(self.client).await;
        }
        result
    }

    async fn take(&mut self, message: v1::StreamMessageRequest) -> Result<(), Status> {
        use stream_message_request::Update;
        match (message.update, &self.device) {
            (Some(Update::Arbitration(update)), assigned) => {
                if let Some(device) = assigned
                    && device.id().0 != update.device_id
                {
                    return Err(Status::failed_precondition(format!(
                        "this stream is for device {}: open another one for device {}",
                        device.id(),
                        update.device_id
                    )));
                }
                let device = self.service.device(update.device_id)?;
                self.device = Some(device.clone());
                device.arbitrate(self.client, &update, &self.out).await
            }
            (Some(Update::Packet(packet)), Some(device)) => {
                if let Err(error) = device.packet_out(self.client, &packet).await {
                    let details = v1::PacketOutError { packet_out: Some(packet) };
                    self.complain(error, v1::stream_error::Details::PacketOut(details));
                }
                Ok(())
            }
            (Some(Update::DigestAck(ack)), Some(device)) => {
                if let Err(error) = device.acknowledge(self.client, ack).await {
                    let details = v1::DigestListAckError { digest_list_ack: Some(ack) };
                    self.complain(error, v1::stream_error::Details::DigestListAck(details));
                }
                Ok(())
            }
            (Some(Update::Other(other)), Some(_)) => {
                let error = Status::unimplemented(format!("{} is not known here", other.type_url));
                let details = v1::StreamOtherError { other: Some(other) };
                self.complain(error, v1::stream_error::Details::Other(details));
                Ok(())
            }
            (_, None) => {
                Err(Status::failed_precondition("the first message of a stream must be an arbitration"))
            }
            (None, Some(_)) => Ok(()),
        }
    }

    /// Reports an error in a message of the stream, unless the controller is too slow to read it.
    fn complain(&self, error: Status, details: v1::stream_error::Details) {
        let error = v1::StreamError {
            canonical_code: error.code() as i32,
            message: error.message().to_owned(),
            details: Some(details),
            ..Default::default()
        };
        let update = Some(stream_message_response::Update::Error(error));
        self.out.send(v1::StreamMessageResponse { update });
    }
}
