//! Means and quantiles.

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The quantile between the nearest values, by linear interpolation; 0 of nothing.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = part * last as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[(place.ceil() as usize).min(last)]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!((mean(&[]), mean(&[1.0, 2.0, 6.0])), (0.0, 3.0));
        assert_eq!((quantile(&[], 0.5), quantile(&[7.0], 0.95)), (0.0, 7.0));
        assert_eq!(quantile(&[0.0, 1.0, 2.0, 10.0], 0.5), 1.5);
        assert_eq!(quantile(&[0.0, 1.0, 2.0, 10.0], 1.0), 10.0);
    }
}
