//! The stream of a client: while it is open, the device knows the client.

use inart_rpc::{DeviceMessage, Protocol};
use tonic::{Code, Status};

use super::target::Target;
use crate::bfrt_proto::{self as v, stream_message_request, stream_message_response, subscribe};

/// Event of a device: digests, idle entries, ports that went up or down, changed programs.
pub type Event = stream_message_response::Update;

/// The messages of BFRuntime's stream.
pub(super) enum Messages {}

impl Protocol for Messages {
    type Request = v::StreamMessageRequest;
    type Response = v::StreamMessageResponse;
    /// The device knows the client.
    type State = ();
    type Event = Event;

    fn read(message: v::StreamMessageResponse) -> DeviceMessage<(), Event> {
        match message.update {
            Some(Event::Subscribe(subscription)) => {
                let status = subscription.status.unwrap_or_default();
                match status.code == Code::Ok as i32 {
                    true => DeviceMessage::State(()),
                    false => DeviceMessage::Over(Status::new(status.code.into(), status.message)),
                }
            }
            Some(event) => DeviceMessage::Event(event),
            None => DeviceMessage::Nothing,
        }
    }
}

/// Returns the message by which a client makes itself known.
pub(super) fn subscription(target: &Target) -> v::StreamMessageRequest {
    let subscription = v::Subscribe {
        device_id: target.device.0,
        notifications: Some(subscribe::Notifications {
            enable_port_status_change_notifications: true,
            ..Default::default()
        }),
        ..Default::default()
    };
    v::StreamMessageRequest {
        client_id: target.client.0,
        update: Some(stream_message_request::Update::Subscribe(subscription)),
    }
}
