parser InArtParser(packet_in packet, out ingress_headers_t hdr, out ingress_metadata_t meta,
                   out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta.inart = 0;
        meta.sound = 0;
        meta.in_block = 0;
        meta.reason = Reason.NONE;
        meta.outcome = Outcome.FORWARDED;
        meta.route = Route.NONE;
        meta.port = 0;
        meta.ingress = intrinsic.ingress_port;
        meta.base = 0;
        meta.masked = 0;
        meta.foreign_hi = 0;
        meta.foreign_lo = 0;
        meta.absent_hi = 0;
        meta.absent_lo = 0;
        meta.expected_hi = 0;
        meta.expected_lo = 0;
        meta.trusted = 0;
        meta.replicated = 0;
        meta.group = 0;
        meta.sent = 0;
        meta.mark = 0;
        meta.part = 0;
        meta.slot = 0;
        meta.claimed = 0;
        meta.taken = 0;
        meta.other_sequence = 0;
        meta.other_run = 0;
        meta.other_plan = 0;
        meta.fate = Mode.NONE;
        meta.mode = Mode.NONE;
        meta.seen_hi = 0;
        meta.seen_lo = 0;
        meta.missing_hi = 0;
        meta.missing_lo = 0;
        meta.sticky = 0;
#if PASSES == 2
        meta.complete_before = 0;
        meta.limit_before = 0;
        meta.loop = 0;
        meta.around = 0;
#endif
#if PASSES == 2
        transition select(intrinsic.ingress_port) {
            RECIRCULATION_PORT &&& PORT_IN_PIPE: again;
            default: first;
        }
    }

    // Whatever is not known again is known from the first pass: the frame may be added to the slot.
    state again {
        meta.class = Class.AGAIN;
        meta.inart = 1;
        meta.sound = 1;
        meta.in_block = 1;
        meta.route = Route.ADD;
        packet.extract(hdr.before);
        meta.complete_before = hdr.before.complete[0:0];
        meta.limit_before = hdr.before.limit[0:0];
        meta.ingress = hdr.before.ingress[8:0];
        meta.port = hdr.before.port[8:0];
        meta.base = hdr.before.slot;
        meta.masked = SECOND_PASS;
        meta.expected_hi = hdr.before.expected_hi;
        meta.expected_lo = hdr.before.expected_lo;
        packet.extract(hdr.ethernet);
        packet.extract(hdr.inart);
        packet.extract(hdr.front_done);
        packet.extract(hdr.front);
        packet.extract(hdr.rest_done);
        packet.extract(hdr.rest);
        transition accept;
    }

    state first {
#endif
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_INART: inart;
            ETHERTYPE_VLAN: tag_0;
            ETHERTYPE_SERVICE: tag_0;
            ETHERTYPE_STACKED: tag_0;
            default: other;
        }
    }

    state tag_0 {
        packet.extract(hdr.tags[0]);
        transition select(hdr.tags[0].ether_type) {
            ETHERTYPE_INART: tagged;
            ETHERTYPE_VLAN: tag_1;
            ETHERTYPE_SERVICE: tag_1;
            ETHERTYPE_STACKED: tag_1;
            default: other;
        }
    }

    state tag_1 {
        packet.extract(hdr.tags[1]);
        transition select(hdr.tags[1].ether_type) {
            ETHERTYPE_INART: tagged;
            ETHERTYPE_VLAN: tag_2;
            ETHERTYPE_SERVICE: tag_2;
            ETHERTYPE_STACKED: tag_2;
            default: other;
        }
    }

    state tag_2 {
        packet.extract(hdr.tags[2]);
        transition select(hdr.tags[2].ether_type) {
            ETHERTYPE_INART: tagged;
            ETHERTYPE_VLAN: tag_3;
            ETHERTYPE_SERVICE: tag_3;
            ETHERTYPE_STACKED: tag_3;
            default: other;
        }
    }

    // More tags than this are refused for that alone.
    state tag_3 {
        packet.extract(hdr.tags[3]);
        transition select(hdr.tags[3].ether_type) {
            ETHERTYPE_INART: tagged;
            ETHERTYPE_VLAN: tagged;
            ETHERTYPE_SERVICE: tagged;
            ETHERTYPE_STACKED: tagged;
            default: other;
        }
    }

    state tagged {
        meta.class = Class.TAGGED;
        transition accept;
    }

    state other {
        meta.class = Class.OTHER;
        transition accept;
    }

    state inart {
        meta.inart = 1;
        packet.extract(hdr.inart);
        transition select(hdr.inart.version, hdr.inart.kind) {
            (VERSION, (bit<4>)Kind.GRADIENT): values;
            (VERSION, (bit<4>)Kind.PARTIAL): values;
            (VERSION, (bit<4>)Kind.RESULT): result;
            (VERSION, (bit<4>)Kind.PROBE): message;
            (VERSION, (bit<4>)Kind.CONTROL): message;
            default: malformed;
        }
    }

    state values {
        meta.class = Class.VALUES;
        packet.extract(hdr.front);
#if PASSES == 2
        packet.extract(hdr.front_later);
#endif
        packet.extract(hdr.rest);
#if PASSES == 2
        packet.extract(hdr.rest_later);
#endif
        transition accept;
    }

    state result {
        meta.class = Class.RESULT;
        transition accept;
    }

    state message {
        meta.class = Class.MESSAGE;
        transition accept;
    }

    state malformed {
        meta.class = Class.MALFORMED;
        transition accept;
    }
}
