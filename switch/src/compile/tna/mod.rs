//! The second front end: a TNA program in p4c's intermediate form becomes the same flat program.
//!
//! [`declare`] turns declarations into a document, so that the state, tables and arrays are laid out as for
//! v1model. The other modules turn statements and expressions into operations at once: TNA's control flow is
//! nested, and bodies of register actions run in the middle of other actions.

mod blocks;
mod call;
mod declare;
mod divert;
mod expr;
mod hashes;
mod lowering;
mod parser;
mod stateful;
mod statement;
mod table;
mod thing;
mod touches;
mod types;

use std::collections::HashMap;

use self::declare::{Declarations, Place as Half};
use self::lowering::{Lowering, extern_of};
use self::types::Types;
use super::build::{Builder, Sections};
use crate::effort::Effort;
use crate::error::{CompileError, Result};
use crate::op::{Op, Pc, Word};
use crate::p4ir::{self, Graph, Node};
use crate::program::{Egress, Ingress, Place, Program, Tna, TnaPipe};

/// Parser errors as TNA numbers them: a header that is cut off, an unsuitable container, a timeout.
const ERRORS: crate::program::ErrorCodes = crate::program::ErrorCodes {
    no_error: 0,
    packet_too_short: 0x02,
    stack_out_of_bounds: 0x40,
    header_too_short: 0x02,
    parser_timeout: 0x10,
    invalid_argument: 0x40,
};

/// Compiles a program.
pub(super) fn compile(text: &[u8], effort: &Effort<'_>) -> Result<Program> {
    let value = p4ir::parse(text)?;
    let program = Graph::new(&value, effort).and_then(|graph| lower_program(graph.root(), effort));
    // The error may be a consequence of the exhausted step budget.
    effort.check()?;
    program
}

fn lower_program(program: Node<'_>, effort: &Effort<'_>) -> Result<Program> {
    if program.kind() != "P4Program" {
        return Err(program.problem("the document is not a P4Program; write it with p4test --toJSON"));
    }
    let types = Types::new(&program.list("objects"));
    let mut all = declare::declare(program, &types)?;
    let document = std::mem::take(&mut all.document);
    let mut builder = Builder::new(&document, effort)?;
    builder.declare_actions()?;
    for pipeline in &document.pipelines {
        builder.declare_tables(pipeline)?;
    }
    let mut lowering = Lowering {
        b: builder,
        types: &types,
        declared: &all.declared,
        known: vec![all.global.clone()],
        scopes: Vec::new(),
        slots: HashMap::new(),
        depth: 0,
        reject: 0,
        units: HashMap::new(),
        watched: Default::default(),
        port_metadata_bytes: port_metadata_bytes(&types),
    };
    let tna = lower(&mut lowering, &all, &types)?;
    lowering.b.into_program(Sections { tna: Some(tna), errors: ERRORS, ..Sections::default() })
}

/// Bytes of port metadata before a packet: Tofino 2 has three times as many.
fn port_metadata_bytes(types: &Types<'_>) -> u32 {
    if types.get("ghost_intrinsic_metadata_t").is_some() { 24 } else { 8 }
}

fn lower<'v>(lowering: &mut Lowering<'_, 'v>, all: &Declarations<'v>, types: &Types<'v>) -> Result<Tna> {
    let mut code = Vec::new();
    for half in &all.places {
        code.push(half_code(lowering, half)?);
    }
    let mut pipes = Vec::new();
    for &(ingress, egress) in &all.pipes {
        pipes.push(TnaPipe {
            ingress: ingress_of(lowering, &all.places[ingress], code[ingress])?,
            egress: egress_of(lowering, &all.places[egress], code[egress])?,
        });
    }
    Ok(Tna { pipes, port_metadata_bytes: port_metadata_bytes(types) as usize })
}

/// Lowers a half's blocks; where the parser, the control and the deparser start.
fn half_code<'v>(lowering: &mut Lowering<'_, 'v>, half: &Half<'v>) -> Result<[Pc; 3]> {
    let mut starts = [0; 3];
    for (start, block) in starts.iter_mut().zip(half.blocks()) {
        let mut locals = block.list("controlLocals");
        locals.extend(block.list("parserLocals"));
        lowering.known.push(locals.iter().map(|local| (local.name(), *local)).collect());
        lowering.scopes.push(half.parameters(block));
        for local in &locals {
            if local.kind() == "Declaration_Variable" {
                lowering.bind_declared(*local);
            }
        }
        lowering.watched = touches::watched(block, &|name| lowering.known(name))?;
        actions(lowering, &locals)?;
        *start = lowering.b.pc();
        prologue(lowering, &locals)?;
        if block.kind() == "P4Parser" {
            lowering.parser(block)?;
        } else {
            lowering.block(block.need("body")?)?;
            lowering.b.emit(Op::Return);
        }
        lowering.scopes.pop();
        lowering.known.pop();
    }
    Ok(starts)
}

/// Lowers the actions that tables run, as routines.
fn actions<'v>(lowering: &mut Lowering<'_, 'v>, locals: &[Node<'v>]) -> Result<()> {
    let mut wanted: Vec<Node<'v>> = Vec::new();
    for table in locals.iter().filter(|local| local.kind() == "P4Table") {
        let listed = table::listed(*table);
        wanted.extend(listed.into_iter().filter_map(|(_, name)| lowering.known(name)));
    }
    wanted.sort_by_key(|action| action.id());
    wanted.dedup_by_key(|action| action.id());
    for action in wanted {
        let Some(&number) = lowering.declared.actions.get(&action.id()) else { continue };
        lowering.b.actions[number].pc = lowering.b.pc();
        lowering.action_body(action, number)?;
        lowering.b.emit(Op::Return);
    }
    Ok(())
}

/// Emits the start of a block: variables' first values, and units at zero.
fn prologue<'v>(lowering: &mut Lowering<'_, 'v>, locals: &[Node<'v>]) -> Result<()> {
    for local in locals {
        match local.kind() {
            "Declaration_Variable" if local.get("initializer").is_some() => lowering.statement(*local)?,
            "Declaration_Instance" if matches!(extern_of(*local), "Checksum" | "ParserCounter") => {
                let word = lowering.unit(*local);
                lowering.set_word(word, 0);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the word of a value of an intrinsic struct, if the program has it.
fn word(lowering: &Lowering<'_, '_>, half: &Half<'_>, name: &str) -> Option<Word> {
    match lowering.field(&half.pool, name).ok()?.place {
        Place::Word { word, .. } => Some(word),
        _ => None,
    }
}

/// Returns the header of intrinsic metadata: its number of bytes, and where a field lies in it.
fn prefix<'v>(lowering: &Lowering<'_, 'v>, name: &str) -> Result<(Node<'v>, u32)> {
    let header = lowering.types.get(name);
    let header =
        header.ok_or_else(|| CompileError::new("types", format!("there is no {name}; include tna.p4")))?;
    let fields = lowering.types.fields(header)?;
    let bits: u32 = fields.iter().filter_map(|field| field.1.scalar()).map(|scalar| scalar.0).sum();
    if !bits.is_multiple_of(8) {
        return Err(header.problem(format!("it takes {bits} bits; a header takes whole bytes")));
    }
    Ok((header, bits / 8))
}

fn span(lowering: &Lowering<'_, '_>, header: Node<'_>, name: &str) -> Option<crate::op::Span> {
    let mut bit = 0;
    // The type was resolved before.
    for field in header.list("fields") {
        let bits = field.get("type").and_then(|ty| lowering.width(ty)).unwrap_or(0);
        if field.name() == name {
            return Some(crate::op::Span { bit, bits }).filter(|span| (1..=64).contains(&span.bits));
        }
        bit += bits;
    }
    None
}

fn ingress_of<'v>(lowering: &Lowering<'_, 'v>, half: &Half<'v>, code: [Pc; 3]) -> Result<Ingress> {
    let (header, bytes) = prefix(lowering, "ingress_intrinsic_metadata_t")?;
    let at = |name: &str| word(lowering, half, name);
    let below = half.half.control.below();
    Ok(Ingress {
        code,
        prefix_bytes: bytes as usize,
        port: span(lowering, header, "ingress_port"),
        resubmit_flag: span(lowering, header, "resubmit_flag"),
        mac_timestamp: span(lowering, header, "ingress_mac_tstamp"),
        timestamp: at("prsr.global_tstamp"),
        parser_error: at("prsr.parser_err"),
        reads_parser_error: below.iter().any(|node| node.text("member") == Some("parser_err")),
        unicast: at("tm.ucast_egress_port"),
        bypass_egress: at("tm.bypass_egress"),
        groups: [at("tm.mcast_grp_a"), at("tm.mcast_grp_b")],
        rid: at("tm.rid"),
        drop: at("dprsr.drop_ctl"),
    })
}

fn egress_of<'v>(lowering: &Lowering<'_, 'v>, half: &Half<'v>, code: [Pc; 3]) -> Result<Egress> {
    let (header, bytes) = prefix(lowering, "egress_intrinsic_metadata_t")?;
    let at = |name: &str| word(lowering, half, name);
    let span = |name: &str| span(lowering, header, name);
    Ok(Egress {
        code,
        prefix_bytes: bytes as usize,
        port: span("egress_port"),
        queue_depths: [span("enq_qdepth"), span("deq_qdepth")],
        rid: span("egress_rid"),
        rid_first: span("egress_rid_first"),
        length: span("pkt_length"),
        timestamp: at("prsr.global_tstamp"),
        parser_error: at("prsr.parser_err"),
        drop: at("dprsr.drop_ctl"),
    })
}

/// Returns the pipe of a port, of `pipes` that have a program each.
pub(crate) fn pipe_of(port: u32, pipes: usize) -> usize {
    if pipes <= 1 { 0 } else { (port >> 7) as usize % pipes }
}
