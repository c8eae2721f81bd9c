//! The P4Runtime 1.4 server: any number of switches (devices) behind one address, as `simple_switch_grpc`
//! serves one.
//!
//! The server knows no ports. The owner of the ports shares its [`Switch`] in a [`Wiring`] and sends the
//! controller the frames that leave by the CPU port and the events that the program reports.

mod actions;
pub(crate) mod answers;
mod arbitration;
mod arrays;
mod batch;
mod check;
mod clock;
mod codec;
pub(crate) mod compiling;
mod data;
mod device;
mod digests;
mod entries;
mod front;
mod idle;
mod idle_queue;
pub(crate) mod limits;
mod matches;
mod messages;
mod outbox;
mod packet_io;
pub(crate) mod page;
mod pipe_names;
mod pipeline;
mod plane;
mod profile_use;
mod profiles;
mod quiet;
mod reads;
mod replication;
mod request;
mod room;
mod service;
mod sliced;
mod table_reads;
mod tables;
mod undo;
mod value_sets;
mod verify;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use inart_p4runtime::DeviceId;
use inart_tls::ServerTls;
use inart_tls::accept::Incoming;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::Switch;
use crate::ports::Event;
use clock::Clock;
use device::Device;
use front::{Front, Places};
pub use messages::Messages;
use plane::Plane;
use service::Service;

/// A switch as the server reaches it.
pub struct Wiring {
    /// The switch, shared with the thread that forwards frames. The server holds the lock for one table
    /// operation at a time.
    pub switch: Arc<Mutex<Switch>>,
    /// Start of the switch's microseconds.
    pub started: Instant,
    /// Gives the switch a frame as if it had arrived on the CPU port; false if there is none. Called from the
    /// server's threads.
    pub packet_out: Box<dyn Fn(Vec<u8>) -> bool + Send + Sync>,
    /// Events that the switch reports to its controllers.
    pub events: mpsc::Receiver<Event>,
}

/// A server at work. Boxed, so that the transport below is compiled with this crate, and not again with each
/// that serves.
pub type Serving<'a> = Pin<Box<dyn Future<Output = Result<(), tonic::transport::Error>> + Send + 'a>>;

/// A server with its devices.
#[derive(Default)]
pub struct Server {
    devices: BTreeMap<u64, Arc<Device>>,
    feeds: Vec<(Arc<Device>, mpsc::Receiver<Event>)>,
    tls: Option<ServerTls>,
}

impl Server {
    /// Creates a server without devices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a device; one with the same id is replaced.
    pub fn add(&mut self, id: DeviceId, wiring: Wiring) {
        let plane = Plane::new(wiring.switch);
        let device = Arc::new(Device::new(id, plane, Clock(wiring.started), wiring.packet_out));
        self.feeds.push((device.clone(), wiring.events));
        self.devices.insert(id.0, device);
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
        self.boxed(listener, Box::pin(stop))
    }

    fn boxed<'a>(
        self,
        listener: TcpListener,
        stop: Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
    ) -> Serving<'a> {
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
        let front = Front { service: Service::new(self.devices), places: Places::default() };
        let mut pumps = tokio::task::JoinSet::new();
        for (device, feed) in self.feeds {
            pumps.spawn(async move { device.pump(feed).await });
        }
        let serving = builder.add_service(front).serve_with_incoming(incoming);
        tokio::select! {
            result = serving => result,
            () = stop => Ok(()),
        }
    }
}
