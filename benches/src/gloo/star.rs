//! The network of the comparison, and what its links allow.

use inart_wire::ValuesPerPacket;

/// Bytes of a full Ethernet frame of TCP, without preamble, check sequence and gap, as HTB counts them.
const TCP_FRAME_BYTES: f64 = 1514.0;
/// Bytes of data in it: 1500 less 20 of IPv4, 20 of TCP and 12 of its time stamps.
const TCP_DATA_BYTES: f64 = 1448.0;

/// Workers and a parameter server at one switch; all links have the same rate in each direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Star {
    /// How many workers.
    pub workers: usize,
    /// In bits of Ethernet frames per second.
    pub rate_bps: f64,
}

impl Star {
    /// The topology, as `inart` reads it. The switch can sum for all.
    pub fn topology(&self) -> String {
        let Self { workers, rate_bps } = self;
        let capacity = rate_bps * *workers as f64;
        let mut nodes = format!(
            "{{name: v, kind: switch, aggregation: {capacity}}}, {{name: s, kind: server, ingress: {rate_bps}}}"
        );
        let mut links = format!("{{ends: [s, v], rate: {rate_bps}}}");
        for worker in 0..*workers {
            nodes += &format!(", {{name: w{worker}, kind: worker}}");
            links += &format!(", {{ends: [w{worker}, v], rate: {rate_bps}}}");
        }
        format!("{{name: star, nodes: [{nodes}], links: [{links}], jobs: [{{name: bench}}]}}\n")
    }

    /// Least seconds in which all frames of a tensor of so many values pass a link at a plan's rate: the
    /// worker's.
    pub fn limit_seconds(&self, values: usize, per_frame: ValuesPerPacket, planned_bps: f64) -> f64 {
        let frames = values.div_ceil(per_frame.get());
        8.0 * (frames * per_frame.frame_bytes()) as f64 / planned_bps
    }

    /// The same of a ring over TCP, in which each worker sends 2 (n - 1) / n of the tensor.
    pub fn ring_limit_seconds(&self, values: usize) -> f64 {
        let n = self.workers as f64;
        let sent = 2.0 * (n - 1.0) / n * 4.0 * values as f64;
        8.0 * sent * TCP_FRAME_BYTES / TCP_DATA_BYTES / self.rate_bps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_count_frames_and_the_ring_both_its_phases() {
        let star = Star { workers: 4, rate_bps: 1e6 };
        // Two frames of 1068 bytes.
        assert!((star.limit_seconds(257, ValuesPerPacket::N256, 1e6) - 0.017_088).abs() < 1e-9);
        // One and a half times 4 x 362 bytes, in frames of 1448.
        assert!((star.ring_limit_seconds(362) - 1.5 * 8.0 * 1514.0 / 1e6).abs() < 1e-9);
    }

    #[test]
    fn the_plan_uses_the_whole_of_the_links() {
        for workers in [2, 6] {
            let star = Star { workers, rate_bps: 1e8 };
            let topology = inart_planner::Topology::from_yaml(&star.topology()).expect("valid");
            let options = inart_planner::Options::new(inart_planner::schemes::INART);
            let plan = inart_planner::plan(&topology, &topology.jobs()[0], &options).expect("planned");
            assert!((plan.rate_bps - 1e8).abs() < 1.0, "{}", plan.rate_bps);
        }
    }
}
