//! A switch under test: started, given our program and the entries of one shard.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use inart_p4runtime::p4::v1::Update;
use inart_p4runtime::{Client, DeviceId, Entry, Pipeline, PipelineAction, Schema, Target};
use inart_wire::ValuesPerPacket;

use crate::load::{EPOCH, JOB, SHARD, WORKERS};
use crate::network;

/// A running switch; it is killed when dropped.
pub struct Rival(Child);

/// Whether there is such a program.
pub fn on_path(program: &str) -> bool {
    let quiet = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok()
}

impl Rival {
    /// Starts `program` with simple_switch_grpc's command line on the ports and installs what the load needs.
    pub fn start(name: &str, program: &str, values: ValuesPerPacket, window: u32) -> Result<Self> {
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let mut command = Command::new(program);
        // Both take simple_switch_grpc's command line.
        if name == "inart" {
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
        let rival = Self(child);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(install(&address, values, window))?;
        Ok(rival)
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn install(address: &str, values: ValuesPerPacket, window: u32) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    let client = loop {
        match Client::connect(Target::new(address, DeviceId(1))).await {
            Ok(client) => break client,
            Err(error) if Instant::now() > deadline => bail!(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    client.wait_primary(Duration::from_secs(5)).await?;
    let artifact = inart_p4::artifact(values);
    let schema = Schema::from_text(&artifact.p4info)?;
    let pipeline =
        Pipeline { p4info: schema.info().clone(), device_config: artifact.json.to_vec(), cookie: None };
    client.set_pipeline(PipelineAction::VerifyAndCommit, Some(pipeline)).await?;
    let updates = (0..WORKERS).map(|rank| {
        let entry = Entry::new("steer")
            .exact("epoch", u64::from(EPOCH))
            .exact("job", u64::from(JOB))
            .exact("shard", u64::from(SHARD))
            .exact("worker", u64::from(rank))
            .exact("ingress", 1u64)
            .action(
                "add",
                [
                    ("port", 2),
                    ("base", 0),
                    ("mask", u64::from(window - 1)),
                    ("members", 1 << rank),
                    ("expected", (1 << WORKERS) - 1),
                ],
            );
        Ok(Update::insert(schema.encode(&entry)?))
    });
    let updates = updates.collect::<Result<Vec<_>>>()?;
    client.write(updates).await?;
    Ok(())
}
