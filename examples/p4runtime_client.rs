//! A P4Runtime client: loads a program into a switch, writes entries, reads them back, changes and removes
//! them.
//!
//!     cargo run --example p4runtime_client
//!
//! The switch is an embedded one in the same process, behind a server on the loopback. With another address
//! the client does the same on bmv2's `simple_switch_grpc`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use inart_p4runtime::p4::v1::{MulticastGroupEntry, Update};
use inart_p4runtime::{Client, DeviceId, Entry, Pipeline, PipelineAction, Schema, Target};
use inart_switch::Switch;
use inart_switch::server::{Server, Wiring};
use inart_wire::ValuesPerFrame;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const DEVICE: DeviceId = DeviceId(1);

#[tokio::main]
async fn main() -> Result<()> {
    let [written, changed] = run().await?;
    println!("written:");
    written.iter().for_each(|entry| println!("  {entry}"));
    println!("one changed, one removed:");
    changed.iter().for_each(|entry| println!("  {entry}"));
    Ok(())
}

/// Talks to a switch. Returns the entries of table `mac` after the first and after the second write.
///
/// # Errors
/// Returns an error if the switch does not answer, or rejects a request.
pub async fn run() -> Result<[Vec<Entry>; 2]> {
    let address = serve().await?;

    // One primary per device may write. The election id is 1 unless `Target::election` has another.
    let client = Client::connect(Target::new(&address, DEVICE)).await?;
    client.wait_primary(Duration::from_secs(5)).await?;
    println!("primary of device {} at {address}, P4Runtime {}", DEVICE.0, client.api_version().await?);

    let artifact = inart_p4::artifact(ValuesPerFrame::N32);
    let schema = Schema::from_text(&artifact.p4info)?;
    let pipeline =
        Pipeline { p4info: schema.info().clone(), device_config: artifact.json.to_vec(), cookie: Some(42) };
    client.set_pipeline(PipelineAction::VerifyAndCommit, Some(pipeline)).await?;
    println!(
        "tables: {}",
        schema.info().tables.iter().map(|table| table.short_name()).collect::<Vec<_>>().join(", ")
    );

    // Entries are in names; the schema checks them and gives the message.
    let to_port = |host: u64, port: u32| {
        let entry = Entry::new("mac").exact("dst", 0x0200_0000_0000 + host);
        schema.encode(&entry.action("send", [("port", port)]))
    };
    let broadcast = Entry::new("mac").exact("dst", 0xffff_ffff_ffff_u64);
    let broadcast = broadcast.action("flood", [("group", 1_u32)]);
    let group = MulticastGroupEntry::new(1, [(1, 1), (2, 1), (3, 1)]);
    let entries = [to_port(1, 1)?, to_port(2, 2)?, schema.encode(&broadcast)?];
    let inserts = [Update::insert(group)].into_iter().chain(entries.map(Update::insert));
    client.write(inserts.collect()).await?;
    let written = client.read_table("mac").await?;

    client.write(vec![Update::modify(to_port(1, 3)?), Update::delete(to_port(2, 2)?)]).await?;
    Ok([written, client.read_table("mac").await?])
}

/// Starts a switch behind a P4Runtime server that lives as long as this process. Returns its address.
async fn serve() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    // No frames move here. A process with ports shares the switch, and sends the server the frames that leave
    // by the CPU port.
    let (to_controller, events) = mpsc::channel(16);
    let wiring = Wiring {
        switch: Arc::new(Mutex::new(Switch::new(0))),
        started: Instant::now(),
        packet_out: Box::new(|_frame| false),
        events,
    };
    let mut server = Server::new();
    server.add(DEVICE, wiring);
    tokio::spawn(async move {
        let _open = to_controller;
        server.serve(listener, std::future::pending()).await
    });
    Ok(address)
}
