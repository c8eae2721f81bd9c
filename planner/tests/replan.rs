//! Planning again from a running plan: never worse than what is left of it, and nothing moves without need.

#![allow(clippy::unwrap_used)]

mod networks;

use inart_planner::topology::generate::{Equipment, fat_tree};
use inart_planner::{Options, Plan, PlanError, Scheme, Topology, check, plan};
use networks::network;
use proptest::prelude::*;
use serde_json::{Value, json};
