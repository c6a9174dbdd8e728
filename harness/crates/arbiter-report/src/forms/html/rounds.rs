//! Rounds of a tournament, drawn side by side; a knockout is drawn as a bracket.

use maud::{Markup, html};

use crate::parts::{Meeting, Round};

/// Draws the rounds, which scroll independently of the page.
pub(super) fn rounds(rounds: &[Round], is_bracket: bool) -> Markup {
    // In a bracket, a line leads to an encounter only if at least one of the two previous
    // encounters is not a bye.
    let has_incoming_line = |round: usize, place: usize| {
        let before = round.checked_sub(1).map_or(&[][..], |before| &rounds[before].encounters);
        before.iter().skip(2 * place).take(2).any(|met| !met.sides.is_empty())
    };
    html! {
        div class="scroll" tabindex="0" role="group" aria-label="Rounds" {
            ol class=(if is_bracket { "rounds bracket" } else { "rounds" }) { @for (number, round) in rounds.iter().enumerate() {
                li {
                    h3 { (round.name) }
                    ul { @for (place, encounter) in round.encounters.iter().enumerate() {
                        (meeting(encounter, has_incoming_line(number, place)))
                    } }
                }
            } }
        }
    }
}

fn meeting(Meeting { sides, note }: &Meeting, has_incoming_line: bool) -> Markup {
    if sides.is_empty() {
        return html! { li class="none" aria-hidden="true" {} };
    }
    html! {
        li class=[has_incoming_line.then_some("fed")] { div class="meeting" {
            @for side in sides {
                p class=(if side.is_ahead { "ahead" } else { "" }) {
                    span { (side.name) } " " span { (side.score.trim()) }
                }
            }
            @if !note.is_empty() { p class="note" { (note) } }
        } }
    }
}
