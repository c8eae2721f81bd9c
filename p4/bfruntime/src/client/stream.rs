//! The stream of a client: while it is open, the device knows the client.

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

use super::error::ClientError;
use super::target::Target;
use crate::bfrt_proto::{
    self as v, bf_runtime_client::BfRuntimeClient, stream_message_request, stream_message_response, subscribe,
};

/// What a device tells its clients: digests, idle entries, ports that went up or down, programs that were
/// changed.
pub type Event = stream_message_response::Update;

/// Events kept for a receiver that is slow.
pub const EVENT_QUEUE: usize = 4096;

/// Messages to the device kept while the network is slow.
const OUT_QUEUE: usize = 16;

#[derive(Debug, Clone)]
enum Session {
    Opening,
    Open,
    Closed(Status),
}

pub(super) struct Stream {
    /// Held open: the device forgets a client that has nothing more to say.
    _to_device: mpsc::Sender<v::StreamMessageRequest>,
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
        mut service: BfRuntimeClient<Channel>,
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
        let subscription = v::Subscribe {
            device_id: target.device.0,
            notifications: Some(subscribe::Notifications {
                enable_port_status_change_notifications: true,
                ..Default::default()
            }),
            ..Default::default()
        };
        let message = v::StreamMessageRequest {
            client_id: target.client.0,
            update: Some(stream_message_request::Update::Subscribe(subscription)),
        };
        // The queue has room; a stream that is closed already says why below.
        let _ = to_device.send(message).await;
        let mut stream = Self { _to_device: to_device, session, events: Some(events), reader };
        stream.wait_open(target).await?;
        Ok(stream)
    }

    async fn wait_open(&mut self, target: &Target) -> Result<(), ClientError> {
        let answered = self.session.wait_for(|session| !matches!(session, Session::Opening));
        match tokio::time::timeout(target.timeout, answered)
            .await
            .map(|session| session.map(|now| now.clone()))
        {
            Err(_) => Err(ClientError::timeout(target, "the subscription", target.timeout)),
            Ok(Ok(Session::Closed(status))) => Err(ClientError::opening(target, status).await),
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(closed(target, ended())),
        }
    }

    /// Waits until the stream is over, and says why.
    pub(super) async fn lost(&self, target: &Target) -> ClientError {
        let mut session = self.session.clone();
        let over = session.wait_for(|session| matches!(session, Session::Closed(_)));
        match over.await.map(|session| session.clone()) {
            Ok(Session::Closed(status)) => closed(target, status),
            _ => closed(target, ended()),
        }
    }

    pub(super) fn take_events(&mut self) -> Option<mpsc::Receiver<Event>> {
        self.events.take()
    }
}

fn ended() -> Status {
    Status::unavailable("the stream was closed")
}

fn closed(target: &Target, status: Status) -> ClientError {
    ClientError::rpc("StreamChannel", target, status)
}

async fn read(
    mut answers: Streaming<v::StreamMessageResponse>,
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
            Some(Event::Subscribe(subscription)) => {
                let status = subscription.status.unwrap_or_default();
                if status.code != Code::Ok as i32 {
                    return Status::new(status.code.into(), status.message);
                }
                session.send_replace(Session::Open);
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
