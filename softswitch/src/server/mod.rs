//! The P4Runtime 1.4 server: any number of switches (devices) behind one address, as `simple_switch_grpc` serves one.
//!
//! The server knows no ports. Whoever moves frames shares its [`Switch`] in a [`Wiring`] and sends to the controller
//! what leaves by the CPU port and what the program reports.

mod actions;
mod arbitration;
mod arrays;
mod check;
mod clock;
mod data;
mod device;
mod digests;
mod matches;
mod packet_io;
mod pipeline;
mod plane;
mod profiles;
mod replication;
mod service;
mod table_reads;
mod tables;
mod value_sets;
mod verify;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use inart_p4runtime::p4::v1::p4_runtime_server::P4RuntimeServer;
use inart_p4runtime::{DeviceId, Schema};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tonic::transport::server::TcpIncoming;

use crate::{Digest, Switch};
use clock::Clock;
use device::Device;
use plane::Plane;
use service::Service;

/// What a switch tells its controllers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToController {
    /// A frame that left by the CPU port.
    Packet(Vec<u8>),
    /// A digest of the program's.
    Digest(Digest),
}

/// A switch as the server reaches it.
pub struct Wiring {
    /// The switch, shared with whoever feeds it frames. The server holds the lock for one table operation at a time.
    pub switch: Arc<Mutex<Switch>>,
    /// When the switch's microseconds began.
    pub started: Instant,
    /// Runs a frame through the switch as if it came in by the CPU port. Called from the server's threads.
    pub packet_out: Box<dyn Fn(Vec<u8>) + Send + Sync>,
    /// What the switch tells its controllers.
    pub to_controller: mpsc::Receiver<ToController>,
}

/// A pipeline to run from the start, before any controller connects.
pub struct InitialPipeline {
    /// The program's names.
    pub schema: Schema,
    /// bmv2 JSON.
    pub device_config: Vec<u8>,
}

/// Why the server could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A pipeline given at the start does not run.
    #[error("device {device}: {message}")]
    Pipeline {
        /// The device it was for.
        device: DeviceId,
        /// What is wrong with it.
        message: String,
    },
    /// The transport failed.
    #[error("the P4Runtime server failed: {0}")]
    Transport(#[from] tonic::transport::Error),
}

/// A server with its devices.
#[derive(Default)]
pub struct Server {
    devices: BTreeMap<u64, Arc<Device>>,
    feeds: Vec<(Arc<Device>, mpsc::Receiver<ToController>)>,
}

impl Server {
    /// A server without devices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a device; one with the same id is replaced.
    pub fn add(&mut self, id: DeviceId, wiring: Wiring) {
        let plane = Plane::new(wiring.switch);
        let device = Arc::new(Device::new(id, plane, Clock(wiring.started), wiring.packet_out));
        self.feeds.push((device.clone(), wiring.to_controller));
        self.devices.insert(id.0, device);
    }

    /// Loads a pipeline into a device that was added.
    pub async fn load(&self, id: DeviceId, pipeline: InitialPipeline) -> Result<(), ServerError> {
        let failed = |message: String| ServerError::Pipeline { device: id, message };
        let device = self.devices.get(&id.0).ok_or_else(|| failed("there is no such device".to_owned()))?;
        device.load(pipeline).await.map_err(|status| failed(status.message().to_owned()))
    }

    /// Serves until `stop` is ready. Streams are cut then.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServerError> {
        let service = P4RuntimeServer::new(Service::new(self.devices))
            .max_decoding_message_size(usize::MAX)
            .max_encoding_message_size(usize::MAX);
        let mut pumps = tokio::task::JoinSet::new();
        for (device, feed) in self.feeds {
            pumps.spawn(async move { device.pump(feed).await });
        }
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let serving = tonic::transport::Server::builder()
            .http2_keepalive_interval(Some(device::KEEPALIVE))
            .add_service(service)
            .serve_with_incoming(incoming);
        tokio::select! {
            result = serving => Ok(result?),
            () = stop => Ok(()),
        }
    }
}
