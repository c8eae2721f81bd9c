//! Embedded switches with their P4Runtime servers, in this process.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use inart_p4runtime::DeviceId;
use inart_switch::Switch;
use inart_switch::server::{Server, Wiring};
use inart_targets::{Endpoint, Program};
use inart_wire::ValuesPerFrame;

pub const DEVICE: DeviceId = DeviceId(1);

/// Switch, and the address of its server.
pub struct Embedded {
    pub address: String,
    pub switch: Arc<Mutex<Switch>>,
}

/// Creates a switch without ports, served from this test's runtime for its lifetime.
pub async fn embedded() -> Embedded {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let switch = Arc::new(Mutex::new(Switch::new(1)));
    tokio::spawn(server(&switch).serve(listener, std::future::pending()));
    Embedded { address, switch }
}

fn server(switch: &Arc<Mutex<Switch>>) -> Server {
    let (_, events) = tokio::sync::mpsc::channel(1);
    let packet_out = Box::new(|_| false);
    let mut server = Server::new();
    server.add(DEVICE, Wiring { switch: switch.clone(), started: Instant::now(), packet_out, events });
    server
}

/// Switch without a program, in a runtime of its own; dropping it breaks all its sessions, as a crash
/// would.
pub struct KillableServer(Option<tokio::runtime::Runtime>);

impl KillableServer {
    pub fn start(listener: std::net::TcpListener) -> Self {
        listener.set_nonblocking(true).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            server(&Arc::new(Mutex::new(Switch::new(1)))).serve(listener, std::future::pending()).await
        });
        KillableServer(Some(runtime))
    }
}

impl Drop for KillableServer {
    fn drop(&mut self) {
        self.0.take().unwrap().shutdown_background();
    }
}

/// Returns the built-in program.
pub fn program(values: ValuesPerFrame) -> Arc<dyn Program> {
    inart_targets::DEFAULT.program(values, None).unwrap()
}

/// Returns the endpoint of such a switch.
pub fn place(address: &str) -> Endpoint {
    Endpoint::local(address, DEVICE.0)
}
