//! Parts of a program: the parser and controls of each pipe, and the roles of their parameters.

use std::collections::HashMap;

use crate::error::Result;
use crate::p4ir::Node;

/// Ingress or egress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Gress {
    Ingress,
    Egress,
}

impl Gress {
    pub fn name(self) -> &'static str {
        match self {
            Gress::Ingress => "ingress",
            Gress::Egress => "egress",
        }
    }
}

/// The blocks of one direction through a pipe.
#[derive(Debug, Clone, Copy)]
pub(super) struct Half<'v> {
    pub parser: Node<'v>,
    pub control: Node<'v>,
    pub deparser: Node<'v>,
}

/// A pipe.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pipe<'v> {
    pub ingress: Half<'v>,
    pub egress: Half<'v>,
}

/// Finds the pipes of a program's `main`.
///
/// # Errors
/// Returns an error if the program has no `main` of TNA's or T2NA's `Switch`.
pub(super) fn pipes<'v>(program: Node<'v>) -> Result<Vec<Pipe<'v>>> {
    let objects = program.list("objects");
    let named: HashMap<&str, Node<'v>> = objects.iter().map(|object| (object.name(), *object)).collect();
    let finder = Finder { named };
    let main = finder.named.get("main").copied().filter(|main| main.kind() == "Declaration_Instance");
    let main =
        main.ok_or_else(|| program.problem("it has no main; a TNA program ends in Switch(pipe) main"))?;
    if finder.package(main) != "Switch" {
        let problem =
            format!("main is a {:?}; only TNA's and T2NA's Switch is supported", finder.package(main));
        return Err(main.problem(problem));
    }
    let pipes = main.list("arguments").into_iter();
    let pipes = pipes.map(|argument| finder.pipe(argument)).collect::<Result<Vec<_>>>()?;
    if pipes.is_empty() {
        return Err(main.problem("it has no pipe"));
    }
    Ok(pipes)
}

struct Finder<'v> {
    named: HashMap<&'v str, Node<'v>>,
}

impl<'v> Finder<'v> {
    /// Returns the name of the type that an instance or a constructor call makes.
    fn package(&self, node: Node<'v>) -> &'v str {
        let ty = node.get("constructedType").or_else(|| node.get("type"));
        let base = ty.and_then(|ty| ty.get("baseType")).or(ty);
        base.and_then(Node::path).unwrap_or_default()
    }

    fn pipe(&self, argument: Node<'v>) -> Result<Pipe<'v>> {
        let given = argument.need("expression")?;
        let instance = match given.kind() {
            "PathExpression" => self.named.get(given.path().unwrap_or_default()).copied(),
            _ => Some(given),
        };
        let instance = instance.ok_or_else(|| given.problem("there is no such pipe"))?;
        if self.package(instance) != "Pipeline" {
            return Err(instance.problem(format!(
                "a pipe made by {:?}; only TNA's and T2NA's Pipeline is supported",
                self.package(instance)
            )));
        }
        let blocks = instance.list("arguments").into_iter();
        let blocks = blocks
            .map(|argument| {
                let call = argument.need("expression")?;
                let found = self.named.get(self.package(call)).copied();
                found.ok_or_else(|| {
                    call.problem(format!("there is no parser or control {:?}", self.package(call)))
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let [ip, ic, id, ep, ec, ed, ..] = blocks[..] else {
            return Err(instance.problem("a pipe needs six blocks"));
        };
        Ok(Pipe {
            ingress: Half { parser: ip, control: ic, deparser: id },
            egress: Half { parser: ep, control: ec, deparser: ed },
        })
    }
}

/// Returns a block's parameters.
pub(super) fn parameters(block: Node<'_>) -> Vec<Node<'_>> {
    block.get("type").and_then(|ty| ty.get("applyParams")).map_or(Vec::new(), |list| list.list("parameters"))
}

/// Returns the role of a parameter, the same for all blocks of a half: `hdr`, `md`, or an intrinsic one.
pub(super) fn role<'v>(block: Node<'v>, position: usize, parameter: Node<'v>) -> &'v str {
    let ty = parameter.get("type").and_then(Node::path).unwrap_or_default();
    let rest = ["ingress_intrinsic_metadata", "egress_intrinsic_metadata"]
        .iter()
        .find_map(|start| ty.strip_prefix(start));
    if let Some(rest) = rest {
        return match rest {
            "_t" => "intr",
            "_for_tm_t" => "tm",
            "_from_parser_t" => "prsr",
            "_for_deparser_t" => "dprsr",
            "_for_output_port_t" => "oport",
            other => other,
        };
    }
    // Parsers and deparsers have the packet first.
    let first = parameters(block)
        .first()
        .and_then(|parameter| parameter.get("type"))
        .and_then(Node::path)
        .is_some_and(|ty| ty == "packet_in" || ty == "packet_out");
    match position.checked_sub(usize::from(first)) {
        None => "pkt",
        Some(0) => "hdr",
        Some(1) => "md",
        Some(_) if ty == "ghost_intrinsic_metadata_t" => "ghost",
        Some(_) => parameter.name(),
    }
}
