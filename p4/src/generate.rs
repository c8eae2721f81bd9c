//! The part of the program that repeats for every value of a frame, printed from their number.

use inart_wire::ValuesPerFrame;

/// Path of [`values_p4`], relative to the P4 folder.
pub fn generated_path(values: ValuesPerFrame) -> String {
    format!("generated/values_n{values}.p4")
}

/// Returns the P4 source of `generated/values_n{values}.p4`: the header that holds the values of a frame, and
/// the control that keeps one register per value.
///
/// Every action is the same statements for each value, so that a switch which compiles the program can run
/// the values side by side. Sums wrap at first; a second action saturates them in the rare frame in which one
/// did not fit, which is cheaper than saturating all of them always.
pub fn values_p4(values: ValuesPerFrame) -> String {
    let for_each = |statements: &[&str]| -> String {
        (0..values.get())
            .flat_map(|index| {
                statements.iter().map(move |statement| statement.replace("{i}", &index.to_string()) + "\n")
            })
            .collect()
    };
    let fields = for_each(&["    bit<32> v{i};"]);
    let registers = for_each(&["    register<bit<32>, slot_t>(SLOTS) value_{i};"]);
    let add = for_each(&[
        "        value_{i}.read(meta.stored, meta.slot);",
        "        values.v{i} = values.v{i} + meta.stored;",
        "        meta.overflow = meta.overflow | (((values.v{i} - meta.stored) ^ values.v{i}) & (meta.stored ^ values.v{i}));",
    ]);
    let saturate = for_each(&[
        "        value_{i}.read(meta.stored, meta.slot);",
        "        values.v{i} = (bit<32>)((int<32>)(values.v{i} - meta.stored) |+| (int<32>)meta.stored);",
    ]);
    let raise = for_each(&[
        "        value_{i}.read(meta.stored, meta.slot);",
        "        values.v{i} = (values.v{i} |-| meta.stored) + meta.stored;",
    ]);
    let store = for_each(&["        value_{i}.write(meta.slot, values.v{i});"]);
    let load = for_each(&["        value_{i}.read(values.v{i}, meta.slot);"]);
    format!(
        "// Printed by p4/src/generate.rs: change that, not this.

const bit<16> VALUES = {values};

header values_h {{
{fields}}}

// The values of the slots, two's complement. Unsigned, since bmv2 forgets the sign of a signed register.
control SlotValues(inout values_h values, inout metadata_t meta) {{
{registers}
    // A sum did not fit if its sign is neither term's: the sign bit of `overflow` remembers that of any sum.
    @hidden action add_values() {{
{add}    }}

    // After add_values, which wrapped: take the slot's value away again and add it as it should be.
    @hidden action saturate_values() {{
        meta.flags = meta.flags | FLAG_OVERFLOW;
{saturate}    }}

    // Of sizes the greatest counts: what a value has above the slot's, and the slot's.
    @hidden action raise_values() {{
{raise}    }}

    @hidden action store_values() {{
{store}    }}

    @hidden action load_values() {{
{load}    }}

    apply {{
        if (meta.outcome == Outcome.ADDED) {{
            if (meta.shape[31:24] == EXPONENT_MAXIMA) {{
                raise_values();
            }} else {{
                add_values();
                if (meta.overflow[31:31] == 1) {{
                    saturate_values();
                }}
            }}
        }}
        if (meta.outcome == Outcome.STORED || meta.outcome == Outcome.ADDED) {{
            store_values();
        }} else if (meta.outcome == Outcome.REPEATED) {{
            load_values();
        }}
    }}
}}
"
    )
}
