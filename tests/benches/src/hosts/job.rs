//! A whole job on this machine: workers, an embedded switch and a parameter server as threads, on veth pairs.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail, ensure};
use inart_host_agent::{PortKind, Server, Worker};
use inart_protocol_aggregation::Assignment;
use inart_switch::control::Replica;
use inart_switch::ports::{Options, start};
use inart_switch::{Port, Program, Switch};
use inart_tables::{
    GroupId, MacAction, MacKey, PortNo, ResultsAction, ResultsKey, SlotRange, SteerAction, SteerKey,
    SwitchPortsAction, SwitchPortsKey, SwitchTables,
};
use inart_wire::{BitmapIndex, Contributors, Group, Rank, ShardId};

use crate::turn::{assignment, options};
use crate::{Arguments, network};

/// Workers of the job.
pub const WORKERS: u16 = 2;

/// Seconds of each all-reduce, at the worker that took longest; the first is for warming up, and left out.
pub fn seconds(port: PortKind, arguments: &Arguments) -> Result<Vec<f64>> {
    let assignment = assignment(WORKERS, arguments);
    let switch = Arc::new(Mutex::new(switch(&assignment)?));
    let interfaces = (0..=WORKERS).map(|host| (Port(u32::from(host) + 1), network::switch_end(host)));
    let ports = Options { interfaces: interfaces.collect(), ..Options::default() };
    let running = start(switch, &ports, |_| {})?;
    let transport = port.open(&network::host_end(WORKERS))?;
    let mut server = Server::with_transport(assignment.clone(), ShardId::from(0), transport, options())?;
    let stopper = server.stopper();
    let times = thread::scope(|scope| {
        let served = scope.spawn(move || server.run());
        let work = |rank| {
            let assignment = assignment.clone();
            scope.spawn(move || work(rank, assignment, port, arguments))
        };
        let times: Vec<Result<Vec<f64>>> = (0..WORKERS)
            .map(work)
            .collect::<Vec<_>>()
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| Err(anyhow!("a worker panicked"))))
            .collect();
        stopper.stop();
        match served.join() {
            Ok(served) => served?,
            Err(_) => bail!("the server panicked"),
        }
        times.into_iter().collect::<Result<Vec<_>>>()
    })?;
    drop(running);
    Ok((1..=arguments.turns).map(|turn| times.iter().map(|times| times[turn]).fold(0.0, f64::max)).collect())
}

/// Runs a worker's rounds; the sum of each is known.
fn work(rank: u16, assignment: Assignment, port: PortKind, arguments: &Arguments) -> Result<Vec<f64>> {
    let transport = port.open(&network::host_end(rank))?;
    let mut worker = Worker::with_options(assignment, Rank::try_from(rank)?, transport, options())?;
    let value = |index: usize| ((index.wrapping_mul(0x9e37_79b9) >> 7) & 0xffff) as f32 / 256.0 - 128.0;
    let mine: Vec<f32> = (0..arguments.bytes / 4).map(|index| value(index) * f32::from(rank + 1)).collect();
    let total = f32::from(WORKERS * (WORKERS + 1) / 2);
    let mut tensor = mine.clone();
    let mut times = Vec::new();
    for turn in 0..=arguments.turns {
        tensor.copy_from_slice(&mine);
        let start = Instant::now();
        worker.all_reduce(&mut tensor)?;
        times.push(start.elapsed().as_secs_f64());
        let wrong = tensor.iter().enumerate().position(|(index, sum)| *sum != value(index) * total);
        ensure!(wrong.is_none(), "turn {turn}: value {} is wrong", wrong.unwrap_or_default());
    }
    Ok(times)
}

/// Returns a switch that sums the gradients and multicasts the results.
fn switch(assignment: &Assignment) -> Result<Switch> {
    let port = |host: u16| PortNo::try_from(u64::from(host) + 1).expect("ports count from 1");
    let (plan_version, job, shard) = (assignment.plan_version, assignment.job, ShardId::from(0));
    let mut tables = SwitchTables::default();
    let everybody = Contributors::all_of(Group(0), WORKERS.into());
    for rank in 0..WORKERS {
        let worker = BitmapIndex::try_from(rank)?;
        let slots = SlotRange { base: 0, len: assignment.window_chunks };
        let key = SteerKey { plan_version, job, shard, worker, ingress: port(rank) };
        let members = Contributors::one(worker);
        tables
            .steer
            .insert(key, SteerAction::Add { port: port(WORKERS), slots, members, expected: everybody });
        let dst = assignment.workers[usize::from(rank)].mac;
        tables.mac.insert(MacKey { dst }, MacAction::Send { port: port(rank) });
    }
    tables.mac.insert(MacKey { dst: assignment.shards[0].mac }, MacAction::Send { port: port(WORKERS) });
    for host in 0..=WORKERS {
        tables.switch_ports.insert(SwitchPortsKey { ingress: port(host) }, SwitchPortsAction::Trust);
    }
    let group = GroupId(1);
    tables.groups.insert(group, (0..WORKERS).map(port).collect());
    let key = ResultsKey { plan_version, job, shard, ingress: port(WORKERS) };
    tables.results.insert(key, ResultsAction::Replicate { group });

    let program = Program::compile(&inart_p4::artifact(assignment.values_per_frame).json)?;
    let mut switch = Switch::new(0);
    switch.load(program)?;
    for (group, ports) in &tables.groups {
        let replicas = ports.iter().map(|port| Replica { port: Port(port.get().into()), instance: 1 });
        switch.put_multicast_group(group.0.into(), replicas.collect(), false)?;
    }
    for row in tables.rows() {
        switch
            .put_numbers(row.table.full_name, row.key.as_deref(), row.action.full_name, &row.params)
            .with_context(|| row.to_string())?;
    }
    Ok(switch)
}
