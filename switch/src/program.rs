//! A compiled pipeline: the flat program with the tables, arrays and lists it refers to. Immutable.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fused::Run;
use crate::hash::Algorithm;
use crate::op::{Op, Pc, Slice, Span, Word};
pub(crate) use crate::tna::{ArchOp, Egress, Ingress, Tna, TnaPipe};
use crate::wide::Wide;

/// A pipeline compiled from a bmv2 JSON document.
#[derive(Debug)]
pub struct Program {
    pub(crate) initial: Vec<u64>,
    /// The first words of the state, which every packet finds zero.
    pub(crate) cleared_words: usize,
    /// Bytes of state, with slack for eight-byte loads at the end.
    pub(crate) bytes: usize,
    /// Bytes that are zeroed for each packet.
    pub(crate) cleared_bytes: usize,
    pub(crate) headers: Vec<Header>,
    pub(crate) type_fields: Vec<TypeField>,
    /// Fields of metadata wider than 64 bits.
    pub(crate) wide_metadata: Vec<Span>,
    pub(crate) stacks: Vec<Stack>,
    pub(crate) unions: Vec<Vec<u32>>,
    pub(crate) code: Vec<Op>,
    pub(crate) wide: Vec<Wide>,
    pub(crate) runs: Vec<Run>,
    pub(crate) parser: Pc,
    pub(crate) ingress: Pc,
    pub(crate) egress: Pc,
    pub(crate) selects: Vec<Select>,
    pub(crate) deparse_order: Vec<u32>,
    pub(crate) deparser_code: Option<Pc>,
    pub(crate) checksums: Vec<Checksum>,
    pub(crate) calculations: Vec<Calculation>,
    pub(crate) actions: Vec<ActionInfo>,
    pub(crate) tables: Vec<TableInfo>,
    pub(crate) profiles: Vec<ProfileInfo>,
    pub(crate) counters: Vec<ArrayInfo>,
    pub(crate) meters: Vec<MeterInfo>,
    pub(crate) registers: Vec<RegisterInfo>,
    pub(crate) register_groups: Vec<RegisterGroup>,
    pub(crate) value_sets: Vec<ValueSetInfo>,
    pub(crate) field_lists: FxHashMap<u64, Vec<Place>>,
    pub(crate) digests: FxHashMap<u64, DigestInfo>,
    pub(crate) messages: Vec<(String, Vec<Word>)>,
    pub(crate) arch_ops: Vec<ArchOp>,
    /// TNA part of the program; `None` for v1model.
    pub(crate) tna: Option<Tna>,
    /// Words past `constant_word` that are no temporaries.
    pub(crate) lasting: FxHashSet<Word>,
    pub(crate) standard: Standard,
    pub(crate) errors: ErrorCodes,
    /// First word and first byte of the area for action parameters.
    pub(crate) param_word: u32,
    pub(crate) param_byte: u32,
    /// First word after the parameters: constants and temporaries.
    pub(crate) constant_word: u32,
    pub(crate) table_names: FxHashMap<String, usize>,
}

/// The architecture that a program is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// bmv2's v1model.
    V1model,
    /// Tofino's TNA, and T2NA.
    Tna,
}

impl Program {
    /// Returns the architecture that the program is written for.
    pub fn architecture(&self) -> Architecture {
        if self.tna.is_some() { Architecture::Tna } else { Architecture::V1model }
    }

    /// Returns the tables in the order of the document.
    pub fn tables(&self) -> &[TableInfo] {
        &self.tables
    }

    /// Returns a table by its full name.
    pub fn table(&self, name: &str) -> Option<&TableInfo> {
        self.table_names.get(name).map(|&index| &self.tables[index])
    }

    /// Returns the actions in the order of the document.
    pub fn actions(&self) -> &[ActionInfo] {
        &self.actions
    }

    /// Returns the register arrays in the order of the document.
    pub fn registers(&self) -> &[RegisterInfo] {
        &self.registers
    }

    /// Returns the array of a register; if the cells are structs, the array of each field.
    pub(crate) fn register_arrays(&self, name: &str) -> Vec<&RegisterInfo> {
        let whole = |array: &&RegisterInfo| array.name == name;
        let field = |array: &&RegisterInfo| array.name.rsplit_once('.').is_some_and(|(of, _)| of == name);
        let found: Vec<_> = self.registers.iter().filter(whole).collect();
        if found.is_empty() { self.registers.iter().filter(field).collect() } else { found }
    }

    /// Marks the tables with initial entries that keep these unchanged.
    pub(crate) fn set_const(&mut self, is_const: impl Fn(&str) -> bool) {
        for table in self.tables.iter_mut().filter(|table| table.const_entries) {
            table.const_entries = is_const(&table.name);
        }
    }

    /// Returns whether a word may be read after the statement that wrote it: it is no temporary.
    pub(crate) fn is_lasting(&self, word: Word) -> bool {
        word < self.constant_word || self.lasting.contains(&word)
    }

    /// Returns the number of fused runs, and of the operations in the whole program.
    pub fn statistics(&self) -> (usize, usize) {
        (self.runs.len(), self.code.len())
    }
}

/// A header, struct of metadata, or member of a stack or union.
#[derive(Debug)]
pub(crate) struct Header {
    #[allow(dead_code)]
    pub name: String,
    /// Holds 1 when valid.
    pub valid: Word,
    /// Location in the state's bytes; a variable-length field counts as zero bits.
    pub byte: u32,
    pub bytes: u32,
    pub var: Option<VarField>,
    /// Other members of its union: at most one member is valid.
    pub siblings: Vec<u32>,
    /// First of its type's fields in `type_fields`, and their number.
    pub fields: (u32, u32),
    /// Words of metadata that are at most 64 bits wide; the wider ones lie in the bytes.
    pub words: Vec<Word>,
}

/// The variable-length field of a header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VarField {
    /// Bit offset in the header at which it starts.
    pub at_bit: u32,
    /// Holds its present length in bits.
    pub length: Word,
    pub byte: u32,
    pub max_bytes: u32,
}

/// A field relative to its header's first bit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypeField {
    pub bit: u32,
    pub bits: u32,
    pub signed: bool,
}

#[derive(Debug)]
pub(crate) struct Stack {
    /// Headers, or unions.
    pub elements: Vec<u32>,
    pub of_unions: bool,
    /// Position of the next element to extract.
    pub next: Word,
}

/// A parser's select: the first matching case wins.
#[derive(Debug)]
pub(crate) struct Select {
    pub key: Vec<KeyPart>,
    pub cases: Vec<Case>,
    pub otherwise: Option<Pc>,
}

#[derive(Debug)]
pub(crate) enum Case {
    /// Value and mask per part.
    Value { parts: Vec<(u64, u64)>, to: Option<Pc> },
    /// Any member of a value set, under a mask per part.
    Set { set: u32, masks: Vec<u64>, to: Option<Pc> },
}

/// One word of a key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeyPart {
    Word(Word),
    /// The low bits of a signed word.
    MaskedWord(Word, u8),
    Slice(Slice),
    Span(Span),
    /// Bits of the packet ahead of the parser's position.
    Ahead {
        bit: u32,
        bits: u8,
    },
}

#[derive(Debug)]
pub(crate) struct Checksum {
    pub condition: Option<(Pc, Word)>,
    pub calculation: u32,
    pub target: Place,
    pub target_valid: Word,
    pub update: bool,
    pub verify: bool,
}

/// Location of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A word, as wide as `bits`, sign-extended if signed.
    Word {
        word: Word,
        bits: u32,
        signed: bool,
    },
    Bits {
        span: Span,
        signed: bool,
    },
    /// The variable-length field of a header.
    Var {
        header: u32,
    },
}

#[derive(Debug)]
pub(crate) struct Calculation {
    pub algorithm: Algorithm,
    pub inputs: Vec<CalculationInput>,
    pub payload: bool,
}

#[derive(Debug)]
pub(crate) enum CalculationInput {
    /// Skipped unless the header is valid.
    Field {
        place: Place,
        bits: u32,
        valid: Word,
    },
    Constant {
        bytes: Vec<u8>,
        bits: u32,
    },
    Header(u32),
}

/// An action and its parameters.
#[derive(Debug)]
pub struct ActionInfo {
    /// Full name.
    pub name: String,
    /// Parameters, in order.
    pub params: Vec<ParamInfo>,
    pub(crate) pc: Pc,
    pub(crate) param_words: usize,
    pub(crate) param_bytes: usize,
}

/// An action's parameter.
#[derive(Debug)]
pub struct ParamInfo {
    /// Name as in the P4 program.
    pub name: String,
    /// Width in bits.
    pub bits: u32,
    pub(crate) place: Place,
}

/// Match kind of a key field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchKind {
    /// Equal.
    Exact,
    /// Longest prefix.
    Lpm,
    /// Value under a mask.
    Ternary,
    /// Within two inclusive bounds.
    Range,
    /// Equal, or anything.
    Optional,
}

/// A key field of a table.
#[derive(Debug)]
pub struct KeyInfo {
    /// Name as in P4Info.
    pub name: String,
    /// Width in bits.
    pub bits: u32,
    /// Match kind.
    pub kind: MatchKind,
    /// First of its words in the whole key, and their number.
    pub(crate) words: (usize, usize),
}

/// A match-action table.
#[derive(Debug)]
pub struct TableInfo {
    /// Full name.
    pub name: String,
    /// Key fields, in the order of P4Info's ids.
    pub keys: Vec<KeyInfo>,
    /// Indices into [`Program::actions`] of the actions it may run.
    pub actions: Vec<usize>,
    /// Entries it holds at most.
    pub max_entries: usize,
    /// Whether it counts the packets that hit each entry.
    pub direct_counter: bool,
    /// Whether its entries carry a meter.
    pub direct_meter: bool,
    /// Whether entries come from the program and cannot be changed.
    pub const_entries: bool,
    /// The default action cannot be changed.
    pub const_default: bool,
    /// Entries may expire.
    pub idle_timeout: bool,
    /// Name of the action profile or selector that holds its actions.
    pub profile: Option<String>,
    pub(crate) profile_index: Option<usize>,
    pub(crate) parts: Vec<(KeyPart, u64)>,
    pub(crate) default: Option<(usize, Vec<Vec<u8>>)>,
    pub(crate) entries: Vec<crate::control::Entry>,
    pub(crate) next: Next,
    pub(crate) meter: Option<(usize, Option<Place>)>,
}

/// Next node after a table.
#[derive(Debug)]
pub(crate) enum Next {
    /// By action: (index into actions, target); and when no action ran.
    Action(Vec<(u32, Option<Pc>)>, Option<Pc>),
    Hit {
        hit: Option<Pc>,
        miss: Option<Pc>,
    },
}

/// An action profile or selector.
#[derive(Debug)]
pub struct ProfileInfo {
    /// Full name.
    pub name: String,
    /// Members it holds at most.
    pub max_members: usize,
    /// Calculation that selects a member of a group, for selectors.
    pub(crate) selector: Option<u32>,
    pub(crate) actions: Vec<usize>,
}

/// A counter array.
#[derive(Debug)]
pub struct ArrayInfo {
    /// Full name.
    pub name: String,
    /// Cells.
    pub size: usize,
}

/// A meter array.
#[derive(Debug)]
pub struct MeterInfo {
    /// Full name.
    pub name: String,
    /// Cells.
    pub size: usize,
    /// Counts bytes rather than packets.
    pub bytes: bool,
}

/// A register array.
#[derive(Debug)]
pub struct RegisterInfo {
    /// Full name.
    pub name: String,
    /// Cells.
    pub size: usize,
    /// Width of a cell in bits.
    pub bits: u32,
    /// The group of equally shaped arrays it is stored with, and its lane there.
    pub(crate) group: u32,
    pub(crate) lane: u32,
    /// Initial value of its cells.
    pub(crate) initial: u64,
}

/// Register arrays of one shape, interleaved so that one index of all is contiguous.
#[derive(Debug)]
pub(crate) struct RegisterGroup {
    pub size: usize,
    pub lanes: usize,
    pub bits: u32,
}

/// A parser value set.
#[derive(Debug)]
pub struct ValueSetInfo {
    /// Full name.
    pub name: String,
    /// Width of a member in bits.
    pub bits: u32,
    /// Members it holds at most.
    pub max_members: usize,
    /// Widths of the key fields a member is cut into.
    pub(crate) widths: Vec<u32>,
}

/// A digest's message.
#[derive(Debug)]
pub struct DigestInfo {
    /// Name of the message's type.
    pub name: String,
    pub(crate) fields: Vec<Place>,
}

/// The words of standard metadata the switch itself reads and writes; absent fields are not touched.
#[derive(Debug, Default)]
pub(crate) struct Standard {
    pub ingress_port: Option<Word>,
    pub egress_spec: Option<Word>,
    pub egress_port: Option<Word>,
    pub instance_type: Option<Word>,
    pub packet_length: Option<Word>,
    pub enq_timestamp: Option<Word>,
    pub deq_timedelta: Option<Word>,
    pub enq_qdepth: Option<Word>,
    pub deq_qdepth: Option<Word>,
    pub ingress_global_timestamp: Option<Word>,
    pub egress_global_timestamp: Option<Word>,
    pub mcast_grp: Option<Word>,
    pub egress_rid: Option<Word>,
    pub checksum_error: Option<Word>,
    pub parser_error: Option<Word>,
}

/// The document's numbers for the core library's parser errors.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ErrorCodes {
    pub no_error: u64,
    pub packet_too_short: u64,
    pub stack_out_of_bounds: u64,
    pub header_too_short: u64,
    pub parser_timeout: u64,
    pub invalid_argument: u64,
}
