//! The number of frames per second that this machine can carry, and that a plan needs.

use std::io;
use std::time::{Duration, Instant};

use inart_ethernet::{PacketSocket, Queue, Receiver, SocketOptions, interface_index};
use inart_planner_aggregation::Plan;
use inart_topologies::switched::DEFAULT_MTU;
use inart_wire::ValuesPerFrame;

use crate::error::Error;
use crate::machine::namespace::Namespace;
use crate::machine::wiring;

/// Duration of the measurement.
const TRIAL: Duration = Duration::from_millis(100);
/// Frames passed at once in the trial: about what a loaded switch or host finds waiting.
const TRIAL_BATCH: usize = 16;
/// The share of what the machine can pass from socket to socket that an emulation uses. Agents and switches
/// also have to process the frames, and a fully loaded machine measures itself, not the network.
const SHARE: f64 = if cfg!(debug_assertions) { 0.02 } else { 0.1 };

/// Frames per second that an emulation may ask of this machine, all hops counted: what one core passes over a
/// veth pair just now, times the cores, times a share that leaves room for everything else.
pub fn measure(values: ValuesPerFrame) -> Result<f64, Error> {
    crate::machine::permission::check()?;
    let namespace = wiring::namespace()?;
    let per_second =
        try_out(&namespace, values).map_err(Error::system("measure what this machine carries"))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(per_second * cores as f64 * SHARE)
}

fn try_out(namespace: &Namespace, values: ValuesPerFrame) -> io::Result<f64> {
    let mtu = values.mtu().max(DEFAULT_MTU);
    namespace.batch(
        "ip",
        &format!(
            "link add name trial0 mtu {mtu} type veth peer name trial1 mtu {mtu}\n\
             link set trial0 up\nlink set trial1 up\n"
        ),
    )?;
    let open = |name| PacketSocket::open(interface_index(name)?, &SocketOptions::EVERYTHING);
    let (from, to) = namespace.run(|| Ok((open("trial0")?, open("trial1")?)))?;
    let frame = vec![0; values.frame_bytes()];
    let (mut queue, mut receiver) = (Queue::default(), Receiver::allocate());
    let mut passed = 0;
    let start = Instant::now();
    while start.elapsed() < TRIAL {
        (0..TRIAL_BATCH).for_each(|_| queue.push(&frame));
        queue.flush(&from);
        passed += receiver.receive(&to)?;
    }
    Ok(passed as f64 / start.elapsed().as_secs_f64())
}

/// Frames per second on all hops together when a plan's job sends at the plan's rate: gradients, partials,
/// and results.
pub fn demand(plan: &Plan, values: ValuesPerFrame) -> f64 {
    let frame_bits = 8.0 * values.frame_bytes() as f64;
    let hops = |server: &str| {
        let flows = plan.flows.iter().filter(|flow| flow.server == server).map(|flow| flow.path.len() - 1);
        let trunks =
            plan.trunks.iter().filter(|trunk| trunk.server == server).map(|trunk| trunk.path.len() - 1);
        let results = plan.results.iter().filter(|tree| tree.server == server).map(|tree| tree.links.len());
        flows.sum::<usize>() + trunks.sum::<usize>() + results.sum::<usize>()
    };
    let per_shard =
        plan.shards.iter().map(|shard| plan.rate_bps * shard.share / frame_bits * hops(&shard.server) as f64);
    per_shard.sum()
}

#[cfg(test)]
mod tests {
    use inart_planner_aggregation::{Options, plan, schemes};
    use inart_topologies::switched::Topology;

    use super::*;

    #[test]
    fn every_hop_of_every_frame_counts() {
        let topology = Topology::from_yaml(
            "{name: pair, nodes: [{name: v, kind: switch}, {name: s, kind: server},
              {name: a, kind: worker}, {name: b, kind: worker}],
              links: [{ends: [a, v], rate: 3 Gbps}, {ends: [b, v], rate: 3 Gbps}, {ends: [s, v], rate: 3 Gbps}]}",
        )
        .expect("valid");
        let plan = plan(&topology, &topology.jobs()[0], &Options::new(schemes::LBMM)).expect("planned");
        // Two gradients over two links each, one result to the switch and on to two workers.
        let frames = plan.rate_bps / 8.0 / ValuesPerFrame::N256.frame_bytes() as f64;
        let seen = demand(&plan, ValuesPerFrame::N256);
        assert!((seen - frames * 7.0).abs() < 1e-6 * seen, "{seen} against {}", frames * 7.0);
    }
}
