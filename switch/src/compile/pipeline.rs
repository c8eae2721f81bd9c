//! Pipelines: tables, conditionals and action calls become one stretch of code.

use std::collections::HashMap;

use super::build::Builder;
use super::{CompileError, Result};
use crate::json;
use crate::op::{Op, Pc};
use crate::program::Next;

enum Node<'d> {
    Table(&'d json::Table),
    Conditional(&'d json::Conditional),
    Call(&'d json::ActionCall),
}

/// A jump to be filled in: the operation, and the node it goes to.
type Patch<'d> = (usize, Option<&'d str>);

impl<'d> Builder<'d> {
    /// Lowers a pipeline; where it starts.
    pub(super) fn build_pipeline(&mut self, name: &str) -> Result<Pc> {
        let document: &'d json::Document = self.document;
        let Some(pipeline) = document.pipelines.iter().find(|pipeline| pipeline.name == name) else {
            let start = self.pc();
            self.emit(Op::Return);
            return Ok(start);
        };
        let mut nodes: HashMap<&'d str, Node<'d>> = HashMap::new();
        for table in &pipeline.tables {
            nodes.insert(&table.name, Node::Table(table));
        }
        for conditional in &pipeline.conditionals {
            nodes.insert(&conditional.name, Node::Conditional(conditional));
        }
        for call in &pipeline.action_calls {
            nodes.insert(&call.name, Node::Call(call));
        }
        self.declare_tables(pipeline)?;
        let end = self.pc();
        self.emit(Op::Return);
        let start = self.pc();
        let mut emitted: HashMap<&'d str, Pc> = HashMap::new();
        let mut patches: Vec<Patch<'d>> = Vec::new();
        let mut work: Vec<&'d str> = Vec::new();
        patches.push((self.code.len(), pipeline.init_table.as_deref()));
        self.emit(Op::Jump(end));
        work.extend(pipeline.init_table.as_deref());
        while let Some(name) = work.pop() {
            if emitted.contains_key(name) {
                continue;
            }
            let node = nodes.get(name);
            let node = node.ok_or_else(|| {
                CompileError::new(
                    format!("pipelines {:?}", pipeline.name),
                    format!("there is no node {name:?}"),
                )
            })?;
            // Falls through from the operation before if that jumps here.
            if let Some(&(at, Some(target))) = patches.last()
                && target == name
                && at + 1 == self.code.len()
                && matches!(self.code[at], Op::Jump(_))
                && at as Pc != start
            {
                patches.pop();
                self.code.pop();
            }
            emitted.insert(name, self.pc());
            let (first, then) = self.lower_node(node, &mut patches)?;
            work.extend(then.into_iter().flatten());
            work.extend(first);
        }
        let target = |name: Option<&str>| name.and_then(|name| emitted.get(name).copied()).unwrap_or(end);
        for (at, name) in patches {
            if let Some(to) = self.code[at].target() {
                *to = target(name);
            }
        }
        for table in &pipeline.tables {
            let index = self.table_index(&table.name)?;
            let resolved = |name: &Option<String>| name.as_deref().map(|name| target(Some(name)));
            self.tables[index].next = next_of(self, table, resolved)?;
        }
        Ok(start)
    }

    fn table_index(&self, name: &str) -> Result<usize> {
        let index = self.tables.iter().position(|table| table.name == name);
        index.ok_or_else(|| CompileError::new("pipelines", format!("there is no table {name:?}")))
    }

    /// Lowers a node; the node that should follow at once, and others to be lowered.
    fn lower_node(
        &mut self,
        node: &Node<'d>,
        patches: &mut Vec<Patch<'d>>,
    ) -> Result<(Option<&'d str>, Vec<Option<&'d str>>)> {
        match node {
            Node::Conditional(conditional) => {
                let place = format!("conditionals {:?}", conditional.name);
                let typed = &conditional.expression;
                let json = serde_json::json!({"type": typed.kind, "value": typed.value});
                let condition = self.value(&json, &place)?;
                let failing = self.jumps_unless(&condition);
                self.release();
                patches.extend(failing.into_iter().map(|at| (at, conditional.false_next.as_deref())));
                patches.push((self.code.len(), conditional.true_next.as_deref()));
                self.emit(Op::Jump(0));
                Ok((conditional.true_next.as_deref(), vec![conditional.false_next.as_deref()]))
            }
            Node::Call(call) => {
                let action = self.action_by_id(call.action_id, &format!("action_calls {:?}", call.name))?;
                self.lower_call(action, call.next_node.as_deref(), patches)
            }
            Node::Table(table) => {
                if let Some((action, next)) = self.fixed_call(table) {
                    return self.lower_call(action, next, patches);
                }
                let index = self.table_index(&table.name)?;
                for (to, key) in self.computed_keys.remove(&table.name).unwrap_or_default() {
                    self.store(to, &key);
                    self.release();
                }
                self.emit(Op::Apply { table: index as u32 });
                let then = table.next_tables.values().map(Option::as_deref);
                Ok((None, then.chain([table.base_default_next.as_deref()]).collect()))
            }
        }
    }

    /// Runs an action in place and goes on to `next`.
    fn lower_call(
        &mut self,
        action: usize,
        next: Option<&'d str>,
        patches: &mut Vec<Patch<'d>>,
    ) -> Result<(Option<&'d str>, Vec<Option<&'d str>>)> {
        let document = self.document;
        if document.actions[action].primitives.iter().any(|primitive| primitive.op == "exit") {
            self.emit(Op::Call { action: action as u32 });
        } else {
            self.lower_action(action)?;
        }
        patches.push((self.code.len(), next));
        self.emit(Op::Jump(0));
        Ok((next, Vec::new()))
    }

    /// Returns the action of a table that always runs the same one (p4c wraps statements so), and the next
    /// node.
    fn fixed_call(&self, table: &'d json::Table) -> Option<(usize, Option<&'d str>)> {
        let default = table.default_entry.as_ref()?;
        let fixed = table.key.is_empty()
            && default.action_const
            && default.action_data.is_empty()
            && !table.with_counters
            && table.direct_meters.is_none()
            && table.action_profile.is_none();
        if !fixed {
            return None;
        }
        let action = *self.action_ids.get(&default.action_id)?;
        let name = &self.actions[action].name;
        let next = table.next_tables.get("__MISS__").or_else(|| table.next_tables.get(name));
        Some((action, next.unwrap_or(&table.base_default_next).as_deref()))
    }
}

fn next_of(
    builder: &Builder<'_>,
    table: &json::Table,
    target: impl Fn(&Option<String>) -> Option<Pc>,
) -> Result<Next> {
    let otherwise = target(&table.base_default_next);
    let (hit, miss) = (table.next_tables.get("__HIT__"), table.next_tables.get("__MISS__"));
    if hit.is_some() || miss.is_some() {
        let follow = |next: Option<&Option<String>>| next.map_or(otherwise, &target);
        return Ok(Next::Hit { hit: follow(hit), miss: follow(miss) });
    }
    let mut targets = Vec::new();
    for (name, next) in &table.next_tables {
        let found = table.actions.iter().position(|action| action == name);
        let id = found
            .and_then(|position| table.action_ids.get(position))
            .and_then(|id| builder.action_ids.get(id));
        let action = match id {
            Some(&action) => action,
            None => builder.actions.iter().position(|action| &action.name == name).ok_or_else(|| {
                CompileError::new(
                    format!("tables {:?}", table.name),
                    format!("next_tables: no action {name:?}"),
                )
            })?,
        };
        targets.push((action as u32, target(next)));
    }
    Ok(Next::Action(targets, otherwise))
}
