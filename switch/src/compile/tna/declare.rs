//! Everything that a program declares, as a document: instances, arrays, actions, tables.

use std::collections::HashMap;
use std::rc::Rc;

use num_bigint::BigInt;

use super::blocks::{self, Gress, Half};
use super::lowering::{Declared, arguments, extern_of};
use super::table::{self, Context};
use super::thing::{Declarer, Thing};
use super::types::{Type, Types};
use crate::error::Result;
use crate::json::{
    Action, ActionProfile, CounterArray, Document, MeterArray, Pipeline, RegisterArray, ValueSet,
};
use crate::p4ir::Node;

/// One half of a pipe, with the instances of its parameters by role.
#[derive(Debug)]
pub(super) struct Place<'v> {
    pub gress: Gress,
    pub half: Half<'v>,
    pub pool: Rc<str>,
    pub roles: HashMap<&'v str, Thing<'v>>,
}

impl<'v> Place<'v> {
    pub fn blocks(&self) -> [Node<'v>; 3] {
        [self.half.parser, self.half.control, self.half.deparser]
    }

    /// Returns a block's parameters by name.
    pub fn parameters(&self, block: Node<'v>) -> HashMap<&'v str, Thing<'v>> {
        let parameters = blocks::parameters(block).into_iter().enumerate();
        parameters
            .map(|(position, parameter)| {
                let thing = self.roles.get(blocks::role(block, position, parameter)).cloned();
                (parameter.name(), thing.unwrap_or(Thing::Nothing))
            })
            .collect()
    }
}

/// Declarations, and their locations.
#[derive(Debug)]
pub(super) struct Declarations<'v> {
    pub document: Document,
    pub places: Vec<Place<'v>>,
    /// For each pipe the places of its ingress and its egress.
    pub pipes: Vec<(usize, usize)>,
    pub declared: Declared<'v>,
    /// The program's own instances and actions by name.
    pub global: HashMap<&'v str, Node<'v>>,
}

/// Declares a program.
///
/// # Errors
/// The first declaration that is not understood.
pub(super) fn declare<'v>(program: Node<'v>, types: &Types<'v>) -> Result<Declarations<'v>> {
    let mut all = Declarations {
        document: Document::default(),
        places: Vec::new(),
        pipes: Vec::new(),
        declared: Declared::default(),
        global: HashMap::new(),
    };
    for pipe in blocks::pipes(program)? {
        let ingress = all.place(Gress::Ingress, pipe.ingress);
        let egress = all.place(Gress::Egress, pipe.egress);
        all.pipes.push((ingress, egress));
    }
    for object in program.list("objects") {
        if matches!(object.kind(), "Declaration_Instance" | "P4Action") {
            all.global.insert(object.name(), object);
        }
    }
    all.instances(types)?;
    all.document.pipelines.push(Pipeline {
        name: "all".into(),
        init_table: None,
        tables: Vec::new(),
        action_profiles: Vec::new(),
        conditionals: Vec::new(),
        action_calls: Vec::new(),
    });
    let mut global: Vec<Node<'v>> = all.global.values().copied().collect();
    global.sort_by_key(|node| node.id());
    for node in &global {
        all.resource(*node, types, 0)?;
    }
    let controls: Vec<(usize, Node<'v>)> =
        all.places.iter().enumerate().flat_map(|(n, place)| place.blocks().map(|block| (n, block))).collect();
    let mut seen = Vec::new();
    for (place, block) in controls {
        if seen.contains(&block.id()) {
            continue;
        }
        seen.push(block.id());
        all.block(place, block, types)?;
    }
    Ok(all)
}

impl<'v> Declarations<'v> {
    /// Returns the place of a half; the same one if another pipe has the same blocks.
    fn place(&mut self, gress: Gress, half: Half<'v>) -> usize {
        let ids = |half: &Half<'v>| [half.parser.id(), half.control.id(), half.deparser.id()];
        let known =
            self.places.iter().position(|place| place.gress == gress && ids(&place.half) == ids(&half));
        known.unwrap_or_else(|| {
            let number = self.places.iter().filter(|place| place.gress == gress).count();
            let pool =
                if number == 0 { gress.name().to_owned() } else { format!("{}{number}", gress.name()) };
            self.places.push(Place { gress, half, pool: pool.into(), roles: HashMap::new() });
            self.places.len() - 1
        })
    }

    /// Parameters, variables, and the parameters of register actions.
    fn instances(&mut self, types: &Types<'v>) -> Result<()> {
        let mut declarer = Declarer::new(types, &mut self.document);
        for place in &mut self.places {
            let pool = Rc::clone(&place.pool);
            for block in place.blocks() {
                for (position, parameter) in blocks::parameters(block).into_iter().enumerate() {
                    let role = blocks::role(block, position, parameter);
                    if role == "pkt" || place.roles.contains_key(role) {
                        continue;
                    }
                    let ty = types.resolve(parameter.need("type")?)?;
                    let thing = declarer.instance(&pool, role, ty, parameter)?;
                    place.roles.insert(role, thing);
                }
                for node in block.below() {
                    let variables = match node.kind() {
                        "Declaration_Variable" => vec![node],
                        "Function" => node
                            .get("type")
                            .and_then(|ty| ty.get("parameters"))
                            .map_or(Vec::new(), |list| list.list("parameters")),
                        _ => continue,
                    };
                    for variable in variables {
                        if self.declared.variables.contains_key(&variable.id()) {
                            continue;
                        }
                        let ty = types.resolve(variable.need("type")?)?;
                        let path = format!("{}#{}", variable.name(), variable.id());
                        let thing = declarer.instance(&pool, &path, ty, variable)?;
                        self.declared.variables.insert(variable.id(), thing);
                    }
                }
            }
        }
        Ok(())
    }

    /// Declares a parser's or control's own instances, actions and tables.
    fn block(&mut self, place: usize, block: Node<'v>, types: &Types<'v>) -> Result<()> {
        let mut locals = block.list("controlLocals");
        locals.extend(block.list("parserLocals"));
        let tables: Vec<Node<'v>> = locals
            .iter()
            .copied()
            .filter(|local| local.kind() == "P4Table" && !table::is_wrapper(*local))
            .collect();
        let size = |table: &Node<'v>| {
            table::property_value(*table, "size").and_then(|size| size.number("value")).unwrap_or(1024)
        };
        // A direct register has a cell for each entry, and one for the default action.
        let rows = tables.iter().map(size).max().unwrap_or(0) as usize + 1;
        for local in &locals {
            match local.kind() {
                "Declaration_Instance" => self.resource(*local, types, rows)?,
                "P4ValueSet" => self.value_set(*local, types)?,
                "P4Action" if local.annotation("hidden").is_none() => self.action(*local, types)?,
                _ => {}
            }
        }
        for table in &tables {
            for (element, name) in table::listed(*table) {
                let local = locals.iter().find(|local| local.kind() == "P4Action" && local.name() == name);
                let action = local.or_else(|| self.global.get(name)).copied();
                self.action(action.ok_or_else(|| element.problem(format!("no action {name:?}")))?, types)?;
            }
        }
        let mut scope = self.places[place].parameters(block);
        for local in &locals {
            if let Some(thing) = self.declared.variables.get(&local.id()) {
                scope.insert(local.name(), thing.clone());
            }
        }
        for table in tables {
            self.table(table, &locals, &scope, types)?;
        }
        Ok(())
    }

    fn action(&mut self, action: Node<'v>, types: &Types<'v>) -> Result<()> {
        if self.declared.actions.contains_key(&action.id()) {
            return Ok(());
        }
        let number = self.document.actions.len();
        self.declared.actions.insert(action.id(), number);
        self.document.actions.push(Action {
            name: action.full_name().to_owned(),
            id: number as u64,
            runtime_data: table::parameters(action, types)?,
            primitives: Vec::new(),
        });
        Ok(())
    }

    fn table(
        &mut self,
        table: Node<'v>,
        locals: &[Node<'v>],
        scope: &HashMap<&'v str, Thing<'v>>,
        types: &Types<'v>,
    ) -> Result<()> {
        let mut widths = Vec::new();
        for element in table::key_elements(table) {
            let expression = element.need("expression")?;
            let width = key_type(expression, scope, types).and_then(Type::scalar);
            widths.push(width.ok_or_else(|| expression.problem("the key's width is not known"))?.0);
        }
        let find = |name: &str| {
            let local = locals.iter().find(|local| local.name() == name).copied();
            local.or_else(|| self.global.get(name).copied())
        };
        let actions = &self.declared.actions;
        let action = |name: &str| {
            let node = find(name).filter(|node| node.kind() == "P4Action")?;
            Some((*actions.get(&node.id())? as u64, node))
        };
        let context = Context { types, action: &action, instance: &find, widths: &widths };
        let (made, profile) = (context.table(table)?, context.profile(table));
        let selector = context.selector(table);
        let metadata = table::key_metadata(&made.name);
        let mut fields = Vec::new();
        for (position, bits) in widths.iter().enumerate() {
            fields.push(vec![table::key_field(position).into(), (*bits).into(), false.into()]);
        }
        let document = &mut self.document;
        if !fields.is_empty() {
            let id = document.headers.len() as u64;
            let header_type = metadata.clone();
            document.header_types.push(crate::json::HeaderType {
                name: metadata.clone(),
                fields,
                max_length: None,
            });
            document.headers.push(crate::json::Header { name: metadata, id, header_type, metadata: true });
        }
        let pipeline = &mut document.pipelines[0];
        if let Some(profile) = profile
            && pipeline.action_profiles.iter().all(|known| known.name != profile.full_name())
        {
            let given = arguments(profile).first().and_then(|size| size.number("value")).unwrap_or(0);
            pipeline.action_profiles.push(ActionProfile {
                name: profile.full_name().to_owned(),
                max_size: given as usize,
                selector,
            });
        }
        self.declared.tables.insert(table.id(), pipeline.tables.len() as u32);
        pipeline.tables.push(made);
        Ok(())
    }

    fn value_set(&mut self, set: Node<'v>, types: &Types<'v>) -> Result<()> {
        let ty = types.resolve(set.need("elementType")?)?;
        let bits = match ty {
            Type::Struct(of) => {
                let fields = types.fields(of)?;
                fields.iter().filter_map(|field| field.1.scalar()).map(|scalar| scalar.0).sum()
            }
            ty => ty.scalar().ok_or_else(|| set.problem("its members must be numbers"))?.0,
        };
        let size = set.get("size").and_then(|size| size.number("value"));
        self.document.parse_vsets.push(ValueSet {
            name: set.full_name().to_owned(),
            compressed_bitwidth: bits,
            max_size: size.map(|size| size as usize),
        });
        Ok(())
    }

    /// Declares an instance of an extern: arrays, or a number. `rows` is the size of direct registers.
    fn resource(&mut self, node: Node<'v>, types: &Types<'v>, rows: usize) -> Result<()> {
        let given = arguments(node);
        let size = || {
            let size = given.first().and_then(|size| size.number("value"));
            size.map(|size| size as usize).ok_or_else(|| node.problem("it needs a constant size"))
        };
        let name = node.full_name().to_owned();
        let bytes = |position: usize| {
            let kind = given.get(position).and_then(|kind| kind.text("member")).unwrap_or_default();
            if kind == "BYTES" { "bytes".to_owned() } else { "packets".to_owned() }
        };
        match extern_of(node) {
            "Register" => self.register(node, types, size()?, given.get(1).copied())?,
            "DirectRegister" => self.register(node, types, rows.max(1), given.first().copied())?,
            "RegisterParam" => self.register(node, types, 1, given.first().copied())?,
            "Counter" => self.document.counter_arrays.push(CounterArray {
                name,
                is_direct: false,
                size: Some(size()?),
            }),
            "Meter" => self.document.meter_arrays.push(MeterArray {
                name,
                is_direct: false,
                rate_count: None,
                unit: bytes(1),
                size: Some(size()?),
                result_target: None,
            }),
            "DirectMeter" => self.document.meter_arrays.push(MeterArray {
                name,
                is_direct: true,
                rate_count: None,
                unit: bytes(0),
                size: None,
                result_target: None,
            }),
            "Digest" => {
                let number = self.declared.digests.len() as u64 + 1;
                self.declared.digests.insert(node.id(), number);
            }
            _ => {}
        }
        Ok(())
    }

    fn register(
        &mut self,
        node: Node<'v>,
        types: &Types<'v>,
        size: usize,
        initial: Option<Node<'v>>,
    ) -> Result<()> {
        let of = node.get("type").map_or(Vec::new(), |ty| ty.list("arguments"));
        let of = *of.first().ok_or_else(|| node.problem("a register needs a type"))?;
        let name = node.full_name();
        let number = |value: Option<Node<'v>>, bits: u32| {
            let value = value.and_then(|value| value.int("value")).unwrap_or_default();
            u64::try_from(value & ((BigInt::from(1) << bits.min(64)) - 1)).unwrap_or(0)
        };
        let ty = types.resolve(of)?;
        if let Some((bitwidth, _)) = ty.scalar() {
            let initial = number(initial, bitwidth);
            self.document.register_arrays.push(RegisterArray {
                name: name.to_owned(),
                size,
                bitwidth,
                initial,
            });
            return Ok(());
        }
        let Type::Struct(of) = ty else {
            return Err(node.problem("a register holds numbers, or a struct of them"));
        };
        let values = initial.map_or(Vec::new(), |initial| initial.list("components"));
        for (position, (field, ty)) in types.fields(of)?.into_iter().enumerate() {
            let (bitwidth, _) =
                ty.scalar().ok_or_else(|| of.problem(format!("{field:?} must be a number")))?;
            let value = values.get(position).map(|value| value.get("expression").unwrap_or(*value));
            let initial = number(value, bitwidth);
            let name = format!("{name}.{field}");
            self.document.register_arrays.push(RegisterArray { name, size, bitwidth, initial });
        }
        Ok(())
    }
}

/// Returns the type of a table's key, which names a field or the validity of a header.
fn key_type<'v>(node: Node<'v>, scope: &HashMap<&'v str, Thing<'v>>, types: &Types<'v>) -> Option<Type<'v>> {
    if let Some(ty) = node.get("type").and_then(|ty| types.resolve(ty).ok())
        && ty.scalar().is_some()
    {
        return Some(ty);
    }
    match node.kind() {
        "Member" => {
            if let Some(Thing::Value { ty, .. }) = thing(node, scope) {
                return Some(ty);
            }
            let of = node.get("expr")?;
            let header = match of.kind() {
                "ArrayIndex" => match thing(of.get("left")?, scope)? {
                    Thing::Stack { ty, .. } => ty,
                    _ => return None,
                },
                _ => match thing(of, scope)? {
                    Thing::Header { ty, .. } => ty,
                    _ => return None,
                },
            };
            let fields = types.fields(header).ok()?;
            fields.into_iter().find(|field| Some(field.0) == node.text("member")).map(|field| field.1)
        }
        "PathExpression" => match thing(node, scope)? {
            Thing::Value { ty, .. } => Some(ty),
            _ => None,
        },
        "Slice" => {
            let (_, bits) = super::expr::slice_bounds(node).ok()?;
            Some(Type::Bits { bits, signed: false })
        }
        "Cast" => types.resolve(node.get("destType")?).ok(),
        "MethodCallExpression" => (node.get("method")?.text("member")? == "isValid").then_some(Type::Bool),
        "BAnd" => key_type(node.get("left")?, scope, types),
        _ => None,
    }
}

fn thing<'v>(node: Node<'v>, scope: &HashMap<&'v str, Thing<'v>>) -> Option<Thing<'v>> {
    match node.kind() {
        "PathExpression" => scope.get(node.path()?).cloned(),
        "Member" => thing(node.get("expr")?, scope)?.part(node.text("member")?),
        _ => None,
    }
}
