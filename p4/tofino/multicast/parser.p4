parser InArtParser(packet_in packet, out ingress_headers_t hdr, out ingress_metadata_t meta,
                   out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta.inart = 0;
        meta.is_update = 0;
        meta.ingress = intrinsic.ingress_port;
        meta.reason = Reason.NONE;
        meta.trusted = 0;
        meta.replicated = 0;
        meta.group = 0;
        meta.sent = 0;
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
            (VERSION, (bit<4>)KIND_UPDATE): update;
            (VERSION, (bit<4>)Kind.PROBE): message;
            (VERSION, (bit<4>)Kind.CONTROL): message;
            (VERSION, (bit<4>)Kind.GRADIENT): values;
            (VERSION, (bit<4>)Kind.PARTIAL): values;
            (VERSION, (bit<4>)Kind.RESULT): result;
            default: malformed;
        }
    }

    state update {
        meta.class = Class.UPDATE;
        meta.is_update = 1;
        transition accept;
    }

    state message {
        meta.class = Class.MESSAGE;
        transition accept;
    }

    state values {
        meta.class = Class.VALUES;
        transition accept;
    }

    state result {
        meta.class = Class.RESULT;
        transition accept;
    }

    state malformed {
        meta.class = Class.MALFORMED;
        transition accept;
    }
}
