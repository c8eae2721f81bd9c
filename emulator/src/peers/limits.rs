//! Needs of an emulation and resources of this machine, compared before anything is started.

use inart_planner_peers::Multicast;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::setting::Setting;
use crate::error::Error;

/// Descriptors of a program that has not begun yet, with some to spare.
const FIRST_FILES: u64 = 64;
/// Open files per place: a namespace is open twice, once for the thread that changes its rates; of a process
/// both outputs are.
const FILES_PER_PLACE: u64 = 2;
const FILES_PER_PROCESS: u64 = 2;
/// Both ends of a link that goes through the relay.
const FILES_PER_RELAYED: u64 = 2;
/// Memory of a process, measured.
const PROCESS_BYTES: u64 = 15_000_000;
/// Memory of both ends of the two connections between a pair of peers, measured.
const PAIR_BYTES: u64 = 200_000;

/// Amounts of resources, needed or available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Amounts {
    /// Open files of this process.
    files: u64,
    network_namespaces: u64,
    memory_bytes: u64,
}

fn needs(setting: &Setting) -> Amounts {
    let mesh = &setting.mesh;
    let peers = setting.job().peers.len() as u64;
    let switches = mesh.switches().len() as u64;
    let is_relayed = mesh.peers().iter().any(|peer| peer.delay_seconds > 0.0 || peer.loss > 0.0)
        || mesh.trunks().iter().any(|trunk| trunk.delay_seconds > 0.0 || trunk.loss > 0.0);
    let links = peers + mesh.trunks().len() as u64;
    let relayed = if is_relayed { links } else { 0 };
    let (copiers, pairs) = match setting.multicast {
        Multicast::Hosts => (0, peers * (peers - 1) / 2),
        Multicast::Switch => (switches, 0),
    };
    let processes = peers + 1 + copiers;
    let places = peers + switches + 1 + u64::from(is_relayed);
    Amounts {
        files: FIRST_FILES
            + FILES_PER_PLACE * places
            + FILES_PER_PROCESS * processes
            + FILES_PER_RELAYED * relayed,
        network_namespaces: places,
        memory_bytes: PROCESS_BYTES * processes + PAIR_BYTES * pairs,
    }
}

/// Returns the first resource that is insufficient.
fn lacking(peers: usize, needs: Amounts, has: Amounts) -> Option<String> {
    let Amounts { files, network_namespaces, memory_bytes } = needs;
    if files > has.files {
        return Some(format!(
            "{peers} peers take {files} open files, and this process may have {}: raise that limit (ulimit \
             -n)",
            has.files
        ));
    }
    if network_namespaces > has.network_namespaces {
        return Some(format!(
            "{peers} peers take {network_namespaces} network namespaces, and the system allows {}: raise \
             user.max_net_namespaces (sysctl)",
            has.network_namespaces
        ));
    }
    (memory_bytes > has.memory_bytes).then(|| {
        format!(
            "{peers} peers take about {} MB of memory, and {} MB are available: name some of them in `peers`, or \
             run `inart simulate`",
            memory_bytes / 1_000_000,
            has.memory_bytes / 1_000_000
        )
    })
}

/// The number after a word, in a file of the kernel's.
fn number_in(file: &str, word: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix(word)?.split_whitespace().next()?.parse().ok())
}

/// Returns the machine's resources; an unknown one counts as sufficient.
fn room() -> Amounts {
    Amounts {
        files: getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(_, hard)| hard),
        network_namespaces: number_in("/proc/sys/user/max_net_namespaces", "").unwrap_or(u64::MAX),
        memory_bytes: number_in("/proc/meminfo", "MemAvailable:").map_or(u64::MAX, |kb| kb * 1024),
    }
}

/// Checks that this machine has the resources, and raises this process' limit of open files.
///
/// # Errors
/// The name of the insufficient resource.
pub fn check(setting: &Setting) -> Result<(), Error> {
    let needs = needs(setting);
    if let Some(problem) = lacking(setting.job().peers.len(), needs, room()) {
        return Err(Error::Option { option: "peers", problem });
    }
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap_or((u64::MAX, u64::MAX));
    if soft < needs.files {
        let raised = setrlimit(Resource::RLIMIT_NOFILE, needs.files, hard);
        raised.map_err(|errno| Error::System { what: "open more files".to_owned(), cause: errno.into() })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: Amounts = Amounts { files: 500, network_namespaces: 75, memory_bytes: 3_000_000_000 };

    #[test]
    fn what_is_lacking_is_named_with_its_fix() {
        assert_eq!(lacking(72, NEEDS, NEEDS), None);
        for (has, named) in [
            (Amounts { files: 499, ..NEEDS }, ["500 open files", "may have 499", "raise that limit"]),
            (
                Amounts { network_namespaces: 74, ..NEEDS },
                ["75 network namespaces", "allows 74", "user.max_net_namespaces"],
            ),
            (
                Amounts { memory_bytes: 2_999_999_999, ..NEEDS },
                ["3000 MB of memory", "2999 MB are available", "inart simulate"],
            ),
        ] {
            let problem = lacking(72, NEEDS, has).unwrap_or_else(|| panic!("{has:?} is enough"));
            assert!(named.iter().all(|word| problem.contains(word)), "{problem}");
        }
    }

    #[test]
    fn the_kernel_tells_its_numbers() {
        assert!(number_in("/proc/meminfo", "MemTotal:").is_some_and(|kb| kb > 1000));
        assert!(number_in("/proc/sys/user/max_net_namespaces", "").is_some());
        assert_eq!(number_in("/proc/meminfo", "NoSuchThing:"), None);
        assert_eq!(number_in("/proc/no/such/file", ""), None);
    }
}
