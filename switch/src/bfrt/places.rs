//! Places for calls and the time that each may take, both from before a request's first byte on.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{Service, http};
use tonic::server::NamedService;

use crate::server::limits::{self, beyond};

type Reply = Result<http::Response<Body>, Infallible>;

/// A service whose requests reserve their places before they are read.
#[derive(Clone)]
pub(super) struct Bounded<S> {
    inner: S,
    calls: Arc<Semaphore>,
    reads: Arc<Semaphore>,
}

/// Takes a place, if one is free.
pub(super) fn place(places: Arc<Semaphore>, what: &str) -> Result<OwnedSemaphorePermit, Status> {
    let place = places.try_acquire_owned();
    place.map_err(|_| beyond(format!("the limit of concurrent {what} is reached: try again later")))
}

impl<S> Bounded<S> {
    pub fn new(inner: S) -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { inner, calls: places(limits::CALLS), reads: places(limits::READS) }
    }
}

impl<S: NamedService> NamedService for Bounded<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for Bounded<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Reply> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = request.uri().path().rsplit('/').next().unwrap_or_default();
        let places = match method {
            // Its places are for as long as it lasts.
            "StreamChannel" => return Box::pin(self.inner.call(request)),
            "Read" => place(self.reads.clone(), "reads"),
            _ => place(self.calls.clone(), "calls"),
        };
        let call = self.inner.call(request);
        Box::pin(async move {
            let _place = match places {
                Ok(place) => place,
                Err(status) => return Ok(status.into_http()),
            };
            let late = || Status::deadline_exceeded("the call took too long").into_http();
            timeout(limits::CALL_TIME, call).await.unwrap_or_else(|_| Ok(late()))
        })
    }
}
