//! Summary that a worker prints at its end.

use inart_report::WorkerEnd;
use inart_topologies::units::counted;

/// Returns the end of a worker as a sentence.
pub fn text(end: &WorkerEnd) -> String {
    // The first round includes the time until all hosts have started.
    let (first, others) = match end.comm_seconds.split_first() {
        Some((first, others)) if !others.is_empty() => (Some(1e3 * first), others),
        _ => (None, &end.comm_seconds[..]),
    };
    let mean = others.iter().sum::<f64>() / others.len().max(1) as f64;
    let mut text = format!(
        "worker {}: {}, {:.3} ms of communication each",
        end.rank,
        counted(end.rounds, "round"),
        1e3 * mean
    );
    if let Some(first) = first {
        text += &format!(" (the first {first:.3} ms, in which hosts met)");
    }
    text += &format!(", {} retransmitted", counted(end.retransmissions, "chunk"));
    match &end.trained {
        Some(trained) => {
            text += &format!("; loss {:.4}, accuracy {:.2} %", trained.loss, 100.0 * trained.accuracy);
        }
        None => text += "; every sum checked",
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_for_other_hosts_is_not_communication() {
        let mut summary = WorkerEnd {
            rank: 1,
            rounds: 3,
            comm_seconds: vec![6.0, 0.003, 0.001],
            retransmissions: 4,
            trained: None,
        };
        let text = "worker 1: 3 rounds, 2.000 ms of communication each (the first 6000.000 ms, in which hosts met), 4 chunks \
                    retransmitted; every sum checked";
        assert_eq!(super::text(&summary), text);
        summary.comm_seconds.truncate(1);
        assert!(super::text(&summary).contains("6000.000 ms of communication each,"));
    }
}
