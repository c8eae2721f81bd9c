//! The bmv2 JSON document (format 2.x) as plain data, before anything is resolved.
//!
//! Only structure is checked here; names, widths and types are resolved by [`crate::compile`].

mod model;

pub use model::*;

use crate::effort::check_document;
use crate::error::CompileError;

/// JSON nesting that is still read. Expressions nest two levels per operator.
const MAX_DEPTH: usize = 4000;

/// Parses a bmv2 JSON document.
pub(crate) fn parse(text: &[u8]) -> Result<Document, CompileError> {
    check_document(text)?;
    check_depth(text)?;
    let mut reader = serde_json::Deserializer::from_slice(text);
    // The depth was bounded above; the caller provides a stack that fits it.
    reader.disable_recursion_limit();
    let document: Document = serde::Deserialize::deserialize(&mut reader)
        .and_then(|document| reader.end().map(|()| document))
        .map_err(|error| {
            CompileError::new("bmv2 JSON", format!("{error}; compile the program with p4c-bm2-ss"))
        })?;
    if let Some(meta) = &document.meta
        && meta.version.first() != Some(&2)
    {
        return Err(CompileError::new(
            "__meta__.version",
            format!("{:?} is not supported; use a p4c that writes version 2.x", meta.version),
        ));
    }
    Ok(document)
}

fn check_depth(text: &[u8]) -> Result<(), CompileError> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for &byte in text {
        if in_string {
            (in_string, escaped) = match byte {
                _ if escaped => (true, false),
                b'\\' => (true, true),
                b'"' => (false, false),
                _ => (true, false),
            };
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(CompileError::new("bmv2 JSON", format!("nested deeper than {MAX_DEPTH} levels")));
        }
    }
    Ok(())
}
