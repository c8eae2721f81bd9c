//! Networks of the comparison, and the limits of their links.

use std::path::Path;

use anyhow::{Context, Result};
use inart_topologies::switched::Topology;
use inart_wire::ValuesPerFrame;

/// Bytes of a full Ethernet frame of TCP, without preamble, check sequence and gap, as HTB counts them.
const TCP_FRAME_BYTES: f64 = 1514.0;
/// Bytes of data in it: 1500 less 20 of IPv4, 20 of TCP and 12 of its time stamps.
const TCP_DATA_BYTES: f64 = 1448.0;

/// A network to emulate.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Name in tables and charts.
    pub name: String,
    /// As `inart` reads it.
    pub topology: String,
    /// Workers of its job.
    pub workers: usize,
    /// The factor on its rates, as `inart emulate --scale` has it.
    pub scale: String,
    /// Rate of all links in bits of Ethernet frames per second, if they are equal.
    pub link_bps: Option<f64>,
}

impl Network {
    /// Returns `workers` workers and a parameter server at one switch, which can sum for all; all links have
    /// the same rate in each direction.
    pub fn star(workers: usize, rate_bps: f64) -> Self {
        let capacity = rate_bps * workers as f64;
        let mut nodes = format!(
            "{{name: v, kind: switch, aggregation_capacity: {capacity} bps}}, {{name: s, kind: server, ingress_capacity: {rate_bps} bps}}"
        );
        let mut links = format!("{{ends: [s, v], rate: {rate_bps} bps}}");
        for worker in 0..workers {
            nodes += &format!(", {{name: w{worker}, kind: worker}}");
            links += &format!(", {{ends: [w{worker}, v], rate: {rate_bps} bps}}");
        }
        Self {
            name: format!("{workers} workers, {:.0} Mbps", rate_bps / 1e6),
            topology: format!(
                "{{name: star, nodes: [{nodes}], links: [{links}], jobs: [{{name: bench}}]}}\n"
            ),
            workers,
            scale: "1".into(),
            link_bps: Some(rate_bps),
        }
    }

    /// Returns the network of a file, at that scale.
    ///
    /// # Errors
    /// A file that cannot be read, or is no topology.
    pub fn read(path: &Path, scale: &str) -> Result<Self> {
        let place = || path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(place)?;
        let topology = Topology::from_yaml(&text).with_context(place)?;
        let workers = topology.jobs()[0].workers.len();
        let name = format!("{} at {scale}, {workers} workers", topology.name());
        Ok(Self { name, topology: text, workers, scale: scale.into(), link_bps: None })
    }

    /// Least seconds in which all frames of a tensor of `values` values leave a worker at a plan's rate.
    pub fn limit_seconds(&self, values: usize, per_frame: ValuesPerFrame, planned_bps: f64) -> f64 {
        let frames = values.div_ceil(per_frame.get());
        8.0 * (frames * per_frame.frame_bytes()) as f64 / planned_bps
    }

    /// Returns the limit of a ring over TCP, in which each worker sends 2 (n - 1) / n of the tensor; only if
    /// all links are equal.
    pub fn ring_limit_seconds(&self, values: usize) -> Option<f64> {
        let sent = self.ring_share() * 4.0 * values as f64;
        Some(8.0 * sent * TCP_FRAME_BYTES / TCP_DATA_BYTES / self.link_bps?)
    }

    /// Returns how often a ring's worker sends the tensor: 2 (n - 1) / n times; a switch's sends it once.
    pub fn ring_share(&self) -> f64 {
        let n = self.workers as f64;
        2.0 * (n - 1.0) / n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_count_frames_and_the_ring_both_its_phases() {
        let star = Network::star(4, 1e6);
        // Two frames of 1068 bytes.
        assert!((star.limit_seconds(257, ValuesPerFrame::N256, 1e6) - 0.017_088).abs() < 1e-9);
        // One and a half times 4 x 362 bytes, in frames of 1448.
        let ring = star.ring_limit_seconds(362).expect("all links are equal");
        assert!((ring - 1.5 * 8.0 * 1514.0 / 1e6).abs() < 1e-9);
    }

    #[test]
    fn the_plan_uses_the_whole_of_the_links() {
        for workers in [2, 6] {
            let topology = Topology::from_yaml(&Network::star(workers, 1e8).topology).expect("valid");
            let options =
                inart_planner_aggregation::Options::new(inart_planner_aggregation::schemes::OPTIMIZED);
            let plan =
                inart_planner_aggregation::plan(&topology, &topology.jobs()[0], &options).expect("planned");
            assert!((plan.rate_bps - 1e8).abs() < 1.0, "{}", plan.rate_bps);
        }
    }

    #[test]
    fn a_file_that_is_no_topology_is_named() {
        let error = Network::read(Path::new("/nowhere.yaml"), "1/10").expect_err("no such file");
        assert!(format!("{error:#}").contains("/nowhere.yaml"), "{error:#}");
    }
}
