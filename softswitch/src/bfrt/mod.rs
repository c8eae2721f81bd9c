//! The BFRuntime server: one switch behind an address, as Tofino's driver (`bf_switchd`) serves one chip.
//!
//! As there, one client at a time is bound to the program, and calls that name the program need not be of
//! that client: ours name it to read only. The tables of the program are those of its `bf-rt.json`; the
//! device's own are multicast (`$pre`) and ports (`$PORT`). Ports are the interfaces that the switch was
//! started with: what `$PORT` is told is kept and told back.

mod arrays;
mod batch;
mod clients;
mod config;
mod device;
mod keys;
mod multicast;
mod pipeline;
mod ports;
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
use tokio::net::TcpListener;

use crate::Switch;
use crate::server::Serving;
use crate::server::incoming::Incoming;
use crate::server::limits;
use device::Device;
use service::Service;

/// A server of one switch.
pub struct Server {
    device: Arc<Device>,
    tls: Option<ServerTls>,
}

impl Server {
    /// A server of that switch, which runs no program until a client sends one.
    pub fn new(id: DeviceId, switch: Arc<Mutex<Switch>>) -> Self {
        Self { device: Arc::new(Device::new(id, switch)), tls: None }
    }

    /// Serves by TLS only.
    pub fn set_tls(&mut self, tls: ServerTls) {
        self.tls = Some(tls);
    }

    /// Serves until `stop` is ready. Streams are cut then.
    ///
    /// # Errors
    /// What the listener reports.
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
        if let Some(tls) = &self.tls {
            builder = builder.tls_config(tls.config())?;
        }
        let service = BfRuntimeServer::new(Service::new(self.device))
            .max_decoding_message_size(limits::PIPELINE_BYTES)
            .max_encoding_message_size(usize::MAX);
        let serving = builder.add_service(service).serve_with_incoming(Incoming::new(listener));
        tokio::select! {
            result = serving => result,
            () = stop => Ok(()),
        }
    }
}
