//! Values of P4 types (`P4Data`) as the flat lists of fields that registers and digests hold.

use inart_p4runtime::p4::config::v1::p4_bitstring_like_type_spec::TypeSpec as Bits;
use inart_p4runtime::p4::config::v1::p4_data_type_spec::TypeSpec;
use inart_p4runtime::p4::config::v1::{P4BitstringLikeTypeSpec, P4DataTypeSpec};
use inart_p4runtime::p4::v1::p4_data::Data;
use inart_p4runtime::p4::v1::{P4Data, P4Header, P4StructLike};
use inart_p4runtime::{Schema, Value};
use tonic::Status;

use super::check::{bits, invalid};

/// Types nested deeper than this are refused rather than followed.
const MAX_DEPTH: usize = 16;

fn width(spec: &P4BitstringLikeTypeSpec) -> Result<i32, Status> {
    match &spec.type_spec {
        Some(Bits::Bit(bit)) => Ok(bit.bitwidth),
        Some(Bits::Int(int)) => Ok(int.bitwidth),
        _ => Err(unsupported("a varbit")),
    }
}

fn unsupported(what: &str) -> Status {
    Status::unimplemented(format!("{what} is not supported in registers and digests"))
}

/// A type as the list of its leaves, or its replacement.
enum Shape<'a> {
    Bits(i32),
    Bool,
    Enum(i32),
    Struct(Vec<&'a P4DataTypeSpec>),
    Tuple(Vec<&'a P4DataTypeSpec>),
    Header(Vec<i32>),
}

fn shape<'a>(schema: &'a Schema, spec: &'a P4DataTypeSpec) -> Result<Shape<'a>, Status> {
    let types = schema.info().type_info.as_ref();
    let unknown = |name: &str| invalid(format!("the P4Info's type_info does not define type {name}"));
    match spec.type_spec.as_ref() {
        Some(TypeSpec::Bitstring(bits)) => Ok(Shape::Bits(width(bits)?)),
        Some(TypeSpec::Bool(_)) => Ok(Shape::Bool),
        Some(TypeSpec::SerializableEnum(named)) => {
            let found = types.and_then(|types| types.serializable_enums.get(&named.name));
            let bits = found.and_then(|found| found.underlying_type.as_ref());
            bits.map(|bits| Shape::Enum(bits.bitwidth)).ok_or_else(|| unknown(&named.name))
        }
        Some(TypeSpec::NewType(named)) => {
            use inart_p4runtime::p4::config::v1::p4_new_type_spec::Representation;
            let found = types.and_then(|types| types.new_types.get(&named.name));
            match found.and_then(|found| found.representation.as_ref()) {
                Some(Representation::OriginalType(original)) => shape(schema, original),
                Some(Representation::TranslatedType(_)) => Err(unsupported("a translated type")),
                None => Err(unknown(&named.name)),
            }
        }
        Some(TypeSpec::Tuple(tuple)) => Ok(Shape::Tuple(tuple.members.iter().collect())),
        Some(TypeSpec::Struct(named)) => {
            let found = types.and_then(|types| types.structs.get(&named.name));
            let members = &found.ok_or_else(|| unknown(&named.name))?.members;
            Ok(Shape::Struct(members.iter().filter_map(|member| member.type_spec.as_ref()).collect()))
        }
        Some(TypeSpec::Header(named)) => {
            let found = types.and_then(|types| types.headers.get(&named.name));
            let members = &found.ok_or_else(|| unknown(&named.name))?.members;
            let widths = members.iter().filter_map(|member| member.type_spec.as_ref()).map(width);
            Ok(Shape::Header(widths.collect::<Result<_, _>>()?))
        }
        _ => Err(unsupported("a header union, stack, enum or error")),
    }
}

/// Returns the fields of a value of a type, each in canonical form.
pub(super) fn encode(
    schema: &Schema,
    spec: Option<&P4DataTypeSpec>,
    data: &P4Data,
    place: &str,
) -> Result<Vec<Vec<u8>>, Status> {
    let mut fields = Vec::new();
    encode_into(schema, spec, data, place, MAX_DEPTH, &mut fields)?;
    Ok(fields)
}

fn encode_into(
    schema: &Schema,
    spec: Option<&P4DataTypeSpec>,
    data: &P4Data,
    place: &str,
    depth: usize,
    fields: &mut Vec<Vec<u8>>,
) -> Result<(), Status> {
    let spec = spec.filter(|_| depth > 0).ok_or_else(|| unsupported("a type without a description"))?;
    let mut push = |bytes: &[u8], width: i32| {
        fields.push(bits(bytes, width, || place.to_owned())?.as_bytes().to_vec());
        Ok(())
    };
    match (shape(schema, spec)?, data.data.as_ref()) {
        (Shape::Bits(width), Some(Data::Bitstring(bytes))) => push(bytes, width),
        (Shape::Enum(width), Some(Data::EnumValue(bytes))) => push(bytes, width),
        (Shape::Bool, Some(Data::Bool(value))) => push(&[u8::from(*value)], 1),
        (Shape::Struct(types), Some(Data::Struct(like))) | (Shape::Tuple(types), Some(Data::Tuple(like)))
            if types.len() == like.members.len() =>
        {
            let mut members = types.iter().zip(&like.members);
            members
                .try_for_each(|(spec, data)| encode_into(schema, Some(spec), data, place, depth - 1, fields))
        }
        (Shape::Header(widths), Some(Data::Header(header))) if widths.len() == header.bitstrings.len() => {
            widths.iter().zip(&header.bitstrings).try_for_each(|(width, bytes)| push(bytes, *width))
        }
        _ => Err(invalid(format!("{place}: the value is not of the declared type"))),
    }
}

/// Returns the value of a type made of the next fields.
pub(super) fn decode(
    schema: &Schema,
    spec: Option<&P4DataTypeSpec>,
    fields: &mut impl Iterator<Item = Vec<u8>>,
) -> Result<P4Data, Status> {
    decode_from(schema, spec, MAX_DEPTH, fields)
}

fn decode_from(
    schema: &Schema,
    spec: Option<&P4DataTypeSpec>,
    depth: usize,
    fields: &mut impl Iterator<Item = Vec<u8>>,
) -> Result<P4Data, Status> {
    let spec = spec.filter(|_| depth > 0).ok_or_else(|| unsupported("a type without a description"))?;
    let mut next = || {
        let field = fields.next().and_then(|bytes| Value::from_bytes(&bytes).ok());
        field.ok_or_else(|| Status::internal("the data plane gave fewer fields than the type has"))
    };
    let data = match shape(schema, spec)? {
        Shape::Bits(_) => Data::Bitstring(next()?.as_bytes().to_vec()),
        Shape::Enum(_) => Data::EnumValue(next()?.as_bytes().to_vec()),
        Shape::Bool => Data::Bool(!next()?.is_zero()),
        Shape::Header(widths) => {
            let bitstrings = widths.iter().map(|_| next().map(|value| value.as_bytes().to_vec()));
            Data::Header(P4Header { is_valid: true, bitstrings: bitstrings.collect::<Result<_, _>>()? })
        }
        Shape::Struct(types) => Data::Struct(members(schema, &types, depth, fields)?),
        Shape::Tuple(types) => Data::Tuple(members(schema, &types, depth, fields)?),
    };
    Ok(P4Data { data: Some(data) })
}

fn members(
    schema: &Schema,
    types: &[&P4DataTypeSpec],
    depth: usize,
    fields: &mut impl Iterator<Item = Vec<u8>>,
) -> Result<P4StructLike, Status> {
    let members = types.iter().map(|spec| decode_from(schema, Some(spec), depth - 1, fields));
    Ok(P4StructLike { members: members.collect::<Result<_, _>>()? })
}
