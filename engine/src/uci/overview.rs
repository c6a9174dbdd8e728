//! All evaluations side by side, as text and Markdown.

use crate::eval::Variant;
use crate::eval::topics::{Topic, topics};

/// Returns the evaluations with features to show: a network has none, and counting material is part
/// of the others.
fn compared() -> Vec<Variant> {
    let plain = |variant: &Variant| !matches!(variant, Variant::Nnue | Variant::Material);
    Variant::ALL.into_iter().filter(plain).collect()
}

/// Returns a table of the evaluations' features, one topic per row.
pub(super) fn markdown() -> String {
    let variants = compared();
    let names: Vec<&str> = variants.iter().map(|variant| variant.name()).collect();
    let mut lines = vec![
        format!("| topic | {} |", names.join(" | ")),
        format!("|---|{}", "---|".repeat(names.len())),
    ];
    lines.extend(topics(&variants).iter().map(|topic| {
        let cells: Vec<String> = topic.features.iter().map(|found| found.join(", ")).collect();
        format!("| {} | {} |", topic.name, cells.join(" | "))
    }));
    lines.join("\n")
}

/// Returns the same table for a terminal, one topic per paragraph.
pub(super) fn text() -> String {
    let variants = compared();
    let paragraph = |topic: &Topic| {
        let found = variants.iter().zip(&topic.features).filter(|(_, names)| !names.is_empty());
        let lines =
            found.map(|(variant, names)| format!("  {:<16}{}", variant.name(), names.join(", ")));
        std::iter::once(topic.name.to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
    };
    topics(&variants).iter().map(paragraph).collect::<Vec<_>>().join("\n")
}
