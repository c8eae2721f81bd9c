//! Ports by the driver's own tables, which exist with any program.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use inart_bfruntime::{Client, Fec as DriverFec, PortSettings, PortState, Speed};

use super::ports;
use super::session::{connect, switch_error};
use crate::endpoint::Endpoint;
use crate::error::SwitchError;
use crate::port_table::{Fec, PortSetup, PortStatus, PortTable};

const FECS: [(Fec, DriverFec); 3] = [
    (Fec::None, DriverFec::None),
    (Fec::FireCode, DriverFec::FireCode),
    (Fec::ReedSolomon, DriverFec::ReedSolomon),
];

/// Ports of a switch with any program.
pub struct Ports(Client);

impl Ports {
    /// Connects. The client that is bound to the program stays bound.
    pub async fn open(place: Endpoint) -> Result<Self, SwitchError> {
        let client = connect(place).await?;
        let configs = client.configs().await.map_err(switch_error)?;
        let Some(program) = configs.programs.first() else {
            return Err(SwitchError::Refused(
                "it runs no program, and has no ports without one: apply a plan first".to_owned(),
            ));
        };
        let device = configs.device_info().map_err(|error| switch_error(error.into()))?;
        client.use_program(&program.name, Arc::new(device));
        Ok(Self(client))
    }

    async fn read_all(&self) -> Result<BTreeMap<u64, PortStatus>, SwitchError> {
        let states = self.0.read_ports().await.map_err(switch_error)?;
        let counts = self.0.read_port_counts().await.map_err(switch_error)?;
        let status = |state: PortState| {
            let PortState { settings, up, front } = state;
            let counts = counts.get(&settings.number).copied().unwrap_or_default();
            let fec =
                FECS.iter().find(|(_, theirs)| *theirs == settings.fec).map_or(Fec::None, |(fec, _)| *fec);
            let setup = PortSetup {
                gbps: settings.speed.gbps(),
                fec,
                enabled: settings.enabled,
                loopback: settings.loopback,
            };
            let (frames, bytes) =
                ([counts.received, counts.sent], [counts.received_bytes, counts.sent_bytes]);
            (u64::from(settings.number), PortStatus { setup, up, front, frames, bytes })
        };
        Ok(states.into_iter().map(status).collect())
    }

    async fn set_all(&self, ports: &BTreeMap<u64, PortSetup>) -> Result<(), SwitchError> {
        let settings = ports.iter().map(|(number, setup)| {
            let refused = |what: String| SwitchError::Refused(format!("port {number}: {what}"));
            let speed = Speed::of_gbps(setup.gbps);
            let fec = FECS.iter().find(|(ours, _)| *ours == setup.fec);
            Ok(PortSettings {
                number: u32::try_from(*number).map_err(|_| refused("the number is too large".to_owned()))?,
                speed: speed.ok_or_else(|| refused(format!("no port has {} Gbit/s", setup.gbps)))?,
                fec: fec.map_or(DriverFec::None, |(_, theirs)| *theirs),
                enabled: setup.enabled,
                loopback: setup.loopback,
            })
        });
        let settings = settings.collect::<Result<Vec<_>, SwitchError>>()?;
        self.0.set_ports(&settings).await.map_err(switch_error)
    }
}

impl PortTable for Ports {
    fn pipe(&self, number: u64) -> u64 {
        ports::pipe_of(number)
    }

    fn read(&mut self) -> BoxFuture<'_, Result<BTreeMap<u64, PortStatus>, SwitchError>> {
        self.read_all().boxed()
    }

    fn front_ports(&mut self) -> BoxFuture<'_, Result<BTreeMap<(u32, u32), u64>, SwitchError>> {
        async {
            let ports = self.0.read_front_ports().await.map_err(switch_error)?;
            Ok(ports.into_iter().map(|(lane, number)| (lane, u64::from(number))).collect())
        }
        .boxed()
    }

    fn set_up<'a>(
        &'a mut self,
        ports: &'a BTreeMap<u64, PortSetup>,
    ) -> BoxFuture<'a, Result<(), SwitchError>> {
        self.set_all(ports).boxed()
    }
}
