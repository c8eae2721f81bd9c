//! A tree of results.

use std::rc::Rc;

use crate::model::Arc;

/// The arcs of one server's tree, parents before children.
pub(crate) type Tree = Rc<[Arc]>;
