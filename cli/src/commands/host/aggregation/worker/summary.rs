//! What a worker prints in the end.

use inart_wire::Rank;

/// What `--json` prints.
#[derive(serde::Serialize)]
pub struct Summary {
    pub rank: Rank,
    pub rounds: u32,
    pub comm_seconds: Vec<f64>,
    pub retransmissions: u64,
    pub trained: Option<inart_host_agent::report::Trained>,
}

impl Summary {
    pub fn text(&self) -> String {
        // Hosts meet in the first round, however long others take to start.
        let (first, others) = match self.comm_seconds.split_first() {
            Some((first, others)) if !others.is_empty() => (Some(1e3 * first), others),
            _ => (None, &self.comm_seconds[..]),
        };
        let mean = others.iter().sum::<f64>() / others.len().max(1) as f64;
        let mut text = format!(
            "worker {}: {} rounds, {:.3} ms of communication each",
            self.rank,
            self.rounds,
            1e3 * mean
        );
        if let Some(first) = first {
            text += &format!(" (the first {first:.3} ms, in which hosts met)");
        }
        text += &format!(", {} chunks retransmitted", self.retransmissions);
        match &self.trained {
            Some(trained) => {
                text += &format!("; loss {:.4}, accuracy {:.2} %", trained.loss, 100.0 * trained.accuracy);
            }
            None => text += "; every sum checked",
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_for_other_hosts_is_not_communication() {
        let mut summary = Summary {
            rank: 1u16.try_into().expect("a rank"),
            rounds: 3,
            comm_seconds: vec![6.0, 0.003, 0.001],
            retransmissions: 4,
            trained: None,
        };
        let text = "worker 1: 3 rounds, 2.000 ms of communication each (the first 6000.000 ms, in which hosts met), 4 chunks \
                    retransmitted; every sum checked";
        assert_eq!(summary.text(), text);
        summary.comm_seconds.truncate(1);
        assert!(summary.text().contains("6000.000 ms of communication each,"));
    }
}
