//! Checks of documents of every kind of network.

use super::at::At;
use super::entries::{Document, JobEntry, LinkEntry, NodeEntry};
use super::keys::Key;
use crate::error::{NetworkError, Result};
use crate::kind::Kind;

/// Returns the value of a key that every entry has.
pub(crate) fn required<T>(at: u64, place: &str, key: &str, value: Option<At<T>>) -> Result<T> {
    needed(at, place, key, value).map(|value| value.value)
}

/// Returns the value of a key that every entry has, with its line.
pub(crate) fn needed<T>(at: u64, place: &str, key: &str, value: Option<At<T>>) -> Result<At<T>> {
    value.ok_or_else(|| {
        let fix = match key {
            "name" => "write one without blanks, like `name: a`",
            "kind" => "write `kind: switch`, server, worker, site or peer",
            "ends" => "name the two nodes, like `ends: [a, b]`",
            "link" => "name the two nodes, like `link: [a, b]`",
            "rate" => "write it like `rate: 20 Mbps`",
            "every" => "write the time that each rate holds, like `every: 180 s`",
            "rates" => "write them like `rates: [20 Mbps, 30 Mbps]`",
            _ => "topologies/ has a document of each kind of network",
        };
        NetworkError::new(at, place, format!("it has no `{key}`"), fix)
    })
}

/// Longest name of a network, a node or a job, in bytes: as long as a label of a domain name (RFC 1035),
/// which certificates have. File names and terms that hold a name stay within their own limits.
pub const MOST_NAME_BYTES: usize = 63;

/// Refuses names that commands, certificates and documents cannot take.
pub(crate) fn usable(at: u64, place: &str, name: &str) -> Result<()> {
    if name.len() > MOST_NAME_BYTES {
        let (start, bytes) = (&name[..name.floor_char_boundary(16)], name.len());
        let problem = format!("the name {:?} has {bytes} bytes", format!("{start}..."));
        let fix = format!("give it a name of up to {MOST_NAME_BYTES} bytes");
        return Err(NetworkError::new(at, place, problem, fix));
    }
    if name.is_empty() || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        let problem = format!("the name {name:?} is empty or holds blanks");
        return Err(NetworkError::new(at, place, problem, "give it a name without blanks"));
    }
    Ok(())
}

/// Returns an unknown name, with a known one that is like it.
pub(crate) fn unknown<'n>(
    at: u64,
    place: &str,
    what: &str,
    name: &str,
    mut known: impl Iterator<Item = &'n str>,
) -> NetworkError {
    let fix = match known.find(|known| close(known, name)) {
        Some(near) => format!("did you mean \"{near}\"? Else add it under nodes"),
        None => "add it under nodes".to_owned(),
    };
    NetworkError::new(at, place, format!("unknown {what} \"{name}\""), fix)
}

/// Returns whether two names differ in case only, or by one character.
pub(super) fn close(known: &str, written: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) =
        (known.to_lowercase().chars().collect(), written.to_lowercase().chars().collect());
    let same_ahead = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let same_behind = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let longer = a.len().max(b.len());
    a == b || a.len().abs_diff(b.len()) <= 1 && longer > 2 && same_ahead + same_behind + 1 >= longer
}

impl NodeEntry {
    /// Returns whether the node is of a kind, such as `site`.
    pub fn is(&self, kind: &str) -> bool {
        self.kind.as_ref().is_some_and(|given| given.value == kind)
    }

    /// Returns the node's name, if it has one.
    pub fn named(&self) -> Option<&str> {
        self.name.as_ref().map(|name| name.value.as_str())
    }

    pub(crate) fn place(&self) -> String {
        self.named().map_or_else(|| "node without a name".to_owned(), |name| format!("node {name}"))
    }
}

impl LinkEntry {
    /// Returns the names of the link's ends.
    pub fn end_names(&self) -> Vec<&str> {
        self.ends.iter().flat_map(|ends| &ends.value).map(String::as_str).collect()
    }

    pub(crate) fn place(&self) -> String {
        match &self.ends {
            Some(ends) => format!("link {}-{}", ends.value[0], ends.value[1]),
            None => "link without ends".to_owned(),
        }
    }
}

impl JobEntry {
    pub(crate) fn place(&self) -> String {
        match &self.name {
            Some(name) => format!("job {}", name.value),
            None => "job without a name".to_owned(),
        }
    }
}

impl Document {
    /// Returns the nodes, with their lines.
    pub fn nodes(&self) -> &[At<NodeEntry>] {
        self.nodes.as_ref().map_or(&[], |nodes| &nodes.value)
    }

    /// Returns the links, with their lines.
    pub fn links(&self) -> &[At<LinkEntry>] {
        self.links.as_ref().map_or(&[], |links| &links.value)
    }

    /// Returns the jobs, with their lines.
    pub fn jobs(&self) -> &[At<JobEntry>] {
        self.jobs.as_ref().map_or(&[], |jobs| &jobs.value)
    }

    /// Returns the kind of the network, by its nodes.
    pub fn kind(&self) -> Kind {
        let any = |is: fn(&NodeEntry) -> bool| self.nodes().iter().any(|node| is(&node.value));
        if any(|node| node.is("site")) {
            Kind::Sites
        } else if any(|node| node.is("peer")) {
            Kind::Peers
        } else if any(|node| node.site.is_some()) {
            Kind::Sites
        } else {
            Kind::Switched
        }
    }

    /// Refuses a document of another kind.
    ///
    /// # Errors
    /// The node that makes it another kind.
    pub fn expect(&self, kind: Kind) -> Result<()> {
        let found = self.kind();
        if found == kind {
            return Ok(());
        }
        let is_it = |node: &&At<NodeEntry>| match found {
            Kind::Sites => node.value.is("site") || node.value.site.is_some(),
            Kind::Peers => node.value.is("peer"),
            Kind::Switched => true,
        };
        let node = self.nodes().iter().find(is_it);
        let place = node.map_or_else(|| "document".to_owned(), |node| node.value.place());
        let problem = format!("this is a network of {found}, and a network of {kind} is needed");
        let fix = format!("{} shows one", kind.example());
        Err(NetworkError::new(node.map(|node| node.line), place, problem, fix))
    }

    /// Refuses keys that networks of this kind do not know, and documents without nodes or links.
    pub(crate) fn refuse_keys_of_others(&self, kind: Kind) -> Result<()> {
        required(0, "document", "name", self.name.as_ref().map(|name| At::new(name.line)))?;
        let missing = [("nodes", self.nodes.is_none()), ("links", self.links.is_none())];
        if let Some((key, _)) = missing.iter().find(|(_, is_missing)| *is_missing) {
            let fix = format!("{} shows a network of {kind}", kind.example());
            return Err(NetworkError::new(None, "document", format!("it has no `{key}`"), fix));
        }
        refuse(kind, "document", self.given())?;
        for node in self.nodes() {
            refuse(kind, &node.value.place(), node.value.given())?;
        }
        for link in self.links() {
            refuse(kind, &link.value.place(), link.value.given())?;
        }
        for job in self.jobs() {
            let place = job.value.place();
            refuse(kind, &place, job.value.given())?;
            let delay = job.value.upload_delay.iter().map(|delay| &delay.value);
            let computes = job.value.compute.iter().flat_map(|compute| compute.value.values());
            for time in delay.chain(computes) {
                refuse(kind, &place, time.given())?;
            }
        }
        Ok(())
    }
}

fn refuse(kind: Kind, place: &str, given: Vec<(&'static Key, u64)>) -> Result<()> {
    let other = given.into_iter().find(|(key, _)| !key.kinds.contains(&kind));
    let Some((key, line)) = other else { return Ok(()) };
    let (name, kinds) = (key.name, key.kinds_in_words());
    let problem = format!("`{name}` is for networks of {kinds}, and this is a network of {kind}");
    Err(NetworkError::new(line, place, problem, format!("leave `{name}` out")))
}
