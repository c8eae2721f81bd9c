//! The part of the program for Tofino that repeats for every value of a frame.

use inart_wire::ValuesPerPacket;

use super::seats::rows;
use super::{PRINTED, for_each};

/// Registers in a stage. As many values are decided on by what decides on the mode, so that they need no
/// stage after it.
const PER_STAGE: usize = 4;

/// Values in one table that looks for limits: what the ternary crossbar of a stage takes in twice.
const PER_LIMITS: usize = 8;

/// The P4 source of `tofino/generated/values_n{values}.p4`: the header that holds the values of a frame.
pub fn values_p4(values: ValuesPerPacket) -> String {
    let fields = for_each(values.get(), "    bit<32> v{i};\n");
    format!(
        "{PRINTED}
const bit<16> VALUES = {values};

header values_h {{
{fields}}}
"
    )
}

/// The P4 source of `tofino/generated/slots_n{values}.p4`: a register and a table for each value, and the
/// tables that look for sums which did not fit.
pub fn slots_p4(values: ValuesPerPacket) -> String {
    let n = values.get();
    let registers: String = (0..n).map(|index| register(index) + &table(index)).collect();
    let decide = by_fate("decide", "set_mode;", |mode| format!("set_mode(Mode.{mode})"));
    let (first, later) = (applied(0..PER_STAGE.min(n)), applied(PER_STAGE.min(n)..n));
    let limits: String = (0..n).step_by(PER_LIMITS).map(|start| limits(start, n)).collect();
    let looked = for_each(n.div_ceil(PER_LIMITS), "        limits_{i}.apply();\n");
    format!(
        "{PRINTED}
// The values of the slots. A sum that does not fit stays at the limit, whatever is added then. So a value at a limit tells that there
// was an overflow, or that a value was that large; egress sets the flag for both. The first values are decided on by what decides on
// the mode, so that they need no stage after it.
control SlotValues(inout ingress_headers_t hdr, inout ingress_metadata_t meta) {{
{registers}    @hidden action set_mode(Mode mode) {{ meta.mode = mode; }}
{decide}    apply {{
{first}        decide.apply();
{later}    }}
}}

// Is a value at a limit?
control Limits(in egress_headers_t hdr, inout egress_metadata_t meta) {{
    @hidden action note() {{ meta.limit = 1; }}

{limits}    apply {{
{looked}    }}
}}
"
    )
}

fn applied(indices: std::ops::Range<usize>) -> String {
    indices.map(|index| format!("        use_{index}.apply();\n")).collect()
}

fn register(index: usize) -> String {
    "    Register<int<32>, index_t>(SLOTS, 0) value_{i};
    RegisterAction<int<32>, index_t, bit<32>>(value_{i}) put_{i} = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.values.v{i};
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_{i}) sum_{i} = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot != LOWEST) {
                slot = slot |+| (int<32>)hdr.values.v{i};
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
    @hidden action add_{i}() { hdr.values.v{i} = sum_{i}.execute(meta.slot); }
    @hidden action read_{i}() { hdr.values.v{i} = get_{i}.execute(meta.slot); }
"
    .replace("{i}", &index.to_string())
}

fn table(index: usize) -> String {
    let actions = format!("store_{index}; add_{index}; read_{index};");
    let action = |mode: &str| format!("{}_{index}()", mode.to_lowercase());
    if index < PER_STAGE {
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

fn limits(start: usize, values: usize) -> String {
    let end = (start + PER_LIMITS).min(values);
    let key: String = (start..end).map(|i| format!("            hdr.values.v{i}: ternary;\n")).collect();
    let mut entries = String::new();
    for at in start..end {
        for limit in ["0x7fffffff", "0x80000000"] {
            let fields: Vec<_> = (start..end).map(|i| if i == at { limit } else { "_" }).collect();
            entries += &format!("            ({}): note();\n", fields.join(", "));
        }
    }
    let (number, size) = (start / PER_LIMITS, 2 * (end - start));
    format!(
        "    @hidden table limits_{number} {{
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
