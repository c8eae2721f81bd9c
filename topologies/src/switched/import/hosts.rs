//! Classification of nodes: switches, and among the hosts servers and workers.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::attributes::Role;
use super::options::{Hosts, ImportOptions};
use crate::NetworkError;
use crate::switched::NodeKind;

/// A host that may take part, with its role in the file.
pub(super) struct Candidate<'a> {
    /// The file's name for it; `None` for a host that we attach.
    pub name: Option<&'a str>,
    pub role: Role,
}

/// Returns whether an option names this node, which makes it a host.
pub(super) fn is_named(options: &ImportOptions, name: &str) -> bool {
    [&options.servers, &options.workers]
        .into_iter()
        .any(|pick| matches!(pick, Some(Hosts::Named(names)) if names.iter().any(|named| named == name)))
}

/// Gives every candidate its part; `None` leaves it out of the network.
pub(super) fn parts(
    candidates: &[Candidate<'_>],
    options: &ImportOptions,
) -> Result<Vec<Option<NodeKind>>, NetworkError> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(options.seed));
    let mut parts = vec![None; candidates.len()];
    let marked = |role: Role| order.iter().copied().filter(move |&at| candidates[at].role == role);

    let servers: Vec<usize> = match &options.servers {
        Some(Hosts::Named(names)) => named(candidates, names, "servers")?,
        Some(Hosts::Count(count)) => {
            // Those that the file marks as servers first.
            let kinds = [Role::Server, Role::Host, Role::Worker].into_iter().flat_map(marked);
            // A node that is named as a worker is not one of them.
            let free = kinds.filter(|&at| !names_it(&options.workers, &candidates[at]));
            enough(free.take(*count).collect(), *count, "servers", candidates.len())?
        }
        None => {
            let free = |at: &usize| !names_it(&options.workers, &candidates[*at]);
            let marked_so: Vec<usize> = marked(Role::Server).filter(free).collect();
            if marked_so.is_empty() { marked(Role::Host).filter(free).take(1).collect() } else { marked_so }
        }
    };
    servers.iter().for_each(|&at| parts[at] = Some(NodeKind::Server));
    let workers: Vec<usize> = match &options.workers {
        Some(Hosts::Named(names)) => named(candidates, names, "workers")?,
        Some(Hosts::Count(count)) => {
            let kinds = [Role::Worker, Role::Host, Role::Server].into_iter().flat_map(marked);
            let free = kinds.filter(|&at| parts[at].is_none());
            enough(free.take(*count).collect(), *count, "workers", candidates.len() - servers.len())?
        }
        None => (0..candidates.len()).filter(|&at| parts[at].is_none()).collect(),
    };
    for at in workers {
        if parts[at].replace(NodeKind::Worker).is_some() {
            let name = candidates[at].name.unwrap_or_default();
            let problem = format!("\"{name}\" is named both as a server and as a worker");
            return Err(NetworkError::new(None, "servers and workers", problem, "name it once"));
        }
    }
    for (kind, option) in [(NodeKind::Server, "servers"), (NodeKind::Worker, "workers")] {
        if !parts.contains(&Some(kind)) {
            let fix = format!("name {option} or give their number, or attach hosts to the switches");
            return Err(NetworkError::new(None, "import", format!("no host is left to be a {kind}"), fix));
        }
    }
    Ok(parts)
}

fn names_it(pick: &Option<Hosts>, candidate: &Candidate<'_>) -> bool {
    let Some(Hosts::Named(names)) = pick else { return false };
    candidate.name.is_some_and(|name| names.iter().any(|named| named == name))
}

fn named(candidates: &[Candidate<'_>], names: &[String], option: &str) -> Result<Vec<usize>, NetworkError> {
    let find = |name: &String| {
        candidates.iter().position(|candidate| candidate.name == Some(name)).ok_or_else(|| {
            let known: Vec<&str> = candidates.iter().filter_map(|candidate| candidate.name).take(8).collect();
            let fix = match known[..] {
                [] => "the names are those of the nodes that an import without it prints".to_owned(),
                _ => format!("hosts are {}", known.join(", ")),
            };
            let problem = format!("the file has no node \"{name}\"");
            NetworkError::new(None, option, problem, fix)
        })
    };
    names.iter().map(find).collect()
}

fn enough(found: Vec<usize>, count: usize, what: &str, there: usize) -> Result<Vec<usize>, NetworkError> {
    if found.len() == count {
        return Ok(found);
    }
    let problem = format!("{count} {what} asked for, but only {there} hosts are free");
    let fix = "ask for fewer, or attach more hosts to each switch";
    Err(NetworkError::new(None, what, problem, fix))
}
