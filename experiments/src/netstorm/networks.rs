//! Networks that seeds draw, with rates as the NETSTORM paper's released script draws them.

use std::fmt::Write as _;

use inart_topologies::sites::Overlay;

use crate::trials::StudyError;

use super::job::{Job, Network, PARAMETER_BYTES};
use super::mersenne::Mersenne;

/// The NETSTORM paper's Fig. 12 as in the released source: one direction after the other, in the order in
/// which the script draws their rates.
const GEO9: [(usize, usize); 26] = [
    (1, 2),
    (1, 3),
    (2, 3),
    (2, 1),
    (2, 5),
    (3, 1),
    (3, 2),
    (3, 4),
    (4, 3),
    (4, 5),
    (4, 6),
    (5, 2),
    (5, 7),
    (5, 4),
    (6, 4),
    (6, 7),
    (6, 8),
    (6, 9),
    (7, 5),
    (7, 6),
    (7, 8),
    (8, 6),
    (8, 7),
    (8, 9),
    (9, 6),
    (9, 8),
];
const GEO9_SITES: usize = 9;
const DRAWS: usize = 10;
const LEAST_MBPS: u64 = 20;
const GREATEST_MBPS: u64 = 155;

/// Draws a network with its job.
pub fn draw(network: Network, job: Job, seed: u64) -> Result<Overlay, StudyError> {
    let mut random = Mersenne::new(seed);
    let (sites, directions) = match network {
        Network::Static | Network::Dynamic => (GEO9_SITES, GEO9.to_vec()),
        Network::Ring(sites) => (sites, ring(sites, &mut random)),
    };
    let draws = if network == Network::Static { 1 } else { DRAWS };
    let rates: Vec<Vec<u64>> = (0..draws)
        .map(|_| directions.iter().map(|_| random.randint(LEAST_MBPS, GREATEST_MBPS)).collect())
        .collect();
    let text = document(sites, &directions, &rates, job);
    Overlay::from_yaml(&text).map_err(|source| StudyError::new(&network, seed, source))
}

/// Returns both directions of the links of a ring of all sites with 4/9 as many chords, none of them at
/// site 1. The NETSTORM paper's network is such a ring: nine sites, four chords.
fn ring(sites: usize, random: &mut Mersenne) -> Vec<(usize, usize)> {
    let mut links: Vec<(usize, usize)> = (1..sites).map(|at| (at, at + 1)).collect();
    links.push((1, sites));
    let mut chords: Vec<(usize, usize)> =
        (2..=sites).flat_map(|a| (a + 2..=sites).map(move |b| (a, b))).collect();
    for _ in 0..(4 * sites + 4) / GEO9_SITES {
        if !chords.is_empty() {
            links.push(chords.remove(random.randint(0, chords.len() as u64 - 1) as usize));
        }
    }
    let mut both: Vec<_> = links.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]).collect();
    both.sort_unstable();
    both
}

fn document(sites: usize, directions: &[(usize, usize)], rates: &[Vec<u64>], job: Job) -> String {
    let of = |ends: (usize, usize), draw: &[u64]| {
        let at = directions.iter().position(|direction| *direction == ends);
        at.map_or(0, |at| draw[at])
    };
    let names: Vec<String> = (1..=sites).map(|at| format!("n{at}")).collect();
    let mut text = String::from("name: netstorm\nnodes:\n");
    for name in &names {
        let _ = writeln!(text, "  - {{name: {name}, kind: site}}");
    }
    text.push_str("links:\n");
    let mut links: Vec<(usize, usize)> = directions.iter().copied().filter(|(a, b)| a < b).collect();
    links.sort_unstable();
    for &(a, b) in &links {
        let (there, back) = (of((a, b), &rates[0]), of((b, a), &rates[0]));
        let _ = writeln!(
            text,
            "  - {{ends: [n{a}, n{b}], rate: [{there} Mbps, {back} Mbps], delay: 30 ms, loss: 0.02%}}"
        );
    }
    if rates.len() > 1 {
        text.push_str("traces:\n");
        for (a, b) in links.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]) {
            let all: Vec<String> = rates.iter().map(|draw| format!("{} Mbps", of((a, b), draw))).collect();
            let _ = writeln!(text, "  - {{link: [n{a}, n{b}], every: 180 s, rates: [{}]}}", all.join(", "));
        }
    }
    let gradient = match job {
        Job::Equal => "gradient: 244 MB, chunk: 4 MB".to_owned(),
        Job::Model(model, chunk) => {
            let bytes = |parameters: u64| format!("{} B", parameters * PARAMETER_BYTES);
            let tensors: Vec<String> = model.tensors().into_iter().map(bytes).collect();
            format!("tensors: [{}], chunk: {}", tensors.join(", "), bytes(chunk))
        }
    };
    let _ = writeln!(text, "jobs:\n  - {{name: job, sites: [{}], {gradient}}}", names.join(", "));
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Seed 1 is the network of the documents.
    #[test]
    fn seed_1_is_what_the_released_script_draws() {
        let read = |text| Overlay::from_yaml(text).unwrap();
        let dynamic = read(include_str!("../../../topologies/geo9.yaml"));
        assert_eq!(draw(Network::Dynamic, Job::Equal, 1).unwrap().links(), dynamic.links());
        let drawn = draw(Network::Static, Job::Equal, 1).unwrap();
        assert_eq!(drawn.rates_at(0.0), dynamic.rates_at(0.0));
        assert_eq!(drawn.rates_at(1000.0), drawn.rates_at(0.0));
        assert_eq!(drawn.jobs()[0].tensors_bytes, dynamic.jobs()[0].tensors_bytes);
        assert_eq!(drawn.jobs()[0].chunk_bytes, dynamic.jobs()[0].chunk_bytes);
    }

    #[test]
    fn rings_have_as_many_links_per_site() {
        for (sites, links) in [(5, 7), (9, 13), (15, 22)] {
            let drawn = draw(Network::Ring(sites), Job::Equal, 3).unwrap();
            assert_eq!((drawn.sites().len(), drawn.links().len()), (sites, links));
            let first = drawn.site_ids().next().unwrap();
            assert_eq!(drawn.links().iter().filter(|link| link.ends.contains(&first)).count(), 2);
        }
    }
}
