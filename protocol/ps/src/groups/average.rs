//! Arithmetic of federated training. All vectors of a call have one length.

/// Returns the mean of models, each value summed in double precision; empty without models.
pub fn mean<'m>(models: impl IntoIterator<Item = &'m [f32]>) -> Vec<f32> {
    let mut models = models.into_iter();
    let Some(first) = models.next() else { return Vec::new() };
    let mut sum: Vec<f64> = first.iter().map(|value| f64::from(*value)).collect();
    let mut count = 1.0;
    for model in models {
        sum.iter_mut().zip(model).for_each(|(sum, value)| *sum += f64::from(*value));
        count += 1.0;
    }
    sum.into_iter().map(|sum| (sum / count) as f32).collect()
}

/// Merges a group's mean into the model: ω ← (M - 1)/M ω + 1/M ω̄ for M groups (Algorithm 2, line 16).
pub fn merge(model: &mut [f32], group_mean: &[f32], groups: usize) {
    let part = 1.0 / groups.max(1) as f64;
    for (value, mean) in model.iter_mut().zip(group_mean) {
        *value = (f64::from(*value) * (1.0 - part) + f64::from(*mean) * part) as f32;
    }
}

/// Returns the cosine between two changes of the model `start`; `None` if one of them is no change.
pub fn cosine(start: &[f32], one: &[f32], other: &[f32]) -> Option<f64> {
    let (mut product, mut one_square, mut other_square) = (0.0, 0.0, 0.0);
    for ((start, one), other) in start.iter().zip(one).zip(other) {
        let (one, other) = (f64::from(*one) - f64::from(*start), f64::from(*other) - f64::from(*start));
        product += one * other;
        one_square += one * one;
        other_square += other * other;
    }
    let lengths = f64::sqrt(one_square) * f64::sqrt(other_square);
    (lengths > 0.0).then(|| product / lengths)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(mean([&[1.0, 2.0][..], &[3.0, 6.0]]), [2.0, 4.0]);
        assert!(mean([]).is_empty());
        let mut model = [4.0, 8.0];
        merge(&mut model, &[8.0, 0.0], 4);
        assert_eq!(model, [5.0, 6.0]);
        // One group: the mean itself.
        merge(&mut model, &[8.0, 0.0], 1);
        assert_eq!(model, [8.0, 0.0]);
        let start = [1.0, 1.0];
        assert!((cosine(&start, &[2.0, 1.0], &[2.0, 2.0]).unwrap() - 0.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(cosine(&start, &[2.0, 1.0], &[0.0, 1.0]), Some(-1.0));
        assert_eq!(cosine(&start, &start, &[0.0, 1.0]), None);
    }
}
