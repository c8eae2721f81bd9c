// Printed by p4/src/tofino/: change that, not this.

// The values of the slots. A sum that does not fit stays at the limit, whatever is added then. So a
// value at a limit tells that there was an overflow, or that a value was that large; egress sets the
// flag for both. The first values are decided on by what decides on the mode, so that they need no
// stage after it.
control SlotValues(inout ingress_headers_t hdr, inout ingress_metadata_t meta) {
    Register<int<32>, index_t>(CELLS, 0) value_63;
    RegisterAction<int<32>, index_t, bit<32>>(value_63) put_63 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v63;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_63) sum_63 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v63;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_63) top_63 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v63) {
                slot = (int<32>)hdr.rest.v63;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_63) get_63 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_63() { put_63.execute(meta.slot); }
    @hidden action add_63() { hdr.rest.v63 = sum_63.execute(meta.slot); }
    @hidden action raise_63() { hdr.rest.v63 = top_63.execute(meta.slot); }
    @hidden action read_63() { hdr.rest.v63 = get_63.execute(meta.slot); }
    @stage(4)
    @hidden table use_63 {
        key = {
            meta.fate: ternary;
            hdr.inart.worker[5:0]: ternary @name("seat");
            meta.seen_hi: ternary;
            meta.seen_lo: ternary;
        }
        actions = { store_63; add_63; raise_63; read_63; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (Mode.STORE, _, _, _): store_63();
            (Mode.ADD, 0, _, 0x00000001 &&& 0x00000001): read_63();
            (Mode.ADD, 1, _, 0x00000002 &&& 0x00000002): read_63();
            (Mode.ADD, 2, _, 0x00000004 &&& 0x00000004): read_63();
            (Mode.ADD, 3, _, 0x00000008 &&& 0x00000008): read_63();
            (Mode.ADD, 4, _, 0x00000010 &&& 0x00000010): read_63();
            (Mode.ADD, 5, _, 0x00000020 &&& 0x00000020): read_63();
            (Mode.ADD, 6, _, 0x00000040 &&& 0x00000040): read_63();
            (Mode.ADD, 7, _, 0x00000080 &&& 0x00000080): read_63();
            (Mode.ADD, 8, _, 0x00000100 &&& 0x00000100): read_63();
            (Mode.ADD, 9, _, 0x00000200 &&& 0x00000200): read_63();
            (Mode.ADD, 10, _, 0x00000400 &&& 0x00000400): read_63();
            (Mode.ADD, 11, _, 0x00000800 &&& 0x00000800): read_63();
            (Mode.ADD, 12, _, 0x00001000 &&& 0x00001000): read_63();
            (Mode.ADD, 13, _, 0x00002000 &&& 0x00002000): read_63();
            (Mode.ADD, 14, _, 0x00004000 &&& 0x00004000): read_63();
            (Mode.ADD, 15, _, 0x00008000 &&& 0x00008000): read_63();
            (Mode.ADD, 16, _, 0x00010000 &&& 0x00010000): read_63();
            (Mode.ADD, 17, _, 0x00020000 &&& 0x00020000): read_63();
            (Mode.ADD, 18, _, 0x00040000 &&& 0x00040000): read_63();
            (Mode.ADD, 19, _, 0x00080000 &&& 0x00080000): read_63();
            (Mode.ADD, 20, _, 0x00100000 &&& 0x00100000): read_63();
            (Mode.ADD, 21, _, 0x00200000 &&& 0x00200000): read_63();
            (Mode.ADD, 22, _, 0x00400000 &&& 0x00400000): read_63();
            (Mode.ADD, 23, _, 0x00800000 &&& 0x00800000): read_63();
            (Mode.ADD, 24, _, 0x01000000 &&& 0x01000000): read_63();
            (Mode.ADD, 25, _, 0x02000000 &&& 0x02000000): read_63();
            (Mode.ADD, 26, _, 0x04000000 &&& 0x04000000): read_63();
            (Mode.ADD, 27, _, 0x08000000 &&& 0x08000000): read_63();
            (Mode.ADD, 28, _, 0x10000000 &&& 0x10000000): read_63();
            (Mode.ADD, 29, _, 0x20000000 &&& 0x20000000): read_63();
            (Mode.ADD, 30, _, 0x40000000 &&& 0x40000000): read_63();
            (Mode.ADD, 31, _, 0x80000000 &&& 0x80000000): read_63();
            (Mode.ADD, 32, 0x00000001 &&& 0x00000001, _): read_63();
            (Mode.ADD, 33, 0x00000002 &&& 0x00000002, _): read_63();
            (Mode.ADD, 34, 0x00000004 &&& 0x00000004, _): read_63();
            (Mode.ADD, 35, 0x00000008 &&& 0x00000008, _): read_63();
            (Mode.ADD, 36, 0x00000010 &&& 0x00000010, _): read_63();
            (Mode.ADD, 37, 0x00000020 &&& 0x00000020, _): read_63();
            (Mode.ADD, 38, 0x00000040 &&& 0x00000040, _): read_63();
            (Mode.ADD, 39, 0x00000080 &&& 0x00000080, _): read_63();
            (Mode.ADD, 40, 0x00000100 &&& 0x00000100, _): read_63();
            (Mode.ADD, 41, 0x00000200 &&& 0x00000200, _): read_63();
            (Mode.ADD, 42, 0x00000400 &&& 0x00000400, _): read_63();
            (Mode.ADD, 43, 0x00000800 &&& 0x00000800, _): read_63();
            (Mode.ADD, 44, 0x00001000 &&& 0x00001000, _): read_63();
            (Mode.ADD, 45, 0x00002000 &&& 0x00002000, _): read_63();
            (Mode.ADD, 46, 0x00004000 &&& 0x00004000, _): read_63();
            (Mode.ADD, 47, 0x00008000 &&& 0x00008000, _): read_63();
            (Mode.ADD, 48, 0x00010000 &&& 0x00010000, _): read_63();
            (Mode.ADD, 49, 0x00020000 &&& 0x00020000, _): read_63();
            (Mode.ADD, 50, 0x00040000 &&& 0x00040000, _): read_63();
            (Mode.ADD, 51, 0x00080000 &&& 0x00080000, _): read_63();
            (Mode.ADD, 52, 0x00100000 &&& 0x00100000, _): read_63();
            (Mode.ADD, 53, 0x00200000 &&& 0x00200000, _): read_63();
            (Mode.ADD, 54, 0x00400000 &&& 0x00400000, _): read_63();
            (Mode.ADD, 55, 0x00800000 &&& 0x00800000, _): read_63();
            (Mode.ADD, 56, 0x01000000 &&& 0x01000000, _): read_63();
            (Mode.ADD, 57, 0x02000000 &&& 0x02000000, _): read_63();
            (Mode.ADD, 58, 0x04000000 &&& 0x04000000, _): read_63();
            (Mode.ADD, 59, 0x08000000 &&& 0x08000000, _): read_63();
            (Mode.ADD, 60, 0x10000000 &&& 0x10000000, _): read_63();
            (Mode.ADD, 61, 0x20000000 &&& 0x20000000, _): read_63();
            (Mode.ADD, 62, 0x40000000 &&& 0x40000000, _): read_63();
            (Mode.ADD, 63, 0x80000000 &&& 0x80000000, _): read_63();
            (Mode.ADD, _, _, _): add_63();
            (Mode.RAISE, 0, _, 0x00000001 &&& 0x00000001): read_63();
            (Mode.RAISE, 1, _, 0x00000002 &&& 0x00000002): read_63();
            (Mode.RAISE, 2, _, 0x00000004 &&& 0x00000004): read_63();
            (Mode.RAISE, 3, _, 0x00000008 &&& 0x00000008): read_63();
            (Mode.RAISE, 4, _, 0x00000010 &&& 0x00000010): read_63();
            (Mode.RAISE, 5, _, 0x00000020 &&& 0x00000020): read_63();
            (Mode.RAISE, 6, _, 0x00000040 &&& 0x00000040): read_63();
            (Mode.RAISE, 7, _, 0x00000080 &&& 0x00000080): read_63();
            (Mode.RAISE, 8, _, 0x00000100 &&& 0x00000100): read_63();
            (Mode.RAISE, 9, _, 0x00000200 &&& 0x00000200): read_63();
            (Mode.RAISE, 10, _, 0x00000400 &&& 0x00000400): read_63();
            (Mode.RAISE, 11, _, 0x00000800 &&& 0x00000800): read_63();
            (Mode.RAISE, 12, _, 0x00001000 &&& 0x00001000): read_63();
            (Mode.RAISE, 13, _, 0x00002000 &&& 0x00002000): read_63();
            (Mode.RAISE, 14, _, 0x00004000 &&& 0x00004000): read_63();
            (Mode.RAISE, 15, _, 0x00008000 &&& 0x00008000): read_63();
            (Mode.RAISE, 16, _, 0x00010000 &&& 0x00010000): read_63();
            (Mode.RAISE, 17, _, 0x00020000 &&& 0x00020000): read_63();
            (Mode.RAISE, 18, _, 0x00040000 &&& 0x00040000): read_63();
            (Mode.RAISE, 19, _, 0x00080000 &&& 0x00080000): read_63();
            (Mode.RAISE, 20, _, 0x00100000 &&& 0x00100000): read_63();
            (Mode.RAISE, 21, _, 0x00200000 &&& 0x00200000): read_63();
            (Mode.RAISE, 22, _, 0x00400000 &&& 0x00400000): read_63();
            (Mode.RAISE, 23, _, 0x00800000 &&& 0x00800000): read_63();
            (Mode.RAISE, 24, _, 0x01000000 &&& 0x01000000): read_63();
            (Mode.RAISE, 25, _, 0x02000000 &&& 0x02000000): read_63();
            (Mode.RAISE, 26, _, 0x04000000 &&& 0x04000000): read_63();
            (Mode.RAISE, 27, _, 0x08000000 &&& 0x08000000): read_63();
            (Mode.RAISE, 28, _, 0x10000000 &&& 0x10000000): read_63();
            (Mode.RAISE, 29, _, 0x20000000 &&& 0x20000000): read_63();
            (Mode.RAISE, 30, _, 0x40000000 &&& 0x40000000): read_63();
            (Mode.RAISE, 31, _, 0x80000000 &&& 0x80000000): read_63();
            (Mode.RAISE, 32, 0x00000001 &&& 0x00000001, _): read_63();
            (Mode.RAISE, 33, 0x00000002 &&& 0x00000002, _): read_63();
            (Mode.RAISE, 34, 0x00000004 &&& 0x00000004, _): read_63();
            (Mode.RAISE, 35, 0x00000008 &&& 0x00000008, _): read_63();
            (Mode.RAISE, 36, 0x00000010 &&& 0x00000010, _): read_63();
            (Mode.RAISE, 37, 0x00000020 &&& 0x00000020, _): read_63();
            (Mode.RAISE, 38, 0x00000040 &&& 0x00000040, _): read_63();
            (Mode.RAISE, 39, 0x00000080 &&& 0x00000080, _): read_63();
            (Mode.RAISE, 40, 0x00000100 &&& 0x00000100, _): read_63();
            (Mode.RAISE, 41, 0x00000200 &&& 0x00000200, _): read_63();
            (Mode.RAISE, 42, 0x00000400 &&& 0x00000400, _): read_63();
            (Mode.RAISE, 43, 0x00000800 &&& 0x00000800, _): read_63();
            (Mode.RAISE, 44, 0x00001000 &&& 0x00001000, _): read_63();
            (Mode.RAISE, 45, 0x00002000 &&& 0x00002000, _): read_63();
            (Mode.RAISE, 46, 0x00004000 &&& 0x00004000, _): read_63();
            (Mode.RAISE, 47, 0x00008000 &&& 0x00008000, _): read_63();
            (Mode.RAISE, 48, 0x00010000 &&& 0x00010000, _): read_63();
            (Mode.RAISE, 49, 0x00020000 &&& 0x00020000, _): read_63();
            (Mode.RAISE, 50, 0x00040000 &&& 0x00040000, _): read_63();
            (Mode.RAISE, 51, 0x00080000 &&& 0x00080000, _): read_63();
            (Mode.RAISE, 52, 0x00100000 &&& 0x00100000, _): read_63();
            (Mode.RAISE, 53, 0x00200000 &&& 0x00200000, _): read_63();
            (Mode.RAISE, 54, 0x00400000 &&& 0x00400000, _): read_63();
            (Mode.RAISE, 55, 0x00800000 &&& 0x00800000, _): read_63();
            (Mode.RAISE, 56, 0x01000000 &&& 0x01000000, _): read_63();
            (Mode.RAISE, 57, 0x02000000 &&& 0x02000000, _): read_63();
            (Mode.RAISE, 58, 0x04000000 &&& 0x04000000, _): read_63();
            (Mode.RAISE, 59, 0x08000000 &&& 0x08000000, _): read_63();
            (Mode.RAISE, 60, 0x10000000 &&& 0x10000000, _): read_63();
            (Mode.RAISE, 61, 0x20000000 &&& 0x20000000, _): read_63();
            (Mode.RAISE, 62, 0x40000000 &&& 0x40000000, _): read_63();
            (Mode.RAISE, 63, 0x80000000 &&& 0x80000000, _): read_63();
            (Mode.RAISE, _, _, _): raise_63();
        }
        size = 131;
    }

    Register<int<32>, index_t>(CELLS, 0) value_62;
    RegisterAction<int<32>, index_t, bit<32>>(value_62) put_62 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v62;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_62) sum_62 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v62;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_62) top_62 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v62) {
                slot = (int<32>)hdr.rest.v62;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_62) get_62 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_62() { put_62.execute(meta.slot); }
    @hidden action add_62() { hdr.rest.v62 = sum_62.execute(meta.slot); }
    @hidden action raise_62() { hdr.rest.v62 = top_62.execute(meta.slot); }
    @hidden action read_62() { hdr.rest.v62 = get_62.execute(meta.slot); }
    @stage(4)
    @hidden table use_62 {
        key = {
            meta.fate: ternary;
            hdr.inart.worker[5:0]: ternary @name("seat");
            meta.seen_hi: ternary;
            meta.seen_lo: ternary;
        }
        actions = { store_62; add_62; raise_62; read_62; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (Mode.STORE, _, _, _): store_62();
            (Mode.ADD, 0, _, 0x00000001 &&& 0x00000001): read_62();
            (Mode.ADD, 1, _, 0x00000002 &&& 0x00000002): read_62();
            (Mode.ADD, 2, _, 0x00000004 &&& 0x00000004): read_62();
            (Mode.ADD, 3, _, 0x00000008 &&& 0x00000008): read_62();
            (Mode.ADD, 4, _, 0x00000010 &&& 0x00000010): read_62();
            (Mode.ADD, 5, _, 0x00000020 &&& 0x00000020): read_62();
            (Mode.ADD, 6, _, 0x00000040 &&& 0x00000040): read_62();
            (Mode.ADD, 7, _, 0x00000080 &&& 0x00000080): read_62();
            (Mode.ADD, 8, _, 0x00000100 &&& 0x00000100): read_62();
            (Mode.ADD, 9, _, 0x00000200 &&& 0x00000200): read_62();
            (Mode.ADD, 10, _, 0x00000400 &&& 0x00000400): read_62();
            (Mode.ADD, 11, _, 0x00000800 &&& 0x00000800): read_62();
            (Mode.ADD, 12, _, 0x00001000 &&& 0x00001000): read_62();
            (Mode.ADD, 13, _, 0x00002000 &&& 0x00002000): read_62();
            (Mode.ADD, 14, _, 0x00004000 &&& 0x00004000): read_62();
            (Mode.ADD, 15, _, 0x00008000 &&& 0x00008000): read_62();
            (Mode.ADD, 16, _, 0x00010000 &&& 0x00010000): read_62();
            (Mode.ADD, 17, _, 0x00020000 &&& 0x00020000): read_62();
            (Mode.ADD, 18, _, 0x00040000 &&& 0x00040000): read_62();
            (Mode.ADD, 19, _, 0x00080000 &&& 0x00080000): read_62();
            (Mode.ADD, 20, _, 0x00100000 &&& 0x00100000): read_62();
            (Mode.ADD, 21, _, 0x00200000 &&& 0x00200000): read_62();
            (Mode.ADD, 22, _, 0x00400000 &&& 0x00400000): read_62();
            (Mode.ADD, 23, _, 0x00800000 &&& 0x00800000): read_62();
            (Mode.ADD, 24, _, 0x01000000 &&& 0x01000000): read_62();
            (Mode.ADD, 25, _, 0x02000000 &&& 0x02000000): read_62();
            (Mode.ADD, 26, _, 0x04000000 &&& 0x04000000): read_62();
            (Mode.ADD, 27, _, 0x08000000 &&& 0x08000000): read_62();
            (Mode.ADD, 28, _, 0x10000000 &&& 0x10000000): read_62();
            (Mode.ADD, 29, _, 0x20000000 &&& 0x20000000): read_62();
            (Mode.ADD, 30, _, 0x40000000 &&& 0x40000000): read_62();
            (Mode.ADD, 31, _, 0x80000000 &&& 0x80000000): read_62();
            (Mode.ADD, 32, 0x00000001 &&& 0x00000001, _): read_62();
            (Mode.ADD, 33, 0x00000002 &&& 0x00000002, _): read_62();
            (Mode.ADD, 34, 0x00000004 &&& 0x00000004, _): read_62();
            (Mode.ADD, 35, 0x00000008 &&& 0x00000008, _): read_62();
            (Mode.ADD, 36, 0x00000010 &&& 0x00000010, _): read_62();
            (Mode.ADD, 37, 0x00000020 &&& 0x00000020, _): read_62();
            (Mode.ADD, 38, 0x00000040 &&& 0x00000040, _): read_62();
            (Mode.ADD, 39, 0x00000080 &&& 0x00000080, _): read_62();
            (Mode.ADD, 40, 0x00000100 &&& 0x00000100, _): read_62();
            (Mode.ADD, 41, 0x00000200 &&& 0x00000200, _): read_62();
            (Mode.ADD, 42, 0x00000400 &&& 0x00000400, _): read_62();
            (Mode.ADD, 43, 0x00000800 &&& 0x00000800, _): read_62();
            (Mode.ADD, 44, 0x00001000 &&& 0x00001000, _): read_62();
            (Mode.ADD, 45, 0x00002000 &&& 0x00002000, _): read_62();
            (Mode.ADD, 46, 0x00004000 &&& 0x00004000, _): read_62();
            (Mode.ADD, 47, 0x00008000 &&& 0x00008000, _): read_62();
            (Mode.ADD, 48, 0x00010000 &&& 0x00010000, _): read_62();
            (Mode.ADD, 49, 0x00020000 &&& 0x00020000, _): read_62();
            (Mode.ADD, 50, 0x00040000 &&& 0x00040000, _): read_62();
            (Mode.ADD, 51, 0x00080000 &&& 0x00080000, _): read_62();
            (Mode.ADD, 52, 0x00100000 &&& 0x00100000, _): read_62();
            (Mode.ADD, 53, 0x00200000 &&& 0x00200000, _): read_62();
            (Mode.ADD, 54, 0x00400000 &&& 0x00400000, _): read_62();
            (Mode.ADD, 55, 0x00800000 &&& 0x00800000, _): read_62();
            (Mode.ADD, 56, 0x01000000 &&& 0x01000000, _): read_62();
            (Mode.ADD, 57, 0x02000000 &&& 0x02000000, _): read_62();
            (Mode.ADD, 58, 0x04000000 &&& 0x04000000, _): read_62();
            (Mode.ADD, 59, 0x08000000 &&& 0x08000000, _): read_62();
            (Mode.ADD, 60, 0x10000000 &&& 0x10000000, _): read_62();
            (Mode.ADD, 61, 0x20000000 &&& 0x20000000, _): read_62();
            (Mode.ADD, 62, 0x40000000 &&& 0x40000000, _): read_62();
            (Mode.ADD, 63, 0x80000000 &&& 0x80000000, _): read_62();
            (Mode.ADD, _, _, _): add_62();
            (Mode.RAISE, 0, _, 0x00000001 &&& 0x00000001): read_62();
            (Mode.RAISE, 1, _, 0x00000002 &&& 0x00000002): read_62();
            (Mode.RAISE, 2, _, 0x00000004 &&& 0x00000004): read_62();
            (Mode.RAISE, 3, _, 0x00000008 &&& 0x00000008): read_62();
            (Mode.RAISE, 4, _, 0x00000010 &&& 0x00000010): read_62();
            (Mode.RAISE, 5, _, 0x00000020 &&& 0x00000020): read_62();
            (Mode.RAISE, 6, _, 0x00000040 &&& 0x00000040): read_62();
            (Mode.RAISE, 7, _, 0x00000080 &&& 0x00000080): read_62();
            (Mode.RAISE, 8, _, 0x00000100 &&& 0x00000100): read_62();
            (Mode.RAISE, 9, _, 0x00000200 &&& 0x00000200): read_62();
            (Mode.RAISE, 10, _, 0x00000400 &&& 0x00000400): read_62();
            (Mode.RAISE, 11, _, 0x00000800 &&& 0x00000800): read_62();
            (Mode.RAISE, 12, _, 0x00001000 &&& 0x00001000): read_62();
            (Mode.RAISE, 13, _, 0x00002000 &&& 0x00002000): read_62();
            (Mode.RAISE, 14, _, 0x00004000 &&& 0x00004000): read_62();
            (Mode.RAISE, 15, _, 0x00008000 &&& 0x00008000): read_62();
            (Mode.RAISE, 16, _, 0x00010000 &&& 0x00010000): read_62();
            (Mode.RAISE, 17, _, 0x00020000 &&& 0x00020000): read_62();
            (Mode.RAISE, 18, _, 0x00040000 &&& 0x00040000): read_62();
            (Mode.RAISE, 19, _, 0x00080000 &&& 0x00080000): read_62();
            (Mode.RAISE, 20, _, 0x00100000 &&& 0x00100000): read_62();
            (Mode.RAISE, 21, _, 0x00200000 &&& 0x00200000): read_62();
            (Mode.RAISE, 22, _, 0x00400000 &&& 0x00400000): read_62();
            (Mode.RAISE, 23, _, 0x00800000 &&& 0x00800000): read_62();
            (Mode.RAISE, 24, _, 0x01000000 &&& 0x01000000): read_62();
            (Mode.RAISE, 25, _, 0x02000000 &&& 0x02000000): read_62();
            (Mode.RAISE, 26, _, 0x04000000 &&& 0x04000000): read_62();
            (Mode.RAISE, 27, _, 0x08000000 &&& 0x08000000): read_62();
            (Mode.RAISE, 28, _, 0x10000000 &&& 0x10000000): read_62();
            (Mode.RAISE, 29, _, 0x20000000 &&& 0x20000000): read_62();
            (Mode.RAISE, 30, _, 0x40000000 &&& 0x40000000): read_62();
            (Mode.RAISE, 31, _, 0x80000000 &&& 0x80000000): read_62();
            (Mode.RAISE, 32, 0x00000001 &&& 0x00000001, _): read_62();
            (Mode.RAISE, 33, 0x00000002 &&& 0x00000002, _): read_62();
            (Mode.RAISE, 34, 0x00000004 &&& 0x00000004, _): read_62();
            (Mode.RAISE, 35, 0x00000008 &&& 0x00000008, _): read_62();
            (Mode.RAISE, 36, 0x00000010 &&& 0x00000010, _): read_62();
            (Mode.RAISE, 37, 0x00000020 &&& 0x00000020, _): read_62();
            (Mode.RAISE, 38, 0x00000040 &&& 0x00000040, _): read_62();
            (Mode.RAISE, 39, 0x00000080 &&& 0x00000080, _): read_62();
            (Mode.RAISE, 40, 0x00000100 &&& 0x00000100, _): read_62();
            (Mode.RAISE, 41, 0x00000200 &&& 0x00000200, _): read_62();
            (Mode.RAISE, 42, 0x00000400 &&& 0x00000400, _): read_62();
            (Mode.RAISE, 43, 0x00000800 &&& 0x00000800, _): read_62();
            (Mode.RAISE, 44, 0x00001000 &&& 0x00001000, _): read_62();
            (Mode.RAISE, 45, 0x00002000 &&& 0x00002000, _): read_62();
            (Mode.RAISE, 46, 0x00004000 &&& 0x00004000, _): read_62();
            (Mode.RAISE, 47, 0x00008000 &&& 0x00008000, _): read_62();
            (Mode.RAISE, 48, 0x00010000 &&& 0x00010000, _): read_62();
            (Mode.RAISE, 49, 0x00020000 &&& 0x00020000, _): read_62();
            (Mode.RAISE, 50, 0x00040000 &&& 0x00040000, _): read_62();
            (Mode.RAISE, 51, 0x00080000 &&& 0x00080000, _): read_62();
            (Mode.RAISE, 52, 0x00100000 &&& 0x00100000, _): read_62();
            (Mode.RAISE, 53, 0x00200000 &&& 0x00200000, _): read_62();
            (Mode.RAISE, 54, 0x00400000 &&& 0x00400000, _): read_62();
            (Mode.RAISE, 55, 0x00800000 &&& 0x00800000, _): read_62();
            (Mode.RAISE, 56, 0x01000000 &&& 0x01000000, _): read_62();
            (Mode.RAISE, 57, 0x02000000 &&& 0x02000000, _): read_62();
            (Mode.RAISE, 58, 0x04000000 &&& 0x04000000, _): read_62();
            (Mode.RAISE, 59, 0x08000000 &&& 0x08000000, _): read_62();
            (Mode.RAISE, 60, 0x10000000 &&& 0x10000000, _): read_62();
            (Mode.RAISE, 61, 0x20000000 &&& 0x20000000, _): read_62();
            (Mode.RAISE, 62, 0x40000000 &&& 0x40000000, _): read_62();
            (Mode.RAISE, 63, 0x80000000 &&& 0x80000000, _): read_62();
            (Mode.RAISE, _, _, _): raise_62();
        }
        size = 131;
    }

    Register<int<32>, index_t>(CELLS, 0) value_61;
    RegisterAction<int<32>, index_t, bit<32>>(value_61) put_61 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v61;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_61) sum_61 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v61;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_61) top_61 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v61) {
                slot = (int<32>)hdr.rest.v61;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_61) get_61 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_61() { put_61.execute(meta.slot); }
    @hidden action add_61() { hdr.rest.v61 = sum_61.execute(meta.slot); }
    @hidden action raise_61() { hdr.rest.v61 = top_61.execute(meta.slot); }
    @hidden action read_61() { hdr.rest.v61 = get_61.execute(meta.slot); }
    @stage(4)
    @hidden table use_61 {
        key = {
            meta.fate: ternary;
            hdr.inart.worker[5:0]: ternary @name("seat");
            meta.seen_hi: ternary;
            meta.seen_lo: ternary;
        }
        actions = { store_61; add_61; raise_61; read_61; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (Mode.STORE, _, _, _): store_61();
            (Mode.ADD, 0, _, 0x00000001 &&& 0x00000001): read_61();
            (Mode.ADD, 1, _, 0x00000002 &&& 0x00000002): read_61();
            (Mode.ADD, 2, _, 0x00000004 &&& 0x00000004): read_61();
            (Mode.ADD, 3, _, 0x00000008 &&& 0x00000008): read_61();
            (Mode.ADD, 4, _, 0x00000010 &&& 0x00000010): read_61();
            (Mode.ADD, 5, _, 0x00000020 &&& 0x00000020): read_61();
            (Mode.ADD, 6, _, 0x00000040 &&& 0x00000040): read_61();
            (Mode.ADD, 7, _, 0x00000080 &&& 0x00000080): read_61();
            (Mode.ADD, 8, _, 0x00000100 &&& 0x00000100): read_61();
            (Mode.ADD, 9, _, 0x00000200 &&& 0x00000200): read_61();
            (Mode.ADD, 10, _, 0x00000400 &&& 0x00000400): read_61();
            (Mode.ADD, 11, _, 0x00000800 &&& 0x00000800): read_61();
            (Mode.ADD, 12, _, 0x00001000 &&& 0x00001000): read_61();
            (Mode.ADD, 13, _, 0x00002000 &&& 0x00002000): read_61();
            (Mode.ADD, 14, _, 0x00004000 &&& 0x00004000): read_61();
            (Mode.ADD, 15, _, 0x00008000 &&& 0x00008000): read_61();
            (Mode.ADD, 16, _, 0x00010000 &&& 0x00010000): read_61();
            (Mode.ADD, 17, _, 0x00020000 &&& 0x00020000): read_61();
            (Mode.ADD, 18, _, 0x00040000 &&& 0x00040000): read_61();
            (Mode.ADD, 19, _, 0x00080000 &&& 0x00080000): read_61();
            (Mode.ADD, 20, _, 0x00100000 &&& 0x00100000): read_61();
            (Mode.ADD, 21, _, 0x00200000 &&& 0x00200000): read_61();
            (Mode.ADD, 22, _, 0x00400000 &&& 0x00400000): read_61();
            (Mode.ADD, 23, _, 0x00800000 &&& 0x00800000): read_61();
            (Mode.ADD, 24, _, 0x01000000 &&& 0x01000000): read_61();
            (Mode.ADD, 25, _, 0x02000000 &&& 0x02000000): read_61();
            (Mode.ADD, 26, _, 0x04000000 &&& 0x04000000): read_61();
            (Mode.ADD, 27, _, 0x08000000 &&& 0x08000000): read_61();
            (Mode.ADD, 28, _, 0x10000000 &&& 0x10000000): read_61();
            (Mode.ADD, 29, _, 0x20000000 &&& 0x20000000): read_61();
            (Mode.ADD, 30, _, 0x40000000 &&& 0x40000000): read_61();
            (Mode.ADD, 31, _, 0x80000000 &&& 0x80000000): read_61();
            (Mode.ADD, 32, 0x00000001 &&& 0x00000001, _): read_61();
            (Mode.ADD, 33, 0x00000002 &&& 0x00000002, _): read_61();
            (Mode.ADD, 34, 0x00000004 &&& 0x00000004, _): read_61();
            (Mode.ADD, 35, 0x00000008 &&& 0x00000008, _): read_61();
            (Mode.ADD, 36, 0x00000010 &&& 0x00000010, _): read_61();
            (Mode.ADD, 37, 0x00000020 &&& 0x00000020, _): read_61();
            (Mode.ADD, 38, 0x00000040 &&& 0x00000040, _): read_61();
            (Mode.ADD, 39, 0x00000080 &&& 0x00000080, _): read_61();
            (Mode.ADD, 40, 0x00000100 &&& 0x00000100, _): read_61();
            (Mode.ADD, 41, 0x00000200 &&& 0x00000200, _): read_61();
            (Mode.ADD, 42, 0x00000400 &&& 0x00000400, _): read_61();
            (Mode.ADD, 43, 0x00000800 &&& 0x00000800, _): read_61();
            (Mode.ADD, 44, 0x00001000 &&& 0x00001000, _): read_61();
            (Mode.ADD, 45, 0x00002000 &&& 0x00002000, _): read_61();
            (Mode.ADD, 46, 0x00004000 &&& 0x00004000, _): read_61();
            (Mode.ADD, 47, 0x00008000 &&& 0x00008000, _): read_61();
            (Mode.ADD, 48, 0x00010000 &&& 0x00010000, _): read_61();
            (Mode.ADD, 49, 0x00020000 &&& 0x00020000, _): read_61();
            (Mode.ADD, 50, 0x00040000 &&& 0x00040000, _): read_61();
            (Mode.ADD, 51, 0x00080000 &&& 0x00080000, _): read_61();
            (Mode.ADD, 52, 0x00100000 &&& 0x00100000, _): read_61();
            (Mode.ADD, 53, 0x00200000 &&& 0x00200000, _): read_61();
            (Mode.ADD, 54, 0x00400000 &&& 0x00400000, _): read_61();
            (Mode.ADD, 55, 0x00800000 &&& 0x00800000, _): read_61();
            (Mode.ADD, 56, 0x01000000 &&& 0x01000000, _): read_61();
            (Mode.ADD, 57, 0x02000000 &&& 0x02000000, _): read_61();
            (Mode.ADD, 58, 0x04000000 &&& 0x04000000, _): read_61();
            (Mode.ADD, 59, 0x08000000 &&& 0x08000000, _): read_61();
            (Mode.ADD, 60, 0x10000000 &&& 0x10000000, _): read_61();
            (Mode.ADD, 61, 0x20000000 &&& 0x20000000, _): read_61();
            (Mode.ADD, 62, 0x40000000 &&& 0x40000000, _): read_61();
            (Mode.ADD, 63, 0x80000000 &&& 0x80000000, _): read_61();
            (Mode.ADD, _, _, _): add_61();
            (Mode.RAISE, 0, _, 0x00000001 &&& 0x00000001): read_61();
            (Mode.RAISE, 1, _, 0x00000002 &&& 0x00000002): read_61();
            (Mode.RAISE, 2, _, 0x00000004 &&& 0x00000004): read_61();
            (Mode.RAISE, 3, _, 0x00000008 &&& 0x00000008): read_61();
            (Mode.RAISE, 4, _, 0x00000010 &&& 0x00000010): read_61();
            (Mode.RAISE, 5, _, 0x00000020 &&& 0x00000020): read_61();
            (Mode.RAISE, 6, _, 0x00000040 &&& 0x00000040): read_61();
            (Mode.RAISE, 7, _, 0x00000080 &&& 0x00000080): read_61();
            (Mode.RAISE, 8, _, 0x00000100 &&& 0x00000100): read_61();
            (Mode.RAISE, 9, _, 0x00000200 &&& 0x00000200): read_61();
            (Mode.RAISE, 10, _, 0x00000400 &&& 0x00000400): read_61();
            (Mode.RAISE, 11, _, 0x00000800 &&& 0x00000800): read_61();
            (Mode.RAISE, 12, _, 0x00001000 &&& 0x00001000): read_61();
            (Mode.RAISE, 13, _, 0x00002000 &&& 0x00002000): read_61();
            (Mode.RAISE, 14, _, 0x00004000 &&& 0x00004000): read_61();
            (Mode.RAISE, 15, _, 0x00008000 &&& 0x00008000): read_61();
            (Mode.RAISE, 16, _, 0x00010000 &&& 0x00010000): read_61();
            (Mode.RAISE, 17, _, 0x00020000 &&& 0x00020000): read_61();
            (Mode.RAISE, 18, _, 0x00040000 &&& 0x00040000): read_61();
            (Mode.RAISE, 19, _, 0x00080000 &&& 0x00080000): read_61();
            (Mode.RAISE, 20, _, 0x00100000 &&& 0x00100000): read_61();
            (Mode.RAISE, 21, _, 0x00200000 &&& 0x00200000): read_61();
            (Mode.RAISE, 22, _, 0x00400000 &&& 0x00400000): read_61();
            (Mode.RAISE, 23, _, 0x00800000 &&& 0x00800000): read_61();
            (Mode.RAISE, 24, _, 0x01000000 &&& 0x01000000): read_61();
            (Mode.RAISE, 25, _, 0x02000000 &&& 0x02000000): read_61();
            (Mode.RAISE, 26, _, 0x04000000 &&& 0x04000000): read_61();
            (Mode.RAISE, 27, _, 0x08000000 &&& 0x08000000): read_61();
            (Mode.RAISE, 28, _, 0x10000000 &&& 0x10000000): read_61();
            (Mode.RAISE, 29, _, 0x20000000 &&& 0x20000000): read_61();
            (Mode.RAISE, 30, _, 0x40000000 &&& 0x40000000): read_61();
            (Mode.RAISE, 31, _, 0x80000000 &&& 0x80000000): read_61();
            (Mode.RAISE, 32, 0x00000001 &&& 0x00000001, _): read_61();
            (Mode.RAISE, 33, 0x00000002 &&& 0x00000002, _): read_61();
            (Mode.RAISE, 34, 0x00000004 &&& 0x00000004, _): read_61();
            (Mode.RAISE, 35, 0x00000008 &&& 0x00000008, _): read_61();
            (Mode.RAISE, 36, 0x00000010 &&& 0x00000010, _): read_61();
            (Mode.RAISE, 37, 0x00000020 &&& 0x00000020, _): read_61();
            (Mode.RAISE, 38, 0x00000040 &&& 0x00000040, _): read_61();
            (Mode.RAISE, 39, 0x00000080 &&& 0x00000080, _): read_61();
            (Mode.RAISE, 40, 0x00000100 &&& 0x00000100, _): read_61();
            (Mode.RAISE, 41, 0x00000200 &&& 0x00000200, _): read_61();
            (Mode.RAISE, 42, 0x00000400 &&& 0x00000400, _): read_61();
            (Mode.RAISE, 43, 0x00000800 &&& 0x00000800, _): read_61();
            (Mode.RAISE, 44, 0x00001000 &&& 0x00001000, _): read_61();
            (Mode.RAISE, 45, 0x00002000 &&& 0x00002000, _): read_61();
            (Mode.RAISE, 46, 0x00004000 &&& 0x00004000, _): read_61();
            (Mode.RAISE, 47, 0x00008000 &&& 0x00008000, _): read_61();
            (Mode.RAISE, 48, 0x00010000 &&& 0x00010000, _): read_61();
            (Mode.RAISE, 49, 0x00020000 &&& 0x00020000, _): read_61();
            (Mode.RAISE, 50, 0x00040000 &&& 0x00040000, _): read_61();
            (Mode.RAISE, 51, 0x00080000 &&& 0x00080000, _): read_61();
            (Mode.RAISE, 52, 0x00100000 &&& 0x00100000, _): read_61();
            (Mode.RAISE, 53, 0x00200000 &&& 0x00200000, _): read_61();
            (Mode.RAISE, 54, 0x00400000 &&& 0x00400000, _): read_61();
            (Mode.RAISE, 55, 0x00800000 &&& 0x00800000, _): read_61();
            (Mode.RAISE, 56, 0x01000000 &&& 0x01000000, _): read_61();
            (Mode.RAISE, 57, 0x02000000 &&& 0x02000000, _): read_61();
            (Mode.RAISE, 58, 0x04000000 &&& 0x04000000, _): read_61();
            (Mode.RAISE, 59, 0x08000000 &&& 0x08000000, _): read_61();
            (Mode.RAISE, 60, 0x10000000 &&& 0x10000000, _): read_61();
            (Mode.RAISE, 61, 0x20000000 &&& 0x20000000, _): read_61();
            (Mode.RAISE, 62, 0x40000000 &&& 0x40000000, _): read_61();
            (Mode.RAISE, 63, 0x80000000 &&& 0x80000000, _): read_61();
            (Mode.RAISE, _, _, _): raise_61();
        }
        size = 131;
    }

    Register<int<32>, index_t>(CELLS, 0) value_60;
    RegisterAction<int<32>, index_t, bit<32>>(value_60) put_60 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v60;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_60) sum_60 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v60;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_60) top_60 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v60) {
                slot = (int<32>)hdr.rest.v60;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_60) get_60 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_60() { put_60.execute(meta.slot); }
    @hidden action add_60() { hdr.rest.v60 = sum_60.execute(meta.slot); }
    @hidden action raise_60() { hdr.rest.v60 = top_60.execute(meta.slot); }
    @hidden action read_60() { hdr.rest.v60 = get_60.execute(meta.slot); }
    @stage(4)
    @hidden table use_60 {
        key = {
            meta.fate: ternary;
            hdr.inart.worker[5:0]: ternary @name("seat");
            meta.seen_hi: ternary;
            meta.seen_lo: ternary;
        }
        actions = { store_60; add_60; raise_60; read_60; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (Mode.STORE, _, _, _): store_60();
            (Mode.ADD, 0, _, 0x00000001 &&& 0x00000001): read_60();
            (Mode.ADD, 1, _, 0x00000002 &&& 0x00000002): read_60();
            (Mode.ADD, 2, _, 0x00000004 &&& 0x00000004): read_60();
            (Mode.ADD, 3, _, 0x00000008 &&& 0x00000008): read_60();
            (Mode.ADD, 4, _, 0x00000010 &&& 0x00000010): read_60();
            (Mode.ADD, 5, _, 0x00000020 &&& 0x00000020): read_60();
            (Mode.ADD, 6, _, 0x00000040 &&& 0x00000040): read_60();
            (Mode.ADD, 7, _, 0x00000080 &&& 0x00000080): read_60();
            (Mode.ADD, 8, _, 0x00000100 &&& 0x00000100): read_60();
            (Mode.ADD, 9, _, 0x00000200 &&& 0x00000200): read_60();
            (Mode.ADD, 10, _, 0x00000400 &&& 0x00000400): read_60();
            (Mode.ADD, 11, _, 0x00000800 &&& 0x00000800): read_60();
            (Mode.ADD, 12, _, 0x00001000 &&& 0x00001000): read_60();
            (Mode.ADD, 13, _, 0x00002000 &&& 0x00002000): read_60();
            (Mode.ADD, 14, _, 0x00004000 &&& 0x00004000): read_60();
            (Mode.ADD, 15, _, 0x00008000 &&& 0x00008000): read_60();
            (Mode.ADD, 16, _, 0x00010000 &&& 0x00010000): read_60();
            (Mode.ADD, 17, _, 0x00020000 &&& 0x00020000): read_60();
            (Mode.ADD, 18, _, 0x00040000 &&& 0x00040000): read_60();
            (Mode.ADD, 19, _, 0x00080000 &&& 0x00080000): read_60();
            (Mode.ADD, 20, _, 0x00100000 &&& 0x00100000): read_60();
            (Mode.ADD, 21, _, 0x00200000 &&& 0x00200000): read_60();
            (Mode.ADD, 22, _, 0x00400000 &&& 0x00400000): read_60();
            (Mode.ADD, 23, _, 0x00800000 &&& 0x00800000): read_60();
            (Mode.ADD, 24, _, 0x01000000 &&& 0x01000000): read_60();
            (Mode.ADD, 25, _, 0x02000000 &&& 0x02000000): read_60();
            (Mode.ADD, 26, _, 0x04000000 &&& 0x04000000): read_60();
            (Mode.ADD, 27, _, 0x08000000 &&& 0x08000000): read_60();
            (Mode.ADD, 28, _, 0x10000000 &&& 0x10000000): read_60();
            (Mode.ADD, 29, _, 0x20000000 &&& 0x20000000): read_60();
            (Mode.ADD, 30, _, 0x40000000 &&& 0x40000000): read_60();
            (Mode.ADD, 31, _, 0x80000000 &&& 0x80000000): read_60();
            (Mode.ADD, 32, 0x00000001 &&& 0x00000001, _): read_60();
            (Mode.ADD, 33, 0x00000002 &&& 0x00000002, _): read_60();
            (Mode.ADD, 34, 0x00000004 &&& 0x00000004, _): read_60();
            (Mode.ADD, 35, 0x00000008 &&& 0x00000008, _): read_60();
            (Mode.ADD, 36, 0x00000010 &&& 0x00000010, _): read_60();
            (Mode.ADD, 37, 0x00000020 &&& 0x00000020, _): read_60();
            (Mode.ADD, 38, 0x00000040 &&& 0x00000040, _): read_60();
            (Mode.ADD, 39, 0x00000080 &&& 0x00000080, _): read_60();
            (Mode.ADD, 40, 0x00000100 &&& 0x00000100, _): read_60();
            (Mode.ADD, 41, 0x00000200 &&& 0x00000200, _): read_60();
            (Mode.ADD, 42, 0x00000400 &&& 0x00000400, _): read_60();
            (Mode.ADD, 43, 0x00000800 &&& 0x00000800, _): read_60();
            (Mode.ADD, 44, 0x00001000 &&& 0x00001000, _): read_60();
            (Mode.ADD, 45, 0x00002000 &&& 0x00002000, _): read_60();
            (Mode.ADD, 46, 0x00004000 &&& 0x00004000, _): read_60();
            (Mode.ADD, 47, 0x00008000 &&& 0x00008000, _): read_60();
            (Mode.ADD, 48, 0x00010000 &&& 0x00010000, _): read_60();
            (Mode.ADD, 49, 0x00020000 &&& 0x00020000, _): read_60();
            (Mode.ADD, 50, 0x00040000 &&& 0x00040000, _): read_60();
            (Mode.ADD, 51, 0x00080000 &&& 0x00080000, _): read_60();
            (Mode.ADD, 52, 0x00100000 &&& 0x00100000, _): read_60();
            (Mode.ADD, 53, 0x00200000 &&& 0x00200000, _): read_60();
            (Mode.ADD, 54, 0x00400000 &&& 0x00400000, _): read_60();
            (Mode.ADD, 55, 0x00800000 &&& 0x00800000, _): read_60();
            (Mode.ADD, 56, 0x01000000 &&& 0x01000000, _): read_60();
            (Mode.ADD, 57, 0x02000000 &&& 0x02000000, _): read_60();
            (Mode.ADD, 58, 0x04000000 &&& 0x04000000, _): read_60();
            (Mode.ADD, 59, 0x08000000 &&& 0x08000000, _): read_60();
            (Mode.ADD, 60, 0x10000000 &&& 0x10000000, _): read_60();
            (Mode.ADD, 61, 0x20000000 &&& 0x20000000, _): read_60();
            (Mode.ADD, 62, 0x40000000 &&& 0x40000000, _): read_60();
            (Mode.ADD, 63, 0x80000000 &&& 0x80000000, _): read_60();
            (Mode.ADD, _, _, _): add_60();
            (Mode.RAISE, 0, _, 0x00000001 &&& 0x00000001): read_60();
            (Mode.RAISE, 1, _, 0x00000002 &&& 0x00000002): read_60();
            (Mode.RAISE, 2, _, 0x00000004 &&& 0x00000004): read_60();
            (Mode.RAISE, 3, _, 0x00000008 &&& 0x00000008): read_60();
            (Mode.RAISE, 4, _, 0x00000010 &&& 0x00000010): read_60();
            (Mode.RAISE, 5, _, 0x00000020 &&& 0x00000020): read_60();
            (Mode.RAISE, 6, _, 0x00000040 &&& 0x00000040): read_60();
            (Mode.RAISE, 7, _, 0x00000080 &&& 0x00000080): read_60();
            (Mode.RAISE, 8, _, 0x00000100 &&& 0x00000100): read_60();
            (Mode.RAISE, 9, _, 0x00000200 &&& 0x00000200): read_60();
            (Mode.RAISE, 10, _, 0x00000400 &&& 0x00000400): read_60();
            (Mode.RAISE, 11, _, 0x00000800 &&& 0x00000800): read_60();
            (Mode.RAISE, 12, _, 0x00001000 &&& 0x00001000): read_60();
            (Mode.RAISE, 13, _, 0x00002000 &&& 0x00002000): read_60();
            (Mode.RAISE, 14, _, 0x00004000 &&& 0x00004000): read_60();
            (Mode.RAISE, 15, _, 0x00008000 &&& 0x00008000): read_60();
            (Mode.RAISE, 16, _, 0x00010000 &&& 0x00010000): read_60();
            (Mode.RAISE, 17, _, 0x00020000 &&& 0x00020000): read_60();
            (Mode.RAISE, 18, _, 0x00040000 &&& 0x00040000): read_60();
            (Mode.RAISE, 19, _, 0x00080000 &&& 0x00080000): read_60();
            (Mode.RAISE, 20, _, 0x00100000 &&& 0x00100000): read_60();
            (Mode.RAISE, 21, _, 0x00200000 &&& 0x00200000): read_60();
            (Mode.RAISE, 22, _, 0x00400000 &&& 0x00400000): read_60();
            (Mode.RAISE, 23, _, 0x00800000 &&& 0x00800000): read_60();
            (Mode.RAISE, 24, _, 0x01000000 &&& 0x01000000): read_60();
            (Mode.RAISE, 25, _, 0x02000000 &&& 0x02000000): read_60();
            (Mode.RAISE, 26, _, 0x04000000 &&& 0x04000000): read_60();
            (Mode.RAISE, 27, _, 0x08000000 &&& 0x08000000): read_60();
            (Mode.RAISE, 28, _, 0x10000000 &&& 0x10000000): read_60();
            (Mode.RAISE, 29, _, 0x20000000 &&& 0x20000000): read_60();
            (Mode.RAISE, 30, _, 0x40000000 &&& 0x40000000): read_60();
            (Mode.RAISE, 31, _, 0x80000000 &&& 0x80000000): read_60();
            (Mode.RAISE, 32, 0x00000001 &&& 0x00000001, _): read_60();
            (Mode.RAISE, 33, 0x00000002 &&& 0x00000002, _): read_60();
            (Mode.RAISE, 34, 0x00000004 &&& 0x00000004, _): read_60();
            (Mode.RAISE, 35, 0x00000008 &&& 0x00000008, _): read_60();
            (Mode.RAISE, 36, 0x00000010 &&& 0x00000010, _): read_60();
            (Mode.RAISE, 37, 0x00000020 &&& 0x00000020, _): read_60();
            (Mode.RAISE, 38, 0x00000040 &&& 0x00000040, _): read_60();
            (Mode.RAISE, 39, 0x00000080 &&& 0x00000080, _): read_60();
            (Mode.RAISE, 40, 0x00000100 &&& 0x00000100, _): read_60();
            (Mode.RAISE, 41, 0x00000200 &&& 0x00000200, _): read_60();
            (Mode.RAISE, 42, 0x00000400 &&& 0x00000400, _): read_60();
            (Mode.RAISE, 43, 0x00000800 &&& 0x00000800, _): read_60();
            (Mode.RAISE, 44, 0x00001000 &&& 0x00001000, _): read_60();
            (Mode.RAISE, 45, 0x00002000 &&& 0x00002000, _): read_60();
            (Mode.RAISE, 46, 0x00004000 &&& 0x00004000, _): read_60();
            (Mode.RAISE, 47, 0x00008000 &&& 0x00008000, _): read_60();
            (Mode.RAISE, 48, 0x00010000 &&& 0x00010000, _): read_60();
            (Mode.RAISE, 49, 0x00020000 &&& 0x00020000, _): read_60();
            (Mode.RAISE, 50, 0x00040000 &&& 0x00040000, _): read_60();
            (Mode.RAISE, 51, 0x00080000 &&& 0x00080000, _): read_60();
            (Mode.RAISE, 52, 0x00100000 &&& 0x00100000, _): read_60();
            (Mode.RAISE, 53, 0x00200000 &&& 0x00200000, _): read_60();
            (Mode.RAISE, 54, 0x00400000 &&& 0x00400000, _): read_60();
            (Mode.RAISE, 55, 0x00800000 &&& 0x00800000, _): read_60();
            (Mode.RAISE, 56, 0x01000000 &&& 0x01000000, _): read_60();
            (Mode.RAISE, 57, 0x02000000 &&& 0x02000000, _): read_60();
            (Mode.RAISE, 58, 0x04000000 &&& 0x04000000, _): read_60();
            (Mode.RAISE, 59, 0x08000000 &&& 0x08000000, _): read_60();
            (Mode.RAISE, 60, 0x10000000 &&& 0x10000000, _): read_60();
            (Mode.RAISE, 61, 0x20000000 &&& 0x20000000, _): read_60();
            (Mode.RAISE, 62, 0x40000000 &&& 0x40000000, _): read_60();
            (Mode.RAISE, 63, 0x80000000 &&& 0x80000000, _): read_60();
            (Mode.RAISE, _, _, _): raise_60();
        }
        size = 131;
    }

    Register<int<32>, index_t>(CELLS, 0) value_59;
    RegisterAction<int<32>, index_t, bit<32>>(value_59) put_59 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v59;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_59) sum_59 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v59;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_59) top_59 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v59) {
                slot = (int<32>)hdr.rest.v59;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_59) get_59 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_59() { put_59.execute(meta.slot); }
    @hidden action add_59() { hdr.rest.v59 = sum_59.execute(meta.slot); }
    @hidden action raise_59() { hdr.rest.v59 = top_59.execute(meta.slot); }
    @hidden action read_59() { hdr.rest.v59 = get_59.execute(meta.slot); }
    @stage(5)
    @hidden table use_59 {
        key = { meta.mode: exact; }
        actions = { store_59; add_59; raise_59; read_59; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_59();
            Mode.ADD: add_59();
            Mode.RAISE: raise_59();
            Mode.READ: read_59();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_58;
    RegisterAction<int<32>, index_t, bit<32>>(value_58) put_58 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v58;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_58) sum_58 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v58;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_58) top_58 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v58) {
                slot = (int<32>)hdr.rest.v58;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_58) get_58 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_58() { put_58.execute(meta.slot); }
    @hidden action add_58() { hdr.rest.v58 = sum_58.execute(meta.slot); }
    @hidden action raise_58() { hdr.rest.v58 = top_58.execute(meta.slot); }
    @hidden action read_58() { hdr.rest.v58 = get_58.execute(meta.slot); }
    @stage(5)
    @hidden table use_58 {
        key = { meta.mode: exact; }
        actions = { store_58; add_58; raise_58; read_58; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_58();
            Mode.ADD: add_58();
            Mode.RAISE: raise_58();
            Mode.READ: read_58();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_57;
    RegisterAction<int<32>, index_t, bit<32>>(value_57) put_57 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v57;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_57) sum_57 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v57;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_57) top_57 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v57) {
                slot = (int<32>)hdr.rest.v57;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_57) get_57 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_57() { put_57.execute(meta.slot); }
    @hidden action add_57() { hdr.rest.v57 = sum_57.execute(meta.slot); }
    @hidden action raise_57() { hdr.rest.v57 = top_57.execute(meta.slot); }
    @hidden action read_57() { hdr.rest.v57 = get_57.execute(meta.slot); }
    @stage(5)
    @hidden table use_57 {
        key = { meta.mode: exact; }
        actions = { store_57; add_57; raise_57; read_57; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_57();
            Mode.ADD: add_57();
            Mode.RAISE: raise_57();
            Mode.READ: read_57();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_56;
    RegisterAction<int<32>, index_t, bit<32>>(value_56) put_56 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v56;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_56) sum_56 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v56;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_56) top_56 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v56) {
                slot = (int<32>)hdr.rest.v56;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_56) get_56 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_56() { put_56.execute(meta.slot); }
    @hidden action add_56() { hdr.rest.v56 = sum_56.execute(meta.slot); }
    @hidden action raise_56() { hdr.rest.v56 = top_56.execute(meta.slot); }
    @hidden action read_56() { hdr.rest.v56 = get_56.execute(meta.slot); }
    @stage(5)
    @hidden table use_56 {
        key = { meta.mode: exact; }
        actions = { store_56; add_56; raise_56; read_56; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_56();
            Mode.ADD: add_56();
            Mode.RAISE: raise_56();
            Mode.READ: read_56();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_55;
    RegisterAction<int<32>, index_t, bit<32>>(value_55) put_55 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v55;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_55) sum_55 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v55;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_55) top_55 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v55) {
                slot = (int<32>)hdr.rest.v55;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_55) get_55 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_55() { put_55.execute(meta.slot); }
    @hidden action add_55() { hdr.rest.v55 = sum_55.execute(meta.slot); }
    @hidden action raise_55() { hdr.rest.v55 = top_55.execute(meta.slot); }
    @hidden action read_55() { hdr.rest.v55 = get_55.execute(meta.slot); }
    @stage(6)
    @hidden table use_55 {
        key = { meta.mode: exact; }
        actions = { store_55; add_55; raise_55; read_55; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_55();
            Mode.ADD: add_55();
            Mode.RAISE: raise_55();
            Mode.READ: read_55();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_54;
    RegisterAction<int<32>, index_t, bit<32>>(value_54) put_54 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v54;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_54) sum_54 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v54;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_54) top_54 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v54) {
                slot = (int<32>)hdr.rest.v54;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_54) get_54 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_54() { put_54.execute(meta.slot); }
    @hidden action add_54() { hdr.rest.v54 = sum_54.execute(meta.slot); }
    @hidden action raise_54() { hdr.rest.v54 = top_54.execute(meta.slot); }
    @hidden action read_54() { hdr.rest.v54 = get_54.execute(meta.slot); }
    @stage(6)
    @hidden table use_54 {
        key = { meta.mode: exact; }
        actions = { store_54; add_54; raise_54; read_54; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_54();
            Mode.ADD: add_54();
            Mode.RAISE: raise_54();
            Mode.READ: read_54();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_53;
    RegisterAction<int<32>, index_t, bit<32>>(value_53) put_53 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v53;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_53) sum_53 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v53;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_53) top_53 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v53) {
                slot = (int<32>)hdr.rest.v53;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_53) get_53 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_53() { put_53.execute(meta.slot); }
    @hidden action add_53() { hdr.rest.v53 = sum_53.execute(meta.slot); }
    @hidden action raise_53() { hdr.rest.v53 = top_53.execute(meta.slot); }
    @hidden action read_53() { hdr.rest.v53 = get_53.execute(meta.slot); }
    @stage(6)
    @hidden table use_53 {
        key = { meta.mode: exact; }
        actions = { store_53; add_53; raise_53; read_53; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_53();
            Mode.ADD: add_53();
            Mode.RAISE: raise_53();
            Mode.READ: read_53();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_52;
    RegisterAction<int<32>, index_t, bit<32>>(value_52) put_52 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v52;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_52) sum_52 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v52;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_52) top_52 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v52) {
                slot = (int<32>)hdr.rest.v52;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_52) get_52 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_52() { put_52.execute(meta.slot); }
    @hidden action add_52() { hdr.rest.v52 = sum_52.execute(meta.slot); }
    @hidden action raise_52() { hdr.rest.v52 = top_52.execute(meta.slot); }
    @hidden action read_52() { hdr.rest.v52 = get_52.execute(meta.slot); }
    @stage(6)
    @hidden table use_52 {
        key = { meta.mode: exact; }
        actions = { store_52; add_52; raise_52; read_52; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_52();
            Mode.ADD: add_52();
            Mode.RAISE: raise_52();
            Mode.READ: read_52();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_51;
    RegisterAction<int<32>, index_t, bit<32>>(value_51) put_51 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v51;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_51) sum_51 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v51;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_51) top_51 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v51) {
                slot = (int<32>)hdr.rest.v51;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_51) get_51 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_51() { put_51.execute(meta.slot); }
    @hidden action add_51() { hdr.rest.v51 = sum_51.execute(meta.slot); }
    @hidden action raise_51() { hdr.rest.v51 = top_51.execute(meta.slot); }
    @hidden action read_51() { hdr.rest.v51 = get_51.execute(meta.slot); }
    @stage(7)
    @hidden table use_51 {
        key = { meta.mode: exact; }
        actions = { store_51; add_51; raise_51; read_51; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_51();
            Mode.ADD: add_51();
            Mode.RAISE: raise_51();
            Mode.READ: read_51();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_50;
    RegisterAction<int<32>, index_t, bit<32>>(value_50) put_50 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v50;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_50) sum_50 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v50;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_50) top_50 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v50) {
                slot = (int<32>)hdr.rest.v50;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_50) get_50 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_50() { put_50.execute(meta.slot); }
    @hidden action add_50() { hdr.rest.v50 = sum_50.execute(meta.slot); }
    @hidden action raise_50() { hdr.rest.v50 = top_50.execute(meta.slot); }
    @hidden action read_50() { hdr.rest.v50 = get_50.execute(meta.slot); }
    @stage(7)
    @hidden table use_50 {
        key = { meta.mode: exact; }
        actions = { store_50; add_50; raise_50; read_50; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_50();
            Mode.ADD: add_50();
            Mode.RAISE: raise_50();
            Mode.READ: read_50();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_49;
    RegisterAction<int<32>, index_t, bit<32>>(value_49) put_49 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v49;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_49) sum_49 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v49;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_49) top_49 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v49) {
                slot = (int<32>)hdr.rest.v49;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_49) get_49 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_49() { put_49.execute(meta.slot); }
    @hidden action add_49() { hdr.rest.v49 = sum_49.execute(meta.slot); }
    @hidden action raise_49() { hdr.rest.v49 = top_49.execute(meta.slot); }
    @hidden action read_49() { hdr.rest.v49 = get_49.execute(meta.slot); }
    @stage(7)
    @hidden table use_49 {
        key = { meta.mode: exact; }
        actions = { store_49; add_49; raise_49; read_49; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_49();
            Mode.ADD: add_49();
            Mode.RAISE: raise_49();
            Mode.READ: read_49();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_48;
    RegisterAction<int<32>, index_t, bit<32>>(value_48) put_48 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v48;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_48) sum_48 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v48;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_48) top_48 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v48) {
                slot = (int<32>)hdr.rest.v48;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_48) get_48 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_48() { put_48.execute(meta.slot); }
    @hidden action add_48() { hdr.rest.v48 = sum_48.execute(meta.slot); }
    @hidden action raise_48() { hdr.rest.v48 = top_48.execute(meta.slot); }
    @hidden action read_48() { hdr.rest.v48 = get_48.execute(meta.slot); }
    @stage(7)
    @hidden table use_48 {
        key = { meta.mode: exact; }
        actions = { store_48; add_48; raise_48; read_48; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_48();
            Mode.ADD: add_48();
            Mode.RAISE: raise_48();
            Mode.READ: read_48();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_47;
    RegisterAction<int<32>, index_t, bit<32>>(value_47) put_47 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v47;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_47) sum_47 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v47;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_47) top_47 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v47) {
                slot = (int<32>)hdr.rest.v47;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_47) get_47 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_47() { put_47.execute(meta.slot); }
    @hidden action add_47() { hdr.rest.v47 = sum_47.execute(meta.slot); }
    @hidden action raise_47() { hdr.rest.v47 = top_47.execute(meta.slot); }
    @hidden action read_47() { hdr.rest.v47 = get_47.execute(meta.slot); }
    @stage(8)
    @hidden table use_47 {
        key = { meta.mode: exact; }
        actions = { store_47; add_47; raise_47; read_47; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_47();
            Mode.ADD: add_47();
            Mode.RAISE: raise_47();
            Mode.READ: read_47();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_46;
    RegisterAction<int<32>, index_t, bit<32>>(value_46) put_46 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v46;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_46) sum_46 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v46;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_46) top_46 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v46) {
                slot = (int<32>)hdr.rest.v46;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_46) get_46 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_46() { put_46.execute(meta.slot); }
    @hidden action add_46() { hdr.rest.v46 = sum_46.execute(meta.slot); }
    @hidden action raise_46() { hdr.rest.v46 = top_46.execute(meta.slot); }
    @hidden action read_46() { hdr.rest.v46 = get_46.execute(meta.slot); }
    @stage(8)
    @hidden table use_46 {
        key = { meta.mode: exact; }
        actions = { store_46; add_46; raise_46; read_46; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_46();
            Mode.ADD: add_46();
            Mode.RAISE: raise_46();
            Mode.READ: read_46();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_45;
    RegisterAction<int<32>, index_t, bit<32>>(value_45) put_45 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v45;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_45) sum_45 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v45;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_45) top_45 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v45) {
                slot = (int<32>)hdr.rest.v45;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_45) get_45 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_45() { put_45.execute(meta.slot); }
    @hidden action add_45() { hdr.rest.v45 = sum_45.execute(meta.slot); }
    @hidden action raise_45() { hdr.rest.v45 = top_45.execute(meta.slot); }
    @hidden action read_45() { hdr.rest.v45 = get_45.execute(meta.slot); }
    @stage(8)
    @hidden table use_45 {
        key = { meta.mode: exact; }
        actions = { store_45; add_45; raise_45; read_45; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_45();
            Mode.ADD: add_45();
            Mode.RAISE: raise_45();
            Mode.READ: read_45();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_44;
    RegisterAction<int<32>, index_t, bit<32>>(value_44) put_44 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v44;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_44) sum_44 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v44;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_44) top_44 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v44) {
                slot = (int<32>)hdr.rest.v44;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_44) get_44 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_44() { put_44.execute(meta.slot); }
    @hidden action add_44() { hdr.rest.v44 = sum_44.execute(meta.slot); }
    @hidden action raise_44() { hdr.rest.v44 = top_44.execute(meta.slot); }
    @hidden action read_44() { hdr.rest.v44 = get_44.execute(meta.slot); }
    @stage(8)
    @hidden table use_44 {
        key = { meta.mode: exact; }
        actions = { store_44; add_44; raise_44; read_44; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_44();
            Mode.ADD: add_44();
            Mode.RAISE: raise_44();
            Mode.READ: read_44();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_43;
    RegisterAction<int<32>, index_t, bit<32>>(value_43) put_43 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v43;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_43) sum_43 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v43;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_43) top_43 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v43) {
                slot = (int<32>)hdr.rest.v43;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_43) get_43 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_43() { put_43.execute(meta.slot); }
    @hidden action add_43() { hdr.rest.v43 = sum_43.execute(meta.slot); }
    @hidden action raise_43() { hdr.rest.v43 = top_43.execute(meta.slot); }
    @hidden action read_43() { hdr.rest.v43 = get_43.execute(meta.slot); }
    @stage(9)
    @hidden table use_43 {
        key = { meta.mode: exact; }
        actions = { store_43; add_43; raise_43; read_43; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_43();
            Mode.ADD: add_43();
            Mode.RAISE: raise_43();
            Mode.READ: read_43();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_42;
    RegisterAction<int<32>, index_t, bit<32>>(value_42) put_42 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v42;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_42) sum_42 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v42;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_42) top_42 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v42) {
                slot = (int<32>)hdr.rest.v42;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_42) get_42 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_42() { put_42.execute(meta.slot); }
    @hidden action add_42() { hdr.rest.v42 = sum_42.execute(meta.slot); }
    @hidden action raise_42() { hdr.rest.v42 = top_42.execute(meta.slot); }
    @hidden action read_42() { hdr.rest.v42 = get_42.execute(meta.slot); }
    @stage(9)
    @hidden table use_42 {
        key = { meta.mode: exact; }
        actions = { store_42; add_42; raise_42; read_42; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_42();
            Mode.ADD: add_42();
            Mode.RAISE: raise_42();
            Mode.READ: read_42();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_41;
    RegisterAction<int<32>, index_t, bit<32>>(value_41) put_41 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v41;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_41) sum_41 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v41;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_41) top_41 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v41) {
                slot = (int<32>)hdr.rest.v41;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_41) get_41 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_41() { put_41.execute(meta.slot); }
    @hidden action add_41() { hdr.rest.v41 = sum_41.execute(meta.slot); }
    @hidden action raise_41() { hdr.rest.v41 = top_41.execute(meta.slot); }
    @hidden action read_41() { hdr.rest.v41 = get_41.execute(meta.slot); }
    @stage(9)
    @hidden table use_41 {
        key = { meta.mode: exact; }
        actions = { store_41; add_41; raise_41; read_41; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_41();
            Mode.ADD: add_41();
            Mode.RAISE: raise_41();
            Mode.READ: read_41();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_40;
    RegisterAction<int<32>, index_t, bit<32>>(value_40) put_40 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v40;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_40) sum_40 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v40;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_40) top_40 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v40) {
                slot = (int<32>)hdr.rest.v40;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_40) get_40 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_40() { put_40.execute(meta.slot); }
    @hidden action add_40() { hdr.rest.v40 = sum_40.execute(meta.slot); }
    @hidden action raise_40() { hdr.rest.v40 = top_40.execute(meta.slot); }
    @hidden action read_40() { hdr.rest.v40 = get_40.execute(meta.slot); }
    @stage(9)
    @hidden table use_40 {
        key = { meta.mode: exact; }
        actions = { store_40; add_40; raise_40; read_40; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_40();
            Mode.ADD: add_40();
            Mode.RAISE: raise_40();
            Mode.READ: read_40();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_39;
    RegisterAction<int<32>, index_t, bit<32>>(value_39) put_39 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v39;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_39) sum_39 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v39;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_39) top_39 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v39) {
                slot = (int<32>)hdr.rest.v39;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_39) get_39 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_39() { put_39.execute(meta.slot); }
    @hidden action add_39() { hdr.rest.v39 = sum_39.execute(meta.slot); }
    @hidden action raise_39() { hdr.rest.v39 = top_39.execute(meta.slot); }
    @hidden action read_39() { hdr.rest.v39 = get_39.execute(meta.slot); }
    @stage(10)
    @hidden table use_39 {
        key = { meta.mode: exact; }
        actions = { store_39; add_39; raise_39; read_39; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_39();
            Mode.ADD: add_39();
            Mode.RAISE: raise_39();
            Mode.READ: read_39();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_38;
    RegisterAction<int<32>, index_t, bit<32>>(value_38) put_38 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v38;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_38) sum_38 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v38;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_38) top_38 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v38) {
                slot = (int<32>)hdr.rest.v38;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_38) get_38 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_38() { put_38.execute(meta.slot); }
    @hidden action add_38() { hdr.rest.v38 = sum_38.execute(meta.slot); }
    @hidden action raise_38() { hdr.rest.v38 = top_38.execute(meta.slot); }
    @hidden action read_38() { hdr.rest.v38 = get_38.execute(meta.slot); }
    @stage(10)
    @hidden table use_38 {
        key = { meta.mode: exact; }
        actions = { store_38; add_38; raise_38; read_38; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_38();
            Mode.ADD: add_38();
            Mode.RAISE: raise_38();
            Mode.READ: read_38();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_37;
    RegisterAction<int<32>, index_t, bit<32>>(value_37) put_37 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v37;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_37) sum_37 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v37;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_37) top_37 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v37) {
                slot = (int<32>)hdr.rest.v37;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_37) get_37 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_37() { put_37.execute(meta.slot); }
    @hidden action add_37() { hdr.rest.v37 = sum_37.execute(meta.slot); }
    @hidden action raise_37() { hdr.rest.v37 = top_37.execute(meta.slot); }
    @hidden action read_37() { hdr.rest.v37 = get_37.execute(meta.slot); }
    @stage(10)
    @hidden table use_37 {
        key = { meta.mode: exact; }
        actions = { store_37; add_37; raise_37; read_37; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_37();
            Mode.ADD: add_37();
            Mode.RAISE: raise_37();
            Mode.READ: read_37();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_36;
    RegisterAction<int<32>, index_t, bit<32>>(value_36) put_36 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v36;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_36) sum_36 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v36;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_36) top_36 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v36) {
                slot = (int<32>)hdr.rest.v36;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_36) get_36 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_36() { put_36.execute(meta.slot); }
    @hidden action add_36() { hdr.rest.v36 = sum_36.execute(meta.slot); }
    @hidden action raise_36() { hdr.rest.v36 = top_36.execute(meta.slot); }
    @hidden action read_36() { hdr.rest.v36 = get_36.execute(meta.slot); }
    @stage(10)
    @hidden table use_36 {
        key = { meta.mode: exact; }
        actions = { store_36; add_36; raise_36; read_36; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_36();
            Mode.ADD: add_36();
            Mode.RAISE: raise_36();
            Mode.READ: read_36();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_35;
    RegisterAction<int<32>, index_t, bit<32>>(value_35) put_35 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v35;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_35) sum_35 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v35;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_35) top_35 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v35) {
                slot = (int<32>)hdr.rest.v35;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_35) get_35 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_35() { put_35.execute(meta.slot); }
    @hidden action add_35() { hdr.rest.v35 = sum_35.execute(meta.slot); }
    @hidden action raise_35() { hdr.rest.v35 = top_35.execute(meta.slot); }
    @hidden action read_35() { hdr.rest.v35 = get_35.execute(meta.slot); }
    @stage(11)
    @hidden table use_35 {
        key = { meta.mode: exact; }
        actions = { store_35; add_35; raise_35; read_35; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_35();
            Mode.ADD: add_35();
            Mode.RAISE: raise_35();
            Mode.READ: read_35();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_34;
    RegisterAction<int<32>, index_t, bit<32>>(value_34) put_34 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v34;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_34) sum_34 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v34;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_34) top_34 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v34) {
                slot = (int<32>)hdr.rest.v34;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_34) get_34 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_34() { put_34.execute(meta.slot); }
    @hidden action add_34() { hdr.rest.v34 = sum_34.execute(meta.slot); }
    @hidden action raise_34() { hdr.rest.v34 = top_34.execute(meta.slot); }
    @hidden action read_34() { hdr.rest.v34 = get_34.execute(meta.slot); }
    @stage(11)
    @hidden table use_34 {
        key = { meta.mode: exact; }
        actions = { store_34; add_34; raise_34; read_34; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_34();
            Mode.ADD: add_34();
            Mode.RAISE: raise_34();
            Mode.READ: read_34();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_33;
    RegisterAction<int<32>, index_t, bit<32>>(value_33) put_33 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v33;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_33) sum_33 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v33;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_33) top_33 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v33) {
                slot = (int<32>)hdr.rest.v33;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_33) get_33 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_33() { put_33.execute(meta.slot); }
    @hidden action add_33() { hdr.rest.v33 = sum_33.execute(meta.slot); }
    @hidden action raise_33() { hdr.rest.v33 = top_33.execute(meta.slot); }
    @hidden action read_33() { hdr.rest.v33 = get_33.execute(meta.slot); }
    @stage(11)
    @hidden table use_33 {
        key = { meta.mode: exact; }
        actions = { store_33; add_33; raise_33; read_33; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_33();
            Mode.ADD: add_33();
            Mode.RAISE: raise_33();
            Mode.READ: read_33();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_32;
    RegisterAction<int<32>, index_t, bit<32>>(value_32) put_32 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v32;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_32) sum_32 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v32;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_32) top_32 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v32) {
                slot = (int<32>)hdr.rest.v32;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_32) get_32 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_32() { put_32.execute(meta.slot); }
    @hidden action add_32() { hdr.rest.v32 = sum_32.execute(meta.slot); }
    @hidden action raise_32() { hdr.rest.v32 = top_32.execute(meta.slot); }
    @hidden action read_32() { hdr.rest.v32 = get_32.execute(meta.slot); }
    @stage(11)
    @hidden table use_32 {
        key = { meta.mode: exact; }
        actions = { store_32; add_32; raise_32; read_32; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_32();
            Mode.ADD: add_32();
            Mode.RAISE: raise_32();
            Mode.READ: read_32();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_31;
    RegisterAction<int<32>, index_t, bit<32>>(value_31) put_31 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v31;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_31) sum_31 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v31;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_31) top_31 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v31) {
                slot = (int<32>)hdr.rest.v31;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_31) get_31 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_31() { put_31.execute(meta.slot); }
    @hidden action add_31() { hdr.rest.v31 = sum_31.execute(meta.slot); }
    @hidden action raise_31() { hdr.rest.v31 = top_31.execute(meta.slot); }
    @hidden action read_31() { hdr.rest.v31 = get_31.execute(meta.slot); }
    @stage(12)
    @hidden table use_31 {
        key = { meta.mode: exact; }
        actions = { store_31; add_31; raise_31; read_31; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_31();
            Mode.ADD: add_31();
            Mode.RAISE: raise_31();
            Mode.READ: read_31();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_30;
    RegisterAction<int<32>, index_t, bit<32>>(value_30) put_30 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v30;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_30) sum_30 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v30;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_30) top_30 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v30) {
                slot = (int<32>)hdr.rest.v30;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_30) get_30 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_30() { put_30.execute(meta.slot); }
    @hidden action add_30() { hdr.rest.v30 = sum_30.execute(meta.slot); }
    @hidden action raise_30() { hdr.rest.v30 = top_30.execute(meta.slot); }
    @hidden action read_30() { hdr.rest.v30 = get_30.execute(meta.slot); }
    @stage(12)
    @hidden table use_30 {
        key = { meta.mode: exact; }
        actions = { store_30; add_30; raise_30; read_30; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_30();
            Mode.ADD: add_30();
            Mode.RAISE: raise_30();
            Mode.READ: read_30();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_29;
    RegisterAction<int<32>, index_t, bit<32>>(value_29) put_29 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v29;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_29) sum_29 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v29;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_29) top_29 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v29) {
                slot = (int<32>)hdr.rest.v29;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_29) get_29 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_29() { put_29.execute(meta.slot); }
    @hidden action add_29() { hdr.rest.v29 = sum_29.execute(meta.slot); }
    @hidden action raise_29() { hdr.rest.v29 = top_29.execute(meta.slot); }
    @hidden action read_29() { hdr.rest.v29 = get_29.execute(meta.slot); }
    @stage(12)
    @hidden table use_29 {
        key = { meta.mode: exact; }
        actions = { store_29; add_29; raise_29; read_29; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_29();
            Mode.ADD: add_29();
            Mode.RAISE: raise_29();
            Mode.READ: read_29();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_28;
    RegisterAction<int<32>, index_t, bit<32>>(value_28) put_28 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v28;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_28) sum_28 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v28;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_28) top_28 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v28) {
                slot = (int<32>)hdr.rest.v28;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_28) get_28 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_28() { put_28.execute(meta.slot); }
    @hidden action add_28() { hdr.rest.v28 = sum_28.execute(meta.slot); }
    @hidden action raise_28() { hdr.rest.v28 = top_28.execute(meta.slot); }
    @hidden action read_28() { hdr.rest.v28 = get_28.execute(meta.slot); }
    @stage(12)
    @hidden table use_28 {
        key = { meta.mode: exact; }
        actions = { store_28; add_28; raise_28; read_28; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_28();
            Mode.ADD: add_28();
            Mode.RAISE: raise_28();
            Mode.READ: read_28();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_27;
    RegisterAction<int<32>, index_t, bit<32>>(value_27) put_27 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v27;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_27) sum_27 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v27;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_27) top_27 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v27) {
                slot = (int<32>)hdr.rest.v27;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_27) get_27 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_27() { put_27.execute(meta.slot); }
    @hidden action add_27() { hdr.rest.v27 = sum_27.execute(meta.slot); }
    @hidden action raise_27() { hdr.rest.v27 = top_27.execute(meta.slot); }
    @hidden action read_27() { hdr.rest.v27 = get_27.execute(meta.slot); }
    @stage(13)
    @hidden table use_27 {
        key = { meta.mode: exact; }
        actions = { store_27; add_27; raise_27; read_27; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_27();
            Mode.ADD: add_27();
            Mode.RAISE: raise_27();
            Mode.READ: read_27();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_26;
    RegisterAction<int<32>, index_t, bit<32>>(value_26) put_26 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v26;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_26) sum_26 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v26;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_26) top_26 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v26) {
                slot = (int<32>)hdr.rest.v26;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_26) get_26 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_26() { put_26.execute(meta.slot); }
    @hidden action add_26() { hdr.rest.v26 = sum_26.execute(meta.slot); }
    @hidden action raise_26() { hdr.rest.v26 = top_26.execute(meta.slot); }
    @hidden action read_26() { hdr.rest.v26 = get_26.execute(meta.slot); }
    @stage(13)
    @hidden table use_26 {
        key = { meta.mode: exact; }
        actions = { store_26; add_26; raise_26; read_26; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_26();
            Mode.ADD: add_26();
            Mode.RAISE: raise_26();
            Mode.READ: read_26();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_25;
    RegisterAction<int<32>, index_t, bit<32>>(value_25) put_25 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v25;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_25) sum_25 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v25;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_25) top_25 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v25) {
                slot = (int<32>)hdr.rest.v25;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_25) get_25 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_25() { put_25.execute(meta.slot); }
    @hidden action add_25() { hdr.rest.v25 = sum_25.execute(meta.slot); }
    @hidden action raise_25() { hdr.rest.v25 = top_25.execute(meta.slot); }
    @hidden action read_25() { hdr.rest.v25 = get_25.execute(meta.slot); }
    @stage(13)
    @hidden table use_25 {
        key = { meta.mode: exact; }
        actions = { store_25; add_25; raise_25; read_25; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_25();
            Mode.ADD: add_25();
            Mode.RAISE: raise_25();
            Mode.READ: read_25();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_24;
    RegisterAction<int<32>, index_t, bit<32>>(value_24) put_24 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v24;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_24) sum_24 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v24;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_24) top_24 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v24) {
                slot = (int<32>)hdr.rest.v24;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_24) get_24 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_24() { put_24.execute(meta.slot); }
    @hidden action add_24() { hdr.rest.v24 = sum_24.execute(meta.slot); }
    @hidden action raise_24() { hdr.rest.v24 = top_24.execute(meta.slot); }
    @hidden action read_24() { hdr.rest.v24 = get_24.execute(meta.slot); }
    @stage(13)
    @hidden table use_24 {
        key = { meta.mode: exact; }
        actions = { store_24; add_24; raise_24; read_24; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_24();
            Mode.ADD: add_24();
            Mode.RAISE: raise_24();
            Mode.READ: read_24();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_23;
    RegisterAction<int<32>, index_t, bit<32>>(value_23) put_23 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v23;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_23) sum_23 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v23;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_23) top_23 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v23) {
                slot = (int<32>)hdr.rest.v23;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_23) get_23 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_23() { put_23.execute(meta.slot); }
    @hidden action add_23() { hdr.rest.v23 = sum_23.execute(meta.slot); }
    @hidden action raise_23() { hdr.rest.v23 = top_23.execute(meta.slot); }
    @hidden action read_23() { hdr.rest.v23 = get_23.execute(meta.slot); }
    @stage(14)
    @hidden table use_23 {
        key = { meta.mode: exact; }
        actions = { store_23; add_23; raise_23; read_23; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_23();
            Mode.ADD: add_23();
            Mode.RAISE: raise_23();
            Mode.READ: read_23();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_22;
    RegisterAction<int<32>, index_t, bit<32>>(value_22) put_22 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v22;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_22) sum_22 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v22;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_22) top_22 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v22) {
                slot = (int<32>)hdr.rest.v22;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_22) get_22 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_22() { put_22.execute(meta.slot); }
    @hidden action add_22() { hdr.rest.v22 = sum_22.execute(meta.slot); }
    @hidden action raise_22() { hdr.rest.v22 = top_22.execute(meta.slot); }
    @hidden action read_22() { hdr.rest.v22 = get_22.execute(meta.slot); }
    @stage(14)
    @hidden table use_22 {
        key = { meta.mode: exact; }
        actions = { store_22; add_22; raise_22; read_22; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_22();
            Mode.ADD: add_22();
            Mode.RAISE: raise_22();
            Mode.READ: read_22();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_21;
    RegisterAction<int<32>, index_t, bit<32>>(value_21) put_21 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v21;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_21) sum_21 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v21;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_21) top_21 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v21) {
                slot = (int<32>)hdr.rest.v21;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_21) get_21 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_21() { put_21.execute(meta.slot); }
    @hidden action add_21() { hdr.rest.v21 = sum_21.execute(meta.slot); }
    @hidden action raise_21() { hdr.rest.v21 = top_21.execute(meta.slot); }
    @hidden action read_21() { hdr.rest.v21 = get_21.execute(meta.slot); }
    @stage(14)
    @hidden table use_21 {
        key = { meta.mode: exact; }
        actions = { store_21; add_21; raise_21; read_21; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_21();
            Mode.ADD: add_21();
            Mode.RAISE: raise_21();
            Mode.READ: read_21();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_20;
    RegisterAction<int<32>, index_t, bit<32>>(value_20) put_20 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v20;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_20) sum_20 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v20;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_20) top_20 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v20) {
                slot = (int<32>)hdr.rest.v20;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_20) get_20 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_20() { put_20.execute(meta.slot); }
    @hidden action add_20() { hdr.rest.v20 = sum_20.execute(meta.slot); }
    @hidden action raise_20() { hdr.rest.v20 = top_20.execute(meta.slot); }
    @hidden action read_20() { hdr.rest.v20 = get_20.execute(meta.slot); }
    @stage(14)
    @hidden table use_20 {
        key = { meta.mode: exact; }
        actions = { store_20; add_20; raise_20; read_20; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_20();
            Mode.ADD: add_20();
            Mode.RAISE: raise_20();
            Mode.READ: read_20();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_19;
    RegisterAction<int<32>, index_t, bit<32>>(value_19) put_19 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v19;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_19) sum_19 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v19;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_19) top_19 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v19) {
                slot = (int<32>)hdr.rest.v19;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_19) get_19 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_19() { put_19.execute(meta.slot); }
    @hidden action add_19() { hdr.rest.v19 = sum_19.execute(meta.slot); }
    @hidden action raise_19() { hdr.rest.v19 = top_19.execute(meta.slot); }
    @hidden action read_19() { hdr.rest.v19 = get_19.execute(meta.slot); }
    @stage(15)
    @hidden table use_19 {
        key = { meta.mode: exact; }
        actions = { store_19; add_19; raise_19; read_19; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_19();
            Mode.ADD: add_19();
            Mode.RAISE: raise_19();
            Mode.READ: read_19();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_18;
    RegisterAction<int<32>, index_t, bit<32>>(value_18) put_18 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v18;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_18) sum_18 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v18;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_18) top_18 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v18) {
                slot = (int<32>)hdr.rest.v18;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_18) get_18 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_18() { put_18.execute(meta.slot); }
    @hidden action add_18() { hdr.rest.v18 = sum_18.execute(meta.slot); }
    @hidden action raise_18() { hdr.rest.v18 = top_18.execute(meta.slot); }
    @hidden action read_18() { hdr.rest.v18 = get_18.execute(meta.slot); }
    @stage(15)
    @hidden table use_18 {
        key = { meta.mode: exact; }
        actions = { store_18; add_18; raise_18; read_18; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_18();
            Mode.ADD: add_18();
            Mode.RAISE: raise_18();
            Mode.READ: read_18();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_17;
    RegisterAction<int<32>, index_t, bit<32>>(value_17) put_17 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v17;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_17) sum_17 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v17;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_17) top_17 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v17) {
                slot = (int<32>)hdr.rest.v17;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_17) get_17 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_17() { put_17.execute(meta.slot); }
    @hidden action add_17() { hdr.rest.v17 = sum_17.execute(meta.slot); }
    @hidden action raise_17() { hdr.rest.v17 = top_17.execute(meta.slot); }
    @hidden action read_17() { hdr.rest.v17 = get_17.execute(meta.slot); }
    @stage(15)
    @hidden table use_17 {
        key = { meta.mode: exact; }
        actions = { store_17; add_17; raise_17; read_17; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_17();
            Mode.ADD: add_17();
            Mode.RAISE: raise_17();
            Mode.READ: read_17();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_16;
    RegisterAction<int<32>, index_t, bit<32>>(value_16) put_16 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v16;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_16) sum_16 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v16;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_16) top_16 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v16) {
                slot = (int<32>)hdr.rest.v16;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_16) get_16 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_16() { put_16.execute(meta.slot); }
    @hidden action add_16() { hdr.rest.v16 = sum_16.execute(meta.slot); }
    @hidden action raise_16() { hdr.rest.v16 = top_16.execute(meta.slot); }
    @hidden action read_16() { hdr.rest.v16 = get_16.execute(meta.slot); }
    @stage(15)
    @hidden table use_16 {
        key = { meta.mode: exact; }
        actions = { store_16; add_16; raise_16; read_16; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_16();
            Mode.ADD: add_16();
            Mode.RAISE: raise_16();
            Mode.READ: read_16();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_15;
    RegisterAction<int<32>, index_t, bit<32>>(value_15) put_15 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v15;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_15) sum_15 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v15;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_15) top_15 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v15) {
                slot = (int<32>)hdr.rest.v15;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_15) get_15 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_15() { put_15.execute(meta.slot); }
    @hidden action add_15() { hdr.rest.v15 = sum_15.execute(meta.slot); }
    @hidden action raise_15() { hdr.rest.v15 = top_15.execute(meta.slot); }
    @hidden action read_15() { hdr.rest.v15 = get_15.execute(meta.slot); }
    @stage(16)
    @hidden table use_15 {
        key = { meta.mode: exact; }
        actions = { store_15; add_15; raise_15; read_15; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_15();
            Mode.ADD: add_15();
            Mode.RAISE: raise_15();
            Mode.READ: read_15();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_14;
    RegisterAction<int<32>, index_t, bit<32>>(value_14) put_14 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v14;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_14) sum_14 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v14;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_14) top_14 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v14) {
                slot = (int<32>)hdr.rest.v14;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_14) get_14 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_14() { put_14.execute(meta.slot); }
    @hidden action add_14() { hdr.rest.v14 = sum_14.execute(meta.slot); }
    @hidden action raise_14() { hdr.rest.v14 = top_14.execute(meta.slot); }
    @hidden action read_14() { hdr.rest.v14 = get_14.execute(meta.slot); }
    @stage(16)
    @hidden table use_14 {
        key = { meta.mode: exact; }
        actions = { store_14; add_14; raise_14; read_14; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_14();
            Mode.ADD: add_14();
            Mode.RAISE: raise_14();
            Mode.READ: read_14();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_13;
    RegisterAction<int<32>, index_t, bit<32>>(value_13) put_13 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v13;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_13) sum_13 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v13;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_13) top_13 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v13) {
                slot = (int<32>)hdr.rest.v13;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_13) get_13 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_13() { put_13.execute(meta.slot); }
    @hidden action add_13() { hdr.rest.v13 = sum_13.execute(meta.slot); }
    @hidden action raise_13() { hdr.rest.v13 = top_13.execute(meta.slot); }
    @hidden action read_13() { hdr.rest.v13 = get_13.execute(meta.slot); }
    @stage(16)
    @hidden table use_13 {
        key = { meta.mode: exact; }
        actions = { store_13; add_13; raise_13; read_13; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_13();
            Mode.ADD: add_13();
            Mode.RAISE: raise_13();
            Mode.READ: read_13();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_12;
    RegisterAction<int<32>, index_t, bit<32>>(value_12) put_12 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v12;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_12) sum_12 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v12;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_12) top_12 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v12) {
                slot = (int<32>)hdr.rest.v12;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_12) get_12 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_12() { put_12.execute(meta.slot); }
    @hidden action add_12() { hdr.rest.v12 = sum_12.execute(meta.slot); }
    @hidden action raise_12() { hdr.rest.v12 = top_12.execute(meta.slot); }
    @hidden action read_12() { hdr.rest.v12 = get_12.execute(meta.slot); }
    @stage(16)
    @hidden table use_12 {
        key = { meta.mode: exact; }
        actions = { store_12; add_12; raise_12; read_12; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_12();
            Mode.ADD: add_12();
            Mode.RAISE: raise_12();
            Mode.READ: read_12();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_11;
    RegisterAction<int<32>, index_t, bit<32>>(value_11) put_11 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v11;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_11) sum_11 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v11;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_11) top_11 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v11) {
                slot = (int<32>)hdr.rest.v11;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_11) get_11 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_11() { put_11.execute(meta.slot); }
    @hidden action add_11() { hdr.rest.v11 = sum_11.execute(meta.slot); }
    @hidden action raise_11() { hdr.rest.v11 = top_11.execute(meta.slot); }
    @hidden action read_11() { hdr.rest.v11 = get_11.execute(meta.slot); }
    @stage(17)
    @hidden table use_11 {
        key = { meta.mode: exact; }
        actions = { store_11; add_11; raise_11; read_11; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_11();
            Mode.ADD: add_11();
            Mode.RAISE: raise_11();
            Mode.READ: read_11();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_10;
    RegisterAction<int<32>, index_t, bit<32>>(value_10) put_10 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v10;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_10) sum_10 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v10;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_10) top_10 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v10) {
                slot = (int<32>)hdr.rest.v10;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_10) get_10 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_10() { put_10.execute(meta.slot); }
    @hidden action add_10() { hdr.rest.v10 = sum_10.execute(meta.slot); }
    @hidden action raise_10() { hdr.rest.v10 = top_10.execute(meta.slot); }
    @hidden action read_10() { hdr.rest.v10 = get_10.execute(meta.slot); }
    @stage(17)
    @hidden table use_10 {
        key = { meta.mode: exact; }
        actions = { store_10; add_10; raise_10; read_10; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_10();
            Mode.ADD: add_10();
            Mode.RAISE: raise_10();
            Mode.READ: read_10();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_9;
    RegisterAction<int<32>, index_t, bit<32>>(value_9) put_9 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v9;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_9) sum_9 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v9;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_9) top_9 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v9) {
                slot = (int<32>)hdr.rest.v9;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_9) get_9 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_9() { put_9.execute(meta.slot); }
    @hidden action add_9() { hdr.rest.v9 = sum_9.execute(meta.slot); }
    @hidden action raise_9() { hdr.rest.v9 = top_9.execute(meta.slot); }
    @hidden action read_9() { hdr.rest.v9 = get_9.execute(meta.slot); }
    @stage(17)
    @hidden table use_9 {
        key = { meta.mode: exact; }
        actions = { store_9; add_9; raise_9; read_9; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_9();
            Mode.ADD: add_9();
            Mode.RAISE: raise_9();
            Mode.READ: read_9();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_8;
    RegisterAction<int<32>, index_t, bit<32>>(value_8) put_8 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v8;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_8) sum_8 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v8;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_8) top_8 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v8) {
                slot = (int<32>)hdr.rest.v8;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_8) get_8 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_8() { put_8.execute(meta.slot); }
    @hidden action add_8() { hdr.rest.v8 = sum_8.execute(meta.slot); }
    @hidden action raise_8() { hdr.rest.v8 = top_8.execute(meta.slot); }
    @hidden action read_8() { hdr.rest.v8 = get_8.execute(meta.slot); }
    @stage(17)
    @hidden table use_8 {
        key = { meta.mode: exact; }
        actions = { store_8; add_8; raise_8; read_8; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_8();
            Mode.ADD: add_8();
            Mode.RAISE: raise_8();
            Mode.READ: read_8();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_7;
    RegisterAction<int<32>, index_t, bit<32>>(value_7) put_7 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v7;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_7) sum_7 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v7;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_7) top_7 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v7) {
                slot = (int<32>)hdr.rest.v7;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_7) get_7 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_7() { put_7.execute(meta.slot); }
    @hidden action add_7() { hdr.rest.v7 = sum_7.execute(meta.slot); }
    @hidden action raise_7() { hdr.rest.v7 = top_7.execute(meta.slot); }
    @hidden action read_7() { hdr.rest.v7 = get_7.execute(meta.slot); }
    @stage(18)
    @hidden table use_7 {
        key = { meta.mode: exact; }
        actions = { store_7; add_7; raise_7; read_7; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_7();
            Mode.ADD: add_7();
            Mode.RAISE: raise_7();
            Mode.READ: read_7();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_6;
    RegisterAction<int<32>, index_t, bit<32>>(value_6) put_6 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v6;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_6) sum_6 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v6;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_6) top_6 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v6) {
                slot = (int<32>)hdr.rest.v6;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_6) get_6 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_6() { put_6.execute(meta.slot); }
    @hidden action add_6() { hdr.rest.v6 = sum_6.execute(meta.slot); }
    @hidden action raise_6() { hdr.rest.v6 = top_6.execute(meta.slot); }
    @hidden action read_6() { hdr.rest.v6 = get_6.execute(meta.slot); }
    @stage(18)
    @hidden table use_6 {
        key = { meta.mode: exact; }
        actions = { store_6; add_6; raise_6; read_6; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_6();
            Mode.ADD: add_6();
            Mode.RAISE: raise_6();
            Mode.READ: read_6();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_5;
    RegisterAction<int<32>, index_t, bit<32>>(value_5) put_5 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v5;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_5) sum_5 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v5;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_5) top_5 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v5) {
                slot = (int<32>)hdr.rest.v5;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_5) get_5 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_5() { put_5.execute(meta.slot); }
    @hidden action add_5() { hdr.rest.v5 = sum_5.execute(meta.slot); }
    @hidden action raise_5() { hdr.rest.v5 = top_5.execute(meta.slot); }
    @hidden action read_5() { hdr.rest.v5 = get_5.execute(meta.slot); }
    @stage(18)
    @hidden table use_5 {
        key = { meta.mode: exact; }
        actions = { store_5; add_5; raise_5; read_5; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_5();
            Mode.ADD: add_5();
            Mode.RAISE: raise_5();
            Mode.READ: read_5();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_4;
    RegisterAction<int<32>, index_t, bit<32>>(value_4) put_4 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.rest.v4;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_4) sum_4 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.rest.v4;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_4) top_4 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.rest.v4) {
                slot = (int<32>)hdr.rest.v4;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_4) get_4 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_4() { put_4.execute(meta.slot); }
    @hidden action add_4() { hdr.rest.v4 = sum_4.execute(meta.slot); }
    @hidden action raise_4() { hdr.rest.v4 = top_4.execute(meta.slot); }
    @hidden action read_4() { hdr.rest.v4 = get_4.execute(meta.slot); }
    @stage(18)
    @hidden table use_4 {
        key = { meta.mode: exact; }
        actions = { store_4; add_4; raise_4; read_4; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_4();
            Mode.ADD: add_4();
            Mode.RAISE: raise_4();
            Mode.READ: read_4();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_3;
    RegisterAction<int<32>, index_t, bit<32>>(value_3) put_3 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.front.v3;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_3) sum_3 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.front.v3;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_3) top_3 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.front.v3) {
                slot = (int<32>)hdr.front.v3;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_3) get_3 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_3() { put_3.execute(meta.slot); }
    @hidden action add_3() { hdr.front.v3 = sum_3.execute(meta.slot); }
    @hidden action raise_3() { hdr.front.v3 = top_3.execute(meta.slot); }
    @hidden action read_3() { hdr.front.v3 = get_3.execute(meta.slot); }
    @stage(19)
    @hidden table use_3 {
        key = { meta.mode: exact; }
        actions = { store_3; add_3; raise_3; read_3; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_3();
            Mode.ADD: add_3();
            Mode.RAISE: raise_3();
            Mode.READ: read_3();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_2;
    RegisterAction<int<32>, index_t, bit<32>>(value_2) put_2 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.front.v2;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_2) sum_2 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.front.v2;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_2) top_2 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.front.v2) {
                slot = (int<32>)hdr.front.v2;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_2) get_2 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_2() { put_2.execute(meta.slot); }
    @hidden action add_2() { hdr.front.v2 = sum_2.execute(meta.slot); }
    @hidden action raise_2() { hdr.front.v2 = top_2.execute(meta.slot); }
    @hidden action read_2() { hdr.front.v2 = get_2.execute(meta.slot); }
    @stage(19)
    @hidden table use_2 {
        key = { meta.mode: exact; }
        actions = { store_2; add_2; raise_2; read_2; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_2();
            Mode.ADD: add_2();
            Mode.RAISE: raise_2();
            Mode.READ: read_2();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_1;
    RegisterAction<int<32>, index_t, bit<32>>(value_1) put_1 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.front.v1;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_1) sum_1 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.front.v1;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_1) top_1 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.front.v1) {
                slot = (int<32>)hdr.front.v1;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_1) get_1 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_1() { put_1.execute(meta.slot); }
    @hidden action add_1() { hdr.front.v1 = sum_1.execute(meta.slot); }
    @hidden action raise_1() { hdr.front.v1 = top_1.execute(meta.slot); }
    @hidden action read_1() { hdr.front.v1 = get_1.execute(meta.slot); }
    @stage(19)
    @hidden table use_1 {
        key = { meta.mode: exact; }
        actions = { store_1; add_1; raise_1; read_1; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_1();
            Mode.ADD: add_1();
            Mode.RAISE: raise_1();
            Mode.READ: read_1();
        }
        size = 4;
    }

    Register<int<32>, index_t>(CELLS, 0) value_0;
    RegisterAction<int<32>, index_t, bit<32>>(value_0) put_0 = {
        void apply(inout int<32> slot) {
            slot = (int<32>)hdr.front.v0;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_0) sum_0 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if (slot != HIGHEST && slot >= -HIGHEST) {
                slot = slot |+| (int<32>)hdr.front.v0;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_0) top_0 = {
        void apply(inout int<32> slot, out bit<32> now) {
            if ((bit<32>)slot < hdr.front.v0) {
                slot = (int<32>)hdr.front.v0;
            }
            now = (bit<32>)slot;
        }
    };
    RegisterAction<int<32>, index_t, bit<32>>(value_0) get_0 = {
        void apply(inout int<32> slot, out bit<32> now) {
            now = (bit<32>)slot;
        }
    };
    @hidden action store_0() { put_0.execute(meta.slot); }
    @hidden action add_0() { hdr.front.v0 = sum_0.execute(meta.slot); }
    @hidden action raise_0() { hdr.front.v0 = top_0.execute(meta.slot); }
    @hidden action read_0() { hdr.front.v0 = get_0.execute(meta.slot); }
    @stage(19)
    @hidden table use_0 {
        key = { meta.mode: exact; }
        actions = { store_0; add_0; raise_0; read_0; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            Mode.STORE: store_0();
            Mode.ADD: add_0();
            Mode.RAISE: raise_0();
            Mode.READ: read_0();
        }
        size = 4;
    }

    @hidden action set_mode(Mode mode) { meta.mode = mode; }
    @hidden table decide {
        key = {
            meta.fate: ternary;
            hdr.inart.worker[5:0]: ternary @name("seat");
            meta.seen_hi: ternary;
            meta.seen_lo: ternary;
        }
        actions = { set_mode; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (Mode.STORE, _, _, _): set_mode(Mode.STORE);
            (Mode.ADD, 0, _, 0x00000001 &&& 0x00000001): set_mode(Mode.READ);
            (Mode.ADD, 1, _, 0x00000002 &&& 0x00000002): set_mode(Mode.READ);
            (Mode.ADD, 2, _, 0x00000004 &&& 0x00000004): set_mode(Mode.READ);
            (Mode.ADD, 3, _, 0x00000008 &&& 0x00000008): set_mode(Mode.READ);
            (Mode.ADD, 4, _, 0x00000010 &&& 0x00000010): set_mode(Mode.READ);
            (Mode.ADD, 5, _, 0x00000020 &&& 0x00000020): set_mode(Mode.READ);
            (Mode.ADD, 6, _, 0x00000040 &&& 0x00000040): set_mode(Mode.READ);
            (Mode.ADD, 7, _, 0x00000080 &&& 0x00000080): set_mode(Mode.READ);
            (Mode.ADD, 8, _, 0x00000100 &&& 0x00000100): set_mode(Mode.READ);
            (Mode.ADD, 9, _, 0x00000200 &&& 0x00000200): set_mode(Mode.READ);
            (Mode.ADD, 10, _, 0x00000400 &&& 0x00000400): set_mode(Mode.READ);
            (Mode.ADD, 11, _, 0x00000800 &&& 0x00000800): set_mode(Mode.READ);
            (Mode.ADD, 12, _, 0x00001000 &&& 0x00001000): set_mode(Mode.READ);
            (Mode.ADD, 13, _, 0x00002000 &&& 0x00002000): set_mode(Mode.READ);
            (Mode.ADD, 14, _, 0x00004000 &&& 0x00004000): set_mode(Mode.READ);
            (Mode.ADD, 15, _, 0x00008000 &&& 0x00008000): set_mode(Mode.READ);
            (Mode.ADD, 16, _, 0x00010000 &&& 0x00010000): set_mode(Mode.READ);
            (Mode.ADD, 17, _, 0x00020000 &&& 0x00020000): set_mode(Mode.READ);
            (Mode.ADD, 18, _, 0x00040000 &&& 0x00040000): set_mode(Mode.READ);
            (Mode.ADD, 19, _, 0x00080000 &&& 0x00080000): set_mode(Mode.READ);
            (Mode.ADD, 20, _, 0x00100000 &&& 0x00100000): set_mode(Mode.READ);
            (Mode.ADD, 21, _, 0x00200000 &&& 0x00200000): set_mode(Mode.READ);
            (Mode.ADD, 22, _, 0x00400000 &&& 0x00400000): set_mode(Mode.READ);
            (Mode.ADD, 23, _, 0x00800000 &&& 0x00800000): set_mode(Mode.READ);
            (Mode.ADD, 24, _, 0x01000000 &&& 0x01000000): set_mode(Mode.READ);
            (Mode.ADD, 25, _, 0x02000000 &&& 0x02000000): set_mode(Mode.READ);
            (Mode.ADD, 26, _, 0x04000000 &&& 0x04000000): set_mode(Mode.READ);
            (Mode.ADD, 27, _, 0x08000000 &&& 0x08000000): set_mode(Mode.READ);
            (Mode.ADD, 28, _, 0x10000000 &&& 0x10000000): set_mode(Mode.READ);
            (Mode.ADD, 29, _, 0x20000000 &&& 0x20000000): set_mode(Mode.READ);
            (Mode.ADD, 30, _, 0x40000000 &&& 0x40000000): set_mode(Mode.READ);
            (Mode.ADD, 31, _, 0x80000000 &&& 0x80000000): set_mode(Mode.READ);
            (Mode.ADD, 32, 0x00000001 &&& 0x00000001, _): set_mode(Mode.READ);
            (Mode.ADD, 33, 0x00000002 &&& 0x00000002, _): set_mode(Mode.READ);
            (Mode.ADD, 34, 0x00000004 &&& 0x00000004, _): set_mode(Mode.READ);
            (Mode.ADD, 35, 0x00000008 &&& 0x00000008, _): set_mode(Mode.READ);
            (Mode.ADD, 36, 0x00000010 &&& 0x00000010, _): set_mode(Mode.READ);
            (Mode.ADD, 37, 0x00000020 &&& 0x00000020, _): set_mode(Mode.READ);
            (Mode.ADD, 38, 0x00000040 &&& 0x00000040, _): set_mode(Mode.READ);
            (Mode.ADD, 39, 0x00000080 &&& 0x00000080, _): set_mode(Mode.READ);
            (Mode.ADD, 40, 0x00000100 &&& 0x00000100, _): set_mode(Mode.READ);
            (Mode.ADD, 41, 0x00000200 &&& 0x00000200, _): set_mode(Mode.READ);
            (Mode.ADD, 42, 0x00000400 &&& 0x00000400, _): set_mode(Mode.READ);
            (Mode.ADD, 43, 0x00000800 &&& 0x00000800, _): set_mode(Mode.READ);
            (Mode.ADD, 44, 0x00001000 &&& 0x00001000, _): set_mode(Mode.READ);
            (Mode.ADD, 45, 0x00002000 &&& 0x00002000, _): set_mode(Mode.READ);
            (Mode.ADD, 46, 0x00004000 &&& 0x00004000, _): set_mode(Mode.READ);
            (Mode.ADD, 47, 0x00008000 &&& 0x00008000, _): set_mode(Mode.READ);
            (Mode.ADD, 48, 0x00010000 &&& 0x00010000, _): set_mode(Mode.READ);
            (Mode.ADD, 49, 0x00020000 &&& 0x00020000, _): set_mode(Mode.READ);
            (Mode.ADD, 50, 0x00040000 &&& 0x00040000, _): set_mode(Mode.READ);
            (Mode.ADD, 51, 0x00080000 &&& 0x00080000, _): set_mode(Mode.READ);
            (Mode.ADD, 52, 0x00100000 &&& 0x00100000, _): set_mode(Mode.READ);
            (Mode.ADD, 53, 0x00200000 &&& 0x00200000, _): set_mode(Mode.READ);
            (Mode.ADD, 54, 0x00400000 &&& 0x00400000, _): set_mode(Mode.READ);
            (Mode.ADD, 55, 0x00800000 &&& 0x00800000, _): set_mode(Mode.READ);
            (Mode.ADD, 56, 0x01000000 &&& 0x01000000, _): set_mode(Mode.READ);
            (Mode.ADD, 57, 0x02000000 &&& 0x02000000, _): set_mode(Mode.READ);
            (Mode.ADD, 58, 0x04000000 &&& 0x04000000, _): set_mode(Mode.READ);
            (Mode.ADD, 59, 0x08000000 &&& 0x08000000, _): set_mode(Mode.READ);
            (Mode.ADD, 60, 0x10000000 &&& 0x10000000, _): set_mode(Mode.READ);
            (Mode.ADD, 61, 0x20000000 &&& 0x20000000, _): set_mode(Mode.READ);
            (Mode.ADD, 62, 0x40000000 &&& 0x40000000, _): set_mode(Mode.READ);
            (Mode.ADD, 63, 0x80000000 &&& 0x80000000, _): set_mode(Mode.READ);
            (Mode.ADD, _, _, _): set_mode(Mode.ADD);
            (Mode.RAISE, 0, _, 0x00000001 &&& 0x00000001): set_mode(Mode.READ);
            (Mode.RAISE, 1, _, 0x00000002 &&& 0x00000002): set_mode(Mode.READ);
            (Mode.RAISE, 2, _, 0x00000004 &&& 0x00000004): set_mode(Mode.READ);
            (Mode.RAISE, 3, _, 0x00000008 &&& 0x00000008): set_mode(Mode.READ);
            (Mode.RAISE, 4, _, 0x00000010 &&& 0x00000010): set_mode(Mode.READ);
            (Mode.RAISE, 5, _, 0x00000020 &&& 0x00000020): set_mode(Mode.READ);
            (Mode.RAISE, 6, _, 0x00000040 &&& 0x00000040): set_mode(Mode.READ);
            (Mode.RAISE, 7, _, 0x00000080 &&& 0x00000080): set_mode(Mode.READ);
            (Mode.RAISE, 8, _, 0x00000100 &&& 0x00000100): set_mode(Mode.READ);
            (Mode.RAISE, 9, _, 0x00000200 &&& 0x00000200): set_mode(Mode.READ);
            (Mode.RAISE, 10, _, 0x00000400 &&& 0x00000400): set_mode(Mode.READ);
            (Mode.RAISE, 11, _, 0x00000800 &&& 0x00000800): set_mode(Mode.READ);
            (Mode.RAISE, 12, _, 0x00001000 &&& 0x00001000): set_mode(Mode.READ);
            (Mode.RAISE, 13, _, 0x00002000 &&& 0x00002000): set_mode(Mode.READ);
            (Mode.RAISE, 14, _, 0x00004000 &&& 0x00004000): set_mode(Mode.READ);
            (Mode.RAISE, 15, _, 0x00008000 &&& 0x00008000): set_mode(Mode.READ);
            (Mode.RAISE, 16, _, 0x00010000 &&& 0x00010000): set_mode(Mode.READ);
            (Mode.RAISE, 17, _, 0x00020000 &&& 0x00020000): set_mode(Mode.READ);
            (Mode.RAISE, 18, _, 0x00040000 &&& 0x00040000): set_mode(Mode.READ);
            (Mode.RAISE, 19, _, 0x00080000 &&& 0x00080000): set_mode(Mode.READ);
            (Mode.RAISE, 20, _, 0x00100000 &&& 0x00100000): set_mode(Mode.READ);
            (Mode.RAISE, 21, _, 0x00200000 &&& 0x00200000): set_mode(Mode.READ);
            (Mode.RAISE, 22, _, 0x00400000 &&& 0x00400000): set_mode(Mode.READ);
            (Mode.RAISE, 23, _, 0x00800000 &&& 0x00800000): set_mode(Mode.READ);
            (Mode.RAISE, 24, _, 0x01000000 &&& 0x01000000): set_mode(Mode.READ);
            (Mode.RAISE, 25, _, 0x02000000 &&& 0x02000000): set_mode(Mode.READ);
            (Mode.RAISE, 26, _, 0x04000000 &&& 0x04000000): set_mode(Mode.READ);
            (Mode.RAISE, 27, _, 0x08000000 &&& 0x08000000): set_mode(Mode.READ);
            (Mode.RAISE, 28, _, 0x10000000 &&& 0x10000000): set_mode(Mode.READ);
            (Mode.RAISE, 29, _, 0x20000000 &&& 0x20000000): set_mode(Mode.READ);
            (Mode.RAISE, 30, _, 0x40000000 &&& 0x40000000): set_mode(Mode.READ);
            (Mode.RAISE, 31, _, 0x80000000 &&& 0x80000000): set_mode(Mode.READ);
            (Mode.RAISE, 32, 0x00000001 &&& 0x00000001, _): set_mode(Mode.READ);
            (Mode.RAISE, 33, 0x00000002 &&& 0x00000002, _): set_mode(Mode.READ);
            (Mode.RAISE, 34, 0x00000004 &&& 0x00000004, _): set_mode(Mode.READ);
            (Mode.RAISE, 35, 0x00000008 &&& 0x00000008, _): set_mode(Mode.READ);
            (Mode.RAISE, 36, 0x00000010 &&& 0x00000010, _): set_mode(Mode.READ);
            (Mode.RAISE, 37, 0x00000020 &&& 0x00000020, _): set_mode(Mode.READ);
            (Mode.RAISE, 38, 0x00000040 &&& 0x00000040, _): set_mode(Mode.READ);
            (Mode.RAISE, 39, 0x00000080 &&& 0x00000080, _): set_mode(Mode.READ);
            (Mode.RAISE, 40, 0x00000100 &&& 0x00000100, _): set_mode(Mode.READ);
            (Mode.RAISE, 41, 0x00000200 &&& 0x00000200, _): set_mode(Mode.READ);
            (Mode.RAISE, 42, 0x00000400 &&& 0x00000400, _): set_mode(Mode.READ);
            (Mode.RAISE, 43, 0x00000800 &&& 0x00000800, _): set_mode(Mode.READ);
            (Mode.RAISE, 44, 0x00001000 &&& 0x00001000, _): set_mode(Mode.READ);
            (Mode.RAISE, 45, 0x00002000 &&& 0x00002000, _): set_mode(Mode.READ);
            (Mode.RAISE, 46, 0x00004000 &&& 0x00004000, _): set_mode(Mode.READ);
            (Mode.RAISE, 47, 0x00008000 &&& 0x00008000, _): set_mode(Mode.READ);
            (Mode.RAISE, 48, 0x00010000 &&& 0x00010000, _): set_mode(Mode.READ);
            (Mode.RAISE, 49, 0x00020000 &&& 0x00020000, _): set_mode(Mode.READ);
            (Mode.RAISE, 50, 0x00040000 &&& 0x00040000, _): set_mode(Mode.READ);
            (Mode.RAISE, 51, 0x00080000 &&& 0x00080000, _): set_mode(Mode.READ);
            (Mode.RAISE, 52, 0x00100000 &&& 0x00100000, _): set_mode(Mode.READ);
            (Mode.RAISE, 53, 0x00200000 &&& 0x00200000, _): set_mode(Mode.READ);
            (Mode.RAISE, 54, 0x00400000 &&& 0x00400000, _): set_mode(Mode.READ);
            (Mode.RAISE, 55, 0x00800000 &&& 0x00800000, _): set_mode(Mode.READ);
            (Mode.RAISE, 56, 0x01000000 &&& 0x01000000, _): set_mode(Mode.READ);
            (Mode.RAISE, 57, 0x02000000 &&& 0x02000000, _): set_mode(Mode.READ);
            (Mode.RAISE, 58, 0x04000000 &&& 0x04000000, _): set_mode(Mode.READ);
            (Mode.RAISE, 59, 0x08000000 &&& 0x08000000, _): set_mode(Mode.READ);
            (Mode.RAISE, 60, 0x10000000 &&& 0x10000000, _): set_mode(Mode.READ);
            (Mode.RAISE, 61, 0x20000000 &&& 0x20000000, _): set_mode(Mode.READ);
            (Mode.RAISE, 62, 0x40000000 &&& 0x40000000, _): set_mode(Mode.READ);
            (Mode.RAISE, 63, 0x80000000 &&& 0x80000000, _): set_mode(Mode.READ);
            (Mode.RAISE, _, _, _): set_mode(Mode.RAISE);
        }
        size = 131;
    }

    apply {
        use_63.apply();
        use_62.apply();
        use_61.apply();
        use_60.apply();
        decide.apply();
        use_59.apply();
        use_58.apply();
        use_57.apply();
        use_56.apply();
        use_55.apply();
        use_54.apply();
        use_53.apply();
        use_52.apply();
        use_51.apply();
        use_50.apply();
        use_49.apply();
        use_48.apply();
        use_47.apply();
        use_46.apply();
        use_45.apply();
        use_44.apply();
        use_43.apply();
        use_42.apply();
        use_41.apply();
        use_40.apply();
        use_39.apply();
        use_38.apply();
        use_37.apply();
        use_36.apply();
        use_35.apply();
        use_34.apply();
        use_33.apply();
        use_32.apply();
        use_31.apply();
        use_30.apply();
        use_29.apply();
        use_28.apply();
        use_27.apply();
        use_26.apply();
        use_25.apply();
        use_24.apply();
        use_23.apply();
        use_22.apply();
        use_21.apply();
        use_20.apply();
        use_19.apply();
        use_18.apply();
        use_17.apply();
        use_16.apply();
        use_15.apply();
        use_14.apply();
        use_13.apply();
        use_12.apply();
        use_11.apply();
        use_10.apply();
        use_9.apply();
        use_8.apply();
        use_7.apply();
        use_6.apply();
        use_5.apply();
        use_4.apply();
        use_3.apply();
        use_2.apply();
        use_1.apply();
        use_0.apply();
    }
}

// Is a value at a limit? Of those before the last stage, in the order of the sums.
control IngressLimits(inout ingress_headers_t hdr) {
    @hidden action note() { hdr.bridge.limit = 1; }

    @stage(6)
    @hidden table limits_from_63 {
        key = {
            hdr.rest.v63: ternary;
            hdr.rest.v62: ternary;
            hdr.rest.v61: ternary;
            hdr.rest.v60: ternary;
            hdr.rest.v59: ternary;
            hdr.rest.v58: ternary;
            hdr.rest.v57: ternary;
            hdr.rest.v56: ternary;
        }
        actions = { note; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (0x7fffffff, _, _, _, _, _, _, _): note();
            (0x80000000, _, _, _, _, _, _, _): note();
            (_, 0x7fffffff, _, _, _, _, _, _): note();
            (_, 0x80000000, _, _, _, _, _, _): note();
            (_, _, 0x7fffffff, _, _, _, _, _): note();
            (_, _, 0x80000000, _, _, _, _, _): note();
            (_, _, _, 0x7fffffff, _, _, _, _): note();
            (_, _, _, 0x80000000, _, _, _, _): note();
            (_, _, _, _, 0x7fffffff, _, _, _): note();
            (_, _, _, _, 0x80000000, _, _, _): note();
            (_, _, _, _, _, 0x7fffffff, _, _): note();
            (_, _, _, _, _, 0x80000000, _, _): note();
            (_, _, _, _, _, _, 0x7fffffff, _): note();
            (_, _, _, _, _, _, 0x80000000, _): note();
            (_, _, _, _, _, _, _, 0x7fffffff): note();
            (_, _, _, _, _, _, _, 0x80000000): note();
        }
        size = 16;
    }

    @stage(8)
    @hidden table limits_from_55 {
        key = {
            hdr.rest.v55: ternary;
            hdr.rest.v54: ternary;
            hdr.rest.v53: ternary;
            hdr.rest.v52: ternary;
            hdr.rest.v51: ternary;
            hdr.rest.v50: ternary;
            hdr.rest.v49: ternary;
            hdr.rest.v48: ternary;
        }
        actions = { note; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (0x7fffffff, _, _, _, _, _, _, _): note();
            (0x80000000, _, _, _, _, _, _, _): note();
            (_, 0x7fffffff, _, _, _, _, _, _): note();
            (_, 0x80000000, _, _, _, _, _, _): note();
            (_, _, 0x7fffffff, _, _, _, _, _): note();
            (_, _, 0x80000000, _, _, _, _, _): note();
            (_, _, _, 0x7fffffff, _, _, _, _): note();
            (_, _, _, 0x80000000, _, _, _, _): note();
            (_, _, _, _, 0x7fffffff, _, _, _): note();
            (_, _, _, _, 0x80000000, _, _, _): note();
            (_, _, _, _, _, 0x7fffffff, _, _): note();
            (_, _, _, _, _, 0x80000000, _, _): note();
            (_, _, _, _, _, _, 0x7fffffff, _): note();
            (_, _, _, _, _, _, 0x80000000, _): note();
            (_, _, _, _, _, _, _, 0x7fffffff): note();
            (_, _, _, _, _, _, _, 0x80000000): note();
        }
        size = 16;
    }

    @stage(10)
    @hidden table limits_from_47 {
        key = {
            hdr.rest.v47: ternary;
            hdr.rest.v46: ternary;
            hdr.rest.v45: ternary;
            hdr.rest.v44: ternary;
            hdr.rest.v43: ternary;
            hdr.rest.v42: ternary;
            hdr.rest.v41: ternary;
            hdr.rest.v40: ternary;
        }
        actions = { note; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (0x7fffffff, _, _, _, _, _, _, _): note();
            (0x80000000, _, _, _, _, _, _, _): note();
            (_, 0x7fffffff, _, _, _, _, _, _): note();
            (_, 0x80000000, _, _, _, _, _, _): note();
            (_, _, 0x7fffffff, _, _, _, _, _): note();
            (_, _, 0x80000000, _, _, _, _, _): note();
            (_, _, _, 0x7fffffff, _, _, _, _): note();
            (_, _, _, 0x80000000, _, _, _, _): note();
            (_, _, _, _, 0x7fffffff, _, _, _): note();
            (_, _, _, _, 0x80000000, _, _, _): note();
            (_, _, _, _, _, 0x7fffffff, _, _): note();
            (_, _, _, _, _, 0x80000000, _, _): note();
            (_, _, _, _, _, _, 0x7fffffff, _): note();
            (_, _, _, _, _, _, 0x80000000, _): note();
            (_, _, _, _, _, _, _, 0x7fffffff): note();
            (_, _, _, _, _, _, _, 0x80000000): note();
        }
        size = 16;
    }

    @stage(12)
    @hidden table limits_from_39 {
        key = {
            hdr.rest.v39: ternary;
            hdr.rest.v38: ternary;
            hdr.rest.v37: ternary;
            hdr.rest.v36: ternary;
            hdr.rest.v35: ternary;
            hdr.rest.v34: ternary;
            hdr.rest.v33: ternary;
            hdr.rest.v32: ternary;
        }
        actions = { note; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (0x7fffffff, _, _, _, _, _, _, _): note();
            (0x80000000, _, _, _, _, _, _, _): note();
            (_, 0x7fffffff, _, _, _, _, _, _): note();
            (_, 0x80000000, _, _, _, _, _, _): note();
            (_, _, 0x7fffffff, _, _, _, _, _): note();
            (_, _, 0x80000000, _, _, _, _, _): note();
            (_, _, _, 0x7fffffff, _, _, _, _): note();
            (_, _, _, 0x80000000, _, _, _, _): note();
            (_, _, _, _, 0x7fffffff, _, _, _): note();
            (_, _, _, _, 0x80000000, _, _, _): note();
            (_, _, _, _, _, 0x7fffffff, _, _): note();
            (_, _, _, _, _, 0x80000000, _, _): note();
            (_, _, _, _, _, _, 0x7fffffff, _): note();
            (_, _, _, _, _, _, 0x80000000, _): note();
            (_, _, _, _, _, _, _, 0x7fffffff): note();
            (_, _, _, _, _, _, _, 0x80000000): note();
        }
        size = 16;
    }

    @stage(14)
    @hidden table limits_from_31 {
        key = {
            hdr.rest.v31: ternary;
            hdr.rest.v30: ternary;
            hdr.rest.v29: ternary;
            hdr.rest.v28: ternary;
            hdr.rest.v27: ternary;
            hdr.rest.v26: ternary;
            hdr.rest.v25: ternary;
            hdr.rest.v24: ternary;
        }
        actions = { note; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (0x7fffffff, _, _, _, _, _, _, _): note();
            (0x80000000, _, _, _, _, _, _, _): note();
            (_, 0x7fffffff, _, _, _, _, _, _): note();
            (_, 0x80000000, _, _, _, _, _, _): note();
            (_, _, 0x7fffffff, _, _, _, _, _): note();
            (_, _, 0x80000000, _, _, _, _, _): note();
            (_, _, _, 0x7fffffff, _, _, _, _): note();
            (_, _, _, 0x80000000, _, _, _, _): note();
            (_, _, _, _, 0x7fffffff, _, _, _): note();
            (_, _, _, _, 0x80000000, _, _, _): note();
            (_, _, _, _, _, 0x7fffffff, _, _): note();
            (_, _, _, _, _, 0x80000000, _, _): note();
            (_, _, _, _, _, _, 0x7fffffff, _): note();
            (_, _, _, _, _, _, 0x80000000, _): note();
            (_, _, _, _, _, _, _, 0x7fffffff): note();
            (_, _, _, _, _, _, _, 0x80000000): note();
        }
        size = 16;
    }

    @stage(16)
    @hidden table limits_from_23 {
        key = {
            hdr.rest.v23: ternary;
            hdr.rest.v22: ternary;
            hdr.rest.v21: ternary;
            hdr.rest.v20: ternary;
            hdr.rest.v19: ternary;
            hdr.rest.v18: ternary;
            hdr.rest.v17: ternary;
            hdr.rest.v16: ternary;
        }
        actions = { note; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (0x7fffffff, _, _, _, _, _, _, _): note();
            (0x80000000, _, _, _, _, _, _, _): note();
            (_, 0x7fffffff, _, _, _, _, _, _): note();
            (_, 0x80000000, _, _, _, _, _, _): note();
            (_, _, 0x7fffffff, _, _, _, _, _): note();
            (_, _, 0x80000000, _, _, _, _, _): note();
            (_, _, _, 0x7fffffff, _, _, _, _): note();
            (_, _, _, 0x80000000, _, _, _, _): note();
            (_, _, _, _, 0x7fffffff, _, _, _): note();
            (_, _, _, _, 0x80000000, _, _, _): note();
            (_, _, _, _, _, 0x7fffffff, _, _): note();
            (_, _, _, _, _, 0x80000000, _, _): note();
            (_, _, _, _, _, _, 0x7fffffff, _): note();
            (_, _, _, _, _, _, 0x80000000, _): note();
            (_, _, _, _, _, _, _, 0x7fffffff): note();
            (_, _, _, _, _, _, _, 0x80000000): note();
        }
        size = 16;
    }

    @stage(18)
    @hidden table limits_from_15 {
        key = {
            hdr.rest.v15: ternary;
            hdr.rest.v14: ternary;
            hdr.rest.v13: ternary;
            hdr.rest.v12: ternary;
            hdr.rest.v11: ternary;
            hdr.rest.v10: ternary;
            hdr.rest.v9: ternary;
            hdr.rest.v8: ternary;
        }
        actions = { note; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (0x7fffffff, _, _, _, _, _, _, _): note();
            (0x80000000, _, _, _, _, _, _, _): note();
            (_, 0x7fffffff, _, _, _, _, _, _): note();
            (_, 0x80000000, _, _, _, _, _, _): note();
            (_, _, 0x7fffffff, _, _, _, _, _): note();
            (_, _, 0x80000000, _, _, _, _, _): note();
            (_, _, _, 0x7fffffff, _, _, _, _): note();
            (_, _, _, 0x80000000, _, _, _, _): note();
            (_, _, _, _, 0x7fffffff, _, _, _): note();
            (_, _, _, _, 0x80000000, _, _, _): note();
            (_, _, _, _, _, 0x7fffffff, _, _): note();
            (_, _, _, _, _, 0x80000000, _, _): note();
            (_, _, _, _, _, _, 0x7fffffff, _): note();
            (_, _, _, _, _, _, 0x80000000, _): note();
            (_, _, _, _, _, _, _, 0x7fffffff): note();
            (_, _, _, _, _, _, _, 0x80000000): note();
        }
        size = 16;
    }

    @stage(19)
    @hidden table limits_from_7 {
        key = {
            hdr.rest.v7: ternary;
            hdr.rest.v6: ternary;
            hdr.rest.v5: ternary;
            hdr.rest.v4: ternary;
        }
        actions = { note; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (0x7fffffff, _, _, _): note();
            (0x80000000, _, _, _): note();
            (_, 0x7fffffff, _, _): note();
            (_, 0x80000000, _, _): note();
            (_, _, 0x7fffffff, _): note();
            (_, _, 0x80000000, _): note();
            (_, _, _, 0x7fffffff): note();
            (_, _, _, 0x80000000): note();
        }
        size = 8;
    }

    apply {
        limits_from_63.apply();
        limits_from_55.apply();
        limits_from_47.apply();
        limits_from_39.apply();
        limits_from_31.apply();
        limits_from_23.apply();
        limits_from_15.apply();
        limits_from_7.apply();
    }
}

// Of the others.
control EgressLimits(in egress_headers_t hdr, inout egress_metadata_t meta) {
    @hidden action note() { meta.limit = 1; }

    @hidden table limits_from_3 {
        key = {
            hdr.front.v3: ternary;
            hdr.front.v2: ternary;
            hdr.front.v1: ternary;
            hdr.front.v0: ternary;
        }
        actions = { note; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (0x7fffffff, _, _, _): note();
            (0x80000000, _, _, _): note();
            (_, 0x7fffffff, _, _): note();
            (_, 0x80000000, _, _): note();
            (_, _, 0x7fffffff, _): note();
            (_, _, 0x80000000, _): note();
            (_, _, _, 0x7fffffff): note();
            (_, _, _, 0x80000000): note();
        }
        size = 8;
    }

    apply {
        limits_from_3.apply();
    }
}
