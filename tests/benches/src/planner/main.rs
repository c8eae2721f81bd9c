//! The planner's figures: comparison with Eq. (5) in Pyomo, time to a plan, and quality of plans. One run
//! prints each figure with its ratio; `docs/evidence/benchmarks.md` has the commands and a record of their
//! output.

mod networks;
mod pyomo;
mod quality;
mod speed;
mod table;
mod tight;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "The planner's figures; all of them when no command is given")]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// LP-InArt against the literal Eq. (5) in Pyomo, side by side.
    Pyomo {
        /// Seconds after which a run of Pyomo is ended.
        #[arg(long, default_value_t = 300)]
        limit: u64,
    },
    /// Seconds to a plan, by size of the network.
    Speed,
    /// One of the rows of `speed`, in a process of its own.
    #[command(hide = true)]
    Row { name: String },
    /// A hundred networks of the InArt paper's §5.3: how often the optimum is reached and proven, and the
    /// other schemes.
    Quality,
    /// Networks whose links bind: rate, bound and seconds.
    Tight,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        None => {
            pyomo::run(300)?;
            speed::run()?;
            quality::run()?;
            tight::run()
        }
        Some(Command::Pyomo { limit }) => pyomo::run(limit),
        Some(Command::Speed) => speed::run(),
        Some(Command::Row { name }) => speed::row(&name),
        Some(Command::Quality) => quality::run(),
        Some(Command::Tight) => tight::run(),
    }
}
