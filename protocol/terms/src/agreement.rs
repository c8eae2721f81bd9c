//! Agreement of a process with those that join it.

use std::collections::BTreeMap;

use crate::bounds::MOST_TERMS;
use crate::difference::Difference;
use crate::terms::Terms;

/// Terms of a process that others join, such as a server, and theirs. A process may lack a term that another
/// one has: a worker knows the step, and its server the order. Processes that share a term must have equal
/// values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Agreement {
    own: Terms,
    joined: BTreeMap<String, Terms>,
}

impl Agreement {
    /// Creates the agreement of a process that no other has joined.
    pub fn new(own: Terms) -> Self {
        Agreement { own, joined: BTreeMap::new() }
    }

    /// Admits the process called `name` to the one called `me`. A process that joins again brings its terms
    /// again.
    ///
    /// # Errors
    /// The first difference, with both names and values. The agreement stays as it was.
    pub fn admit(&mut self, me: &str, name: &str, terms: Terms) -> Result<(), String> {
        let others = self.joined.iter().filter(|(other, _)| *other != name);
        let all = [(me, &self.own)].into_iter().chain(others.map(|(other, terms)| (&**other, terms)));
        for (other, theirs) in all {
            if let Some(difference) = theirs.conflict(&terms) {
                return Err(difference.between(name, other));
            }
        }
        self.joined.insert(name.to_owned(), terms);
        Ok(())
    }

    /// Returns this process's terms, then those that only others have brought.
    pub fn all(&self) -> Terms {
        let mut all = self.own.message();
        for term in self.joined.values().flat_map(Terms::message) {
            if all.len() < MOST_TERMS && !all.iter().any(|known| known.name == term.name) {
                all.push(term);
            }
        }
        Terms::from_message(all).unwrap_or_default()
    }
}

impl Terms {
    /// Returns the first term that both have with different values.
    pub fn conflict(&self, other: &Terms) -> Option<Difference> {
        let mut names = self.message().into_iter().map(|term| term.name);
        names.find_map(|name| {
            let (own, theirs) = (self.value(&name)?.to_owned(), other.value(&name)?.to_owned());
            (own != theirs).then_some(Difference { name, own: Some(own), other: Some(theirs) })
        })
    }

    /// Returns these terms, then those of `more` whose names they lack.
    pub fn and(&self, more: &Terms) -> Terms {
        Agreement { own: self.clone(), joined: BTreeMap::from([(String::new(), more.clone())]) }.all()
    }
}
