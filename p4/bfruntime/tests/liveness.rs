//! A client of a driver that stands still in the middle of its answers.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use inart_bfruntime::bfrt_proto::bf_runtime_server::{BfRuntime, BfRuntimeServer};
use inart_bfruntime::bfrt_proto::{self as v, stream_message_response};
use inart_bfruntime::google::rpc;
use inart_bfruntime::{Client, ClientError, DeviceId, Entry, Info, Target};
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// A driver that answers subscriptions, and of a read gives the first part only, or nothing.
struct Stalling {
    stands_still: bool,
}

#[tonic::async_trait]
impl BfRuntime for Stalling {
    async fn write(&self, _: Request<v::WriteRequest>) -> Result<Response<v::WriteResponse>, Status> {
        Ok(Response::new(Default::default()))
    }

    type ReadStream = Answers<v::ReadResponse>;

    async fn read(&self, _: Request<v::ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        if self.stands_still {
            std::future::pending::<()>().await;
        }
        let first = tokio_stream::once(Ok(v::ReadResponse::default()));
        Ok(Response::new(Box::pin(first.chain(tokio_stream::pending()))))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        _: Request<v::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v::SetForwardingPipelineConfigResponse>, Status> {
        std::future::pending().await
    }

    async fn get_forwarding_pipeline_config(
        &self,
        _: Request<v::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v::GetForwardingPipelineConfigResponse>, Status> {
        std::future::pending().await
    }

    type StreamChannelStream = Answers<v::StreamMessageResponse>;

    async fn stream_channel(
        &self,
        _: Request<Streaming<v::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let known = v::Subscribe { status: Some(rpc::Status::default()), ..Default::default() };
        let update = Some(stream_message_response::Update::Subscribe(known));
        let known = tokio_stream::once(Ok(v::StreamMessageResponse { update }));
        Ok(Response::new(Box::pin(known.chain(tokio_stream::pending()))))
    }
}

async fn serve(driver: Stalling) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let incoming = tokio_stream::wrappers::TcpListenerStream::new(listener);
    let server = tonic::transport::Server::builder().add_service(BfRuntimeServer::new(driver));
    tokio::spawn(server.serve_with_incoming(incoming));
    address
}

#[tokio::test]
async fn a_driver_that_stands_still_is_noticed() {
    let address = serve(Stalling { stands_still: true }).await;
    let target = Target { timeout: Duration::from_millis(500), ..Target::new(address, DeviceId(1)) };
    let client = Client::connect(target).await.unwrap();
    let why = tokio::time::timeout(Duration::from_secs(60), client.lost()).await.unwrap();
    assert!(matches!(why, ClientError::Timeout { .. }), "{why}");
    assert!(why.to_string().contains("did not answer whether it still runs within 500ms"), "{why}");
}

#[tokio::test]
async fn a_call_that_is_never_answered_to_its_end_fails() {
    let address = serve(Stalling { stands_still: false }).await;
    let target = Target { call_timeout: Duration::from_millis(300), ..Target::new(address, DeviceId(1)) };
    let client = Client::connect(target).await.unwrap();
    let info = br#"{"tables":[{"name":"pipe.t","id":1,"table_type":"MatchAction_Direct","size":1}]}"#;
    client.use_program("p", Arc::new(Info::from_json(info).unwrap()));
    let within = |what| tokio::time::timeout(Duration::from_secs(60), what);
    let whole = [Entry::new("t")];
    let why = within(client.read(&whole)).await.expect("it ends").unwrap_err();
    assert!(matches!(why, ClientError::Timeout { .. }), "{why}");
    let said = why.to_string();
    assert!(said.contains("did not answer Read within 300ms"), "{said}");
    let why = tokio::time::timeout(Duration::from_secs(60), client.configs()).await.unwrap().err().unwrap();
    assert!(matches!(why, ClientError::Timeout { .. }), "{why}");
}
