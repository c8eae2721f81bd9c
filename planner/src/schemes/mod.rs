//! The schemes: each turns a model into a placement and its shares.

pub(crate) mod baselines;
