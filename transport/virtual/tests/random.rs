//! Random numbers against those of the reference computation.

use inart_virtual::SplitMix64;

/// Values of the reference computation.
#[test]
fn the_first_draws_of_seed_1() {
    let mut bits = SplitMix64::new(1);
    assert_eq!(
        [bits.next_u64(), bits.next_u64(), bits.next_u64()],
        [10451216379200822465, 13757245211066428519, 17911839290282890590]
    );
    let mut fractions = SplitMix64::new(1);
    assert_eq!([fractions.fraction(), fractions.fraction()], [0.5665615751722809, 0.7457817572627011]);
    let mut normal = SplitMix64::new(1);
    for value in [-0.034267321791851144, -2.5000674933698677, 0.08772246831488635] {
        assert!((normal.normal() - value).abs() < 1e-14);
    }
    let numbers: Vec<u32> = (0..10).collect();
    assert_eq!(SplitMix64::new(1).sample(&numbers, 4), [5, 7, 9, 6]);
    assert_eq!(SplitMix64::new(1).sample(&numbers, 40).len(), 10);
}

#[test]
fn a_log_normal_has_its_mean_and_variation() {
    let mut random = SplitMix64::new(7);
    let values: Vec<f64> = (0..200_000).map(|_| random.log_normal(2.0, 0.57)).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
    assert!((mean - 2.0).abs() < 0.01 && (variance.sqrt() / mean - 0.57).abs() < 0.01, "{mean} {variance}");
    assert_eq!(random.log_normal(3.0, 0.0), 3.0);
}
