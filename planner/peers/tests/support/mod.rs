//! Networks that tests share.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::Path;

use inart_topologies::peers::Mesh;
use serde_json::Value;

/// Returns the exact values of SELMCAST's selections; `None`, with a message, where they are not next to this
/// repository.
#[allow(clippy::disallowed_methods, clippy::print_stderr)]
pub fn data() -> Option<Value> {
    let path = Path::new(env!("INART_ROOT")).join("../shared/instances/sync/selmcast.json");
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(serde_json::from_str(&text).unwrap()),
        Err(_) => {
            eprintln!("skipped: ../shared/instances/sync/selmcast.json is not here");
            None
        }
    }
}

pub fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

pub fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as usize).collect()
}

/// A topology of a test: rates in Gbit/s, updates in Gbit, peers p0 to pn.
#[derive(Debug, Clone, Default)]
pub struct Instance {
    pub up: Vec<f64>,
    pub down: Vec<f64>,
    pub updates: Vec<f64>,
    pub receivers: usize,
    pub required: Vec<(usize, usize)>,
    pub waited: Vec<(usize, usize, u32)>,
}

impl Instance {
    /// Creates an instance from the exact values.
    pub fn of(value: &Value) -> Instance {
        let n = value["n"].as_u64().unwrap() as usize;
        let updates = if value["v"].is_null() { vec![1.0; n] } else { floats(&value["v"]) };
        let pairs = value["D"].as_array().into_iter().flatten().map(numbers);
        let waits = value["c"].as_array().into_iter().flatten().map(numbers).enumerate();
        let waits = waits.flat_map(|(from, row)| {
            row.into_iter().enumerate().map(move |(to, rounds)| (from, to, rounds as u32))
        });
        Instance {
            up: floats(&value["b_ingress"]),
            down: floats(&value["b_egress"]),
            updates,
            receivers: value["p"].as_u64().unwrap() as usize,
            required: pairs.map(|pair| (pair[0], pair[1])).collect(),
            waited: waits.filter(|(from, to, _)| from != to).collect(),
        }
    }

    pub fn document(&self) -> String {
        let n = self.up.len();
        let list = |parts: Vec<String>| parts.join(", ");
        let nodes: String = (0..n).map(|at| format!("  - {{name: p{at}, kind: peer}}\n")).collect();
        let links: String = (0..n)
            .map(|at| {
                let (up, down) = (self.up[at], self.down[at]);
                format!("  - {{ends: [p{at}, s1], rate: [{up:?} Gbps, {down:?} Gbps]}}\n")
            })
            .collect();
        let updates =
            (0..n).map(|at| format!("p{at}: {:?} GB", self.updates[at] * 0.125)).collect::<Vec<_>>();
        let required = self.required.iter().map(|(from, to)| format!("[p{from}, p{to}]")).collect();
        let waited = self.waited.iter();
        let waited = waited.map(|(from, to, rounds)| format!("[p{from}, p{to}, {rounds}]")).collect();
        format!(
            "name: t\nnodes:\n  - {{name: s1, kind: switch}}\n{nodes}links:\n{links}jobs:\n  - name: j\n    receivers: \
             {}\n    update: {{overrides: {{{}}}}}\n    required_pairs: [{}]\n    rounds_since_contact: [{}]\n    compute: {{mean: 1 s, cv: 0.3}}\n",
            self.receivers,
            list(updates),
            list(required),
            list(waited)
        )
    }

    pub fn mesh(&self) -> Mesh {
        let document = self.document();
        Mesh::from_yaml(&document).unwrap_or_else(|error| panic!("{error}\n{document}"))
    }
}
