//! JSON Schemas: all JSON output in any test has to match its schema, without additional keys.

use std::path::PathBuf;

use boon::{Compiler, Schemas};
use serde_json::Value;

/// Returns the folder of the schemas.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schema"))
}

/// Checks the output of a command line, if it is JSON.
pub fn check_output(args: &[String], printed: &str) {
    let form = args.windows(2).find(|two| two[0] == "--format").map(|two| two[1].as_str());
    if !matches!(form, Some("json" | "ndjson")) {
        return;
    }
    // A tuning run with its confirmation prints two values.
    for value in serde_json::Deserializer::from_str(printed).into_iter() {
        let value = value.unwrap_or_else(|e| panic!("{args:?} prints no JSON: {e}\n{printed}"));
        check_all(args, &value);
    }
}

/// Checks a value, or each item of a list.
fn check_all(args: &[String], value: &Value) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| check_all(args, item)),
        object => {
            check(&schema_name(args, object), object).unwrap_or_else(|e| panic!("{args:?}: {e}"))
        }
    }
}

/// Returns the name of an object's schema, from the object itself or else from its command.
fn schema_name(args: &[String], object: &Value) -> String {
    if object["event"].is_string() {
        return "events".to_owned();
    }
    let schema_field = object["schema"].as_str().and_then(|schema| schema.strip_prefix("arbiter."));
    let command = || match args[0].as_str() {
        "engines" => format!("engines.{}", args[1]),
        command => format!("{command}.list"),
    };
    schema_field.map_or_else(command, |schema_field| {
        schema_field.split('/').next().unwrap_or_default().to_owned()
    })
}

/// Checks an object and the reports that are part of it. Keys that are not in the schema are
/// errors.
pub fn check(kind: &str, object: &Value) -> Result<(), String> {
    let path = folder().join(format!("{kind}.json"));
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("{kind} has no schema, {}: {error}", path.display()))?;
    let mut schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
    close(&mut schema);
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    compiler.add_resource("schema.json", schema).expect("it has a place");
    let schema = compiler.compile("schema.json", &mut schemas).expect("a schema is sound");
    schemas.validate(object, schema).map_err(|error| format!("{kind}: {error:#}\n{object:#}"))?;
    let members = object.as_object().into_iter().flat_map(|members| members.values());
    let lists = members.clone().filter_map(Value::as_array).flatten();
    let inner = members.chain(lists).flat_map(|inner| [inner, &inner["report"]]);
    inner.filter(|inner| inner["schema"].is_string()).try_for_each(|inner| {
        let kind = schema_name(&[], inner);
        check(&kind, inner)
    })
}

/// Makes a schema reject keys that it does not contain.
fn close(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    for (key, member) in members.iter_mut() {
        match (key.as_str(), member) {
            ("$defs" | "properties", Value::Object(named)) => named.values_mut().for_each(close),
            ("items" | "additionalProperties", inner) => close(inner),
            // The variants describe one object, which is closed as a whole. The values of their
            // properties are closed separately.
            ("oneOf" | "anyOf" | "allOf", Value::Array(variants)) => {
                let parts = variants.iter_mut().filter_map(|part| part.get_mut("properties"));
                let parts =
                    parts.filter_map(Value::as_object_mut).flat_map(|part| part.values_mut());
                parts.for_each(close);
            }
            _ => {}
        }
    }
    if ["properties", "oneOf", "anyOf"].iter().any(|key| members.contains_key(*key)) {
        members.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

#[test]
fn undocumented_keys_and_other_types_are_found() {
    let build = serde_json::json!({
        "build": "x", "used": "2026-11-20T01:02:03Z", "bytes": 1, "built": false, "commit": null,
        "command": null, "seconds": null, "bench_nodes": null,
    });
    assert_eq!(check("builds.list", &build), Ok(()));
    for (key, value) in [("more", Value::from(1)), ("bytes", "1".into()), ("used", Value::Null)] {
        let mut other = build.clone();
        other[key] = value;
        let error = check("builds.list", &other).expect_err(key);
        assert!(error.contains(key), "{error}");
    }
    let gate = serde_json::json!({
        "gate": "x", "kind": "bench", "verdict": "passed", "text": "", "exit_code": 0, "seconds": 1.0,
        "cached": false, "report": { "schema": "arbiter.doctor/1", "fit": true, "more": 1 },
    });
    let ci = serde_json::json!({
        "schema": "arbiter.ci/2", "dev": "x", "base": null, "passed": true, "gates": [gate],
    });
    assert!(check("ci", &ci).is_err_and(|error| error.starts_with("doctor:")));
    // Each variant accepts only its own keys.
    let mut line = serde_json::json!({
        "event": "worker_excluded", "worker": "x", "reason": "y", "pairs_discarded": 1, "pairs_counted": 2,
    });
    assert_eq!(check("events", &line), Ok(()));
    line["pair"] = 1.into();
    assert!(check("events", &line).is_err());
}
