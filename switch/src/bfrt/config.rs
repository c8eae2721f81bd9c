//! Tables that a device has with any program.

/// `bf-rt.json` of the device's own tables, as far as they are served: names, numbers and types as the driver
/// has them for a Tofino 1.
pub(super) const DEVICE_INFO: &[u8] = include_bytes!("device.json");
