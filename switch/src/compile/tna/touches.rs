//! Registers that a pass may touch twice: the chip reaches each of them once.
//!
//! Two uses exclude each other if they are in different arms of one branch, or in different actions of one
//! table. If both always happen, the program is refused; if both can happen, the switch watches.

use std::collections::{HashMap, HashSet};

use super::lowering::{arguments, extern_of};
use super::table;
use crate::error::Result;
use crate::p4ir::Node;

/// Uses of a control beyond which pairs are not compared any more; all its registers are watched then.
const MAX_USES: usize = 2_000;

/// Path to a use: the number of each branch and the arm taken.
type BranchPath = Vec<(u32, u32)>;

/// A use of a register.
struct Use<'v> {
    register: Node<'v>,
    at: Node<'v>,
    path: BranchPath,
    /// Whether the use depends on the action that a table runs.
    chosen: bool,
}

struct Walk<'k, 'v> {
    known: &'k dyn Fn(&str) -> Option<Node<'v>>,
    path: BranchPath,
    chosen: bool,
    branches: u32,
    uses: Vec<Use<'v>>,
    depth: u32,
}

/// Returns the registers that a control must watch, by the number of their node.
///
/// # Errors
/// If a register is touched twice whatever the packet.
pub(super) fn watched<'v>(
    control: Node<'v>,
    known: &dyn Fn(&str) -> Option<Node<'v>>,
) -> Result<HashSet<u64>> {
    let mut walk = Walk { known, path: Vec::new(), chosen: false, branches: 0, uses: Vec::new(), depth: 0 };
    if let Some(body) = control.get("body") {
        walk.statement(body)?;
    }
    let mut by_register: HashMap<u64, Vec<&Use<'v>>> = HashMap::new();
    for used in &walk.uses {
        by_register.entry(used.register.id()).or_default().push(used);
    }
    let mut watched = HashSet::new();
    for (id, uses) in by_register {
        if uses.len() > MAX_USES {
            watched.insert(id);
            continue;
        }
        for (number, a) in uses.iter().enumerate() {
            for b in &uses[..number] {
                if exclusive(&a.path, &b.path) {
                    continue;
                }
                if !a.chosen && !b.chosen && (a.path.starts_with(&b.path) || b.path.starts_with(&a.path)) {
                    return Err(a.at.problem(format!(
                        "the register {:?} is touched twice in a pass, here and at {}; the chip can touch it once",
                        a.register.full_name(),
                        b.at.place()
                    )));
                }
                watched.insert(id);
            }
        }
    }
    Ok(watched)
}

fn exclusive(a: &BranchPath, b: &BranchPath) -> bool {
    a.iter().any(|(branch, arm)| b.iter().any(|(other, taken)| branch == other && arm != taken))
}

impl<'v> Walk<'_, 'v> {
    fn arm(&mut self, branch: u32, arm: u32, body: Node<'v>) -> Result<()> {
        self.path.push((branch, arm));
        self.statement(body)?;
        self.path.pop();
        Ok(())
    }

    fn branch(&mut self) -> u32 {
        self.branches += 1;
        self.branches
    }

    fn statement(&mut self, node: Node<'v>) -> Result<()> {
        self.depth += 1;
        if self.depth > super::expr::MAX_DEPTH {
            return Err(node.problem("statements nest too deeply"));
        }
        match node.kind() {
            "BlockStatement" => {
                for part in node.list("components") {
                    self.statement(part)?;
                }
            }
            "IfStatement" => {
                let branch = self.branch();
                self.calls(node.need("condition")?)?;
                self.arm(branch, 0, node.need("ifTrue")?)?;
                if let Some(otherwise) = node.get("ifFalse") {
                    self.arm(branch, 1, otherwise)?;
                }
            }
            "SwitchStatement" => {
                let branch = self.branch();
                self.calls(node.need("expression")?)?;
                for (arm, case) in (0..).zip(node.list("cases")) {
                    if let Some(body) = case.get("statement") {
                        self.arm(branch, arm, body)?;
                    }
                }
            }
            _ => self.calls(node)?,
        }
        self.depth -= 1;
        Ok(())
    }

    /// Calls anywhere in an expression or a simple statement.
    fn calls(&mut self, node: Node<'v>) -> Result<()> {
        let calls = node.below().into_iter().filter(|part| part.kind() == "MethodCallExpression");
        for call in calls {
            let method = call.need("method")?;
            let name = method.get("expr").and_then(Node::path).or_else(|| method.path());
            let Some(known) = name.and_then(self.known) else { continue };
            match known.kind() {
                "P4Action" => self.statement(known.need("body")?)?,
                "P4Table" => self.table(known)?,
                "Declaration_Instance" => self.instance(call, known),
                _ => {}
            }
        }
        Ok(())
    }

    fn table(&mut self, node: Node<'v>) -> Result<()> {
        let branch = self.branch();
        let outer = self.chosen;
        self.chosen |= table::only_action(node).is_none();
        for (arm, (_, action)) in (0..).zip(table::listed(node)) {
            if let Some(action) = (self.known)(action) {
                self.arm(branch, arm, action.need("body")?)?;
            }
        }
        self.chosen = outer;
        Ok(())
    }

    fn instance(&mut self, call: Node<'v>, instance: Node<'v>) {
        let register = match extern_of(instance) {
            "Register" | "DirectRegister" => Some(instance),
            "RegisterAction" | "DirectRegisterAction" => {
                arguments(instance).first().and_then(|given| given.path()).and_then(self.known)
            }
            _ => None,
        };
        if let Some(register) = register {
            let (path, chosen) = (self.path.clone(), self.chosen);
            self.uses.push(Use { register, at: call, path, chosen });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::exclusive;

    #[test]
    fn arms_of_one_branch_exclude_each_other() {
        assert!(exclusive(&vec![(1, 0), (2, 0)], &vec![(1, 1)]));
        assert!(!exclusive(&vec![(1, 0)], &vec![(1, 0), (2, 1)]));
        assert!(!exclusive(&vec![(1, 0)], &vec![(2, 1)]));
    }
}
