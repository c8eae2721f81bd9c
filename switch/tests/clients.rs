//! Other people's P4Runtime clients insert, read, modify and delete entries of our program's tables.
#![allow(clippy::unwrap_used)]

use crate::rig;

use std::path::Path;
use std::process::{Command, Output};

use inart_p4::artifact;
use rig::{DEVICE, Rig};

/// Runs a script in a virtual environment with the packages; `None` where Python cannot provide one.
fn python(name: &str, packages: &[&str], arguments: &[&str]) -> Option<Output> {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let venv = Command::new(Path::new(env!("INART_ROOT")).join("p4/p4runtime/tests/venv.sh"))
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("venv-{name}")))
        .args(packages)
        .output()
        .unwrap();
    if venv.status.code() == Some(77) {
        eprintln!("skipped: {}", String::from_utf8_lossy(&venv.stderr).trim());
        return None;
    }
    assert!(venv.status.success(), "{}", String::from_utf8_lossy(&venv.stderr));
    let python = String::from_utf8(venv.stdout).unwrap();
    let script = crate_dir.join("tests/clients").join(format!("{name}_client.py"));
    let limited = ["120", python.trim(), script.to_str().unwrap()];
    Some(Command::new("timeout").args(limited).args(arguments).output().unwrap())
}

async fn client_is_content(name: &'static str, packages: &'static [&'static str]) {
    let rig = Rig::start().await;
    let artifact = artifact(inart_wire::ValuesPerFrame::N32);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-program"));
    std::fs::create_dir_all(&folder).unwrap();
    let (p4info, json) = (folder.join("inart.p4info.txtpb"), folder.join("inart.json"));
    std::fs::write(&p4info, artifact.p4info.as_bytes()).unwrap();
    std::fs::write(&json, &artifact.json).unwrap();
    let address = rig.address.clone();
    let run = move || {
        let (p4info, json) = (p4info.to_str().unwrap(), json.to_str().unwrap());
        python(name, packages, &[&address, &DEVICE.to_string(), p4info, json])
    };
    let Some(output) = tokio::task::spawn_blocking(run).await.unwrap() else { return };
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("is content"), "{said}\n{wrong}");
}

#[tokio::test]
async fn p4runtime_shell_drives_our_tables() {
    let packages: &[&str] =
        &["p4runtime-shell==0.0.6", "p4runtime==1.4.1", "protobuf==3.20.3", "grpcio==1.85.1"];
    client_is_content("shell", packages).await;
}

#[tokio::test]
async fn finsy_drives_our_tables() {
    client_is_content("finsy", &["finsy==0.30.0", "grpcio==1.85.1", "protobuf==6.33.6"]).await;
}
