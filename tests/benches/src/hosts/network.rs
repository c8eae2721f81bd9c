//! A network namespace with one veth pair, and the processor time spent in it.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Pid, gettid};

/// The interface of the host that is measured.
pub const HOST: &str = "host0";
/// The other end of its cable.
pub const PEER: &str = "peer0";

/// Returns the interface of a host of a whole job, and the port of its switch at the other end of the cable.
pub fn host_end(host: u16) -> String {
    format!("h{host}")
}

pub fn switch_end(host: u16) -> String {
    format!("p{host}")
}

/// Moves the process into a network namespace that goes with it, and lays a cable, and one for each of so
/// many hosts of a whole job. Call it before there are threads.
pub fn lay(hosts: u16) -> Result<()> {
    unshare(CloneFlags::CLONE_NEWNET).context("cannot make a network namespace; run as root")?;
    run("ip link set lo up")?;
    lay_cable(HOST, PEER)?;
    (0..hosts).try_for_each(|host| lay_cable(&host_end(host), &switch_end(host)))
}

fn lay_cable(one: &str, other: &str) -> Result<()> {
    run(&format!("ip link add {one} mtu 9000 type veth peer name {other} mtu 9000"))?;
    for end in [one, other] {
        // No router solicitations among the frames.
        std::fs::write(format!("/proc/sys/net/ipv6/conf/{end}/disable_ipv6"), "1").ok();
        run(&format!("ip link set {end} up"))?;
    }
    Ok(())
}

fn run(line: &str) -> Result<()> {
    let mut words = line.split(' ');
    let program = words.next().expect("split gives at least one");
    let output = Command::new(program).args(words).output().with_context(|| format!("cannot run {line}"))?;
    ensure!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}

/// Returns the calling thread.
pub fn this_thread() -> Pid {
    gettid()
}

/// Seconds of processor time, the kernel's on their behalf included, that the threads of this process have
/// used, but for one.
pub fn processor_seconds_without(peer: Pid) -> Result<f64> {
    // The time of a running thread is counted when it stops.
    std::thread::sleep(std::time::Duration::from_millis(5));
    let mut nanos = 0u64;
    for task in std::fs::read_dir("/proc/self/task")? {
        let path = task?.path();
        if path.file_name().is_some_and(|name| *name != *peer.to_string()) {
            let place = path.join("schedstat");
            let text = std::fs::read_to_string(&place).with_context(|| place.display().to_string())?;
            nanos += text.split(' ').next().unwrap_or_default().parse::<u64>().context("schedstat")?;
        }
    }
    Ok(nanos as f64 / 1e9)
}
