//! The gRPC service: hands calls to the device, and keeps the streams.

use std::sync::Arc;

use inart_bfruntime::bfrt_proto::bf_runtime_server::BfRuntime;
use inart_bfruntime::bfrt_proto::stream_message_request::Update as Message;
use inart_bfruntime::bfrt_proto::stream_message_response::Update as Event;
use inart_bfruntime::bfrt_proto::{self as v, Subscribe};
use inart_bfruntime::google::rpc;
use prost::Message as _;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use super::clients::Stay;
use super::device::{Device, Listener};
use super::places::place;
use super::reads::Reading;
use crate::server::answers::{self, Parts};
use crate::server::limits;

/// Messages that wait for a client.
const WAITING: usize = 256;

/// The service of one device.
pub(super) struct Service {
    device: Arc<Device>,
    reads: Arc<Semaphore>,
    streams: Arc<Semaphore>,
}

impl Service {
    pub fn new(device: Arc<Device>) -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { device, reads: places(limits::READS), streams: places(limits::STREAMS) }
    }
}

/// A read of the device.
struct DeviceRead {
    device: Arc<Device>,
    reading: Reading,
}

impl Parts for DeviceRead {
    type Entity = v::Entity;
    type Answer = v::ReadResponse;

    fn next(&mut self) -> impl Future<Output = Result<Option<Vec<v::Entity>>, Status>> + Send {
        self.device.read(&mut self.reading)
    }

    fn answer(entities: Vec<v::Entity>) -> v::ReadResponse {
        v::ReadResponse { entities, status: Vec::new() }
    }
}

#[tonic::async_trait]
impl BfRuntime for Service {
    type ReadStream = ReceiverStream<Result<v::ReadResponse, Status>>;
    type StreamChannelStream = ReceiverStream<Result<v::StreamMessageResponse, Status>>;

    async fn write(&self, request: Request<v::WriteRequest>) -> Result<Response<v::WriteResponse>, Status> {
        let request = request.into_inner();
        self.device.check_id(request.target.unwrap_or_default().device_id)?;
        self.device.write(request).await?;
        Ok(Response::new(v::WriteResponse::default()))
    }

    async fn read(&self, request: Request<v::ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let place = place(self.reads.clone(), "reads")?;
        let request = request.into_inner();
        if request.encoded_len() > limits::READ_BYTES {
            return Err(limits::too_long(limits::READ_BYTES));
        }
        self.device.check_id(request.target.unwrap_or_default().device_id)?;
        let begun = self.device.begin_read(request.client_id, &request.p4_name, request.entities);
        let (reading, turn) = begun.await?;
        // The next answer is made when the connection has taken the one before.
        let (out, answers) = mpsc::channel(1);
        let read = DeviceRead { device: self.device.clone(), reading };
        tokio::spawn(async move {
            answers::send(read, turn, &out).await;
            drop(place);
        });
        Ok(Response::new(ReceiverStream::new(answers)))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<v::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v::SetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        self.device.check_id(request.device_id)?;
        self.device.set_program(request).await?;
        Ok(Response::new(v::SetForwardingPipelineConfigResponse::default()))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<v::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v::GetForwardingPipelineConfigResponse>, Status> {
        self.device.check_id(request.into_inner().device_id)?;
        Ok(Response::new(self.device.programs().await))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<v::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let place = place(self.streams.clone(), "streams")?;
        let (out, answers) = mpsc::channel(WAITING);
        let (device, requests) = (self.device.clone(), request.into_inner());
        tokio::spawn(async move {
            if let Err(status) = serve(&device, requests, &out).await {
                // A disconnected client needs no notice.
                let _ = out.send(Err(status)).await;
            }
            drop(place);
        });
        Ok(Response::new(ReceiverStream::new(answers)))
    }
}

type Out = mpsc::Sender<Result<v::StreamMessageResponse, Status>>;

/// Serves a stream until it ends: while it is open, its client is there.
async fn serve(
    device: &Device,
    mut requests: Streaming<v::StreamMessageRequest>,
    out: &Out,
) -> Result<(), Status> {
    let first = timeout(limits::FIRST_MESSAGE, requests.message()).await;
    let late = |_| Status::deadline_exceeded("this stream received no subscription");
    let Some(message) = first.map_err(late)?? else { return Ok(()) };
    let Some(Message::Subscribe(subscription)) = message.update else {
        return Err(Status::failed_precondition("the first message of a stream must be a subscription"));
    };
    let stay = subscribe(device, message.client_id, &subscription, out).await?;
    let ended = rest(requests, out).await;
    device.leave(stay).await;
    ended
}

async fn subscribe(
    device: &Device,
    client: u32,
    subscription: &Subscribe,
    out: &Out,
) -> Result<Stay, Status> {
    device.check_id(subscription.device_id)?;
    let wanted = subscription.notifications.unwrap_or_default();
    let listener = Listener { out: out.clone(), ports: wanted.enable_port_status_change_notifications };
    let stay = device.join(client, listener.clone()).await?;
    let accepted = Subscribe { status: Some(rpc::Status::default()), ..Default::default() };
    listener.notify(Event::Subscribe(accepted));
    Ok(stay)
}

/// Waits until the client disconnects, or the device disconnects it, which closes its queue.
async fn rest(mut requests: Streaming<v::StreamMessageRequest>, out: &Out) -> Result<(), Status> {
    loop {
        let message = tokio::select! {
            message = requests.message() => message,
            () = out.closed() => return Ok(()),
        };
        match message {
            // A second subscription changes nothing.
            Ok(Some(message)) if matches!(message.update, Some(Message::DigestAck(_))) => {
                return Err(Status::unimplemented("digests are not served here"));
            }
            Ok(Some(_)) => {}
            // The connection broke or the client hung up.
            Ok(None) | Err(_) => return Ok(()),
        }
    }
}
