//! The first term that two processes do not share.

/// A term that differs between this process and another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The term's name.
    pub name: String,
    /// This process's value; `None` if it has no such term.
    pub own: Option<String>,
    /// The other process's value; `None` if it has no such term.
    pub other: Option<String>,
}

impl Difference {
    /// Names both values: "n2 has seed 9, this site has seed 1". `other` and `own` name the processes.
    pub fn between(&self, other: &str, own: &str) -> String {
        let has = |value: &Option<String>| match value {
            Some(value) => format!("has {} {value}", self.name),
            None => format!("has no {}", self.name),
        };
        format!("{other} {}, {own} {}", has(&self.other), has(&self.own))
    }
}
