//! Bracket of a knockout, as rounds and as a text drawing.

use crate::figures::points;
use crate::parts::{Meeting, Round, Side};
use arbiter_schedule::{Encounter, Entrant, Knockout};

/// Draws the bracket as text, with a column for each round and a column for the winner. Scores
/// follow the names. Place n of a round is halfway between places 2n and 2n + 1 of the previous
/// round.
pub(crate) fn draw(knockout: &Knockout, encounters: &[Encounter], engines: &[String]) -> String {
    let levels = knockout.levels();
    let mut lines = vec![String::new(); 2 * levels[0].len() - 1];
    for (level, entrants) in levels.iter().enumerate() {
        let cells = entrants.iter().enumerate().map(|(place, entrant)| match *entrant {
            Entrant::Bye => String::new(),
            Entrant::Open => "…".to_owned(),
            Entrant::Engine(engine) => {
                let encounter = knockout.encounter(level + 1, place / 2);
                let score = encounter.and_then(|number| score(&encounters[number], engine));
                format!("{}{}", engines[engine], score.unwrap_or_default())
            }
        });
        let cells: Vec<String> = cells.collect();
        let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        let is_last = level + 1 == levels.len();
        let step = 2 << level;
        let mut column = vec![" ".repeat(width + 4); lines.len()];
        for (place, cell) in cells.iter().enumerate() {
            // An engine with a bye has no encounter in this round, so only the next column shows
            // the engine.
            if [place, place ^ 1].iter().any(|place| entrants.get(*place) == Some(&Entrant::Bye)) {
                continue;
            }
            let row = place * step + step / 2 - 1;
            let joint = match (is_last, place % 2) {
                (true, _) => "",
                (false, 0) => " ─┐ ",
                (false, _) => " ─┘ ",
            };
            column[row] = format!("{cell:<width$}{joint}");
            // A vertical line between the two places of an encounter leads to the next column.
            if !is_last && place % 2 == 0 {
                for below in 1..step {
                    let joint = if below == step / 2 { "  ├─" } else { "  │ " };
                    column[row + below] = format!("{:width$}{joint}", "");
                }
            }
        }
        lines.iter_mut().zip(column).for_each(|(line, cell)| line.push_str(&cell));
    }
    let lines = lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty());
    lines.map(|line| format!("{line}\n")).collect()
}

/// Formats the points of an engine in an encounter; `None` if the engine does not play in the
/// encounter.
fn score(encounter: &Encounter, engine: usize) -> Option<String> {
    let side = encounter.engines.iter().position(|other| *other == engine)?;
    Some(format!(" {}", points(encounter.score.half_points[side])))
}

/// Returns the rounds of a knockout; the last round contains only the winner.
pub(super) fn rounds(knockout: &Knockout, met: &[Encounter], engines: &[String]) -> Vec<Round> {
    let levels = knockout.levels();
    let side = |entrant: Entrant, level: usize, place: usize| match entrant {
        Entrant::Engine(engine) => {
            let score = knockout.encounter(level, place).and_then(|n| score(&met[n], engine));
            let name = engines[engine].clone();
            let is_ahead = levels.get(level).is_none_or(|next| next[place] == entrant);
            Side { name, score: score.unwrap_or_default(), is_ahead }
        }
        _ => Side { name: "…".to_owned(), score: String::new(), is_ahead: false },
    };
    let meeting = |level: usize, place: usize| {
        let entrants = match levels.get(level) {
            Some(_) => knockout.sides(level, place).to_vec(),
            None => vec![levels[level - 1][place]],
        };
        // An engine with a bye has no encounter in this round, so only the next round shows the
        // engine.
        let is_played = !entrants.contains(&Entrant::Bye);
        let entrants = entrants.into_iter().filter(|_| is_played);
        let sides = entrants.map(|entrant| side(entrant, level, place)).collect();
        Meeting { sides, note: String::new() }
    };
    (1..=levels.len())
        .map(|level| {
            let places = levels.get(level).map_or(1, Vec::len);
            let name = match (level == levels.len(), places) {
                (true, _) => "Winner".to_owned(),
                (false, 1) => "Final".to_owned(),
                (false, 2) => "Semi-finals".to_owned(),
                (false, 4) => "Quarter-finals".to_owned(),
                (false, _) => format!("Last {}", 2 * places),
            };
            Round { name, encounters: (0..places).map(|place| meeting(level, place)).collect() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_schedule::{Design, Format, Schedule};

    fn bracket_text(engines: usize, counted: usize) -> String {
        let design = Design { format: Format::Knockout, seeds: engines, ..Design::round_robin(1) };
        let mut schedule = Schedule::new(design, engines, 1);
        (0..counted).for_each(|_| schedule.count(schedule.next_to_count(), [3, 1], 2));
        let names: Vec<String> = (1..=engines).map(|n| format!("E{n}")).collect();
        draw(schedule.bracket().unwrap(), schedule.encounters(), &names)
    }

    #[test]
    fn rounds_have_a_place_for_each_encounter() {
        let design = Design { format: Format::Knockout, seeds: 3, ..Design::round_robin(1) };
        let mut schedule = Schedule::new(design, 3, 1);
        schedule.count(schedule.next_to_count(), [3, 1], 2);
        let names = ["E1", "E2", "E3"].map(str::to_owned);
        let rounds = rounds(schedule.bracket().unwrap(), schedule.encounters(), &names);
        let shown = rounds.iter().map(|round| {
            let sides = |meeting: &Meeting| {
                let side =
                    |side: &Side| format!("{}{}{}", side.name, side.score, u8::from(side.is_ahead));
                meeting.sides.iter().map(side).collect::<Vec<_>>().join("-")
            };
            let places = round.encounters.iter().map(sides).collect::<Vec<_>>().join(", ");
            format!("{}: {places}", round.name)
        });
        let expected = ["Semi-finals: , E2 1½1-E3 ½0", "Final: E1 00-E2 00", "Winner: …0"];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn brackets_are_drawn_with_and_without_byes() {
        let four = "\
E1 1½ ─┐
       ├─E1 1½ ─┐
E4 ½  ─┘        │
                ├─E1
E2 1½ ─┐        │
       ├─E2 ½  ─┘
E3 ½  ─┘
";
        assert_eq!(bracket_text(4, 3), four);
        let three = "        E1 ─┐
            │
            ├─…
E2 0 ─┐     │
      ├─…  ─┘
E3 0 ─┘
";
        assert_eq!(bracket_text(3, 0), three);
        let six = bracket_text(6, 5);
        let last: Vec<&str> = six.lines().rev().take(5).collect();
        let expected = [
            "E6 ½  ─┘",
            "       ├─E3 ½  ─┘",
            "E3 1½ ─┐        │",
            "                ├─E2 ½  ─┘",
            "                │        │",
        ];
        assert_eq!(last, expected, "{six}");
    }
}
