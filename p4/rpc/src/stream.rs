//! The stream of a session: it opens with one message, the device answers with its state, and events follow.

use std::error::Error;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Response, Status, Streaming};

use crate::device::Device;
use crate::error::ClientError;

/// The call of the stream, in both protocols.
const CALL: &str = "StreamChannel";

/// Events kept for a receiver that is slow.
pub const EVENT_QUEUE: usize = 4096;

/// Messages to the device kept while the network is slow; senders wait when it is full.
const OUT_QUEUE: usize = 256;

/// The messages of a protocol's stream.
pub trait Protocol: 'static {
    /// To the device.
    type Request: Send + 'static;
    /// From the device.
    type Response: Send + 'static;
    /// State of the session, as the device reports it.
    type State: Clone + Send + Sync + 'static;
    /// Other events.
    type Event: Send + 'static;

    /// Classifies a message of the device.
    fn read(message: Self::Response) -> DeviceMessage<Self::State, Self::Event>;
}

/// Content of a device's message.
#[derive(Debug)]
pub enum DeviceMessage<S, E> {
    /// State of the session from now on.
    State(S),
    /// End of the session.
    Over(Status),
    /// Event for the consumer.
    Event(E),
    /// Message without content.
    Nothing,
}

/// Answer of the device while a client waited for a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// State reached.
    Reached,
    /// State not reached within the timeout.
    NotYet,
}

#[derive(Debug, Clone)]
enum Session<S> {
    Opening,
    Open(S),
    Closed(Status),
}

/// An open stream. Dropping it ends the session.
pub struct Stream<P: Protocol> {
    /// Held open: a device drops a client whose requests have ended.
    to_device: mpsc::Sender<P::Request>,
    session: watch::Receiver<Session<P::State>>,
    events: Option<mpsc::Receiver<P::Event>>,
    reader: JoinHandle<()>,
}

impl<P: Protocol> Drop for Stream<P> {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl<P: Protocol> Stream<P> {
    /// Makes the call, sends the first message and waits for the device's state; `first` names that state in
    /// errors.
    ///
    /// # Errors
    /// Returns an error if the device refuses the stream, or does not answer in time.
    pub async fn open<O: Error + 'static, F>(
        device: &Device,
        (first, message): (&'static str, P::Request),
        patience: Duration,
        call: impl FnOnce(ReceiverStream<P::Request>) -> F,
    ) -> Result<Self, ClientError<O>>
    where
        F: Future<Output = Result<Response<Streaming<P::Response>>, Status>> + Send + 'static,
    {
        let (to_device, requests) = mpsc::channel(OUT_QUEUE);
        let (events_in, events) = mpsc::channel(EVENT_QUEUE);
        let (session_in, session) = watch::channel(Session::Opening);
        let answers = call(ReceiverStream::new(requests));
        let reader = tokio::spawn(async move {
            let status = match answers.await {
                Ok(answers) => read::<P>(answers.into_inner(), &session_in, &events_in).await,
                Err(status) => status,
            };
            session_in.send_replace(Session::Closed(status));
        });
        let mut stream = Self { to_device, session, events: Some(events), reader };
        // The queue has room; a closed stream reports the reason below.
        let _ = stream.to_device.send(message).await;
        let answered = stream.session.wait_for(|session| !matches!(session, Session::Opening));
        let answered = tokio::time::timeout(patience, answered).await.map(|now| now.map(|now| now.clone()));
        match answered {
            Err(_) => Err(device.timeout(first, patience)),
            Ok(Ok(Session::Closed(status))) => Err(device.opening(CALL, status).await),
            Ok(Ok(_)) => Ok(stream),
            Ok(Err(_)) => Err(closed(device, ended())),
        }
    }

    /// Returns the device's last word on the session, while that lasts.
    pub fn state(&self) -> Option<P::State> {
        match &*self.session.borrow() {
            Session::Open(state) => Some(state.clone()),
            Session::Opening | Session::Closed(_) => None,
        }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// The stream is over.
    pub async fn send<O: Error + 'static>(
        &self,
        device: &Device,
        message: P::Request,
    ) -> Result<(), ClientError<O>> {
        self.to_device.send(message).await.map_err(|_| match &*self.session.borrow() {
            Session::Closed(status) => closed(device, status.clone()),
            _ => closed(device, ended()),
        })
    }

    /// Waits until the state is so, up to `limit`.
    ///
    /// # Errors
    /// The stream is over.
    pub async fn wait<O: Error + 'static>(
        &self,
        device: &Device,
        limit: Duration,
        is_so: impl Fn(&P::State) -> bool,
    ) -> Result<Answered, ClientError<O>> {
        match tokio::time::timeout(limit, self.until(device, is_so)).await {
            Ok(None) => Ok(Answered::Reached),
            Ok(Some(closed)) => Err(closed),
            Err(_) => Ok(Answered::NotYet),
        }
    }

    /// Waits until the state matches (`None`), or the stream ends, and returns the reason.
    pub async fn until<O: Error + 'static>(
        &self,
        device: &Device,
        is_so: impl Fn(&P::State) -> bool,
    ) -> Option<ClientError<O>> {
        let mut session = self.session.clone();
        let over = session.wait_for(|session| match session {
            Session::Open(state) => is_so(state),
            Session::Closed(_) => true,
            Session::Opening => false,
        });
        match over.await.map(|session| session.clone()) {
            Ok(Session::Closed(status)) => Some(closed(device, status)),
            Ok(_) => None,
            Err(_) => Some(closed(device, ended())),
        }
    }

    /// Returns the receiver of the device's events. Only the first call does; further calls return `None`. A
    /// receiver that falls 4096 events behind loses the newest, which is logged.
    pub fn take_events(&mut self) -> Option<mpsc::Receiver<P::Event>> {
        self.events.take()
    }
}

fn ended() -> Status {
    Status::unavailable("the stream was closed")
}

fn closed<O: Error + 'static>(device: &Device, status: Status) -> ClientError<O> {
    device.rpc(CALL, status)
}

async fn read<P: Protocol>(
    mut answers: Streaming<P::Response>,
    session: &watch::Sender<Session<P::State>>,
    events: &mpsc::Sender<P::Event>,
) -> Status {
    loop {
        let message = match answers.message().await {
            Ok(Some(message)) => message,
            Ok(None) => return Status::unavailable("the device closed the stream"),
            Err(status) => return status,
        };
        match P::read(message) {
            DeviceMessage::State(state) => drop(session.send_replace(Session::Open(state))),
            DeviceMessage::Over(status) => return status,
            DeviceMessage::Event(event) => {
                if let Err(mpsc::error::TrySendError::Full(_)) = events.try_send(event) {
                    tracing::warn!(EVENT_QUEUE, "the controller is slow: an event of the switch was dropped");
                }
            }
            DeviceMessage::Nothing => {}
        }
    }
}
