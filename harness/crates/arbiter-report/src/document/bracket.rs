//! The bracket of a knockout, drawn with lines.

use crate::standings::points;
use arbiter_schedule::{Encounter, Entrant, Knockout};

/// The bracket, one column for each round and one for the winner; scores stand behind the names. Place n of
/// a round stands in the middle of its two places before, which are lines above and below it.
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
            // Who has a bye stands in the next column only.
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
            // Between the two places of an encounter a line leads to the next column.
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

/// The score of an engine in an encounter that it plays.
fn score(encounter: &Encounter, engine: usize) -> Option<String> {
    let side = encounter.engines.iter().position(|other| *other == engine)?;
    Some(format!(" {}", points(encounter.score.halves[side])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_schedule::{Design, Format, Schedule};

    fn drawn(engines: usize, counted: usize) -> String {
        let design = Design { format: Format::Knockout, seeds: engines, ..Design::round_robin(1) };
        let mut schedule = Schedule::new(design, engines, 1);
        (0..counted).for_each(|_| schedule.count(schedule.counted(), [3, 1], 2));
        let names: Vec<String> = (1..=engines).map(|n| format!("E{n}")).collect();
        draw(schedule.bracket().unwrap(), schedule.encounters(), &names)
    }

    #[test]
    fn brackets_with_and_without_byes() {
        let four = "\
E1 1½ ─┐
       ├─E1 1½ ─┐
E4 ½  ─┘        │
                ├─E1
E2 1½ ─┐        │
       ├─E2 ½  ─┘
E3 ½  ─┘
";
        assert_eq!(drawn(4, 3), four);
        let three = "        E1 ─┐
            │
            ├─…
E2 0 ─┐     │
      ├─…  ─┘
E3 0 ─┘
";
        assert_eq!(drawn(3, 0), three);
        let six = drawn(6, 5);
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
