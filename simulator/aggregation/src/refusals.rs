//! Tables that are written to the switches: all of them, or as far as one that refuses.

use inart_tables::diff;
use rand::Rng;
use rand::seq::IndexedRandom;

use crate::Error;
use crate::simulation::{Node, Simulation, SwitchNode};

impl Simulation<'_> {
    /// Writes the desired tables to the switches.
    pub(crate) fn write_tables(&mut self) -> Result<(), Error> {
        for switch in self.changing.tables.keys().cloned().collect::<Vec<_>>() {
            self.write_to(&switch, usize::MAX)?;
        }
        Ok(())
    }

    /// Writes the desired tables, unless one switch is drawn to refuse them. Returns whether one refused.
    /// Switches before it then have all their updates, and the refusing one has some.
    pub(crate) fn is_refused(&mut self) -> Result<bool, Error> {
        let refuses = self.changing.refuser.random_bool(self.options.refused.get());
        let updates =
            |name: &str| Some(diff(&self.switch_named(name)?.tables, &self.changing.tables[name]).len());
        let switches = self.changing.tables.keys();
        let changed: Vec<_> = switches
            .filter_map(|name| Some((name.clone(), updates(name).filter(|updates| *updates > 0)?)))
            .collect();
        let Some((refusing, updates)) = changed.choose(&mut self.changing.refuser).filter(|_| refuses) else {
            self.write_tables()?;
            return Ok(false);
        };
        let taken = self.changing.refuser.random_range(0..*updates);
        for (switch, _) in changed.iter().take_while(|(switch, _)| switch != refusing) {
            self.write_to(switch, usize::MAX)?;
        }
        self.write_to(refusing, taken)?;
        self.wire.tally.refused_writes += 1;
        self.wire.log.note(self.wire.now, || format!("{refusing} refuses tables after {taken} updates"));
        Ok(true)
    }

    /// Writes at most `most` updates of the desired tables to a switch.
    fn write_to(&mut self, name: &str, most: usize) -> Result<(), Error> {
        let node = self.network.topology.node_named(name).map(|id| id.index());
        let Some(Node::Switch(node)) = node.map(|index| &mut self.nodes[index]) else { return Ok(()) };
        // One that is down is installed as a whole when it is back.
        if node.switch.program().is_none() {
            return Ok(());
        }
        let problem = |reason: String| Error::Switch { switch: name.to_owned(), reason };
        let updates = diff(&node.tables, &self.changing.tables[name]);
        let changes = !updates.is_empty();
        for update in updates.into_iter().take(most) {
            let written = self.network.dataplane.update(&mut node.switch, &update);
            written.map_err(|error| problem(error.to_string()))?;
            node.tables.apply(&update).map_err(|error| problem(error.to_string()))?;
        }
        if changes {
            let checked = self.network.dataplane.check(&node.tables);
            checked.map_err(|error| problem(error.to_string()))?;
        }
        Ok(())
    }

    /// Returns that switch, unless it is down.
    fn switch_named(&self, name: &str) -> Option<&SwitchNode> {
        match &self.nodes[self.network.topology.node_named(name)?.index()] {
            Node::Switch(node) if node.switch.program().is_some() => Some(node),
            _ => None,
        }
    }

    /// Returns what is wrong with the switches' tables while no plan changes: missing entries, or entries of
    /// a plan version that no host uses.
    pub(crate) fn wrong_tables(&self) -> Option<String> {
        let changing = &self.changing;
        let follows = self.options.watch.as_ref().is_some_and(|watch| watch.follow.is_some());
        let may_change = self.options.changes.is_some() || follows;
        if !may_change || !changing.next.is_empty() {
            return None;
        }
        for (name, tables) in &changing.tables {
            let Some(node) = self.switch_named(name) else { continue };
            if let Some(update) = diff(&node.tables, tables).first() {
                return Some(format!("switch {name} lacks an update: {update:?}"));
            }
            let before = &self.network.tables[name];
            for (first, now) in self.network.assignments.iter().zip(&changing.now) {
                let is_left = |plan_version: &_| {
                    *plan_version != now.plan_version
                        && (*plan_version == first.plan_version
                            || !before.plan_versions(now.job).contains(plan_version))
                };
                if let Some(plan_version) = tables.plan_versions(now.job).into_iter().find(is_left) {
                    let (job, live) = (&now.name, now.plan_version);
                    return Some(format!(
                        "switch {name} has entries of job {job} under plan version {plan_version}, but {live} is active"
                    ));
                }
            }
        }
        None
    }
}
