//! Three data centres: two with workers inside, one without.

/// Values of a gradient.
pub const VALUES: usize = 20_000;
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
  - {name: job, gradient: 80 kB, chunk: 16384 B}
  - {name: n1-inside, workers: [a, b, c], servers: [n1]}
  - {name: n2-inside, workers: [d, e], servers: [n2]}
";

/// What workers sum to, from what each says it sent, at exponents that all of them have for frames of so many
/// values: in 128 bits, then as floats.
pub fn own_sum(sent: &[&[i32]], exponents: &[i32], frame: usize) -> Vec<f32> {
    let values = sent[0].len();
    let mut sum = Vec::with_capacity(values);
    for (start, exponent) in (0..values).step_by(frame).zip(exponents) {
        let exact: Vec<i128> = (start..(start + frame).min(values))
            .map(|at| sent.iter().map(|values| i128::from(values[at])).sum())
            .collect();
        // The least power of two with which all fit 32 bits.
        let divided =
            |by: i32| exact.iter().map(move |value| (*value as f64 / 2f64.powi(by)).round_ties_even());
        let fits = |by: &i32| divided(*by).all(|value| (-2147483648.0..=2147483647.0).contains(&value));
        let by = (0..32).find(fits).expect("sums of so few fit");
        sum.extend(divided(by).map(|value| (value * 2f64.powi(exponent + by)) as f32));
    }
    sum
}
