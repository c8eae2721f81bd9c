//! A client of a server on gRPC's C core, which ends a connection with its third ping without data, and of a
//! server that stands still.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use inart_p4runtime::p4::v1::p4_runtime_server::{P4Runtime, P4RuntimeServer};
use inart_p4runtime::p4::v1::{self, stream_message_response};
use inart_p4runtime::{Client, ClientError, DeviceId, Pipeline, PipelineAction, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};

/// Longer than two of the pings that clients used to send.
const LONG: Duration = Duration::from_secs(5);

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// A device whose clients are all primary; it takes [`LONG`] to load a program, and may stop responding.
struct Device {
    stands_still: bool,
}

#[tonic::async_trait]
impl P4Runtime for Device {
    async fn write(&self, _: Request<v1::WriteRequest>) -> Result<Response<v1::WriteResponse>, Status> {
        Ok(Response::new(Default::default()))
    }

    type ReadStream = Answers<v1::ReadResponse>;

    async fn read(&self, _: Request<v1::ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let first = tokio_stream::once(Ok(v1::ReadResponse::default()));
        match self.stands_still {
            true => Ok(Response::new(Box::pin(first.chain(tokio_stream::pending())))),
            false => Ok(Response::new(Box::pin(tokio_stream::empty()))),
        }
    }

    async fn set_forwarding_pipeline_config(
        &self,
        _: Request<v1::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v1::SetForwardingPipelineConfigResponse>, Status> {
        tokio::time::sleep(LONG).await;
        Ok(Response::new(Default::default()))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        _: Request<v1::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<v1::GetForwardingPipelineConfigResponse>, Status> {
        if self.stands_still {
            std::future::pending::<()>().await;
        }
        Err(Status::failed_precondition("no program"))
    }

    type StreamChannelStream = Answers<v1::StreamMessageResponse>;

    async fn stream_channel(
        &self,
        requests: Request<Streaming<v1::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let answers = requests.into_inner().map(|request| {
            let Some(v1::stream_message_request::Update::Arbitration(mut asked)) = request?.update else {
                return Err(Status::invalid_argument("only arbitration is served"));
            };
            asked.status = Some(Default::default());
            let update = Some(stream_message_response::Update::Arbitration(asked));
            Ok(v1::StreamMessageResponse { update })
        });
        Ok(Response::new(Box::pin(answers)))
    }

    async fn capabilities(
        &self,
        _: Request<v1::CapabilitiesRequest>,
    ) -> Result<Response<v1::CapabilitiesResponse>, Status> {
        Err(Status::unimplemented("no"))
    }
}

async fn serve(device: Device) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let incoming = tokio_stream::wrappers::TcpListenerStream::new(listener);
    let server = tonic::transport::Server::builder().add_service(P4RuntimeServer::new(device));
    tokio::spawn(server.serve_with_incoming(incoming));
    address
}

/// Pings of clients through a relay: all of them, and those since the server sent data.
#[derive(Default)]
struct Pings {
    all: AtomicUsize,
    strikes: AtomicUsize,
}

/// Passes HTTP/2 frames on, and ends a connection with the third ping without data, as the C core does.
fn relay(server: String) -> (String, Arc<Pings>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, pings) = (listener.local_addr().unwrap().to_string(), Arc::new(Pings::default()));
    let counted = pings.clone();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
            let (back, there) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let pings = counted.clone();
            std::thread::spawn(move || {
                pass(client, server, 24, |kind, flags| match (kind, flags & 1) {
                    (6, 0) => {
                        pings.all.fetch_add(1, Ordering::Relaxed);
                        pings.strikes.fetch_add(1, Ordering::Relaxed) < 2
                    }
                    _ => true,
                })
            });
            let pings = counted.clone();
            std::thread::spawn(move || {
                pass(there, back, 0, |kind, _| {
                    if kind <= 1 {
                        pings.strikes.store(0, Ordering::Relaxed);
                    }
                    true
                })
            });
        }
    });
    (address, pings)
}

/// Copies a preface and then frames, as long as `goes_on` with their kinds and flags.
fn pass(mut from: TcpStream, mut to: TcpStream, preface: usize, goes_on: impl Fn(u8, u8) -> bool) {
    let mut copy = || -> std::io::Result<()> {
        let mut first = vec![0; preface];
        from.read_exact(&mut first)?;
        to.write_all(&first)?;
        loop {
            let mut head = [0; 9];
            from.read_exact(&mut head)?;
            let mut body =
                vec![0; usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2])];
            from.read_exact(&mut body)?;
            if !goes_on(head[3], head[4]) {
                return Ok(());
            }
            to.write_all(&head)?;
            to.write_all(&body)?;
        }
    };
    let _ = copy();
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

async fn connect(address: &str) -> Client {
    Client::connect(Target::new(address, DeviceId(1))).await.unwrap()
}

#[tokio::test]
async fn a_server_that_forbids_pings_keeps_clients_that_wait() {
    let (address, pings) = relay(serve(Device { stands_still: false }).await);
    let (idle, watching, loading) =
        (connect(&address).await, connect(&address).await, connect(&address).await);
    let load = loading.set_pipeline(PipelineAction::VerifyAndCommit, Some(Pipeline::default()));
    tokio::select! {
        loaded = load => loaded.unwrap(),
        why = watching.lost() => panic!("{why}"),
        why = async { tokio::time::sleep(2 * LONG).await; idle.lost().await } => panic!("{why}"),
    }
    assert!(idle.is_primary() && watching.is_primary());
    assert_eq!(pings.all.load(Ordering::Relaxed), 0);
    idle.read(Vec::new()).await.unwrap();
}

#[tokio::test]
async fn a_server_that_stands_still_is_noticed() {
    let address = serve(Device { stands_still: true }).await;
    let target = Target { timeout: Duration::from_secs(3), ..Target::new(address, DeviceId(1)) };
    let client = Client::connect(target).await.unwrap();
    let why = tokio::time::timeout(Duration::from_secs(60), client.lost()).await.unwrap();
    assert!(matches!(why, ClientError::Timeout { .. }), "{why}");
    assert!(why.to_string().contains("did not answer whether it still runs within 3s"), "{why}");
}

#[tokio::test]
async fn a_read_that_stops_in_the_middle_ends() {
    let address = serve(Device { stands_still: true }).await;
    let target = Target { call_timeout: Duration::from_secs(3), ..Target::new(address, DeviceId(1)) };
    let client = Client::connect(target).await.unwrap();
    let read = tokio::time::timeout(Duration::from_secs(60), client.read(Vec::new())).await;
    let why = read.expect("it ends").unwrap_err();
    assert!(why.to_string().contains("did not answer Read within 3s"), "{why}");
}

/// Accepts a connection and closes it without an answer; then accepts others, if `incarnations`, as a switch
/// that is killed and one that has started again do.
async fn closing(incarnations: bool, then: &'static [u8]) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let (mut first, _) = listener.accept().await.unwrap();
        let _ = first.read(&mut [0; 24]).await;
        let listener = incarnations.then_some(listener);
        drop(first);
        while let Some(listener) = &listener {
            let (mut next, _) = listener.accept().await.unwrap();
            let _ = (next.write_all(then).await, next.read(&mut [0; 24]).await);
        }
    });
    address
}

#[tokio::test]
async fn a_connection_that_ends_at_once_differs_from_a_server_that_wants_tls() {
    let settings = b"\0\0\0\x04\0\0\0\0\0";
    for (incarnations, then, says) in [
        (false, &[][..], "no P4Runtime server answers at"),
        (true, settings, "try again, or look at the switch's log"),
        (true, &[], "connect by TLS"),
    ] {
        let address = closing(incarnations, then).await;
        let refused = Client::connect(Target::new(&address, DeviceId(1))).await;
        let Err(why) = refused else { panic!("nothing serves at {address}") };
        assert!(why.to_string().contains(says), "{says}: {why}");
        assert_eq!(why.to_string().contains("TLS"), says.contains("TLS"), "{why}");
    }
}
