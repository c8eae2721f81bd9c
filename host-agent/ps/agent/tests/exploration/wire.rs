//! Layer between an agent and its connection that makes an agent's mistakes in its messages.

use bytes::Bytes;
use inart_ps_agent::{Body, Message, Packet, Precision, Tag, chunk_packet, decode, message_packet};

use super::mistakes::Mistake;

/// Higher than any hello's number.
const HELLOS: u64 = 1000;

/// State of one worker's packets so far.
#[derive(Debug, Clone, Default)]
pub struct Wire {
    /// The last permission of the server, and its iteration.
    ticket: u64,
    iteration: u64,
    /// Version that was pulled last.
    pub base: u64,
    /// The worker's incarnation, and its last hello.
    incarnation: u32,
    hello: u64,
    is_notified_of_end: bool,
}

/// Returns the server's incarnation, the upper half of its permissions' numbers.
fn incarnation_of(ticket: u64) -> u64 {
    ticket >> 32 << 32
}

impl Wire {
    /// Returns what leaves for a message of the server; `None` for nothing.
    pub fn server_sends(&mut self, data: Bytes, mistake: Mistake, newest: &[f32]) -> Option<Bytes> {
        match decode(&data).unwrap() {
            Packet::Message(message) => self.message_of_server(message, mistake),
            Packet::Chunk { tag, number, values } => {
                let at = number as usize * values.len();
                let tag = Tag { ticket: self.alias(tag.ticket, mistake), ..tag };
                Some(match mistake {
                    Mistake::NewestModel => single(&tag, number, &newest[at..at + values.len()]),
                    Mistake::NumbersAgain => single(&tag, number, &values),
                    _ => data,
                })
            }
        }
    }

    fn message_of_server(&mut self, message: Message, mistake: Mistake) -> Option<Bytes> {
        let Message { worker_incarnation, server_incarnation, mut body } = message;
        match body.as_mut()? {
            Body::Permit(permit) => {
                (self.ticket, self.iteration) = (permit.ticket, permit.iteration);
                permit.ticket = self.alias(permit.ticket, mistake);
            }
            Body::Pushed(pushed) => pushed.ticket = self.alias(pushed.ticket, mistake),
            Body::NotPermitted(_) if mistake == Mistake::NotNotPermitted => return None,
            Body::NotPermitted(not) => not.ticket = self.alias(not.ticket, mistake),
            Body::Unknown(_) if mistake == Mistake::NotUnknown => return None,
            Body::Welcome(welcome) => {
                if mistake == Mistake::EarlierHellos {
                    welcome.number = HELLOS - welcome.number;
                }
                if mistake == Mistake::NothingMissing {
                    welcome.missing.clear();
                }
            }
            Body::Over(_)
                if mistake == Mistake::OverOnce && std::mem::replace(&mut self.is_notified_of_end, true) =>
            {
                return None;
            }
            _ => {}
        }
        Some(message_packet(worker_incarnation, server_incarnation, body?))
    }

    /// Returns what leaves for a message of the worker.
    pub fn worker_sends(&mut self, data: Bytes, mistake: Mistake) -> Bytes {
        match decode(&data).unwrap() {
            Packet::Message(Message { worker_incarnation, body: Some(Body::Hello(mut hello)), .. }) => {
                (self.incarnation, self.hello) = (worker_incarnation, hello.number);
                if mistake == Mistake::NamesNothing {
                    (hello.ticket, hello.ticket_of) = (0, 0);
                }
                message_packet(worker_incarnation, 0, Body::Hello(hello))
            }
            Packet::Chunk { tag, number, values } if mistake == Mistake::BeyondHalf => {
                half_of_any(&tag, number, &values)
            }
            Packet::Chunk { tag, number, values } if mistake == Mistake::CutOff => {
                let cut = |value: &f32| f32::from_bits(value.to_bits() & !0x1fff);
                single(&tag, number, &values.iter().map(cut).collect::<Vec<_>>())
            }
            _ => data,
        }
    }

    /// Returns what the server receives.
    pub fn server_receives(&self, data: &Bytes, mistake: Mistake) -> Bytes {
        match (mistake, decode(data).unwrap()) {
            (Mistake::NumbersAgain, packet) => self.by_own_number(packet),
            (Mistake::AnyPermission, Packet::Chunk { tag, number, values }) => {
                single(&Tag { ticket: self.ticket, version: self.base, ..tag }, number, &values)
            }
            (Mistake::EarlierHellos, Packet::Message(message)) => {
                let Message { worker_incarnation, server_incarnation, mut body } = message;
                if let Some(Body::Hello(hello)) = &mut body {
                    hello.number = HELLOS - hello.number;
                }
                message_packet(worker_incarnation, server_incarnation, body.unwrap())
            }
            _ => data.clone(),
        }
    }

    /// Returns what the worker receives, if anything.
    pub fn worker_receives(&self, data: &Bytes, mistake: Mistake) -> Option<Bytes> {
        let Ok(Packet::Message(message)) = decode(data) else {
            return Some(data.clone());
        };
        let Message { worker_incarnation, server_incarnation, body: Some(Body::Welcome(mut welcome)) } =
            message
        else {
            return Some(data.clone());
        };
        match mistake {
            Mistake::NotUnknown if worker_incarnation != self.incarnation => None,
            Mistake::EarlierAnswers => {
                welcome.number = self.hello;
                Some(message_packet(worker_incarnation, server_incarnation, Body::Welcome(welcome)))
            }
            _ => Some(data.clone()),
        }
    }

    /// Returns a permission's number under the mistake: an incarnation of the server, and the iteration.
    fn alias(&self, ticket: u64, mistake: Mistake) -> u64 {
        match mistake {
            Mistake::NumbersAgain if ticket == self.ticket => incarnation_of(ticket) | (self.iteration + 1),
            _ => ticket,
        }
    }

    fn by_own_number(&self, packet: Packet) -> Bytes {
        let own = |ticket: u64| {
            if ticket == self.alias(self.ticket, Mistake::NumbersAgain) { self.ticket } else { ticket }
        };
        match packet {
            Packet::Chunk { tag, number, values } => {
                single(&Tag { ticket: own(tag.ticket), ..tag }, number, &values)
            }
            Packet::Message(Message { worker_incarnation, server_incarnation, mut body }) => {
                match &mut body {
                    Some(Body::Hello(hello)) => hello.ticket = own(hello.ticket),
                    Some(Body::Pull(pull)) => pull.ticket = own(pull.ticket),
                    _ => {}
                }
                message_packet(worker_incarnation, server_incarnation, body.unwrap())
            }
        }
    }
}

fn single(tag: &Tag, number: u32, values: &[f32]) -> Bytes {
    chunk_packet(tag, number, values, Precision::Single)
}

/// Returns a chunk as float16, with infinity for values outside its range.
fn half_of_any(tag: &Tag, number: u32, values: &[f32]) -> Bytes {
    let most = |value: &f32| if value.abs() >= 65520.0 { f32::INFINITY.copysign(*value) } else { *value };
    chunk_packet(tag, number, &values.iter().map(most).collect::<Vec<_>>(), Precision::Half)
}
