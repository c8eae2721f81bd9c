//! A topology as an SVG: hosts below, switches in tiers above them; with a plan, the utilization of each
//! link, and the switches that aggregate.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use crate::plan::Plan;
use inart_topologies::switched::{NodeId, NodeKind, Topology};
use inart_topologies::units::display_rate;

const MARGIN: f64 = 60.0;
/// Size of text, in pixels: 9 pixels when the picture is shown at half its width.
const TEXT: f64 = 18.0;
/// Mean width of a character, as part of the font's size.
const CHARACTER: f64 = 0.58;
/// Least distance between tiers; wide drawings are taller, because flat links are hard to distinguish.
const TIER: f64 = 200.0;
/// Room above the drawing for the title.
const TITLE: f64 = 50.0;
const TITLE_SIZE: f64 = 26.0;
/// Least distance between neighbors of a tier, and between two names.
const SPACING: f64 = 70.0;
const GAP: f64 = 16.0;
const LEAST_WIDTH: f64 = 1000.0;
/// Sizes of a switch, and radius of a host.
const SWITCH: (f64, f64) = (56.0, 40.0);
const HOST: f64 = 24.0;
/// Height of a row of the legend, its mark with the gap to the text, and the gap between entries.
const ROW: f64 = 28.0;
const MARK: f64 = 24.0;
const LABEL: f64 = 32.0;

/// Colors of servers' aggregation marks, in the job's order, repeated if there are more servers.
const SERVER_COLORS: [&str; 6] = ["#2a6fbb", "#d9822b", "#3d9a50", "#8e5bb5", "#c0392b", "#16838a"];

/// Draws a topology; with `plan`, its loads and aggregation points.
pub fn svg(topology: &Topology, plan: Option<&Plan>) -> String {
    let places = layout(topology);
    let width = (places.iter().map(|p| p.0).fold(0.0, f64::max) + MARGIN).max(LEAST_WIDTH);
    let legend = Legend::of(plan, width);
    let height = places.iter().map(|p| p.1).fold(0.0, f64::max) + MARGIN + legend.height();
    let title = title(topology, plan);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"{TEXT}\" text-anchor=\"middle\" \
         role=\"img\">\n<title>{title}</title>\n<desc>{}</desc>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        if plan.is_some() {
            "The links, shaded by their utilization, the hosts, and the switches with the servers they aggregate for."
        } else {
            "The links, the switches and the hosts."
        }
    );
    let utilization = plan.map(link_utilization).unwrap_or_default();
    // The fullest link last, on top of the others.
    let mut lines: Vec<(f64, String)> = Vec::new();
    for link in topology.links() {
        let [a, b] = link.ends.map(|end| (end, topology.node(end).name.as_str()));
        let of = |from: &str, to: &str| utilization.get(&format!("{from}->{to}")).copied().unwrap_or(0.0);
        let part = of(a.1, b.1).max(of(b.1, a.1));
        let ((x1, y1), (x2, y2)) = (places[a.0.index()], places[b.0.index()]);
        let (color, stroke) = shade(part, plan.is_some());
        let [there, back] = link.rates_bps.map(display_rate);
        let rate = if there == back { there } else { format!("{there}, {back} back") };
        let title = if plan.is_some() { format!("{rate}, utilization {:.0} %", 100.0 * part) } else { rate };
        let line = format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{color}\" \
             stroke-width=\"{stroke:.1}\"><title>{}-{}: {title}</title></line>\n",
            escaped(a.1),
            escaped(b.1)
        );
        lines.push((part, line));
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    out.extend(lines.into_iter().map(|(_, line)| line));
    for id in topology.node_ids() {
        draw_node(&mut out, topology, plan, id, places[id.index()]);
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"36\" font-size=\"{TITLE_SIZE}\" font-weight=\"600\" fill=\"#1b2733\">{title}</text>",
        width / 2.0
    );
    legend.draw(&mut out, height);
    out.push_str("</svg>\n");
    out
}

/// Draws a node: a box for a switch (with a colored bar per server it aggregates for), a circle for a host.
fn draw_node(out: &mut String, topology: &Topology, plan: Option<&Plan>, id: NodeId, (x, y): (f64, f64)) {
    let node = topology.node(id);
    let name = escaped(&node.name);
    let server = |name: &str| plan.and_then(|plan| plan.shards.iter().position(|shard| shard.server == name));
    match node.kind {
        NodeKind::Switch => {
            let fill = if node.aggregation_bps > 0.0 { "#eef3f8" } else { "#f4f4f4" };
            let _ = writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{fill}\" \
                 stroke=\"#44546a\"><title>{name}: aggregation capacity {}</title></rect>",
                x - SWITCH.0 / 2.0,
                y - SWITCH.1 / 2.0,
                SWITCH.0,
                SWITCH.1,
                display_rate(node.aggregation_bps)
            );
            let trunks =
                plan.iter().flat_map(|plan| &plan.trunks).filter(|trunk| trunk.aggregator == node.name);
            for (n, trunk) in trunks.enumerate() {
                let color = SERVER_COLORS[server(&trunk.server).unwrap_or(0) % SERVER_COLORS.len()];
                let _ = writeln!(
                    out,
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"7\" \
                     fill=\"{color}\"><title>{name} aggregates {} workers for {}</title></rect>",
                    x - SWITCH.0 / 2.0,
                    y + SWITCH.1 / 2.0 + 2.0 + 9.0 * n as f64,
                    SWITCH.0,
                    trunk.workers.len(),
                    escaped(&trunk.server)
                );
            }
        }
        NodeKind::Server | NodeKind::Worker => {
            let color = match server(&node.name) {
                Some(n) => SERVER_COLORS[n % SERVER_COLORS.len()],
                None if node.kind == NodeKind::Server => "#7f8c9b",
                None => "#ffffff",
            };
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{HOST}\" fill=\"{color}\" fill-opacity=\"0.85\" \
                 stroke=\"#44546a\"><title>{} {name}</title></circle>",
                node.kind
            );
        }
    }
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"#1b2733\">{name}</text>", y + 6.0);
}

/// Returns the picture's title, escaped.
fn title(topology: &Topology, plan: Option<&Plan>) -> String {
    let name = escaped(topology.name());
    let Some(plan) = plan else { return name };
    let (rate, bound) = (display_rate(plan.rate_bps), display_rate(plan.bounds.integral_bps));
    let proof =
        if plan.is_proven_optimal() { "proven optimal".to_owned() } else { format!("at most {bound}") };
    format!("{name}: {} at {rate} per worker ({proof})", escaped(&plan.scheme))
}

/// An entry of the legend: color, thickness of its mark, text.
type Entry = (&'static str, f64, String);

/// The legend below the drawing: the colors of links, and of the servers' marks, in columns.
struct Legend {
    groups: Vec<Vec<Entry>>,
    column: f64,
    columns: usize,
}

impl Legend {
    /// Lays out the legend in this width; it is empty without a plan.
    fn of(plan: Option<&Plan>, width: f64) -> Self {
        let groups = plan.map_or(Vec::new(), |plan| vec![link_entries(), server_entries(plan)]);
        let longest = groups.iter().flatten().map(|entry| text_width(&entry.2)).fold(0.0, f64::max);
        let column = LABEL + longest + GAP;
        let columns = (((width - MARGIN) / column) as usize).max(1);
        Self { groups, column, columns }
    }

    fn rows(&self) -> usize {
        self.groups.iter().map(|group| group.len().div_ceil(self.columns)).sum()
    }

    fn height(&self) -> f64 {
        if self.groups.is_empty() { 0.0 } else { ROW * self.rows() as f64 + GAP }
    }

    fn draw(&self, out: &mut String, foot: f64) {
        let mut top = foot - self.height();
        for group in &self.groups {
            for (at, (color, thick, text)) in group.iter().enumerate() {
                let x = MARGIN / 2.0 + self.column * (at % self.columns) as f64;
                let y = top + ROW * (at / self.columns) as f64 + ROW / 2.0;
                let _ = writeln!(
                    out,
                    "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{color}\" \
                     stroke-width=\"{thick:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"start\" \
                     fill=\"#1b2733\">{}</text>",
                    x + MARK,
                    x + LABEL,
                    y + 6.0,
                    escaped(text)
                );
            }
            top += ROW * group.len().div_ceil(self.columns) as f64;
        }
    }
}

fn link_entries() -> Vec<Entry> {
    let steps = [
        (0.0, "idle"),
        (0.2, "below 25 %"),
        (0.4, "below 50 %"),
        (0.6, "below 80 %"),
        (0.9, "below 99 %"),
        (1.0, "full"),
    ];
    let entry = |(part, text): (f64, &str)| {
        let (color, thick) = shade(part, true);
        (color, thick, text.to_owned())
    };
    steps.map(entry).into()
}

fn server_entries(plan: &Plan) -> Vec<Entry> {
    let shards = plan.shards.iter().zip(SERVER_COLORS);
    shards
        .map(|(shard, color)| (color, 7.0, format!("{}: {:.1} %", shard.server, 100.0 * shard.share)))
        .collect()
}

/// Estimates the width of a text, in pixels.
fn text_width(text: &str) -> f64 {
    CHARACTER * TEXT * text.chars().count() as f64
}

/// Returns each node's position: tiers by hops from the nearest host, each tier ordered by the positions of
/// its lower neighbors.
fn layout(topology: &Topology) -> Vec<(f64, f64)> {
    let mut tier: Vec<Option<usize>> = vec![None; topology.nodes().len()];
    let mut queue: VecDeque<NodeId> =
        topology.node_ids().filter(|&id| topology.node(id).kind != NodeKind::Switch).collect();
    queue.iter().for_each(|id| tier[id.index()] = Some(0));
    while let Some(node) = queue.pop_front() {
        for (next, _) in topology.neighbors(node) {
            if tier[next.index()].is_none() {
                tier[next.index()] = tier[node.index()].map(|t| t + 1);
                queue.push_back(next);
            }
        }
    }
    let top = tier.iter().flatten().copied().max().unwrap_or(0);
    let mut tiers: Vec<Vec<NodeId>> = vec![Vec::new(); top + 1];
    for id in topology.node_ids() {
        // A switch that no host reaches stands at the top.
        tiers[tier[id.index()].unwrap_or(top)].push(id);
    }
    let widest = tiers.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let longest = topology.nodes().iter().map(|node| text_width(&node.name)).fold(0.0, f64::max);
    let width = (widest * SPACING.max(longest + GAP)).max(LEAST_WIDTH - 2.0 * MARGIN);
    let mut across = vec![0.0; tier.len()];
    let spread = |row: &[NodeId], across: &mut [f64]| {
        for (n, id) in row.iter().enumerate() {
            across[id.index()] = MARGIN + width * (n as f64 + 0.5) / row.len() as f64;
        }
    };
    tiers.iter().for_each(|row| spread(row, &mut across));
    // Hosts follow their switches, then every tier follows the one below.
    for row in (0..=top).filter(|&row| row != 1).chain(1..=top) {
        let towards = if row == 0 { 1 } else { row - 1 };
        let key = |id: &NodeId| -> f64 {
            let near: Vec<f64> = topology
                .neighbors(*id)
                .filter(|(next, _)| tier[next.index()] == Some(towards))
                .map(|(next, _)| across[next.index()])
                .collect();
            if near.is_empty() { across[id.index()] } else { near.iter().sum::<f64>() / near.len() as f64 }
        };
        let mut keyed: Vec<(f64, NodeId)> = tiers[row].iter().map(|id| (key(id), *id)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        tiers[row] = keyed.into_iter().map(|(_, id)| id).collect();
        spread(&tiers[row], &mut across);
    }
    let tier_height = (width / 10.0).clamp(TIER, 2.5 * TIER);
    let height = |id: NodeId| TITLE + MARGIN + tier_height * (top - tier[id.index()].unwrap_or(top)) as f64;
    topology.node_ids().map(|id| (across[id.index()], height(id))).collect()
}

/// Returns the utilization of each directed link, by `a->b`.
fn link_utilization(plan: &Plan) -> HashMap<String, f64> {
    let links = plan.load.iter().filter_map(|load| Some((load.resource.strip_prefix("link ")?, load)));
    links.map(|(name, load)| (name.to_owned(), load.used_bps / load.capacity_bps)).collect()
}

/// Returns the color and the thickness of a link: gray if idle, then from blue over orange to red, and wider.
fn shade(part: f64, planned: bool) -> (&'static str, f64) {
    match part {
        _ if !planned => ("#8a97a6", 1.4),
        p if p <= 0.0 => ("#d5dbe1", 1.0),
        p if p < 0.25 => ("#a9cbe8", 1.4),
        p if p < 0.5 => ("#7fb2dd", 1.9),
        p if p < 0.8 => ("#4f8fcb", 2.4),
        p if p < 0.99 => ("#e39a3b", 3.2),
        _ => ("#c8372d", 4.0),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_every_node_and_link_once() {
        let text = "{name: a&b, nodes: [{name: v, kind: switch}, {name: u, kind: switch}, {name: s, kind: server},
            {name: w, kind: worker}], links: [{ends: [v, u], rate: 1 bps}, {ends: [w, v], rate: 1 bps}, {ends: [s, v], rate: 1 bps}]}";
        let svg = svg(&Topology::from_yaml(text).unwrap(), None);
        assert_eq!((svg.matches("<line").count(), svg.matches("<circle").count()), (3, 2));
        assert!(svg.contains("a&amp;b") && !svg.contains("NaN"));
    }
}
