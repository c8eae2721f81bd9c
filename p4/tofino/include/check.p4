// Is the frame well formed? One table, so that the first stage decides; the first row that fits counts. What it cannot see is
// whether a frame is too long: egress does (drop reason wrong size).
control Check(in ingress_headers_t hdr, inout ingress_metadata_t meta,
              in ingress_intrinsic_metadata_from_parser_t parsed) {
    @hidden action refuse_frame(Reason reason) {
        meta.reason = reason;
    }

    @stage(0)
    @hidden table check {
        key = {
            meta.class: ternary;
            parsed.parser_err: range;
            hdr.inart.version: range;
            hdr.inart.kind: range;
            hdr.inart.flags: ternary;
            hdr.inart.form[15:0]: range @name("length");
        }
        actions = { refuse_frame; NoAction; }
        const default_action = NoAction();
        const entries = {
            (Class.AGAIN, _, _, _, _, _): NoAction();
            (Class.TAGGED, _, _, _, _, _): refuse_frame(Reason.TAGGED);
            (_, 1 .. 0xffff, _, _, _, _): refuse_frame(Reason.TOO_SHORT);
            (Class.OTHER, _, _, _, _, _): NoAction();
            (_, _, 0 .. 2, _, _, _): refuse_frame(Reason.BAD_VERSION);
            (_, _, 4 .. 15, _, _, _): refuse_frame(Reason.BAD_VERSION);
            (_, _, _, 0 .. 0, _, _): refuse_frame(Reason.UNKNOWN_KIND);
            (_, _, _, 6 .. 15, _, _): refuse_frame(Reason.UNKNOWN_KIND);
            (_, _, _, _, 0x20 &&& 0x20, _): refuse_frame(Reason.UNKNOWN_FLAG);
            (_, _, _, _, 0x40 &&& 0x40, _): refuse_frame(Reason.UNKNOWN_FLAG);
            (_, _, _, _, 0x80 &&& 0x80, _): refuse_frame(Reason.UNKNOWN_FLAG);
            (_, _, _, _, _, VALUES + 1 .. 0xffff): refuse_frame(Reason.BAD_LENGTH);
            (_, _, _, 1 .. 3, _, 0 .. 0): refuse_frame(Reason.BAD_LENGTH);
        }
        size = 16;
    }

    apply {
        check.apply();
    }
}
