//! Congestion controllers in addition to quinn's.

mod controller;
mod delivery_rate;

pub(crate) use controller::DeliveryRateConfig;
pub(crate) use delivery_rate::ACKNOWLEDGED_TOGETHER;
