//! The reader of networks: any text is refused in one line, or read as a network that writes itself and reads
//! back the same; small ones are planned and run.

mod examples;
mod peers;
mod sites;
mod training;

use inart_topologies::Network;

use crate::edit::edited;

/// Runs the target. The first byte chooses the kind of network that the others edit.
pub fn run(bytes: &[u8]) {
    let (which, bytes) = bytes.split_first().map_or((0, bytes), |(which, rest)| (usize::from(*which), rest));
    let example = &examples::ALL[which % examples::ALL.len()];
    let text = edited(&example.document, example.words, bytes);
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
            match switched.training() {
                Ok(cluster) => training::run(&cluster, &text),
                Err(error) => assert_eq!(error.to_string().lines().count(), 1, "one line: {error}"),
            }
        }
        Network::Sites(both) => sites::run(both, &text, bytes),
        Network::Peers(mesh) => peers::run(mesh, &text, bytes),
    }
}
