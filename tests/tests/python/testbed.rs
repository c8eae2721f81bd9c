//! A network of namespaces and switches, with a controller, for ranks that ask it.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use inart_controller::JobPlan;
use inart_emulator::{Options, Testbed};
use inart_planner_aggregation::{Levels, Results, schemes};
use inart_tests::inart;
use inart_topologies::switched::Topology;
use inart_wire::ValuesPerFrame;

/// Returns a topology with one job, at `scale` times its rates, with the job's plan installed.
pub fn of(topology: &str, scale: f64) -> Testbed {
    let topology = Topology::from_yaml(topology).expect("valid");
    let options = Options {
        topology: topology.clone(),
        levels: Levels::One,
        results: Results::Counted,
        schemes: vec![schemes::OPTIMIZED],
        plans: Vec::new(),
        jobs: 1,
        target: inart_targets::DEFAULT,
        values: ValuesPerFrame::N64,
        window_chunks: 64,
        scale: None,
        drop: "0".parse().expect("a rate"),
        faults: Default::default(),
        peer_timeout: Duration::from_secs(30),
        expose: None,
        follow: false,
        changes: None,
        seed: 1,
        program: inart(),
        switch: None,
        external: None,
    };
    let mut testbed = Testbed::start(&topology, &options, scale).expect("built");
    let job = &topology.jobs()[0];
    let plan = inart_planner_aggregation::plan(
        &topology,
        job,
        &inart_planner_aggregation::Options::new(schemes::OPTIMIZED),
    );
    let job = inart_controller::job_number(&topology, &job.name).expect("the topology's job");
    let plan = JobPlan {
        job,
        plan: plan.expect("planned"),
        window_chunks: 64,
        rate_scale: scale,
        new_plan_version: true,
    };
    testbed.install("inart", &[plan]).expect("installed");
    testbed
}

fn controller(testbed: &Testbed) -> &str {
    testbed.controller_address().expect("installed")
}

/// Starts the server of that shard, on that host.
pub fn server(testbed: &Testbed, shard: u16, host: &str) -> Child {
    let place = testbed.host(host);
    let mut server = place.namespace.command(inart());
    server.args(["server", "--shard", &shard.to_string(), "--interface", place.interface]);
    server.args(["--controller", controller(testbed)]);
    server.stdout(Stdio::null()).spawn().expect("starts")
}

/// Returns Python on that host, with the environment of a rank.
pub fn python(testbed: &Testbed, host: &str) -> Command {
    let place = testbed.host(host);
    let mut command = place.namespace.command(super::package::python());
    command.env("INART_CONTROLLER", controller(testbed)).env("INART_INTERFACE", place.interface);
    command
}
