//! The gRPC service: finds the device a call is for and hands the call to it.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use inart_p4runtime::p4::v1::{
    self, p4_runtime_server::P4Runtime, stream_message_request, stream_message_response,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};

use super::arbitration::ClientId;
use super::device::Device;

/// The version of the specification that the service follows.
const API_VERSION: &str = "1.4.1";

/// Messages to a controller kept while its connection is slow.
const STREAM_QUEUE: usize = 1024;

/// Entities per answer of a read.
const READ_CHUNK: usize = 1024;

/// All devices of a process.
#[derive(Clone)]
pub(super) struct Service {
    devices: Arc<BTreeMap<u64, Arc<Device>>>,
    next_client: Arc<AtomicU64>,
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

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

#[tonic::async_trait]
impl P4Runtime for Service {
    type ReadStream = Answers<v1::ReadResponse>;
    type StreamChannelStream = Answers<v1::StreamMessageResponse>;

    async fn write(&self, request: Request<v1::WriteRequest>) -> Result<Response<v1::WriteResponse>, Status> {
        let request = request.into_inner();
        self.device(request.device_id)?.write(request).await?;
        Ok(Response::new(v1::WriteResponse {}))
    }

    async fn read(&self, request: Request<v1::ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let request = request.into_inner();
        let (mut entities, end) = self.device(request.device_id)?.read(request).await?;
        let mut parts = Vec::new();
        while !entities.is_empty() {
            let rest = entities.split_off(entities.len().min(READ_CHUNK));
            parts.push(Ok(v1::ReadResponse { entities }));
            entities = rest;
        }
        parts.extend(end.err().map(Err));
        Ok(Response::new(Box::pin(tokio_stream::iter(parts))))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<v1::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v1::SetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        self.device(request.device_id)?.set_pipeline(request).await?;
        Ok(Response::new(v1::SetForwardingPipelineConfigResponse {}))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<v1::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v1::GetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        let config = self.device(request.device_id)?.get_pipeline(&request).await?;
        Ok(Response::new(v1::GetForwardingPipelineConfigResponse { config }))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<v1::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let client = ClientId(self.next_client.fetch_add(1, Ordering::Relaxed));
        let (out, answers) = mpsc::channel(STREAM_QUEUE);
        let session = Session { service: self.clone(), client, out: out.clone(), device: None };
        tokio::spawn(async move {
            if let Err(status) = session.run(request.into_inner()).await {
                // Who has gone away need not be told.
                let _ = out.send(Err(status)).await;
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(answers))))
    }

    async fn capabilities(
        &self,
        _: Request<v1::CapabilitiesRequest>,
    ) -> Result<Response<v1::CapabilitiesResponse>, Status> {
        Ok(Response::new(v1::CapabilitiesResponse { p4runtime_api_version: API_VERSION.to_owned() }))
    }
}

/// One stream of one controller.
struct Session {
    service: Service,
    client: ClientId,
    out: mpsc::Sender<Result<v1::StreamMessageResponse, Status>>,
    /// Set by the first arbitration.
    device: Option<Arc<Device>>,
}

impl Session {
    /// Serves the stream until it ends; an error ends it from this side.
    async fn run(mut self, mut requests: Streaming<v1::StreamMessageRequest>) -> Result<(), Status> {
        let mut result = Ok(());
        while result.is_ok() {
            match requests.next().await {
                Some(Ok(message)) => result = self.take(message).await,
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
        let _ = self.out.try_send(Ok(v1::StreamMessageResponse { update }));
    }
}
