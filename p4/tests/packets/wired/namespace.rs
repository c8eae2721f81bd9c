//! A network namespace with a pair of interfaces for each port of a switch.

use std::process::Command;

use nix::sched::{CloneFlags, unshare};

/// Returns the switch's end of a port's pair.
pub fn switch_end(port: u16) -> String {
    format!("s{port}")
}

/// Returns the other end, where the test is.
pub fn host_end(port: u16) -> String {
    format!("h{port}")
}

/// Runs `work` in a thread with a network namespace of its own, which its child processes share. Returns
/// false if no namespace could be created.
pub fn within(ports: impl Iterator<Item = u16>, work: impl FnOnce() + Send) -> bool {
    let ports: Vec<u16> = ports.collect();
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let made = unshare(CloneFlags::CLONE_NEWNET).is_ok() && make(&ports);
            if made {
                work();
            }
            made
        });
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn make(ports: &[u16]) -> bool {
    let pair = |&port: &u16| {
        let (switch, host) = (switch_end(port), host_end(port));
        let added = ip(&format!("link add {switch} type veth peer name {host}"));
        // The kernel itself sends nothing there.
        added
            && [switch, host].iter().all(|end| {
                ip(&format!("link set {end} addrgenmode none")) && ip(&format!("link set {end} up"))
            })
    };
    ip("link set lo up") && ports.iter().all(pair)
}

fn ip(arguments: &str) -> bool {
    Command::new("ip").args(arguments.split(' ')).status().is_ok_and(|status| status.success())
}
