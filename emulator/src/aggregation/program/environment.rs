//! The environment of a rank.

use std::ffi::{OsStr, OsString};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The port at which ranks meet, of the first job; that of `torchrun`.
const FIRST_PORT: u16 = 29500;
/// Ports per plan version: as many as jobs at most.
const PORTS_PER_PLAN_VERSION: u16 = 16;
/// Plan versions until ports are used again.
const PLAN_VERSIONS: u16 = 64;

/// Settings of a rank.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings<'a> {
    /// Rank, from 0.
    pub rank: u16,
    /// Number of ranks.
    pub ranks: usize,
    /// Address of rank 0's host.
    pub master: Ipv4Addr,
    /// Port at which rank 0 may listen.
    pub port: u16,
    /// The interface to send on.
    pub interface: &'a str,
    /// File of the job's assignment.
    pub assignment: &'a Path,
    /// Socket to report at.
    pub report: &'a Path,
    /// Name of the job.
    pub job: &'a str,
    /// Peer timeout.
    pub peer_timeout: Duration,
    /// Socket at which the worker reports its state to `inart doctor`.
    pub status: Option<PathBuf>,
}

impl Surroundings<'_> {
    /// The port of a job, by its place among the jobs that run. Another in the next plan version, since the
    /// last connections of the one before may still be closing.
    pub fn port(plan_version: u16, job: usize) -> u16 {
        let place =
            PORTS_PER_PLAN_VERSION * (plan_version % PLAN_VERSIONS) + job as u16 % PORTS_PER_PLAN_VERSION;
        FIRST_PORT + place
    }

    /// The variables, whatever they were before.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let peer_timeout = self.peer_timeout.as_secs_f64();
        let mut variables: Vec<(_, OsString)> = vec![
            ("RANK", self.rank.to_string().into()),
            ("LOCAL_RANK", "0".into()),
            ("WORLD_SIZE", self.ranks.to_string().into()),
            ("LOCAL_WORLD_SIZE", "1".into()),
            ("MASTER_ADDR", self.master.to_string().into()),
            ("MASTER_PORT", self.port.to_string().into()),
            ("GLOO_SOCKET_IFNAME", self.interface.into()),
            ("INART_ASSIGNMENT", self.assignment.into()),
            ("INART_INTERFACE", self.interface.into()),
            ("INART_REPORT", self.report.into()),
            ("INART_JOB", self.job.into()),
            ("INART_PEER_TIMEOUT", peer_timeout.to_string().into()),
        ];
        variables.extend(self.status.clone().map(|status| ("INART_STATUS", status.into())));
        variables
    }

    /// Variables that are set where the caller has not: Python prints lines as they come, and PyTorch's
    /// threads, one rank's as many as cores, leave each other room, as under `torchrun`.
    pub fn defaults(is_set: impl Fn(&OsStr) -> bool) -> impl Iterator<Item = (&'static str, &'static str)> {
        [("PYTHONUNBUFFERED", "1"), ("OMP_NUM_THREADS", "1")]
            .into_iter()
            .filter(move |(name, _)| !is_set(OsStr::new(name)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_rank_has_all_variables_of_torchrun_and_inart() {
        let surroundings = Surroundings {
            rank: 3,
            ranks: 6,
            master: Ipv4Addr::new(10, 0, 0, 5),
            port: 29517,
            interface: "eth0",
            assignment: Path::new("/a.json"),
            report: Path::new("/r.sock"),
            job: "digits",
            peer_timeout: Duration::from_millis(2500),
            status: Some("/w4.sock".into()),
        };
        let lines: Vec<_> = surroundings
            .variables()
            .into_iter()
            .map(|(name, value)| format!("{name}={}", value.to_string_lossy()))
            .collect();
        assert_eq!(
            lines.join(" "),
            "RANK=3 LOCAL_RANK=0 WORLD_SIZE=6 LOCAL_WORLD_SIZE=1 MASTER_ADDR=10.0.0.5 MASTER_PORT=29517 \
             GLOO_SOCKET_IFNAME=eth0 INART_ASSIGNMENT=/a.json INART_INTERFACE=eth0 INART_REPORT=/r.sock \
             INART_JOB=digits INART_PEER_TIMEOUT=2.5 INART_STATUS=/w4.sock"
        );
        let given: Vec<_> = Surroundings::defaults(|name| name == "OMP_NUM_THREADS").collect();
        assert_eq!(given, [("PYTHONUNBUFFERED", "1")]);
    }

    #[test]
    fn jobs_and_plan_versions_have_ports_of_their_own() {
        let ports: BTreeSet<_> = (0..64)
            .flat_map(|plan_version| (0..16).map(move |job| Surroundings::port(plan_version, job)))
            .collect();
        assert_eq!(ports.len(), 64 * 16);
        assert!(ports.iter().all(|port| (29500..30524).contains(port)));
        assert_eq!(Surroundings::port(u16::MAX, 0), Surroundings::port(63, 0));
    }
}
