//! Control messages between peers where switches copy updates: each message is a frame as long as a chunk's,
//! and ports that carry messages carry less of updates.

use inart_topologies::peers::Mesh;

use super::setting::Setting;
use crate::error::Error;

/// Notices to all others at a round's end.
const AT_THE_END: f64 = 1.0;
/// Times of the notice of a round's start and of its repetition, in seconds (P1 in `docs/protocol/peers.md`).
const AGAIN_S: [f64; 2] = [0.05, 0.25];
/// Interval of further notices, in seconds.
const EVERY_S: f64 = 0.8;
/// Peers in the bitmap of a frame: messages to more of them are several frames.
const BLOCK: usize = 64;
/// Least share of each port's rate for updates.
const LEAST: f64 = 0.01;
/// Greatest number of doublings of a round's time by messages; beyond it the round is impossible.
const MOST_DOUBLINGS: usize = 6;
/// Halvings of the interval in which a round's length is.
const HALVINGS: usize = 12;

/// Returns the number of notices of a peer to all others in a round of that length.
fn notices(round_s: f64) -> f64 {
    let again = AGAIN_S.iter().filter(|after_s| round_s >= **after_s).count() as f64;
    let later = ((round_s - AGAIN_S[AGAIN_S.len() - 1]) / EVERY_S).floor().max(0.0);
    AT_THE_END + 1.0 + again + later
}

/// Loads of messages on every port.
#[derive(Debug, Clone, Copy, PartialEq)]
struct MessageLoad {
    up_bps: f64,
    down_bps: f64,
}

/// Computes the loads in rounds of that length: notices, and an acknowledgement for every update that
/// arrived.
fn taken(peers: usize, receivers: usize, frame_bits: f64, round_s: f64) -> MessageLoad {
    let notices = notices(round_s);
    let blocks = peers.div_ceil(BLOCK) as f64;
    let per_frame = frame_bits / round_s;
    MessageLoad {
        up_bps: (notices * blocks + receivers as f64) * per_frame,
        down_bps: (notices * (peers - 1) as f64 + receivers as f64) * per_frame,
    }
}

/// Returns the network with the rates that its ports have left for frames of updates. `round_s` gives the
/// length of a round on such a network. A longer round has more messages, which take a smaller share of a
/// port; so there is one length that fits its own messages, which is found by halving.
///
/// # Errors
/// Messages that leave next to nothing of a port.
pub fn without_words(
    setting: &Setting,
    round_s: impl Fn(&Mesh) -> Result<f64, Error>,
) -> Result<Mesh, Error> {
    let (job, frame) = (setting.job(), setting.values_per_frame);
    let frame_bits = 8.0 * frame.frame_bytes() as f64;
    let left = |seconds: f64| {
        let words = taken(job.peers.len(), job.receivers, frame_bits, seconds);
        setting.mesh.with_rates_less(words.up_bps, words.down_bps, LEAST)
    };
    let mut low_s = round_s(&setting.mesh)?;
    let mut high_s = low_s;
    let mut doublings = 0;
    while round_s(&left(high_s))? > high_s {
        if doublings == MOST_DOUBLINGS {
            let peers = job.peers.len();
            let problem = format!(
                "the control messages of {peers} peers, in frames of {frame} values, fill the ports: give a larger scale, fewer values per frame, or larger updates"
            );
            return Err(Error::Option { option: "multicast", problem });
        }
        doublings += 1;
        low_s = high_s;
        high_s *= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle_s = 0.5 * (low_s + high_s);
        *(if round_s(&left(middle_s))? > middle_s { &mut low_s } else { &mut high_s }) = middle_s;
    }
    Ok(left(high_s))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use inart_planner_peers::{Multicast, Reading};
    use inart_wire::ValuesPerFrame;

    use super::super::setting::{Sync, Workload};
    use super::*;

    /// Two peers that send to each other, over ports of 1 Mbps up and down.
    fn setting(update_bytes: u32) -> Setting {
        let network = format!(
            "{{name: m, nodes: [{{name: s, kind: switch}}, {{name: a, kind: peer}}, \
             {{name: b, kind: peer}}], \
             links: [{{ends: [a, s], rate: 1 Mbps}}, {{ends: [b, s], rate: 1 Mbps}}], \
             jobs: [{{name: j, receivers: 1, update: {update_bytes} B}}]}}"
        );
        Setting {
            mesh: Arc::new(Mesh::from_yaml(&network).expect("a network")),
            scale: crate::machine::scale::Scaling::NONE,
            schemes: Vec::new(),
            given: None,
            multicast: Multicast::Switch,
            values_per_frame: ValuesPerFrame::N256,
            target: inart_targets::DEFAULT,
            sync: Sync::Bsp,
            force_after: None,
            reading: Reading::default(),
            workload: Workload::Random,
            rounds: 1,
            seed: 1,
            program: PathBuf::new(),
            congestion: String::new(),
        }
    }

    #[test]
    fn a_round_is_as_long_as_its_updates_and_its_words_take() {
        let setting = setting(1024);
        let frame_bits = 8.0 * ValuesPerFrame::N256.frame_bytes() as f64;
        // Frames of updates in each port.
        let round_s = |frames: f64| {
            move |mesh: &Mesh| Ok(frames * frame_bits / mesh.ports_at(&mesh.jobs()[0], 0.0).down_bps[0])
        };
        // With 58 of updates a round has four notices and one word back.
        let left = without_words(&setting, round_s(58.0)).expect("room");
        let seconds = round_s(58.0)(&left).expect("a time");
        assert!((seconds - 63.0 * frame_bits / 1e6).abs() < 1e-3, "{seconds}");
        // With one it has two and one: words are most of it.
        let left = without_words(&setting, round_s(1.0)).expect("room");
        let seconds = round_s(1.0)(&left).expect("a time");
        assert!((seconds - 4.0 * frame_bits / 1e6).abs() < 1e-3, "{seconds}");
        // Messages leave nothing at any length.
        let lengths = std::cell::Cell::new(1.0);
        let longer = |_: &Mesh| Ok(lengths.replace(lengths.get() * 3.0));
        let error = without_words(&setting, longer).expect_err("no room").to_string();
        assert!(error.contains("2 peers") && error.contains("larger scale"), "{error}");
    }

    #[test]
    fn notices_are_those_of_the_protocol() {
        for (round_s, expected) in
            [(0.01, 2.0), (0.05, 3.0), (0.2, 3.0), (0.25, 4.0), (1.04, 4.0), (1.06, 5.0), (5.06, 10.0)]
        {
            assert_eq!(notices(round_s), expected, "{round_s} s");
        }
    }

    #[test]
    fn words_are_counted_by_port() {
        // Four notices of 71 others and five words back come in; four go out in two frames each, and five
        // back.
        let words = taken(72, 5, 1000.0, 0.5);
        assert_eq!(words, MessageLoad { up_bps: 13.0 * 2000.0, down_bps: 289.0 * 2000.0 });
    }
}
