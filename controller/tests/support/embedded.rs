//! Embedded switches with their P4Runtime servers, in this process.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use inart_controller::Program;
use inart_p4runtime::DeviceId;
use inart_softswitch::Switch;
use inart_softswitch::server::{Server, Wiring};
use inart_wire::ValuesPerPacket;

pub const DEVICE: DeviceId = DeviceId(1);

/// A switch, and the address of its server.
pub struct Embedded {
    pub address: String,
    pub switch: Arc<Mutex<Switch>>,
}

/// A switch without ports, served from this test's runtime as long as that lasts.
pub async fn embedded() -> Embedded {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let switch = Arc::new(Mutex::new(Switch::new(1)));
    let (_, events) = tokio::sync::mpsc::channel(1);
    let packet_out = Box::new(|_| false);
    let mut server = Server::new();
    server.add(DEVICE, Wiring { switch: switch.clone(), started: Instant::now(), packet_out, events });
    tokio::spawn(server.serve(listener, std::future::pending()));
    Embedded { address, switch }
}

/// The built-in program.
pub fn program(values: ValuesPerPacket) -> Arc<Program> {
    let artifact = inart_p4::artifact(values);
    Arc::new(Program::new(values, &artifact.json, &artifact.p4info).unwrap())
}
