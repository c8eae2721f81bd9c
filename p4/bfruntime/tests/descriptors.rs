//! Our `.proto` file matches the driver's own. That is in its vendor's sources (open-p4studio,
//! `pkgsrc/bf-drivers/src/bf_rt/proto/bfruntime.proto`); INART_BFRUNTIME_PROTO is its path.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use prost::Message;
use prost_types::field_descriptor_proto::Label;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet};

/// Facts (messages, fields, enum values, methods) of the protocol; far fewer would mean that nothing was
/// compared.
const LEAST_FACTS: usize = 250;

#[test]
fn the_proto_agrees_with_the_drivers_field_by_field() {
    let ours = FileDescriptorSet::decode(inart_bfruntime::FILE_DESCRIPTOR_SET).expect("the build made it");
    let ours = facts(&ours);
    assert!(ours.len() > LEAST_FACTS, "only {} facts", ours.len());
    let Some(original) = std::env::var_os("INART_BFRUNTIME_PROTO").map(PathBuf::from) else {
        eprintln!("skipped: INART_BFRUNTIME_PROTO does not name the driver's bfruntime.proto");
        return;
    };
    let folder = original.parent().expect("a file is in a folder").to_owned();
    let status = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    let theirs = protox::compile([&original], [folder, status]).expect("the driver's file is one");
    let theirs = facts(&theirs);
    let missing: Vec<_> = theirs.difference(&ours).collect();
    let extra: Vec<_> = ours.difference(&theirs).collect();
    assert!(missing.is_empty() && extra.is_empty(), "missing here: {missing:#?}\nonly here: {extra:#?}");
}

fn facts(set: &FileDescriptorSet) -> BTreeSet<String> {
    let file = set.file.iter().find(|file| file.package() == "bfrt_proto").expect("the package is there");
    let mut facts = BTreeSet::from([format!("syntax {}", file.syntax())]);
    of_file(file, &mut facts);
    facts
}

fn of_file(file: &FileDescriptorProto, facts: &mut BTreeSet<String>) {
    for service in &file.service {
        for method in &service.method {
            facts.insert(format!(
                "{}.{}({} stream {}) {} stream {}",
                service.name(),
                method.name(),
                method.input_type(),
                method.client_streaming(),
                method.output_type(),
                method.server_streaming()
            ));
        }
    }
    file.message_type.iter().for_each(|message| of_message("", message, facts));
    file.enum_type.iter().for_each(|found| of_enum("", found, facts));
}

fn of_message(within: &str, message: &DescriptorProto, facts: &mut BTreeSet<String>) {
    let name = format!("{within}{}", message.name());
    facts.insert(format!("message {name}"));
    for field in &message.field {
        let choice = field.oneof_index.and_then(|at| message.oneof_decl.get(at as usize));
        let deprecated = field.options.as_ref().is_some_and(|options| options.deprecated());
        facts.insert(format!(
            "{name}.{} = {}: {:?} {} repeated {} oneof {:?} deprecated {deprecated}",
            field.name(),
            field.number(),
            field.r#type(),
            field.type_name(),
            field.label() == Label::Repeated,
            choice.map(|choice| choice.name()),
        ));
    }
    let within = format!("{name}.");
    message.nested_type.iter().for_each(|nested| of_message(&within, nested, facts));
    message.enum_type.iter().for_each(|found| of_enum(&within, found, facts));
}

fn of_enum(within: &str, found: &EnumDescriptorProto, facts: &mut BTreeSet<String>) {
    for value in &found.value {
        facts.insert(format!("enum {within}{}.{} = {}", found.name(), value.name(), value.number()));
    }
}
