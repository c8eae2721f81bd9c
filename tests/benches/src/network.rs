//! A network namespace with two veth pairs: `w0`-`p1` for the workers, `s0`-`p2` for the server.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use nix::sched::{CloneFlags, unshare};

/// The workers' and the server's interface.
pub const WORKERS: &str = "w0";
pub const SERVER: &str = "s0";
/// The switch's ends, which are its ports 1 and 2.
pub const PORTS: [&str; 2] = ["p1", "p2"];

/// Moves the process into a network namespace that goes with it. Call it before there are threads.
pub fn enter_new() -> Result<()> {
    Ok(unshare(CloneFlags::CLONE_NEWNET)?)
}

/// Makes the pairs. Offloads are off: with them on, libpcap's ring in bmv2 holds only some thirty frames.
pub fn build() -> Result<()> {
    run("ip link set lo up")?;
    for (host, port) in [WORKERS, SERVER].into_iter().zip(PORTS) {
        run(&format!("ip link add {host} type veth peer name {port}"))?;
        for end in [host, port] {
            // No router solicitations among the frames.
            std::fs::write(format!("/proc/sys/net/ipv6/conf/{end}/disable_ipv6"), "1").ok();
            run(&format!("ip link set {end} up"))?;
            if run(&format!("ethtool -K {end} rx off tx off sg off tso off gso off gro off")).is_err() {
                eprintln!(
                    "ethtool cannot turn {end}'s offloads off: bmv2 may lose frames (apt-get install ethtool)"
                );
            }
        }
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
