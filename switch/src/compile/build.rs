//! The builder: names resolved once, then each section lowered in turn.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use super::expr::Expr;
use super::layout::{Field, Layout};
use super::{CompileError, Result};
use crate::effort::Effort;
use crate::json::Document;
use crate::op::{Op, Pc, Span, Word};
use crate::program::{
    ActionInfo, ArchOp, ArrayInfo, Calculation, Checksum, DigestInfo, ErrorCodes, MeterInfo, Place,
    ProfileInfo, Program, RegisterGroup, RegisterInfo, Select, Standard, TableInfo, Tna, ValueSetInfo,
};
use crate::tables::{COUNTER_BYTES, MAX_ARRAY_BYTES, METER_BYTES, register_bytes};
use crate::wide::Wide;

/// Starts of the parts of a program.
#[derive(Default)]
pub(super) struct Sections {
    pub parser: Pc,
    pub ingress: Pc,
    pub egress: Pc,
    pub deparse_order: Vec<u32>,
    pub deparser_code: Option<Pc>,
    pub checksums: Vec<Checksum>,
    pub standard: Standard,
    pub errors: ErrorCodes,
    pub tna: Option<Tna>,
}

pub(super) struct Builder<'d> {
    pub document: &'d Document,
    effort: &'d Effort<'d>,
    pub layout: Layout,
    /// Parameters of the action that is being lowered.
    pub params: Vec<Field>,
    constants: HashMap<u64, Word>,
    temporaries: Vec<Word>,
    used_temporaries: usize,
    /// Fields that the present statement has loaded already.
    pub loaded: HashMap<(Span, bool), Word>,
    pub code: Vec<Op>,
    pub wide: Vec<Wide>,
    pub selects: Vec<Select>,
    pub calculations: Vec<Calculation>,
    pub calculation_names: HashMap<String, u32>,
    pub actions: Vec<ActionInfo>,
    pub action_ids: HashMap<u64, usize>,
    pub tables: Vec<TableInfo>,
    pub profiles: Vec<ProfileInfo>,
    pub counters: Vec<ArrayInfo>,
    pub meters: Vec<MeterInfo>,
    pub registers: Vec<RegisterInfo>,
    pub register_groups: Vec<RegisterGroup>,
    pub value_sets: Vec<ValueSetInfo>,
    pub messages: Vec<(String, Vec<Word>)>,
    /// Operations that only TNA has.
    pub arch_ops: Vec<ArchOp>,
    /// Digests of TNA by number.
    pub packed: FxHashMap<u64, DigestInfo>,
    /// Words past the constants that keep their value from statement to statement.
    pub lasting: Vec<Word>,
    /// Keys that are computed before their table is applied, by the table's name.
    pub computed_keys: HashMap<String, Vec<(Place, Expr)>>,
    pub param_word: u32,
    pub param_byte: u32,
    pub constant_word: u32,
    initial: Vec<(Word, u64)>,
    cleared_words: u32,
    cleared_bytes: u32,
    array_bytes: u64,
}

impl<'d> Builder<'d> {
    pub fn new(document: &'d Document, effort: &'d Effort<'d>) -> Result<Builder<'d>> {
        let mut layout = Layout::new(document)?;
        let (cleared_words, cleared_bytes) = (layout.words, layout.bytes);
        // Metadata is always valid; its validity is one word that nothing clears.
        let always = layout.word();
        for (header, metadata) in layout.headers.iter_mut().zip(&layout.metadata) {
            if *metadata {
                header.valid = always;
            }
        }
        let mut builder = Builder {
            document,
            effort,
            param_word: layout.words,
            param_byte: layout.bytes,
            constant_word: 0,
            layout,
            params: Vec::new(),
            constants: HashMap::new(),
            temporaries: Vec::new(),
            used_temporaries: 0,
            loaded: HashMap::new(),
            code: Vec::new(),
            wide: Vec::new(),
            selects: Vec::new(),
            calculations: Vec::new(),
            calculation_names: HashMap::new(),
            actions: Vec::new(),
            action_ids: HashMap::new(),
            tables: Vec::new(),
            profiles: Vec::new(),
            counters: Vec::new(),
            meters: Vec::new(),
            registers: Vec::new(),
            register_groups: Vec::new(),
            value_sets: Vec::new(),
            messages: Vec::new(),
            arch_ops: Vec::new(),
            packed: FxHashMap::default(),
            lasting: Vec::new(),
            computed_keys: HashMap::new(),
            initial: vec![(always, 1)],
            cleared_words,
            cleared_bytes,
            array_bytes: 0,
        };
        builder.declare_arrays()?;
        Ok(builder)
    }

    fn declare_arrays(&mut self) -> Result<()> {
        let document = self.document;
        for array in &document.counter_arrays {
            let place = format!("counter_arrays {:?}", array.name);
            let size = if array.is_direct { 0 } else { array.size.unwrap_or(0) };
            self.take_array(size, COUNTER_BYTES, &place)?;
            self.counters.push(ArrayInfo { name: array.name.clone(), size });
        }
        for array in &document.meter_arrays {
            let place = format!("meter_arrays {:?}", array.name);
            let size = if array.is_direct { 0 } else { array.size.unwrap_or(0) };
            self.take_array(size, METER_BYTES, &place)?;
            if array.rate_count.is_some_and(|count| count != 2) {
                return Err(CompileError::new(place, "only meters with two rates are supported"));
            }
            self.meters.push(MeterInfo { name: array.name.clone(), size, bytes: array.unit == "bytes" });
        }
        for array in &document.register_arrays {
            let place = format!("register_arrays {:?}", array.name);
            if !(1..=1 << 16).contains(&array.bitwidth) {
                return Err(CompileError::new(place, "a register's width must be 1 to 65536 bits"));
            }
            self.take_array(array.size, register_bytes(array.bitwidth), &place)?;
            let (size, bits) = (array.size, array.bitwidth);
            let group =
                self.register_groups.iter().position(|group| (group.size, group.bits) == (size, bits));
            let group = group.unwrap_or_else(|| {
                self.register_groups.push(RegisterGroup { size, lanes: 0, bits });
                self.register_groups.len() - 1
            });
            let lane = self.register_groups[group].lanes as u32;
            self.register_groups[group].lanes += 1;
            self.registers.push(RegisterInfo {
                name: array.name.clone(),
                size,
                bits,
                group: group as u32,
                lane,
                initial: array.initial,
            });
        }
        for set in &document.parse_vsets {
            let (name, bits) = (set.name.clone(), set.compressed_bitwidth);
            let max_members = set.max_size.unwrap_or(1024);
            self.value_sets.push(ValueSetInfo { name, bits, max_members, widths: vec![bits] });
        }
        Ok(())
    }

    /// Counts the bytes of an array before there is room for them.
    fn take_array(&mut self, size: usize, cell: u64, place: &str) -> Result<()> {
        self.array_bytes = self.array_bytes.saturating_add((size as u64).saturating_mul(cell));
        if self.array_bytes > MAX_ARRAY_BYTES {
            let problem = format!(
                "{size} cells of {cell} bytes: all arrays of a program together take {} bytes, at most {}",
                self.array_bytes, MAX_ARRAY_BYTES
            );
            return Err(CompileError::limit(place, problem));
        }
        Ok(())
    }

    pub fn register(&self, name: &str, place: &str) -> Result<u32> {
        let found = self.registers.iter().position(|array| array.name == name);
        found
            .map(|index| index as u32)
            .ok_or_else(|| CompileError::new(place, format!("there is no register array {name:?}")))
    }

    pub fn constant(&mut self, value: u64) -> Word {
        if let Some(&word) = self.constants.get(&value) {
            return word;
        }
        let word = self.layout.word();
        self.initial.push((word, value));
        self.constants.insert(value, word);
        word
    }

    /// Returns a word that holds a value until [`Builder::release`].
    pub fn temporary(&mut self) -> Word {
        if self.used_temporaries == self.temporaries.len() {
            let word = self.layout.word();
            self.temporaries.push(word);
        }
        self.used_temporaries += 1;
        self.temporaries[self.used_temporaries - 1]
    }

    /// Frees all temporaries: the end of a statement.
    pub fn release(&mut self) {
        self.used_temporaries = 0;
        self.loaded.clear();
    }

    pub fn is_temporary(&self, word: Word) -> bool {
        // They are made in ascending order.
        self.temporaries.binary_search(&word).is_ok()
    }

    pub fn emit(&mut self, op: Op) {
        self.effort.step();
        self.code.push(op);
    }

    /// Counts the words of a constant.
    pub fn spend(&self, words: u64) {
        self.effort.steps(words);
    }

    /// Refuses to go on after the last step of the effort.
    pub fn check(&self) -> Result<()> {
        self.effort.check()
    }

    pub fn pc(&self) -> Pc {
        self.code.len() as Pc
    }

    pub fn build(mut self) -> Result<Program> {
        self.declare_actions()?;
        self.build_calculations()?;
        self.build_actions()?;
        let parser = self.build_parser()?;
        let ingress = self.build_pipeline("ingress")?;
        let egress = self.build_pipeline("egress")?;
        let (deparse_order, deparser_code) = self.build_deparser()?;
        let checksums = self.build_checksums()?;
        let errors = self.error_codes();
        let standard = self.standard();
        self.into_program(Sections {
            parser,
            ingress,
            egress,
            deparse_order,
            deparser_code,
            checksums,
            standard,
            errors,
            tna: None,
        })
    }

    /// Returns the program, once all code is made.
    pub fn into_program(mut self, sections: Sections) -> Result<Program> {
        let field_lists = self.field_lists()?;
        let mut digests = self.digests()?;
        digests.extend(self.packed.drain());
        let mut initial = vec![0; self.layout.words as usize];
        for (word, value) in self.initial {
            initial[word as usize] = value;
        }
        let table_names = self.tables.iter().enumerate().map(|(n, table)| (table.name.clone(), n)).collect();
        Ok(Program {
            initial,
            cleared_words: self.cleared_words as usize,
            bytes: self.layout.bytes as usize + 8,
            cleared_bytes: self.cleared_bytes as usize,
            headers: self.layout.headers,
            type_fields: self.layout.type_fields,
            wide_metadata: self.layout.wide_metadata,
            stacks: self.layout.stacks,
            unions: self.layout.unions,
            code: self.code,
            wide: self.wide,
            runs: Vec::new(),
            parser: sections.parser,
            ingress: sections.ingress,
            egress: sections.egress,
            selects: self.selects,
            deparse_order: sections.deparse_order,
            deparser_code: sections.deparser_code,
            checksums: sections.checksums,
            calculations: self.calculations,
            actions: self.actions,
            tables: self.tables,
            profiles: self.profiles,
            counters: self.counters,
            meters: self.meters,
            registers: self.registers,
            register_groups: self.register_groups,
            value_sets: self.value_sets,
            field_lists,
            digests,
            messages: self.messages,
            standard: sections.standard,
            errors: sections.errors,
            arch_ops: self.arch_ops,
            tna: sections.tna,
            lasting: self.lasting.into_iter().collect(),
            param_word: self.param_word,
            param_byte: self.param_byte,
            constant_word: self.constant_word,
            table_names,
        })
    }

    fn field_places(&self, elements: &[crate::json::Typed], place: &str) -> Result<Vec<Place>> {
        elements
            .iter()
            .map(|element| {
                let name = |n: usize| element.value.get(n).and_then(serde_json::Value::as_str);
                match (element.kind.as_str(), name(0), name(1)) {
                    ("field", Some(header), Some(field)) => {
                        Ok(self.layout.field(header, field, place)?.place)
                    }
                    _ => Err(CompileError::new(place, "the elements of a list must be fields")),
                }
            })
            .collect()
    }

    fn field_lists(&self) -> Result<FxHashMap<u64, Vec<Place>>> {
        let lists = self.document.field_lists.iter();
        lists
            .map(|list| {
                Ok((list.id, self.field_places(&list.elements, &format!("field_lists {:?}", list.name))?))
            })
            .collect()
    }

    fn digests(&self) -> Result<FxHashMap<u64, DigestInfo>> {
        let lists = self.document.learn_lists.iter();
        lists
            .map(|list| {
                let fields = self.field_places(&list.elements, &format!("learn_lists {:?}", list.name))?;
                Ok((list.id, DigestInfo { name: list.name.clone(), fields }))
            })
            .collect()
    }

    fn standard(&self) -> Standard {
        let word = |names: &[&str]| {
            names.iter().find_map(|name| {
                let alias = self.document.field_aliases.iter().find(|(alias, _)| alias == name);
                let (header, field) = match alias {
                    Some((_, (header, field))) => (header.as_str(), field.as_str()),
                    None => name.split_once('.')?,
                };
                match self.layout.field(header, field, "").ok()?.place {
                    Place::Word { word, .. } => Some(word),
                    _ => None,
                }
            })
        };
        Standard {
            ingress_port: word(&["standard_metadata.ingress_port"]),
            egress_spec: word(&["standard_metadata.egress_spec"]),
            egress_port: word(&["standard_metadata.egress_port"]),
            instance_type: word(&["standard_metadata.instance_type"]),
            packet_length: word(&["standard_metadata.packet_length"]),
            enq_timestamp: word(&["queueing_metadata.enq_timestamp"]),
            deq_timedelta: word(&["queueing_metadata.deq_timedelta"]),
            enq_qdepth: word(&["queueing_metadata.enq_qdepth"]),
            deq_qdepth: word(&["queueing_metadata.deq_qdepth"]),
            ingress_global_timestamp: word(&["intrinsic_metadata.ingress_global_timestamp"]),
            egress_global_timestamp: word(&["intrinsic_metadata.egress_global_timestamp"]),
            mcast_grp: word(&["intrinsic_metadata.mcast_grp", "standard_metadata.mcast_grp"]),
            egress_rid: word(&["intrinsic_metadata.egress_rid", "standard_metadata.egress_rid"]),
            checksum_error: word(&["standard_metadata.checksum_error"]),
            parser_error: word(&["standard_metadata.parser_error"]),
        }
    }

    fn error_codes(&self) -> ErrorCodes {
        let code = |name: &str, otherwise: u64| {
            self.document.errors.iter().find(|(error, _)| error == name).map_or(otherwise, |(_, code)| *code)
        };
        ErrorCodes {
            no_error: code("NoError", 0),
            packet_too_short: code("PacketTooShort", 1),
            stack_out_of_bounds: code("StackOutOfBounds", 3),
            header_too_short: code("HeaderTooShort", 4),
            parser_timeout: code("ParserTimeout", 5),
            invalid_argument: code("ParserInvalidArgument", 6),
        }
    }
}
