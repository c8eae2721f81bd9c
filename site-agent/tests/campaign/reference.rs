//! What sums have to be, computed in another way: integers of 128 bits, exponents by logarithm.

/// The exponents of a chunk by rounds.
#[derive(Debug, Clone)]
pub struct Chunk {
    exponent: i32,
    sites: i32,
}

fn ceil_log2(sites: i32) -> i32 {
    f64::from(sites).log2().ceil() as i32
}

/// The least e with |v| < (2^31 - 0.5) · 2^e for all values, at least -127.
fn needs(values: &[f32]) -> i32 {
    let most = values.iter().fold(0.0f64, |most, value| most.max(f64::from(value.abs())));
    (-127..127).find(|&e| most < 2_147_483_647.5 * 2f64.powi(e)).unwrap()
}

impl Chunk {
    pub fn new(sites: usize) -> Self {
        let sites = sites as i32;
        Chunk { exponent: ceil_log2(sites) - 31, sites }
    }

    /// The sum of all sites' values; the chunk goes on to the next round.
    pub fn sum(&mut self, gradients: &[&[f32]]) -> Vec<f32> {
        let bits = ceil_log2(self.sites);
        let mut most = i32::MIN;
        let mut parts: std::collections::BTreeMap<i32, Vec<i128>> = Default::default();
        for values in gradients {
            let own = needs(values);
            most = most.max(own);
            let e = self.exponent.max(own + bits);
            let part = parts.entry(e).or_insert_with(|| vec![0; values.len()]);
            for (sum, value) in part.iter_mut().zip(*values) {
                *sum += (f64::from(*value) / 2f64.powi(e)).round_ties_even() as i128;
            }
        }
        // Several parts: in units of the greatest exponent, or of as many times two as fit 32 bits.
        let (greatest, is_one) = (*parts.keys().next_back().unwrap(), parts.len() == 1);
        let mut sums = vec![0.0f64; gradients[0].len()];
        for (e, part) in parts {
            sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += value as f64 * 2f64.powi(e));
        }
        if !is_one {
            let whole = |unit: f64| move |sum: &f64| (sum / unit).round_ties_even();
            let fits = |value: f64| (-2147483648.0..=2147483647.0).contains(&value);
            let units = (greatest..).map(|e| 2f64.powi(e));
            let first = 2f64.powi(greatest);
            // Rounded to units of the greatest exponent first.
            sums.iter_mut().for_each(|sum| *sum = whole(first)(sum) * first);
            let unit = units.into_iter().find(|unit| sums.iter().map(whole(*unit)).all(fits)).unwrap();
            sums.iter_mut().for_each(|sum| *sum = whole(unit)(sum) * unit);
        }
        if most > -127 {
            self.exponent = most + bits + 2;
        }
        sums.into_iter().map(|sum| sum as f32).collect()
    }
}
