// Is the frame well formed? Needs no table, so it comes before all of them.
control Check(in headers_t hdr, in standard_metadata_t standard_metadata, out Reason reason) {
    apply {
        reason = Reason.NONE;
        if (standard_metadata.parser_error == error.TaggedInArt
            || standard_metadata.parser_error == error.StackOutOfBounds) {
            reason = Reason.TAGGED;
        } else if (standard_metadata.parser_error != error.NoError) {
            reason = Reason.TOO_SHORT;
        } else if (hdr.inart.isValid()) {
            if (hdr.inart.version != VERSION) {
                reason = Reason.BAD_VERSION;
            } else if ((bit<4>)hdr.inart.kind == 0 || (bit<4>)hdr.inart.kind > (bit<4>)KIND_UPDATE) {
                reason = Reason.UNKNOWN_KIND;
            } else if (standard_metadata.packet_length != FRAME_BYTES) {
                reason = Reason.WRONG_SIZE;
            } else if ((hdr.inart.flags & ~FLAGS_KNOWN) != 0) {
                reason = Reason.UNKNOWN_FLAG;
            } else if (hdr.inart.length > VALUES
                       || (hdr.inart.length == 0
                           && ((bit<4>)hdr.inart.kind <= (bit<4>)Kind.RESULT || hdr.inart.kind == KIND_UPDATE))) {
                reason = Reason.BAD_LENGTH;
            } else if (hdr.inart.kind == KIND_UPDATE && hdr.inart.contributors == 0) {
                reason = Reason.BAD_CONTRIBUTORS;
            } else if (hdr.values.isValid()) {
                // 1 << worker[5:0]. bmv2 shifts by eight bits at most, p4testgen by as many as are shifted, or by constants.
                bit<64> own = (bit<64>)(8w1 << (bit<8>)hdr.inart.worker[2:0]);
                if (hdr.inart.worker[3:3] == 1) {
                    own = own << 8;
                }
                if (hdr.inart.worker[4:4] == 1) {
                    own = own << 16;
                }
                if (hdr.inart.worker[5:5] == 1) {
                    own = own << 32;
                }
                if ((bit<16>)hdr.inart.group != hdr.inart.worker >> 6) {
                    reason = Reason.BAD_GROUP;
                } else if ((hdr.inart.contributors & own) == 0
                           || (hdr.inart.kind == Kind.GRADIENT && hdr.inart.contributors != own)) {
                    reason = Reason.BAD_CONTRIBUTORS;
                }
            }
        }
    }
}
