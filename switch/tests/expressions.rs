//! Random expressions have the results of unbounded integers, truncated on assignment: bmv2's arithmetic.

use crate::support;

use inart_switch::{Port, Program, Switch};
use num_bigint::BigInt;
use proptest::prelude::*;
use serde_json::{Value, json};
use support::Sent;

/// Fields of the header: name, width in bits, signed.
const FIELDS: [(&str, u32, bool); 9] = [
    ("a", 3, false),
    ("b", 13, false),
    ("c", 32, false),
    ("d", 64, false),
    ("e", 60, false),
    ("f", 4, false),
    ("s", 16, true),
    ("t", 32, true),
    ("w", 128, false),
];

/// Targets of results: one field of each kind.
const RESULTS: [(&str, u32); 4] = [("r8", 8), ("r32", 32), ("r64", 64), ("r128", 128)];

#[derive(Debug, Clone)]
enum Expr {
    Field(usize),
    Int(i128),
    Bin(&'static str, Box<Expr>, Box<Expr>),
    /// Shifts by a small amount.
    Shift(&'static str, Box<Expr>, u32),
    Not(Box<Expr>),
    /// `two_comp_mod`, `usat_cast` and `sat_cast`.
    Cast(&'static str, Box<Expr>, u32),
    Choose(&'static str, Box<[Expr; 4]>),
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        3 => (0..FIELDS.len()).prop_map(Expr::Field),
        1 => prop_oneof![0..300i128, Just(u32::MAX.into()), Just(u64::MAX.into()), -5..0i128]
            .prop_map(Expr::Int),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let bin = prop::sample::select(vec!["+", "-", "*", "&", "|", "^"]);
        let widths = prop_oneof![Just(8u32), Just(16), Just(32), Just(33), Just(64), Just(128)];
        prop_oneof![
            4 => (bin, boxed.clone(), boxed.clone()).prop_map(|(op, a, b)| Expr::Bin(op, a, b)),
            1 => (boxed.clone(), widths.clone())
                .prop_map(|(a, bits)| Expr::Bin("&", a, Box::new(Expr::Int((u128::MAX >> (128 - bits.min(126))) as i128)))),
            2 => (prop::sample::select(vec!["<<", ">>"]), boxed.clone(), 0..70u32)
                .prop_map(|(op, a, by)| Expr::Shift(op, a, by)),
            1 => boxed.clone().prop_map(Expr::Not),
            2 => (prop::sample::select(vec!["two_comp_mod", "usat_cast", "sat_cast"]), boxed, widths)
                .prop_map(|(op, a, bits)| Expr::Cast(op, a, bits)),
            1 => (prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]), [inner.clone(), inner.clone(), inner.clone(), inner])
                .prop_map(|(op, parts)| Expr::Choose(op, Box::new(parts))),
        ]
    })
}

fn hex(value: i128) -> String {
    if value < 0 { format!("-{:#x}", value.unsigned_abs()) } else { format!("{value:#x}") }
}

fn int(value: i128) -> Value {
    json!({"type": "hexstr", "value": hex(value)})
}

fn operation(op: &str, left: Value, right: Value) -> Value {
    json!({"type": "expression", "value": {"op": op, "left": left, "right": right}})
}

fn to_json(expr: &Expr) -> Value {
    match expr {
        Expr::Field(n) => json!({"type": "field", "value": ["h", FIELDS[*n].0]}),
        Expr::Int(value) => int(*value),
        Expr::Bin(op, a, b) => operation(op, to_json(a), to_json(b)),
        Expr::Shift(op, a, by) => operation(op, to_json(a), int((*by).into())),
        Expr::Not(a) => operation("~", Value::Null, to_json(a)),
        Expr::Cast(op, a, bits) => operation(op, to_json(a), int((*bits).into())),
        Expr::Choose(op, parts) => {
            let [a, b, yes, no] = parts.each_ref().map(to_json);
            let condition = operation(op, a, b);
            json!({"type": "expression", "value": {"op": "?", "left": yes, "right": no, "cond": condition}})
        }
    }
}

fn modulo(value: &BigInt, bits: u32) -> BigInt {
    let size = BigInt::from(1) << bits;
    ((value % &size) + &size) % size
}

fn signed(value: &BigInt, bits: u32) -> BigInt {
    let low = modulo(value, bits);
    if low >= BigInt::from(1) << (bits - 1) { low - (BigInt::from(1) << bits) } else { low }
}

fn evaluate(expr: &Expr, fields: &[BigInt]) -> BigInt {
    let eval = |expr: &Expr| evaluate(expr, fields);
    match expr {
        Expr::Field(n) => fields[*n].clone(),
        Expr::Int(value) => BigInt::from(*value),
        Expr::Bin(op, a, b) => match *op {
            "+" => eval(a) + eval(b),
            "-" => eval(a) - eval(b),
            "*" => eval(a) * eval(b),
            "&" => eval(a) & eval(b),
            "|" => eval(a) | eval(b),
            _ => eval(a) ^ eval(b),
        },
        Expr::Shift(op, a, by) => {
            if *op == "<<" {
                eval(a) << *by
            } else {
                eval(a) >> *by
            }
        }
        Expr::Not(a) => !eval(a),
        Expr::Cast(op, a, bits) => {
            let one = BigInt::from(1);
            match *op {
                "two_comp_mod" => signed(&eval(a), *bits),
                "usat_cast" => eval(a).clamp(BigInt::default(), (one << *bits) - 1),
                _ => eval(a).clamp(-(one.clone() << (bits - 1)), (one << (bits - 1)) - 1),
            }
        }
        Expr::Choose(op, parts) => {
            let [a, b, yes, no] = &**parts;
            let order = eval(a).cmp(&eval(b));
            let holds = match *op {
                "==" => order.is_eq(),
                "!=" => order.is_ne(),
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                ">" => order.is_gt(),
                _ => order.is_ge(),
            };
            eval(if holds { yes } else { no })
        }
    }
}

/// Returns a program that extracts `h`, assigns the expression to every result, and sends `out`.
fn document(expr: &Expr) -> Value {
    let fields: Vec<Value> = FIELDS.iter().map(|(name, bits, signed)| json!([name, bits, signed])).collect();
    let mut results: Vec<Value> = RESULTS.iter().map(|(name, bits)| json!([name, bits, false])).collect();
    results.extend([json!(["m", 29, true]), json!(["positive", 3, false])]);
    let mut primitives =
        vec![json!({"op": "add_header", "parameters": [{"type": "header", "value": "out"}]})];
    for (name, _) in RESULTS {
        let target = json!({"type": "field", "value": ["out", name]});
        primitives.push(json!({"op": "assign", "parameters": [target, to_json(expr)]}));
    }
    // Once more through a metadata field, and as a condition.
    let meta = json!({"type": "field", "value": ["meta", "m"]});
    primitives.push(json!({"op": "assign", "parameters": [meta, to_json(expr)]}));
    primitives.push(json!({"op": "assign", "parameters": [{"type": "field", "value": ["out", "m"]}, meta]}));
    let one = json!({"type": "field", "value": ["out", "positive"]});
    let positive = operation(">", to_json(expr), int(0));
    json!({
        "__meta__": {"version": [2, 23]},
        "header_types": [
            {"name": "h_t", "fields": fields},
            {"name": "out_t", "fields": results},
            {"name": "meta_t", "fields": [["m", 29, true]]},
            {"name": "standard_metadata", "fields": [["ingress_port", 9, false], ["egress_spec", 9, false], ["egress_port", 9, false]]}
        ],
        "headers": [
            {"name": "h", "id": 0, "header_type": "h_t"},
            {"name": "out", "id": 1, "header_type": "out_t"},
            {"name": "meta", "id": 2, "header_type": "meta_t", "metadata": true},
            {"name": "standard_metadata", "id": 3, "header_type": "standard_metadata", "metadata": true}
        ],
        "parsers": [{"name": "parser", "init_state": "start", "parse_states": [{
            "name": "start", "parser_ops": [{"op": "extract", "parameters": [{"type": "regular", "value": "h"}]}]
        }]}],
        "deparsers": [{"name": "deparser", "order": ["out"]}],
        "actions": [
            {"name": "compute", "id": 0, "primitives": primitives},
            {"name": "mark", "id": 1, "primitives": [{"op": "assign", "parameters": [one, int(1)]}]}
        ],
        "pipelines": [{
            "name": "ingress", "init_table": "compute_call",
            "action_calls": [
                {"name": "compute_call", "action_id": 0, "next_node": "positive"},
                {"name": "mark_call", "action_id": 1, "next_node": null}
            ],
            "conditionals": [{"name": "positive", "expression": positive, "true_next": "mark_call", "false_next": null}]
        }]
    })
}

/// Packs values of given widths.
fn pack(values: impl IntoIterator<Item = (BigInt, u32)>) -> Vec<u8> {
    let (mut all, mut total) = (BigInt::from(1), 0);
    for (value, bits) in values {
        all = (all << bits) | modulo(&value, bits);
        total += bits;
    }
    assert_eq!(total % 8, 0);
    // The leading one keeps leading zeros.
    all.to_bytes_be().1[1..].to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn expressions(
        expr in expr(),
        raw in prop::collection::vec(
            prop_oneof![any::<u128>(), Just(0), Just(u128::MAX), 0..9u128], FIELDS.len()
        ),
    ) {
        let program = Program::compile(document(&expr).to_string().as_bytes()).expect("it compiles");
        let mut switch = Switch::new(0);
        switch.load(program).expect("it loads");
        let raw: Vec<BigInt> = raw.into_iter().map(BigInt::from).collect();
        let frame = pack(raw.iter().zip(FIELDS).map(|(value, (_, bits, _))| (value.clone(), bits)));
        let fields: Vec<BigInt> = raw
            .iter()
            .zip(FIELDS)
            .map(|(value, (_, bits, is_signed))| match is_signed {
                true => signed(value, bits),
                false => modulo(value, bits),
            })
            .collect();
        let value = evaluate(&expr, &fields);
        let results = RESULTS.iter().map(|(_, bits)| (value.clone(), *bits));
        let positive = BigInt::from(u8::from(value > BigInt::default()));
        let expected = pack(results.chain([(value.clone(), 29), (positive, 3)]));
        let mut sent = Sent::default();
        switch.process(Port(1), &frame, 0, &mut sent);
        prop_assert_eq!(sent.0, vec![(0, expected)]);
    }
}
