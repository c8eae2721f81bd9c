//! The data: 1797 scanned digits of 8×8 pixels (UCI "Optical Recognition of Handwritten Digits").

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Pixels per image.
pub const PIXELS: usize = 64;
/// Digits 0 to 9.
pub const CLASSES: usize = 10;
/// One image in five is kept for the test.
const TEST_SHARE: usize = 5;
/// Pixels are integers from 0 to this.
const DARKEST: f32 = 16.0;

/// Labeled images; pixels range from 0 to 1.
#[derive(Clone)]
pub struct Digits {
    images: Vec<[f32; PIXELS]>,
    labels: Vec<u8>,
}

impl Digits {
    /// Number of images.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Image and label number `index`.
    pub fn get(&self, index: usize) -> (&[f32; PIXELS], u8) {
        (&self.images[index], self.labels[index])
    }
}

/// The whole data set, one image a line: its digit, a space, and a character per pixel, row by row: its
/// darkness from 0 to 16 as a digit of base 17, from `0` to `g`.
pub fn images_as_text() -> String {
    let data = smartcore::dataset::digits::load_dataset();
    let pixel = |value: &f32| char::from_digit(*value as u32, DARKEST as u32 + 1).expect("from 0 to 16");
    let images = data.data.chunks(PIXELS).zip(&data.target);
    images
        .map(|(pixels, digit)| format!("{} {}\n", *digit as u8, pixels.iter().map(pixel).collect::<String>()))
        .collect()
}

/// The training and the test set, split by the seed.
pub fn split(seed: u64) -> (Digits, Digits) {
    let data = smartcore::dataset::digits::load_dataset();
    let mut order: Vec<usize> = (0..data.num_samples).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let pick = |indices: &[usize]| Digits {
        images: indices
            .iter()
            .map(|&i| std::array::from_fn(|pixel| data.data[i * PIXELS + pixel] / DARKEST))
            .collect(),
        labels: indices.iter().map(|&i| data.target[i] as u8).collect(),
    };
    let (test, train) = order.split_at(data.num_samples / TEST_SHARE);
    (pick(train), pick(test))
}

/// Returns which image is at a position of the endless training sequence: the whole set in a new seeded
/// order, again and again.
#[derive(Clone)]
pub struct Sampler {
    seed: u64,
    pass: u64,
    order: Vec<usize>,
}

impl Sampler {
    /// A sampler over `len` images.
    pub fn new(seed: u64, len: usize) -> Self {
        Self { seed, pass: 0, order: shuffled(seed, 0, len) }
    }

    /// Index of the image at `position`.
    pub fn index(&mut self, position: u64) -> usize {
        let len = self.order.len() as u64;
        let pass = position / len;
        if pass != self.pass {
            self.pass = pass;
            self.order = shuffled(self.seed, pass, self.order.len());
        }
        self.order[(position % len) as usize]
    }
}

fn shuffled(seed: u64, pass: u64, len: usize) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(pass + 1); // stream 0 split the data
    let mut order: Vec<usize> = (0..len).collect();
    order.shuffle(&mut rng);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_image_is_in_one_of_the_sets_and_every_digit_in_both() {
        let (train, test) = split(1);
        assert_eq!(train.len() + test.len(), 1797);
        assert_eq!(test.len(), 359);
        for set in [&train, &test] {
            for digit in 0..CLASSES as u8 {
                assert!(set.labels.contains(&digit));
            }
            assert!(set.images.iter().flatten().all(|p| (0.0..=1.0).contains(p)));
        }
    }

    #[test]
    fn the_examples_have_the_same_images() {
        let file = concat!(env!("INART_ROOT"), "/examples/digits.txt");
        let text = std::fs::read_to_string(file).expect("the file exists");
        assert!(
            text == images_as_text(),
            "write it again: cargo run -p inart-training --example images > examples/digits.txt"
        );
    }

    #[test]
    fn each_pass_holds_every_image_once_in_another_order() {
        let mut sampler = Sampler::new(3, 50);
        let first: Vec<usize> = (0..50).map(|p| sampler.index(p)).collect();
        let second: Vec<usize> = (50..100).map(|p| sampler.index(p)).collect();
        assert_ne!(first, second);
        for mut pass in [first, second] {
            pass.sort_unstable();
            assert_eq!(pass, (0..50).collect::<Vec<_>>());
        }
    }
}
