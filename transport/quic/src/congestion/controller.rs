//! [`DeliveryRate`] as quinn wants a controller.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn::congestion::{Controller, ControllerFactory};
use quinn_proto::RttEstimator;

use super::delivery_rate::DeliveryRate;

/// Builds controllers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DeliveryRateConfig;

impl ControllerFactory for DeliveryRateConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(DeliveryRate::new(now, current_mtu))
    }
}

impl Controller for DeliveryRate {
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.acknowledged(now, sent, bytes, app_limited, rtt.min());
    }

    fn on_congestion_event(&mut self, _now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        self.lost(sent, lost_bytes, is_persistent);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.set_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.window_bytes()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.first_window_bytes()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
