//! Means and quantiles.

/// Returns the mean; 0 without values.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Returns the least value that at least this part of all do not exceed; 0 without values.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!((mean(&[]), mean(&[1.0, 2.0, 6.0])), (0.0, 3.0));
        assert_eq!((quantile(&[], 0.5), quantile(&[7.0], 0.95)), (0.0, 7.0));
        let four = [0.0, 1.0, 2.0, 10.0];
        assert_eq!([0.0, 0.5, 0.51, 1.0].map(|part| quantile(&four, part)), [0.0, 1.0, 2.0, 10.0]);
    }
}
