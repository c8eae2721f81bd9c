//! The schemes: each turns a model into a placement and its shares.

pub(crate) mod baselines;
pub(crate) mod exact;
pub(crate) mod expectations;
pub(crate) mod groups;
pub(crate) mod inart;
pub(crate) mod rounding;
