parser InArtParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_INART: inart;
            default: accept;
        }
    }

    state inart {
        packet.extract(hdr.inart);
        transition select(hdr.inart.version, hdr.inart.kind) {
            (VERSION, Kind.GRADIENT): values;
            (VERSION, Kind.PARTIAL): values;
            default: accept;
        }
    }

    state values {
        packet.extract(hdr.values);
        transition accept;
    }
}
