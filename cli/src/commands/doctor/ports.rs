//! Problems with the ports of switches.

use std::time::Duration;

use futures::future::join_all;
use inart_controller::PortMap;
use inart_controller::link_ports::{LinkPort, elsewhere, link_ports, problems as of_ports};
use inart_targets::{Endpoint, SwitchError, Target};
use inart_topologies::switched::Topology;

/// Returns the problems of these switches' ports, for kinds of switch whose ports a controller sets up.
/// `timeout`: for the connection to one switch; its whole answer may take twice as long.
pub async fn problems(
    topology: &Topology,
    ports: &PortMap,
    target: &dyn Target,
    places: impl IntoIterator<Item = (String, Endpoint)>,
    timeout: Duration,
) -> Vec<String> {
    let all = places.into_iter().map(async |(name, place)| {
        let wanted = link_ports(topology, ports, &name, target);
        let place = Endpoint { timeout, ..place };
        let problems = match tokio::time::timeout(2 * timeout, of_switch(target, place, &wanted)).await {
            Ok(Ok(problems)) => problems,
            Ok(Err(error)) => vec![format!("its ports: {error}")],
            Err(_) => vec![format!("did not report its ports within {:?}", 2 * timeout)],
        };
        problems.into_iter().map(|problem| format!("switch {name}: {problem}")).collect::<Vec<_>>()
    });
    join_all(all).await.concat()
}

async fn of_switch(
    target: &dyn Target,
    place: Endpoint,
    wanted: &[LinkPort],
) -> Result<Vec<String>, SwitchError> {
    let Some(mut table) = target.open_ports(place).await? else { return Ok(Vec::new()) };
    let mut problems = elsewhere(wanted, &table.front_ports().await?);
    problems.extend(of_ports(wanted, &table.read().await?));
    Ok(problems)
}
