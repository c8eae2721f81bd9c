//! The data set as text, for programs in other languages: `cargo run -p inart-training --example images >
//! examples/digits.txt`.

#![allow(clippy::print_stdout, reason = "an example prints what it shows")]

fn main() {
    print!("{}", inart_training::images_as_text());
}
