//! The BFRuntime server: one switch behind an address, as Tofino's driver (`bf_switchd`) serves one chip.
//!
//! As there, one client at a time is bound to the program, and calls that name the program may be of other
//! clients: ours name it to read only. The tables of the program are those of its `bf-rt.json`; the device's
//! own are multicast (`$pre`), ports (`$PORT`), their counters (`$PORT_STAT`) and their front-panel names
//! (`$PORT_HDL_INFO`). Ports may have interfaces of this machine ([`Interfaces`]), which report whether there
//! is a link.

mod arrays;
mod batch;
mod clients;
mod config;
mod device;
mod front;
mod interfaces;
mod keys;
mod multicast;
mod pipeline;
mod places;
mod port_counts;
mod ports;
mod reads;
mod rows;
mod service;
mod status;
mod tables;
mod verify;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use inart_bfruntime::DeviceId;
use inart_bfruntime::bfrt_proto::bf_runtime_server::BfRuntimeServer;
use inart_tls::ServerTls;
use inart_tls::accept::Incoming;
use tokio::net::TcpListener;

use crate::Switch;
use crate::server::Serving;
use crate::server::limits;
use device::Device;
pub use front::{FrontPorts, Lane};
pub use interfaces::Interfaces;
use places::Bounded;
use ports::Ports;
use service::Service;

/// A server of one switch.
pub struct Server {
    id: DeviceId,
    switch: Arc<Mutex<Switch>>,
    ports: Ports,
    tls: Option<ServerTls>,
}

impl Server {
    /// Creates a server of that switch, which runs no program until a client sends one.
    pub fn new(id: DeviceId, switch: Arc<Mutex<Switch>>) -> Self {
        Self { id, switch, ports: Ports::default(), tls: None }
    }

    /// Sets the interfaces of the ports, as [`ports::start`](crate::ports::start) opens them.
    pub fn set_interfaces(&mut self, interfaces: Arc<dyn Interfaces>) {
        self.ports.set_interfaces(interfaces);
    }

    /// Has these front ports, as a board has.
    pub fn set_front_ports(&mut self, front: FrontPorts) {
        self.ports.front = Arc::new(front);
    }

    /// Serves by TLS only.
    pub fn set_tls(&mut self, tls: ServerTls) {
        self.tls = Some(tls);
    }

    /// Serves until `stop` is ready. Streams are cut then.
    ///
    /// # Errors
    /// Returns the listener's error.
    pub fn serve<'a>(self, listener: TcpListener, stop: impl Future<Output = ()> + Send + 'a) -> Serving<'a> {
        let stop: Pin<Box<dyn Future<Output = ()> + Send + 'a>> = Box::pin(stop);
        Box::pin(self.run(listener, stop))
    }

    async fn run(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
    ) -> Result<(), tonic::transport::Error> {
        let mut builder = tonic::transport::Server::builder()
            .http2_keepalive_interval(Some(limits::KEEPALIVE))
            .max_concurrent_streams(limits::CALLS_PER_CONNECTION);
        let incoming = Incoming::new(listener, self.tls.as_ref(), limits::ACCEPT);
        let device = Arc::new(Device::new(self.id, self.switch, self.ports));
        let service = BfRuntimeServer::new(Service::new(device))
            .max_decoding_message_size(limits::PIPELINE_BYTES)
            .max_encoding_message_size(usize::MAX);
        let serving = builder.add_service(Bounded::new(service)).serve_with_incoming(incoming);
        tokio::select! {
            result = serving => result,
            () = stop => Ok(()),
        }
    }
}
