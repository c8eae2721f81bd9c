//! The data type of values on the wire.

use inart_ps_agent::Precision;

/// Data type of values in messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Dtype {
    /// Every bit of the float32.
    #[default]
    Float32,
    /// Rounded to float16.
    Float16,
}

impl Dtype {
    /// Returns the precision of messages.
    pub fn precision(self) -> Precision {
        match self {
            Dtype::Float32 => Precision::Single,
            Dtype::Float16 => Precision::Half,
        }
    }
}
