error {
    TaggedInArt                 // a host's kernel takes tags off, and what is behind them for a frame that the switches checked
}

parser InArtParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_INART: inart;
            ETHERTYPE_VLAN: tagged;
            ETHERTYPE_SERVICE: tagged;
            ETHERTYPE_STACKED: tagged;
            default: accept;
        }
    }

    // More tags than there is room for are error.StackOutOfBounds.
    state tagged {
        packet.extract(hdr.tags.next);
        verify(hdr.tags.last.ether_type != ETHERTYPE_INART, error.TaggedInArt);
        transition select(hdr.tags.last.ether_type) {
            ETHERTYPE_VLAN: tagged;
            ETHERTYPE_SERVICE: tagged;
            ETHERTYPE_STACKED: tagged;
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
