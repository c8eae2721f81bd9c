//! The training that the demo spreads over six workers, on one host: `cargo run -p inart-training --example
//! digits`.

#![allow(clippy::print_stdout, reason = "an example prints what it shows")]

fn main() -> Result<(), inart_training::ConfigError> {
    let history = inart_training::train_single_host(1, 6, 32, 100)?;
    for (round, loss) in history.losses.iter().enumerate().step_by(20) {
        println!("round {round:3}: loss {loss:.4}");
    }
    let evaluation = history.evaluation;
    println!(
        "images never trained on: loss {:.4}, accuracy {:.2}%",
        evaluation.loss,
        100.0 * evaluation.accuracy
    );
    println!("weights {}", history.digest);
    Ok(())
}
