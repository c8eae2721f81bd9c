//! Networks of all kinds are read from files and pipes, once, and other files are rejected with one line.

use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use inart_topologies::{Kind, Network};

fn topologies() -> PathBuf {
    Path::new(env!("INART_ROOT")).join("topologies")
}

fn read(file: &str) -> Network {
    Network::read(&topologies().join(file)).unwrap()
}

#[test]
fn the_kind_follows_from_the_nodes() {
    for (file, kind, name) in [
        ("fig1.yaml", Kind::Switched, "fig1"),
        ("geo9.yaml", Kind::Sites, "geo9"),
        ("two-levels.yaml", Kind::Sites, "two-levels"),
        ("mesh16.yaml", Kind::Peers, "mesh16"),
        ("ps16.yaml", Kind::Switched, "ps16"),
    ] {
        let network = read(file);
        assert_eq!((network.kind(), network.name()), (kind, name), "{file}");
        let again = Network::from_yaml(&network.to_yaml()).unwrap();
        assert_eq!((again.kind(), again.to_yaml()), (kind, network.to_yaml()), "{file}");
    }
}

#[test]
fn jobs_that_train_are_those_that_say_how_long_they_compute() {
    let Network::Switched(plain) = read("fig1.yaml") else { panic!("switches") };
    assert!(!plain.trains() && plain.training().is_err());
    let Network::Switched(ps) = read("ps16.yaml") else { panic!("switches") };
    assert!(ps.trains());
    assert_eq!(ps.training().unwrap().jobs.len(), 1);
}

#[test]
fn a_pipe_is_read_to_its_end() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&std::fs::read(topologies().join("fig1.yaml")).unwrap()).unwrap();
    drop(writer);
    let path = PathBuf::from(format!("/proc/self/fd/{}", reader.as_raw_fd()));
    assert_eq!(Network::read(&path).unwrap().name(), "fig1");
}

#[test]
fn what_is_not_a_document_is_refused_in_one_line_with_its_path() {
    let folder = std::env::temp_dir().join(format!("inart-topologies-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let long = file("long.yaml", b"name: x\n");
    std::fs::File::options().write(true).open(&long).unwrap().set_len(1 << 30).unwrap();
    for (path, named) in [
        (folder.clone(), "directory"),
        (folder.join("missing.yaml"), "no such file"),
        (PathBuf::from("/dev/zero"), "device"),
        (PathBuf::from("/dev/null"), "device"),
        (file("empty.yaml", b""), "empty"),
        (file("binary.yaml", b"\x7fELF\0\0"), "not text"),
        (file("latin.yaml", b"name: caf\xe9\n"), "UTF-8"),
        (long, "at most 64 MiB"),
        (file("number.yaml", b"3\n"), "number.yaml"),
    ] {
        let error = Network::read(&path).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.starts_with(&path.display().to_string()) && error.contains(named), "{named}: {error}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
