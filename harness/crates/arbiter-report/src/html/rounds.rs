//! Rounds of a tournament side by side; those of a knockout as a bracket.

use maud::{Markup, html};

use crate::document::{Meeting, Round};

/// The rounds, which scroll by themselves.
pub(super) fn rounds(rounds: &[Round], is_bracket: bool) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="group" aria-label="Rounds" {
            ol class=(if is_bracket { "rounds bracket" } else { "rounds" }) { @for round in rounds {
                li {
                    h3 { (round.name) }
                    ul { @for encounter in &round.encounters { (meeting(encounter)) } }
                }
            } }
        }
    }
}

fn meeting(Meeting { sides, note }: &Meeting) -> Markup {
    if sides.is_empty() {
        return html! { li class="none" aria-hidden="true" {} };
    }
    html! {
        li { div class="meeting" {
            @for side in sides {
                p class=(if side.is_ahead { "ahead" } else { "" }) {
                    span { (side.name) } " " span { (side.score.trim()) }
                }
            }
            @if !note.is_empty() { p class="note" { (note) } }
        } }
    }
}
