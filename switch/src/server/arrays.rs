//! Counters, meters and registers, on their own and attached to table entries.

use std::ops::Range;

use inart_p4runtime::Schema;
use inart_p4runtime::p4::config::v1::{CounterSpec, MeterSpec, Table, counter_spec, meter_spec};
use inart_p4runtime::p4::v1::update::Type;
use inart_p4runtime::p4::v1::{
    CounterData, CounterEntry, DirectCounterEntry, DirectMeterEntry, Entity, Index, MeterConfig, MeterEntry,
    RegisterEntry, TableEntry,
};
use tonic::Status;

use super::check::{cells, invalid, known, only_modify, unsigned};
use super::data;
use super::page::{Page, Position};
use super::pipeline::{Pipeline, arrays_of};
use super::plane::Row;
use crate::control::{self, CounterValue};

/// Refuses direct resources that the table does not have.
pub(super) fn check_direct(schema: &Schema, table: &Table, given: &TableEntry) -> Result<(), Status> {
    let name = table.short_name();
    let attached = &table.direct_resource_ids;
    if let Some(data) = &given.counter_data {
        if !attached.iter().any(|&id| schema.direct_counter_by_id(id).is_ok()) {
            return Err(invalid(format!("table {name} has no direct counter")));
        }
        counts(data, name)?;
    }
    let meter = attached.iter().find_map(|&id| schema.direct_meter_by_id(id).ok());
    if given.meter_counter_data.is_some() {
        return Err(Status::unimplemented(format!("table {name}: meters do not count packets by color")));
    }
    match (&given.meter_config, meter) {
        (None, _) => Ok(()),
        (Some(config), Some(meter)) => rates(config, meter.spec.as_ref(), meter.short_name()).map(|_| ()),
        (Some(_), None) => Err(invalid(format!("table {name} has no direct meter"))),
    }
}

fn rates(config: &MeterConfig, spec: Option<&MeterSpec>, name: &str) -> Result<control::MeterConfig, Status> {
    use meter_spec::Type::{SingleRateThreeColor, SingleRateTwoColor};
    let kind = spec.map(MeterSpec::r#type).unwrap_or_default();
    let number = |what: &str, value| unsigned(value, || format!("meter {name}, {what}"));
    let rates = control::MeterConfig {
        committed_rate: number("cir", config.cir)?,
        committed_burst: number("cburst", config.cburst)?,
        peak_rate: number("pir", config.pir)?,
        peak_burst: number("pburst", config.pburst)?,
    };
    let single = matches!(kind, SingleRateThreeColor | SingleRateTwoColor);
    if single && (config.pir, config.pburst) != (config.cir, config.cburst) {
        return Err(invalid(format!(
            "meter {name} has a single rate: pir and pburst must equal cir and cburst"
        )));
    }
    match kind {
        SingleRateThreeColor if config.eburst != 0 => Err(Status::unimplemented(format!(
            "meter {name}: excess bursts are not supported, leave eburst 0"
        ))),
        _ if config.eburst != 0 => Err(invalid(format!("meter {name} has no excess burst: leave eburst 0"))),
        _ if rates.peak_rate < rates.committed_rate => {
            Err(invalid(format!("meter {name}: pir {} is below cir {}", config.pir, config.cir)))
        }
        _ => Ok(rates),
    }
}

fn message(rates: control::MeterConfig) -> MeterConfig {
    MeterConfig {
        cir: rates.committed_rate as i64,
        cburst: rates.committed_burst as i64,
        pir: rates.peak_rate as i64,
        pburst: rates.peak_burst as i64,
        eburst: 0,
    }
}

fn counts(data: &CounterData, name: &str) -> Result<CounterValue, Status> {
    Ok(CounterValue {
        packets: unsigned(data.packet_count, || format!("counter {name}, packets"))?,
        bytes: unsigned(data.byte_count, || format!("counter {name}, bytes"))?,
    })
}

/// Returns the fields that a counter of this unit shows.
fn shown(value: CounterValue, spec: Option<&CounterSpec>) -> CounterData {
    let unit = spec.map(CounterSpec::unit).unwrap_or_default();
    let part = |hidden, value: u64| if unit == hidden { 0 } else { value as i64 };
    CounterData {
        packet_count: part(counter_spec::Unit::Bytes, value.packets),
        byte_count: part(counter_spec::Unit::Packets, value.bytes),
    }
}

fn place(index: usize) -> Option<Index> {
    Some(Index { index: index as i64 })
}

impl Pipeline {
    /// Sets one cell, or all, of a counter.
    pub(super) fn write_counter(&mut self, kind: Type, given: &CounterEntry) -> Result<(), Status> {
        only_modify(kind, "counter")?;
        let schema = self.schema.clone();
        let counter = known(schema.counter_by_id(given.counter_id))?;
        let cells = cells(given.index, counter.size.max(0) as usize, counter.short_name())?;
        let Some(data) = &given.data else { return Ok(()) };
        let value = counts(data, counter.short_name())?;
        Ok(self
            .plane
            .each_stride(cells, |switch, stride| switch.set_counters(counter.full_name(), stride, value))?)
    }

    /// Reads the cells that a filter selects.
    pub(super) fn read_counter(
        &self,
        filter: &CounterEntry,
        at: Position,
        page: &mut Page,
    ) -> Result<Option<Position>, Status> {
        let all = self.schema.info().counters.iter();
        let counters = selected(all, filter.counter_id, self.schema.counter_by_id(filter.counter_id))?;
        let ranges = ranges(&counters, filter.index, |counter| (counter.size, counter.short_name()))?;
        page.cells(at, &ranges, |array, cells, page| {
            let counter = counters[array];
            let values = self.plane.lock().counters(counter.full_name())?[cells.clone()].to_vec();
            for (cell, value) in cells.zip(values) {
                let data = Some(shown(value, counter.spec.as_ref()));
                page.push(CounterEntry { counter_id: counter.id(), index: place(cell), data });
            }
            Ok(())
        })
    }

    /// Configures one cell, or all, of a meter.
    pub(super) fn write_meter(&mut self, kind: Type, given: &MeterEntry) -> Result<(), Status> {
        only_modify(kind, "meter")?;
        let schema = self.schema.clone();
        let meter = known(schema.meter_by_id(given.meter_id))?;
        if given.counter_data.is_some() {
            return Err(no_colors(meter.short_name()));
        }
        let cells = cells(given.index, meter.size.max(0) as usize, meter.short_name())?;
        let rates =
            given.config.as_ref().map(|config| rates(config, meter.spec.as_ref(), meter.short_name()));
        let rates = rates.transpose()?;
        Ok(self
            .plane
            .each_stride(cells, |switch, stride| switch.set_meters(meter.full_name(), stride, rates))?)
    }

    /// Reads the cells that a filter selects.
    pub(super) fn read_meter(
        &self,
        filter: &MeterEntry,
        at: Position,
        page: &mut Page,
    ) -> Result<Option<Position>, Status> {
        let all = self.schema.info().meters.iter();
        let meters = selected(all, filter.meter_id, self.schema.meter_by_id(filter.meter_id))?;
        if let (Some(_), Some(meter)) = (&filter.counter_data, meters.first()) {
            return Err(no_colors(meter.short_name()));
        }
        let ranges = ranges(&meters, filter.index, |meter| (meter.size, meter.short_name()))?;
        page.cells(at, &ranges, |array, cells, page| {
            let meter = meters[array];
            let configs: Vec<_> = {
                let switch = self.plane.lock();
                switch.meters(meter.full_name())?.skip(cells.start).take(cells.len()).collect()
            };
            for (cell, config) in cells.zip(configs) {
                let config = config.map(message);
                page.push(MeterEntry {
                    meter_id: meter.id(),
                    index: place(cell),
                    config,
                    counter_data: None,
                });
            }
            Ok(())
        })
    }

    /// Sets one cell, or all, of a register.
    pub(super) fn write_register(&mut self, kind: Type, given: &RegisterEntry) -> Result<(), Status> {
        only_modify(kind, "register")?;
        let schema = self.schema.clone();
        let register = known(schema.register_by_id(given.register_id))?;
        let name = register.short_name();
        let cells = cells(given.index, register.size.max(0) as usize, name)?;
        let data =
            given.data.as_ref().ok_or_else(|| invalid(format!("register {name}: the data is not set")))?;
        let value = data::encode(&schema, register.type_spec.as_ref(), data, &format!("register {name}"))?;
        let arrays = arrays_of(&self.plane.lock(), register.full_name());
        if arrays.len() != value.len() {
            return Err(invalid(format!("register {name}: it takes {} values", arrays.len())));
        }
        Ok(self.plane.each_stride(cells, |switch, stride| {
            let mut each = arrays.iter().zip(&value);
            each.try_for_each(|(array, value)| switch.set_register_cells(array, stride.clone(), value))
        })?)
    }

    /// Reads the cells that a filter selects.
    pub(super) fn read_register(
        &self,
        filter: &RegisterEntry,
        at: Position,
        page: &mut Page,
    ) -> Result<Option<Position>, Status> {
        let schema = &self.schema;
        let all = schema.info().registers.iter();
        let registers = selected(all, filter.register_id, schema.register_by_id(filter.register_id))?;
        let ranges =
            ranges(&registers, filter.index, |register| (register.size.into(), register.short_name()))?;
        page.cells(at, &ranges, |array, cells, page| {
            let register = registers[array];
            let mut values = vec![Vec::new(); cells.len()];
            let arrays = arrays_of(&self.plane.lock(), register.full_name());
            for array in arrays {
                let fields = self.plane.lock().register_cells(&array, cells.clone())?;
                values.iter_mut().zip(fields).for_each(|(value, field)| value.push(field));
            }
            for (cell, value) in cells.zip(values) {
                let data = data::decode(schema, register.type_spec.as_ref(), &mut value.into_iter())?;
                let (register_id, index) = (register.id(), place(cell));
                page.push(RegisterEntry { register_id, index, data: Some(data) });
            }
            Ok(())
        })
    }

    /// Writes the direct counter and meter of a table entry.
    pub(super) fn write_direct(
        &mut self,
        table: &Table,
        row: Row<'_>,
        given: &TableEntry,
    ) -> Result<(), Status> {
        let mut switch = self.plane.lock();
        if let Some(data) = &given.counter_data {
            let value = counts(data, table.short_name())?;
            switch.set_direct_counter(row.table, row.key, row.priority, value)?;
        }
        let meter = table.direct_resource_ids.iter().find_map(|&id| self.schema.direct_meter_by_id(id).ok());
        if let Some(meter) = meter {
            let config = given.meter_config.as_ref();
            let rates =
                config.map(|config| rates(config, meter.spec.as_ref(), meter.short_name())).transpose()?;
            switch.set_direct_meter(row.table, row.key, row.priority, rates)?;
        }
        Ok(())
    }

    /// Adds the requested direct counter and meter to an entry; no row is the default entry.
    pub(super) fn read_direct(
        &self,
        table: &Table,
        row: Option<Row<'_>>,
        filter: &TableEntry,
        entry: &mut TableEntry,
    ) -> Result<(), Status> {
        let attached = &table.direct_resource_ids;
        let counter = attached.iter().find_map(|&id| self.schema.direct_counter_by_id(id).ok());
        if let (Some(_), Some(counter)) = (&filter.counter_data, counter) {
            let value = match row {
                Some(row) => self.plane.direct_counter(row)?,
                None => self.plane.lock().default_action(table.full_name())?.1,
            };
            entry.counter_data = Some(shown(value, counter.spec.as_ref()));
        }
        if filter.meter_counter_data.is_some() {
            return Err(no_colors(table.short_name()));
        }
        let meter = attached.iter().any(|&id| self.schema.direct_meter_by_id(id).is_ok());
        if let (Some(_), Some(row), true) = (&filter.meter_config, row, meter) {
            entry.meter_config = self.plane.direct_meter(row)?.map(message);
        }
        Ok(())
    }

    /// Sets the counter of a table entry.
    pub(super) fn write_direct_counter(
        &mut self,
        kind: Type,
        given: &DirectCounterEntry,
    ) -> Result<(), Status> {
        only_modify(kind, "direct counter")?;
        let entry =
            given.table_entry.as_ref().ok_or_else(|| invalid("the direct counter names no table entry"))?;
        let with = TableEntry { counter_data: Some(given.data.unwrap_or_default()), ..TableEntry::default() };
        let schema = self.schema.clone();
        let table = known(schema.table_by_id(entry.table_id))?;
        check_direct(&schema, table, &with)?;
        let key = self.direct_key(table, entry)?;
        let Some(data) = &given.data else { return Ok(()) };
        let value = counts(data, table.short_name())?;
        Ok(self.plane.lock().set_direct_counter(table.full_name(), &key.matches, entry.priority, value)?)
    }

    /// Configures the meter of a table entry.
    pub(super) fn write_direct_meter(&mut self, kind: Type, given: &DirectMeterEntry) -> Result<(), Status> {
        only_modify(kind, "direct meter")?;
        let entry =
            given.table_entry.as_ref().ok_or_else(|| invalid("the direct meter names no table entry"))?;
        let with = TableEntry {
            meter_config: Some(given.config.unwrap_or_default()),
            meter_counter_data: given.counter_data,
            ..TableEntry::default()
        };
        let schema = self.schema.clone();
        let table = known(schema.table_by_id(entry.table_id))?;
        check_direct(&schema, table, &with)?;
        let key = self.direct_key(table, entry)?;
        let row = Row { table: table.full_name(), key: &key.matches, priority: entry.priority };
        self.write_direct(table, row, &TableEntry { meter_config: given.config, ..TableEntry::default() })
    }

    /// Reads the counters of the entries that a filter selects.
    pub(super) fn read_direct_counter(
        &self,
        filter: &DirectCounterEntry,
        at: Position,
        page: &mut Page,
    ) -> Result<Option<Position>, Status> {
        let attached = |schema: &Schema, id| schema.direct_counter_by_id(id).is_ok();
        self.read_attached(filter.table_entry.as_ref(), at, page, attached, direct_counter)
    }

    /// Reads the meters of the entries that a filter selects.
    pub(super) fn read_direct_meter(
        &self,
        filter: &DirectMeterEntry,
        at: Position,
        page: &mut Page,
    ) -> Result<Option<Position>, Status> {
        if filter.counter_data.is_some() {
            return Err(no_colors("direct"));
        }
        let attached = |schema: &Schema, id| schema.direct_meter_by_id(id).is_ok();
        self.read_attached(filter.table_entry.as_ref(), at, page, attached, direct_meter)
    }

    fn read_attached(
        &self,
        filter: Option<&TableEntry>,
        at: Position,
        page: &mut Page,
        attached: impl Fn(&Schema, u32) -> bool,
        entity: impl Fn(TableEntry) -> Entity,
    ) -> Result<Option<Position>, Status> {
        let filter = filter.cloned().unwrap_or_default();
        let has = |table: &&Table| table.direct_resource_ids.iter().any(|&id| attached(&self.schema, id));
        let tables: Vec<_> = match filter.table_id {
            0 => self.schema.info().tables.iter().filter(has).collect(),
            id => vec![known(self.schema.table_by_id(id))?],
        };
        for table in &tables {
            if !has(table) {
                return Err(invalid(format!("table {} has no such direct resource", table.short_name())));
            }
            if !filter.r#match.is_empty() && !filter.is_default_action {
                self.direct_key(table, &filter)?;
            }
        }
        let with_direct = TableEntry {
            counter_data: Some(CounterData::default()),
            meter_config: Some(MeterConfig::default()),
            ..filter
        };
        self.read_tables(&tables, &with_direct, at, page, entity)
    }
}

/// Returns the counter of an entry.
pub(super) fn direct_counter(entry: TableEntry) -> Entity {
    DirectCounterEntry { data: entry.counter_data, table_entry: Some(key_of(entry)) }.into()
}

/// Returns the meter of an entry.
pub(super) fn direct_meter(entry: TableEntry) -> Entity {
    let config = entry.meter_config;
    DirectMeterEntry { config, counter_data: None, table_entry: Some(key_of(entry)) }.into()
}

/// Returns an entry's identity, for the answers about its direct resources.
fn key_of(entry: TableEntry) -> TableEntry {
    TableEntry {
        table_id: entry.table_id,
        r#match: entry.r#match,
        priority: entry.priority,
        is_default_action: entry.is_default_action,
        ..TableEntry::default()
    }
}

fn no_colors(name: &str) -> Status {
    Status::unimplemented(format!("meter {name}: packets are not counted by color"))
}

/// Returns the arrays that an id selects: 0 is all.
fn selected<'a, T>(
    all: impl Iterator<Item = &'a T>,
    id: u32,
    one: Result<&'a T, inart_p4runtime::SchemaError>,
) -> Result<Vec<&'a T>, Status> {
    if id == 0 { Ok(all.collect()) } else { Ok(vec![known(one)?]) }
}

/// Returns the cells that an index names in each of several arrays.
fn ranges<'a, T>(
    arrays: &[&'a T],
    index: Option<Index>,
    shape: impl Fn(&'a T) -> (i64, &'a str),
) -> Result<Vec<Range<usize>>, Status> {
    let range = |array: &&'a T| {
        let (size, name) = shape(array);
        cells(index, usize::try_from(size).unwrap_or(0), name)
    };
    arrays.iter().map(range).collect()
}
