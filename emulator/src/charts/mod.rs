//! Parts of the charts of all systems: SVG documents, and panels over time.

pub(crate) mod legend;
pub(crate) mod panel;
pub(crate) mod svg;
