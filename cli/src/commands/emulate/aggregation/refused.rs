//! Refusals of an emulation, with the flag that caused each.

use inart_emulator::aggregation::external::EXTERNAL;

/// Names the flag of a setting that the emulator refuses.
pub fn with_flag(error: inart_emulator::Error) -> anyhow::Error {
    match error {
        inart_emulator::Error::Option { option, problem } if option == EXTERNAL => {
            anyhow::anyhow!("--network: {problem}")
        }
        inart_emulator::Error::Option { option: "command", problem } => anyhow::anyhow!("COMMAND: {problem}"),
        inart_emulator::Error::Option { option, problem } => anyhow::anyhow!("--{option}: {problem}"),
        error => error.into(),
    }
}
