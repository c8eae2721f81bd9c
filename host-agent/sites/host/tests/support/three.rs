//! Three data centers: two with workers inside, one without.

/// Values of a gradient's two tensors: the second is summed exactly.
pub const TENSORS: [usize; 2] = [20_000, 120];
pub const VALUES: usize = TENSORS[0] + TENSORS[1];
/// Sites, and the workers inside.
pub const SITES: [(&str, &[&str]); 3] = [("n1", &["a", "b", "c"]), ("n2", &["d", "e"]), ("n3", &[])];
pub const NETWORK: &str = "name: three
nodes:
  - {name: n1, kind: site}
  - {name: n2, kind: site}
  - {name: n3, kind: site}
  - {name: s, kind: switch, site: n1}
  - {name: a, kind: worker, site: n1}
  - {name: b, kind: worker, site: n1}
  - {name: c, kind: worker, site: n1}
  - {name: t, kind: switch, site: n2}
  - {name: d, kind: worker, site: n2}
  - {name: e, kind: worker, site: n2}
links:
  - {ends: [n1, n2], rate: 100 Mbps}
  - {ends: [n2, n3], rate: 100 Mbps}
  - {ends: [n1, n3], rate: 100 Mbps}
  - {ends: [n1, s], rate: 1 Gbps}
  - {ends: [a, s], rate: 1 Gbps}
  - {ends: [b, s], rate: 1 Gbps}
  - {ends: [c, s], rate: 1 Gbps}
  - {ends: [n2, t], rate: 1 Gbps}
  - {ends: [d, t], rate: 1 Gbps}
  - {ends: [e, t], rate: 1 Gbps}
jobs:
  - {name: job, tensors: [80 kB, 480 B], chunk: 16384 B}
  - {name: n1-inside, workers: [a, b, c], servers: [n1]}
  - {name: n2-inside, workers: [d, e], servers: [n2]}
";
