//! Every target on its seeds and on inputs of former failures.

use std::path::Path;

use inart_fuzz::TARGETS;

#[test]
fn seeds_and_regressions_pass() {
    for (name, run) in TARGETS {
        run(&[]);
        for folder in ["seeds", "regressions"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name);
            let Ok(files) = std::fs::read_dir(&folder) else { continue };
            for file in files {
                let path = file.expect("the folder is readable").path();
                eprintln!("{}", path.display());
                run(&std::fs::read(&path).expect("the file is readable"));
            }
        }
    }
}

#[test]
fn every_target_has_a_program() {
    let manifest = include_str!("../Cargo.toml");
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("name = \"fuzz_{name}\"")), "no [[bin]] for {name}");
    }
}
