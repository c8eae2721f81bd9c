//! One device: where it is, as errors name it, and calls with a time limit.

use std::error::Error;
use std::time::Duration;

use inart_tls::advice::{USE_ACCEPTED_CERTIFICATE, USE_TLS};
use inart_tls::{Presence, Security, TlsFailure, connect_channel, failure_at, innermost, presence};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::error::ClientError;

/// Remedy where a server has closed a connection and accepts others.
const TRY_AGAIN: &str = "try again, or look at the switch's log";

/// Interval of checks whether the device still answers, while a client waits for the end of its session.
const CHECK_EVERY: Duration = Duration::from_secs(2);

/// A device behind a server.
#[derive(Debug, Clone)]
pub struct Device {
    /// The protocol, such as `P4Runtime`.
    pub service: &'static str,
    /// `host:port`, the same after a scheme, or `unix:/path`.
    pub address: String,
    /// Security of the connection.
    pub security: Security,
    /// The device's number there.
    pub number: u64,
    /// Returns the possible fix for a refused call's code: in parentheses after a blank, or empty.
    pub hint: fn(Code) -> &'static str,
}

impl Device {
    /// Connects within the time.
    ///
    /// # Errors
    /// An address that cannot be used, or nothing that answers there.
    pub async fn connect<O: Error + 'static>(&self, timeout: Duration) -> Result<Channel, ClientError<O>> {
        let channel = connect_channel(&self.address, &self.security, timeout).await;
        channel.map_err(|error| ClientError::channel(self.service, error))
    }

    /// Waits for an answer up to `limit`: a device that stands still keeps its connections, and may do so in
    /// the middle of an answer.
    ///
    /// # Errors
    /// [`ClientError::Timeout`].
    pub async fn in_time<T, O: Error + 'static>(
        &self,
        what: &'static str,
        limit: Duration,
        answer: impl Future<Output = T>,
    ) -> Result<T, ClientError<O>> {
        let answer = tokio::time::timeout(limit, answer).await;
        answer.map_err(|_| self.timeout(what, limit))
    }

    /// Waits for the answer to a call, up to `limit`.
    ///
    /// # Errors
    /// [`ClientError::Timeout`], or [`ClientError::Rpc`] if the device refuses the call.
    pub async fn call<T, O: Error + 'static>(
        &self,
        call: &'static str,
        limit: Duration,
        answer: impl Future<Output = Result<tonic::Response<T>, Status>>,
    ) -> Result<T, ClientError<O>> {
        let answer = self.in_time(call, limit, answer).await?;
        answer.map(tonic::Response::into_inner).map_err(|status| self.rpc(call, status))
    }

    /// Waits until the device stops responding: `ask` runs every two seconds, and any answer within
    /// `patience` counts.
    pub async fn unanswered<F: Future, O: Error + 'static>(
        &self,
        patience: Duration,
        ask: impl Fn() -> F,
    ) -> ClientError<O> {
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            if tokio::time::timeout(patience, ask()).await.is_err() {
                return self.timeout("whether it still runs", patience);
            }
        }
    }

    /// Returns the device did not answer in time.
    pub fn timeout<O: Error + 'static>(&self, what: &'static str, timeout: Duration) -> ClientError<O> {
        ClientError::Timeout { address: self.address.clone(), device: self.number, what, timeout }
    }

    /// Returns the device refused a call.
    pub fn rpc<O: Error + 'static>(&self, call: &'static str, status: Status) -> ClientError<O> {
        ClientError::Rpc {
            call,
            address: self.address.clone(),
            device: self.number,
            code: status.code(),
            message: status.message().to_owned(),
            hint: (self.hint)(status.code()),
        }
    }

    /// Returns the error of a stream that ended before the first answer. Over TLS a client is connected
    /// before the server has checked its certificate, so the rejection shows here.
    pub(crate) async fn opening<O: Error + 'static>(
        &self,
        call: &'static str,
        status: Status,
    ) -> ClientError<O> {
        if status.source().is_none() {
            return self.rpc(call, status);
        }
        let address = self.address.clone();
        if let Some(failure) = failure_at(&address, &self.security, TlsFailure::of(&status)).await {
            return ClientError::Tls { address, failure };
        }
        // A switch that has ended refuses nothing, and one that greets in the clear wants no TLS.
        let hint = match (presence(&address).await, &self.security) {
            (Presence::Absent { reason }, _) => {
                return ClientError::Connect { service: self.service, address, reason };
            }
            (_, Security::Tls(_)) => USE_ACCEPTED_CERTIFICATE,
            (Presence::Plain, _) => TRY_AGAIN,
            (Presence::Silent, _) => USE_TLS,
        };
        ClientError::Refused { address, reason: innermost(&status), hint }
    }
}
