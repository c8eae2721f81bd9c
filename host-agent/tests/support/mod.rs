//! A separate network: veth pairs and a bridge in a network namespace. Needs root and `ip`, and reports if
//! they are missing.

use std::process::Command;
use std::thread;
use std::time::Duration;

use inart_host_agent::Options;
use inart_protocol_aggregation::{Assignment, ShardAssignment, WorkerAddress};
use inart_wire::{MacAddr, ValuesPerFrame};
use nix::sched::{CloneFlags, unshare};

fn mac(host: u8) -> MacAddr {
    MacAddr([2, 0, 0, 0, 0, host])
}

/// Two workers, w0 and w1, and the server s0; frames of 64 values.
pub fn assignment() -> Assignment {
    Assignment {
        job: 1.into(),
        name: "bridge".into(),
        plan_version: 1.into(),
        values_per_frame: ValuesPerFrame::N64,
        window_chunks: 32,
        exact_sums: false,
        workers: (0..2).map(|rank| WorkerAddress { name: format!("w{rank}"), mac: mac(rank) }).collect(),
        shards: vec![ShardAssignment {
            server: "s0".into(),
            mac: mac(9),
            share: 1.0,
            rate_bps: 100e6,
            bitmap_indices: vec![],
        }],
    }
}

/// Runs `ip` with these arguments. Returns whether it succeeded.
pub fn ip(arguments: &str) -> bool {
    Command::new("ip").args(arguments.split(' ')).status().is_ok_and(|status| status.success())
}

/// Moves this thread to a new namespace with three interfaces on a bridge; the error names what is missing.
fn lay_network() -> Result<(), &'static str> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|_| "root is needed to make a network namespace")?;
    if !ip("link add br0 type bridge") {
        return Err("`ip link add br0 type bridge` does not work here");
    }
    assert!(ip("link set br0 up"));
    for host in ["w0", "w1", "s0"] {
        assert!(ip(&format!("link add {host} type veth peer name b{host}")));
        assert!(ip(&format!("link set b{host} master br0 up")));
        assert!(ip(&format!("link set {host} up")));
    }
    Ok(())
}

/// Runs a test on a separate network.
pub fn on_a_bridge(test: impl FnOnce() + Send + 'static) {
    // A separate thread: the namespace ends with it, and its child threads are in it.
    let test = thread::spawn(move || match lay_network() {
        Ok(()) => test(),
        Err(missing) => eprintln!("skipped: {missing}"),
    });
    test.join().unwrap();
}

/// Several of these are slept through.
pub const PEER_TIMEOUT: Duration = Duration::from_secs(1);

/// Options of hosts that wait for no longer.
pub fn options() -> Options {
    Options { peer_timeout: PEER_TIMEOUT, ..Options::default() }
}
