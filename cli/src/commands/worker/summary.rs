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
        let mean = self.comm_seconds.iter().sum::<f64>() / f64::from(self.rounds.max(1));
        let mut text = format!(
            "worker {}: {} rounds, {:.3} ms of communication each, {} chunks retransmitted",
            self.rank,
            self.rounds,
            1e3 * mean,
            self.retransmissions
        );
        match &self.trained {
            Some(trained) => {
                text += &format!("; loss {:.4}, accuracy {:.2} %", trained.loss, 100.0 * trained.accuracy);
            }
            None => text += "; every sum checked",
        }
        text
    }
}
