//! Lowers a bmv2 JSON document, or p4c's intermediate form of a TNA program, to a flat [`Program`].

mod action;
mod branch;
mod build;
mod calculation;
mod expr;
mod layout;
mod lower;
mod operand;
mod parser;
mod pipeline;
mod primitive;
mod table;
pub(crate) mod tna;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::effort::Effort;
use crate::error::{CompileError, Result};
use crate::json;
use crate::program::Program;
use build::Builder;

/// Stack for reading and lowering deeply nested expressions; only touched pages cost memory.
const STACK_BYTES: usize = 256 << 20;

/// Whether runs of isomorphic operations are fused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fusion {
    On,
    Off,
}

impl Program {
    /// Compiles a program: a bmv2 JSON document written by `p4c-bm2-ss` for the v1model architecture, or
    /// p4c's intermediate form written by `p4test --toJSON` for TNA.
    ///
    /// # Errors
    /// The first place in the document that is not understood, and why.
    pub fn compile(json: &[u8]) -> Result<Arc<Program>> {
        compile(json, Fusion::On, None).map(Arc::new)
    }

    /// As [`Program::compile`]; ends soon after `stop` becomes true.
    ///
    /// # Errors
    /// As [`Program::compile`], or that it was stopped.
    pub(crate) fn compile_until(json: &[u8], stop: &AtomicBool) -> Result<Program> {
        compile(json, Fusion::On, Some(stop))
    }

    /// As [`Program::compile`], without fusing runs of operations; for comparing the two.
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub fn compile_unfused(json: &[u8]) -> Result<Arc<Program>> {
        compile(json, Fusion::Off, None).map(Arc::new)
    }
}

/// Compiles a document.
fn compile(text: &[u8], fusion: Fusion, stop: Option<&AtomicBool>) -> Result<Program> {
    let work = || {
        let effort = Effort::new(stop);
        let mut program = if crate::p4ir::is_intermediate(text) {
            tna::compile(text, &effort)?
        } else {
            let document = json::parse(text)?;
            Builder::new(&document, &effort)?.build()?
        };
        if fusion == Fusion::On {
            crate::fuse::fuse(&mut program, &effort);
        }
        effort.check()?;
        Ok(program)
    };
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)
            .map_err(|error| CompileError::new("compiler", format!("cannot start its thread: {error}")))?
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use inart_p4::tofino_artifact;
    use inart_wire::ValuesPerFrame;

    use super::*;

    /// Returns the part of the steps that a compilation takes.
    fn taken(text: Vec<u8>) -> f64 {
        let work = move || {
            let effort = Effort::new(None);
            let compiled = match crate::p4ir::is_intermediate(&text) {
                true => tna::compile(&text, &effort),
                false => json::parse(&text).and_then(|document| Builder::new(&document, &effort)?.build()),
            };
            assert!(compiled.is_ok());
            effort.taken()
        };
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).expect("a thread");
        thread.join().expect("it compiles")
    }

    #[test]
    fn our_programs_take_a_small_part_of_the_steps() {
        let largest = inart_p4::artifact(ValuesPerFrame::N2048);
        let tofino = inart_p4::Variant::ALL.iter().filter_map(|variant| tofino_artifact(*variant));
        let texts = tofino.map(|artifact| artifact.json.to_vec()).chain([largest.json.to_vec()]);
        for (n, text) in texts.enumerate() {
            let part = taken(text);
            assert!(part < 0.1, "program {n} takes {part}");
        }
    }
}
