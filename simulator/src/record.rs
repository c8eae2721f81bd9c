//! What one worker saw of a round.

use inart_core::RoundRecord;

/// A round as one worker saw it.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub sent: Vec<i32>,
    pub exponents: Vec<i8>,
    pub result: Vec<i32>,
    pub result_exponents: Vec<i8>,
}

impl Record {
    pub fn of(record: RoundRecord) -> Self {
        let numbers = |exponents: &[inart_wire::Exponent]| exponents.iter().map(|e| e.get()).collect();
        Self {
            sent: record.sent,
            exponents: numbers(&record.exponents),
            result: record.result,
            result_exponents: numbers(&record.result_exponents),
        }
    }
}
