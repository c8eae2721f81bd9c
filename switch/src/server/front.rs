//! The gRPC face of the service: which call it is, how long its request may be, and whether there is a place
//! for it.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use inart_p4runtime::p4::v1;
use prost::Message;
use prost::bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_stream::Stream;
use tonic::body::Body;
use tonic::codegen::{self, http};
use tonic::server::{Grpc, NamedService, ServerStreamingService, StreamingService, UnaryService};
use tonic::{Code, Request, Response, Status, Streaming};

use super::codec::Undecoded;
use super::limits::{self, beyond, too_long};
use super::outbox::Answers;
use super::service::Service;
use super::sliced::Sliced;

type Reply = http::Response<Body>;
type Promise<T> = Pin<Box<dyn Future<Output = Result<Response<T>, Status>> + Send>>;

/// Places for active calls.
#[derive(Debug, Clone)]
pub(super) struct Places {
    calls: Arc<Semaphore>,
    reads: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    pipelines_in: Arc<Semaphore>,
    pipelines_out: Arc<Semaphore>,
}

impl Default for Places {
    fn default() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self {
            calls: places(limits::CALLS),
            reads: places(limits::READS),
            streams: places(limits::STREAMS),
            pipelines_in: places(limits::PIPELINES),
            pipelines_out: places(limits::PIPELINES),
        }
    }
}

fn take(places: &Arc<Semaphore>, what: &str) -> Result<OwnedSemaphorePermit, Status> {
    let place = places.clone().try_acquire_owned();
    place.map_err(|_| beyond(format!("the limit of concurrent {what} is reached: try again later")))
}

/// The service as HTTP/2 reaches it.
#[derive(Clone)]
pub(super) struct Front {
    pub service: Service,
    pub places: Places,
}

impl NamedService for Front {
    const NAME: &'static str = "p4.v1.P4Runtime";
}

impl codegen::Service<http::Request<Body>> for Front {
    type Response = Reply;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Reply, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let front = self.clone();
        Box::pin(async move { Ok(front.answer(request).await.unwrap_or_else(Status::into_http)) })
    }
}

impl Front {
    async fn answer(self, request: http::Request<Body>) -> Result<Reply, Status> {
        let method = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
        let Self { service, places } = self;
        match method.as_str() {
            "Write" => {
                let _place = take(&places.calls, "calls")?;
                let call = move |bytes| async move { service.write(bytes).await };
                unary::<v1::WriteResponse, _, _>(request, limits::WRITE_BYTES, call).await
            }
            "Read" => {
                let place = take(&places.reads, "reads")?;
                let call = Call::new(move |bytes| service.clone().read(bytes, place));
                let reached = call.reached.clone();
                let mut grpc = Grpc::new(Undecoded::<v1::ReadResponse>::default())
                    .max_decoding_message_size(limits::READ_BYTES);
                in_time(grpc.server_streaming(call, request), &reached, limits::READ_BYTES).await
            }
            "SetForwardingPipelineConfig" => {
                let _place = take(&places.pipelines_in, "pipeline configurations")?;
                let call = move |bytes| async move { service.set_pipeline(bytes).await };
                type Done = v1::SetForwardingPipelineConfigResponse;
                unary::<Done, _, _>(request, limits::PIPELINE_BYTES, call).await
            }
            "GetForwardingPipelineConfig" => {
                let place = take(&places.pipelines_out, "pipeline configurations")?;
                let call = move |bytes| async move { service.get_pipeline(bytes).await };
                type Answer = v1::GetForwardingPipelineConfigResponse;
                let reply = unary::<Answer, _, _>(request, limits::STREAM_BYTES, call).await?;
                Ok(reply.map(|body| Body::new(Sliced::new(body, place))))
            }
            "StreamChannel" => {
                let place = take(&places.streams, "streams")?;
                let call = Call::new(move |requests| service.clone().stream_channel(requests, place));
                let mut grpc = Grpc::new(Undecoded::<v1::StreamMessageResponse>::default())
                    .max_decoding_message_size(limits::STREAM_BYTES);
                Ok(grpc.streaming(call, request).await)
            }
            "Capabilities" => {
                let _place = take(&places.calls, "calls")?;
                let call = |_| async { Ok(Service::capabilities()) };
                unary::<v1::CapabilitiesResponse, _, _>(request, limits::STREAM_BYTES, call).await
            }
            _ => Err(Status::unimplemented(format!("P4Runtime has no call {method}"))),
        }
    }
}

/// A call's handler, once, and whether its request has reached it.
struct Call<F> {
    handler: Option<F>,
    reached: Arc<AtomicBool>,
}

impl<F> Call<F> {
    fn new(handler: F) -> Self {
        Self { handler: Some(handler), reached: Arc::default() }
    }

    fn start<A, T, W>(&mut self, argument: A) -> Promise<T>
    where
        F: FnOnce(A) -> W,
        W: Future<Output = Result<T, Status>> + Send + 'static,
    {
        self.reached.store(true, Ordering::Relaxed);
        match self.handler.take() {
            Some(handler) => {
                let work = handler(argument);
                Box::pin(async move { work.await.map(Response::new) })
            }
            None => Box::pin(async { Err(Status::internal("a call was handled twice")) }),
        }
    }
}

/// A handler that gives one answer.
struct One<F>(Call<F>);

impl<T, F, W> UnaryService<Bytes> for One<F>
where
    T: Message + Default + 'static,
    F: FnOnce(Bytes) -> W,
    W: Future<Output = Result<T, Status>> + Send + 'static,
{
    type Response = T;
    type Future = Promise<T>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        self.0.start(request.into_inner())
    }
}

impl<T, S, F, W> ServerStreamingService<Bytes> for Call<F>
where
    T: Message + Default + 'static,
    S: Stream<Item = Result<T, Status>> + 'static,
    F: FnOnce(Bytes) -> W,
    W: Future<Output = Result<S, Status>> + Send + 'static,
{
    type Response = T;
    type ResponseStream = S;
    type Future = Promise<S>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        self.start(request.into_inner())
    }
}

impl<F, W> StreamingService<Bytes> for Call<F>
where
    F: FnOnce(Streaming<Bytes>) -> W,
    W: Future<Output = Result<Answers, Status>> + Send + 'static,
{
    type Response = v1::StreamMessageResponse;
    type ResponseStream = Answers;
    type Future = Promise<Answers>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        self.start(request.into_inner())
    }
}

async fn unary<T, F, W>(request: http::Request<Body>, most: usize, handler: F) -> Result<Reply, Status>
where
    T: Message + Default + 'static,
    F: FnOnce(Bytes) -> W,
    W: Future<Output = Result<T, Status>> + Send + 'static,
{
    let call = One(Call::new(handler));
    let reached = call.0.reached.clone();
    let mut grpc = Grpc::new(Undecoded::<T>::default()).max_decoding_message_size(most);
    in_time(grpc.unary(call, request), &reached, most).await
}

/// Returns the reply of a call with a deadline; for a request that did not reach its handler, the reason.
async fn in_time(
    call: impl Future<Output = Reply>,
    reached: &AtomicBool,
    most: usize,
) -> Result<Reply, Status> {
    let late = |_| Status::deadline_exceeded("the call took too long");
    let reply = tokio::time::timeout(limits::CALL_TIME, call).await.map_err(late)?;
    let refused = Status::from_header_map(reply.headers()).map(|status| status.code());
    match !reached.load(Ordering::Relaxed) && refused == Some(Code::OutOfRange) {
        true => Err(too_long(most)),
        false => Ok(reply),
    }
}
