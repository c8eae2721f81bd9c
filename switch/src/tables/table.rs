//! One table: rows, their identity by key and priority, the default action.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::index::Index;
use super::key::{NormalKey, canonical, normalize};
use super::meter::MeterCell;
use super::weights::Weights;
use crate::control::{ActionCall, ControlError, CounterValue, Entry, EntryAction, Match, Result};
use crate::program::{Place, Program, TableInfo};
use crate::value::to_words;

/// Largest sum of a one-shot group's weights.
const MAX_ONE_SHOT_WEIGHT: u64 = 1 << 16;

/// An action with its parameters laid out as the state wants them.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub given: ActionCall,
    pub action: u32,
    pub words: Box<[u64]>,
    pub bytes: Box<[u8]>,
}

/// Resolved action of a row.
#[derive(Debug)]
pub(crate) enum Bound {
    Call(Call),
    Member(u32),
    Group(u32),
    OneShot(Vec<Call>, Weights),
}

/// An entry with its collected state.
#[derive(Debug)]
pub(crate) struct Row {
    pub entry: Entry,
    pub bound: Bound,
    pub counter: CounterValue,
    pub meter: MeterCell,
    pub last_hit_us: u64,
}

#[derive(Debug)]
pub(crate) struct Table {
    pub index: Index,
    pub rows: Vec<Option<Row>>,
    free: Vec<u32>,
    identity: FxHashMap<(NormalKey, i32), u32>,
    pub default: Option<Call>,
    pub default_counter: CounterValue,
}

impl Table {
    pub fn new(program: &Program, info: &TableInfo) -> Result<Table> {
        let mut table = Table {
            index: Index::new(info),
            rows: Vec::new(),
            free: Vec::new(),
            identity: FxHashMap::default(),
            default: initial_default(program, info)?,
            default_counter: CounterValue::default(),
        };
        for entry in &info.entries {
            table.insert_unchecked(program, info, entry.clone(), 0)?;
        }
        Ok(table)
    }

    pub fn len(&self) -> usize {
        self.identity.len()
    }

    pub fn insert(&mut self, program: &Program, info: &TableInfo, entry: Entry, now_us: u64) -> Result<()> {
        refuse_const(info)?;
        if self.len() >= info.max_entries {
            return Err(ControlError::ResourceExhausted(format!(
                "table {} is full: it holds {} entries; delete some or raise its size in the program",
                info.name, info.max_entries
            )));
        }
        self.insert_unchecked(program, info, entry, now_us)
    }

    fn insert_unchecked(
        &mut self,
        program: &Program,
        info: &TableInfo,
        entry: Entry,
        now_us: u64,
    ) -> Result<()> {
        let (key, priority) = self.identify(info, &entry.key, entry.priority)?;
        if self.identity.contains_key(&(key.clone(), priority)) {
            return Err(ControlError::AlreadyExists(format!(
                "table {} already has an entry with this key and priority; modify it instead",
                info.name
            )));
        }
        let bound = bind(program, info, &entry.action)?;
        let entry = Entry { key: canonical(info, &key), priority, ..entry };
        let row = Row {
            entry,
            bound,
            counter: CounterValue::default(),
            meter: MeterCell::default(),
            last_hit_us: now_us,
        };
        let number = self.free.pop().unwrap_or(self.rows.len() as u32);
        if number as usize == self.rows.len() {
            self.rows.push(None);
        }
        self.rows[number as usize] = Some(row);
        self.index.insert(&key, priority, number);
        self.identity.insert((key, priority), number);
        Ok(())
    }

    /// Replaces an entry's action; counters and meter stay. Returns the action before.
    pub fn modify(
        &mut self,
        program: &Program,
        info: &TableInfo,
        entry: Entry,
        now_us: u64,
    ) -> Result<EntryAction> {
        refuse_const(info)?;
        let bound = bind(program, info, &entry.action)?;
        let row = self.find_mut(info, &entry.key, entry.priority)?;
        row.bound = bound;
        let before = std::mem::replace(&mut row.entry.action, entry.action);
        row.entry.idle_timeout_us = entry.idle_timeout_us;
        row.entry.metadata = entry.metadata;
        row.last_hit_us = now_us;
        Ok(before)
    }

    pub fn delete(&mut self, info: &TableInfo, key: &[Match], priority: i32) -> Result<Row> {
        refuse_const(info)?;
        let identity = self.identify(info, key, priority)?;
        let number = self.identity.remove(&identity).ok_or_else(|| no_entry(info))?;
        self.index.remove(&identity.0, number);
        self.free.push(number);
        self.rows[number as usize].take().ok_or_else(|| no_entry(info))
    }

    pub fn find(&self, info: &TableInfo, key: &[Match], priority: i32) -> Result<&Row> {
        let number = self.identity.get(&self.identify(info, key, priority)?).ok_or_else(|| no_entry(info))?;
        self.rows[*number as usize].as_ref().ok_or_else(|| no_entry(info))
    }

    pub fn find_mut(&mut self, info: &TableInfo, key: &[Match], priority: i32) -> Result<&mut Row> {
        let number = self.identity.get(&self.identify(info, key, priority)?).ok_or_else(|| no_entry(info))?;
        self.rows[*number as usize].as_mut().ok_or_else(|| no_entry(info))
    }

    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().flatten()
    }

    /// Returns the places of rows, some of which are empty. A row keeps its place.
    pub fn places(&self) -> usize {
        self.rows.len()
    }

    /// Returns the rows at some places.
    pub fn rows_at(&self, places: Range<usize>) -> impl Iterator<Item = &Row> {
        self.rows.get(places).into_iter().flatten().flatten()
    }

    pub fn set_default(
        &mut self,
        program: &Program,
        info: &TableInfo,
        call: Option<ActionCall>,
    ) -> Result<()> {
        if info.const_default {
            return Err(ControlError::PermissionDenied(format!(
                "table {}: the program declares its default action constant",
                info.name
            )));
        }
        self.default = match call {
            Some(call) => Some(bind_call(program, info, &call)?),
            None => initial_default(program, info)?,
        };
        Ok(())
    }

    fn identify(&self, info: &TableInfo, key: &[Match], priority: i32) -> Result<(NormalKey, i32)> {
        let key = normalize(info, key)?;
        if !self.index.ordered() && priority != 0 {
            return Err(ControlError::InvalidArgument(format!(
                "table {} has no ternary, range or optional field; leave the priority out",
                info.name
            )));
        }
        if self.index.ordered() && priority <= 0 {
            return Err(ControlError::InvalidArgument(format!(
                "table {} has a ternary, range or optional field; give a priority above 0",
                info.name
            )));
        }
        Ok((key, priority))
    }
}

fn no_entry(info: &TableInfo) -> ControlError {
    ControlError::NotFound(format!("table {} has no entry with this key and priority", info.name))
}

fn refuse_const(info: &TableInfo) -> Result<()> {
    if info.const_entries {
        return Err(ControlError::PermissionDenied(format!("table {}: its entries are constant", info.name)));
    }
    Ok(())
}

fn initial_default(program: &Program, info: &TableInfo) -> Result<Option<Call>> {
    let Some((action, params)) = &info.default else { return Ok(None) };
    let given = ActionCall { action: program.actions[*action].name.clone(), params: params.clone() };
    lay_out(program, *action, given).map(Some)
}

/// Resolves an action of a table. An action of this table alone may have the table's name before its own:
/// `a.t.x` in table `a.t` is also found as `a.x`.
pub(crate) fn bind_call(program: &Program, info: &TableInfo, call: &ActionCall) -> Result<Call> {
    let named = |name: &str| info.actions.iter().any(|&index| program.actions[index].name == name);
    let short = call.action.rsplit('.').next().unwrap_or_default();
    let own = format!("{}.{short}", info.name);
    let owner = format!("table {}", info.name);
    if !named(&call.action) && named(&own) {
        return resolve(program, &info.actions, &owner, &ActionCall { action: own, ..call.clone() });
    }
    resolve(program, &info.actions, &owner, call)
}

/// Resolves an action among those allowed.
pub(crate) fn resolve(program: &Program, allowed: &[usize], owner: &str, call: &ActionCall) -> Result<Call> {
    let action = allowed.iter().copied().find(|&index| program.actions[index].name == call.action);
    let Some(action) = action else {
        let names: Vec<_> = allowed.iter().map(|&index| program.actions[index].name.as_str()).collect();
        return Err(ControlError::InvalidArgument(format!(
            "{owner} has no action {}; it has {}",
            call.action,
            names.join(", ")
        )));
    };
    lay_out(program, action, call.clone())
}

fn lay_out(program: &Program, action: usize, given: ActionCall) -> Result<Call> {
    let info = &program.actions[action];
    if given.params.len() != info.params.len() {
        return Err(ControlError::InvalidArgument(format!(
            "action {} has {} parameters, {} are given",
            info.name,
            info.params.len(),
            given.params.len()
        )));
    }
    let mut words = vec![0u64; info.param_words];
    let mut bytes = vec![0u8; info.param_bytes];
    for (param, value) in info.params.iter().zip(&given.params) {
        let value =
            to_words(value, param.bits, || format!("action {}, parameter {}", info.name, param.name))?;
        match param.place {
            Place::Word { word, .. } => {
                words[(word - program.param_word) as usize] = value.first().copied().unwrap_or(0);
            }
            Place::Bits { span, .. } => {
                let start = (span.bit / 8 - program.param_byte) as usize;
                let length = span.bits.div_ceil(8) as usize;
                let whole: Vec<u8> = value.iter().flat_map(|word| word.to_be_bytes()).collect();
                bytes[start..start + length].copy_from_slice(&whole[whole.len() - length..]);
            }
            Place::Var { .. } => {}
        }
    }
    Ok(Call { given, action: action as u32, words: words.into(), bytes: bytes.into() })
}

fn bind(program: &Program, info: &TableInfo, action: &EntryAction) -> Result<Bound> {
    match (action, info.profile_index) {
        (EntryAction::Call(call), None) => bind_call(program, info, call).map(Bound::Call),
        (EntryAction::Member(member), Some(_)) => Ok(Bound::Member(*member)),
        (EntryAction::Group(group), Some(_)) => Ok(Bound::Group(*group)),
        (EntryAction::OneShot(actions), Some(_)) => {
            let calls =
                actions.iter().map(|(call, _)| bind_call(program, info, call)).collect::<Result<Vec<_>>>()?;
            let weight: u64 = actions.iter().map(|(_, weight)| u64::from(*weight)).sum();
            if weight == 0 || weight > MAX_ONE_SHOT_WEIGHT || actions.iter().any(|(_, weight)| *weight == 0) {
                return Err(ControlError::InvalidArgument(format!(
                    "table {}: every action's weight must be at least 1, their sum at most {MAX_ONE_SHOT_WEIGHT}",
                    info.name
                )));
            }
            Ok(Bound::OneShot(calls, actions.iter().map(|(_, weight)| *weight).collect()))
        }
        (EntryAction::Call(_), Some(_)) => Err(ControlError::InvalidArgument(format!(
            "table {} takes its actions from {}: give a member, a group or an action set",
            info.name,
            info.profile.as_deref().unwrap_or_default()
        ))),
        (_, None) => Err(ControlError::InvalidArgument(format!(
            "table {} has no action profile: give an action",
            info.name
        ))),
    }
}
