//! The stored form of how games are written down.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use arbiter_game::annotation::{Annotation, Keeping};
use arbiter_plan::plan::Plan;

/// What is absent is as it was before there was a choice.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OutputRow {
    notation: Option<String>,
    fields: Vec<String>,
    pattern: Option<String>,
    minimal: bool,
    origin: bool,
    event: Option<String>,
    site: Option<String>,
    epd: Option<PathBuf>,
    transcripts: Option<String>,
}

/// The parts of a plan that an [`OutputRow`] holds.
pub(super) type Output = (Annotation, Option<PathBuf>, Keeping);

impl OutputRow {
    pub(super) fn of(plan: &Plan) -> OutputRow {
        let Annotation { notation, fields, pattern, is_minimal, has_origin, event, site } =
            &plan.annotation;
        OutputRow {
            notation: Some(notation.as_str().to_owned()),
            fields: fields.iter().map(|field| field.as_str().to_owned()).collect(),
            pattern: pattern.as_ref().map(ToString::to_string),
            minimal: *is_minimal,
            origin: *has_origin,
            event: event.clone(),
            site: site.clone(),
            epd: plan.epd.clone(),
            transcripts: Some(plan.transcripts.as_str().to_owned()),
        }
    }

    pub(super) fn into_output(self) -> Result<Output, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("plan: {error}");
        let fields = self.fields.iter().map(|word| word.parse().map_err(|e| wrong(&e)));
        let pattern = self.pattern.map(|text| text.parse().map_err(|e| wrong(&e)));
        let notation = self.notation.map(|word| word.parse().map_err(|e| wrong(&e)));
        let transcripts = self.transcripts.map(|word| word.parse().map_err(|e| wrong(&e)));
        let annotation = Annotation {
            notation: notation.transpose()?.unwrap_or_default(),
            fields: fields.collect::<Result<_, _>>()?,
            pattern: pattern.transpose()?,
            is_minimal: self.minimal,
            has_origin: self.origin,
            event: self.event,
            site: self.site,
        };
        Ok((annotation, self.epd, transcripts.transpose()?.unwrap_or(Keeping::None)))
    }
}
