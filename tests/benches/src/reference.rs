//! A switch under test: started, given our program and the entries of one shard.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use inart_tables::{PortNo, SlotRange, SteerAction, SteerKey, SwitchTables, diff};
use inart_targets::{Access, Endpoint, Precedence};
use inart_wire::{BitmapIndex, Contributors, Group, ValuesPerFrame};

use crate::load::{JOB, PLAN_VERSION, SHARD, WORKERS};
use crate::network;

/// A running switch; it is killed when dropped.
pub struct ReferenceSwitch(Child);

/// Returns whether there is such a program.
pub fn on_path(program: &str) -> bool {
    let quiet = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok()
}

impl ReferenceSwitch {
    /// Starts `program` with simple_switch_grpc's command line on the ports and installs what the load needs.
    pub fn start(name: &str, program: &str, values: ValuesPerFrame, window: u32) -> Result<Self> {
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let mut command = Command::new(program);
        // Both take simple_switch_grpc's command line.
        if name == "embedded" {
            command.arg("switch");
        }
        for (index, port) in network::PORTS.iter().enumerate() {
            command.args(["-i", &format!("{}@{port}", index + 1)]);
        }
        command.args(["--no-p4", "--device-id", "1", "--", "--grpc-server-addr", &address]);
        // bmv2 complains on stderr about a file that it does not need.
        let child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let reference = Self(child);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(install(&address, values, window))?;
        Ok(reference)
    }
}

impl Drop for ReferenceSwitch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn install(address: &str, values: ValuesPerFrame, window: u32) -> Result<()> {
    let program = inart_targets::DEFAULT.program(values, None)?;
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut session = loop {
        match program.open(Endpoint::local(address, 1), Access::Write(Precedence(1))).await {
            Ok(session) => break session,
            Err(error) if Instant::now() > deadline => bail!(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    session.load_program().await?;
    let port = |number: u64| PortNo::try_from(number).expect("ports count from 1");
    let mut tables = SwitchTables::default();
    for rank in 0..WORKERS {
        let worker = BitmapIndex::try_from(rank)?;
        let key = SteerKey {
            plan_version: PLAN_VERSION.into(),
            job: JOB.into(),
            shard: SHARD.into(),
            worker,
            ingress: port(1),
        };
        let slots = SlotRange { base: 0, len: window };
        let expected = Contributors::all_of(Group(0), WORKERS.into());
        let members = Contributors::one(worker);
        tables.steer.insert(key, SteerAction::Add { port: port(2), slots, members, expected });
    }
    session.write(&diff(&SwitchTables::default(), &tables)).await?;
    Ok(())
}
