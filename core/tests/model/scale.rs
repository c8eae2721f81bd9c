//! Values that outgrow their exponents.

use inart_core::Split;
use proptest::prelude::*;

use super::network::{Network, assignment, kind_fate};
use super::{gradients, run_round};

fn scaled(mut gradients: Vec<Vec<f32>>, by: f32) -> Vec<Vec<f32>> {
    gradients.iter_mut().flatten().for_each(|value| *value *= by);
    gradients
}

#[test]
fn sums_that_saturate_at_the_switch_are_made_by_bypass() {
    let job = assignment(4, &[1.0], 4);
    let split = Split::new(&job, 100);
    let mut network = Network::new(job, 0b1111, kind_fate());
    run_round(&mut network, &split, &scaled(gradients(4, 0, 100), 1.0));
    // A sum of up to 2^2 lets values up to 2^10 through; up to 2^12, each fits but not their sum.
    let equal = vec![vec![4000.0; 100]; 4];
    let sum = run_round(&mut network, &split, &equal);
    assert!(network.switch.saturated > 0, "the test is to saturate");
    assert!(network.servers[0].counters().overflows > 0);
    assert_eq!(sum, vec![16000.0; 100]);
}

#[test]
fn values_that_do_not_fit_raise_the_exponent_for_everybody() {
    let job = assignment(4, &[0.5, 0.5], 4);
    let split = Split::new(&job, 100);
    let mut network = Network::new(job, 0b0111, kind_fate());
    run_round(&mut network, &split, &scaled(gradients(4, 0, 100), 1e-3));
    let mut gradients = gradients(4, 1, 100);
    gradients[1][3] = 1e9;
    gradients[3][4] = -3e20;
    gradients[0][99] = f32::MAX;
    gradients[2][99] = f32::MAX;
    let sum = run_round(&mut network, &split, &gradients);
    assert!(network.servers.iter().all(|server| server.counters().clipped > 0));
    assert!((sum[4] / -3e20 - 1.0).abs() < 1e-6);
    assert_eq!(sum[99], f32::INFINITY, "beyond f32, as floating-point addition has it");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Sizes that jump from round to round, with frames lost: the same bits as without loss.
    #[test]
    fn jumps_in_size_change_no_bit_whatever_is_lost(
        sizes in proptest::collection::vec(-40..60i32, 1..5),
        outlier in (0..3usize, 0..90usize, -60..100i32),
        lost in proptest::collection::vec(0..400u64, 0..12),
    ) {
        let job = assignment(3, &[0.5, 0.5], 2);
        let split = Split::new(&job, 90);
        let mut kind = Network::new(job.clone(), 0b011, kind_fate());
        let fate = move |frame| if lost.contains(&frame) { vec![] } else { vec![std::time::Duration::ZERO] };
        let mut lossy = Network::new(job, 0b011, Box::new(fate));
        for (round, size) in sizes.into_iter().enumerate() {
            let mut gradients = scaled(gradients(3, round, 90), 2f32.powi(size));
            gradients[outlier.0][outlier.1] = 2f32.powi(outlier.2);
            let right = run_round(&mut kind, &split, &gradients);
            prop_assert_eq!(run_round(&mut lossy, &split, &gradients), right);
        }
    }
}
