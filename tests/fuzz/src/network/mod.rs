//! The reader of networks: any text is refused in one line, or read as a network that writes itself and reads
//! back the same; small ones are planned and run.

mod examples;
mod peers;
mod sites;
mod switched;
mod training;

use inart_topologies::Network;

use crate::edit::{EXTREMES, Values, edited, edited_with};

/// Quantities at the limits of valid ones.
const QUANTITIES: [&str; 16] = [
    "1 bps",
    "0.001 bps",
    "1e9 Gbps",
    "5e-324 bps",
    "9.3e18 bps",
    "1e300 s",
    "5e-324 s",
    "1 ns",
    "1 h",
    "1e7 s",
    "4 B",
    "1e17 B",
    "1 TB",
    "99.999999%",
    "1e-300",
    "1e12",
];

/// Runs the target. The first byte chooses the kind of network that the others edit; from 128 on, values are
/// extremes.
pub fn run(bytes: &[u8]) {
    let (which, bytes) = bytes.split_first().map_or((0, bytes), |(which, rest)| (usize::from(*which), rest));
    let example = &examples::ALL[which % examples::ALL.len()];
    let text = match which < 128 {
        true => edited(&example.document, example.words, bytes),
        false => {
            let words = [example.words, &QUANTITIES].concat();
            edited_with(&example.document, Values { words: &words, numbers: &EXTREMES }, bytes)
        }
    };
    let network = match Network::from_yaml(&text) {
        Ok(network) => network,
        Err(error) => return assert_eq!(error.to_string().lines().count(), 1, "one line: {error}"),
    };
    let yaml = network.to_yaml();
    let read = |again: &str| {
        Network::from_yaml(again).unwrap_or_else(|error| panic!("{error}\n{text}\n{again}")).to_yaml()
    };
    assert_eq!(read(&yaml), yaml, "{text}");
    match &network {
        Network::Switched(switched) => {
            let json = switched.topology.to_json();
            let plain = switched.topology.to_yaml();
            assert_eq!(read(&json), plain, "{text}\n{json}");
            switched::run(&switched.topology, &text, bytes);
            match switched.training() {
                Ok(cluster) => training::run(&cluster, &text),
                Err(error) => assert_eq!(error.to_string().lines().count(), 1, "one line: {error}"),
            }
        }
        Network::Sites(both) => sites::run(both, &text, bytes),
        Network::Peers(mesh) => peers::run(mesh, &text, bytes),
    }
}
