//! JSON Schemas of the JSON reports, generated from the serialized types.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::live::Running;
use crate::run::json::RunReport;
use crate::run::list::RunRow;
use crate::run::plan::PlanFigures;
use crate::topics::builds::BuildRow;
use crate::topics::check::ConformanceFigures;
use crate::topics::gates::{CiFigures, GatesFigures};
use crate::topics::ratings::RatingFigures;
use crate::topics::speed::SpeedReport;
use crate::topics::suite::epd_figures::EpdFigures;
use crate::topics::suite::perft::PerftFigures;

/// Returns the JSON Schema (draft 2020-12) of a type's serialized form.
pub fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    let title = schema.get("title").and_then(Value::as_str).unwrap_or_default().to_owned();
    // schemars omits the property `schema`, the tag that serde adds to a struct.
    if let (true, Some(object)) = (title.contains('/'), schema.as_object_mut()) {
        let meaning = "Kind and version of the document.";
        object["properties"]["schema"] =
            json!({ "const": title, "description": meaning, "type": "string" });
        if let Some(required) = object["required"].as_array_mut() {
            required.retain(|key| key != "schema");
            required.insert(0, "schema".into());
        }
    }
    schema
}

/// Returns the schemas of all reports.
pub fn report_schemas() -> Vec<Schema> {
    vec![
        schema::<RunReport<'_>>(),
        schema::<PlanFigures<'_>>(),
        schema::<Running>(),
        schema::<RunRow<'_>>(),
        schema::<BuildRow>(),
        schema::<PerftFigures<'_>>(),
        schema::<EpdFigures<'_>>(),
        schema::<ConformanceFigures<'_>>(),
        schema::<SpeedReport<'_>>(),
        schema::<RatingFigures<'_>>(),
        schema::<CiFigures<'_>>(),
        schema::<GatesFigures<'_>>(),
    ]
}
