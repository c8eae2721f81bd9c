//! The data set as text, for programs in other languages: `cargo run -p inart-trainer --example images >
//! examples/digits.txt`.

#![allow(clippy::print_stdout, reason = "an example prints what it shows")]

fn main() {
    print!("{}", inart_trainer::images_as_text());
}
