//! Attributes of nodes and edges, as tools and people name them.

use crate::NetworkError;
use crate::switched::MTUS;
use crate::units::{Rate, Seconds};

/// Role of a node, as far as a file states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Switch,
    /// A host, to be made a server or a worker.
    Host,
    Server,
    Worker,
}

/// Names with values, as written; names are compared without regard to case.
#[derive(Debug, Clone, Default)]
pub(super) struct Attributes(pub Vec<(String, String)>);

impl Attributes {
    /// Sets a value, over one that is there.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.0.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some(known) => value.clone_into(&mut known.1),
            None => self.0.push((name.to_owned(), value.to_owned())),
        }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns the role by `inart-role`, `role`, `kind` or `type`; other values are ignored.
    pub fn role(&self) -> Option<Role> {
        ["inart-role", "inart_role", "role", "kind", "type"]
            .into_iter()
            .filter_map(|name| self.get(name))
            .find_map(|value| match value.to_ascii_lowercase().as_str() {
                "switch" | "router" | "bridge" | "leaf" | "spine" | "superspine" | "tor" | "core"
                | "aggregation" | "agg" => Some(Role::Switch),
                "host" | "linux" => Some(Role::Host),
                "server" | "ps" => Some(Role::Server),
                "worker" => Some(Role::Worker),
                _ => None,
            })
    }

    /// Returns the link's rate in bit/s by `LinkSpeedRaw` (bit/s), `bandwidth`, `bw`, `rate`, `capacity`,
    /// `speed`, or
    /// `LinkSpeed` with `LinkSpeedUnits`; a bare number counts `unit_bps`. `Err` holds text that is no rate.
    pub fn rate(&self, unit_bps: f64, place: &str) -> Result<Option<Result<f64, String>>, NetworkError> {
        if let Some(raw) = self.get("LinkSpeedRaw") {
            return quantity("LinkSpeedRaw", raw, 1.0, place).map(Some);
        }
        let named = ["bandwidth", "bw", "rate", "capacity", "speed"]
            .into_iter()
            .find_map(|name| Some((name, self.get(name)?.to_owned())));
        let speed = || {
            let units = self.get("LinkSpeedUnits").unwrap_or_default();
            Some(("LinkSpeed", format!("{}{units}", self.get("LinkSpeed")?)))
        };
        let Some((name, text)) = named.or_else(speed) else { return Ok(None) };
        quantity(name, &text, unit_bps, place).map(Some)
    }

    /// `aggregation_capacity` or `ingress_capacity` of a node, in bit/s. Their old names are refused.
    pub fn capacity(
        &self,
        name: &str,
        unit_bps: f64,
        place: &str,
    ) -> Result<Option<Result<f64, String>>, NetworkError> {
        let old = name.trim_end_matches("_capacity");
        if self.get(old).is_some() {
            let (problem, fix) = (format!("`{old}` is now `{name}`"), format!("rename it to `{name}`"));
            return Err(NetworkError::new(None, place, problem, fix));
        }
        self.get(name).map(|text| quantity(name, text, unit_bps, place)).transpose()
    }

    /// Returns the link's delay in seconds by `delay` or `latency`; text that is no delay is handed back.
    pub fn delay(&self) -> Option<Result<f64, String>> {
        let text = self.get("delay").or_else(|| self.get("latency"))?;
        let delay = text.parse::<Seconds>().ok().map(|delay| delay.0).filter(|&delay| delay >= 0.0);
        Some(delay.ok_or_else(|| text.to_owned()))
    }

    /// Returns the link's MTU in bytes by `mtu`, or the largest valid one if it is larger; text that is
    /// none is handed back.
    pub fn mtu(&self) -> Option<Result<u16, String>> {
        let text = self.get("mtu")?;
        let bytes = text.parse::<f64>().ok().filter(|bytes| bytes.fract() == 0.0);
        let mtu = bytes.map(|bytes| (bytes as u16).min(*MTUS.end())).filter(|mtu| MTUS.contains(mtu));
        Some(mtu.ok_or_else(|| text.to_owned()))
    }
}

/// Returns a rate as tools write it. A number that is no capacity is an error, text that is no rate is handed
/// back.
fn quantity(name: &str, text: &str, unit_bps: f64, place: &str) -> Result<Result<f64, String>, NetworkError> {
    let wrong = || {
        NetworkError::new(None, place, format!("{name} is {text}"), "give a positive rate like \"20 Mbps\"")
    };
    let bps = match text.parse::<f64>() {
        Ok(number) => number * unit_bps,
        Err(_) => match Rate::of_tools(text) {
            Ok(rate) => rate.0,
            Err(_) => return Ok(Err(text.to_owned())),
        },
    };
    // A switch may have no aggregation at all.
    let least = if name == "aggregation_capacity" { 0.0 } else { f64::MIN_POSITIVE };
    if bps.is_finite() && bps >= least { Ok(Ok(bps)) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_no_capacity_are_errors() {
        let rate = |text: &str| Attributes(vec![("bw".into(), text.into())]).rate(1e6, "link a-b");
        assert_eq!(rate("10").unwrap(), Some(Ok(10e6)));
        assert_eq!(rate("10Gbps").unwrap(), Some(Ok(10e9)));
        assert_eq!(rate("some").unwrap(), Some(Err("some".into())));
        assert_eq!(rate(" ").unwrap(), None);
        for bad in ["0", "-5", "NaN", "inf", "-5 Mbps", "1e400"] {
            let error = rate(bad).unwrap_err().to_string();
            assert!(
                error.contains("link a-b") && error.contains(bad) && error.contains("20 Mbps"),
                "{error}"
            );
        }
    }
}
