//! Reads in answers of bounded size: where one ends the next resumes, however slowly they are taken.

use std::ops::Range;

use inart_bfruntime::bfrt_proto::{Entity, TableEntry, TableUsage, entity};
use inart_bfruntime::{Entry, Table, update_errors_status};
use tonic::Status;

use super::pipeline::{Pipeline, lock};
use super::status::{invalid, misfit, refused, unknown, unserved};
use super::tables::{Kind, kind};
use super::{arrays, keys, rows};
use crate::server::page::Page as Bounded;

type Page = Bounded<Entity>;

/// Ports of a switch, at most: all of them fit into an answer.
const PORTS: usize = 512;

/// A read in progress.
#[derive(Debug)]
pub(super) struct Reading {
    filters: Vec<Entity>,
    /// The filters that are done.
    done: usize,
    /// Place where the entities of the next filter resume: a row's place, a cell, or a number.
    at: usize,
    /// Number of writes that the device had processed when the read started.
    writes: u64,
}

impl Reading {
    pub fn new(filters: Vec<Entity>, writes: u64) -> Self {
        Self { filters, done: 0, at: 0, writes }
    }

    /// Returns the next answer, which may be empty; `None` after the last. An error ends the read.
    pub fn next(&mut self, pipeline: &Pipeline, writes: u64) -> Result<Option<Vec<Entity>>, Status> {
        if writes != self.writes {
            return Err(Status::aborted("a write happened between the answers of this read: read again"));
        }
        if self.done == self.filters.len() {
            return Ok(None);
        }
        let mut page = Page::default();
        while let Some(filter) = self.filters.get(self.done)
            && !page.is_full()
        {
            page.look(1);
            match pipeline.read(filter, std::mem::take(&mut self.at), &mut page) {
                Ok(Some(at)) => self.at = at,
                Ok(None) => self.done += 1,
                Err(status) => {
                    let mut results = vec![Ok(()); self.done];
                    results.push(Err(status));
                    return Err(update_errors_status(&results));
                }
            }
        }
        Ok(Some(page.found))
    }
}

impl Pipeline {
    /// Reads the entities that a filter selects until the page is full. Returns where the next page resumes.
    fn read(&self, filter: &Entity, at: usize, page: &mut Page) -> Result<Option<usize>, Status> {
        match &filter.entity {
            Some(entity::Entity::TableEntry(entry)) => self.read_entries(entry, at, page),
            Some(entity::Entity::TableUsage(usage)) => {
                let table = self.info.table_by_id(usage.table_id).map_err(unknown)?;
                let Kind::Match(name) = kind(table, &self.program) else {
                    return Err(unserved(format!("{} has no usage", table.name)));
                };
                let usage = lock(&self.switch).entry_count(name).map_err(refused)? as u32;
                let usage = TableUsage { table_id: table.id, usage, ..Default::default() };
                page.push(Entity { entity: Some(entity::Entity::TableUsage(usage)) });
                Ok(None)
            }
            Some(_) => Err(unserved("only table entries and usages are read here")),
            None => Err(invalid("the entity is not set")),
        }
    }

    fn read_entries(&self, given: &TableEntry, at: usize, page: &mut Page) -> Result<Option<usize>, Status> {
        let (table, filter) = self.decode(given)?;
        let switch = || lock(&self.switch);
        match kind(&table, &self.program) {
            Kind::Match(name) if filter.is_default => {
                let (call, counter) = switch().default_action(name).map_err(refused)?;
                let found = call.map(|call| rows::found_default(&table, &call, counter)).transpose()?;
                self.push(found, page)
            }
            Kind::Match(name) if filter.key.is_empty() => {
                let places = switch().entry_places(name).map_err(refused)?;
                page.strides(at, 0..places, |places, page| {
                    let found = switch().entries_at(name, places).map_err(refused)?;
                    for row in &found {
                        self.push([rows::found(&table, row)?], page)?;
                    }
                    Ok(())
                })
            }
            Kind::Match(name) => {
                let key = keys::to_switch(&table, &filter)?;
                let row = switch().entry(name, &key.matches, key.priority).map_err(refused)?;
                self.push([rows::found(&table, &row)?], page)
            }
            Kind::Counter(name) => self.read_cells(&table, &filter, at, page, |cells| {
                arrays::read_counters(&switch(), name, &table, cells)
            }),
            Kind::Registers(names) => self.read_cells(&table, &filter, at, page, |cells| {
                arrays::read_registers(&mut switch(), &names, &table, cells)
            }),
            Kind::Groups => self.read_numbered(self.multicast.groups(&filter, at as u32), page),
            Kind::Nodes => self.read_numbered(self.multicast.nodes(&filter, at as u32), page),
            Kind::Ports => self.push_ports(&filter, self.ports.read(&filter)?, page),
            Kind::PortCounts => self.push_ports(&filter, self.ports.read_counts(&filter)?, page),
            Kind::FrontPorts => self.push_ports(&filter, self.ports.front.read(&filter)?, page),
            Kind::Unserved => Err(unserved(format!("{} is not served here", table.name))),
        }
    }

    /// Reads a few cells at a time, so that frames do not wait for all.
    fn read_cells(
        &self,
        table: &Table,
        filter: &Entry,
        at: usize,
        page: &mut Page,
        read: impl Fn(Range<usize>) -> Result<Vec<Entry>, Status>,
    ) -> Result<Option<usize>, Status> {
        page.strides(at, arrays::cells(table, filter)?, |cells, page| {
            self.push(read(cells)?, page)?;
            Ok(())
        })
    }

    /// Rows by number: the next page resumes at the number of the first that is left.
    fn read_numbered<'a>(
        &self,
        rows: impl Iterator<Item = (u32, &'a Entry)>,
        page: &mut Page,
    ) -> Result<Option<usize>, Status> {
        for (number, row) in rows {
            if page.is_full() {
                return Ok(Some(number as usize));
            }
            page.look(1);
            self.push([row.clone()], page)?;
        }
        Ok(None)
    }

    fn push_ports(
        &self,
        filter: &Entry,
        found: Vec<Entry>,
        page: &mut Page,
    ) -> Result<Option<usize>, Status> {
        page.look(if filter.key.is_empty() { PORTS } else { 0 });
        self.push(found, page)
    }

    fn push(&self, found: impl IntoIterator<Item = Entry>, page: &mut Page) -> Result<Option<usize>, Status> {
        for entry in found {
            page.push(self.info.encode_found(&entry).map_err(misfit)?);
        }
        Ok(None)
    }
}
