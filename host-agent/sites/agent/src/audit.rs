//! Reference sums between sites, from the gradients that sites pass in: the rules of `docs/protocol/sites.md`
//! (S12) in `f64` arithmetic. Shares no code with [`gradient`](crate::gradient).

use inart_protocol_aggregation::audit::sum_of;

/// Returns the sum of the sites' gradients, each with one value per parameter. `tensors`: lengths of the
/// tensors.
pub fn sum_of_sites(gradients: &[&[f32]], tensors: &[usize]) -> Vec<f32> {
    let rounded: Vec<Vec<f64>> = gradients.iter().map(|gradient| rounded(gradient, tensors)).collect();
    (0..tensors.iter().sum())
        .map(|at| nearest(&rounded.iter().map(|all| all[at]).collect::<Vec<_>>()))
        .collect()
}

/// Returns a gradient as its site sends it: multiples of the last bit of the largest of each 256 values.
fn rounded(gradient: &[f32], tensors: &[usize]) -> Vec<f64> {
    let (mut all, mut rest) = (Vec::with_capacity(gradient.len()), gradient);
    for &tensor in tensors {
        let (values, others) = rest.split_at(tensor);
        rest = others;
        for block in values.chunks(256) {
            let largest = block.iter().fold(0.0f32, |largest, value| value.abs().max(largest));
            let last_bit = 2f64.powi((f64::from(largest).log2().floor() - 23.0).max(-149.0) as i32);
            let multiple = |value: &f32| (f64::from(*value) / last_bit).round_ties_even() * last_bit;
            match tensor <= 256 {
                true => all.extend(block.iter().copied().map(f64::from)),
                false => all.extend(block.iter().map(multiple)),
            }
        }
    }
    all
}

/// Returns the float nearest to the sum of these values, which are floats as well.
fn nearest(values: &[f64]) -> f32 {
    let mut sum = 0.0;
    for value in values {
        let next: f64 = sum + value;
        // Rounding error, if any (D. E. Knuth, TAOCP 2, 4.2.2).
        let own = next - sum;
        if (sum - (next - own)) + (value - own) != 0.0 {
            let floats: Vec<[f32; 1]> = values.iter().map(|value| [*value as f32]).collect();
            return sum_of(&floats.iter().map(|float| &float[..]).collect::<Vec<_>>(), values.len(), true)[0];
        }
        sum = next;
    }
    sum as f32
}
