//! The part of the program for Tofino that repeats for every value of a frame.

use std::ops::Range;

use inart_wire::ValuesPerFrame;

use super::printed::PRINTED;
use super::seats::rows;

/// Stage of the first values: earlier stages decide about the frame.
const FIRST_STAGE: usize = 4;

/// Registers in a stage. The table that decides the mode also decides about as many values, so that they need
/// no stage after it.
const PER_STAGE: usize = 4;

/// Values in one table that checks limits: the inputs of a stage's ternary crossbar, twice.
const PER_LIMITS: usize = 8;

/// Values whose limits egress checks: those of the last stage, which ingress cannot check. They are first in
/// a frame, since the parser of egress reaches no further than 160 bytes.
const FRONT: usize = PER_STAGE;

/// Returns the P4 source of `tofino/generated/values_n{values}.p4`: the headers that hold the values of a
/// pass.
pub fn values_p4(values: ValuesPerFrame) -> String {
    let fields = |indices: Range<usize>| -> String {
        indices.map(|index| format!("    bit<32> v{index};\n")).collect()
    };
    let (front_h, rest_h) = (fields(0..FRONT), fields(FRONT..values.get()));
    format!(
        "{PRINTED}
// Those that egress looks at, too.
header front_h {{
{front_h}}}

header rest_h {{
{rest_h}}}
"
    )
}

/// Returns the P4 source of `tofino/generated/slots_n{values}.p4`: a register and a table for each value of a
/// pass, and the tables that look for sums which did not fit.
pub fn slots_p4(values: ValuesPerFrame) -> String {
    let n = values.get();
    let order: Vec<usize> = (0..n).rev().collect();
    let (first, later) = order.split_at(PER_STAGE.min(n));
    let place = |at: usize| FIRST_STAGE + at / PER_STAGE;
    let registers: String = (0..)
        .zip(&order)
        .map(|(at, &index)| register(index) + &table(index, at < PER_STAGE, place(at)))
        .collect();
    let decide = by_fate("decide", "set_mode;", |mode| format!("set_mode(Mode.{mode})"));
    let applied = |indices: &[usize]| -> String {
        indices.iter().map(|index| format!("        use_{index}.apply();\n")).collect()
    };
    let (first, later) = (applied(first), applied(later));
    let (ingress, egress) =
        (limits(&order[..n - FRONT], Some(FIRST_STAGE)), limits(&order[n - FRONT..], None));
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

// Is a value at a limit? Of those before the last stage, in the order of the sums.
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

/// Place of a value in a frame.
fn field(index: usize) -> String {
    let header = if index < FRONT { "front" } else { "rest" };
    format!("hdr.{header}.v{index}")
}

fn register(index: usize) -> String {
    "    Register<int<32>, index_t>(CELLS, 0) value_{i};
    RegisterAction<int<32>, index_t, bit<32>>(value_{i}) put_{i} = {
        void apply(inout int<32> slot) {
            slot = (int<32>){field};
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_{i}) sum_{i} = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>){field};
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_{i}) top_{i} = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < {field}) {
                slot = (int<32>){field};
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
    @hidden action raise_{i}() { {field} = top_{i}.execute(meta.slot); }
    @hidden action read_{i}() { {field} = get_{i}.execute(meta.slot); }
"
    .replace("{i}", &index.to_string())
    .replace("{field}", &field(index))
}

fn table(index: usize, first: bool, stage: usize) -> String {
    let actions = format!("store_{index}; add_{index}; raise_{index}; read_{index};");
    let action = |mode: &str| format!("{}_{index}()", mode.to_lowercase());
    if first {
        return format!("    @stage({stage})\n") + &by_fate(&format!("use_{index}"), &actions, action);
    }
    let entries: String =
        MODES.iter().map(|mode| format!("            Mode.{mode}: {};\n", action(mode))).collect();
    format!(
        "    @stage({stage})
    @hidden table use_{index} {{
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

const MODES: [&str; 4] = ["STORE", "ADD", "RAISE", "READ"];

/// Returns a table that decides by the operation on the slot, and by whether the sender's bitmap index is in
/// it.
fn by_fate(name: &str, actions: &str, action: impl Fn(&str) -> String) -> String {
    let [store, add, raise, read] = MODES.map(action);
    let (repeats, of_sizes) = (rows("Mode.ADD", &read), rows("Mode.RAISE", &read));
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
{of_sizes}            (Mode.RAISE, _, _, _): {raise};
        }}
        size = 131;
    }}

"
    )
}

/// Tables that look at these values, and the block that applies them. If the values are summed from the stage
/// `first` on, each table is in the stage behind its values.
fn limits(indices: &[usize], first: Option<usize>) -> String {
    let (mut tables, mut applied) = (String::new(), String::new());
    let mut summed = 0;
    for values in indices.chunks(PER_LIMITS) {
        summed += values.len();
        let stage = first.map(|first| first + summed.div_ceil(PER_STAGE));
        tables += &limits_of(values, stage);
        applied += &format!("        limits_from_{}.apply();\n", values[0]);
    }
    format!("{tables}    apply {{\n{applied}    }}\n")
}

fn limits_of(values: &[usize], stage: Option<usize>) -> String {
    let stage = stage.map(|stage| format!("    @stage({stage})\n")).unwrap_or_default();
    let key: String =
        values.iter().map(|&index| format!("            {}: ternary;\n", field(index))).collect();
    let mut entries = String::new();
    for at in values {
        for limit in ["0x7fffffff", "0x80000000"] {
            let row: Vec<_> = values.iter().map(|index| if index == at { limit } else { "_" }).collect();
            entries += &format!("            ({}): note();\n", row.join(", "));
        }
    }
    let (start, size) = (values[0], 2 * values.len());
    format!(
        "{stage}    @hidden table limits_from_{start} {{
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
