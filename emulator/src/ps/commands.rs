//! The commands that start a server and its workers.

use std::process::Command;

use inart_ps_agent::Precision;

use super::setting::{Clients, Scheme, Setting, Transport};
use super::wiring::{PsWiring, UP, at, listen, mac};
use crate::machine::scratch::Scratch;

/// The server's file of the model, where one is kept.
pub const KEPT: &str = "model.kept";
/// Longest wait of a restarted server for workers that have ended.
const GATHER_AGAIN: &str = "5s";

/// The server's; `is_again`: one before was killed.
pub fn server(
    setting: &Setting,
    scheme: &Scheme,
    wiring: &PsWiring,
    scratch: &Scratch,
    is_again: bool,
) -> Command {
    let mut command = wiring.host(0).command(&setting.program);
    command.args(["--json", "order-server"]).arg(scratch.path("network.yaml"));
    let length = if scheme.order.groups().is_some() { "--rounds" } else { "--iterations" };
    command.args(&scheme.flags).args([length, &setting.iterations.to_string()]);
    if setting.precision == Precision::Half {
        command.args(["--dtype", "float16"]);
    }
    if let Some(patience_s) = setting.patience_s {
        command.args(["--push-timeout", &format!("{patience_s} s")]);
    }
    if setting.faults.server_restarts() {
        command.arg("--checkpoint").arg(scratch.path(KEPT));
    }
    if is_again {
        command.args(["--join-timeout", GATHER_AGAIN]);
    }
    for (worker, participant) in setting.job.participants.iter().enumerate() {
        command.arg("--worker").arg(format!("{}={}", participant.name, place(setting, worker + 1)));
    }
    common(&mut command, setting, scratch, &setting.server);
    command
}

/// Returns the command of a worker or a client.
pub fn worker(setting: &Setting, wiring: &PsWiring, scratch: &Scratch, worker: usize) -> Command {
    let mut command = wiring.host(worker + 1).command(&setting.program);
    command.args(["--json", "order-worker"]).arg(scratch.path("network.yaml"));
    command.args(["--simulate-compute", "--learning-rate", &setting.step.to_string()]);
    if let Some(Clients { local, opposite }) = &setting.clients {
        command.args(["--local-steps", &local.steps.to_string(), "--data-shards", &local.shards.to_string()]);
        command.args(opposite.contains(&worker).then_some("--sign-flip"));
    }
    command.arg("--server").arg(format!("{}={}", setting.server, place(setting, 0)));
    common(&mut command, setting, scratch, &setting.job.participants[worker].name);
    command
}

/// Returns the address of a host.
fn place(setting: &Setting, host: usize) -> String {
    match setting.transport {
        Transport::Quic => at(host).to_string(),
        Transport::Frames => mac(host).to_string(),
    }
}

/// Adds the common arguments of all processes.
fn common(command: &mut Command, setting: &Setting, scratch: &Scratch, name: &str) {
    command.args(["--name", name, "--pace", "--seed", &setting.seed.to_string()]);
    if setting.transport == Transport::Frames {
        command.args(["--interface", UP]);
        return;
    }
    command.args(["--listen", &listen().to_string(), "--congestion", &setting.congestion]);
    command.arg("--tls-ca").arg(scratch.path("ca.pem"));
    command.arg("--tls-cert").arg(scratch.path(&format!("{name}.pem")));
    command.arg("--tls-key").arg(scratch.path(&format!("{name}.key")));
}
