//! A client of one device: the stream, programs, and calls. The files next to this one define the reads and
//! writes of each table.

mod device;
mod error;
mod program;
mod stream;
mod tables;
mod target;

use std::pin::Pin;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use inart_rpc::{Device, Stream};
use tokio::sync::mpsc;
use tonic::Code;
use tonic::transport::Channel;

use crate::bfrt_proto as v;
use crate::bfrt_proto::bf_runtime_client::BfRuntimeClient;
use crate::bfrt_proto::set_forwarding_pipeline_config_request::Action;
use crate::info::Info;

pub use error::{ClientError, OwnError};
pub use program::{Configs, Profile, Program};
pub use stream::Event;
use stream::Messages;
pub use target::{ClientId, DeviceId, Target};

/// The answer to a call. Boxed, so that the transport below is compiled with this crate, and not again with
/// each that calls.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ClientError>> + Send + 'a>>;

/// Between two tries to be bound to a program that belongs to another client.
const RETRY: Duration = Duration::from_millis(100);

/// Longest message of a device, in bytes. A switch that answers a read in one message sends a million
/// entries.
const MOST_MESSAGE_BYTES: usize = 256 << 20;

/// All pipes, both directions and all parsers of a device.
const EVERYWHERE: (u32, u32, u32) = (0xffff, 0xff, 0xff);

/// A live connection to one device. Dropping it ends the session, and frees the program to which it was
/// bound.
pub struct Client {
    target: Target,
    device: Device,
    service: BfRuntimeClient<Channel>,
    stream: Stream<Messages>,
    /// The program that reads and writes are about, and its names with the device's own.
    program: RwLock<Option<(String, Arc<Info>)>>,
}

impl Client {
    /// Connects, opens the stream and waits until the device knows the client.
    ///
    /// # Errors
    /// [`ClientError`] if the address cannot be used, nothing answers, or the device refuses the client.
    pub fn connect(target: Target) -> Answer<'static, Self> {
        Box::pin(async move {
            let device = target.device();
            let channel = device.connect(target.timeout).await?;
            let service = BfRuntimeClient::new(channel)
                .max_decoding_message_size(MOST_MESSAGE_BYTES)
                .max_encoding_message_size(usize::MAX);
            let mut streaming = service.clone();
            let first = ("the subscription", stream::subscription(&target));
            let stream = Stream::open(&device, first, target.timeout, |requests| async move {
                streaming.stream_channel(requests).await
            });
            let stream = stream.await?;
            Ok(Self { target, device, service, stream, program: RwLock::default() })
        })
    }

    /// Returns the target of this client.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Waits until the session ends, and returns the reason: the stream broke, or the device stopped
    /// responding. Checks every two seconds, with a read of nothing; any answer counts, and
    /// [`Target::timeout`] limits its time.
    pub async fn lost(&self) -> ClientError {
        let never = |(): &()| false;
        tokio::select! {
            Some(why) = self.stream.until(&self.device, never) => why,
            why = self.device.unanswered(self.target.timeout, || self.read_nothing()) => why,
        }
    }

    async fn read_nothing(&self) -> Result<(), tonic::Status> {
        let request = v::ReadRequest {
            target: Some(self.everywhere()),
            client_id: self.target.client.0,
            p4_name: self.chosen().map(|(name, _)| name).unwrap_or_default(),
            ..Default::default()
        };
        self.service.clone().read(request).await.map(drop)
    }

    /// Returns the receiver of the device's events. Only the first call does; further calls return `None`. A
    /// receiver that falls 4096 events behind loses the newest, which is logged.
    pub fn take_events(&mut self) -> Option<mpsc::Receiver<Event>> {
        self.stream.take_events()
    }

    /// Returns the names of the program that reads and writes are about, with those of the device's own
    /// tables.
    ///
    /// # Errors
    /// [`OwnError::NoInfo`] before [`Client::use_program`].
    pub fn info(&self) -> Result<Arc<Info>, ClientError> {
        self.chosen().map(|(_, info)| info)
    }

    fn chosen(&self) -> Result<(String, Arc<Info>), ClientError> {
        let program = self.program.read().expect("no holder of this lock panics").clone();
        let missing = || {
            let (address, device) = (self.target.address.clone(), self.target.device.0);
            OwnError::NoInfo { address, device }.into()
        };
        program.ok_or_else(missing)
    }

    /// Sets the program of reads and writes, and its names together with those of the device's own tables.
    /// Writes also require a binding to it.
    pub fn use_program(&self, name: impl Into<String>, info: Arc<Info>) {
        let program = Some((name.into(), info));
        *self.program.write().expect("no holder of this lock panics") = program;
    }

    /// Reads the device's programs.
    ///
    /// # Errors
    /// [`ClientError::Rpc`] if the device refuses the call.
    pub fn configs(&self) -> Answer<'_, Configs> {
        let (device_id, client_id) = (self.target.device.0, self.target.client.0);
        let request = v::GetForwardingPipelineConfigRequest { device_id, client_id };
        Box::pin(async move {
            const CALL: &str = "GetForwardingPipelineConfig";
            let mut service = self.service.clone();
            let answer = service.get_forwarding_pipeline_config(request);
            let answer = self.device.call(CALL, self.target.call_timeout, answer).await?;
            Ok(Configs {
                programs: answer.config.into_iter().map(Program::from).collect(),
                device_info: answer.non_p4_config.unwrap_or_default().bfruntime_info,
            })
        })
    }

    /// Binds this client to a program of the device, so that it may write. It stays bound until it goes.
    /// Waits that long for another client that is bound to it.
    ///
    /// # Errors
    /// [`OwnError::Owned`] if another client is still bound to it; [`ClientError::Rpc`] if there is no
    /// such program.
    pub fn bind<'a>(&'a self, program: &'a str, patience: Duration) -> Answer<'a, ()> {
        Box::pin(async move {
            let mut left = patience;
            loop {
                let config =
                    v::ForwardingPipelineConfig { p4_name: program.to_owned(), ..Default::default() };
                match self.set(Action::Bind, config).await {
                    Err(ClientError::Rpc { code: Code::AlreadyExists, message, .. }) => {
                        if left.is_zero() {
                            let (address, device) = (self.target.address.clone(), self.target.device.0);
                            let program = program.to_owned();
                            return Err(OwnError::Owned { address, device, program, message }.into());
                        }
                        let pause = left.min(RETRY);
                        tokio::time::sleep(pause).await;
                        left -= pause;
                    }
                    answer => return answer,
                }
            }
        })
    }

    /// Makes the device run a program, with empty tables. Clients bound to another program are cut off.
    ///
    /// # Errors
    /// [`ClientError::Rpc`] if the device refuses it.
    pub fn set_program(&self, program: Program) -> Answer<'_, ()> {
        Box::pin(self.set(Action::VerifyAndWarmInitBeginAndEnd, program.into()))
    }

    async fn set(&self, action: Action, config: v::ForwardingPipelineConfig) -> Result<(), ClientError> {
        const CALL: &str = "SetForwardingPipelineConfig";
        let request = v::SetForwardingPipelineConfigRequest {
            device_id: self.target.device.0,
            client_id: self.target.client.0,
            action: action.into(),
            config: vec![config],
            ..Default::default()
        };
        let mut service = self.service.clone();
        let answer = service.set_forwarding_pipeline_config(request);
        self.device.call(CALL, self.target.call_timeout, answer).await.map(drop)
    }

    fn everywhere(&self) -> v::TargetDevice {
        let (pipe_id, direction, prsr_id) = EVERYWHERE;
        v::TargetDevice { device_id: self.target.device.0, pipe_id, direction, prsr_id }
    }

    /// Waits for all of an answer, up to [`Target::call_timeout`].
    async fn in_time<T>(
        &self,
        call: &'static str,
        answer: impl Future<Output = T>,
    ) -> Result<T, ClientError> {
        self.device.in_time(call, self.target.call_timeout, answer).await
    }
}
