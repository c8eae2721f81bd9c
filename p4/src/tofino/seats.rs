//! The part of the program for Tofino that repeats for every bitmap index of a block.

use std::fmt::Write as _;

use super::printed::PRINTED;

const SEATS: u32 = 64;
const BLOCKS: u32 = 256;

/// Returns the P4 source of `tofino/generated/seats.p4`: tables with a row per bitmap index, or per
/// block of bitmap indices.
pub fn seats_p4() -> String {
    let (mut gradients, mut bits, mut blocks) = (String::new(), String::new(), String::new());
    for seat in 0..SEATS {
        let [hi, lo] = halves(seat, "0", |bit| bit.to_owned());
        let _ = writeln!(gradients, "            ((bit<4>)Kind.GRADIENT, {seat}, {hi}, {lo}): vouch();");
        let _ = writeln!(bits, "            ({seat}, 0): sit({hi}, {lo}, 0, 0);");
        let _ = writeln!(bits, "            ({seat}, 1): sit({hi}, {lo}, {hi}, {lo});");
    }
    for block in 0..BLOCKS {
        let _ = writeln!(blocks, "            ({block}, {block}): place();");
    }
    let partials = rows("(bit<4>)Kind.PARTIAL", "vouch()");
    format!(
        "{PRINTED}
// Do a gradient's contributors consist of its worker, and a partial's contain it?
control Senders(in ingress_headers_t hdr, inout ingress_metadata_t meta) {{
    @hidden action vouch() {{ meta.sound = 1; }}

    @stage(0)
    @hidden table senders {{
        key = {{
            hdr.inart.kind: ternary;
            hdr.inart.worker[5:0]: ternary @name(\"seat\");
            hdr.inart.contributors_hi: ternary;
            hdr.inart.contributors_lo: ternary;
        }}
        actions = {{ vouch; @defaultonly NoAction; }}
        const default_action = NoAction();
        const entries = {{
{gradients}{partials}        }}
        size = 128;
    }}

    apply {{
        senders.apply();
    }}
}}

// Is the group the block of 64 seats that the worker is in?
control Blocks(in ingress_headers_t hdr, inout ingress_metadata_t meta) {{
    @hidden action place() {{ meta.in_block = 1; }}

    @stage(0)
    @hidden table blocks {{
        key = {{
            hdr.inart.worker[15:6]: exact @name(\"block\");
            hdr.inart.form[31:24]: exact @name(\"group\");
        }}
        actions = {{ place; @defaultonly NoAction; }}
        const default_action = NoAction();
        const entries = {{
{blocks}        }}
        size = 256;
    }}

    apply {{
        blocks.apply();
    }}
}}

// The bit of the worker's seat, and what `asked` begins with if its frame completes a slot.
control Seats(in egress_headers_t hdr, inout egress_metadata_t meta) {{
    @hidden action sit(bit<32> hi, bit<32> lo, bit<32> start_hi, bit<32> start_lo) {{
        meta.own_hi = hi;
        meta.own_lo = lo;
        meta.start_hi = start_hi;
        meta.start_lo = start_lo;
    }}

    @hidden table seats {{
        key = {{
            hdr.inart.worker[5:0]: exact @name(\"seat\");
            hdr.inart.flags[0:0]: exact @name(\"resend\");
        }}
        actions = {{ sit; @defaultonly NoAction; }}
        const default_action = NoAction();
        const entries = {{
{bits}        }}
        size = 128;
    }}

    apply {{
        seats.apply();
    }}
}}
"
    )
}

/// Returns a row for each bitmap index that is in the bitmap behind it: the key's first field, the bitmap
/// index, and both halves.
pub(super) fn rows(first: &str, action: &str) -> String {
    let mut rows = String::new();
    for seat in 0..SEATS {
        let [hi, lo] = halves(seat, "_", |bit| format!("{bit} &&& {bit}"));
        let _ = writeln!(rows, "            ({first}, {seat}, {hi}, {lo}): {action};");
    }
    rows
}

/// Returns the upper and the lower half of a bitmap: the one with the bitmap index's bit, and another.
fn halves(seat: u32, other: &str, with: impl Fn(&str) -> String) -> [String; 2] {
    let half = with(&format!("{:#010x}", 1_u32 << (seat % 32)));
    if seat < 32 { [other.to_owned(), half] } else { [half, other.to_owned()] }
}
