//! A host that sends frames in the name of jobs of which it is not a member: these frames have no effect.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use crate::support;

use inart_p4::Reason;
use inart_planner_aggregation::schemes;
use inart_simulator_aggregation::{InstalledNetwork, Options, Report, simulate};
use inart_topologies::faults::Faults;
use inart_topologies::switched::Topology;
use support::network;

/// Two jobs on the same switches, with separate hosts, and an idle host.
const TWO_JOBS: &str = "
name: neighbors
nodes: [{name: v1, kind: switch, aggregation_capacity: 6 Gbps},
  {name: v2, kind: switch, aggregation_capacity: 6 Gbps},
  {name: a1, kind: worker}, {name: a2, kind: worker}, {name: a3, kind: worker}, {name: a4, kind: worker},
  {name: b1, kind: worker}, {name: b2, kind: worker}, {name: b3, kind: worker}, {name: idle, kind: worker},
  {name: sa, kind: server}, {name: sb, kind: server}]
links: [{ends: [v1, v2], rate: 2 Gbps}, {ends: [a1, v1], rate: 1 Gbps}, {ends: [a2, v1], rate: 1 Gbps},
  {ends: [a3, v2], rate: 1 Gbps}, {ends: [a4, v2], rate: 1 Gbps}, {ends: [b1, v1], rate: 1 Gbps},
  {ends: [b2, v1], rate: 1 Gbps}, {ends: [b3, v2], rate: 1 Gbps}, {ends: [idle, v1], rate: 1 Gbps},
  {ends: [sa, v2], rate: 1 Gbps}, {ends: [sb, v2], rate: 1 Gbps}]
jobs: [{name: a, workers: [a1, a2, a3, a4], servers: [sa]}, {name: b, workers: [b1, b2, b3], servers: [sb]}]
";

fn run(network: &InstalledNetwork, faults: &str) -> Report {
    let faults = Faults::from_yaml(faults).unwrap();
    let options = Options { rounds: 6, gradient_values: 6400, ..Options::default() };
    let report = simulate(network, &faults, &options, None).unwrap();
    assert_eq!(report.failure, None, "{faults:?}: {report}");
    report
}

/// Twenty salvoes of fifty frames while the jobs run.
fn salvoes(host: &str) -> String {
    let event = |n: u32| format!("  - {{at: {} us, forge: {host}, count: 50}}\n", 50 + 40 * n);
    format!("events:\n{}", (0..20).map(event).collect::<String>())
}

#[test]
fn forged_frames_of_another_job_are_refused_each_and_change_no_sum() {
    let topology = Topology::from_yaml(TWO_JOBS).unwrap();
    for scheme in [schemes::OPTIMIZED, schemes::ATP, schemes::LBMM] {
        let network = network(&topology, scheme, 16);
        let loss = "links: [{drop: 1%, duplicate: 1%}]\n";
        for undisturbed_faults in ["", loss] {
            let undisturbed = run(&network, undisturbed_faults);
            assert!(undisturbed.refused.is_empty(), "{undisturbed}");
            assert_eq!(undisturbed.summed_in_switches > 0, scheme != schemes::LBMM, "{undisturbed}");
            // An idle host, a worker of the other job, and its server.
            for host in ["idle", "b2", "b3", "sb"] {
                let report = run(&network, &format!("{undisturbed_faults}{}", salvoes(host)));
                let refused: u64 = report.refused.values().sum();
                let lost = if undisturbed_faults.is_empty() { 0 } else { 60 };
                println!("{scheme}, {host}: {:?} of {}", report.refused, report.tally.forged);
                assert_eq!(report.tally.forged, 1000, "{report}");
                assert!(refused.abs_diff(1000) <= lost, "{report}");
                assert!(
                    report.refused[&Reason::UnauthorizedSender.to_string()] > 200,
                    "messages, too: {report}"
                );
                assert!(report.refused[&Reason::Tagged.to_string()] > 100, "in VLANs: {report}");
                for (job, undisturbed) in report.jobs.iter().zip(&undisturbed.jobs) {
                    assert_eq!((job.rounds, &job.digest), (6, &undisturbed.digest), "{scheme}, {host}");
                    // No forged frame reached a server either.
                    for server in &job.servers {
                        let refused =
                            [server.foreign, server.malformed, server.overlaps, server.out_of_window];
                        assert_eq!(refused, [0; 4], "{scheme}, {host}: {server:?}");
                    }
                }
                if host == "idle" && undisturbed_faults.is_empty() {
                    // On a separate link: equal to the nanosecond and the last counter.
                    assert_eq!(format!("{:?}", report.jobs), format!("{:?}", undisturbed.jobs), "{scheme}");
                    assert!(report.refused.len() >= 5, "for many reasons: {report}");
                }
            }
        }
    }
}
