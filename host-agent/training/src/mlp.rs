//! The model: 64 pixels, two hidden layers of rectified units, softmax over ten digits.
//!
//! Parameters lie in one flat array, layer by layer: the weights (inputs × outputs, one row per input), then
//! the biases. Gradients have the same layout.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::digits::{CLASSES, Digits, PIXELS};

/// Units per layer, input to output.
const SIZES: [usize; LAYERS + 1] = [PIXELS, 256, 128, CLASSES];
const LAYERS: usize = 3;

/// Number of parameters, and so the length of a gradient.
pub const PARAMETERS: usize = {
    let mut sum = 0;
    let mut layer = 0;
    while layer < LAYERS {
        sum += (SIZES[layer] + 1) * SIZES[layer + 1];
        layer += 1;
    }
    sum
};

/// The perceptron and the buffers of one pass.
#[derive(Clone)]
pub struct Mlp {
    parameters: Vec<f32>,
    /// Activations per layer, the input's first.
    activations: [Vec<f32>; LAYERS + 1],
    /// Derivative of the loss by the layer's input sums; the input layer's stays unused.
    deltas: [Vec<f32>; LAYERS + 1],
}

impl Mlp {
    /// Creates random weights (He initialization: uniform with variance 2 / inputs), and zero biases.
    pub fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut parameters = Vec::with_capacity(PARAMETERS);
        for layer in 0..LAYERS {
            let (inputs, outputs) = (SIZES[layer], SIZES[layer + 1]);
            let bound = (6.0 / inputs as f32).sqrt();
            parameters.extend((0..inputs * outputs).map(|_| rng.random_range(-bound..bound)));
            parameters.extend((0..outputs).map(|_| 0.0));
        }
        Self { parameters, activations: SIZES.map(|n| vec![0.0; n]), deltas: SIZES.map(|n| vec![0.0; n]) }
    }

    /// The flat parameters.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// Returns the flat parameters for an optimizer.
    pub fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    /// Returns the loss (cross-entropy, nats) of one labeled image and whether the likeliest class is the
    /// label.
    pub fn evaluate(&mut self, digits: &Digits, index: usize) -> (f32, bool) {
        let (image, label) = digits.get(index);
        self.forward(image);
        let output = &self.activations[LAYERS];
        let likeliest = (0..CLASSES).max_by(|&a, &b| output[a].total_cmp(&output[b]));
        (loss(output, label), likeliest == Some(label.into()))
    }

    /// Adds `weight` × the gradient of one image's loss to `gradient`; returns the loss.
    pub fn accumulate(&mut self, digits: &Digits, index: usize, weight: f32, gradient: &mut [f32]) -> f32 {
        let (image, label) = digits.get(index);
        self.forward(image);
        for class in 0..CLASSES {
            let wanted = f32::from(class == usize::from(label));
            self.deltas[LAYERS][class] = (self.activations[LAYERS][class] - wanted) * weight;
        }
        let mut end = PARAMETERS;
        for layer in (0..LAYERS).rev() {
            let (inputs, outputs) = (SIZES[layer], SIZES[layer + 1]);
            let start = end - (inputs + 1) * outputs;
            let weights = &self.parameters[start..end - outputs];
            let (row_gradients, bias_gradients) = gradient[start..end].split_at_mut(inputs * outputs);
            let (below, above) = self.deltas.split_at_mut(layer + 1);
            let (below, above) = (&mut below[layer], &above[0]);
            add_scaled(bias_gradients, 1.0, above);
            let rows = weights.chunks_exact(outputs).zip(row_gradients.chunks_exact_mut(outputs));
            for (input, (row, row_gradient)) in rows.enumerate() {
                let activation = self.activations[layer][input];
                // An inactive rectified unit propagates nothing, in either direction.
                below[input] = 0.0;
                if activation > 0.0 {
                    add_scaled(row_gradient, activation, above);
                    if layer > 0 {
                        below[input] = dot(row, above);
                    }
                }
            }
            end = start;
        }
        loss(&self.activations[LAYERS], label)
    }

    /// Fills the activations; the last layer's are the class probabilities.
    fn forward(&mut self, image: &[f32; PIXELS]) {
        self.activations[0].copy_from_slice(image);
        let mut start = 0;
        for layer in 0..LAYERS {
            let (inputs, outputs) = (SIZES[layer], SIZES[layer + 1]);
            let (weights, rest) = self.parameters[start..].split_at(inputs * outputs);
            let (below, above) = self.activations.split_at_mut(layer + 1);
            let (below, above) = (&below[layer], &mut above[0]);
            above.copy_from_slice(&rest[..outputs]);
            for (&input, row) in below.iter().zip(weights.chunks_exact(outputs)) {
                if input != 0.0 {
                    add_scaled(above, input, row);
                }
            }
            if layer + 1 < LAYERS {
                above.iter_mut().for_each(|sum| *sum = sum.max(0.0));
            } else {
                softmax(above);
            }
            start += (inputs + 1) * outputs;
        }
    }
}

fn softmax(sums: &mut [f32]) {
    let largest = sums.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    sums.iter_mut().for_each(|s| *s = (*s - largest).exp());
    let total: f32 = sums.iter().sum();
    sums.iter_mut().for_each(|s| *s /= total);
}

fn loss(probabilities: &[f32], label: u8) -> f32 {
    -probabilities[usize::from(label)].max(f32::MIN_POSITIVE).ln()
}

fn add_scaled(to: &mut [f32], factor: f32, from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(t, f)| *t += factor * f);
}

/// Eight partial sums in a fixed order: quick, and the same bits on every run.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut lanes = [0.0f32; LANES];
    let (a_blocks, b_blocks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_blocks.zip(b_blocks) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    lanes.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_the_slope_of_the_loss() {
        let (train, _) = crate::digits::split(1);
        let mut mlp = Mlp::new(5);
        let mut gradient = vec![0.0; PARAMETERS];
        mlp.accumulate(&train, 0, 1.0, &mut gradient);
        // The steepest parameter of each layer's weights and biases, by central differences.
        let mut start = 0;
        for layer in 0..LAYERS {
            let weights = start..start + SIZES[layer] * SIZES[layer + 1];
            let biases = weights.end..weights.end + SIZES[layer + 1];
            start = biases.end;
            for range in [weights, biases] {
                let steepest = range
                    .max_by(|&a, &b| gradient[a].abs().total_cmp(&gradient[b].abs()))
                    .expect("layers are not empty");
                let step = 1e-2;
                let mut loss_at = |offset: f32| {
                    let kept = mlp.parameters[steepest];
                    mlp.parameters[steepest] = kept + offset;
                    let (loss, _) = mlp.evaluate(&train, 0);
                    mlp.parameters[steepest] = kept;
                    loss
                };
                let slope = (loss_at(step) - loss_at(-step)) / (2.0 * step);
                let error = (slope - gradient[steepest]).abs() / slope.abs();
                assert!(error < 0.02, "parameter {steepest}: slope {slope}, gradient {}", gradient[steepest]);
            }
        }
    }

    #[test]
    fn probabilities_sum_to_one_even_for_huge_sums() {
        let mut sums = [1e30, -1e30, 0.0, 1e30];
        softmax(&mut sums);
        assert_eq!(sums, [0.5, 0.0, 0.0, 0.5]);
    }
}
