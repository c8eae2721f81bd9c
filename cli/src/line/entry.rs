//! A command on networks of one kind: its flags, and the function that runs it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::ArgMatches;
use inart_topologies::peers::Mesh;
use inart_topologies::sites::Hierarchy;
use inart_topologies::{Network, Switched};

use super::section::Section;

/// A network of one kind, out of one of any kind.
pub trait OfKind: Sized {
    /// Returns the network if it is of this kind.
    fn of(network: Option<Network>) -> Option<Self>;
}

impl OfKind for Switched {
    fn of(network: Option<Network>) -> Option<Self> {
        if let Some(Network::Switched(switched)) = network { Some(switched) } else { None }
    }
}

impl OfKind for Hierarchy {
    fn of(network: Option<Network>) -> Option<Self> {
        if let Some(Network::Sites(sites)) = network { Some(sites) } else { None }
    }
}

impl OfKind for Mesh {
    fn of(network: Option<Network>) -> Option<Self> {
        if let Some(Network::Peers(mesh)) = network { Some(mesh) } else { None }
    }
}

impl OfKind for Network {
    fn of(network: Option<Network>) -> Option<Self> {
        network
    }
}

/// A command that also runs without a network.
impl<N: OfKind> OfKind for Option<N> {
    fn of(network: Option<Network>) -> Option<Self> {
        if network.is_none() { Some(None) } else { N::of(network).map(Some) }
    }
}

/// The arguments of a command on networks of one kind.
pub trait OnNetwork: clap::Args {
    /// The kind of network, as the command needs it.
    type Network: OfKind;
    /// Where `--help` lists the flags.
    const SECTION: &'static Section;

    /// Runs the command.
    ///
    /// # Errors
    /// The first thing that is wrong with the flags, the network or a file.
    fn run(self, network: Self::Network, invocation: &Invocation) -> anyhow::Result<ExitCode>;
}

/// Arguments of a command besides its own flags.
pub struct Invocation {
    /// The network's file, as it was named; empty without one.
    pub path: PathBuf,
    /// Whether to print one JSON document instead of text.
    pub json: bool,
}

/// A command on networks of one kind.
pub struct Entry {
    /// The section of its flags.
    pub section: &'static Section,
    flags: fn(clap::Command) -> clap::Command,
    run: fn(&ArgMatches, Option<Network>, &Invocation) -> anyhow::Result<ExitCode>,
}

impl Entry {
    /// Returns the entry of a command's arguments.
    pub fn of<A: OnNetwork>() -> Self {
        Self { section: A::SECTION, flags: A::augment_args, run: run_as::<A> }
    }

    /// Returns the parser of this kind's flags.
    pub fn parser(&self) -> clap::Command {
        (self.flags)(clap::Command::new("inart").no_binary_name(true))
    }

    /// Runs the command with the arguments that [`Entry::parser`] has read.
    ///
    /// # Errors
    /// As of [`OnNetwork::run`].
    pub fn run(
        &self,
        given: &ArgMatches,
        network: Option<Network>,
        invocation: &Invocation,
    ) -> anyhow::Result<ExitCode> {
        (self.run)(given, network, invocation)
    }
}

fn run_as<A: OnNetwork>(
    given: &ArgMatches,
    network: Option<Network>,
    invocation: &Invocation,
) -> anyhow::Result<ExitCode> {
    let arguments = A::from_arg_matches(given)?;
    let network = A::Network::of(network).ok_or_else(|| {
        anyhow!("the network: it is missing, or of another kind; name a network of {}", A::SECTION.is_for)
    })?;
    arguments.run(network, invocation)
}
