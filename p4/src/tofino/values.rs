//! The part of the program for Tofino that repeats for every value of a frame.

use std::ops::Range;

use inart_wire::ValuesPerPacket;

use super::printed::PRINTED;
use super::seats::rows;

/// Registers in a stage. As many values are decided on by what decides on the mode, so that they need no
/// stage after it.
const PER_STAGE: usize = 4;

/// Values in one table that looks for limits: what the ternary crossbar of a stage takes in twice.
const PER_LIMITS: usize = 8;

/// The values that egress looks at are the first ones: its parser gets no further. The others are summed
/// first, and looked at in the stages after that.
fn in_egress(values: ValuesPerPacket) -> usize {
    values.get() / 2
}

/// The P4 source of `tofino/generated/values_n{values}.p4`: the headers that hold the values of a frame.
pub fn values_p4(values: ValuesPerPacket) -> String {
    let fields = |indices: Range<usize>| -> String {
        indices.map(|index| format!("    bit<32> v{index};\n")).collect()
    };
    let half = in_egress(values);
    let (values_h, rest_h) = (fields(0..half), fields(half..values.get()));
    format!(
        "{PRINTED}
const bit<16> VALUES = {values};

// Those that egress looks at, too.
header values_h {{
{values_h}}}

header rest_h {{
{rest_h}}}
"
    )
}

/// The P4 source of `tofino/generated/slots_n{values}.p4`: a register and a table for each value, and the
/// tables that look for sums which did not fit.
pub fn slots_p4(values: ValuesPerPacket) -> String {
    let (n, half) = (values.get(), in_egress(values));
    let order: Vec<usize> = (0..n).rev().collect();
    let (first, later) = order.split_at(PER_STAGE.min(n));
    let registers: String =
        order.iter().map(|&index| register(index, half) + &table(index, first.contains(&index))).collect();
    let decide = by_fate("decide", "set_mode;", |mode| format!("set_mode(Mode.{mode})"));
    let applied = |indices: &[usize]| -> String {
        indices.iter().map(|index| format!("        use_{index}.apply();\n")).collect()
    };
    let (first, later) = (applied(first), applied(later));
    let (ingress, egress) = (limits(half..n, half), limits(0..half, half));
    format!(
        "{PRINTED}
// The values of the slots. A sum that does not fit stays at the limit, whatever is added then. So a
// value at a limit tells that there was an overflow, or that a value was that large; egress sets the
// flag for both. The first values are decided on by what decides on the mode, so that they need no
// stage after it.
control SlotValues(inout ingress_headers_t hdr, inout ingress_metadata_t meta) {{
{registers}    @hidden action set_mode(Mode mode) {{ meta.mode = mode; }}
{decide}    apply {{
{first}        decide.apply();
{later}    }}
}}

// Is a value at a limit? Of those that egress does not parse.
control IngressLimits(inout ingress_headers_t hdr) {{
    @hidden action note() {{ hdr.bridge.limit = 1; }}

{ingress}}}

// Of the others.
control EgressLimits(in egress_headers_t hdr, inout egress_metadata_t meta) {{
    @hidden action note() {{ meta.limit = 1; }}

{egress}}}
"
    )
}

/// Where a value is in a frame, if the first header has `half` of them.
fn field(index: usize, half: usize) -> String {
    let header = if index < half { "values" } else { "rest" };
    format!("hdr.{header}.v{index}")
}

fn register(index: usize, half: usize) -> String {
    "    Register<int<32>, index_t>(SLOTS, 0) value_{i};
    RegisterAction<int<32>, index_t, bit<32>>(value_{i}) put_{i} = {
        void apply(inout int<32> slot) {
            slot = (int<32>){field};
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_{i}) sum_{i} = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot != LOWEST) {
                slot = slot |+| (int<32>){field};
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_{i}) get_{i} = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_{i}() { put_{i}.execute(meta.slot); }
    @hidden action add_{i}() { {field} = sum_{i}.execute(meta.slot); }
    @hidden action read_{i}() { {field} = get_{i}.execute(meta.slot); }
"
    .replace("{i}", &index.to_string())
    .replace("{field}", &field(index, half))
}

fn table(index: usize, first: bool) -> String {
    let actions = format!("store_{index}; add_{index}; read_{index};");
    let action = |mode: &str| format!("{}_{index}()", mode.to_lowercase());
    if first {
        return by_fate(&format!("use_{index}"), &actions, action);
    }
    let entries: String =
        MODES.iter().map(|mode| format!("            Mode.{mode}: {};\n", action(mode))).collect();
    format!(
        "    @hidden table use_{index} {{
        key = {{ meta.mode: exact; }}
        actions = {{ {actions} @defaultonly NoAction; }}
        const default_action = NoAction();
        const entries = {{
{entries}        }}
        size = 4;
    }}

"
    )
}

const MODES: [&str; 3] = ["STORE", "ADD", "READ"];

/// A table that decides by what is done with the slot, and by whether the sender's seat is in it.
fn by_fate(name: &str, actions: &str, action: impl Fn(&str) -> String) -> String {
    let [store, add, read] = MODES.map(action);
    let repeats = rows("Mode.ADD", &read);
    format!(
        "    @hidden table {name} {{
        key = {{
            meta.fate: ternary;
            hdr.inart.worker[5:0]: ternary @name(\"seat\");
            meta.seen_hi: ternary;
            meta.seen_lo: ternary;
        }}
        actions = {{ {actions} @defaultonly NoAction; }}
        const default_action = NoAction();
        const entries = {{
            (Mode.STORE, _, _, _): {store};
{repeats}            (Mode.ADD, _, _, _): {add};
        }}
        size = 66;
    }}

"
    )
}

/// Tables that look at the values of `all`, and the block that applies them.
fn limits(all: Range<usize>, half: usize) -> String {
    let mut tables = String::new();
    let mut applied = String::new();
    for start in all.clone().step_by(PER_LIMITS) {
        tables += &limits_of(start..all.end.min(start + PER_LIMITS), half);
        applied += &format!("        limits_from_{start}.apply();\n");
    }
    format!("{tables}    apply {{\n{applied}    }}\n")
}

fn limits_of(values: Range<usize>, half: usize) -> String {
    let key: String =
        values.clone().map(|index| format!("            {}: ternary;\n", field(index, half))).collect();
    let mut entries = String::new();
    for at in values.clone() {
        for limit in ["0x7fffffff", "0x80000000"] {
            let row: Vec<_> = values.clone().map(|index| if index == at { limit } else { "_" }).collect();
            entries += &format!("            ({}): note();\n", row.join(", "));
        }
    }
    let (start, size) = (values.start, 2 * values.len());
    format!(
        "    @hidden table limits_from_{start} {{
        key = {{
{key}        }}
        actions = {{ note; @defaultonly NoAction; }}
        const default_action = NoAction();
        const entries = {{
{entries}        }}
        size = {size};
    }}

"
    )
}
