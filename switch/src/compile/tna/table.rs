//! Tables and their actions as the control plane sees them.

use num_bigint::BigInt;
use serde_json::json;

use super::lowering::{Lowering, arguments, extern_of};
use super::types::{Type, Types};
use crate::compile::layout::Field;
use crate::error::Result;
use crate::json::{ConstEntry, ConstKey, DefaultEntry, RuntimeData, Selector, Table, TableKey, Typed};
use crate::p4ir::Node;
use crate::program::Place;

/// Returns a table's property.
pub(super) fn property<'v>(table: Node<'v>, name: &str) -> Option<Node<'v>> {
    let properties = table.get("properties")?.list("properties");
    properties.into_iter().find(|property| property.name() == name)
}

/// Returns the expression that a property holds.
pub(super) fn property_value<'v>(table: Node<'v>, name: &str) -> Option<Node<'v>> {
    property(table, name)?.get("value")?.get("expression")
}

/// Returns the actions that a table lists: the element, and the name.
pub(super) fn listed(table: Node<'_>) -> Vec<(Node<'_>, &str)> {
    let list = property(table, "actions").and_then(|property| property.get("value"));
    let elements = list.map_or(Vec::new(), |list| list.list("actionList"));
    elements
        .into_iter()
        .filter_map(|element| {
            let expression = element.get("expression")?;
            let name = expression.get("method").and_then(Node::path).or_else(|| expression.path())?;
            Some((element, name))
        })
        .collect()
}

/// Returns a table's key elements.
pub(super) fn key_elements(table: Node<'_>) -> Vec<Node<'_>> {
    let key = property(table, "key").and_then(|property| property.get("value"));
    key.map_or(Vec::new(), |key| key.list("keyElements"))
}

/// Returns whether the compiler made the table to hold statements: it has one action, which always runs.
pub(super) fn is_wrapper(table: Node<'_>) -> bool {
    table.annotation("hidden").is_some() && only_action(table).is_some()
}

/// Returns the action of a table without key that always runs the same one.
pub(super) fn only_action(table: Node<'_>) -> Option<&str> {
    let constant = property(table, "default_action").is_some_and(|property| property.flag("isConstant"));
    let default = property_value(table, "default_action")?;
    let without = arguments(default).is_empty() && key_elements(table).is_empty();
    (constant && without).then(|| default.get("method").and_then(Node::path).or_else(|| default.path()))?
}

fn hex(value: &BigInt) -> String {
    format!("{value:#x}")
}

/// Returns a key field as declared: where its value is put before the table is applied, and its width.
pub(super) fn key_field(position: usize) -> String {
    format!("key{position}")
}

/// Declarations outside a table that it uses.
pub(super) struct Context<'c, 'v> {
    pub types: &'c Types<'v>,
    /// Number of an action of the block, by name.
    pub action: &'c dyn Fn(&str) -> Option<(u64, Node<'v>)>,
    /// An instance in scope.
    pub instance: &'c dyn Fn(&str) -> Option<Node<'v>>,
    /// Widths of the key fields.
    pub widths: &'c [u32],
}

/// Returns a number that is written in the program, maybe behind a cast.
fn constant(node: Node<'_>, types: &Types<'_>) -> Option<BigInt> {
    match node.kind() {
        "Constant" => node.int("value"),
        "BoolLiteral" => Some(u8::from(node.flag("value")).into()),
        "Cast" => constant(node.get("expr")?, types),
        "Member" => {
            let of = node.get("expr")?.get("typeName")?.path()?.to_owned();
            types.member(&of, node.text("member")?)
        }
        _ => None,
    }
}

/// Returns the low bits of a number.
fn cut(value: BigInt, bits: u32) -> BigInt {
    value & ((BigInt::from(1) << bits) - 1)
}

impl<'v> Context<'_, 'v> {
    /// Returns a table in the form that the compiler declares. `name` is its metadata's name too.
    pub fn table(&self, table: Node<'v>) -> Result<Table> {
        let name = table.full_name().to_owned();
        let mut key = Vec::new();
        for (position, element) in key_elements(table).into_iter().enumerate() {
            let kind = element.get("matchType").and_then(Node::path).unwrap_or_default();
            let match_type = match kind {
                "selector" => continue,
                "atcam_partition_index" => "exact",
                other => other,
            };
            let given = element.annotation("name").and_then(crate::p4ir::Annotation::text);
            key.push(TableKey {
                match_type: match_type.to_owned(),
                name: given.map(str::to_owned),
                target: json!([key_metadata(&name), key_field(position)]),
                mask: None,
            });
        }
        let (mut action_ids, mut actions) = (Vec::new(), Vec::new());
        for (element, action) in listed(table) {
            let (id, node) = (self.action)(action)
                .ok_or_else(|| element.problem(format!("there is no action {action:?}")))?;
            action_ids.push(id);
            actions.push(node.full_name().to_owned());
        }
        let default_entry = match property_value(table, "default_action") {
            Some(call) => {
                let constant =
                    property(table, "default_action").is_some_and(|given| given.flag("isConstant"));
                Some(self.entry_action(call, constant)?)
            }
            None => None,
        };
        let size = property_value(table, "size").and_then(|size| size.number("value")).unwrap_or(0);
        let direct = |wanted: &str| self.direct(table, wanted);
        Ok(Table {
            with_counters: direct("DirectCounter").is_some(),
            direct_meters: direct("DirectMeter").map(|meter| meter.full_name().to_owned()),
            action_profile: self.profile(table).map(|profile| profile.full_name().to_owned()),
            support_timeout: property_value(table, "idle_timeout")
                .is_some_and(|timeout| timeout.flag("value")),
            entries: self.entries(table)?,
            name,
            key,
            max_size: size as usize,
            action_ids,
            actions,
            base_default_next: None,
            next_tables: Default::default(),
            default_entry,
        })
    }

    /// Returns the direct resource of a kind that the table's actions, or its properties, use.
    fn direct(&self, table: Node<'v>, wanted: &str) -> Option<Node<'v>> {
        let named = ["counters", "meters", "registers"].iter().filter_map(|name| {
            let value = property_value(table, name)?;
            (self.instance)(value.path()?)
        });
        let used = listed(table).into_iter().flat_map(|(_, action)| {
            let body = (self.action)(action).map_or(Vec::new(), |(_, action)| action.below());
            body.into_iter()
                .filter(|node| node.kind() == "MethodCallExpression")
                .filter_map(|call| (self.instance)(call.get("method")?.get("expr")?.path()?))
        });
        named.chain(used).find(|instance| extern_of(*instance) == wanted)
    }

    /// Returns the action profile or selector that holds the table's actions.
    pub fn profile(&self, table: Node<'v>) -> Option<Node<'v>> {
        let value = property_value(table, "implementation")?;
        let instance = (self.instance)(value.path()?)?;
        matches!(extern_of(instance), "ActionProfile" | "ActionSelector").then_some(instance)
    }

    /// Returns the fields that a selector hashes to choose a member: its table's keys of kind `selector`.
    pub fn selector(&self, table: Node<'v>) -> Option<Selector> {
        self.profile(table).filter(|profile| extern_of(*profile) == "ActionSelector")?;
        let name = table.full_name();
        let input = key_elements(table)
            .into_iter()
            .enumerate()
            .filter(|(_, element)| element.get("matchType").and_then(Node::path) == Some("selector"))
            .map(|(position, _)| Typed {
                kind: "field".into(),
                value: json!([key_metadata(name), key_field(position)]),
                bitwidth: None,
            })
            .collect();
        Some(Selector { algo: "crc32".into(), input })
    }

    fn entry_action(&self, call: Node<'v>, constant_action: bool) -> Result<DefaultEntry> {
        let name = call.get("method").and_then(Node::path).or_else(|| call.path()).unwrap_or_default();
        let (action_id, action) =
            (self.action)(name).ok_or_else(|| call.problem(format!("there is no action {name:?}")))?;
        let widths: Vec<u32> = parameters(action, self.types)?.iter().map(|param| param.bitwidth).collect();
        let values = arguments(call).into_iter().zip(widths).map(|(argument, bits)| {
            let value = constant(argument, self.types);
            let value =
                value.ok_or_else(|| argument.problem("an action's argument must be a constant here"))?;
            Ok(hex(&cut(value, bits)))
        });
        let action_data = values.collect::<Result<_>>()?;
        Ok(DefaultEntry { action_id, action_const: constant_action, action_data })
    }

    fn entries(&self, table: Node<'v>) -> Result<Option<Vec<ConstEntry>>> {
        let Some(list) = property(table, "entries").and_then(|property| property.get("value")) else {
            return Ok(None);
        };
        let elements = key_elements(table);
        let mut entries = Vec::new();
        for (number, entry) in list.list("entries").into_iter().enumerate() {
            let values = entry.need("keys")?.list("components");
            let mut match_key = Vec::new();
            for ((element, value), &bits) in elements.iter().zip(values).zip(self.widths) {
                let kind = element.get("matchType").and_then(Node::path).unwrap_or_default();
                match_key.push(self.const_key(kind, value, bits)?);
            }
            let action_entry = self.entry_action(entry.need("action")?, false)?;
            entries.push(ConstEntry { match_key, action_entry, priority: number as i64 });
        }
        Ok(Some(entries))
    }

    fn const_key(&self, kind: &str, node: Node<'v>, bits: u32) -> Result<ConstKey> {
        let text = |node: Node<'v>| {
            let value = constant(node, self.types);
            value.map(|value| cut(value, bits)).ok_or_else(|| node.problem("a key must be a constant"))
        };
        let all: BigInt = (BigInt::from(1) << bits) - 1;
        let mut key = ConstKey {
            match_type: kind.to_owned(),
            key: serde_json::Value::Null,
            prefix_length: None,
            mask: None,
            start: None,
            end: None,
        };
        let (low, high, mask) = match node.kind() {
            "DefaultExpression" => (BigInt::default(), all.clone(), BigInt::default()),
            "Mask" => {
                let (value, mask) = (text(node.need("left")?)?, text(node.need("right")?)?);
                (&value & &mask, value, mask)
            }
            "Range" => (text(node.need("left")?)?, text(node.need("right")?)?, all.clone()),
            _ => {
                let value = text(node)?;
                (value.clone(), value, all.clone())
            }
        };
        match kind {
            "range" => (key.start, key.end) = (Some(hex(&low)), Some(hex(&high))),
            "lpm" => {
                let (_, digits) = mask.to_u64_digits();
                key.prefix_length = Some(digits.iter().map(|digit| digit.count_ones()).sum());
                key.key = json!(hex(&low));
            }
            "ternary" | "optional" => (key.key, key.mask) = (json!(hex(&low)), Some(hex(&mask))),
            _ => key.key = json!(hex(&low)),
        }
        Ok(key)
    }
}

/// Returns the metadata that holds a table's key while it is applied.
pub(super) fn key_metadata(table: &str) -> String {
    format!("key of {table}")
}

/// Returns an action's parameters.
pub(super) fn parameters(action: Node<'_>, types: &Types<'_>) -> Result<Vec<RuntimeData>> {
    let list = action.get("parameters").map_or(Vec::new(), |list| list.list("parameters"));
    list.into_iter()
        .map(|parameter| {
            let ty = types.resolve(parameter.need("type")?)?;
            let (bitwidth, _) =
                ty.scalar().ok_or_else(|| parameter.problem("a parameter must be a number"))?;
            Ok(RuntimeData { name: parameter.full_name().to_owned(), bitwidth })
        })
        .collect()
}

/// Puts a table's key where the table looks for it.
pub(super) fn copy_keys<'v>(lowering: &mut Lowering<'_, 'v>, table: Node<'v>) -> Result<()> {
    let metadata = key_metadata(table.full_name());
    for (position, element) in key_elements(table).into_iter().enumerate() {
        let (value, ty) = lowering.value(element.need("expression")?)?;
        let to: Field = lowering.field(&metadata, &key_field(position))?;
        match (to.place, ty) {
            (Place::Var { .. }, _) | (_, Type::Varbit(_)) => {
                return Err(element.problem("a variable-length field cannot be a key"));
            }
            _ => lowering.b.store(to.place, &value),
        }
        lowering.b.release();
    }
    Ok(())
}
