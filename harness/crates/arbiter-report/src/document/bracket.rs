//! The bracket of a knockout, drawn with lines.

use crate::standings::points;
use arbiter_schedule::Encounter;
use arbiter_schedule::{Entrant, Knockout};

/// The bracket, one column for each round and one for the winner; scores stand behind the names.
pub(crate) fn draw(knockout: &Knockout, encounters: &[Encounter], engines: &[String]) -> String {
    let levels = knockout.levels();
    let cell = |level: usize, place: usize| -> String {
        match levels[level][place] {
            Entrant::Bye => String::new(),
            Entrant::Open => "…".to_owned(),
            Entrant::Engine(engine) => {
                let score = score(knockout, encounters, level, place, engine);
                format!("{}{score}", engines[engine])
            }
        }
    };
    let width = |level: usize| {
        let cells = (0..levels[level].len()).map(|place| cell(level, place).chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..levels.len()).map(width).collect();
    let mut text = String::new();
    for row in 0..2 * levels[0].len() - 1 {
        let mut line = String::new();
        for (level, width) in widths.iter().enumerate() {
            line.push_str(&column(knockout, level, row, *width, &cell));
        }
        let line = line.trim_end();
        if !line.is_empty() {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// The score of an engine in the encounter that it plays from a place.
fn score(
    knockout: &Knockout,
    encounters: &[Encounter],
    level: usize,
    place: usize,
    engine: usize,
) -> String {
    let encounter = knockout.encounter(level + 1, place / 2).map(|number| &encounters[number]);
    let side = encounter.and_then(|found| found.engines.iter().position(|e| *e == engine));
    match (encounter, side) {
        (Some(found), Some(side)) => format!(" {}", points(found.score.halves[side])),
        _ => String::new(),
    }
}

/// What one column shows in one row. Place n of a level stands in the middle of its two places
/// before, which are lines above and below it.
fn column(
    knockout: &Knockout,
    level: usize,
    row: usize,
    width: usize,
    cell: &dyn Fn(usize, usize) -> String,
) -> String {
    let step = 1 << (level + 1);
    let first = step / 2 - 1;
    let places = knockout.levels()[level].len();
    let is_bye = |place: usize| knockout.levels()[level].get(place) == Some(&Entrant::Bye);
    let is_last = level + 1 == knockout.levels().len();
    if row >= first && (row - first).is_multiple_of(step) && (row - first) / step < places {
        let place = (row - first) / step;
        let partner = place ^ 1;
        // Who has a bye stands in the next column only.
        if is_bye(place) || is_bye(partner) {
            return " ".repeat(width + 4);
        }
        let text = cell(level, place);
        let gap = " ".repeat(width - text.chars().count());
        let join = match (is_last, place % 2) {
            (true, _) => "",
            (false, 0) => " ─┐ ",
            (false, _) => " ─┘ ",
        };
        return format!("{text}{gap}{join}");
    }
    if is_last {
        return String::new();
    }
    // Between the two places of an encounter a line leads to the next column.
    let pair = row.checked_sub(first).map(|below| below / step);
    let is_between = pair.is_some_and(|place| {
        place.is_multiple_of(2) && place + 1 < places && !is_bye(place) && !is_bye(place + 1)
    });
    let middle = pair.map(|place| first + place * step + step / 2);
    let join = match (is_between, middle == Some(row)) {
        (true, true) => "  ├─",
        (true, false) => "  │ ",
        (false, _) => "    ",
    };
    format!("{}{join}", " ".repeat(width))
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
