"""Compares our descriptor set (argument 1) with the descriptors of PyPI's p4runtime package, field by field.

Prints the number of facts compared; every difference goes to standard error and makes the status 1.
"""

import sys

from google.protobuf import descriptor_pb2
from google.rpc import status_pb2
from p4.config.v1 import p4info_pb2, p4types_pb2
from p4.v1 import p4data_pb2, p4runtime_pb2


def enum_facts(scope, enum):
    for value in enum.value:
        yield f"enum {scope}.{enum.name}", value.name, value.number


def message_facts(scope, message):
    name = f"{scope}.{message.name}"
    yield "message", name, True
    for field in message.field:
        oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else None
        shape = (field.number, field.type, field.label, field.type_name, oneof, field.proto3_optional)
        yield f"message {name}", field.name, shape
    for enum in message.enum_type:
        yield from enum_facts(name, enum)
    for nested in message.nested_type:
        yield from message_facts(name, nested)


def facts(file):
    for message in file.message_type:
        yield from message_facts(file.package, message)
    for enum in file.enum_type:
        yield from enum_facts(file.package, enum)
    for service in file.service:
        for method in service.method:
            shape = (method.input_type, method.output_type, method.client_streaming, method.server_streaming)
            yield f"service {file.package}.{service.name}", method.name, shape


def theirs():
    for module in (status_pb2, p4types_pb2, p4info_pb2, p4data_pb2, p4runtime_pb2):
        yield descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)


def index(files):
    return {(where, name): shape for file in files for where, name, shape in facts(file)}


def main():
    with open(sys.argv[1], "rb") as source:
        ours = descriptor_pb2.FileDescriptorSet.FromString(source.read())
    ours = index(file for file in ours.file if not file.package.startswith("google.protobuf"))
    expected = index(theirs())
    differences = [key for key in sorted(ours.keys() | expected.keys()) if ours.get(key) != expected.get(key)]
    for key in differences:
        print(f"{key[0]} {key[1]}: ours {ours.get(key)}, theirs {expected.get(key)}", file=sys.stderr)
    print(len(expected))
    return 1 if differences else 0


sys.exit(main())
