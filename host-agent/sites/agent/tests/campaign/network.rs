//! Random networks.

use inart_planner_sites::Scheme;
use inart_topologies::sites::Overlay;
use rand::Rng;

pub const SCHEMES: [Scheme; 4] = [Scheme::Optimized, Scheme::Netstorm, Scheme::Fapt, Scheme::Star];

/// Draws three to six sites on a ring with chords, and a job of a few tensors, in chunks of a quarter of a
/// block or of two blocks.
pub fn draw(draws: &mut impl Rng) -> Overlay {
    let sites = draws.random_range(3..7usize);
    let mut text = String::from("name: drawn\nnodes:\n");
    for site in 0..sites {
        text += &format!("  - {{name: n{site}, kind: site}}\n");
    }
    text += "links:\n";
    for a in 0..sites {
        for b in a + 1..sites {
            let ring = b == a + 1 || (a == 0 && b == sites - 1);
            if ring || draws.random_bool(0.3) {
                let (up, down) = (draws.random_range(1..9), draws.random_range(1..9));
                text +=
                    &format!("  - {{ends: [n{a}, n{b}], rate: [{up} Mbps, {down} Mbps], delay: 10 ms}}\n");
            }
        }
    }
    let all: Vec<_> = (0..sites).map(|site| format!("n{site}")).collect();
    let (chunk, longest) = if draws.random_bool(0.5) { (256, 300) } else { (2048, 2000) };
    let tensors: Vec<_> =
        (0..draws.random_range(1..4)).map(|_| format!("{} B", 4 * draws.random_range(1..longest))).collect();
    text += &format!(
        "jobs:\n  - {{name: job, sites: [{}], tensors: [{}], chunk: {chunk} B}}\n",
        all.join(", "),
        tensors.join(", ")
    );
    Overlay::from_yaml(&text).unwrap()
}
